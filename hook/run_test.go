package hook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

const (
	claudeCall   = `{"session_id":"s","transcript_path":"/h/.claude/projects/p/s.jsonl","cwd":"/p","prompt_id":"1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"t"}`
	codexCall    = `{"session_id":"s","turn_id":"1","cwd":"/p","hook_event_name":"PreToolUse","model":"m","tool_name":"Bash","tool_input":{"command":"git push"},"tool_use_id":"t"}`
	copilotCall  = `{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":{"command":"git push"}}`
	openCodeCall = `{"input":{"tool":"bash","sessionID":"s","callID":"c"},"output":{"args":{"command":"git push"}}}`
	ambiguous    = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}`
)

// ran is what a run gave.
type ran struct {
	code           int
	stdout, stderr string
}

func run(body hook.Body, payload string, args []string, opts ...hook.Option) ran {
	return runOn(body, strings.NewReader(payload), args, opts...)
}

func runOn(body hook.Body, stdin io.Reader, args []string, opts ...hook.Option) ran {
	var stdout, stderr bytes.Buffer
	// Patience: these tests are about what is said, not about 80 ms.
	opts = append([]hook.Option{hook.Deadline(20 * time.Second)}, opts...)
	code := hook.Run(body, args, func(string) string { return "" }, stdin, &stdout, &stderr, opts...)
	return ran{code, stdout.String(), stderr.String()}
}

func say(v hook.Verdict) hook.Body {
	return func(context.Context, hook.Event) hook.Verdict { return v }
}

func TestRun_deniesInEachClientsWords(t *testing.T) {
	for _, c := range []struct {
		name, payload, want string
		args                []string
	}{
		{"Claude Code", claudeCall, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not this [r1]"}}`, nil},
		{"Codex", codexCall, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"not this [r1]"}}`, nil},
		{"Copilot", copilotCall, `{"permissionDecision":"deny","permissionDecisionReason":"not this [r1]"}`, []string{"--event", "preToolUse"}},
		{"OpenCode", openCodeCall, `{"v":1,"do":"refuse","text":"not this [r1]"}`, []string{"--event=tool.execute.before"}},
	} {
		got := run(say(hook.Deny("not this").ByRule("r1")), c.payload, c.args)
		if got != (ran{0, c.want, ""}) {
			t.Errorf("%s: got %+v, want stdout %s", c.name, got, c.want)
		}
	}
}

func TestRun_whoTheClientIs(t *testing.T) {
	var seen hook.Provider
	body := func(_ context.Context, ev hook.Event) hook.Verdict { seen = ev.Provider; return hook.None() }
	for _, c := range []struct {
		name, payload string
		args          []string
		opts          []hook.Option
		want          hook.Provider
	}{
		{"the payload tells where nothing else does", codexCall, nil, nil, hook.Codex},
		{"an option beats the payload's marks", codexCall, nil, []hook.Option{hook.ForProvider(hook.Claude)}, hook.Claude},
		{"the flag beats the option", ambiguous, []string{"--provider", "codex"}, []hook.Option{hook.ForProvider(hook.Claude)}, hook.Codex},
		{"the flag beats the payload's marks", codexCall, []string{"--provider=claude"}, nil, hook.Claude},
		{"words of the author's own are left alone", claudeCall, []string{"-v", "--config", "x", "--provider", "claude"}, nil, hook.Claude},
		{"nobody knows", ambiguous, nil, nil, ""},
		{"another client's flag value", claudeCall, []string{"--provider", "cursor"}, nil, ""},
		{"a flag without its value", ambiguous, []string{"--provider"}, nil, ""},
	} {
		seen = ""
		got := run(body, c.payload, c.args, c.opts...)
		if seen != c.want {
			t.Errorf("%s: the body saw %q, want %q", c.name, seen, c.want)
		}
		refused := got.code == 2 && got.stdout == "" && got.stderr != ""
		if quiet := got == (ran{}); quiet != (c.want != "") || refused != (c.want == "") {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

// Copilot runs the hooks of a project's .claude/settings.json as well: it must not
// be answered in Claude Code's words.
func TestRun_copilotWithAClaudeHook(t *testing.T) {
	result := `{"hook_event_name":"PostToolUse","session_id":"s","timestamp":"2026-01-01T09:00:00.000Z","tool_name":"Bash","tool_input":{},"tool_result":{"result_type":"success","text_result_for_llm":"secret"}}`
	mask := func(_ context.Context, ev hook.Event) hook.Verdict {
		res, _ := ev.Result()
		masked, _ := res.MapStrings(func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
		return hook.RewriteOutput(masked)
	}
	for _, c := range []struct {
		name, payload, want string
		env                 map[string]string
	}{
		{"Copilot says so twice", result, `{"modifiedResult":{"resultType":"success","textResultForLlm":"***"}}`, map[string]string{"COPILOT_CLI": "1"}},
		{"Claude Code below Copilot's shell", claudeCall, ``, map[string]string{"COPILOT_CLI": "1", "CLAUDECODE": "1"}},
		{"Claude Code's own payload", claudeCall, ``, map[string]string{"COPILOT_CLI": "1"}},
		{"the payload alone does not overrule the flag", result, ``, nil},
	} {
		var stdout, stderr bytes.Buffer
		hook.Run(mask, []string{"--provider", "claude"}, func(name string) string { return c.env[name] }, strings.NewReader(c.payload), &stdout, &stderr,
			hook.Helper, hook.Deadline(20*time.Second))
		if stdout.String() != c.want || stderr.Len() > 0 {
			t.Errorf("%s: got %s%s, want %s", c.name, stdout.String(), stderr.String(), c.want)
		}
	}
}

// hostile are runs in which the body cannot give a good answer.
func hostile() map[string]func(hook.Role) ran {
	ask := func(body hook.Body, payload string, opts ...hook.Option) func(hook.Role) ran {
		return func(r hook.Role) ran {
			return run(body, payload, []string{"--provider", "claude"}, append(opts, r)...)
		}
	}
	never := func(ctx context.Context, _ hook.Event) hook.Verdict { select {} }
	return map[string]func(hook.Role) ran{
		"empty stdin":              ask(say(hook.None()), ""),
		"no JSON":                  ask(say(hook.None()), "hello"),
		"a list":                   ask(say(hook.None()), "[1]"),
		"cut in the middle":        ask(say(hook.None()), claudeCall[:len(claudeCall)-20]),
		"no session":               ask(say(hook.None()), `{"hook_event_name":"PreToolUse"}`),
		"too long":                 ask(say(hook.None()), strings.Repeat(" ", hook.MaxPayload)+claudeCall),
		"a panic":                  ask(func(context.Context, hook.Event) hook.Verdict { panic("oops\x1b[31m") }, claudeCall),
		"an index out of range":    ask(func(_ context.Context, ev hook.Event) hook.Verdict { return hook.Deny(ev.Cwd[len(ev.Cwd):][0:9]) }, claudeCall),
		"a goroutine's end":        ask(func(context.Context, hook.Event) hook.Verdict { runtime.Goexit(); return hook.None() }, claudeCall),
		"no answer in time":        ask(never, claudeCall, hook.Deadline(time.Millisecond)),
		"an unknown word":          ask(say(hook.Verdict{Decision: "block"}), claudeCall),
		"a rewrite of rot":         ask(say(hook.RewriteInput(json.RawMessage(`{"command":`))), claudeCall),
		"an unsayable value":       ask(say(hook.RewriteInput(func() {})), claudeCall),
		"an input of another kind": ask(say(hook.RewriteInput("a text")), claudeCall),
		"a broken pipe": func(r hook.Role) ran {
			return runOn(say(hook.None()), iotest.ErrReader(errors.New("broken")), []string{"--provider", "claude", "--event", "PreToolUse"}, r)
		},
		"a client nobody knows": func(r hook.Role) ran { return run(say(hook.Deny("x")), ambiguous, nil, r) },
	}
}

func TestRole_gateFailsClosedHelperAndObserverFailOpen(t *testing.T) {
	for name, ask := range hostile() {
		got := ask(hook.Gate)
		blocked := got.code == 2 && got.stdout == "" && strings.Contains(got.stderr, "could not judge this") ||
			got.code == 0 && got.stderr == "" && strings.Contains(got.stdout, `"deny"`) && strings.Contains(got.stdout, "could not judge this")
		if !blocked {
			t.Errorf("gate, %s: not refused with a reason: %+v", name, got)
		}
		if strings.ContainsAny(got.stderr+got.stdout, "\x1b\x00") {
			t.Errorf("gate, %s: control characters in %q", name, got.stderr+got.stdout)
		}
		for _, role := range []hook.Role{hook.Helper, hook.Observer} {
			if got := ask(role); got != (ran{}) {
				t.Errorf("%s, %s: got %+v, want silence", role, name, got)
			}
		}
	}
}

func TestRole_observerSaysNothingWhateverItsBodyReturns(t *testing.T) {
	if got := run(say(hook.Deny("x").With(hook.AddContext("y"))), claudeCall, nil, hook.Observer); got != (ran{}) {
		t.Errorf("got %+v", got)
	}
}

func TestRole_isAGateWhereTheAuthorChoseNone(t *testing.T) {
	if got := run(say(hook.None()), "", nil); got.code != 2 {
		t.Errorf("got %+v, want a refusal", got)
	}
}

func TestGate_doesNotKeepAnAgentGoingByItsOwnFault(t *testing.T) {
	boom := func(context.Context, hook.Event) hook.Verdict { panic("boom") }
	for _, c := range []struct{ name, payload string }{
		{"a panic at Stop", `{"session_id":"s","hook_event_name":"Stop","prompt_id":"1","stop_hook_active":false}`},
		{"a cut payload of Stop", `{"session_id":"s","hook_event_name":"Stop","prompt_id":"1","stop_hook`},
		{"Stop of a client nobody knows", `{"session_id":"s","hook_event_name":"Stop"}`},
		{"a panic at SessionStart", `{"session_id":"s","hook_event_name":"SessionStart","prompt_id":"1"}`},
	} {
		if got := run(boom, c.payload, nil); got != (ran{}) {
			t.Errorf("%s: got %+v, want silence", c.name, got)
		}
	}
	for _, event := range []string{"agentStop", "session.idle", "sessionEnd"} {
		if got := run(boom, `{`, []string{"--event", event}); got != (ran{}) {
			t.Errorf("cut off at %s: got %+v, want silence", event, got)
		}
	}
	if got := run(boom, `{`, []string{"--event", "preToolUse"}); got.code != 2 {
		t.Errorf("cut off at preToolUse: got %+v, want a refusal", got)
	}
}

func TestGate_withholdsAResultItCouldNotJudge(t *testing.T) {
	boom := func(context.Context, hook.Event) hook.Verdict { panic("boom") }
	for _, c := range []struct {
		name, payload string
		args          []string
		want          []string
	}{
		{"Claude Code", `{"session_id":"s","prompt_id":"1","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{},"tool_response":{"type":"text","file":{"content":"secret","numLines":1}}}`, nil,
			[]string{`"updatedToolOutput":{"type":"text","file":{"content":"[withheld]","numLines":1}}`, `"decision":"block"`}},
		{"Codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"x"},"tool_response":"secret"}`, nil,
			[]string{`"decision":"block"`, "[withheld]"}},
		{"Copilot", `{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":{},"toolResult":{"resultType":"success","textResultForLlm":"secret"}}`, []string{"--event", "postToolUse"},
			[]string{`"decision":"block"`}},
		{"OpenCode", `{"input":{"tool":"bash","sessionID":"s","callID":"c","args":{}},"output":{"title":"t","output":"secret","metadata":{}}}`, []string{"--event", "tool.execute.after"},
			[]string{`"output":"[withheld]"`}},
	} {
		got := run(boom, c.payload, c.args)
		for _, want := range c.want {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%s: no %s in %+v", c.name, want, got)
			}
		}
		if strings.Contains(got.stdout+got.stderr, "secret") {
			t.Errorf("%s: the result got through: %+v", c.name, got)
		}
	}
}

func TestGate_keepsADenialWhoseRewriteDoesNotFit(t *testing.T) {
	payload := `{"session_id":"s","prompt_id":"1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_response":{"stdout":"secret"}}`
	got := run(say(hook.Deny("that was a secret").With(hook.RewriteOutput("masked"))), payload, nil)
	if !strings.Contains(got.stdout, "that was a secret") || !strings.Contains(got.stdout, `{"stdout":"[withheld]"}`) {
		t.Errorf("got %+v", got)
	}
}

func TestAsk_refusesWhereNobodyCanBeAsked(t *testing.T) {
	if got := run(say(hook.Ask("really?")), codexCall, nil); !strings.Contains(got.stdout, `"permissionDecision":"deny"`) {
		t.Errorf("Codex: got %+v", got)
	}
	if got := run(say(hook.Ask("really?")), claudeCall, nil); !strings.Contains(got.stdout, `"permissionDecision":"ask"`) {
		t.Errorf("Claude Code: got %+v", got)
	}
}

func TestContinue_yieldsOnceTheTurnWasKeptGoing(t *testing.T) {
	stop := func(active string) string {
		return `{"session_id":"s","hook_event_name":"Stop","prompt_id":"1","stop_hook_active":` + active + `}`
	}
	v := hook.Continue("run the tests").With(hook.None())
	if got := run(say(v), stop("false"), nil); got.stdout != `{"decision":"block","reason":"run the tests"}` {
		t.Errorf("first: %+v", got)
	}
	if got := run(say(v), stop("true"), nil); got != (ran{}) {
		t.Errorf("again: %+v", got)
	}
	if got := run(say(v), claudeCall, nil); got != (ran{}) {
		t.Errorf("before a call: %+v, want silence", got)
	}
	if got := run(say(hook.Deny("still not done")), stop("true"), nil); got.stdout == "" {
		t.Error("Deny at Stop with a bound of the author's own is not said")
	}
}

func TestOnError_hearsWhatARoleHides(t *testing.T) {
	for name, ask := range map[string]func(opts ...hook.Option) ran{
		"panic": func(o ...hook.Option) ran {
			return run(func(context.Context, hook.Event) hook.Verdict { panic("boom") }, claudeCall, nil, o...)
		},
		"payload": func(o ...hook.Option) ran {
			return run(say(hook.None()), `{"session_id":`, []string{"--provider", "claude"}, o...)
		},
		"client": func(o ...hook.Option) ran { return run(say(hook.None()), ambiguous, nil, o...) },
		"shape":  func(o ...hook.Option) ran { return run(say(hook.RewriteInput(1)), claudeCall, nil, o...) },
	} {
		var heard error
		if got := ask(hook.Observer, hook.OnError(func(err error) { heard = err })); got != (ran{}) {
			t.Errorf("%s: got %+v", name, got)
		}
		if heard == nil && name != "shape" {
			t.Errorf("%s: nothing was reported", name)
		}
		if ask(hook.Helper, hook.OnError(func(err error) { heard = err })); heard == nil {
			t.Errorf("%s: nothing was reported of a helper", name)
		}
	}
}

func TestDeadline_endsTheBodysContext(t *testing.T) {
	ended := make(chan struct{})
	body := func(ctx context.Context, _ hook.Event) hook.Verdict {
		<-ctx.Done()
		close(ended)
		return hook.None()
	}
	if got := run(body, claudeCall, nil, hook.Deadline(time.Millisecond)); !strings.Contains(got.stdout, "no answer within 1ms") {
		t.Errorf("got %+v", got)
	}
	<-ended
}

// The hot path: one process per event, so what a hook links is what every event
// pays. The list is house_test.go's, for the programs of strangers.
func TestSDK_linksNothingDear(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	for _, dear := range []string{"net", "net/http", "crypto/tls", "regexp", "text/template", "testing", "flag"} {
		for _, d := range deps {
			if d == dear || strings.Contains(strings.SplitN(d, "/", 2)[0], ".") && !strings.HasPrefix(d, "github.com/lidguard-go/lidguard/") {
				t.Errorf("a hook links %s", d)
			}
		}
	}
	if len(deps) < 10 {
		t.Fatalf("go list names %d packages", len(deps))
	}
}
