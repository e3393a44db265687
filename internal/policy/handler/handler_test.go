package handler_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/handler"
)

// runner gives one result and remembers the command.
type runner struct {
	result policy.Result
	err    error
	ran    []policy.Command
}

func (r *runner) Run(_ context.Context, c policy.Command) (policy.Result, error) {
	r.ran = append(r.ran, c)
	return r.result, r.err
}

func (r *runner) Look(string) (string, error) { return "", errors.New("nobody looks") }

// asker gives one verdict or error.
type asker struct {
	verdict string
	err     error
	asked   []string
	request *handler.Request
}

func (a *asker) Ask(_ context.Context, id string, r *handler.Request) ([]byte, error) {
	a.asked, a.request = append(a.asked, id), r
	return []byte(a.verdict), a.err
}

func spec(t testing.TB, text string) handler.Spec {
	t.Helper()
	var b struct{ Handler []handler.Spec }
	dec := toml.NewDecoder(strings.NewReader("[[handler]]\n" + text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if key, err := b.Handler[0].Check(); err != nil {
		t.Fatalf("%s: %s: %v", text, key, err)
	}
	return b.Handler[0]
}

func call(name event.Name) *event.Event {
	ev := &event.Event{Provider: event.Codex, Name: name, Native: string(name), Cwd: "/p", Session: event.SessionKey{Provider: event.Codex, ID: "s"},
		Raw: json.RawMessage(`{"session_id":"s","hook_event_name":"` + string(name) + `","tool_name":"shell","tool_input":{"command":"ls"},"kept":1}`)}
	if name != event.Stop && name != event.UserPromptSubmit && name != event.SessionStart {
		ev.Tool = &event.Tool{Name: "shell", Input: json.RawMessage(`{"command":"ls"}`)}
	}
	return ev
}

func TestHandler_answersOfAClaudeHook(t *testing.T) {
	deny := func(reason string) event.Verdict { return event.Verdict{Decision: event.Deny, Reason: reason} }
	inner := func(e event.Name, rest string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + string(e) + `",` + rest + `}}`
	}
	for _, c := range []struct {
		name           string
		at             event.Name
		code           int
		stdout, stderr string
		want           event.Verdict
		fails          string
	}{
		{name: "silence", at: event.PreToolUse},
		{name: "exit 2 refuses", at: event.PreToolUse, code: 2, stderr: "not\x1b[31m here\n", want: deny("not[31m here")},
		{name: "exit 2 beats JSON", at: event.PreToolUse, code: 2, stdout: inner(event.PreToolUse, `"permissionDecision":"allow"`), stderr: "no", want: deny("no")},
		{name: "a refusal in JSON", at: event.PreToolUse, stdout: inner(event.PreToolUse, `"permissionDecision":"deny","permissionDecisionReason":"no"`), want: deny("no")},
		{name: "JSON counts on other exit codes", at: event.PreToolUse, code: 1, stdout: inner(event.PreToolUse, `"permissionDecision":"deny","permissionDecisionReason":"no"`), want: deny("no")},
		{name: "allowed, and rewritten", at: event.PreToolUse, stdout: inner(event.PreToolUse, `"permissionDecision":"allow","updatedInput":{"command":"pwd"},"additionalContext":"hi"`),
			want: event.Verdict{Decision: event.Allow, UpdatedInput: json.RawMessage(`{"command":"pwd"}`), Contexts: []string{"hi"}}},
		{name: "defer asks", at: event.PreToolUse, stdout: inner(event.PreToolUse, `"permissionDecision":"defer"`), want: event.Verdict{Decision: event.Ask}},
		{name: "the old words", at: event.PostToolUse, stdout: `{"decision":"block","reason":"no","systemMessage":"look"}`, want: event.Verdict{Decision: event.Deny, Reason: "no", SystemMessage: "look"}},
		{name: "approve", at: event.PreToolUse, stdout: `{"decision":"approve"}`, want: event.Verdict{Decision: event.Allow}},
		{name: "the end of the turn", at: event.Stop, stdout: `{"continue":false,"stopReason":"enough"}`, want: event.Verdict{StopTurn: true, StopReason: "enough"}},
		{name: "a permission", at: event.PermissionRequest, stdout: inner(event.PermissionRequest, `"decision":{"behavior":"deny","message":"no","interrupt":true}`),
			want: event.Verdict{Decision: event.Deny, Reason: "no", Interrupt: true}},
		{name: "plain text is context at a prompt", at: event.UserPromptSubmit, stdout: "it is Monday\n", want: event.Verdict{Contexts: []string{"it is Monday"}}},
		{name: "a rewritten result", at: event.PostToolUse, stdout: inner(event.PostToolUse, `"updatedToolOutput":{"stdout":"***"}`), want: event.Verdict{UpdatedOutput: json.RawMessage(`{"stdout":"***"}`)}},

		{name: "another exit code", at: event.PreToolUse, code: 1, stderr: "Traceback\nboom\n", fails: "exit code 1: boom"},
		{name: "text that is no JSON", at: event.PreToolUse, stdout: "ok", fails: "no JSON object"},
		{name: "half an answer", at: event.PreToolUse, stdout: `{"hookSpecific`, fails: "cannot be read"},
		{name: "another event's name", at: event.PreToolUse, stdout: inner(event.PostToolUse, `"permissionDecision":"deny"`), fails: `for the event "PostToolUse"`},
		{name: "no decision of theirs", at: event.PreToolUse, stdout: inner(event.PreToolUse, `"permissionDecision":"block"`), fails: `"block", which is none`},
		{name: "nor of ours", at: event.PostToolUse, stdout: `{"decision":"deny"}`, fails: `"deny", which is none`},
		{name: "no behavior", at: event.PermissionRequest, stdout: inner(event.PermissionRequest, `"decision":{"behavior":"maybe"}`), fails: `"maybe", which is none`},
	} {
		r := &runner{result: policy.Result{Code: c.code, Stdout: []byte(c.stdout), Stderr: []byte(c.stderr)}}
		h := handler.New(spec(t, "name = 'x'\ncommand = ['/bin/x', 'y']\nevents = ['"+string(c.at)+"']\n"), r, nil)
		if !h.Wants(call(c.at)) {
			t.Fatalf("%s: it does not want %s", c.name, c.at)
		}
		got, err := h.Handle(t.Context(), call(c.at))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %+v, %v, want %s", c.name, got, err, c.fails)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", c.name, err, diff)
		}
	}
}

func TestHandler_isAskedInClaudesWords(t *testing.T) {
	r := &runner{}
	h := handler.New(spec(t, "name = 'x'\ncommand = 'cat >&2'\ntools = ['Bash']\nlimit = '2s'\n"), r, nil)
	ev := call(event.PreToolUse)
	if _, err := h.Handle(t.Context(), ev); err != nil || h.Limit != 2*time.Second {
		t.Fatal(err, h.Limit)
	}
	c := r.ran[0]
	var got map[string]any
	if err := json.Unmarshal(c.Stdin, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"session_id": "s", "cwd": "/p", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": map[string]any{"command": "ls"}}
	if diff := cmp.Diff(want, got); diff != "" || c.Script != "cat >&2" || c.Dir != "/p" || c.Limit <= 0 || c.Limit > 2*time.Second {
		t.Errorf("%+v (-want +got)\n%s", c, diff)
	}
	// Claude Code's own payload is handed on with what earlier handlers rewrote.
	ev.Provider, ev.Tool.Input = event.Claude, json.RawMessage(`{"command":"pwd"}`)
	if _, err := h.Handle(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
	if in := string(r.ran[1].Stdin); !strings.Contains(in, `"kept":1`) || !strings.Contains(in, `"pwd"`) || !strings.Contains(in, `"tool_name":"shell"`) {
		t.Errorf("got %s", in)
	}
}

func TestHandler_native(t *testing.T) {
	ok := `{"id":1,"verdict":{"decision":"deny","reason":"no\u001b[2J","rule":"r","contexts":["a\u0007"," "],"updated_input":null,"stop_turn":true,"stop_reason":"x","terminal_sequence":"\u001b]0;x"}}`
	want := event.Verdict{Decision: event.Deny, Reason: "no[2J", Rule: "r", Contexts: []string{"a"}, StopTurn: true, StopReason: "x"}
	for _, c := range []struct {
		name   string
		result policy.Result
		want   event.Verdict
		fails  string
	}{
		{"a verdict", policy.Result{Stdout: []byte(ok + "\nmore\n")}, want, ""},
		{"no opinion", policy.Result{Stdout: []byte(`{"id":1,"verdict":{}}`)}, event.Verdict{}, ""},
		{"an error", policy.Result{Stdout: []byte(`{"id":1,"error":"oh"}`)}, event.Verdict{}, "it says: oh"},
		{"another id", policy.Result{Stdout: []byte(`{"id":2,"verdict":{}}`)}, event.Verdict{}, "to 2 and not to 1"},
		{"no verdict", policy.Result{Stdout: []byte(`{"id":1}`)}, event.Verdict{}, "no verdict"},
		{"silence", policy.Result{}, event.Verdict{}, "no line of JSON"},
		{"an end", policy.Result{Code: 3, Stdout: []byte(ok)}, event.Verdict{}, "exit code 3"},
		{"a decision that is none", policy.Result{Stdout: []byte(`{"id":1,"verdict":{"decision":"block"}}`)}, event.Verdict{}, "which is none"},
		{"late", policy.Result{Late: true}, event.Verdict{}, "no answer within"},
		{"too much", policy.Result{Cut: true}, event.Verdict{}, "more than"},
	} {
		r := &runner{result: c.result}
		h := handler.New(spec(t, "name = 'x'\ncommand = ['/x']\ndialect = 'native'\n"), r, nil)
		got, err := h.Handle(t.Context(), call(event.PreToolUse))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %+v, %v", c.name, got, err)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", c.name, err, diff)
		}
		if in := string(r.ran[0].Stdin); !strings.HasPrefix(in, `{"id":1,"provider":"codex","native":"PreToolUse","event":{"session_id":"s"`) || strings.Count(in, "\n") != 1 {
			t.Errorf("%s: asked with %q", c.name, in)
		}
	}
}

func TestHandler_resident(t *testing.T) {
	const book = "name = 'x'\ncommand = ['/x']\nresident = true\n"
	for _, c := range []struct {
		name  string
		asker asker
		ran   int
		want  event.Decision
		fails string
	}{
		{"the runtime's helper answers", asker{verdict: `{"decision":"ask"}`}, 0, event.Ask, ""},
		{"the helper fails", asker{err: errors.New("too slow")}, 0, event.None, "too slow"},
		{"nobody serves, so the program answers here", asker{err: fmt.Errorf("%w: no runtime", handler.ErrNotServed)}, 1, event.Deny, ""},
		{"a broken verdict", asker{verdict: `{`}, 0, event.None, "cannot be read"},
	} {
		r := &runner{result: policy.Result{Stdout: []byte(`{"id":1,"verdict":{"decision":"deny"}}`)}}
		s := spec(t, book)
		got, err := handler.New(s, r, &c.asker).Handle(t.Context(), call(event.PreToolUse))
		if got.Decision != c.want || len(r.ran) != c.ran || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: got %v, %v after %d runs", c.name, got.Decision, err, len(r.ran))
		}
		if len(c.asker.asked) != 1 || c.asker.asked[0] != s.ID() || c.asker.request.Deadline <= 0 || c.asker.request.Deadline > 5000 {
			t.Errorf("%s: asked %q, %+v", c.name, c.asker.asked, c.asker.request)
		}
	}
	if a, b := spec(t, book), spec(t, strings.Replace(book, "/x", "/y", 1)); a.ID() == b.ID() {
		t.Error("two commands are one helper")
	}
}

func TestHandler_roles(t *testing.T) {
	for role, want := range map[string]event.Decision{"": event.Deny, "role = 'gate'": event.Deny, "role = 'helper'": event.None, "role = 'observer'": event.None} {
		h := handler.New(spec(t, "name = 'x'\ncommand = ['/x']\n"+role), &runner{err: errors.New("no such program")}, nil)
		if v, _ := policy.Run(t.Context(), call(event.PreToolUse), []policy.Handler{h}); v.Decision != want {
			t.Errorf("%q failing: got %v", role, v.Decision)
		}
		h = handler.New(spec(t, "name = 'x'\ncommand = ['/x']\n"+role), &runner{result: policy.Result{Code: 2, Stderr: []byte("no")}}, nil)
		if v, _ := policy.Run(t.Context(), call(event.PreToolUse), []policy.Handler{h}); (v.Decision == event.Deny) != !strings.Contains(role, "observer") {
			t.Errorf("%q refusing: got %v", role, v.Decision)
		}
	}
	if o, g := handler.New(spec(t, "name='x'\ncommand='y'\nrole='observer'"), nil, nil), handler.New(spec(t, "name='x'\ncommand='y'\nband=42"), nil, nil); o.Band != policy.BandObserve || g.Band != 42 {
		t.Errorf("bands %d and %d", o.Band, g.Band)
	}
}

func TestSpec_wants(t *testing.T) {
	s := spec(t, "name = 'x'\ncommand = ['/x']\ntools = ['Write', 'mcp__.*']\nevents = ['PreToolUse', 'PostToolUse']\n")
	for _, c := range []struct {
		event event.Name
		tool  string
		want  bool
	}{{event.PreToolUse, "Write", true}, {event.PostToolUse, "create", true}, {event.PreToolUse, "mcp__a__b", true}, {event.PreToolUse, "xmcp__a", false},
		{event.PreToolUse, "NotebookWrite", false}, {event.PermissionRequest, "Write", false}} {
		if got := s.Wants(&event.Event{Name: c.event, Tool: &event.Tool{Name: c.tool}}); got != c.want {
			t.Errorf("%s of %s: %t", c.event, c.tool, got)
		}
	}
	if s.Wants(&event.Event{Name: event.PreToolUse}) {
		t.Error("a call without a tool is wanted")
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"command='x'":                        "has a name",
		"name='a b'\ncommand='x'":            "is no name",
		"name='a'":                           "has no command",
		"name='a'\ncommand=[]":               "has no command",
		"name='a'\ncommand=['']":             "name is empty",
		"name='a'\ncommand='x'\nband=1000":   "0 to 999",
		"name='a'\ncommand='x'\nlimit='21s'": "20s at most",
		"name='a'\ncommand='x'\nresident=true\ndialect='claude'": "native protocol",
		"name='a'\ncommand='x'\nevents=['preToolUse']":           "no event",
	} {
		var b struct{ Handler []handler.Spec }
		if err := toml.Unmarshal([]byte("[[handler]]\n"+text), &b); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if _, err := b.Handler[0].Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
