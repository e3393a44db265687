package thermal

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// unpack writes a tree of testdata; a file that says "unreadable" becomes a
// folder, whose reading fails.
func unpack(t *testing.T, ar *txtar.Archive) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range ar.Files {
		if !strings.HasPrefix(f.Name, "sys/") {
			continue
		}
		path := filepath.Join(root, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch text := strings.TrimSpace(string(f.Data)); {
		case text == "unreadable":
			err = os.Mkdir(path, 0o755)
		case strings.HasPrefix(text, "link "):
			err = os.Symlink(strings.TrimPrefix(text, "link "), path)
		default:
			err = os.WriteFile(path, f.Data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func describe(root string, r Reading, err error) string {
	var b strings.Builder
	for _, s := range r.Sensors {
		fmt.Fprintf(&b, "%-24s %5.1f  %s\n", s.Name, s.Celsius, strings.TrimPrefix(s.Path, root+"/"))
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "left out %q: %s\n", s.Name, strings.ReplaceAll(s.Why, root+"/", ""))
	}
	for _, m := range []Mode{Low, Average, High} {
		if c, err := r.Celsius(m); err == nil {
			fmt.Fprintf(&b, "%s %.2f\n", m, c)
		}
	}
	if err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root := unpack(t, ar)
			r, readErr := Read(root)
			if (readErr != nil) != (len(r.Sensors) == 0) || readErr != nil && !errors.Is(readErr, ErrNoSensor) {
				t.Errorf("%d sensors with error %v", len(r.Sensors), readErr)
			}
			got := describe(root, r, readErr)
			want := ""
			for i, f := range ar.Files {
				if f.Name == "want" {
					want = string(f.Data)
					ar.Files[i].Data = []byte(got)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestCelsius_unknownModeIsAnError(t *testing.T) {
	r := Reading{Sensors: []Sensor{{Celsius: 40}}}
	if c, err := r.Celsius("median"); err == nil {
		t.Errorf("got %g", c)
	}
	if c, err := (Reading{}).Celsius(High); !errors.Is(err, ErrNoSensor) {
		t.Errorf("got %g, %v, want ErrNoSensor", c, err)
	}
}
