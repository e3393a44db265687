//go:build lidlab && linux

// This test needs a PulseAudio server of its own, named by PULSE_SERVER, with a
// sink that nobody hears. Built with the tag lidlab it insists on it.
package audio

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// silence writes a tenth of a second of nothing: 8 kHz, 8 bit, mono.
func silence(t *testing.T) string {
	t.Helper()
	const n = 800
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36+n)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = append(b, 1, 0, 1, 0)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = append(b, 1, 0, 8, 0)
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, n)
	for range n {
		b = append(b, 128)
	}
	path := filepath.Join(t.TempDir(), "silence.wav")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReal_pulseAudio(t *testing.T) {
	if os.Getenv("PULSE_SERVER") == "" {
		t.Fatal("PULSE_SERVER names no private server")
	}
	exec := Exec(os.Environ())
	during := ""
	p := Player{Path: os.Getenv("PATH")}
	pactl := func(args ...string) string {
		t.Helper()
		out, err := exec(t.Context(), Command{Path: p.find("pactl"), Args: args, Env: cTongue})
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	state := func() string {
		return pactl("get-sink-volume", "@DEFAULT_SINK@") + pactl("get-sink-mute", "@DEFAULT_SINK@")
	}
	p.Run = func(ctx context.Context, c Command) ([]byte, error) {
		if filepath.Base(c.Path) == "paplay" {
			during = state()
		}
		return exec(ctx, c)
	}
	pactl("set-sink-volume", "@DEFAULT_SINK@", "20001", "30003")
	pactl("set-sink-mute", "@DEFAULT_SINK@", "1")
	before := state()
	if err := p.Play(t.Context(), silence(t), 80); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(during, "80%") || !strings.Contains(during, "Mute: no") {
		t.Errorf("while it played:\n%s", during)
	}
	if after := state(); after != before {
		t.Errorf("before\n%safter\n%s", before, after)
	}
}
