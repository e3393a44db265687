package display

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// oneAnswer is a Runner whose programs all say the same.
type oneAnswer struct {
	out   string
	err   error
	asked []string
}

func (o *oneAnswer) Output(_ context.Context, path string, args ...string) ([]byte, error) {
	o.asked = append(o.asked, path+" "+strings.Join(args, " "))
	return []byte(o.out), o.err
}

func (o *oneAnswer) Start(string, ...string) (command.Process, error) {
	return nil, errors.New("reading starts nothing")
}

func TestReadSystemProfiler(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []Connector
		// What speaks against a suspend with the lid shut, and open.
		shut, open int
	}{
		"built in alone (macOS 14, Apple silicon)": {"14-builtin.json", []Connector{{Name: "Color LCD 1", Internal: true, Status: "connected"}}, 0, 1},
		"docked with the lid shut (macOS 13)":      {"13-docked.json", []Connector{{Name: "DELL U2720Q 2", Status: "connected"}}, 1, 1},
		"monitor and Sidecar beside the built-in (macOS 14)": {"14-sidecar.json", []Connector{
			{Name: "Color LCD 1", Internal: true, Status: "connected"},
			{Name: "DELL U3419W 2", Status: "connected"},
			{Name: "Sidecar Display 4", Status: "connected"}}, 2, 3},
		"two graphics cards (macOS 11, Intel)": {"11-intel.json", []Connector{
			{Name: "Color LCD 4280440", Internal: true, Status: "connected"},
			{Name: "spdisplays_display_connector", Status: "disconnected"}}, 0, 1},
		"no display at all (Mac mini, macOS 13)": {"13-headless.json", nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata/macos", c.file))
			if err != nil {
				t.Fatal(err)
			}
			run := &oneAnswer{out: string(data)}
			r, err := ReadSystemProfiler(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Connectors, c.want) {
				t.Errorf("got %+v, want %+v", r.Connectors, c.want)
			}
			if shut, open := len(r.Blocking(true)), len(r.Blocking(false)); shut != c.shut || open != c.open {
				t.Errorf("blocking: %d shut, %d open; want %d, %d", shut, open, c.shut, c.open)
			}
			if want := "/usr/sbin/system_profiler SPDisplaysDataType -json"; len(run.asked) != 1 || run.asked[0] != want {
				t.Errorf("ran %q, want %q", run.asked, want)
			}
		})
	}
}

func TestReadSystemProfiler_unknownIsNeverNone(t *testing.T) {
	for name, run := range map[string]*oneAnswer{
		"no answer":       {err: errors.New("no program")},
		"an empty answer": {},
		"another report":  {out: `{"SPStorageDataType": []}`},
		"no card":         {out: `{"SPDisplaysDataType": []}`},
		"half an answer":  {out: `{"SPDisplaysDataType" : [ {`},
	} {
		if r, err := ReadSystemProfiler(t.Context(), run); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: got %+v, %v, want ErrUnknown", name, r, err)
		}
	}
}
