package audio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// themed maps names to the freedesktop sound theme (sound-theme-freedesktop).
var themed = map[string]string{
	"Asterisk":    "dialog-information",
	"Beep":        "bell",
	"Exclamation": "dialog-warning",
	"Hand":        "dialog-error",
	"Question":    "dialog-question",
}

// cTongue keeps pactl's answers in the language that is parsed here.
var cTongue = []string{"LC_ALL=C"}

func (p Player) play(ctx context.Context, sound string, percent int) error {
	file, err := p.file(sound)
	if err != nil {
		return err
	}
	players := []string{"pw-play", "paplay", "aplay"}
	if filepath.Ext(file) != ".wav" {
		players = players[:2] // aplay knows no Ogg
	}
	player := p.find(players...)
	if player == "" {
		return fmt.Errorf("playing %q: none of %s on the search path: %w", sound, strings.Join(players, ", "), ErrNoPlayer)
	}
	var volumeErr error
	if percent > 0 {
		restore, err := p.setVolume(ctx, percent)
		volumeErr = err
		defer func() {
			// Also after a cancel: the volume is the person's.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
			defer cancel()
			restore(ctx)
		}()
	}
	args := []string{file}
	if filepath.Base(player) == "aplay" {
		args = []string{"-q", file}
	}
	if _, err := p.Run(ctx, Command{Path: player, Args: args}); err != nil {
		return fmt.Errorf("playing %q: %w", sound, err)
	}
	if volumeErr != nil {
		return &VolumeError{volumeErr}
	}
	return nil
}

func (p Player) file(sound string) (string, error) {
	event, named := themed[sound]
	if !named {
		if !strings.EqualFold(filepath.Ext(sound), ".wav") || !filepath.IsAbs(sound) {
			return "", fmt.Errorf("sound %q is neither one of %s nor the full path of a .wav file: %w", sound, strings.Join(Names, ", "), ErrNoSound)
		}
		if info, err := os.Stat(sound); err != nil || !info.Mode().IsRegular() {
			return "", fmt.Errorf("sound file %q: %w", sound, ErrNoSound)
		}
		return sound, nil
	}
	dirs := p.DataDirs
	if len(dirs) == 0 {
		dirs = []string{"/usr/local/share", "/usr/share"}
	}
	for _, dir := range dirs {
		for _, ext := range []string{".oga", ".ogg", ".wav"} {
			path := filepath.Join(dir, "sounds/freedesktop/stereo", event+ext)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("sound %q (%s of the freedesktop theme) is not installed: %w", sound, event, ErrNoSound)
}

// setVolume makes the default output this loud and audible. restore puts back
// whatever was changed, also where the rest failed.
func (p Player) setVolume(ctx context.Context, percent int) (restore func(context.Context), err error) {
	nothing := func(context.Context) {}
	pactl := p.find("pactl")
	if pactl == "" {
		return nothing, fmt.Errorf("pactl is not on the search path: %w", ErrNoPlayer)
	}
	run := func(ctx context.Context, args ...string) (string, error) {
		out, err := p.Run(ctx, Command{Path: pactl, Args: args, Env: cTongue})
		return strings.TrimSpace(string(out)), err
	}
	// By name, so that what is put back goes to where it was taken from, even
	// when headphones are plugged in meanwhile.
	sink, err := run(ctx, "get-default-sink")
	if err != nil || sink == "" {
		return nothing, fmt.Errorf("asking for the default output: %w", orMissing(err))
	}
	answer, err := run(ctx, "get-sink-volume", sink)
	if err != nil {
		return nothing, fmt.Errorf("reading the volume: %w", err)
	}
	channels := parseVolumes(answer)
	if len(channels) == 0 {
		return nothing, fmt.Errorf("reading the volume: unexpected answer %q", answer)
	}
	answer, err = run(ctx, "get-sink-mute", sink)
	if err != nil {
		return nothing, fmt.Errorf("reading mute: %w", err)
	}
	muted := answer == "Mute: yes"
	if !muted && answer != "Mute: no" {
		return nothing, fmt.Errorf("reading mute: unexpected answer %q", answer)
	}
	var undo [][]string
	restore = func(ctx context.Context) {
		// Last change first: a muted output must not sound in between.
		for _, args := range slices.Backward(undo) {
			run(ctx, args...)
		}
	}
	undo = append(undo, append([]string{"set-sink-volume", sink}, channels...))
	if _, err := run(ctx, "set-sink-volume", sink, fmt.Sprintf("%d%%", percent)); err != nil {
		return restore, fmt.Errorf("setting the volume: %w", err)
	}
	if muted {
		undo = append(undo, []string{"set-sink-mute", sink, "1"})
		if _, err := run(ctx, "set-sink-mute", sink, "0"); err != nil {
			return restore, fmt.Errorf("unmuting: %w", err)
		}
	}
	return restore, nil
}

func orMissing(err error) error {
	if err == nil {
		return errors.New("there is none")
	}
	return err
}

// parseVolumes reads the raw volume of each channel:
// "Volume: front-left: 42598 /  65% / -11.23 dB,   front-right: …".
// Raw, so that what is put back is exactly what was.
func parseVolumes(answer string) []string {
	line, _, _ := strings.Cut(answer, "\n")
	line, ok := strings.CutPrefix(line, "Volume:")
	if !ok {
		return nil
	}
	// Compiled on demand: sounds are rare.
	var list []string
	for _, m := range regexp.MustCompile(`: +(\d+) +/ +\d+%`).FindAllStringSubmatch(line, -1) {
		list = append(list, m[1])
	}
	return list
}

// find returns the first program of these names on the search path.
func (p Player) find(names ...string) string {
	for _, name := range names {
		for _, dir := range filepath.SplitList(p.Path) {
			// A relative entry would mean the agent's working directory.
			if !filepath.IsAbs(dir) {
				continue
			}
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				return path
			}
		}
	}
	return ""
}
