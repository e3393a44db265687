package approve_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/approve"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

func request(provider event.Provider, tool string, input any) *event.Event {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return &event.Event{Provider: provider, Name: event.PermissionRequest, Cwd: "/p", Tool: &event.Tool{Name: tool, Input: raw}}
}

func command(text string) *event.Event {
	return request(event.Claude, "Bash", map[string]string{"command": text})
}

func world(*event.Event) gate.World {
	links := map[string]string{"/p/docs/link.md": "/etc/passwd"}
	return gate.World{Dir: "/p", Home: "/h", Resolve: func(p string) string {
		if to, ok := links[p]; ok {
			return to
		}
		return p
	}}
}

func TestCheck_refusesBroadRules(t *testing.T) {
	for _, c := range []struct {
		name string
		rule approve.Rule
		want string
	}{
		{"no id", approve.Rule{Tool: "Bash", Command: []string{"ls"}}, "no id"},
		{"no tool", approve.Rule{ID: "x"}, "one exact name"},
		{"every tool", approve.Rule{ID: "x", Tool: "*"}, "one exact name"},
		{"a pattern of tools", approve.Rule{ID: "x", Tool: "mcp__.*"}, "one exact name"},
		{"every command", approve.Rule{ID: "x", Tool: "Bash"}, "every command"},
		{"every program", approve.Rule{ID: "x", Tool: "shell", Command: []string{"*"}}, "has to be named"},
		{"a pattern of programs", approve.Rule{ID: "x", Tool: "shell", Command: []string{"g?", "test"}}, "has to be named"},
		{"all a program can", approve.Rule{ID: "x", Tool: "shell", Command: []string{"npm", "**"}}, "last word"},
		{"** in the middle", approve.Rule{ID: "x", Tool: "shell", Command: []string{"npm", "run", "**", "x"}}, "last word"},
		{"an interpreter with a pattern", approve.Rule{ID: "x", Tool: "shell", Command: []string{"python3", "-c", "*"}}, "all have to be given"},
		{"the same by its path", approve.Rule{ID: "x", Tool: "shell", Command: []string{"/usr/bin/env", "bash", "**"}}, "all have to be given"},
		{"a version of it", approve.Rule{ID: "x", Tool: "shell", Command: []string{"python3.12", "-c", "*"}}, "all have to be given"},
		{"by a path and a version", approve.Rule{ID: "x", Tool: "shell", Command: []string{"/opt/lua5.4", "*"}}, "all have to be given"},
		{"of Windows", approve.Rule{ID: "x", Tool: "PowerShell", Command: []string{`C:\x\Node.exe`, "*"}}, "all have to be given"},
		{"a program that runs others", approve.Rule{ID: "x", Tool: "shell", Command: []string{"setsid", "*"}}, "all have to be given"},
		{"git with a pattern", approve.Rule{ID: "x", Tool: "shell", Command: []string{"git", "push", "*"}}, "all have to be given"},
		{"no pattern", approve.Rule{ID: "x", Tool: "shell", Command: []string{"ls", "["}}, "no pattern"},
		{"a command for no shell", approve.Rule{ID: "x", Tool: "Read", Command: []string{"ls"}}, "no shell"},
		{"a path for a shell", approve.Rule{ID: "x", Tool: "Bash", Command: []string{"ls"}, Path: []string{"a"}}, "neither path nor input"},
		{"every file", approve.Rule{ID: "x", Tool: "Write"}, "every call"},
		{"every file by a pattern", approve.Rule{ID: "x", Tool: "Write", Path: []string{"**/*"}}, "no narrow pattern"},
		{"every name", approve.Rule{ID: "x", Tool: "Write", Path: []string{"?*"}}, "no narrow pattern"},
		{"every name by a class", approve.Rule{ID: "x", Tool: "Write", Path: []string{"**/[!.]*"}}, "no narrow pattern"},
		{"every name with a dot", approve.Rule{ID: "x", Tool: "Write", Path: []string{"notes/x.md", "[a-z]*.*"}}, "no narrow pattern"},
		{"a file above", approve.Rule{ID: "x", Tool: "Write", Path: []string{"notes/../../x"}}, "no narrow pattern"},
		{"a file elsewhere", approve.Rule{ID: "x", Tool: "Write", Path: []string{"/etc/*"}}, "no narrow pattern"},
	} {
		row, problem := approve.Check([]approve.Rule{{ID: "fine", Tool: "Bash", Command: []string{"go", "test", "./..."}}, c.rule})
		if row != 1 || !strings.Contains(problem, c.want) {
			t.Errorf("%s: got row %d %q, want %q", c.name, row, problem, c.want)
		}
	}
}

var rules = []approve.Rule{
	{ID: "go", Tool: "shell", Command: []string{"go", "test", "**"}},
	{ID: "lint", Tool: "Bash", Command: []string{"npm", "run", "lint"}, Durable: true},
	{ID: "one", Tool: "shell", Command: []string{"ls", "*"}},
	{ID: "script", Tool: "Bash", Command: []string{"python3", "tools/check.py"}},
	{ID: "docs", Tool: "Edit", Path: []string{"docs/**/*.md", "README.md"}},
	{ID: "issue", Tool: "mcp__tracker__get_issue"},
	{ID: "mine", Tool: "mcp__tracker__close", Input: map[string]string{"owner": "me"}, Durable: true},
}

func TestFind(t *testing.T) {
	if row, problem := approve.Check(rules); row >= 0 {
		t.Fatal(problem)
	}
	file := func(p string) *event.Event { return request(event.Claude, "Edit", map[string]string{"file_path": p}) }
	for _, c := range []struct {
		name string
		ev   *event.Event
		want string
	}{
		{"as named", command("go test ./..."), "go"},
		{"further words", command("go test -run X ./a ./b"), "go"},
		{"quoted words are words", command(`go 'test' "./..."`), "go"},
		{"another client's shell", request(event.Copilot, "bash", map[string]string{"command": "go test ./..."}), "go"},
		{"a rule for one client's name", request(event.Copilot, "bash", map[string]string{"command": "npm run lint"}), ""},
		{"all words of an interpreter", command("python3 tools/check.py"), "script"},
		{"one more", command("python3 tools/check.py --fix"), ""},
		{"a word fewer", command("npm run"), ""},
		{"another program", command("gotest ./..."), ""},
		{"another path to it", command("/tmp/go test ./..."), ""},
		{"a second program", command("go test ./... && rm -rf x"), ""},
		{"a second line", command("go test ./...\nrm -rf x"), ""},
		{"a pipe", command("go test ./... | sh"), ""},
		{"a file written", command("go test ./... > Makefile"), ""},
		{"a variable set", command("GOFLAGS=-toolexec=x go test ./..."), ""},
		{"a variable read", command("go test $X"), ""},
		{"a substitution", command("go test $(id)"), ""},
		{"a process substitution", command("go test <(id)"), ""},
		{"a wrapper", command("sudo go test ./..."), ""},
		{"in the background", command("go test ./... &"), ""},
		{"a function of that name", command("go() { rm -rf x; }; go test ./..."), ""},
		{"text that does not parse", command("go test 'x"), ""},
		{"a pattern of files", command("ls *"), ""},
		{"an option is no name", command("ls --time-style=+x"), ""},
		{"an empty word is one", command("ls ''"), "one"},
		{"one word stays one word", command("ls a b"), ""},
		{"a command that is no text", request(event.Claude, "Bash", map[string]any{"command": 1}), ""},
		{"a file", file("/p/docs/a/b/c.md"), "docs"},
		{"a relative file", file("README.md"), "docs"},
		{"not below", file("/p/docs/c.txt"), ""},
		{"elsewhere", file("/q/README.md"), ""},
		{"by dots", file("/p/docs/../.git/x.md"), ""},
		{"a link elsewhere", file("/p/docs/link.md"), ""},
		{"no file", request(event.Claude, "Edit", map[string]string{}), ""},
		{"a tool of an MCP server", request(event.Claude, "mcp__tracker__get_issue", map[string]int{"id": 7}), "issue"},
		{"with its input", request(event.Claude, "mcp__tracker__close", map[string]string{"owner": "me"}), "mine"},
		{"with another's", request(event.Claude, "mcp__tracker__close", map[string]string{"owner": "you"}), ""},
		{"another tool", request(event.Claude, "mcp__tracker__delete", map[string]string{"owner": "me"}), ""},
	} {
		got := ""
		if r := approve.Find(rules, c.ev, world(c.ev)); r != nil {
			got = r.ID
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFind_aKeyTwiceIsNoKey(t *testing.T) {
	ev := command("")
	ev.Tool.Input = json.RawMessage(`{"command":"go test ./...","command":"rm -rf /"}`)
	if r := approve.Find(rules, ev, world(ev)); r != nil {
		t.Errorf("%s approved it", r.ID)
	}
}

func TestHandler(t *testing.T) {
	for _, c := range []struct {
		name    string
		ev      *event.Event
		objects bool
		want    event.Decision
		stored  string
	}{
		{"approves", command("go test ./..."), false, event.Allow, ""},
		{"not what the gate objects to", command("go test ./..."), true, event.None, ""},
		{"nor what nobody named", command("make"), false, event.None, ""},
		{"durably", command("npm run lint"), false, event.Allow,
			`[{"behavior":"allow","destination":"localSettings","rules":[{"toolName":"Bash","ruleContent":"npm run lint"}],"type":"addRules"}]`},
		{"never durably by a tool's name alone", request(event.Claude, "mcp__tracker__close", map[string]string{"owner": "me"}), false, event.Allow, ""},
	} {
		h := approve.New(rules, world, func(*event.Event) bool { return c.objects })
		if !h.Wants(c.ev) {
			t.Errorf("%s: it does not want the event", c.name)
		}
		v, err := h.Handle(t.Context(), c.ev)
		if err != nil || v.Decision != c.want || string(v.Permissions) != c.stored {
			t.Errorf("%s: got %v %s, %v", c.name, v.Decision, v.Permissions, err)
		}
	}
	before := command("go test ./...")
	before.Name = event.PreToolUse
	if h := approve.New(rules, world, nil); h.Wants(before) {
		t.Error("it answers before anybody was asked")
	}
}

// TestFind_onlyWhatFits: whatever rules there are, an approved command is one
// program whose words fit word by word.
func TestFind_onlyWhatFits(t *testing.T) {
	words := rapid.SampledFrom([]string{"go", "test", "npm", "run", "ls", "./...", "x", "-v", "*", "**", "a?", "$X", "$(id)", ";", "&&", "|", ">f", "sh", "'q w'", "X=1"})
	rapid.Check(t, func(t *rapid.T) {
		r := approve.Rule{ID: "r", Tool: "shell", Command: rapid.SliceOfN(words, 1, 4).Draw(t, "rule")}
		if _, problem := approve.Check([]approve.Rule{r}); problem != "" {
			return
		}
		text := strings.Join(rapid.SliceOfN(words, 1, 5).Draw(t, "command"), " ")
		ev := command(text)
		if approve.Find([]approve.Rule{r}, ev, world(ev)) == nil {
			return
		}
		if strings.ContainsAny(text, ";&|>$=") {
			t.Fatalf("%q approved by %q", text, r.Command)
		}
		said := strings.Fields(strings.ReplaceAll(text, "'q w'", "q_w"))
		for i, p := range r.Command {
			if p == "**" {
				return
			}
			if ok, _ := path.Match(p, strings.ReplaceAll(said[i], "q_w", "q w")); !ok && p != said[i] {
				t.Fatalf("%q approved by %q", text, r.Command)
			}
		}
	})
}
