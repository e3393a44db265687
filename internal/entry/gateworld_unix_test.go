//go:build unix

package entry

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// A named pipe at a place that is looked at holds no judgement up: a hook that is
// ended by its client lets the call through.
func TestWorld_waitsForNoPipe(t *testing.T) {
	dir := repository(t, "2")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"to-pipe": "pipe", "to-proc": "/proc"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]event.Decision{
		"ls pipe/*": event.None, "ls to-pipe/*": event.None, "ls to-proc/*": event.None, "cat < pipe": event.None, "ls src/*": event.None,
		"ls pipe/*; rm -rf /": event.Deny, "rm -rf / pipe/*": event.Deny, ". ./pipe; rm -rf /": event.Deny, "sh to-pipe; rm -rf /": event.Deny,
	} {
		got := make(chan event.Decision, 1)
		go func() { // ends with the judgement, or with the test
			r := gate.Command(gate.Config{}, command, shell.Bash, gateWorld("linux", dir, func(string) string { return "" }, "/nobody"))
			got <- r.Decision
		}()
		select {
		case d := <-got:
			if d != want {
				t.Errorf("%q: got %v, want %v", command, d, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%q: it waits", command)
		}
	}
	w := gateWorld("linux", dir, func(string) string { return "" }, "/nobody")
	for _, pattern := range []string{"pipe/*", "to-pipe/*", "to-proc/*"} {
		if names, ok := w.Glob(dir, pattern); ok {
			t.Errorf("%s gave %q", pattern, names)
		}
	}
}
