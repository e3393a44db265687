package copilot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
)

// Public reports about other hooks and this client. The names carry the id of the
// case and the report.

func TestReported_D17_eachDialectHasItsShape(t *testing.T) { // copilot-cli 3874, microsoft/vscode 322227
	tool := &event.Tool{Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)}
	for native, want := range map[string]string{
		"preToolUse": `{"permissionDecision":"deny","permissionDecisionReason":"no"}`,
		"PreToolUse": `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`,
	} {
		out, err := copilot.Encode(&event.Event{Provider: event.Copilot, Name: event.PreToolUse, Native: native, Tool: tool}, event.Verdict{Decision: event.Deny, Reason: "no"})
		if got := strings.TrimSpace(string(out.Stdout)); err != nil || out.Code != 0 || got != want {
			t.Errorf("%s: got %s, exit %d, %v, want %s", native, got, out.Code, err, want)
		}
	}
}

func TestReported_D18_aQuestionCarriesItsReason(t *testing.T) { // copilot-cli 2647, 4237, github/app 228
	ev := &event.Event{Provider: event.Copilot, Name: event.PreToolUse, Native: "preToolUse", Tool: &event.Tool{Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)}}
	out, err := copilot.Encode(ev, event.Verdict{Decision: event.Ask, Reason: "is this meant?"})
	if got, want := strings.TrimSpace(string(out.Stdout)), `{"permissionDecision":"ask","permissionDecisionReason":"is this meant?"}`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	// The client's own question follows a permission request; ours would be lost.
	ev.Name, ev.Native = event.PermissionRequest, "permissionRequest"
	if out, err := copilot.Encode(ev, event.Verdict{Decision: event.Ask, Reason: "r"}); err != nil || len(out.Stdout) > 0 {
		t.Errorf("got %s, %v", out.Stdout, err)
	}
}
