package audio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The programs of macOS, where it keeps them.
const (
	afplayPath    = "/usr/bin/afplay"
	osascriptPath = "/usr/bin/osascript"
)

// macSounds are the files of macOS for Names. They have stood in
// /System/Library/Sounds since Mac OS X 10.0; the ones chosen are of like mood.
var macSounds = map[string]string{
	"Asterisk":    "Glass",
	"Beep":        "Tink",
	"Exclamation": "Sosumi",
	"Hand":        "Basso",
	"Question":    "Ping",
}

// playMacOS plays by afplay, and asks osascript for volume and mute, which there
// are those of the whole output.
func (p Player) playMacOS(ctx context.Context, sound string, percent int) error {
	file, err := macFile(sound)
	if err != nil {
		return err
	}
	var volumeErr error
	if percent > 0 {
		restore, err := p.setMacVolume(ctx, percent)
		volumeErr = err
		defer func() {
			// Also after a cancel: the volume is the person's.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
			defer cancel()
			restore(ctx)
		}()
	}
	if _, err := p.Run(ctx, Command{Path: afplayPath, Args: []string{file}}); err != nil {
		return fmt.Errorf("playing %q: %w", sound, err)
	}
	if volumeErr != nil {
		return &VolumeError{volumeErr}
	}
	return nil
}

func macFile(sound string) (string, error) {
	if name, named := macSounds[sound]; named {
		return "/System/Library/Sounds/" + name + ".aiff", nil
	}
	if !strings.EqualFold(filepath.Ext(sound), ".wav") || !filepath.IsAbs(sound) {
		return "", fmt.Errorf("sound %q is neither one of %s nor the full path of a .wav file: %w", sound, strings.Join(Names, ", "), ErrNoSound)
	}
	if info, err := os.Stat(sound); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("sound file %q: %w", sound, ErrNoSound)
	}
	return sound, nil
}

// setMacVolume makes the output this loud and audible. restore puts back volume
// and mute as they were, also where the rest failed.
func (p Player) setMacVolume(ctx context.Context, percent int) (restore func(context.Context), err error) {
	nothing := func(context.Context) {}
	run := func(ctx context.Context, script string) (string, error) {
		out, err := p.Run(ctx, Command{Path: osascriptPath, Args: []string{"-e", script}})
		return strings.TrimSpace(string(out)), err
	}
	answer, err := run(ctx, "get volume settings")
	if err != nil {
		return nothing, fmt.Errorf("reading the volume: %w", err)
	}
	volume, muted, err := parseMacVolume(answer)
	if err != nil {
		return nothing, fmt.Errorf("reading the volume: %w", err)
	}
	restore = func(ctx context.Context) {
		// In one call: a muted output must not sound in between.
		run(ctx, fmt.Sprintf("set volume output volume %d output muted %t", volume, muted))
	}
	if _, err := run(ctx, fmt.Sprintf("set volume output volume %d output muted false", percent)); err != nil {
		return restore, fmt.Errorf("setting the volume: %w", err)
	}
	return restore, nil
}

// parseMacVolume reads
//
//	output volume:50, input volume:75, alert volume:100, output muted:false
//
// where an output without a volume of its own (HDMI, some USB devices) says
// "missing value".
func parseMacVolume(answer string) (volume int, muted bool, err error) {
	fields := map[string]string{}
	for part := range strings.SplitSeq(answer, ", ") {
		name, value, _ := strings.Cut(part, ":")
		fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if fields["output volume"] == "missing value" {
		return 0, false, errors.New("this output has no volume of its own")
	}
	volume, err = strconv.Atoi(fields["output volume"])
	muted, err2 := strconv.ParseBool(fields["output muted"])
	if err != nil || err2 != nil || volume < 0 || volume > 100 {
		return 0, false, fmt.Errorf("unexpected answer %q", answer)
	}
	return volume, muted, nil
}
