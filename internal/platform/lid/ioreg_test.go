package lid

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

func TestReadIoreg(t *testing.T) {
	open := Reading{State: Open, Presence: Present, Source: "ioreg"}
	shut := Reading{State: Closed, Presence: Present, Source: "ioreg"}
	for name, c := range map[string]struct {
		file, text string
		want       Reading
	}{
		"macOS 14, open":            {file: "14-open.txt", want: open},
		"macOS 14, shut":            {file: "14-shut.txt", want: shut},
		"macOS 11 on Intel, open":   {file: "11-intel-open.txt", want: open},
		"a Mac without a lid":       {text: "", want: Reading{Presence: Absent, Source: "ioreg", Why: "this Mac has no lid"}},
		"a value that means naught": {text: `  "AppleClamshellState" = Maybe`, want: Reading{Presence: Present, Source: "ioreg", Why: "ioreg gives no clear answer for AppleClamshellState"}},
		"two entries that disagree": {text: "  \"AppleClamshellState\" = Yes\n  \"AppleClamshellState\" = No\n",
			want: Reading{Presence: Present, Source: "ioreg", Why: "ioreg gives no clear answer for AppleClamshellState"}},
		"another property's name": {text: `  "NotAppleClamshellState" = Yes`, want: Reading{Presence: Absent, Source: "ioreg", Why: "this Mac has no lid"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.file != "" {
				data, err := os.ReadFile(filepath.Join("testdata/macos", c.file))
				if err != nil {
					t.Fatal(err)
				}
				c.text = string(data)
			}
			run := &oneAnswer{out: c.text}
			if got := ReadIoreg(t.Context(), run); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if want := "/usr/sbin/ioreg -r -k AppleClamshellState -d 4"; len(run.asked) != 1 || run.asked[0] != want {
				t.Errorf("ran %q, want %q", run.asked, want)
			}
		})
	}
	t.Run("a program that fails leaves the lid unknown", func(t *testing.T) {
		got := ReadIoreg(t.Context(), &oneAnswer{out: `"AppleClamshellState" = Yes`, err: errors.New("no ioreg")})
		if got.State != Unknown || got.Presence != PresenceUnknown || got.Why != "no ioreg" {
			t.Errorf("got %+v", got)
		}
	})
}

func FuzzParseIoreg(f *testing.F) {
	f.Add([]byte(`  |   "AppleClamshellState" = Yes`))
	f.Fuzz(func(t *testing.T, out []byte) {
		r := parseIoreg(out)
		if r.State == Closed && !strings.Contains(string(out), `"AppleClamshellState" = Yes`) {
			t.Errorf("%q reads as a shut lid", out)
		}
		if (r.State == Unknown) != (r.Why != "") {
			t.Errorf("%q reads as %+v", out, r)
		}
	})
}
