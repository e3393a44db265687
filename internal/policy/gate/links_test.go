package gate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

// A link is as grave as where it leads, wherever it stands, and a temp folder that is
// a link itself is a temp folder all the same.
func TestLinks_outOfTempFolders(t *testing.T) {
	links := map[string]string{"/tmp": "/private/tmp", "/scratch/tmp": "/home/dev/.cache/tmp"}
	leads := map[string]string{"/tmp/etc": "/etc", "/tmp/keys": "/home/dev/.ssh", "/tmp/other": "/srv/data", "/scratch/tmp/etc": "/etc", "/home/dev/project/keys": "/home/dev/.ssh"}
	resolve := func(p string) string {
		for _, table := range []map[string]string{leads, links} {
			for from, to := range table {
				if p == from || strings.HasPrefix(p, from+"/") {
					return to + p[len(from):]
				}
			}
		}
		return p
	}
	w := gate.World{Dir: "/home/dev/project", Project: "/home/dev/project", Home: "/home/dev", Temp: []string{"/scratch/tmp"}, Resolve: resolve}
	for _, tt := range []struct {
		command string
		stopped bool
	}{
		{"echo x > /tmp/a", false},
		{"rm -rf /tmp/a/*", false},
		{"echo x > /scratch/tmp/a", false},
		{"rm -rf /scratch/tmp/a", false},
		{"echo x > /tmp/etc/passwd", true},
		{"echo x > /tmp/keys/authorized_keys", true},
		{"rm -rf /tmp/keys/*", true},
		{"rm -rf /tmp/other/*", true},
		{"echo x > /scratch/tmp/etc/cron.d/x", true},
		{"echo x > keys/authorized_keys", true},
	} {
		input, err := json.Marshal(map[string]string{"command": tt.command})
		if err != nil {
			t.Fatal(err)
		}
		ev := event.Event{Provider: event.Claude, Name: event.PreToolUse, Cwd: w.Dir, Tool: &event.Tool{Name: "Bash", Input: input}}
		if got := gate.Judge(gate.Config{}, &ev, w); (got.Decision != event.None) != tt.stopped {
			t.Errorf("%s: %v (%v)", tt.command, got.Decision, got)
		}
	}
}
