package rule_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/rule"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// dialect stands for the gate's table of shells.
func dialect(tool string) (shell.Dialect, bool) {
	switch tool {
	case "Bash", "bash", "shell":
		return shell.Bash, true
	case "PowerShell":
		return shell.PowerShell, true
	}
	return 0, false
}

func rules(t testing.TB, book string) []rule.Rule {
	t.Helper()
	var b struct {
		Rule []rule.Rule `toml:"rule"`
	}
	dec := toml.NewDecoder(strings.NewReader(book))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		t.Fatalf("%s\n%v", book, err)
	}
	for i := range b.Rule {
		if key, err := b.Rule[i].Check(); err != nil {
			t.Fatalf("%s: %s: %v", book, key, err)
		}
	}
	return b.Rule
}

func world() rule.World {
	return rule.World{Root: "/home/u/p", Dialect: dialect, Shell: shell.World{Dir: "/home/u/p/sub", Home: "/home/u",
		Env: func(string) (string, bool) { return "", false }}}
}

func call(tool string, input any) *event.Event {
	text, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return &event.Event{Name: event.PreToolUse, Cwd: "/home/u/p/sub", Tool: &event.Tool{Name: tool, Input: text}}
}

func bash(command string) *event.Event {
	return call("Bash", map[string]any{"command": command, "description": "x"})
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		command     string
		fires, lets []string
	}{
		{"git push --force",
			[]string{"git push --force", "git push origin main --force", "git -C /x push --force=yes", "sudo git push --force", "/usr/bin/git push --force",
				"bash -c 'git push --force'", "f=--force; git push $f", "true && g\"it\" p''ush --forc''e", "env A=b git push --force", "echo --force | xargs git push --force",
				"git -c a.b=push push --force", "x=$(git push --force)"},
			[]string{"git push", "git stash push --force", "echo git push --force", "git commit -m 'git push --force'", "git push -- --force", "git pull --force", "git push --force-with-lease", "git -C push status --force"}},
		{"git push -f|--force", []string{"git push -f", "git push --force", "git push -uf origin"}, []string{"git push", "git push --follow-tags"}},
		{"rm -rf", []string{"rm -rf x", "rm -fr x", "rm -r -f x", "rm -f x -r", "rm -vrf x"}, []string{"rm -r x", "rm x", "rmdir -rf x", "rm -- -rf"}},
		{"find -delete", []string{"find . -name x -delete"}, []string{"find . -type d -depth -ls", "find delete"}},
		{"npm|pnpm|yarn publish", []string{"npm publish", "pnpm --filter a publish", "yarn publish --tag x"}, []string{"npm run publish", "bun publish", "npm pack"}},
		{"kubectl delete prod-*", []string{"kubectl delete prod-db", "kubectl -n x delete pod prod-1", `kubectl delete "prod-$A"`}, []string{"kubectl delete dev-prod-1", "kubectl get prod-1", `kubectl delete "$A"`}},
		{"terraform", []string{"terraform plan", "cd x && terraform", "TF=1 terraform apply"}, []string{"echo terraform", "ls terraform", "tofu plan"}},
		{"sudo", []string{"sudo ls", "sudo -u x ls", "sudo"}, []string{"ls sudo"}},
		{"deploy prod", []string{"deploy prod", "deploy --fast eu prod", "./deploy prod"}, []string{"deploy staging", "prod deploy"}},
		{"*/manage.py migrate", []string{"./manage.py migrate", "/srv/manage.py migrate --fake"}, []string{"manage.py migrate", "./manage.py shell"}},
		{"curl *", []string{"curl http://x", `curl "$URL"`}, []string{"curl", "wget http://x"}},
		{"make deploy*", []string{"make deploy", "make -C x deploy-all"}, []string{"make test", "make predeploy"}},
	} {
		list := rules(t, "[[rule]]\nid='x'\ndecision='deny'\ncommand='"+c.command+"'\n")
		for fires, commands := range map[bool][]string{true: c.fires, false: c.lets} {
			for _, line := range commands {
				v, err := rule.Judge(t.Context(), list, bash(line), world())
				if err != nil || (v.Decision == event.Deny) != fires {
					t.Errorf("%q on `%s`: got %v, %v, want fires=%t", c.command, line, v.Decision, err, fires)
				}
			}
		}
	}
}

func TestRule_conditions(t *testing.T) {
	patch := "*** Begin Patch\n*** Update File: src/a.go\n@@\n-x\n+y\n*** Move to: gen/b.go\n*** End Patch\n"
	for _, c := range []struct {
		name, rule string
		ev         *event.Event
		fires      bool
	}{
		{"a tool by name", "tool='WebFetch'", call("WebFetch", map[string]string{"url": "http://x"}), true},
		{"by another client's name", "tool='WebFetch'", call("webfetch", map[string]string{}), true},
		{"the whole name", "tool='Web'", call("WebFetch", map[string]string{}), false},
		{"an expression", "tool='mcp__db__(drop|delete)_.*'", call("mcp__db__drop_table", map[string]string{}), true},
		{"an expression for the whole", "tool='mcp__db__drop'", call("mcp__db__drop_table", map[string]string{}), false},
		{"alternatives are anchored both", "tool='Edit|Write'", call("NotebookEdit", map[string]string{}), false},
		{"text in the input", "input='(?i)drop +table'", call("mcp__db__query", map[string]any{"q": []any{map[string]any{"sql": "DROP  TABLE x"}}}), true},
		{"a number in the input", "input='^443$'", call("mcp__x__open", map[string]any{"port": 443}), true},
		{"no such text", "input='drop'", call("mcp__db__query", map[string]any{"drop": 1}), false},
		{"tool and input together", "tool='Bash'\ninput='drop'", call("mcp__db__query", map[string]any{"q": "drop"}), false},
		{"a path that a tool writes", "path='gen/**'", call("Write", map[string]string{"file_path": "/home/u/p/gen/x/y.go"}), true},
		{"a relative path is below the folder", "path='sub/a.txt'", call("edit", map[string]string{"filePath": "a.txt"}), true},
		{"a folder is all that is in it", "path='gen'", call("Write", map[string]string{"file_path": "/home/u/p/gen/x"}), true},
		{"elsewhere", "path='gen/**'", call("Write", map[string]string{"file_path": "/home/u/gen/x"}), false},
		{"dots are resolved", "path='gen/x'", call("Write", map[string]string{"file_path": "/home/u/p/src/../gen/x"}), true},
		{"below home", "path='~/.ssh'", call("Read", map[string]string{"file_path": "~/.ssh/id"}), true},
		{"a name anywhere", "path='*.lock'", call("Edit", map[string]string{"file_path": "/srv/a/x.lock"}), true},
		{"a part is a whole part", "path='src/*.go'", call("Edit", map[string]string{"file_path": "/home/u/p/src/x/y.go"}), false},
		{"any depth", "path='src/**/y.go'", call("Edit", map[string]string{"file_path": "/home/u/p/src/a/b/y.go"}), true},
		{"no depth is one too", "path='src/**/y.go'", call("Edit", map[string]string{"file_path": "/home/u/p/src/y.go"}), true},
		{"several edits", "path='b.go'", call("MultiEdit", map[string]any{"edits": []any{map[string]string{"file_path": "a.go"}, map[string]string{"file_path": "b.go"}}}), true},
		{"a patch's target, from its folder", "path='gen/**'", &event.Event{Name: event.PreToolUse, Cwd: "/home/u/p", Tool: &event.Tool{Name: "apply_patch", Input: json.RawMessage(mustJSON(map[string]string{"command": patch}))}}, false},
		{"a command's argument", "path='/etc/**'", bash("cat /etc/passwd"), true},
		{"in its folder", "path='/etc/**'", bash("cd /etc && cat passwd"), true},
		{"a redirection", "path='/etc/**'", bash("echo x > /etc/hosts"), true},
		{"an option's value", "path='/etc/**'", bash("x --config=/etc/x"), true},
		{"dd", "path='/dev/*'", bash("dd if=a of=/dev/sda"), true},
		{"text is no path", "path='/etc/**'", bash("echo 'do not touch /etc/hosts'"), false},
		{"command and path on one program", "command='cat'\npath='/etc/**'", bash("ls /etc/x; cat /tmp/x"), false},
		{"both hold", "command='cat'\npath='/etc/**'", bash("ls /tmp; cat /etc/x"), true},
		{"no command at all", "command='cat'", call("Read", map[string]string{"file_path": "cat"}), false},
		{"another event", "tool='Bash'\nevents=['PostToolUse']", bash("ls"), false},
		{"a prompt", "input='password'\nevents=['UserPromptSubmit']", &event.Event{Name: event.UserPromptSubmit, Prompt: "my password is"}, true},
	} {
		list := rules(t, "[[rule]]\nid='x'\ndecision='deny'\n"+c.rule+"\n")
		w := world()
		v, err := rule.Judge(t.Context(), list, c.ev, w)
		if err != nil || (v.Decision == event.Deny) != c.fires {
			t.Errorf("%s: got %v, %v, want fires=%t", c.name, v.Decision, err, c.fires)
		}
	}
	list := rules(t, "[[rule]]\nid='x'\ndecision='deny'\npath='gen/**'\n")
	w := world()
	w.Shell.Dir = "/home/u/p"
	if v, err := rule.Judge(t.Context(), list, call("apply_patch", map[string]string{"command": patch}), w); err != nil || v.Decision != event.Deny {
		t.Errorf("a patch's target: got %v, %v", v.Decision, err)
	}
	w.Fold = true
	if v, err := rule.Judge(t.Context(), list, call("Write", map[string]string{"file_path": "/HOME/u/P/Gen/x"}), w); err != nil || v.Decision != event.Deny {
		t.Errorf("where case means nothing: got %v, %v", v.Decision, err)
	}
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func TestJudge_theGravestAndFirst(t *testing.T) {
	list := rules(t, `
[[rule]]
id = "asks"
command = "git push"
decision = "ask"
reason = "pushing is for people."
instead = "leave the commit local"
[[rule]]
id = "denies"
command = "git push --force"
decision = "deny"
[[rule]]
id = "denies-too"
command = "git push --force"
decision = "deny"
`)
	w := world()
	v, err := rule.Judge(t.Context(), list, bash("git push"), w)
	if err != nil || v.Decision != event.Ask || v.Rule != "asks" || v.Reason != "lidguard rule [asks]: pushing is for people. Instead: leave the commit local." {
		t.Errorf("got %+v, %v", v, err)
	}
	if v, _ := rule.Judge(t.Context(), list, bash("git push --force"), w); v.Decision != event.Deny || v.Rule != "denies" || !strings.HasSuffix(v.Reason, "Do not reach the same end another way.") {
		t.Errorf("got %+v", v)
	}
	asked := bash("git push")
	asked.Name = event.PermissionRequest
	if v, _ := rule.Judge(t.Context(), list, asked, w); !v.IsZero() {
		t.Errorf("a question about a question: %+v", v)
	}
	w.Unattended = "this run is headless"
	if v, _ := rule.Judge(t.Context(), list, bash("git push"), w); v.Decision != event.Deny || !strings.Contains(v.Reason, "A person would be asked, but this run is headless.") {
		t.Errorf("nobody to ask: got %+v", v)
	}
	// What cannot be read is an error, which a gate refuses.
	for _, unreadable := range []*event.Event{bash("git push 'unclosed"), {Name: event.PreToolUse, Tool: &event.Tool{Name: "Bash", Input: json.RawMessage(`{"command":`)}}} {
		if v, err := rule.Judge(t.Context(), list, unreadable, w); err == nil {
			t.Errorf("%s: got %+v without an error", unreadable.Tool.Input, v)
		}
	}
}

func TestCheck(t *testing.T) {
	for book, want := range map[string]string{
		"command='x'\ndecision='deny'":                                   "a rule has an id",
		"id='a b'\ncommand='x'\ndecision='deny'":                         "is no id",
		"id='x'\ncommand='y'":                                            "says no decision",
		"id='x'\ndecision='deny'":                                        "has no condition",
		"id='x'\ndecision='deny'\npath='../a'":                           "may be . or ..",
		"id='x'\ndecision='deny'\npath='a/b**/c'":                        "is the whole part",
		"id='x'\ndecision='deny'\npath='a\\b'":                           "write it with /",
		"id='x'\ndecision='deny'\ntool='a'\nevents=['UserPromptSubmit']": "for prompts",
	} {
		var b struct{ Rule []rule.Rule }
		if err := toml.Unmarshal([]byte("[[rule]]\n"+book), &b); err != nil {
			t.Fatalf("%s: %v", book, err)
		}
		if _, err := b.Rule[0].Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", book, err, want)
		}
	}
	for text, want := range map[string]string{"rm 'a b'": "no quotes", "a | b": "alternative", "": "names no program", "a -x|y": "all options or none", "a $B": "no quotes"} {
		var c rule.Command
		if err := c.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestProve(t *testing.T) {
	list := rules(t, `
[[rule]]
id = "good"
command = "git push --force"
decision = "deny"
deny = ["git push --force", { tool = "bash", input = { command = "git push --force origin" } }]
allow = ["git push"]
[[rule]]
id = "none"
command = "x"
decision = "deny"
[[rule]]
id = "wrong"
command = "x"
decision = "ask"
deny = ["y"]
allow = ["x"]
[[rule]]
id = "write"
tool = "Write"
path = "gen/**"
decision = "deny"
deny = [{ tool = "Write", input = { file_path = "gen/a" } }, "ls"]
allow = [{ tool = "Write", input = { file_path = "src/a" } }]
[[rule]]
id = "prompt"
events = ["UserPromptSubmit"]
input = "secret"
decision = "deny"
deny = ["my secret"]
allow = ["hello"]
[[rule]]
id = "good"
tool = "PowerShell"
command = "git push"
decision = "deny"
deny = ["git push"]
allow = ["git pull"]
[[rule]]
id = "unreadable"
command = "x"
decision = "deny"
deny = ["x 'y"]
allow = ["z"]
`)
	var got []string
	for _, p := range rule.Prove(list, dialect) {
		if p.Problem != "" {
			got = append(got, p.Rule+": "+p.Case+": "+p.Problem)
		}
	}
	want := []string{
		"none: deny = […]: no example that the rule fires for",
		"none: allow = […]: no example that the rule leaves alone",
		"wrong: y: the rule does not fire",
		"wrong: x: the rule fires",
		"write: ls: the rule is for Write, so an example is {tool = …, input = {…}}",
		"good: its id: another rule has the same id",
		"unreadable: x 'y: the command cannot be read",
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func TestHandler_wantsOnlyWhatARuleIsFor(t *testing.T) {
	h := rule.New(rules(t, "[[rule]]\nid='x'\ndecision='deny'\ntool='Write'\npath='gen'\n"), nil, nil)
	for ev, want := range map[*event.Event]bool{bash("ls"): false, call("Write", nil): true, call("create", nil): true,
		{Name: event.Stop}: false, {Name: event.PostToolUse, Tool: &event.Tool{Name: "Write"}}: false} {
		if got := h.Wants(ev); got != want {
			t.Errorf("%s %+v: wants is %t", ev.Name, ev.Tool, got)
		}
	}
}

// FuzzJudge: never panics; a command rule that fires does so for the same command
// behind what changes nothing.
// TestJudge_endsWithItsTime: what an expression costs its author chooses, and
// nothing that it reads.
func TestJudge_endsWithItsTime(t *testing.T) {
	const slow = `(.*(a|b).*){1,300}x`
	long := strings.Repeat("ab", 1<<20)
	for name, c := range map[string]struct {
		book string
		ev   *event.Event
	}{
		"input":    {"input = '" + slow + "'", bash("echo " + long)},
		"tool":     {"tool = '" + slow + "'", call(long, map[string]any{})},
		"a prompt": {"events = ['UserPromptSubmit']\ninput = '" + slow + "'", &event.Event{Name: event.UserPromptSubmit, Prompt: long}},
	} {
		list := rules(t, "[[rule]]\nid = 'x'\ndecision = 'deny'\n"+c.book+"\n")
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		v, err := rule.Judge(ctx, list, c.ev, world())
		cancel()
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || !v.IsZero() || took > time.Minute {
			t.Errorf("%s: got %+v, %v after %s", name, v, err, took)
		}
	}
	// A rule that needs nothing of a command is no victim of one that cannot be read.
	list := rules(t, "[[rule]]\nid = 'text'\ninput = 'nothing'\ndecision = 'deny'\n")
	if v, err := rule.Judge(t.Context(), list, bash("echo 'open"), world()); err != nil || !v.IsZero() {
		t.Errorf("an expression over an unreadable command: got %+v, %v", v, err)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("git push --force", "git push --force")
	f.Add("rm -rf /x*", "rm -r -f /x/y")
	f.Add("a|b c*", "b --x cd")
	f.Fuzz(func(t *testing.T, pattern, line string) {
		if len(pattern) > 200 || len(line) > 2000 {
			return
		}
		var c rule.Command
		if c.UnmarshalText([]byte(pattern)) != nil {
			return
		}
		list := []rule.Rule{{ID: "x", Command: c, Decision: rule.Decision(event.Deny)}}
		v, err := rule.Judge(t.Context(), list, bash(line), world())
		if err != nil {
			return
		}
		if strings.ContainsFunc(line, unicode.IsControl) || strings.ContainsAny(line, "#;&|()<>{}\\'\"`$!") || strings.TrimSpace(line) == "" {
			return
		}
		again, err := rule.Judge(t.Context(), list, bash("( "+line+" )"), world())
		if err != nil || again.Decision != v.Decision {
			t.Fatalf("%q on %q is %v, in a subshell %v, %v", pattern, line, v.Decision, again.Decision, err)
		}
	})
}
