// Package event holds lidguard's own words: what an agent's client told a hook
// (Event), what a hook answers (Verdict), and what that means for a tracked
// session (Signal). Codecs translate client payloads into these and back; every
// other package speaks only these. It is plain data: it imports nothing of ours
// and never reads a clock, a file or the environment.
package event

import "encoding/json"

// Provider is the client a session belongs to.
type Provider string

// The providers lidguard knows. MCP sessions also need a provider name
// (SessionKey.Name); Custom is what `lidguard start` uses for anything else.
const (
	Claude   Provider = "claude"
	Codex    Provider = "codex"
	Copilot  Provider = "copilot"
	OpenCode Provider = "opencode"
	MCP      Provider = "mcp"
	Custom   Provider = "custom"
)

// Providers lists every provider in the order they are shown.
func Providers() []Provider { return []Provider{Codex, Claude, Copilot, OpenCode, MCP, Custom} }

// ParseProvider returns the provider named s, and false when there is none.
func ParseProvider(s string) (Provider, bool) {
	for _, p := range Providers() {
		if string(p) == s {
			return p, true
		}
	}
	return "", false
}

// SessionID is the client's own id of a session.
type SessionID string

// SessionKey identifies a session. Two MCP providers may reuse one id, so for
// MCP the provider's name is part of the identity; elsewhere Name is empty.
type SessionKey struct {
	Provider Provider  `json:"provider"`
	ID       SessionID `json:"session_id"`
	Name     string    `json:"provider_name,omitempty"`
}

// CanaryPrefix begins the session ids with which lidguard proves installed hooks.
// No runtime is ever started for such a session.
const CanaryPrefix = "lidguard-canary-"

// String renders the key for people and logs: "claude:1234" or "mcp(name):1234".
func (k SessionKey) String() string {
	if k.Name != "" {
		return string(k.Provider) + "(" + k.Name + "):" + string(k.ID)
	}
	return string(k.Provider) + ":" + string(k.ID)
}

// Name is the canonical name of a client event. Claude Code's names are the
// superset and so the canonical ones; the codecs of other clients map theirs.
type Name string

// Every event lidguard has a word for. Which client sends which, and when, is
// in docs/contracts.
const (
	SessionStart         Name = "SessionStart"
	SessionEnd           Name = "SessionEnd"
	Setup                Name = "Setup"
	InstructionsLoaded   Name = "InstructionsLoaded"
	UserPromptSubmit     Name = "UserPromptSubmit"
	UserPromptExpansion  Name = "UserPromptExpansion"
	MessageDisplay       Name = "MessageDisplay"
	PreToolUse           Name = "PreToolUse"
	PermissionRequest    Name = "PermissionRequest"
	PermissionDenied     Name = "PermissionDenied"
	PostToolUse          Name = "PostToolUse"
	PostToolUseFailure   Name = "PostToolUseFailure"
	PostToolBatch        Name = "PostToolBatch"
	PreSkillShellCommand Name = "PreSkillShellCommand"
	Notification         Name = "Notification"
	SubagentStart        Name = "SubagentStart"
	SubagentStop         Name = "SubagentStop"
	TaskCreated          Name = "TaskCreated"
	TaskCompleted        Name = "TaskCompleted"
	TeammateIdle         Name = "TeammateIdle"
	Stop                 Name = "Stop"
	StopFailure          Name = "StopFailure"
	PreCompact           Name = "PreCompact"
	PostCompact          Name = "PostCompact"
	PreModelSwitch       Name = "PreModelSwitch"
	PostModelSwitch      Name = "PostModelSwitch"
	ConfigChange         Name = "ConfigChange"
	CwdChanged           Name = "CwdChanged"
	DirectoryAdded       Name = "DirectoryAdded"
	FileChanged          Name = "FileChanged"
	WorktreeCreate       Name = "WorktreeCreate"
	WorktreeRemove       Name = "WorktreeRemove"
	Elicitation          Name = "Elicitation"
	ElicitationResult    Name = "ElicitationResult"

	// Codex only (contracts/codex §2).
	Interrupt        Name = "Interrupt"
	PreModelRequest  Name = "PreModelRequest"
	PostModelRequest Name = "PostModelRequest"

	// Copilot only (contracts/copilot §2).
	ErrorOccurred         Name = "ErrorOccurred"
	UserPromptTransformed Name = "UserPromptTransformed"
	PreMCPToolCall        Name = "PreMcpToolCall"

	// OpenCode only: states its plugin reports (contracts/opencode §2).
	StatusChanged   Name = "StatusChanged"
	PermissionReply Name = "PermissionReply"
	QuestionAsked   Name = "QuestionAsked"
	QuestionReply   Name = "QuestionReply"
	Disposed        Name = "Disposed"
)

// Names lists every event, in the order of the constants.
func Names() []Name {
	return []Name{
		SessionStart, SessionEnd, Setup, InstructionsLoaded, UserPromptSubmit, UserPromptExpansion, MessageDisplay,
		PreToolUse, PermissionRequest, PermissionDenied, PostToolUse, PostToolUseFailure, PostToolBatch,
		PreSkillShellCommand, Notification, SubagentStart, SubagentStop, TaskCreated, TaskCompleted, TeammateIdle,
		Stop, StopFailure, PreCompact, PostCompact, PreModelSwitch, PostModelSwitch, ConfigChange, CwdChanged,
		DirectoryAdded, FileChanged, WorktreeCreate, WorktreeRemove, Elicitation, ElicitationResult, Interrupt,
		PreModelRequest, PostModelRequest, ErrorOccurred, UserPromptTransformed, PreMCPToolCall, StatusChanged,
		PermissionReply, QuestionAsked, QuestionReply, Disposed,
	}
}

// Event is one thing a client told a hook, in our words. Fields a client does
// not send stay zero; nothing is invented. Raw is the payload as it came, so
// that unknown fields are kept for handlers that want them.
type Event struct {
	Provider Provider
	Name     Name
	Native   string // the client's own spelling of the event
	Session  SessionKey
	TurnID   string

	// AgentID and AgentType are set when the event comes from a subagent.
	AgentID, AgentType string

	Cwd             string
	TranscriptPath  string
	AgentTranscript string // SubagentStop: the subagent's own file
	PermissionMode  string
	Model           string
	ClientPID       int // the client's pid where the client names it, else 0

	Tool         *Tool
	Prompt       string
	Source       string // SessionStart: startup, resume, clear, compact, fork; UserPromptSubmit: see Notified
	Reason       string // SessionEnd, PermissionDenied, Stop: the client's reason
	Trigger      string // compaction: manual or auto
	Notification *Note
	StopActive   bool   // a Stop hook already continued this turn
	LastMessage  string // Stop: the assistant's last text
	Error        string // failure events: the client's text

	// Tasks and Crons are what the client says is in flight; nil means that
	// it did not say, empty means that it said "nothing".
	Tasks []Task
	Crons []Cron

	Elicitation *Elicit
	Path        string // ConfigChange, FileChanged, InstructionsLoaded, Worktree*: the file or folder concerned

	Raw json.RawMessage
}

// Tool is a tool call inside an event.
type Tool struct {
	Name        string
	Input       json.RawMessage
	UseID       string
	Response    json.RawMessage
	Error       string
	Interrupted bool
	MCPServer   string // server name where the call goes to an MCP server
	Suggestions json.RawMessage
}

// Notified is the Source of a prompt that nobody wrote: the client tells the model of
// work in the background, or a hook woke it.
const Notified = "notification"

// Note is a client's notification.
type Note struct{ Type, Title, Message string }

// Elicit is an MCP server's question to the person.
type Elicit struct {
	Server, Mode, Message, URL, ID string
	Schema                         json.RawMessage
	Action                         string
}

// TaskType says what kind of work is in flight, since kinds weigh differently:
// see sessions spec "Background work".
type TaskType string

// Task types. An unknown type is kept as the client spelled it and weighs like
// a shell.
const (
	TaskShell    TaskType = "shell"
	TaskSubagent TaskType = "subagent"
	TaskMonitor  TaskType = "monitor"
	TaskTeammate TaskType = "teammate"
	TaskCron     TaskType = "cron"
	TaskTodo     TaskType = "todo"
)

// Task is a piece of work that outlives the tool call that started it.
type Task struct {
	ID          string   `json:"id"`
	Type        TaskType `json:"type"`
	Description string   `json:"description,omitempty"`
	Idle        bool     `json:"idle,omitempty"` // known to be waiting, e.g. an idle teammate
}

// Cron is a wake-up the client has scheduled for itself.
type Cron struct {
	ID       string `json:"id"`
	Schedule string `json:"schedule,omitempty"`
}
