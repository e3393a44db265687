package census_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// TestEvents_forTheirUse: whoever picks an event for what it is known for gets that:
// what blocks there, how, and what an answer may hold. docs/seed-coverage-hooks.md
// is where the uses come from; the contracts are where the census has them from.
func TestEvents_forTheirUse(t *testing.T) {
	const specific = "hookSpecificOutput."
	judged := []census.Kind{census.Prompt, census.Agent}
	for _, c := range []struct {
		use     string
		p       event.Provider
		events  string
		effect  census.Effect
		exit2   bool
		outputs string // that an answer may have
		kinds   []census.Kind
	}{
		{"before a call: block, rewrite", event.Claude, "PreToolUse", census.Stops, true, specific + "permissionDecision " + specific + "updatedInput " + specific + "additionalContext", judged},
		{"before a call: block, rewrite", event.Codex, "PreToolUse", census.Stops, true, specific + "permissionDecision " + specific + "updatedInput", nil},
		{"permission dialogs, by the decision alone", event.Claude, "PermissionRequest", census.Stops, false, specific + "decision.behavior " + specific + "decision.updatedPermissions", nil},
		{"permission dialogs", event.Codex, "PermissionRequest", census.Stops, true, specific + "decision.behavior", nil},
		{"after a denial: retry", event.Claude, "PermissionDenied", census.Nothing, false, specific + "retry", nil},
		{"after a call: tell, redact", event.Claude, "PostToolUse", census.TellsModel, true, specific + "updatedToolOutput " + specific + "additionalContext decision", nil},
		{"after a call: redact", event.Codex, "PostToolUse", census.Replaces, true, "decision reason", nil},
		{"after a failure", event.Claude, "PostToolUseFailure", census.TellsModel, true, specific + "additionalContext", nil},
		{"after a batch, before the model", event.Claude, "PostToolBatch", census.EndsTurn, true, specific + "additionalContext", nil},
		{"a session begins", event.Claude, "SessionStart", census.Nothing, false, specific + "additionalContext " + specific + "watchPaths " + specific + "sessionTitle", nil},
		{"a session ends, once set up", event.Claude, "SessionEnd Setup", census.Nothing, false, "", nil},
		{"each prompt: context, block", event.Claude, "UserPromptSubmit", census.Stops, true, specific + "additionalContext decision", judged},
		{"each prompt: context, block", event.Codex, "UserPromptSubmit", census.Stops, true, specific + "additionalContext decision", nil},
		{"a command is expanded", event.Claude, "UserPromptExpansion", census.Stops, true, "decision", judged},
		{"displayed text", event.Claude, "MessageDisplay", census.Nothing, false, specific + "displayContent", nil},
		{"completion, by a program or a model", event.Claude, "Stop SubagentStop", census.GoesOn, true, "decision reason", append(judged, census.Command)},
		{"completion", event.Codex, "Stop SubagentStop", census.GoesOn, true, "decision reason", nil},
		{"a teammate keeps working", event.Claude, "TeammateIdle", census.GoesOn, true, "", judged},
		{"a task is rolled back", event.Claude, "TaskCreated", census.Rolls, true, "decision", judged},
		{"a task's completion is gated", event.Claude, "TaskCompleted", census.Stops, true, "", judged},
		{"the environment is observed", event.Claude, "FileChanged CwdChanged InstructionsLoaded", census.Nothing, false, "", nil},
		{"an edit of the settings is blocked", event.Claude, "ConfigChange", census.NotTaken, true, "decision", nil},
		{"worktrees", event.Claude, "WorktreeCreate WorktreeRemove", census.Stops, true, "", nil},
		{"before compaction", event.Claude, "PreCompact", census.Stops, true, "decision", nil},
		{"before compaction", event.Codex, "PreCompact", census.Stops, false, "continue", nil},
		{"after compaction", event.Claude, "PostCompact", census.Nothing, false, "", nil},
		{"what an MCP server asks", event.Claude, "Elicitation ElicitationResult", census.Stops, true, specific + "action " + specific + "content", nil},
		{"seen only", event.Claude, "SubagentStart StopFailure", census.Nothing, false, "", nil},
		{"seen only, but for the terminal", event.Claude, "Notification", census.Nothing, false, "terminalSequence", nil},
	} {
		for native := range strings.FieldsSeq(c.events) {
			e, ok := census.Find(c.p, native)
			if !ok || e.Blocks.Effect != c.effect || e.Blocks.Exit2 != c.exit2 {
				t.Errorf("%s, %s %s: it %q, by exit 2 %t; want %q, %t", c.use, c.p, native, e.Blocks.Effect, e.Blocks.Exit2, c.effect, c.exit2)
			}
			for key := range strings.FieldsSeq(c.outputs) {
				if !slices.ContainsFunc(e.Outputs, func(o census.Output) bool { return o.Key == key }) {
					t.Errorf("%s, %s %s: no output %q", c.use, c.p, native, key)
				}
			}
			for _, k := range c.kinds {
				if !e.Runs(k) {
					t.Errorf("%s, %s %s: no %s handlers", c.use, c.p, native, k)
				}
			}
		}
	}
}

// TestEvents_sharedByClaudeAndCodex: ten that are documented for both; teams, tasks
// and what else happens to a session or its environment only Claude Code tells.
func TestEvents_sharedByClaudeAndCodex(t *testing.T) {
	shared := strings.Fields("SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SubagentStart SubagentStop Stop")
	for _, native := range shared {
		for _, p := range []event.Provider{event.Claude, event.Codex} {
			if _, ok := census.Find(p, native); !ok {
				t.Errorf("%s has no %s", p, native)
			}
		}
	}
	for native := range strings.FieldsSeq("Setup InstructionsLoaded UserPromptExpansion MessageDisplay PermissionDenied PostToolUseFailure PostToolBatch Notification" +
		" TaskCreated TaskCompleted TeammateIdle StopFailure ConfigChange CwdChanged FileChanged WorktreeCreate WorktreeRemove Elicitation ElicitationResult") {
		if _, ok := census.Find(event.Claude, native); !ok {
			t.Errorf("Claude Code has no %s", native)
		}
		if _, ok := census.Find(event.Codex, native); ok {
			t.Errorf("Codex has %s", native)
		}
	}
}

// TestClients_whatJudgesOffers: the two handlers that ask a model, as far as a
// person has to know them.
func TestClients_whatJudgesOffers(t *testing.T) {
	client, _ := census.Of(event.Claude)
	for kind, says := range map[census.Kind]string{census.Prompt: "{ok, reason}", census.Agent: "up to 50 turns"} {
		if !slices.ContainsFunc(client.Handlers, func(h census.Handler) bool { return h.Kind == kind && strings.Contains(h.Does, says) }) {
			t.Errorf("nothing says of %s handlers: %s", kind, says)
		}
	}
	// Only what a model can judge: a call, a prompt, an end; no dialog, no start.
	for native, want := range map[string]bool{"PreToolUse": true, "UserPromptSubmit": true, "Stop": true, "TaskCompleted": true,
		"SessionStart": false, "PermissionRequest": false, "Notification": false, "PreCompact": false, "ConfigChange": false} {
		if e, _ := census.Find(event.Claude, native); e.Runs(census.Prompt) != want || e.Runs(census.Agent) != want {
			t.Errorf("%s: a model judges it is %t, want %t", native, !want, want)
		}
	}
}
