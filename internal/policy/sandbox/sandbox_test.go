package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/sandbox"
)

func call(tool string, input map[string]any) *event.Event {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return &event.Event{Provider: event.Claude, Name: event.PreToolUse, Cwd: "/home/u/proj", Tool: &event.Tool{Name: tool, Input: raw}}
}

func world() gate.World {
	return gate.World{Dir: "/home/u/proj", Home: "/home/u", Project: "/home/u/proj",
		Resolve: func(p string) string { return strings.Replace(p, "/home/u/proj/link", "/srv/outside", 1) }}
}

func TestJudge(t *testing.T) {
	bash := func(c string) *event.Event { return call("Bash", map[string]any{"command": c}) }
	notes := sandbox.Config{Roots: []string{".", "~/notes", "/srv/data/"}}
	for _, c := range []struct {
		name string
		cfg  sandbox.Config
		ev   *event.Event
		want string
	}{
		{"a write inside", sandbox.Config{}, bash("echo x > a.txt"), ""},
		{"a write to temp", sandbox.Config{}, bash("echo x > /tmp/a"), ""},
		{"a write to nothing", sandbox.Config{}, bash("make > /dev/null 2>&1"), ""},
		{"a write outside", sandbox.Config{}, bash("echo x > ~/a.txt"), sandbox.RuleWrite},
		{"a write beside the project", sandbox.Config{}, bash("cp a ../proj2/a"), sandbox.RuleWrite},
		{"a name that only begins alike", sandbox.Config{}, bash("touch /home/u/proj2"), sandbox.RuleWrite},
		{"a write through a link", sandbox.Config{}, bash("echo x > link/a"), sandbox.RuleWrite},
		{"a deletion outside", sandbox.Config{}, bash("rm ~/a"), sandbox.RuleWrite},
		{"a move out", sandbox.Config{}, bash("mv a ~/a"), sandbox.RuleWrite},
		{"hidden in a shell", sandbox.Config{}, bash(`bash -c 'echo x > "$HOME/a"'`), sandbox.RuleWrite},
		{"after a cd", sandbox.Config{}, bash("cd /srv && touch a"), sandbox.RuleWrite},
		{"on another machine", sandbox.Config{}, bash("ssh h 'touch /srv/a'"), ""},
		{"a read outside", sandbox.Config{}, bash("cat /srv/data/x"), ""},
		{"a second root", notes, bash("echo x > ~/notes/a.md"), ""},
		{"a third root", notes, bash("touch /srv/data/a"), ""},
		{"still not beside them", notes, bash("touch /srv/a"), sandbox.RuleWrite},
		{"the project among roots", notes, bash("touch a"), ""},
		{"a file tool outside", sandbox.Config{}, call("Write", map[string]any{"file_path": "/srv/a"}), sandbox.RuleWrite},
		{"a file tool inside", sandbox.Config{}, call("Edit", map[string]any{"file_path": "/home/u/proj/a"}), ""},
		{"a patch outside", sandbox.Config{}, call("apply_patch", map[string]any{"command": "*** Begin Patch\n*** Add File: ../a\n+x\n*** End Patch"}), sandbox.RuleWrite},
		{"leaving the client's sandbox", sandbox.Config{}, call("Bash", map[string]any{"command": "ls", "dangerouslyDisableSandbox": true}), sandbox.RuleEscape},
		{"leaving Codex' sandbox", sandbox.Config{}, call("Bash", map[string]any{"command": "ls", "sandbox_permissions": "require_escalated"}), sandbox.RuleEscape},
		{"leaving where that is allowed", sandbox.Config{AllowEscape: true}, call("Bash", map[string]any{"command": "ls", "dangerouslyDisableSandbox": true}), ""},
	} {
		v, _ := policy.Run(t.Context(), c.ev, []policy.Handler{sandbox.New(c.cfg, func(*event.Event) gate.World { return world() }, nil)})
		if v.Rule != c.want || (v.Decision == event.Deny) != (c.want != "") {
			t.Errorf("%s: got %v %q, want %q", c.name, v.Decision, v.Rule, c.want)
		}
		if c.want != "" && !strings.Contains(v.Reason, "Do not reach the same end another way") {
			t.Errorf("%s: %q", c.name, v.Reason)
		}
	}
}

func TestHandler_aFailureRefuses(t *testing.T) {
	h := sandbox.New(sandbox.Config{}, func(*event.Event) gate.World { panic("no disk") }, nil)
	if v, _ := policy.Run(t.Context(), call("Bash", map[string]any{"command": "ls"}), []policy.Handler{h}); v.Decision != event.Deny {
		t.Errorf("got %v", v.Decision)
	}
}
