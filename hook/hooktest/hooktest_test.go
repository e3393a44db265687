package hooktest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

// gate refuses pushes and touches nothing else.
func gate(_ context.Context, ev hook.Event) hook.Verdict {
	if cmd, ok := ev.Bash(); ok && strings.Contains(cmd.Text, "git push") {
		return hook.Deny("no pushing").ByRule("no-push")
	}
	return hook.None()
}

// everything answers each event with all it could.
func everything(_ context.Context, ev hook.Event) hook.Verdict {
	v := hook.Deny("no").With(hook.AddContext("one", "two"), hook.EndTurn("enough"), hook.Continue("go on"))
	if res, ok := ev.Result(); ok {
		out, _ := res.MapStrings(strings.ToUpper)
		v = v.With(hook.RewriteOutput(out))
	}
	return v.With(hook.RewriteInput(map[string]string{"command": "true"}), hook.Verdict{SystemMessage: "seen\x07", Interrupt: true, SessionTitle: "t"})
}

func TestContract_holdsForGoodHooks(t *testing.T) {
	if sampled < 10 {
		t.Run("a gate", func(t *testing.T) { Contract(t, gate) })
	}
	if got := findings(gate, hook.Gate); got != "" {
		t.Errorf("a gate: %.3000s", got)
	}
	once := func(_ context.Context, ev hook.Event) hook.Verdict {
		if _, ok := ev.Stopped(); ok {
			return hook.Continue("run the tests")
		}
		return hook.AddContext("branch main")
	}
	if got := findings(once, hook.Helper); got != "" {
		t.Errorf("a helper that goes on once: %.3000s", got)
	}
	if got := findings(everything, hook.Observer); got != "" {
		t.Errorf("an observer that would say all: %.3000s", got)
	}
}

// findings runs the contract, a sample of what is hostile, and returns what it
// found.
func findings(body hook.Body, role hook.Role) string {
	var all strings.Builder
	c := &contract{body: body, opts: []hook.Option{role}, role: roleOf([]hook.Option{role}), sample: sampled, fault: func(format string, args ...any) { fmt.Fprintf(&all, format+"\n", args...) }}
	if c.role != role {
		return fmt.Sprintf("%s is taken for %s", role, c.role)
	}
	c.recorded()
	c.hostile()
	c.failing()
	c.loop()
	return all.String()
}

func TestContract_findsBadHooks(t *testing.T) {
	for _, c := range []struct {
		name, want string
		body       hook.Body
		role       hook.Role
	}{
		{"it panics without a tool", "failed on a payload as the client sends it: panic", func(_ context.Context, ev hook.Event) hook.Verdict {
			tool, _ := ev.Tool()
			return hook.AddContext(string(tool.Input[0]))
		}, hook.Gate},
		{"it loops", fmt.Sprintf("kept going %d times", loops), func(context.Context, hook.Event) hook.Verdict { return hook.Deny("more") }, hook.Helper},
		{"its rewrite has another shape", "another shape", func(_ context.Context, ev hook.Event) hook.Verdict {
			if _, ok := ev.Result(); ok {
				return hook.RewriteOutput(map[string]int{"lines": 1})
			}
			return hook.None()
		}, hook.Helper},
	} {
		if got := findings(c.body, c.role); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q is not among\n%.2000s", c.name, c.want, got)
		}
	}
}

// The promises themselves: a process of one role is held to those of another.
func TestContract_tellsTheRolesApart(t *testing.T) {
	cut := Claude.PreToolUse("Bash", "true").Raw(`{"session_id":"s","hook_event_name":"PreToolUse"`)
	stop := Claude.Stop("done").Raw(`{"session_id":"s","hook_event_name":"Stop"}`)
	deny := func(context.Context, hook.Event) hook.Verdict { return hook.Deny("no") }
	for _, c := range []struct {
		is, promises hook.Role
		p            Payload
		want         string
	}{
		{hook.Gate, hook.Gate, cut, ""},
		{hook.Helper, hook.Gate, cut, "let a call pass"},
		{hook.Gate, hook.Helper, cut, "a helper said something"},
		{hook.Gate, hook.Observer, cut, "an observer said something"},
		{hook.Observer, hook.Observer, cut, ""},
		{hook.Gate, hook.Gate, stop, "kept the agent going"}, // as if the payload could not be read
	} {
		got := ""
		probe := contract{opts: []hook.Option{c.is}, role: c.promises, fault: func(format string, args ...any) { got += fmt.Sprintf(format, args...) }}
		if probe.check(deny, c.p, false); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("a %s that promises to be a %s: found %q, want %q", c.is, c.promises, got, c.want)
		}
	}
}

// Whatever a body says, no client is ever handed an answer that it would throw
// away. The reader that judges this is not the code that wrote it.
func TestRun_noAnswerIsEverThrownAway(t *testing.T) {
	bodies := map[string]hook.Body{
		"deny":    func(context.Context, hook.Event) hook.Verdict { return hook.Deny("no") },
		"ask":     func(context.Context, hook.Event) hook.Verdict { return hook.Ask("sure?") },
		"allow":   func(context.Context, hook.Event) hook.Verdict { return hook.Allow() },
		"context": func(context.Context, hook.Event) hook.Verdict { return hook.AddContext("a\x1b[1m") },
		"input": func(context.Context, hook.Event) hook.Verdict {
			return hook.RewriteInput(map[string]string{"command": "x"})
		},
		"end":        func(context.Context, hook.Event) hook.Verdict { return hook.EndTurn("enough") },
		"continue":   func(context.Context, hook.Event) hook.Verdict { return hook.Continue("go on") },
		"answer":     func(context.Context, hook.Event) hook.Verdict { return hook.Answer(map[string]string{"colour": "red"}) },
		"everything": everything,
	}
	for name, body := range bodies {
		for _, client := range Clients() {
			for i, p := range client.All() {
				if i%(sampled/8) != 0 {
					continue
				}
				for _, role := range []hook.Role{hook.Gate, hook.Helper} {
					p := p
					p.Name += ", " + name
					Run(t, body, p, role)
				}
			}
		}
	}
}

func TestOutcome_whatTheAgentDoes(t *testing.T) {
	deny := func(context.Context, hook.Event) hook.Verdict { return hook.Deny("why") }
	ask := func(context.Context, hook.Event) hook.Verdict { return hook.Ask("why") }
	allow := func(context.Context, hook.Event) hook.Verdict { return hook.Allow() }
	end := func(context.Context, hook.Event) hook.Verdict { return hook.EndTurn("why") }
	mask := func(_ context.Context, ev hook.Event) hook.Verdict {
		res, _ := ev.Result()
		out, _ := res.MapStrings(func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
		return hook.RewriteOutput(out)
	}
	for _, c := range []struct {
		name string
		body hook.Body
		p    Payload
		want Effect
		lost string
	}{
		{"Claude Code, deny", deny, Claude.PreToolUse("Bash", "ls"), Refused, ""},
		{"Claude Code, deny a permission", deny, Claude.PermissionRequest("Bash", "ls"), Refused, ""},
		{"Claude Code, deny a prompt", deny, Claude.UserPromptSubmit("hi"), Refused, ""},
		{"Claude Code, deny the end", deny, Claude.Stop("done"), WorksOn, ""},
		{"Claude Code, deny a result", deny, Claude.PostToolUse("Bash", "ls", "out"), Objected, ""},
		{"Claude Code, deny a result that failed", deny, Claude.PostToolUseFailure("Bash", "ls", "Exit code 1"), GoesOn, ""},
		{"Claude Code, deny a finished task", deny, Claude.Recorded("TaskCompleted"), Refused, ""},
		{"Claude Code, deny a batch", deny, Claude.Recorded("PostToolBatch"), TurnEnds, ""},
		{"Claude Code, deny a question", deny, Claude.Recorded("Elicitation"), Refused, ""},
		{"Claude Code, ask", ask, Claude.PreToolUse("Bash", "ls"), Asks, ""},
		{"Claude Code, allow", allow, Claude.PermissionRequest("Bash", "ls"), Runs, ""},
		{"Claude Code, end", end, Claude.PreToolUse("Bash", "ls"), TurnEnds, ""},
		{"Claude Code, mask", mask, Claude.PostToolUse("Bash", "ls", "a secret"), Replaced, ""},
		{"Claude Code, nothing to deny", deny, Claude.SessionStart("startup"), GoesOn, "decision"},
		{"Codex, deny", deny, Codex.PreToolUse("Bash", "ls"), Refused, ""},
		{"Codex, deny a result", deny, Codex.PostToolUse("Bash", "ls", "out"), Replaced, ""},
		{"Codex, ask", ask, Codex.PreToolUse("Bash", "ls"), Refused, "ask (refused instead)"},
		{"Codex, ask where it asks anyway", ask, Codex.PermissionRequest("Bash", "ls"), GoesOn, "decision"},
		{"Codex, allow", allow, Codex.PreToolUse("Bash", "ls"), GoesOn, "decision"},
		{"Codex, end before a call", end, Codex.PreToolUse("Bash", "ls"), GoesOn, "stop_turn"},
		{"Codex, mask", mask, Codex.PostToolUse("Bash", "ls", "a secret"), Replaced, ""},
		{"Copilot, deny", deny, Copilot.PreToolUse("bash", "ls"), Refused, ""},
		{"Copilot in the other spelling, deny", deny, CopilotPascal.PreToolUse("Bash", "ls"), Refused, ""},
		{"Copilot, deny the end", deny, Copilot.Stop(""), WorksOn, ""},
		{"Copilot, mask", mask, CopilotPascal.PostToolUse("Bash", "ls", "a secret"), Replaced, ""},
		{"Copilot, end", end, Copilot.PreToolUse("bash", "ls"), GoesOn, "stop_turn"},
		{"OpenCode, deny", deny, OpenCode.PreToolUse("bash", "ls"), Refused, ""},
		{"OpenCode, deny a permission", deny, OpenCode.PermissionRequest("bash", "ls"), Refused, ""},
		{"OpenCode, deny the end", deny, OpenCode.Stop(""), WorksOn, ""},
		{"OpenCode, mask", mask, OpenCode.PostToolUse("bash", "ls", "a secret"), Replaced, ""},
		{"OpenCode, end", end, OpenCode.PreToolUse("bash", "ls"), TurnEnds, ""},
		{"OpenCode, allow", allow, OpenCode.PermissionRequest("bash", "ls"), Runs, ""},
	} {
		o := Run(t, c.body, c.p)
		if o.Effect != c.want || strings.Join(o.Lost, ", ") != c.lost || o.Failed != nil {
			t.Errorf("%s: %q, lost %q, failed %v, want %q, lost %q\n%s%s", c.name, o.Effect, o.Lost, o.Failed, c.want, c.lost, o.Stdout, o.Stderr)
		}
		if strings.Contains(o.Stdout, "secret") {
			t.Errorf("%s: %s", c.name, o.Stdout)
		}
		if o.Blocked() && o.Told == "" && strings.Contains(c.name, "deny") && o.Verdict.Action == "" {
			t.Errorf("%s: nothing is told", c.name)
		}
	}
}

// Answers of other hooks, wrong in ways that were seen in the wild.
func TestUnderstand_findsWhatAClientThrowsAway(t *testing.T) {
	for _, c := range []struct {
		name, stdout string
		p            Payload
		ok           bool
	}{
		{"flat", `{"permissionDecision":"deny"}`, Claude.PreToolUse("Bash", "ls"), false},
		{"without the event", `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, Claude.PreToolUse("Bash", "ls"), false},
		{"a word that is none", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"block"}}`, Claude.PreToolUse("Bash", "ls"), false},
		{"another client's", `{"permission":"allow"}`, Codex.PreToolUse("Bash", "ls"), false},
		{"Codex: ask", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"x"}}`, Codex.PreToolUse("Bash", "ls"), false},
		{"Codex: a bare allow", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, Codex.PreToolUse("Bash", "ls"), false},
		{"Codex: interrupt", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"x","interrupt":true}}}`, Codex.PermissionRequest("Bash", "ls"), false},
		{"Codex: a rewritten result", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"x"}}`, Codex.PostToolUse("Bash", "ls", "x"), false},
		{"Codex: quiet", `{"suppressOutput":true}`, Codex.PostToolUse("Bash", "ls", "x"), false},
		{"Codex: a context at Stop", `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"x"}}`, Codex.Stop("done"), false},
		{"Copilot: nested elsewhere", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"x"}}`, CopilotPascal.PostToolUse("Bash", "ls", "x"), false},
		{"a list", `["deny"]`, Copilot.PreToolUse("bash", "ls"), false},
		{"a banner", "hello {}", Claude.PreToolUse("Bash", "ls"), false},
		{"the plugin's, without a version", `{"do":"refuse","text":"x"}`, OpenCode.PreToolUse("bash", "ls"), false},
		{"as it should be", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"x"}}`, Claude.PreToolUse("Bash", "ls"), true},
		{"nothing", ``, Codex.PreToolUse("Bash", "ls"), true},
	} {
		if _, err := understand(c.p, c.p.Event(t).Name, 0, c.stdout, ""); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestUnderstand_exitCodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      Payload
		code   int
		stderr string
		want   Effect
	}{
		{"2 refuses a call", Claude.PreToolUse("Bash", "ls"), 2, "no", Refused},
		{"1 refuses nothing", Claude.PreToolUse("Bash", "ls"), 1, "no", GoesOn},
		{"2 leaves a dialog open", Claude.PermissionRequest("Bash", "ls"), 2, "no", GoesOn},
		{"2 keeps a turn going", Claude.Stop(""), 2, "no", WorksOn},
		{"2 is read beside a result", Claude.PostToolUse("Bash", "ls", "x"), 2, "no", Objected},
		{"2 without a reason is nothing to Codex", Codex.PreToolUse("Bash", "ls"), 2, "", GoesOn},
		{"2 with one refuses there", Codex.PreToolUse("Bash", "ls"), 2, "no", Refused},
		{"2 takes a result's place there", Codex.PostToolUse("Bash", "ls", "x"), 2, "no", Replaced},
		{"any failure refuses on Copilot", Copilot.PreToolUse("bash", "ls"), 127, "", Refused},
		{"but keeps no turn going there", Copilot.Stop(""), 2, "no", GoesOn},
		{"the plugin refuses", OpenCode.PreToolUse("bash", "ls"), 2, "no", Refused},
	} {
		s, err := understand(c.p, c.p.Event(t).Name, c.code, "", c.stderr)
		if err != nil || s.effect != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, s.effect, err, c.want)
		}
	}
	if _, err := understand(Claude.Stop(""), hook.Stop, 2, `{}`, "no"); err == nil {
		t.Error("exit 2 and JSON together pass")
	}
}

func TestChannels(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Outcome
		ok   bool
	}{
		{"silence", Outcome{}, true},
		{"an answer", Outcome{Stdout: `{"a":1}`}, true},
		{"a block", Outcome{Exit: 2, Stderr: "no"}, true},
		{"a crash", Outcome{Exit: 1, Stderr: "panic"}, false},
		{"a block without a reason", Outcome{Exit: 2}, false},
		{"both at once", Outcome{Exit: 2, Stdout: "{}", Stderr: "no"}, false},
		{"chatter", Outcome{Stderr: "hello"}, false},
		{"two lines", Outcome{Stdout: "{}\n{}"}, false},
		{"a list", Outcome{Stdout: "[]"}, false},
		{"an escape", Outcome{Exit: 2, Stderr: "\x1b[1mno"}, false},
	} {
		if faults := channels(c.o); (len(faults) == 0) != c.ok {
			t.Errorf("%s: %q", c.name, faults)
		}
	}
}

func TestPayload_edits(t *testing.T) {
	p := Claude.PreToolUse("Bash", map[string]any{"command": "ls"})
	q := p.With("tool_input.command", "pwd").With("tool_input.deep.er", 1).With("new", true).Without("permission_mode")
	var got struct {
		Tool  string `json:"tool_name"`
		Input struct {
			Command string
			Deep    struct{ Er int }
		} `json:"tool_input"`
		New  bool
		Mode *string `json:"permission_mode"`
	}
	if err := json.Unmarshal(q.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tool != "Bash" || got.Input.Command != "pwd" || got.Input.Deep.Er != 1 || !got.New || got.Mode != nil {
		t.Errorf("got %s", q.Bytes())
	}
	if cmd, ok := p.Event(t).Bash(); cmd.Text != "ls" || !ok {
		t.Errorf("the original was changed: %s", p.Bytes())
	}
	if s, _ := Claude.Stop("x").Again().Event(t).Stopped(); !s.Again {
		t.Error("Again is not said")
	}
	if s, _ := OpenCode.Stop("x").Again().Event(t).Stopped(); !s.Again {
		t.Error("Again is not said to OpenCode")
	}
	for _, p := range []Payload{Codex.Notification("idle", "x"), Codex.Recorded("Nothing"), p.With("a", func() {}), p.Raw("[").With("a", 1)} {
		if p.err == nil {
			t.Errorf("%s is possible", p.Name)
		}
	}
}

func TestClients_makeEveryPayloadTheyHave(t *testing.T) {
	for _, c := range Clients() {
		for name, p := range map[hook.Name]Payload{
			hook.PreToolUse: c.PreToolUse("bash", "ls"), hook.PermissionRequest: c.PermissionRequest("bash", "ls"),
			hook.PostToolUse: c.PostToolUse("bash", "ls", "out"), hook.UserPromptSubmit: c.UserPromptSubmit("hi"),
			hook.SessionStart: c.SessionStart("startup"), hook.SessionEnd: c.SessionEnd("other"), hook.Stop: c.Stop("done"),
			hook.SubagentStop: c.SubagentStop("done"), hook.PreCompact: c.PreCompact("auto"),
		} {
			ev := p.Event(t)
			if ev.Name != name {
				t.Errorf("%s: %s is read as %q", c, name, ev.Name)
			}
			if cmd, ok := ev.Bash(); ok && cmd.Text != "ls" {
				t.Errorf("%s, %s: the command is %q", c, name, cmd.Text)
			}
			if prompt, ok := ev.Prompt(); ok && prompt != "hi" {
				t.Errorf("%s: the prompt is %q", c, prompt)
			}
			if res, ok := ev.Result(); ok && res.Text != "out" {
				t.Errorf("%s: the result is %q", c, res.Text)
			}
		}
		if c.provider == hook.Claude || c.provider == hook.Copilot {
			if n, ok := c.Notification("idle_prompt", "x").Event(t).Note(); !ok || n.Type != "idle_prompt" || n.Message != "x" {
				t.Errorf("%s: %+v, %v", c, n, ok)
			}
			if text, ok := c.PostToolUseFailure("Read", map[string]string{"path": "/a"}, "gone").Event(t).Failure(); !ok || text != "gone" {
				t.Errorf("%s: %q, %v", c, text, ok)
			}
		}
	}
}

func TestHostile_hasPayloadsOfBothKinds(t *testing.T) {
	for _, c := range Clients() {
		read, broken := 0, 0
		var names []string
		for _, p := range Hostile(c.PreToolUse("bash", "ls")) {
			if slices.Contains(names, p.Name) {
				t.Errorf("%s twice", p.Name)
			}
			names = append(names, p.Name)
			if _, err := hook.Decode(p.Provider, p.body, p.Native, nil); err != nil {
				broken++
			} else {
				read++
			}
		}
		if read < 5 || broken < 15 {
			t.Errorf("%s: %d can be read, %d cannot", c, read, broken)
		}
	}
}

func TestCases_runATable(t *testing.T) {
	Cases(t, gate, []Case{
		{"a push is refused", Claude.PreToolUse("Bash", "git push"), Refused, "no pushing [no-push]"},
		{"on Codex, too", Codex.PreToolUse("Bash", "git push"), Refused, "no pushing"},
		{"a pull passes", Claude.PreToolUse("Bash", "git pull"), GoesOn, ""},
		{"a cut payload is refused", Claude.PreToolUse("Bash", "git pull").Raw(`{"session_id":"s","hook_event_name":"PreToolUse"`), Refused, "could not judge"},
	}, hook.Gate)
}

func TestRun_worksUnderTheDeadlineOfProduction(t *testing.T) {
	o := Run(t, func(ctx context.Context, _ hook.Event) hook.Verdict {
		end, ok := ctx.Deadline()
		if !ok || time.Until(end) > hook.GateDeadline {
			return hook.Deny("no deadline")
		}
		return hook.None()
	}, Claude.PreToolUse("Bash", "ls"), hook.Deadline(0))
	// A machine that is slower than the deadline refuses, which is right too.
	if strings.Contains(o.Told, "no deadline") {
		t.Error(o.Told)
	}
}
