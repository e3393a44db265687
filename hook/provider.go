package hook

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/codex"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
)

// Provider is the client that calls a hook. Its text is what --provider takes.
type Provider string

// The clients whose dialects this package speaks.
const (
	Claude   Provider = "claude"   // Claude Code
	Codex    Provider = "codex"    // Codex CLI
	Copilot  Provider = "copilot"  // GitHub Copilot CLI
	OpenCode Provider = "opencode" // OpenCode, by lidguard's plugin
)

// Providers lists the clients in the order of the constants.
func Providers() []Provider { return []Provider{Claude, Codex, Copilot, OpenCode} }

// codec is what this package needs of one client's folder.
type codec interface {
	Decode(payload []byte, env func(string) string, native string) (event.Event, error)
	Encode(*event.Event, event.Verdict) (event.Output, error)
	Refuse(ev *event.Event, reason string) event.Output
}

// codecOf returns a client's codec, or nil for a word that names none.
func codecOf(p Provider) codec {
	switch p {
	case Claude:
		return claude.Codec{}
	case Codex:
		return codex.Codec{}
	case Copilot:
		return copilot.Codec{}
	case OpenCode:
		return opencode.Codec{}
	}
	return nil
}

// known lists the clients for an error text.
func known() string {
	var all []string
	for _, p := range Providers() {
		all = append(all, string(p))
	}
	return strings.Join(all, ", ")
}

// Name is the canonical name of an event. Claude Code's names are the superset
// and so the canonical ones: Copilot's preToolUse and OpenCode's
// tool.execute.before are both PreToolUse here. Event.Native keeps the client's
// own spelling.
type Name string

// The events of all clients. Which client sends which is in docs/contracts of
// this module; an event a client does not have is simply never sent.
const (
	SessionStart         Name = "SessionStart"         // a session begins, goes on, or was compacted
	SessionEnd           Name = "SessionEnd"           // a session is over
	Setup                Name = "Setup"                // one-time provisioning
	InstructionsLoaded   Name = "InstructionsLoaded"   // an instruction file enters the context
	UserPromptSubmit     Name = "UserPromptSubmit"     // a prompt is about to be sent
	UserPromptExpansion  Name = "UserPromptExpansion"  // a typed command expands
	MessageDisplay       Name = "MessageDisplay"       // text of the assistant is shown
	PreToolUse           Name = "PreToolUse"           // before a tool call
	PermissionRequest    Name = "PermissionRequest"    // a permission is to be decided
	PermissionDenied     Name = "PermissionDenied"     // the client itself refused a call
	PostToolUse          Name = "PostToolUse"          // after a call that succeeded
	PostToolUseFailure   Name = "PostToolUseFailure"   // after a call that failed
	PostToolBatch        Name = "PostToolBatch"        // all calls of one answer are done
	PreSkillShellCommand Name = "PreSkillShellCommand" // before a shell command in a skill's text
	Notification         Name = "Notification"         // the client wants the person's attention
	SubagentStart        Name = "SubagentStart"        // a subagent starts
	SubagentStop         Name = "SubagentStop"         // a subagent ends its turn
	TaskCreated          Name = "TaskCreated"          // an item of the to-do list is made
	TaskCompleted        Name = "TaskCompleted"        // an item of the to-do list is closed
	TeammateIdle         Name = "TeammateIdle"         // a teammate is about to rest
	Stop                 Name = "Stop"                 // the agent ends its turn
	StopFailure          Name = "StopFailure"          // the turn ended in an error
	PreCompact           Name = "PreCompact"           // before the context is compacted
	PostCompact          Name = "PostCompact"          // after it
	PreModelSwitch       Name = "PreModelSwitch"       // before the model changes
	PostModelSwitch      Name = "PostModelSwitch"      // after it
	ConfigChange         Name = "ConfigChange"         // a settings file changed
	CwdChanged           Name = "CwdChanged"           // a command changed the directory
	DirectoryAdded       Name = "DirectoryAdded"       // a directory was added to the session
	FileChanged          Name = "FileChanged"          // a watched file changed
	WorktreeCreate       Name = "WorktreeCreate"       // a worktree is wanted; the hook replaces git
	WorktreeRemove       Name = "WorktreeRemove"       // a worktree is to go
	Elicitation          Name = "Elicitation"          // an MCP server asks the person
	ElicitationResult    Name = "ElicitationResult"    // the person answered it

	Interrupt        Name = "Interrupt"        // Codex, OpenCode: a running turn was aborted
	PreModelRequest  Name = "PreModelRequest"  // Codex: before a request to the model
	PostModelRequest Name = "PostModelRequest" // Codex: after it

	ErrorOccurred         Name = "ErrorOccurred"         // Copilot: a model call failed
	UserPromptTransformed Name = "UserPromptTransformed" // Copilot: the prompt as the model will see it
	PreMCPToolCall        Name = "PreMcpToolCall"        // Copilot: before an MCP call, after its permission

	StatusChanged   Name = "StatusChanged"   // OpenCode: busy, retry, idle
	PermissionReply Name = "PermissionReply" // OpenCode: a permission request was answered
	QuestionAsked   Name = "QuestionAsked"   // OpenCode: the agent asks the person
	QuestionReply   Name = "QuestionReply"   // OpenCode: the question was answered
	Disposed        Name = "Disposed"        // OpenCode: the client ends
)

// Names lists every event in the order of the constants.
func Names() []Name {
	return []Name{
		SessionStart, SessionEnd, Setup, InstructionsLoaded, UserPromptSubmit, UserPromptExpansion, MessageDisplay,
		PreToolUse, PermissionRequest, PermissionDenied, PostToolUse, PostToolUseFailure, PostToolBatch, PreSkillShellCommand,
		Notification, SubagentStart, SubagentStop, TaskCreated, TaskCompleted, TeammateIdle, Stop, StopFailure, PreCompact,
		PostCompact, PreModelSwitch, PostModelSwitch, ConfigChange, CwdChanged, DirectoryAdded, FileChanged, WorktreeCreate,
		WorktreeRemove, Elicitation, ElicitationResult, Interrupt, PreModelRequest, PostModelRequest, ErrorOccurred,
		UserPromptTransformed, PreMCPToolCall, StatusChanged, PermissionReply, QuestionAsked, QuestionReply, Disposed,
	}
}
