package replay_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Hooks in the manner of those that people share, each with a fault that is common
// among them; the golden report is what its author would be told.
func TestAudit_hooksOfOthers(t *testing.T) {
	dir := filepath.Join("testdata", "foreign")
	names, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := replay.Corpus("cases", os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, name := range names {
		interpreter := map[string]string{".py": "python3", ".sh": "sh", ".js": "node"}[filepath.Ext(name)]
		if interpreter == "" {
			continue
		}
		if strings.Contains(name, "needs_jq") {
			interpreter = "bash"
		}
		tried++
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			f := &replay.ForeignHook{Argv: []string{interpreter, filepath.Join(abs, filepath.Base(name))}, WorkDir: abs, Environ: os.Environ(),
				Role: replay.RoleGate, Events: []string{"PreToolUse"}, Limit: time.Minute}
			every := 3
			switch {
			case strings.Contains(name, "stop_loop"):
				f.Events, every = []string{"Stop"}, 1
			case strings.Contains(name, "observer"):
				f.Events, f.Role, every = []string{"Stop"}, replay.RoleObserver, 1
			}
			r, err := replay.Audit(t.Context(), replay.AuditOptions{Suites: []replay.Suite{cases}, Foreign: f, Providers: []event.Provider{event.Claude, event.Codex}})
			if err != nil {
				t.Fatal(err)
			}
			// A part of what every hook meets, for the time it takes; what hangs is
			// told by a test of its own.
			met, err := replay.Audit(t.Context(), replay.AuditOptions{Suites: []replay.Suite{replay.Protocol(f.Role, false)}, Foreign: f,
				Providers: []event.Provider{event.Claude}, Every: every, Kinds: []string{"allow", "malformed", "empty", "truncated", "loop", "overlay"}})
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "foreign", "golden", filepath.Base(name)+".txt"), summary(r)+summary(met))
		})
	}
	if tried < 15 {
		t.Errorf("only %d hooks were audited", tried)
	}
}

// summary is a report with equal misses of several cases on one line.
func summary(r *replay.Report) string {
	counts := map[string][]string{}
	for _, row := range r.Rows {
		if !row.Miss {
			continue
		}
		line := fmt.Sprintf("%s %s %s: expected %s, got %s", row.Provider, row.Event, row.Kind, row.Expected, row.Actual)
		for _, fault := range row.Faults {
			line += "\n    " + fault
		}
		counts[line] = append(counts[line], row.Case)
	}
	var lines []string
	for line, cases := range counts {
		slices.Sort(cases)
		head, rest, more := strings.Cut(line, "\n")
		text := fmt.Sprintf("%s\n    %s\n", head, strings.Join(slices.Compact(cases), "; "))
		if more {
			text += rest + "\n"
		}
		lines = append(lines, text)
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d cases, %d misses\n%s", r.Cases, r.Misses, strings.Join(lines, ""))
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", file, got, want)
	}
}

// A hook that reads to the end of its input hangs where that end does not come, and
// a client lets the call run.
func TestAudit_hooksThatHang(t *testing.T) {
	for _, c := range []struct {
		name string
		miss bool
	}{{"crash.js", true}, {"sound.py", false}} {
		file, err := filepath.Abs(filepath.Join("testdata", "foreign", c.name))
		if err != nil {
			t.Fatal(err)
		}
		limit := 20 * time.Second // for a machine that is busy
		if c.miss {
			limit = 300 * time.Millisecond // it never answers
		}
		interpreter := map[string]string{".py": "python3", ".js": "node"}[filepath.Ext(c.name)]
		r, err := replay.Audit(t.Context(), replay.AuditOptions{Suites: []replay.Suite{replay.Protocol(replay.RoleGate, false)}, Kinds: []string{"timeout"},
			Providers: []event.Provider{event.Claude},
			Foreign: &replay.ForeignHook{Argv: []string{interpreter, file}, WorkDir: filepath.Dir(file), Environ: os.Environ(), Role: replay.RoleGate,
				Events: []string{"PreToolUse"}, Limit: limit}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Cases == 0 || (r.Misses > 0) != c.miss {
			t.Errorf("%s: %d of %d cases missed", c.name, r.Misses, r.Cases)
		}
		for _, row := range r.Rows {
			if c.miss && !strings.HasSuffix(row.Actual, "(timeout)") {
				t.Errorf("%s: got %s, want a timeout", c.name, row.Actual)
			}
		}
	}
}
