package doctor_test

import (
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/event"
)

// The reports of what a client's hooks cannot do, each with a public source. The
// names carry it.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name     string
		provider event.Provider
		text     string // must be told
		source   string
	}{
		{"G1 openai/codex#23411: code mode without PreToolUse", event.Codex, "code mode", "openai/codex#23411"},
		{"G2 cc-safety-net: write_stdin is never seen", event.Codex, "write_stdin", "docs/contracts/codex.md"},
		{"G3 openai/codex#26733, #26729, #27833: apply_patch", event.Codex, "apply_patch", "#26733, #26729, #27833"},
		{"G4 nah: siblings, hosted tools, managed hooks", event.Codex, "managed hooks", "docs/contracts/codex.md"},
		{"G4 nah: siblings start at once", event.Codex, "at the same moment", "docs/contracts/codex.md"},
		{"G5 claude-code#20946, #57548: after the call in bypass mode", event.Claude, "bypassed", "#20946, #57548"},
		{"G6 github/copilot-cli: errors deny the tool", event.Copilot, "denies the call", "docs/contracts/copilot.md"},
		{"G6 github/copilot-cli: every call", event.Copilot, "every tool call", "docs/contracts/copilot.md"},
		{"D7 what Codex asks without a hook", event.Codex, "request_permissions", "docs/contracts/codex.md §3"},
		{"D7 what Copilot asks without a hook", event.Copilot, "questions of MCP servers", "docs/contracts/copilot.md §1"},
		{"D7 claude-code#50660: ExitPlanMode", event.Claude, "ExitPlanMode", "anthropics/claude-code#50660"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, l := range doctor.Limits(c.provider) {
				if strings.Contains(l.Text, c.text) && strings.Contains(l.Source, c.source) {
					return
				}
			}
			t.Errorf("doctor does not tell of it: %+v", doctor.Limits(c.provider))
		})
	}
	for _, p := range event.Providers() {
		for _, l := range doctor.Limits(p) {
			if l.Provider != p || strings.HasSuffix(l.Text, ".") || l.Source == "" {
				t.Errorf("%s: %+v", p, l)
			}
		}
	}
}
