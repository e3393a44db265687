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

// box is a search path with programs that only have a name, and a fake of what
// they would do.
type box struct {
	Player
	ran    []string
	volume string // of each channel
	mute   string
	fail   map[string]error
}

func newBox(t *testing.T, programs ...string) *box {
	t.Helper()
	bin, share := t.TempDir(), t.TempDir()
	for _, p := range programs {
		if err := os.WriteFile(filepath.Join(bin, p), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(share, "sounds/freedesktop/stereo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"bell.oga", "dialog-warning.oga"} {
		if err := os.WriteFile(filepath.Join(dir, s), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := &box{volume: "42598 40000", mute: "no", fail: map[string]error{}}
	b.Player = Player{Path: "relative" + string(os.PathListSeparator) + bin, Run: b.run, DataDirs: []string{share}}
	return b
}

func (b *box) run(ctx context.Context, c Command) ([]byte, error) {
	line := filepath.Base(c.Path)
	for _, a := range c.Args {
		line += " " + filepath.Base(a)
	}
	b.ran = append(b.ran, line)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for prefix, err := range b.fail {
		if strings.HasPrefix(line, prefix) {
			return nil, err
		}
	}
	if !strings.HasPrefix(line, "pactl ") {
		b.ran[len(b.ran)-1] += fmt.Sprintf(" at %s mute %s", b.volume, b.mute)
		return nil, nil
	}
	if !slices.Contains(c.Env, "LC_ALL=C") {
		return []byte("Lautstärke: vorne-links: 1 / 0%"), nil
	}
	switch c.Args[0] {
	case "get-default-sink":
		return []byte("alsa.analog\n"), nil
	case "get-sink-volume":
		v := strings.Fields(b.volume)
		return fmt.Appendf(nil, "Volume: front-left: %s /  65%% / -11.23 dB,   front-right: %s /  61%% / -12.90 dB\n        balance -0.06\n", v[0], v[1]), nil
	case "get-sink-mute":
		return []byte("Mute: " + b.mute + "\n"), nil
	case "set-sink-volume":
		b.volume = strings.Join(c.Args[2:], " ")
	case "set-sink-mute":
		b.mute = map[string]string{"0": "no", "1": "yes"}[c.Args[2]]
	}
	return nil, nil
}

func wav(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "alarm.wav")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlay_choosesAPlayer(t *testing.T) {
	for _, tt := range []struct {
		name, sound string
		programs    []string
		want        string // "" is ErrNoPlayer
	}{
		{"PipeWire before PulseAudio", "Beep", []string{"paplay", "pw-play", "aplay"}, "pw-play bell.oga"},
		{"PulseAudio", "Exclamation", []string{"paplay", "aplay"}, "paplay dialog-warning.oga"},
		{"ALSA plays a file", "wav", []string{"aplay"}, "aplay -q alarm.wav"},
		{"ALSA cannot play the theme", "Beep", []string{"aplay"}, ""},
		{"none", "Beep", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBox(t, tt.programs...)
			if tt.sound == "wav" {
				tt.sound = wav(t)
			}
			err := b.Play(t.Context(), tt.sound, 0)
			if tt.want == "" {
				if !errors.Is(err, ErrNoPlayer) || len(b.ran) > 0 {
					t.Errorf("got %v after %q, want ErrNoPlayer", err, b.ran)
				}
				return
			}
			if want := tt.want + " at 42598 40000 mute no"; err != nil || !slices.Equal(b.ran, []string{want}) {
				t.Errorf("ran %q, %v, want %q", b.ran, err, want)
			}
		})
	}
}

func TestPlay_refusesWhatIsNoSound(t *testing.T) {
	b := newBox(t, "pw-play")
	dir := filepath.Join(t.TempDir(), "dir.wav")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for what, sound := range map[string]string{
		"an unknown name": "Trumpet", "a name of the theme that is not installed": "Hand", "a missing file": "/nonexistent/x.wav",
		"a relative path": "alarm.wav", "another kind of file": "/etc/passwd", "a folder": dir, "nothing": "", "an option": "--help",
	} {
		if err := b.Play(t.Context(), sound, 0); !errors.Is(err, ErrNoSound) || len(b.ran) > 0 {
			t.Errorf("%s: got %v after %q, want ErrNoSound", what, err, b.ran)
		}
	}
	for _, percent := range []int{-1, 101} {
		if err := b.Play(t.Context(), "Beep", percent); err == nil {
			t.Errorf("volume %d was accepted", percent)
		}
	}
}

func TestPlay_volumeAndMuteArePutBack(t *testing.T) {
	for _, mute := range []string{"yes", "no"} {
		b := newBox(t, "pw-play", "pactl")
		b.mute = mute
		if err := b.Play(t.Context(), "Beep", 80); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(b.ran, "pw-play bell.oga at 80% mute no") {
			t.Errorf("played otherwise: %q", b.ran)
		}
		if b.volume != "42598 40000" || b.mute != mute {
			t.Errorf("left at %s, mute %s; was mute %s", b.volume, b.mute, mute)
		}
		if mute == "yes" && b.ran[len(b.ran)-2] != "pactl set-sink-mute alsa.analog 1" {
			t.Errorf("the output sounded while the volume was put back: %q", b.ran)
		}
	}
}

func TestPlay_volumeIsPutBackWhateverHappens(t *testing.T) {
	boom := errors.New("boom")
	for _, step := range []string{"pw-play", "pactl get-default-sink", "pactl get-sink-volume", "pactl get-sink-mute", "pactl set-sink-mute alsa.analog 0"} {
		b := newBox(t, "pw-play", "pactl")
		b.mute = "yes"
		b.fail[step] = boom
		err := b.Play(t.Context(), "Beep", 80)
		if !errors.Is(err, boom) {
			t.Errorf("%s fails: got %v", step, err)
		}
		var volume *VolumeError
		if played := step != "pw-play"; errors.As(err, &volume) != played {
			t.Errorf("%s fails: got %v, a volume error only where the sound was played", step, err)
		}
		if b.volume != "42598 40000" || b.mute != "yes" {
			t.Errorf("%s fails: left at %s, mute %s", step, b.volume, b.mute)
		}
	}
	// Without pactl it plays, and says that the volume is not as asked.
	b := newBox(t, "pw-play")
	var volume *VolumeError
	if err := b.Play(t.Context(), "Beep", 80); !errors.As(err, &volume) || len(b.ran) != 1 {
		t.Errorf("got %v after %q, want a sound and VolumeError", err, b.ran)
	}
}

func TestPlay_volumeIsPutBackAfterACancel(t *testing.T) {
	b := newBox(t, "pw-play", "pactl")
	ctx, cancel := context.WithCancel(t.Context())
	run := b.Run
	b.Run = func(ctx context.Context, c Command) ([]byte, error) {
		if filepath.Base(c.Path) == "pw-play" {
			cancel() // the lid was opened while it played
		}
		return run(ctx, c)
	}
	if err := b.Play(ctx, "Beep", 80); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if b.volume != "42598 40000" {
		t.Errorf("left at %s", b.volume)
	}
}

func TestParseVolumes(t *testing.T) {
	for answer, want := range map[string][]string{
		"Volume: front-left: 42598 /  65% / -11.23 dB,   front-right: 42598 /  65% / -11.23 dB\n        balance 0.00": {"42598", "42598"},
		"Volume: mono: 0 /   0% / -inf dB":                                      {"0"},
		"Volume: aux0: 65536 / 100% / 0.00 dB,   aux1: 98304 / 150% / 10.57 dB": {"65536", "98304"},
		"Failed": nil, "": nil,
	} {
		if got := parseVolumes(answer); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", answer, got, want)
		}
	}
}

func TestExec(t *testing.T) {
	run := Exec([]string{"GREETING=hello"})
	out, err := run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "echo $GREETING $LC_ALL"}, Env: []string{"LC_ALL=C"}})
	if string(out) != "hello C\n" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	if _, err := run(t.Context(), Command{Path: "/bin/sh", Args: []string{"-c", "echo no sink >&2; exit 3"}}); err == nil || !strings.Contains(err.Error(), `"no sink"`) {
		t.Errorf("got %v, want the program's own words", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := run(ctx, Command{Path: "/bin/sh", Args: []string{"-c", "read x"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
