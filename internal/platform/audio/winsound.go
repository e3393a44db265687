package audio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// winAliases are the sounds of Windows' own scheme for Names: people choose in
// their settings what each is (the keys below HKCU\AppEvents\Schemes).
var winAliases = map[string]string{
	"Asterisk":    "SystemAsterisk",
	"Beep":        ".Default",
	"Exclamation": "SystemExclamation",
	"Hand":        "SystemHand",
	"Question":    "SystemQuestion",
}

// winOutput is what Windows has to play by: one method is one call.
type winOutput interface {
	// Play plays an alias of the sound scheme, or a file, to its end, or until ctx
	// ends.
	Play(ctx context.Context, alias, file string) error
	// Volume is that of the default output, 0 to 1, and whether it is muted.
	Volume() (level float32, muted bool, err error)
	SetVolume(level float32) error
	SetMute(muted bool) error
}

// playWindows plays through out.
func playWindows(ctx context.Context, out winOutput, sound string, percent int) error {
	alias, file := winAliases[sound], ""
	if alias == "" {
		if !strings.EqualFold(filepath.Ext(sound), ".wav") || !fullWindowsPath(sound) {
			return fmt.Errorf("sound %q is neither one of %s nor the full path of a .wav file: %w", sound, strings.Join(Names, ", "), ErrNoSound)
		}
		if info, err := os.Stat(sound); err != nil || !info.Mode().IsRegular() {
			return fmt.Errorf("sound file %q: %w", sound, ErrNoSound)
		}
		file = sound
	}
	var volumeErr error
	if percent > 0 {
		var restore func() error
		restore, volumeErr = setWinVolume(out, percent)
		defer restore() // where the sound itself fails; twice is harmless
		if err := out.Play(ctx, alias, file); err != nil {
			return fmt.Errorf("playing %q: %w", sound, err)
		}
		volumeErr = errors.Join(volumeErr, restore())
	} else if err := out.Play(ctx, alias, file); err != nil {
		return fmt.Errorf("playing %q: %w", sound, err)
	}
	if volumeErr != nil {
		return &VolumeError{volumeErr}
	}
	return nil
}

// fullWindowsPath: a drive and a root, or a share. On other systems, where tests
// run, their own full paths will do.
func fullWindowsPath(path string) bool {
	return filepath.IsAbs(path) || len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') || strings.HasPrefix(path, `\\`)
}

// setWinVolume makes the output this loud and audible. restore puts back volume
// and mute as they were, also where the rest failed; the mute goes first where
// there was one, so that a muted output does not sound in between.
func setWinVolume(out winOutput, percent int) (restore func() error, err error) {
	level, muted, err := out.Volume()
	if err != nil {
		return func() error { return nil }, fmt.Errorf("reading the volume: %w", err)
	}
	done := false
	restore = func() error {
		if done {
			return nil
		}
		done = true
		var mute error
		if muted {
			mute = out.SetMute(true)
		}
		return errors.Join(mute, out.SetVolume(level))
	}
	if err := out.SetVolume(float32(percent) / 100); err != nil {
		return restore, fmt.Errorf("setting the volume: %w", err)
	}
	if muted {
		if err := out.SetMute(false); err != nil {
			return restore, fmt.Errorf("ending the mute: %w", err)
		}
	}
	return restore, nil
}
