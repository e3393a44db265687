package copilot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
)

var home = codectest.Env("HOME", "/home/dev", "COPILOT_CLI", "1")

// native is the event name the command line carries for a fixture.
func native(file string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(file, "pascal-"), ".")
	return name
}

func TestGolden(t *testing.T) { codectest.Golden(t, copilot.Codec{}, home, native) }

func FuzzDecode(f *testing.F)       { codectest.Fuzz(f, copilot.Codec{}, "preToolUse") }
func FuzzDecodePascal(f *testing.F) { codectest.Fuzz(f, copilot.Codec{}, "") }

func events() []event.Event {
	var out []event.Event
	for native, name := range map[string]event.Name{
		"sessionStart": event.SessionStart, "SessionStart": event.SessionStart,
		"sessionEnd": event.SessionEnd, "SessionEnd": event.SessionEnd,
		"userPromptSubmitted": event.UserPromptSubmit, "UserPromptSubmit": event.UserPromptSubmit,
		"userPromptTransformed": event.UserPromptTransformed,
		"preToolUse":            event.PreToolUse, "PreToolUse": event.PreToolUse,
		"permissionRequest": event.PermissionRequest, "PermissionRequest": event.PermissionRequest,
		"preMcpToolCall": event.PreMCPToolCall,
		"postToolUse":    event.PostToolUse, "PostToolUse": event.PostToolUse,
		"postToolUseFailure": event.PostToolUseFailure, "PostToolUseFailure": event.PostToolUseFailure,
		"notification": event.Notification, "Notification": event.Notification,
		"agentStop": event.Stop, "Stop": event.Stop,
		"subagentStart": event.SubagentStart, "SubagentStart": event.SubagentStart,
		"subagentStop": event.SubagentStop, "SubagentStop": event.SubagentStop,
		"errorOccurred": event.ErrorOccurred, "ErrorOccurred": event.ErrorOccurred,
		"preCompact": event.PreCompact, "PreCompact": event.PreCompact,
		"fromTheFuture": "",
	} {
		ev := event.Event{Provider: event.Copilot, Name: name, Native: native}
		switch name {
		case event.PreToolUse, event.PermissionRequest, event.PostToolUse, event.PostToolUseFailure:
			ev.Tool = &event.Tool{Name: "bash", Input: json.RawMessage(`{"command":"x"}`), Response: json.RawMessage(`{"resultType":"success","textResultForLlm":"x"}`)}
			if native[0] < 'a' {
				ev.Tool.Response = json.RawMessage(`{"result_type":"success","text_result_for_llm":"x"}`)
			}
		}
		out = append(out, ev)
	}
	return out
}

// TestEncode_neverBreaksTheContract tries every event in both spellings with
// every verdict and checks the answers with eyes of its own.
func TestEncode_neverBreaksTheContract(t *testing.T) {
	honoured := map[event.Name]string{ // contract §2, column "stdout honoured"
		event.SessionStart:       "additionalContext",
		event.UserPromptSubmit:   "additionalContext decision reason",
		event.PreToolUse:         "permissionDecision permissionDecisionReason modifiedArgs additionalContext",
		event.PermissionRequest:  "behavior message interrupt",
		event.PostToolUse:        "modifiedResult additionalContext decision reason",
		event.PostToolUseFailure: "additionalContext",
		event.Stop:               "decision reason",
		event.SubagentStart:      "additionalContext",
		event.SubagentStop:       "decision reason",
	}
	has := func(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
	codectest.Matrix(t, copilot.Codec{}, events(), func(ev *event.Event, n codectest.Named, out event.Output) string {
		if out.Code != 0 {
			return "any exit code but 0 refuses the call"
		}
		if len(out.Stdout) == 0 {
			if n.Name == "deny" && has("PreToolUse PermissionRequest UserPromptSubmit PostToolUse Stop SubagentStop", string(ev.Name)) {
				return "a denial got lost"
			}
			return ""
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal(out.Stdout, &top); err != nil {
			return err.Error()
		}
		list := honoured[ev.Name]
		if ev.Native == "PreToolUse" {
			var inner map[string]json.RawMessage
			if len(top) != 1 || json.Unmarshal(top["hookSpecificOutput"], &inner) != nil || string(inner["hookEventName"]) != `"PreToolUse"` {
				return "PascalCase PreToolUse takes Claude's nested form"
			}
			delete(inner, "hookEventName")
			top, list = inner, "permissionDecision permissionDecisionReason updatedInput"
		}
		for key := range top {
			if !has(list, key) {
				return key + " is not honoured here"
			}
		}
		if d := string(top["permissionDecision"]); d != "" && !has(`"allow" "deny" "ask"`, d) {
			return "permissionDecision has a value the client does not know"
		}
		if b := string(top["behavior"]); ev.Name == event.PermissionRequest && b != `"allow"` && b != `"deny"` {
			return "behavior has a value the client does not know"
		}
		if result := top["modifiedResult"]; result != nil && !strings.Contains(string(result), `"textResultForLlm"`) {
			return "the client's result is camelCase in both dialects"
		}
		return ""
	})
}

func decode(t *testing.T, native, payload string) event.Event {
	t.Helper()
	ev, err := copilot.Decode([]byte(payload), home, native)
	if err != nil {
		t.Fatalf("Decode(%s): %v", payload, err)
	}
	return ev
}

func TestDecode_namesWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ name, native, payload, want string }{
		{"empty", "preToolUse", "", "ends at byte 0"},
		{"no event anywhere", "", `{"sessionId":"s"}`, "names no event"},
		{"no session", "agentStop", `{"cwd":"/"}`, `"agentStop" payload has no "sessionId"`},
		{"cut", "preToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"rm`, "ends at byte"},
	} {
		ev, err := copilot.Decode([]byte(c.payload), home, c.native)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to say %q", c.name, err, c.want)
		}
		out := copilot.Refuse(&ev, "unreadable")
		if refused := strings.Contains(string(out.Stdout), `"permissionDecision":"deny"`); refused != (c.native == "preToolUse") || out.Code != 0 {
			t.Errorf("%s: refused with %s, exit %d", c.name, out.Stdout, out.Code)
		}
	}
}

func TestDecode_details(t *testing.T) {
	sub := decode(t, "preToolUse", `{"sessionId":"a1","agentId":"a1","parentAgentId":"root","toolName":"bash","toolArgs":{}}`)
	if sub.Session.ID != "root" || sub.AgentID != "a1" || sub.TranscriptPath != "/home/dev/.copilot/session-state/root/events.jsonl" {
		t.Errorf("a subagent's call: %+v", sub)
	}
	nested := decode(t, "agentStop", `{"sessionId":"a2","agentId":"a2","parentAgentId":"a1","transcriptPath":"C:\\Users\\d\\.copilot\\session-state\\root\\events.jsonl"}`)
	if nested.Session.ID != "root" {
		t.Errorf("a subagent's subagent belongs to %q", nested.Session.ID)
	}
	parent := decode(t, "permissionRequest", `{"sessionId":"root","agentId":"a1","parentAgentId":"root","toolName":"srv/do"}`)
	if parent.Session.ID != "root" || parent.AgentID != "a1" || parent.Tool.MCPServer != "srv" {
		t.Errorf("a permission request of a subagent: %+v", parent)
	}
	started := decode(t, "", `{"sessionId":"root","agentName":"explore","agent_id":"a1","agent_type":"explore","parent_agent_id":"root"}`)
	if started.Name != event.SubagentStart || started.AgentID != "a1" || started.Session.ID != "root" {
		t.Errorf("a PascalCase payload without its name: %+v", started)
	}
	old := decode(t, "preToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":"{\"command\":\"ls\"}"}`)
	if string(old.Tool.Input) != `{"command":"ls"}` {
		t.Errorf("arguments as a text: %s", old.Tool.Input)
	}
	odd, err := copilot.Decode([]byte(`{"sessionId":"..\\x"}`), home, "agentStop")
	if err != nil || odd.TranscriptPath != "" {
		t.Errorf("a session id with a separator made the path %q", odd.TranscriptPath)
	}
	for _, c := range []struct {
		env  func(string) string
		want string
	}{
		{codectest.Env("COPILOT_HOME", "/c/", "HOME", "/h"), "/c/session-state/s/events.jsonl"},
		{codectest.Env("USERPROFILE", `C:\Users\dev`), `C:\Users\dev\.copilot\session-state\s\events.jsonl`},
		{codectest.Env(), ""},
	} {
		if ev, err := copilot.Decode([]byte(`{"sessionId":"s"}`), c.env, "agentStop"); err != nil || ev.TranscriptPath != c.want {
			t.Errorf("transcript is %q, %v; want %q", ev.TranscriptPath, err, c.want)
		}
	}
	before := decode(t, "preToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"command":"ls"}}`)
	after := decode(t, "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{ "command": "ls" },"toolResult":{}}`)
	if before.Tool.UseID == "" || before.Tool.UseID != after.Tool.UseID {
		t.Errorf("a call is %q before and %q after", before.Tool.UseID, after.Tool.UseID)
	}
}

func TestCalled(t *testing.T) {
	for _, c := range []struct {
		env  func(string) string
		want bool
	}{
		{codectest.Env("COPILOT_CLI", "1"), true},
		{codectest.Env("COPILOT_CLI", "1", "CLAUDECODE", "1"), true},
		{codectest.Env("CLAUDECODE", "1"), false},
	} {
		if got := copilot.Called(c.env); got != c.want {
			t.Errorf("Called = %v, want %v", got, c.want)
		}
	}
}

func TestEncode_fallsBackWhenOurAnswerIsNoAnswer(t *testing.T) {
	pre := decode(t, "preToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{}}`)
	if out, err := copilot.Encode(&pre, event.Verdict{UpdatedInput: json.RawMessage(`"x"`)}); err == nil || out.Code != 0 || len(out.Stdout) > 0 {
		t.Errorf("a rewrite that is no object: %+v, %v", out, err)
	}
	post := decode(t, "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{},"toolResult":{"resultType":"success","textResultForLlm":"key"}}`)
	for _, output := range []string{`"***"`, `{"resultType":"success"}`, `{`} {
		out, err := copilot.Encode(&post, event.Verdict{Reason: "a key", UpdatedOutput: json.RawMessage(output)})
		if err == nil || string(out.Stdout) != `{"decision":"block","reason":"The output was withheld: a key"}` {
			t.Errorf("rewrite %s: got %s, %v; want the result withheld", output, out.Stdout, err)
		}
	}
}

func TestSignals(t *testing.T) {
	deny := event.Verdict{Decision: event.Deny}
	kill := event.Verdict{Decision: event.Deny, Interrupt: true}
	for _, c := range []struct {
		name, native, payload string
		v                     event.Verdict
		want                  string // kinds with task ids, then the last one's reason
	}{
		{"a permission request is no prompt", "permissionRequest", `{"sessionId":"s","toolName":"bash"}`, event.Verdict{}, "active "},
		{"an ask of the closed lid leaves it so", "permissionRequest", `{"sessionId":"s","toolName":"bash"}`, event.Verdict{Decision: event.Ask, Rule: "x"}, "active "},
		{"denied with interrupt no agentStop comes", "permissionRequest", `{"sessionId":"s","toolName":"bash"}`, kill, "interrupted copilot_permission_denied_with_interrupt"},
		{"in a subagent only that one ends", "permissionRequest", `{"sessionId":"s","agentId":"a","toolName":"bash"}`, kill, "active "},
		{"a prompt that opened", "notification", `{"sessionId":"s","notification_type":"permission_prompt"}`, event.Verdict{}, "waiting copilot_notification_permission_prompt"},
		{"a question", "preToolUse", `{"sessionId":"s","toolName":"ask_user"}`, event.Verdict{}, "tool-began waiting copilot_ask_user_open"},
		{"a refused question", "preToolUse", `{"sessionId":"s","toolName":"ask_user"}`, deny, "active "},
		{"a plan", "preToolUse", `{"sessionId":"s","toolName":"exit_plan_mode"}`, event.Verdict{}, "tool-began waiting copilot_exit_plan_mode_open"},
		{"an answered question", "postToolUse", `{"sessionId":"s","toolName":"ask_user"}`, event.Verdict{}, "tool-ended resumed "},
		{"an asked call", "preToolUse", `{"sessionId":"s","toolName":"bash"}`, event.Verdict{Decision: event.Ask}, "tool-began waiting copilot_permission_prompt_open"},
		{"a prompt", "userPromptSubmitted", `{"sessionId":"s","prompt":"p"}`, event.Verdict{}, "began "},
		{"a blocked prompt", "userPromptSubmitted", `{"sessionId":"s","prompt":"p"}`, deny, ""},
		{"a subagent's task", "userPromptSubmitted", `{"sessionId":"a","agentId":"a","parentAgentId":"s","prompt":"p"}`, event.Verdict{}, "active "},
		{"a completion delivered as a prompt", "userPromptSubmitted", `{"sessionId":"s","prompt":"<system_notification>\nShell command \"x\" (shellId: bg1) has completed.\n</system_notification>"}`, event.Verdict{}, "task-ended:bg1 "},
		{"an agent's completion has no id here", "userPromptSubmitted", `{"sessionId":"s","prompt":"<system_notification>\nAgent \"x\" is now idle.\n</system_notification>"}`, event.Verdict{}, ""},
		{"a background shell", "postToolUse", `{"sessionId":"s","toolName":"bash","toolArgs":{"mode":"async"},"toolResult":{"textResultForLlm":"<command started in background with shellId: bg1>"}}`, event.Verdict{}, "tool-ended task-began:bg1 "},
		{"a shell read to its end", "postToolUse", `{"sessionId":"s","toolName":"read_bash","toolArgs":{"shellId":"bg1"},"toolResult":{"textResultForLlm":"x\n<shellId: bg1 completed with exit code 0>"}}`, event.Verdict{}, "tool-ended task-ended:bg1 "},
		{"a shell that still runs", "postToolUse", `{"sessionId":"s","toolName":"read_bash","toolArgs":{"shellId":"bg1"},"toolResult":{"textResultForLlm":"x"}}`, event.Verdict{}, "tool-ended "},
		{"a stopped shell", "postToolUse", `{"sessionId":"s","toolName":"stop_bash","toolArgs":{"shellId":"bg1"},"toolResult":{"textResultForLlm":"stopped"}}`, event.Verdict{}, "tool-ended task-ended:bg1 "},
		{"an agent written to", "postToolUse", `{"sessionId":"s","toolName":"write_agent","toolArgs":{"agent_id":"a1"}}`, event.Verdict{}, "tool-ended task-began:a1 "},
		{"an agent read in a terminal state", "postToolUse", `{"sessionId":"s","toolName":"read_agent","toolArgs":{"agent_id":"a1"},"toolResult":{"textResultForLlm":"Status: idle"}}`, event.Verdict{}, "tool-ended task-ended:a1 "},
		{"a Stop", "agentStop", `{"sessionId":"s","stopReason":"end_turn"}`, event.Verdict{}, "stopped end_turn"},
		{"a blocked Stop", "agentStop", `{"sessionId":"s"}`, deny, "active "},
		{"a subagent's Stop", "agentStop", `{"sessionId":"a","agentId":"a","parentAgentId":"s"}`, event.Verdict{}, "active "},
		{"the end of a round is no more than a Stop", "sessionEnd", `{"sessionId":"s","reason":"complete"}`, event.Verdict{}, "stopped complete"},
		{"the person leaves", "sessionEnd", `{"sessionId":"s","reason":"user_exit"}`, event.Verdict{}, "closed user_exit"},
		{"the end after an error", "sessionEnd", `{"sessionId":"s","reason":"error"}`, event.Verdict{}, "failed error"},
		{"a failed try may be tried again", "errorOccurred", `{"sessionId":"s","recoverable":true}`, event.Verdict{}, ""},
	} {
		ev := decode(t, c.native, c.payload)
		var kinds []string
		last := ""
		for _, s := range copilot.Signals(&ev, c.v) {
			kind := string(s.Kind)
			if s.Task != nil {
				kind += ":" + s.Task.ID
			}
			kinds, last = append(kinds, kind), s.Reason
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
