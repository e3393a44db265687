package audio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// speaker is a Windows output in memory.
type speaker struct {
	level  float32
	muted  bool
	broken map[string]error
	log    []string
}

func (s *speaker) do(call string, f func()) error {
	if err := s.broken[call]; err != nil {
		return err
	}
	f()
	return nil
}

func (s *speaker) Play(ctx context.Context, alias, file string) error {
	s.log = append(s.log, fmt.Sprintf("%s%s at %.2f, muted %v", alias, filepath.Base(file), s.level, s.muted))
	return errors.Join(ctx.Err(), s.broken["Play"])
}

func (s *speaker) Volume() (float32, bool, error) { return s.level, s.muted, s.broken["Volume"] }
func (s *speaker) SetVolume(level float32) error {
	return s.do("SetVolume", func() { s.level = level })
}
func (s *speaker) SetMute(muted bool) error { return s.do("SetMute", func() { s.muted = muted }) }

func TestPlayWindows(t *testing.T) {
	wav := filepath.Join(t.TempDir(), "my sound.WAV")
	if err := os.WriteFile(wav, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sound   string
		percent int
		muted   bool
		want    string
	}{
		"a name at the volume that is":     {"Asterisk", 0, false, "SystemAsterisk. at 0.30, muted false"},
		"a mute is left alone":             {"Beep", 0, true, ".Default. at 0.30, muted true"},
		"a name at a volume of its own":    {"Hand", 80, false, "SystemHand. at 0.80, muted false"},
		"a volume is heard despite a mute": {"Question", 100, true, "SystemQuestion. at 1.00, muted false"},
		"a file":                           {wav, 50, false, "my sound.WAV at 0.50, muted false"},
	} {
		s := &speaker{level: 0.3, muted: c.muted}
		if err := playWindows(t.Context(), s, c.sound, c.percent); err != nil || !slices.Equal(s.log, []string{c.want}) {
			t.Errorf("%s: %v, played %q, want %q", name, err, s.log, c.want)
		}
		if s.level != 0.3 || s.muted != c.muted {
			t.Errorf("%s: the volume is %v, muted %v afterwards", name, s.level, s.muted)
		}
	}
}

func TestPlayWindows_failures(t *testing.T) {
	broken := errors.New("broken")
	for _, call := range []string{"Volume", "SetVolume", "SetMute"} {
		s := &speaker{level: 0.3, muted: true, broken: map[string]error{call: broken}}
		var volume *VolumeError
		if err := playWindows(t.Context(), s, "Hand", 80); !errors.As(err, &volume) || !errors.Is(err, broken) || len(s.log) != 1 {
			t.Errorf("%s fails: %v, played %q, want it heard with a *VolumeError", call, err, s.log)
		}
		if s.level != 0.3 || !s.muted {
			t.Errorf("%s fails: the volume is %v, muted %v afterwards", call, s.level, s.muted)
		}
	}
	s := &speaker{level: 0.3, muted: true, broken: map[string]error{"Play": broken}}
	if err := playWindows(t.Context(), s, "Hand", 80); !errors.Is(err, broken) || s.level != 0.3 || !s.muted {
		t.Errorf("no sound device: %v; the volume is %v, muted %v afterwards", err, s.level, s.muted)
	}
	for _, sound := range []string{"", "Bell", "sound.wav", `C:\no\such.wav`, `C:\Windows\notepad.exe`, t.TempDir() + "/none.wav"} {
		s := &speaker{}
		if err := playWindows(t.Context(), s, sound, 0); !errors.Is(err, ErrNoSound) || len(s.log) != 0 {
			t.Errorf("%q: %v, played %q", sound, err, s.log)
		}
	}
}
