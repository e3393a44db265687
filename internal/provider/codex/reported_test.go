package codex_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
	"github.com/lidguard-go/lidguard/internal/provider/codex"
)

// Public reports about other hooks that spoke to this client in words it rejects,
// upon which the call ran. The names carry the id of the case and the report.

func toolEvent(name event.Name, tool string) *event.Event {
	return &event.Event{Provider: event.Codex, Name: name, Native: string(name),
		Tool: &event.Tool{Name: tool, Input: json.RawMessage(`{"command":"ls"}`), Response: json.RawMessage(`"out"`)}}
}

func answer(t *testing.T, ev *event.Event, v event.Verdict) string {
	t.Helper()
	out, err := codex.Encode(ev, v)
	if err != nil || out.Code != 0 || len(out.Stderr) > 0 {
		t.Fatalf("exit %d, stderr %q, %v", out.Code, out.Stderr, err)
	}
	return strings.TrimSpace(string(out.Stdout))
}

func TestReported_D8_askIsADenial(t *testing.T) { // codex 28437, i9wa4/dotfiles 378
	got := answer(t, toolEvent(event.PreToolUse, "Bash"), event.Verdict{Decision: event.Ask, Reason: "is this meant?"})
	if !strings.Contains(got, `"permissionDecision":"deny"`) || !strings.Contains(got, "is this meant?") || strings.Contains(got, `"ask"`) {
		t.Errorf("got %s", got)
	}
	// Where the client is about to ask anyway, silence is the question.
	if got := answer(t, toolEvent(event.PermissionRequest, "Bash"), event.Verdict{Decision: event.Ask, Reason: "r"}); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestReported_D9_aBareAllowIsSilence(t *testing.T) { // reboot-dev/reboot 118
	if got := answer(t, toolEvent(event.PreToolUse, "Bash"), event.Verdict{Decision: event.Allow, Reason: "fine"}); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestReported_D10_nothingUnknownIsNested(t *testing.T) { // Graphify-Labs/graphify 121, 138
	v := event.Verdict{Decision: event.Deny, Reason: "no", SystemMessage: "seen", StopTurn: true, StopReason: "enough", SessionTitle: "t", WatchPaths: []string{"/w"}}
	var top struct {
		Inner map[string]json.RawMessage `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal([]byte(answer(t, toolEvent(event.PreToolUse, "Bash"), v)), &top); err != nil {
		t.Fatal(err)
	}
	for key := range top.Inner {
		if !strings.Contains(" hookEventName permissionDecision permissionDecisionReason updatedInput additionalContext ", " "+key+" ") {
			t.Errorf("%s is nested", key)
		}
	}
}

func TestReported_D11_toolEventsStopNothing(t *testing.T) { // thedotmack/claude-mem 2871 and others
	for _, name := range []event.Name{event.PreToolUse, event.PermissionRequest, event.PostToolUse} {
		for _, n := range codectest.Verdicts(toolEvent(name, "Bash")) {
			got := answer(t, toolEvent(name, "Bash"), n.Verdict)
			for _, word := range []string{"suppressOutput", `"stopReason"`} {
				if strings.Contains(got, word) {
					t.Errorf("%s, %s: %s", name, n.Name, got)
				}
			}
			if name != event.PostToolUse && strings.Contains(got, `"continue"`) {
				t.Errorf("%s, %s: %s", name, n.Name, got)
			}
		}
	}
}

func TestReported_D12_aRewriteIsNestedAndAllowed(t *testing.T) { // claudioemmanuel/squeez 140, rtk-ai/icm 237
	got := answer(t, toolEvent(event.PreToolUse, "Bash"), event.Verdict{UpdatedInput: json.RawMessage(`{"command":"ls -l"}`)})
	want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls -l"}}}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReported_D14_noWordOfAnotherClient(t *testing.T) { // aovestdipaperino/tokensave 593
	for _, name := range []event.Name{event.PreToolUse, event.PermissionRequest} {
		for _, n := range codectest.Verdicts(toolEvent(name, "Bash")) {
			var top map[string]json.RawMessage
			if got := answer(t, toolEvent(name, "Bash"), n.Verdict); got != "" && json.Unmarshal([]byte(got), &top) != nil {
				t.Fatalf("%s, %s: %s", name, n.Name, got)
			}
			for _, word := range []string{"permission", "permissionDecision", "behavior", "modifiedArgs", "action"} {
				if top[word] != nil {
					t.Errorf("%s, %s: %s at the top", name, n.Name, word)
				}
			}
		}
	}
}

func TestReported_D15_emptyIsAnAnswer(t *testing.T) { // JordanCoin/codemap 156 says otherwise; measured: contract §4
	for _, name := range []event.Name{event.PreToolUse, event.PostToolUse, event.PermissionRequest} {
		if got := answer(t, toolEvent(name, "Bash"), event.Verdict{}); got != "" {
			t.Errorf("%s: no opinion is %s", name, got)
		}
	}
}

func TestReported_D16_aPatchKeepsItsToolsName(t *testing.T) { // codex 16732, 17563 and others
	payload := `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","model":"m","permission_mode":"default","turn_id":"t","tool_name":"apply_patch","tool_use_id":"u","tool_input":{"command":"*** Begin Patch\n*** Add File: .env\n+A=1\n*** End Patch"}}`
	ev, err := codex.Codec{}.Decode([]byte(payload), codectest.Env(), "")
	if err != nil || ev.Tool == nil || ev.Tool.Name != "apply_patch" {
		t.Errorf("got %+v, %v", ev.Tool, err)
	}
}
