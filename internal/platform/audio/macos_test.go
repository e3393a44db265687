package audio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mac plays a Mac's sound: it knows afplay and osascript, and answers as macOS 14
// does.
type mac struct {
	volume, muted string
	ran           []string
	fail          string // a command that contains this fails
	cancel        func() // called by afplay
}

func (m *mac) run(ctx context.Context, c Command) ([]byte, error) {
	line := c.Path + " " + strings.Join(c.Args, " ")
	m.ran = append(m.ran, line)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.fail != "" && strings.Contains(line, m.fail) {
		return nil, errors.New("failed")
	}
	switch {
	case c.Path == "/usr/bin/afplay":
		if m.cancel != nil {
			m.cancel()
			return nil, ctx.Err()
		}
	case line == "/usr/bin/osascript -e get volume settings":
		return fmt.Appendf(nil, "output volume:%s, input volume:75, alert volume:100, output muted:%s\n", m.volume, m.muted), nil
	case c.Path == "/usr/bin/osascript":
		if _, err := fmt.Sscanf(c.Args[1], "set volume output volume %s output muted %s", &m.volume, &m.muted); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func TestPlayMacOS(t *testing.T) {
	wav := filepath.Join(t.TempDir(), "bell.wav")
	if err := os.WriteFile(wav, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("every name has a sound", func(t *testing.T) {
		for _, name := range Names {
			m := &mac{volume: "50", muted: "false"}
			if err := (Player{Run: m.run}).playMacOS(t.Context(), name, 0); err != nil {
				t.Error(err)
			}
			if len(m.ran) != 1 || !strings.HasPrefix(m.ran[0], "/usr/bin/afplay /System/Library/Sounds/") {
				t.Errorf("%s ran %q", name, m.ran)
			}
		}
	})
	t.Run("volume and mute are put back", func(t *testing.T) {
		for _, muted := range []string{"true", "false"} {
			m := &mac{volume: "31", muted: muted}
			if err := (Player{Run: m.run}).playMacOS(t.Context(), wav, 80); err != nil {
				t.Fatal(err)
			}
			want := []string{"/usr/bin/osascript -e get volume settings", "/usr/bin/osascript -e set volume output volume 80 output muted false",
				"/usr/bin/afplay " + wav, "/usr/bin/osascript -e set volume output volume 31 output muted " + muted}
			if !slices.Equal(m.ran, want) || m.volume != "31" || m.muted != muted {
				t.Errorf("ran %q, left %s, muted %s", m.ran, m.volume, m.muted)
			}
		}
	})
	t.Run("also after a cancel, and when the player fails", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &mac{volume: "31", muted: "true", cancel: cancel}
		if err := (Player{Run: m.run}).playMacOS(ctx, "Hand", 80); !errors.Is(err, context.Canceled) {
			t.Errorf("Play = %v", err)
		}
		if m.volume != "31" || m.muted != "true" {
			t.Errorf("left %s, muted %s", m.volume, m.muted)
		}
		m = &mac{volume: "31", muted: "true", fail: "afplay"}
		if err := (Player{Run: m.run}).playMacOS(t.Context(), "Hand", 80); err == nil || m.volume != "31" || m.muted != "true" {
			t.Errorf("Play = %v, left %s, muted %s", err, m.volume, m.muted)
		}
	})
	t.Run("an output without a volume is played to all the same", func(t *testing.T) {
		m := &mac{volume: "missing value", muted: "missing value"}
		var volume *VolumeError
		if err := (Player{Run: m.run}).playMacOS(t.Context(), "Hand", 80); !errors.As(err, &volume) {
			t.Errorf("Play = %v, want a VolumeError", err)
		}
		if last := m.ran[len(m.ran)-1]; !strings.HasPrefix(last, "/usr/bin/afplay ") || len(m.ran) != 2 {
			t.Errorf("ran %q", m.ran)
		}
	})
	t.Run("what is no sound", func(t *testing.T) {
		for _, sound := range []string{"Gong", "bell.wav", "/no/such.wav", "/etc/passwd", ""} {
			m := &mac{}
			if err := (Player{Run: m.run}).playMacOS(t.Context(), sound, 0); !errors.Is(err, ErrNoSound) || len(m.ran) != 0 {
				t.Errorf("%q: %v, ran %q", sound, err, m.ran)
			}
		}
	})
}
