package claude_test

import (
	"encoding/json"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
)

// Public reports about other hooks that spoke to this client in words it does not
// know. The names carry the id of the case and the report.

func toolEvent(name event.Name) *event.Event {
	return &event.Event{Provider: event.Claude, Name: name, Native: string(name),
		Tool: &event.Tool{Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`), Response: json.RawMessage(`{"stdout":"","stderr":"","interrupted":false,"isImage":false}`)}}
}

// answer is what one verdict becomes, with its hookSpecificOutput.
func answer(t *testing.T, ev *event.Event, v event.Verdict) (out event.Output, top, inner map[string]json.RawMessage) {
	t.Helper()
	out, err := claude.Encode(ev, v)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Stdout) > 0 {
		if err := json.Unmarshal(out.Stdout, &top); err != nil {
			t.Fatal(err)
		}
	}
	if raw := top["hookSpecificOutput"]; raw != nil {
		if err := json.Unmarshal(raw, &inner); err != nil {
			t.Fatal(err)
		}
	}
	return out, top, inner
}

func TestReported_D1_aDenialIsNested(t *testing.T) { // claude-code 4669, 37210
	_, top, inner := answer(t, toolEvent(event.PreToolUse), event.Verdict{Decision: event.Deny, Reason: "no"})
	if top["permissionDecision"] != nil || string(inner["permissionDecision"]) != `"deny"` || string(inner["permissionDecisionReason"]) != `"no"` {
		t.Errorf("got %s", top)
	}
}

func TestReported_D2_theEventIsNamedAndExitTwoStandsAlone(t *testing.T) { // claude-code 43407
	for _, name := range []event.Name{event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand, event.PostToolUse} {
		for _, n := range codectest.Verdicts(toolEvent(name)) {
			out, _, inner := answer(t, toolEvent(name), n.Verdict)
			if inner != nil && string(inner["hookEventName"]) != `"`+string(name)+`"` {
				t.Errorf("%s, %s: the block names %s", name, n.Name, inner["hookEventName"])
			}
			if out.Code == 2 && (len(out.Stdout) > 0 || len(out.Stderr) == 0) || out.Code == 0 && len(out.Stderr) > 0 || out.Code != 0 && out.Code != 2 {
				t.Errorf("%s, %s: exit %d with stdout %q and stderr %q", name, n.Name, out.Code, out.Stdout, out.Stderr)
			}
		}
	}
}

func TestReported_D3_blockIsNoPermissionDecision(t *testing.T) { // claude-code 46537
	for _, d := range []event.Decision{event.None, event.Allow, event.Ask, event.Deny} {
		_, top, inner := answer(t, toolEvent(event.PreToolUse), event.Verdict{Decision: d, Reason: "r"})
		if got := string(inner["permissionDecision"]); d != event.None && got != `"`+d.String()+`"` || d == event.None && top != nil {
			t.Errorf("%s: got %s", d, top)
		}
		if top["decision"] != nil {
			t.Errorf("%s: the old word is used: %s", d, top)
		}
	}
}

func TestReported_D5_noObjectionIsSilence(t *testing.T) { // claude-code 18312, 77037, 62437
	if out, _, _ := answer(t, toolEvent(event.PreToolUse), event.Verdict{}); len(out.Stdout) > 0 || out.Code != 0 {
		t.Errorf("no opinion is %q, exit %d", out.Stdout, out.Code)
	}
	// An approval belongs to the permission request, where it is honoured.
	_, _, inner := answer(t, toolEvent(event.PermissionRequest), event.Verdict{Decision: event.Allow})
	if string(inner["decision"]) != `{"behavior":"allow"}` {
		t.Errorf("an approval is %s", inner["decision"])
	}
}

func TestReported_D7_aPlanIsRefusedWhereThatIsHonoured(t *testing.T) { // claude-code 50660
	ev := toolEvent(event.PermissionRequest)
	ev.Tool.Name = "ExitPlanMode"
	_, _, inner := answer(t, ev, event.Verdict{Decision: event.Deny, Reason: "nobody is here"})
	if string(inner["decision"]) != `{"behavior":"deny","message":"nobody is here"}` {
		t.Errorf("got %s", inner["decision"])
	}
}

func TestReported_D19_thePayloadComesByInputOnly(t *testing.T) { // claude-code 6305
	payload := []byte(`{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`)
	ev, err := claude.Codec{}.Decode(payload, codectest.Env("TOOL_NAME", "Write", "CLAUDE_TOOL_NAME", "Write", "CLAUDE_TOOL_INPUT", `{"command":"rm"}`, "CLAUDE_FILE_PATHS", "/x"), "")
	if err != nil || ev.Tool == nil || ev.Tool.Name != "Bash" || string(ev.Tool.Input) != `{"command":"ls"}` {
		t.Errorf("got %+v, %v", ev.Tool, err)
	}
}
