package hook

import (
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// marks are what was seen in a payload that one client alone sends. Facts are
// from docs/contracts: the common input fields of each client.
type marks struct {
	name                    string
	snake, camel            bool
	number, iso             bool // timestamp
	hookName                bool
	turn, message, nullFile bool
	file                    string
	claude                  bool
	bus, kind, in, out      bool
}

// guess tells whose payload this is by marks that cannot be mistaken, and false
// where there are none or where marks of two clients stand side by side. The
// payload need not be whole.
func guess(payload []byte) (Provider, bool) {
	var m marks
	_ = jsontext.Object(payload, m.member)
	var told []Provider
	if m.isClaude() {
		told = append(told, Claude)
	}
	if m.isCodex() {
		told = append(told, Codex)
	}
	if m.isCopilot() {
		told = append(told, Copilot)
	}
	if !m.snake && !m.camel && m.name == "" && (m.bus && m.kind || m.in && m.out) {
		told = append(told, OpenCode)
	}
	if len(told) != 1 {
		return "", false
	}
	return told[0], true
}

func (m *marks) member(key, value []byte) bool {
	switch string(key) {
	case "hook_event_name":
		m.name, _ = jsontext.String(value)
	case "session_id":
		m.snake = true
	case "sessionId":
		m.camel = true
	case "hookName":
		m.hookName = true
	case "timestamp":
		m.number, m.iso = jsontext.Kind(value) == "number", jsontext.Kind(value) == "string"
	case "transcript_path", "transcriptPath":
		m.file, _ = jsontext.String(value)
		m.file = strings.ReplaceAll(m.file, `\`, "/")
		m.nullFile = jsontext.Kind(value) == "null"
	case "prompt_id", "effort", "permission_suggestions", "background_tasks", "session_crons", "mcp_server":
		m.claude = true
	case "turn_id":
		m.turn = true
	case "message_id": // with turn_id it is Claude Code's MessageDisplay
		m.message = true
	case "properties":
		m.bus = true
	case "type":
		m.kind = true
	case "input":
		m.in = true
	case "output":
		m.out = true
	}
	return true
}

// claudeOnly are events that no other client has under that name.
var claudeOnly = []string{"Setup", "InstructionsLoaded", "UserPromptExpansion", "MessageDisplay", "PermissionDenied", "PostToolBatch",
	"PreSkillShellCommand", "TaskCreated", "TaskCompleted", "TeammateIdle", "StopFailure", "PreModelSwitch", "PostModelSwitch", "ConfigChange",
	"CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate", "WorktreeRemove", "Elicitation", "ElicitationResult"}

func (m *marks) isClaude() bool {
	if !m.snake || m.name == "" || m.iso {
		return false
	}
	return m.claude || slices.Contains(claudeOnly, m.name) || strings.Contains(m.file, "/projects/") && !m.rollout()
}

func (m *marks) isCodex() bool {
	if !m.snake || m.name == "" || m.iso {
		return false
	}
	switch m.name {
	case "Interrupt", "PreModelRequest", "PostModelRequest":
		return true
	}
	return m.rollout() || m.nullFile || m.turn && !m.message
}

func (m *marks) isCopilot() bool {
	return m.camel && (m.number || m.hookName) || m.snake && m.name != "" && m.iso
}

// rollout tells a session file of Codex.
func (m *marks) rollout() bool {
	return strings.HasPrefix(m.file[strings.LastIndexByte(m.file, '/')+1:], "rollout-")
}
