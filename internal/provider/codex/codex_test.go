package codex_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
	"github.com/lidguard-go/lidguard/internal/provider/codex"
)

func TestGolden(t *testing.T) {
	codectest.Golden(t, codex.Codec{}, codectest.Env(), func(string) string { return "" })
}

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, codex.Codec{}, "") }

func events() []event.Event {
	var out []event.Event
	for _, name := range []event.Name{
		event.SessionStart, event.SessionEnd, event.UserPromptSubmit, event.PreToolUse,
		event.PermissionRequest, event.PostToolUse, event.PreCompact, event.PostCompact,
		event.SubagentStart, event.SubagentStop, event.Stop, event.Interrupt,
		event.PreModelRequest, event.PostModelRequest, "",
	} {
		ev := event.Event{Provider: event.Codex, Name: name, Native: string(name)}
		if name == "" {
			ev.Native = "FromTheFuture"
		}
		switch name {
		case event.PreToolUse, event.PermissionRequest, event.PostToolUse:
			for _, tool := range []string{"Bash", "apply_patch", "mcp__lab__store", "request_user_input"} {
				ev.Tool = &event.Tool{Name: tool, Input: json.RawMessage(`{"command":"x"}`), Response: json.RawMessage(`"out"`)}
				out = append(out, ev)
			}
			continue
		}
		out = append(out, ev)
	}
	return out
}

// TestEncode_hasNothingTheClientRejects tries every event with every verdict and
// holds each answer against the contract's table of rejected members (§4), with
// eyes of its own, not with the codec's schema. One such member and the client
// acts as if the hook had said nothing.
func TestEncode_hasNothingTheClientRejects(t *testing.T) {
	top := map[event.Name]string{
		event.SessionStart:      "hookSpecificOutput continue systemMessage",
		event.UserPromptSubmit:  "hookSpecificOutput decision reason continue systemMessage",
		event.PreToolUse:        "hookSpecificOutput systemMessage",
		event.PermissionRequest: "hookSpecificOutput",
		event.PostToolUse:       "hookSpecificOutput decision reason systemMessage",
		event.PreCompact:        "continue systemMessage",
		event.PostCompact:       "continue systemMessage",
		event.SubagentStart:     "hookSpecificOutput systemMessage",
		event.SubagentStop:      "decision reason continue systemMessage",
		event.Stop:              "decision reason continue systemMessage",
		event.Interrupt:         "systemMessage",
	}
	specific := map[event.Name]string{
		event.SessionStart:      "additionalContext",
		event.UserPromptSubmit:  "additionalContext",
		event.PreToolUse:        "permissionDecision permissionDecisionReason updatedInput additionalContext",
		event.PermissionRequest: "decision",
		event.PostToolUse:       "additionalContext",
		event.SubagentStart:     "additionalContext",
	}
	has := func(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
	codectest.Matrix(t, codex.Codec{}, events(), func(ev *event.Event, n codectest.Named, out event.Output) string {
		if len(out.Stdout) == 0 {
			if has("PreToolUse PermissionRequest UserPromptSubmit PostToolUse Stop SubagentStop", ev.Native) && n.Name == "deny" {
				return "a denial got lost"
			}
			if ev.Name == event.PreToolUse && n.Name == "ask" {
				return "an ask lets the call run here"
			}
			return ""
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(out.Stdout, &members); err != nil {
			return err.Error()
		}
		for key := range members {
			if !has(top[ev.Name], key) {
				return key + " is rejected here"
			}
		}
		if d := members["decision"]; d != nil && (string(d) != `"block"` || members["reason"] == nil || string(members["reason"]) == `""`) {
			return "a decision that is no block with a reason"
		}
		if members["reason"] != nil && members["decision"] == nil {
			return "a reason without a decision"
		}
		raw := members["hookSpecificOutput"]
		if raw == nil {
			return ""
		}
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(raw, &inner); err != nil {
			return err.Error()
		}
		if string(inner["hookEventName"]) != `"`+string(ev.Name)+`"` {
			return "hookEventName is missing"
		}
		delete(inner, "hookEventName")
		for key := range inner {
			if !has(specific[ev.Name], key) {
				return key + " is rejected here"
			}
		}
		switch string(inner["permissionDecision"]) {
		case `"allow"`:
			if inner["updatedInput"] == nil {
				return "a bare allow"
			}
		case `"deny"`:
			if r := string(inner["permissionDecisionReason"]); r == "" || r == `""` || inner["updatedInput"] != nil {
				return "a denial without a reason or with a rewrite"
			}
		case "":
			if inner["updatedInput"] != nil {
				return "a rewrite without an allow"
			}
		default:
			return "permissionDecision has a value the client does not take"
		}
		if ev.Name == event.PermissionRequest {
			var d map[string]json.RawMessage
			if err := json.Unmarshal(inner["decision"], &d); err != nil {
				return err.Error()
			}
			for key := range d {
				if key != "behavior" && key != "message" {
					return key + " leaves the prompt open"
				}
			}
			if b := string(d["behavior"]); b != `"allow"` && b != `"deny"` {
				return "behavior has a value the client does not take"
			}
		}
		return ""
	})
}

func decode(t *testing.T, payload string) event.Event {
	t.Helper()
	ev, err := codex.Decode([]byte(payload), codectest.Env())
	if err != nil {
		t.Fatalf("Decode(%s): %v", payload, err)
	}
	return ev
}

func TestDecode_namesWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ name, payload, want string }{
		{"empty", "", "ends at byte 0"},
		{"an array", "[]", "not a JSON object"},
		{"cut", `{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{"command":"rm`, "ends at byte"},
		{"no event", `{"session_id":"s"}`, `"hook_event_name"`},
		{"no session", `{"hook_event_name":"Stop"}`, `"Stop" payload has no "session_id"`},
	} {
		ev, err := codex.Decode([]byte(c.payload), codectest.Env())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to say %q", c.name, err, c.want)
		}
		if out := codex.Refuse(&ev, ""); c.name == "cut" && (out.Code != 2 || len(out.Stderr) == 0) {
			t.Errorf("cut: a gate event was not refused: %+v", out)
		}
	}
}

func TestDecode_isKindToTheUnknown(t *testing.T) {
	ev := decode(t, `{"session_id":"s","hook_event_name":"FromTheFuture","transcript_path":null,"shiny":[{}]}`)
	if ev.Name != "" || ev.Native != "FromTheFuture" || ev.TranscriptPath != "" {
		t.Errorf("got %+v", ev)
	}
	if out := codex.Refuse(&ev, "x"); out.Code != 0 {
		t.Errorf("an unknown event was refused: %+v", out)
	}
}

func TestDecode_subagentsKeepTheRootsSession(t *testing.T) {
	sub := decode(t, `{"session_id":"root","hook_event_name":"PreToolUse","agent_id":"a1","transcript_path":"/sub.jsonl","tool_name":"Bash"}`)
	if sub.Session.ID != "root" || sub.AgentID != "a1" || sub.TranscriptPath != "" || sub.AgentTranscript != "/sub.jsonl" {
		t.Errorf("got %+v", sub)
	}
	model := decode(t, `{"session_id":"root","thread_id":"a1","hook_event_name":"PreModelRequest"}`)
	if model.AgentID != "a1" {
		t.Errorf("a model request of another thread is not a subagent's: %+v", model)
	}
}

func TestEncode_details(t *testing.T) {
	pre := decode(t, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x"}}`)
	post := decode(t, `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":"key=1"}`)
	for _, c := range []struct {
		name string
		ev   *event.Event
		v    event.Verdict
		want string
	}{
		{"a scrubbed output replaces the whole", &post, event.Verdict{UpdatedOutput: json.RawMessage(`"key=***"`)}, `{"decision":"block","reason":"key=***"}`},
		{"an output scrubbed to nothing still blocks", &post, event.Verdict{UpdatedOutput: json.RawMessage(`""`)}, `{"decision":"block","reason":"(no output)"}`},
		{"an object is written as JSON", &post, event.Verdict{UpdatedOutput: json.RawMessage(`{"content":[]}`)}, `{"decision":"block","reason":"{\"content\":[]}"}`},
		{"a denial goes before the scrubbed text", &post, event.Verdict{Decision: event.Deny, Reason: "a key", UpdatedOutput: json.RawMessage(`"***"`)}, `{"decision":"block","reason":"a key\n\n***"}`},
		{"a rewrite is an allow", &pre, event.Verdict{UpdatedInput: json.RawMessage(`{"command":"y"}`)}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"y"}}}`},
		{"a bare allow is silence", &pre, event.Verdict{Decision: event.Allow, Reason: "fine"}, ``},
		{"an ask is a denial", &pre, event.Verdict{Decision: event.Ask, Reason: "sure?"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"sure? This needs a person's word, which cannot be asked for here; leave it to them."}}`},
	} {
		out, err := codex.Encode(c.ev, c.v)
		if err != nil || string(out.Stdout) != c.want || out.Code != 0 {
			t.Errorf("%s: got %s (exit %d), %v; want %s", c.name, out.Stdout, out.Code, err, c.want)
		}
	}
}

func TestEncode_fallsBackWhenOurAnswerIsNoAnswer(t *testing.T) {
	pre := decode(t, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x"}}`)
	for _, input := range []string{`{"command":"y","timeout":1}`, `{"cmd":"y"}`, `{"command":["y"]}`, `"y"`, `{`} {
		out, err := codex.Encode(&pre, event.Verdict{UpdatedInput: json.RawMessage(input)})
		if err == nil || out.Code != 0 || len(out.Stdout) > 0 {
			t.Errorf("rewrite %s: got %+v, %v; want silence and an error", input, out, err)
		}
	}
	post := decode(t, `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":"k"}`)
	out, err := codex.Encode(&post, event.Verdict{Reason: "a key was in it", UpdatedOutput: json.RawMessage(`"broken`)})
	if err == nil || out.Code != 2 || string(out.Stderr) != "a key was in it" {
		t.Errorf("broken scrubbed output: got %+v, %v; want exit 2, which keeps the secret", out, err)
	}
}

func TestSignals_byVerdict(t *testing.T) {
	deny, allow := event.Verdict{Decision: event.Deny}, event.Verdict{Decision: event.Allow}
	lid := event.Verdict{Decision: event.Ask, Rule: "closed_lid_permission_request_ask"}
	pr := `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash"}`
	question := `{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"c","tool_name":"request_user_input"}`
	for _, c := range []struct {
		name, payload string
		v             event.Verdict
		want          string
	}{
		{"a permission request nobody answered waits", pr, event.Verdict{}, "waiting codex_permission_request_open"},
		{"left open on purpose it names the policy's reason", pr, lid, "waiting closed_lid_permission_request_ask"},
		{"allowed it goes on", pr, allow, "active "},
		{"denied it goes on: there is no interrupt here", pr, event.Verdict{Decision: event.Deny, Interrupt: true}, "active "},
		{"a question waits", question, event.Verdict{}, "waiting codex_request_user_input_pending"},
		{"a refused question does not", question, deny, "active "},
		{"an answered one resumes", strings.Replace(question, "Pre", "Post", 1), event.Verdict{}, "resumed "},
		{"an ask is a denial, so no call runs", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}`, event.Verdict{Decision: event.Ask}, "active "},
		{"a tool begins work in a goal turn", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}`, event.Verdict{}, "tool-began "},
		{"a blocked Stop is work", `{"session_id":"s","hook_event_name":"Stop"}`, deny, "active "},
		{"continue:false beats the block", `{"session_id":"s","hook_event_name":"Stop"}`, event.Verdict{Decision: event.Deny, StopTurn: true}, "stopped "},
		{"a prompt begins", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"p"}`, event.Verdict{}, "began "},
		{"a blocked prompt does not", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"p"}`, deny, ""},
		{"a subagent's task is no prompt", `{"session_id":"s","hook_event_name":"UserPromptSubmit","agent_id":"a","prompt":"p"}`, event.Verdict{}, "active "},
		{"an interrupt ends", `{"session_id":"s","hook_event_name":"Interrupt"}`, event.Verdict{}, "interrupted codex_interrupt"},
		{"a compaction asked for begins nothing", `{"session_id":"s","hook_event_name":"PreCompact","trigger":"manual"}`, event.Verdict{}, ""},
		{"one in mid-turn is work", `{"session_id":"s","hook_event_name":"PreCompact","trigger":"auto"}`, event.Verdict{}, "active "},
		{"a model request is work", `{"session_id":"s","hook_event_name":"PreModelRequest"}`, event.Verdict{}, "active "},
		{"its end tells nothing", `{"session_id":"s","hook_event_name":"PostModelRequest","status":"failed"}`, event.Verdict{}, ""},
		{"the process ends", `{"session_id":"s","hook_event_name":"SessionEnd","reason":"other"}`, event.Verdict{}, "closed other"},
	} {
		ev := decode(t, c.payload)
		var kinds []string
		last := ""
		for _, s := range codex.Signals(&ev, c.v) {
			kinds, last = append(kinds, string(s.Kind)), s.Reason
		}
		got := strings.Join(kinds, " ")
		if got != "" {
			got += " " + last
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
