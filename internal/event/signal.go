package event

import "time"

// SignalKind is what an observation means for a tracked session. Hooks, the
// transcript tailer, MCP servers and the command line all report in these.
type SignalKind string

const (
	// Opened: the client has a session but no work yet (SessionStart). It
	// never holds the machine. With the same process it hands over the work
	// of a session that closed with a reason that continues (clear, resume).
	Opened SignalKind = "opened"
	// Began: work of the root session starts or goes on with a new prompt.
	Began SignalKind = "began"
	// Active: any other sign of life of the root session or a subagent.
	Active SignalKind = "active"
	// ToolBegan and ToolEnded bracket one tool call (Signal.ToolUse).
	ToolBegan SignalKind = "tool-began"
	ToolEnded SignalKind = "tool-ended"
	// Waiting: the session waits for a person (soft lock, Signal.Reason).
	Waiting SignalKind = "waiting"
	// Resumed: the person answered; clears a soft lock.
	Resumed SignalKind = "resumed"
	// TaskBegan and TaskEnded change the ledger of background work. Neither
	// starts a session.
	TaskBegan SignalKind = "task-began"
	TaskEnded SignalKind = "task-ended"
	// Stopped: the agent finished a turn. Signal.Tasks, where not nil, is the
	// client's own list of what is still in flight and replaces the ledger.
	Stopped SignalKind = "stopped"
	// Interrupted: the person or a hook aborted the turn; not a normal end.
	Interrupted SignalKind = "interrupted"
	// Failed: the turn ended in an error; a normal end for bookkeeping.
	Failed SignalKind = "failed"
	// Closed: the client ended the session (SessionEnd).
	Closed SignalKind = "closed"
	// Removed: a person removed the session by hand; a cancel path.
	Removed SignalKind = "removed"
)

// SoftLockTool is the tool of lidguard's MCP server with which an agent says that
// its session waits for a person. Clients show it under a name that ends so.
const SoftLockTool = "set_session_soft_lock"

// Process is a process identity: a pid alone may be reused, so it is always
// paired with its start time.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // opaque, comparable; Linux: field 22 of /proc/PID/stat, in clock ticks
	// Shared marks a daemon that serves many sessions (Codex's managed
	// daemon): its life proves nothing about one session.
	Shared bool `json:"shared,omitempty"`
}

// Signal is one observation about one session. It carries no time: whoever
// applies it stamps it, so that a hook's clock never matters.
type Signal struct {
	Kind    SignalKind `json:"kind"`
	Session SessionKey `json:"session"`
	// Source is the evidence, for `why`: "hook Stop", "transcript turn_aborted",
	// "cli stop", "mcp provider_stop_session".
	Source string `json:"source"`
	// Offset is the transcript offset of the evidence in bytes, 0 elsewhere.
	Offset int64 `json:"offset,omitempty"`

	Reason      string   `json:"reason,omitempty"` // soft-lock or end reason
	AgentID     string   `json:"agent_id,omitempty"`
	ToolUse     string   `json:"tool_use,omitempty"`
	Tool        string   `json:"tool,omitempty"`
	Task        *Task    `json:"task,omitempty"`
	Tasks       []Task   `json:"tasks,omitzero"` // nil: not said; empty: nothing in flight
	Cwd         string   `json:"cwd,omitempty"`
	Transcript  string   `json:"transcript,omitempty"`
	Prompt      string   `json:"prompt,omitempty"` // preview, already cut (Preview)
	LastMessage string   `json:"last_message,omitempty"`
	Process     *Process `json:"process,omitempty"`
	// Continues marks a Closed whose work goes on under a new id in the same
	// process (clear, resume, fork, plan approved with cleared context).
	Continues bool `json:"continues,omitempty"`
	// Resets is when the limit that a Failed tells of is over; zero: not said.
	Resets time.Time `json:"resets,omitzero"`
}
