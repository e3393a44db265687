// Package ipc is how lidguard's processes talk to the runtime: versioned JSON
// messages, one per line, over the runtime's socket. It holds the messages, the
// framing with its bounds, and the client; it decides nothing. The hook binary
// links it, so it stays small.
package ipc

import (
	"encoding/json"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Protocol is the number of the message format. A runtime refuses another
// number with an error reply that names both, and a newer client then asks it to
// hand over (OpHandover).
const Protocol = 1

// MaxMessage bounds one message in bytes, either way.
const MaxMessage = 1 << 20

// Op is what a request asks for.
type Op string

const (
	OpSignal    Op = "signal"     // apply Signals; with Ask also tells Away
	OpAway      Op = "away"       // lid and displays only; never activity
	OpStatus    Op = "status"     // Reply.Status; never activity
	OpReload    Op = "reload"     // settings file changed
	OpRemove    Op = "remove"     // remove Request.Session, or all (Request.All)
	OpOrphans   Op = "orphans"    // sweep sessions whose process is gone
	OpWhy       Op = "why"        // Reply.Why: evidence for now or Request.At
	OpHandover  Op = "handover"   // Reply.State; the old runtime keeps holding until OpRelease
	OpRelease   Op = "release"    // the new runtime holds; the old one leaves
	OpStop      Op = "stop"       // put everything back and leave
	OpHookEvent Op = "hook-event" // only log Request.Hook
	OpDispatch  Op = "dispatch"   // ask a resident helper, Request.Dispatch
	OpPhone     Op = "phone"      // ask the person's phone, Request.Phone; never activity
)

// HandingOver is Reply.Error of a runtime that has given its state to a newer one,
// which serves in a moment: ask again.
const HandingOver = "handing over to a newer runtime"

// Request is one message to the runtime.
type Request struct {
	Protocol int            `json:"v"`
	Version  string         `json:"version"` // the sender's program version
	Op       Op             `json:"op"`
	Signals  []event.Signal `json:"signals,omitempty"`
	// Ask makes OpSignal's reply carry Away, so that a hook that reports and
	// asks pays for one round trip.
	Ask bool `json:"ask,omitempty"`
	// Here are signals that count only when the person is not away, by the
	// runtime's own knowledge of this moment; else they are dropped and the
	// hook, which then answers in the person's place, reports the outcome
	// itself. So a prompt that stays open for a person costs one round trip,
	// and one that is answered never looks as if it waited.
	Here    []event.Signal    `json:"here,omitempty"`
	Session *event.SessionKey `json:"session,omitempty"`
	All     bool              `json:"all,omitempty"`
	At      time.Time         `json:"at,omitzero"`
	Hook    *HookEvent        `json:"hook,omitempty"`
	// Telemetry is the event's record for the person's sink (docs/packs/telemetry),
	// with OpSignal and OpHookEvent: it costs no round trip of its own.
	Telemetry json.RawMessage `json:"telemetry,omitempty"`
	// Dispatch is for OpDispatch alone, Phone for OpPhone.
	Dispatch *Dispatch `json:"dispatch,omitempty"`
	Phone    *PhoneAsk `json:"phone,omitempty"`
}

// PhoneAsk puts a question to the person's phone; with ID it only looks whether that
// is answered. A question that is not looked at for some seconds is taken back:
// whoever asked is gone.
type PhoneAsk struct {
	ID      string           `json:"id,omitempty"` // as PhoneReply gave it
	Session event.SessionKey `json:"session"`
	Tool    string           `json:"tool,omitempty"`
	Title   string           `json:"title,omitempty"`
	Text    string           `json:"text,omitempty"`  // all that the call would do,
	Whole   bool             `json:"whole,omitempty"` // or else only the beginning of it
}

// PhoneReply is how a question to the phone stands.
type PhoneReply struct {
	ID     string      `json:"id,omitempty"`
	Answer PhoneAnswer `json:"answer"`
}

// PhoneAnswer is what came of a question to the phone. All but PhoneWaits are said
// once and for all.
type PhoneAnswer string

const (
	PhoneWaits PhoneAnswer = ""      // not answered yet
	PhoneAllow PhoneAnswer = "allow" // the person's
	PhoneDeny  PhoneAnswer = "deny"  // the person's
	PhoneHere  PhoneAnswer = "here"  // somebody is at the machine, or answered there
	PhoneNone  PhoneAnswer = "none"  // no answer in time, or no way to ask
)

// Dispatch is a question to a resident helper. It names the helper and not its
// command: the runtime runs only what the person's rulebook, or a project's that
// they trust, says, whoever asks.
type Dispatch struct {
	Helper   string          `json:"helper"`        // the [[handler]]'s name
	Cwd      string          `json:"cwd,omitempty"` // the folder whose rulebooks count
	Provider event.Provider  `json:"provider"`
	Native   string          `json:"native"`
	Event    json.RawMessage `json:"event"` // the client's payload, on one line
	// DeadlineMS is how long an answer is of use, in milliseconds.
	DeadlineMS int64 `json:"deadline_ms"`
}

// Dispatched is what a helper answered.
type Dispatched struct {
	Verdict json.RawMessage `json:"verdict,omitempty"` // see docs/resident.md
	Error   string          `json:"error,omitempty"`   // its failure
}

// ByPhone is behind HookEvent.Answer where the person gave it from their phone.
const ByPhone = " by phone"

// HookEvent is one line of the bounded log that `hook-events` prints.
type HookEvent struct {
	Time     time.Time       `json:"time"` // UTC
	Provider event.Provider  `json:"provider"`
	Event    string          `json:"event"` // the client's own name
	Session  event.SessionID `json:"session,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Prompt   string          `json:"prompt,omitempty"` // preview; empty when prompt-previews is off
	Answer   string          `json:"answer,omitempty"` // what the hook answered, if anything
	Error    string          `json:"error,omitempty"`
}

// Away is what a closed-lid policy needs to know. Unknown is never away.
type Away struct {
	Lid      string `json:"lid"`      // open, closed, unknown
	Displays int    `json:"displays"` // suspend-blocking displays; -1 unknown
	Away     bool   `json:"away"`
}

// Reply is the runtime's answer to one request.
type Reply struct {
	Protocol int             `json:"v"`
	Version  string          `json:"version"`
	OK       bool            `json:"ok"`
	Error    string          `json:"error,omitempty"`
	Away     *Away           `json:"away,omitempty"`
	Status   *Status         `json:"status,omitempty"`
	Why      json.RawMessage `json:"why,omitempty"`
	State    json.RawMessage `json:"state,omitempty"`
	Removed  int             `json:"removed,omitempty"`
	// Owner asks the hook to name the session's process: the runtime knows
	// none. It is asked for once, since finding it costs the hook a walk.
	Owner bool `json:"owner,omitempty"`
	// Dispatched is the answer to OpDispatch. A helper that was not asked at all is
	// a refusal (Error) instead.
	Dispatched *Dispatched `json:"dispatched,omitempty"`
	Phone      *PhoneReply `json:"phone,omitempty"`
}

// Status is what `status --json` prints under "runtime": the runtime's own view
// and, in Held, what the system itself confirmed.
type Status struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// Config and State are the folders that the runtime goes by, which follow from
	// the environment of whoever started it; empty: one of a version before them.
	Config    string    `json:"config_folder,omitempty"`
	State     string    `json:"state_folder,omitempty"`
	Sessions  []Session `json:"sessions"`
	Protected bool      `json:"protected"` // lidguard wants the machine awake
	Held      []Hold    `json:"held"`      // read back from the system
	Lid       string    `json:"lid"`
	Displays  int       `json:"displays"` // suspend-blocking displays; -1 unknown
	Away      bool      `json:"away"`
	OnBattery *bool     `json:"on_battery,omitempty"`
	Battery   *float64  `json:"battery_percent,omitempty"`
	// BatteryMinutes is how long the battery lasts at the current drain.
	BatteryMinutes *int `json:"battery_minutes,omitempty"`
	// LidHandlers are other programs that take the closing of the lid away from
	// the system, to handle it themselves.
	LidHandlers []string  `json:"lid_handlers,omitempty"`
	Celsius     *float64  `json:"celsius,omitempty"`
	Suspend     *Pending  `json:"pending_suspend,omitempty"`
	Findings    []Finding `json:"findings,omitempty"`
	ExitsAt     time.Time `json:"exits_at,omitzero"`
	LastWakeup  time.Time `json:"last_wakeup,omitzero"`
	// ReachableUntil: the work is over, and the machine stays up till then.
	ReachableUntil time.Time `json:"reachable_until,omitzero"`
	// RemoteLogins names who is logged in from afar and keeps the machine up.
	RemoteLogins string `json:"remote_logins,omitempty"`
	// WakesAt is when the system was asked to wake up.
	WakesAt time.Time `json:"wakes_at,omitzero"`
	// Telemetry tells about what waits for the person's sink; nil while the pack is
	// off.
	Telemetry *Telemetry `json:"telemetry,omitempty"`
}

// Telemetry is the state of the telemetry pack's spool.
type Telemetry struct {
	Waiting  int64     `json:"waiting"` // events on disk
	Bytes    int64     `json:"bytes"`
	Sent     int64     `json:"sent"`               // ever, as the next two
	Dropped  int64     `json:"dropped"`            // beyond the bounds, before the sink took them
	Refused  int64     `json:"refused"`            // which the sink will never take
	Failures int       `json:"failures,omitempty"` // of the sink, in a row
	Error    string    `json:"error,omitempty"`    // of the last failure
	NextTry  time.Time `json:"next_try,omitzero"`
}

// Session is one tracked session as shown to people.
type Session struct {
	Key        event.SessionKey `json:"key"`
	State      string           `json:"state"`  // working, tool, background, waiting, settling, idle
	Holds      bool             `json:"holds"`  // keeps the machine awake now
	Reason     string           `json:"reason"` // why it holds or does not
	Since      time.Time        `json:"since"`  // start of the session
	Activity   time.Time        `json:"activity"`
	SoftLock   string           `json:"soft_lock,omitempty"`
	SoftLocked time.Time        `json:"soft_locked_at,omitzero"`
	Cwd        string           `json:"cwd,omitempty"`
	Prompt     string           `json:"prompt,omitempty"`
	Process    *event.Process   `json:"process,omitempty"`
	Transcript string           `json:"transcript,omitempty"`
	Tools      int              `json:"tools_in_flight,omitempty"`
	Tasks      []event.Task     `json:"tasks,omitempty"`
	Todos      int              `json:"todos,omitempty"`
	TimesOut   time.Time        `json:"times_out,omitzero"`
}

// Hold is one keep-awake lock: what was asked for and what the system says.
type Hold struct {
	What      string    `json:"what"`      // idle, handle-lid-switch, sleep, session-bus, …
	Confirmed bool      `json:"confirmed"` // the system lists it
	Since     time.Time `json:"since,omitzero"`
	Error     string    `json:"error,omitempty"` // why it is not held, with the remedy
}

// Pending is a suspend that is under way.
type Pending struct {
	Due    time.Time `json:"due"` // the end of the stage
	Mode   string    `json:"mode"`
	Reason string    `json:"reason"`
	Stage  string    `json:"stage"` // delay, webhook, sound, check, called, retry
}

// Finding is something a person should know: see docs/findings.
type Finding struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}
