package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
)

func TestGolden(t *testing.T) {
	codectest.Golden(t, claude.Codec{}, codectest.Env("CLAUDE_PID", "4242"), func(string) string { return "" })
}

func FuzzDecode(f *testing.F) { codectest.Fuzz(f, claude.Codec{}, "") }

// events is every event of contract §2, with the tool calls that matter.
func events() []event.Event {
	names := []event.Name{
		event.SessionStart, event.SessionEnd, event.Setup, event.InstructionsLoaded,
		event.UserPromptSubmit, event.UserPromptExpansion, event.MessageDisplay,
		event.PreToolUse, event.PermissionRequest, event.PermissionDenied,
		event.PostToolUse, event.PostToolUseFailure, event.PostToolBatch,
		event.PreSkillShellCommand, event.Notification, event.SubagentStart,
		event.SubagentStop, event.TaskCreated, event.TaskCompleted, event.TeammateIdle,
		event.Stop, event.StopFailure, event.PreCompact, event.PostCompact,
		event.PreModelSwitch, event.PostModelSwitch, event.ConfigChange, event.CwdChanged,
		event.DirectoryAdded, event.FileChanged, event.WorktreeCreate, event.WorktreeRemove,
		event.Elicitation, event.ElicitationResult, "",
	}
	var out []event.Event
	for _, name := range names {
		ev := event.Event{Provider: event.Claude, Name: name, Native: string(name)}
		if name == "" {
			ev.Native = "FromTheFuture"
		}
		switch name {
		case event.PreToolUse, event.PermissionRequest, event.PostToolUse, event.PostToolUseFailure, event.PreSkillShellCommand:
			for _, tool := range []string{"Bash", "mcp__lab__ask", "AskUserQuestion"} {
				ev.Tool = &event.Tool{Name: tool, Input: json.RawMessage(`{"command":"x"}`), Response: json.RawMessage(`{"stdout":"x"}`)}
				if tool == "mcp__lab__ask" {
					ev.Tool.MCPServer = "lab"
				}
				out = append(out, ev)
			}
			continue
		}
		out = append(out, ev)
	}
	if len(names) != 35 {
		panic("the client has 34 events")
	}
	return out
}

// TestEncode_neverBreaksTheContract tries every event with every verdict and
// checks the answers with eyes of its own, not with the codec's schema.
func TestEncode_neverBreaksTheContract(t *testing.T) {
	honoured := map[event.Name]string{ // members under hookSpecificOutput, contract §2
		event.SessionStart:         "additionalContext sessionTitle watchPaths",
		event.UserPromptSubmit:     "additionalContext sessionTitle",
		event.UserPromptExpansion:  "additionalContext",
		event.PreToolUse:           "permissionDecision permissionDecisionReason updatedInput additionalContext",
		event.PermissionRequest:    "decision",
		event.PostToolUse:          "additionalContext updatedToolOutput updatedMCPToolOutput",
		event.PostToolUseFailure:   "additionalContext",
		event.PostToolBatch:        "additionalContext",
		event.PreSkillShellCommand: "permissionDecision permissionDecisionReason",
		event.SubagentStart:        "additionalContext",
		event.SubagentStop:         "additionalContext",
		event.Stop:                 "additionalContext",
		event.PreModelSwitch:       "permissionDecision permissionDecisionReason",
		event.PostModelSwitch:      "additionalContext",
		event.CwdChanged:           "watchPaths",
		event.FileChanged:          "watchPaths",
		event.Elicitation:          "action content",
		event.ElicitationResult:    "action content",
	}
	silent := " Setup InstructionsLoaded MessageDisplay PermissionDenied StopFailure SessionEnd DirectoryAdded WorktreeRemove PostCompact FromTheFuture "
	codectest.Matrix(t, claude.Codec{}, events(), func(ev *event.Event, n codectest.Named, out event.Output) string {
		if len(out.Stdout) == 0 {
			if n.Name == "deny" && out.Code == 0 && !strings.Contains(silent+" SessionStart Notification SubagentStart PostModelSwitch CwdChanged FileChanged ", " "+ev.Native+" ") {
				return "a denial got lost"
			}
			return ""
		}
		if strings.Contains(silent, " "+ev.Native+" ") {
			return "this event has no output"
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal(out.Stdout, &top); err != nil {
			return err.Error()
		}
		for key := range top {
			switch key {
			case "hookSpecificOutput", "decision", "reason", "continue", "stopReason", "systemMessage", "terminalSequence":
			default:
				return "unknown member " + key // a flat permissionDecision is ignored by the client
			}
		}
		if d := top["decision"]; d != nil && string(d) != `"block"` {
			return "decision is not block"
		}
		raw, ok := top["hookSpecificOutput"]
		if !ok {
			return ""
		}
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(raw, &inner); err != nil {
			return err.Error()
		}
		if string(inner["hookEventName"]) != `"`+string(ev.Name)+`"` {
			return "hookSpecificOutput does not name the event"
		}
		delete(inner, "hookEventName")
		for key := range inner {
			if !strings.Contains(" "+honoured[ev.Name]+" ", " "+key+" ") {
				return key + " is not honoured here"
			}
		}
		if d := inner["permissionDecision"]; d != nil && !strings.Contains(`"allow" "deny" "ask"`, string(d)) {
			return "permissionDecision has a value the client does not know"
		}
		return ""
	})
}

func decode(t *testing.T, payload string) event.Event {
	t.Helper()
	ev, err := claude.Decode([]byte(payload), codectest.Env())
	if err != nil {
		t.Fatalf("Decode(%s): %v", payload, err)
	}
	return ev
}

func TestDecode_namesWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ name, payload, want string }{
		{"empty", "", "ends at byte 0"},
		{"no JSON", "hello", "not a JSON object"},
		{"an array", "[]", "not a JSON object"},
		{"cut", `{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{"command":"rm`, "ends at byte"},
		{"no event", `{"session_id":"s"}`, `"hook_event_name"`},
		{"no session", `{"hook_event_name":"Stop"}`, `"Stop" payload has no "session_id"`},
		{"a session of another kind", `{"hook_event_name":"Stop","session_id":7}`, `"session_id"`},
	} {
		ev, err := claude.Decode([]byte(c.payload), codectest.Env())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to say %q", c.name, err, c.want)
		}
		if c.name == "cut" && ev.Name != event.PreToolUse {
			t.Errorf("cut: the event's name %q was not kept, so a gate could not fail closed", ev.Name)
		}
	}
}

func TestDecode_isKindToTheUnknown(t *testing.T) {
	ev := decode(t, `{"session_id":"s","hook_event_name":"FromTheFuture","shiny":{"x":[1]},"cwd":7,"tool_name":null}`)
	if ev.Name != "" || ev.Native != "FromTheFuture" || ev.Cwd != "" {
		t.Errorf("got %+v", ev)
	}
	if got := claude.Signals(&ev, event.Verdict{Decision: event.Deny}); got != nil {
		t.Errorf("an unknown event gave signals %+v", got)
	}
	out, err := claude.Encode(&ev, event.Verdict{Decision: event.Deny, Reason: "no", SystemMessage: "x"})
	if err != nil || out.Code != 0 || len(out.Stdout) > 0 {
		t.Errorf("an unknown event was answered with %+v, %v", out, err)
	}
	late := decode(t, `{"tool_input":{},"tool_name":"mcp__a_b__c","hook_event_name":"PreToolUse","session_id":"s"}`)
	if late.Tool == nil || late.Tool.MCPServer != "a_b" {
		t.Errorf("the order of members matters: %+v", late.Tool)
	}
}

func TestEncode_refusesARewriteOfAnotherShape(t *testing.T) {
	ev := decode(t, `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{"stdout":"k","stderr":""}}`)
	for _, c := range []struct{ name, output string }{
		{"a bare text", `"masked"`}, {"a part of it", `{"stdout":"masked"}`}, {"broken", `{"stdout":`},
	} {
		out, err := claude.Encode(&ev, event.Verdict{Decision: event.Deny, Reason: "a key", UpdatedOutput: json.RawMessage(c.output)})
		if err == nil || out.Code != 2 || len(out.Stdout) > 0 || string(out.Stderr) != "a key" {
			t.Errorf("%s: got %+v, %v; want exit 2 and an error", c.name, out, err)
		}
	}
	out, err := claude.Encode(&ev, event.Verdict{UpdatedOutput: json.RawMessage(`{"stderr":"","stdout":"***"}`)})
	if err != nil || !strings.Contains(string(out.Stdout), `"updatedToolOutput":{"stderr":"","stdout":"***"}`) {
		t.Errorf("got %s, %v", out.Stdout, err)
	}
}

func TestEncode_fallsBackWhenOurAnswerIsNoAnswer(t *testing.T) {
	ev := decode(t, `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"x"}}`)
	out, err := claude.Encode(&ev, event.Verdict{Decision: event.Allow, UpdatedInput: json.RawMessage(`"text"`)})
	if err == nil || out.Code != 0 || len(out.Stdout) > 0 {
		t.Errorf("got %+v, %v; want silence and an error", out, err)
	}
	ask := decode(t, `{"session_id":"s","hook_event_name":"Elicitation","mcp_server_name":"m"}`)
	out, err = claude.Encode(&ask, event.Verdict{Decision: event.Deny, Reason: "no", ElicitAction: "explode"})
	if err == nil || out.Code != 2 || string(out.Stderr) != "no" {
		t.Errorf("got %+v, %v; want exit 2 and an error", out, err)
	}
}

func TestSignals_byVerdict(t *testing.T) {
	ask := event.Verdict{Decision: event.Ask, Rule: "closed_lid_permission_request_ask"}
	deny, allow := event.Verdict{Decision: event.Deny}, event.Verdict{Decision: event.Allow}
	kill := event.Verdict{Decision: event.Deny, Interrupt: true}
	pr := `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"%"}`
	sub := `{"session_id":"s","hook_event_name":"PermissionRequest","agent_id":"a1","tool_name":"%"}`
	pre := `{"session_id":"s","hook_event_name":"PreToolUse","tool_use_id":"t","tool_name":"%"}`
	for _, c := range []struct {
		name, payload, tool string
		v                   event.Verdict
		want                string // kinds, then the last one's reason
	}{
		{"a permission request nobody answered waits", pr, "Bash", event.Verdict{}, "waiting claude_permission_request_open"},
		{"left open on purpose it names the policy's reason", pr, "Bash", ask, "waiting closed_lid_permission_request_ask"},
		{"allowed it goes on", pr, "Bash", allow, "active "},
		{"denied it goes on", pr, "Bash", deny, "active "},
		{"denied with interrupt no Stop will come", pr, "Bash", kill, "interrupted claude_permission_denied_with_interrupt"},
		{"in a subagent only that one ends", sub, "Bash", kill, "active "},
		{"a plain allow leaves a question open", pr, "AskUserQuestion", allow, "waiting claude_ask_user_question_open"},
		{"an allow with answers does not", pr, "AskUserQuestion", event.Verdict{Decision: event.Allow, UpdatedInput: json.RawMessage(`{}`)}, "active "},
		{"a plan waits for a person", pr, "ExitPlanMode", event.Verdict{}, "waiting claude_exit_plan_mode_open"},
		{"a question waits from its PreToolUse on", pre, "AskUserQuestion", event.Verdict{}, "tool-began waiting claude_ask_user_question_open"},
		{"a refused question does not", pre, "AskUserQuestion", deny, "active "},
		{"a refused call has no end to wait for", pre, "Bash", deny, "active "},
		{"an asked call opens a dialog", pre, "Bash", event.Verdict{Decision: event.Ask}, "tool-began waiting claude_permission_request_open"},
		{"a call runs", pre, "Bash", allow, "tool-began "},
		{"a blocked Stop is work", `{"session_id":"s","hook_event_name":"Stop"}`, "", deny, "active "},
		{"continue:false beats the block", `{"session_id":"s","hook_event_name":"Stop"}`, "", event.Verdict{Decision: event.Deny, StopTurn: true}, "stopped "},
		{"a Stop is the end", `{"session_id":"s","hook_event_name":"Stop"}`, "", event.Verdict{}, "stopped "},
		{"a blocked prompt is no turn", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"p"}`, "", deny, ""},
		{"a blocked expansion ends its turn", `{"session_id":"s","hook_event_name":"UserPromptExpansion","prompt":"p"}`, "", deny, "interrupted claude_prompt_blocked"},
		{"a batch that is blocked ends the turn", `{"session_id":"s","hook_event_name":"PostToolBatch"}`, "", deny, "interrupted claude_turn_stopped_by_hook"},
		{"a turn stopped after a call", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash"}`, "", event.Verdict{StopTurn: true}, "tool-ended interrupted claude_turn_stopped_by_hook"},
		{"an interrupted call ends the turn", `{"session_id":"s","hook_event_name":"PostToolUseFailure","tool_name":"Bash","is_interrupt":true}`, "", event.Verdict{}, "tool-ended interrupted claude_tool_interrupted"},
		{"a cancelled elicitation waits for nobody", `{"session_id":"s","hook_event_name":"Elicitation"}`, "", event.Verdict{ElicitAction: "cancel"}, "active "},
	} {
		ev := decode(t, strings.Replace(c.payload, "%", c.tool, 1))
		var kinds []string
		last := ""
		for _, s := range claude.Signals(&ev, c.v) {
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

func TestSignals_taskNotifications(t *testing.T) {
	for _, c := range []struct{ name, prompt, want string }{
		{"with a status the task is over", "<task-notification>\\n<task-id>b1</task-id>\\n<status>completed</status></task-notification>", "task-ended b1"},
		{"so it is when it failed", "<task-notification><task-id>b1</task-id><status>failed</status></task-notification>", "task-ended b1"},
		{"without one it is a line of a monitor", "<task-notification><task-id>b1</task-id><event>tick</event></task-notification>", ""},
		{"a status inside the result is the agent's word", "<task-notification><task-id>b1</task-id><result><status>completed</status></result></task-notification>", ""},
		{"still running is not over", "<task-notification><task-id>b1</task-id><status>running</status></task-notification>", ""},
		{"one of no task is a hook that woke the model", "<task-notification>\\n<summary>Stop hook feedback</summary>\\n</task-notification>\\nfound", "began "},
		{"a prompt that only speaks of one begins work", "what is a <task-notification>?", "began "},
	} {
		ev := decode(t, `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"`+c.prompt+`"}`)
		got := ""
		for _, s := range claude.Signals(&ev, event.Verdict{}) {
			got = string(s.Kind) + " "
			if s.Task != nil {
				got += s.Task.ID
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSignals_stopSaysWhatIsInFlight(t *testing.T) {
	old := decode(t, `{"session_id":"s","hook_event_name":"Stop"}`)
	if got := claude.Signals(&old, event.Verdict{})[0].Tasks; got != nil {
		t.Errorf("a client that does not say gave %+v, want nil", got)
	}
	none := decode(t, `{"session_id":"s","hook_event_name":"Stop","background_tasks":[]}`)
	if got := claude.Signals(&none, event.Verdict{})[0].Tasks; got == nil || len(got) != 0 {
		t.Errorf("nothing in flight gave %+v, want an empty list", got)
	}
	some := decode(t, `{"session_id":"s","hook_event_name":"Stop","background_tasks":[{"id":"b1","type":"shell","status":"running"},{"id":"b2","type":"shell","status":"completed"},{"type":"shell"},5]}`)
	if got := claude.Signals(&some, event.Verdict{})[0].Tasks; len(got) != 1 || got[0].ID != "b1" {
		t.Errorf("got %+v, want b1 alone", got)
	}
}

func TestRefuse(t *testing.T) {
	for _, c := range []struct {
		native string
		code   int
	}{{"", 2}, {"PreToolUse", 2}, {"PermissionRequest", 2}, {"PreSkillShellCommand", 2}, {"Stop", 0}, {"PostToolUse", 0}, {"SessionStart", 0}, {"FromTheFuture", 0}} {
		ev, _ := claude.Decode([]byte(`{"hook_event_name":"`+c.native+`","tool_input":{"command":`), codectest.Env())
		if out := claude.Refuse(&ev, "unreadable\x1b"); out.Code != c.code || c.code == 2 && string(out.Stderr) != "unreadable" {
			t.Errorf("%q: got %+v, want exit %d", c.native, out, c.code)
		}
	}
}

func BenchmarkDecode1KB(b *testing.B)   { benchmark(b, 1000) }
func BenchmarkDecode400KB(b *testing.B) { benchmark(b, 400_000) }

func benchmark(b *testing.B, size int) {
	body := strings.Repeat(`a line of output with \"quotes\"\n`, size/34)
	payload := []byte(`{"session_id":"00000000-0000-4000-8000-000000000001","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":"` + body + `","stderr":""},"tool_use_id":"t"}`)
	for b.Loop() {
		ev, err := claude.Decode(payload, codectest.Env())
		if err != nil {
			b.Fatal(err)
		}
		_ = claude.Signals(&ev, event.Verdict{})
	}
}
