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
		{"a write through a link made on the way", sandbox.Config{}, bash("ln -s /srv q; echo x > q/a"), sandbox.RuleWrite},
		{"a name after a pattern", sandbox.Config{}, bash("touch src/*/../../../a"), sandbox.RuleWrite},
		{"the link itself", sandbox.Config{}, bash("rm link"), ""},
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
		{"leaving in a word", sandbox.Config{}, call("Bash", map[string]any{"command": "ls", "dangerouslyDisableSandbox": "true"}), sandbox.RuleEscape},
		{"leaving beside what is odd", sandbox.Config{}, call("Bash", map[string]any{"command": "ls", "sandbox_permissions": 5, "dangerouslyDisableSandbox": true}), sandbox.RuleEscape},
		{"staying", sandbox.Config{}, call("Bash", map[string]any{"command": "ls", "dangerouslyDisableSandbox": false, "sandbox_permissions": "use_default"}), ""},
		{"a command that is none", sandbox.Config{}, call("Bash", map[string]any{"command": 5}), sandbox.RuleUnjudged},
		{"a line before one that nobody can read", sandbox.Config{}, bash("make\n\"$(x"), sandbox.RuleUnjudged},
		{"a command without end", sandbox.Config{}, bash(strings.Repeat("a;", 1<<20)), sandbox.RuleUnjudged},
		{"a folder outside", sandbox.Config{}, bash("mkdir -p /srv/a"), sandbox.RuleWrite},
		{"a folder inside", sandbox.Config{}, bash("mkdir -m 700 -p a/b"), ""},
		{"a mode outside", sandbox.Config{}, bash("chmod -R 755 /srv/a"), sandbox.RuleWrite},
		{"a mode inside", sandbox.Config{}, bash("chmod +x a.sh"), ""},
		{"a search that deletes outside", sandbox.Config{}, bash("find /srv -name x -delete"), sandbox.RuleWrite},
		{"a search outside", sandbox.Config{}, bash("find /srv -name x"), ""},
		{"a search that deletes inside", sandbox.Config{}, bash("find build -delete"), ""},
		{"an archive outside", sandbox.Config{}, bash("tar xf a.tar -C /srv"), sandbox.RuleWrite},
		{"an archive inside", sandbox.Config{}, bash("tar xf /srv/a.tar -C build"), ""},
		{"another archive outside", sandbox.Config{}, bash("unzip -o a.zip -d /srv"), sandbox.RuleWrite},
		{"a clone outside", sandbox.Config{}, bash("git clone --depth 1 https://x.example/a /srv/a"), sandbox.RuleWrite},
		{"a clone inside", sandbox.Config{}, bash("git clone https://x.example/a"), ""},
		{"git at work outside", sandbox.Config{}, bash("git -C /srv/a commit -m x"), sandbox.RuleWrite},
		{"git reads outside", sandbox.Config{}, bash("git -C /srv/a log"), ""},
		{"a worktree outside", sandbox.Config{}, bash("git worktree add ../b"), sandbox.RuleWrite},
		{"make outside", sandbox.Config{}, bash("make -C /srv install"), sandbox.RuleWrite},
		{"a formatter outside", sandbox.Config{}, bash("gofmt -w /srv/a.go"), sandbox.RuleWrite},
		{"a formatter that shows", sandbox.Config{}, bash("gofmt -d /srv/a.go"), ""},
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
