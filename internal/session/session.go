// Package session knows which agent sessions work, wait or are idle. In come
// observations (event.Signal from hooks, transcripts and commands; process
// exits; signs of life of a running tool; settings; time), out come Changes and
// the count of sessions that hold the machine awake. It is a reducer: it reads
// no clock, file or environment, starts nothing, and hands every deadline back
// (State.Next), so that a recorded run replays to the same decisions.
package session

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Settle is how long a session that said Stop still counts as working. A goal
// turn or a blocked Stop starts the next turn within milliseconds (measured,
// Codex contract §5, Claude contract §1 fact 5); two seconds cover a loaded
// machine, and the person waits no longer for the machine to sleep than that.
const Settle = 2 * time.Second

// Echo is how long after a prompt's hook the transcript's record of it may come.
// Copilot writes its log in batches about half a second apart (measured, 1.0.102):
// a short turn is over by then.
const Echo = 5 * time.Second

// CarryOver is how long a session that closed in order to go on under a new id
// (clear, resume, fork) waits for its successor in the same process. The two
// hooks follow each other within milliseconds; ten seconds cover a start-up that
// runs slow hooks of others first (guessed).
const CarryOver = 10 * time.Second

// Bounds of what one session may remember; all are far above anything measured
// and keep a misbehaving client from growing the state.
const (
	MaxEvidence = 32  // entries per session kept for `why`
	maxLedger   = 256 // tools, tasks and to-do items each
)

// Config is what the settings say about sessions. The zero value has every
// bound off. Durations of zero mean "off" where the field says so.
type Config struct {
	// Timeout is the inactivity after which a session is soft-locked; 0 is off.
	Timeout time.Duration `json:"timeout_ns"`
	// Grace is how long a session that waits for a person goes on holding the
	// machine, so that the answer may come from a phone.
	Grace time.Duration `json:"grace_ns"`
	// MaxTool bounds how long signs of life of a silent tool or background
	// command count after the last real activity; 0 is no bound.
	MaxTool time.Duration `json:"max_tool_ns"`
	// MaxBackground bounds how long monitors, crons and idle teammates alone
	// hold the machine; 0 is no bound.
	MaxBackground time.Duration `json:"max_background_ns"`
	// IgnoreProcesses turns off the watching of agent processes
	// (watch-parent-process off).
	IgnoreProcesses bool `json:"ignore_processes,omitempty"`
}

// Phase is where a session stands.
type Phase string

const (
	// Idle: known to the client but not at work; holds nothing, is not counted.
	Idle Phase = "idle"
	// Working: a turn runs, or a Stop left work in flight (Session.Pending).
	Working Phase = "working"
	// Settling: said Stop with nothing in flight; ends at Session.SettleAt.
	Settling Phase = "settling"
	// Carrying: closed to go on under a new id; ends at Session.SettleAt
	// unless a successor in the same process takes the work over.
	Carrying Phase = "carrying"
	// Gone: closed, removed or dead. Kept a short while so that stragglers of
	// it do not bring it back; only a new prompt or start does.
	Gone Phase = "gone"
)

// Soft-lock reasons that the registry itself gives; others come with signals.
const (
	ReasonTimeout    = "session_timeout"
	ReasonBackground = "max_background_time"
)

// EndKind says how a session ended, which decides about webhooks.
type EndKind string

const (
	// Normal: the agent finished, failed or was closed by its client.
	Normal EndKind = "normal"
	// Interrupted: a person or hook aborted the turn; no PostSessionEnd.
	Interrupted EndKind = "interrupted"
	// Cancelled: removed by hand, process gone, orphan; no webhook at all.
	Cancelled EndKind = "cancelled"
)

// SoftLock says that a session waits for a person.
type SoftLock struct {
	Reason string        `json:"reason"`
	At     event.Instant `json:"at"`
	// HoldsUntil is the end of the grace on the Awake clock; 0 is none.
	HoldsUntil time.Duration `json:"holds_until_ns,omitempty"`
	AgentID    string        `json:"agent_id,omitempty"`
	// ToolUse is the call the dialog is about, where known: the end of another,
	// parallel call is no answer.
	ToolUse string `json:"tool_use,omitempty"`
}

// Evidence is one entry of a session's memory for `why`.
type Evidence struct {
	At      event.Instant  `json:"at"`
	What    string         `json:"what"`             // our word: a signal kind, "timeout", "settled", …
	Source  string         `json:"source,omitempty"` // who said so
	Offset  int64          `json:"offset,omitempty"` // transcript offset in bytes
	Process *event.Process `json:"process,omitempty"`
	// Deadline is when the session will next change by itself, on the Awake
	// clock after this entry; 0 is never.
	Deadline time.Duration `json:"deadline_ns,omitempty"`
	Holds    bool          `json:"holds"` // keeps the machine awake after this entry
	// Times counts how often the same thing was said in a row; At is the first
	// and Last the latest time.
	Times int           `json:"times,omitempty"`
	Last  event.Instant `json:"last,omitzero"`
}

// Tool is a tool call in flight.
type Tool struct {
	ID      string        `json:"id"`
	Name    string        `json:"name,omitempty"`
	AgentID string        `json:"agent_id,omitempty"`
	Began   event.Instant `json:"began"`
}

// Session is one tracked session. Callers only read it.
type Session struct {
	Key     event.SessionKey `json:"key"`
	Phase   Phase            `json:"phase"`
	Started event.Instant    `json:"started"` // of the present piece of work
	// EchoUntil is until when, on the Awake clock, a record of a new turn in the
	// transcript is taken for that of the last prompt, which its hook told of; 0 once
	// it was read.
	EchoUntil time.Duration `json:"echo_until_ns,omitempty"`
	Activity  event.Instant `json:"activity"` // last real sign of work
	// Busy is the last sign of life of a tool or background command (process
	// tree uses CPU, output grows); never counts without one in flight.
	Busy     time.Duration `json:"busy_ns,omitempty"`
	SettleAt time.Duration `json:"settle_at_ns,omitempty"`

	// Pending: the root said Stop while Tasks were in flight.
	Pending bool `json:"pending,omitempty"`
	// Abandoned: pending work showed no life for the timeout.
	Abandoned bool `json:"abandoned,omitempty"`
	// WeakSince is since when only monitors, crons and idle teammates are left.
	WeakSince time.Duration `json:"weak_since_ns,omitempty"`
	// Noticed: a person was told that this background work no longer holds.
	Noticed bool `json:"noticed,omitempty"`
	// End is how the session will end once it settled.
	End       EndKind `json:"end,omitempty"`
	EndReason string  `json:"end_reason,omitempty"`
	// EndOffset is the transcript offset of the record that ended it, 0 if a
	// hook did: only later records may restart it.
	EndOffset int64 `json:"end_offset,omitempty"`

	Lock *SoftLock `json:"lock,omitempty"`
	// Dialog is a soft lock of one agent that another agent's work lifted; it
	// comes back when that work ends.
	Dialog *SoftLock `json:"dialog,omitempty"`

	Tools []Tool       `json:"tools,omitempty"`
	Tasks []event.Task `json:"tasks,omitempty"`
	Todos []string     `json:"todos,omitempty"` // open to-do ids: shown, hold nothing

	Process     *event.Process `json:"process,omitempty"`
	Cwd         string         `json:"cwd,omitempty"`
	Transcript  string         `json:"transcript,omitempty"`
	Prompt      string         `json:"prompt,omitempty"`
	LastMessage string         `json:"last_message,omitempty"`

	Evidence []Evidence `json:"evidence,omitempty"`

	due   time.Duration // next deadline on the Awake clock; 0 none
	heap  int           // place in the deadline heap; -1 none
	order uint64        // creation number: the order sessions are shown in
	holds bool          // counted in State.holding
	lives bool          // counted in State.live
	locks bool          // counted in State.locked
}

// ChangeKind is what happened to a session.
type ChangeKind string

const (
	Began     ChangeKind = "began"     // work started, or an ended session works again
	Ended     ChangeKind = "ended"     // once per piece of work; see Change.End
	Locked    ChangeKind = "locked"    // soft lock set
	Unlocked  ChangeKind = "unlocked"  // soft lock gone, session works on
	Deferred  ChangeKind = "deferred"  // Stop with work in flight
	Abandoned ChangeKind = "abandoned" // pending work given up before a timeout
	Carried   ChangeKind = "carried"   // work went on under Change.To
	Noticed   ChangeKind = "noticed"   // something a person should read: Change.Text
	GraceOver ChangeKind = "grace-over"
)

// Change is one thing that happened. The order of changes is the order of
// causes.
type Change struct {
	Kind   ChangeKind        `json:"kind"`
	Key    event.SessionKey  `json:"key"`
	At     event.Instant     `json:"at"`
	Reason string            `json:"reason,omitempty"`
	End    EndKind           `json:"end,omitempty"`
	To     *event.SessionKey `json:"to,omitempty"`
	Text   string            `json:"text,omitempty"`
	// Session is what was known when the change happened; a copy.
	Session Info `json:"session"`
}

// Info is the part of a session that webhooks and notifications tell.
type Info struct {
	Started     event.Instant `json:"started"`
	Activity    event.Instant `json:"activity"`
	Cwd         string        `json:"cwd,omitempty"`
	Transcript  string        `json:"transcript,omitempty"`
	Prompt      string        `json:"prompt,omitempty"`
	LastMessage string        `json:"last_message,omitempty"`
}

// InputKind is what kind of observation an Input is.
type InputKind string

const (
	// InSignal applies Input.Signal.
	InSignal InputKind = "signal"
	// InExited says that Input.Process ended. Ends its sessions unless the
	// process is Shared. A caller that cannot watch a process of a new session
	// because it is already gone must send this too.
	InExited InputKind = "exited"
	// InOrphans says that the sweep found the process of Input.Keys gone.
	InOrphans InputKind = "orphans"
	// InBusy says that Input.Keys showed life: the agent's process tree used
	// CPU or a tool's output grew. Counts only for work in flight.
	InBusy InputKind = "busy"
	// InRemoveAll removes every session by hand.
	InRemoveAll InputKind = "remove-all"
	// InConfig replaces the configuration (Input.Config).
	InConfig InputKind = "config"
	// InTick lets deadlines pass. Every other input does so too, first.
	InTick InputKind = "tick"
)

// Input is one observation. It is plain data, so that a log of inputs replays.
type Input struct {
	Kind    InputKind          `json:"kind"`
	Signal  *event.Signal      `json:"signal,omitempty"`
	Process *event.Process     `json:"process,omitempty"`
	Keys    []event.SessionKey `json:"keys,omitempty"`
	Config  *Config            `json:"config,omitempty"`
}

// Summary is what the awake decision needs to know of all sessions.
type Summary struct {
	Live    int `json:"live"`    // working, waiting or settling
	Holding int `json:"holding"` // live and not soft-locked (or within grace)
	Locked  int `json:"locked"`  // live and soft-locked
}
