package awake

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Schema is the version of State's JSON. A State of another version is refused.
const Schema = 1

// HoldState is one hold: what is wanted and how far it came.
type HoldState struct {
	Hold   Hold `json:"hold"`
	Wanted bool `json:"wanted"`
	// Held is the ID of the lock that is held, 0 none; Asking that of a lock
	// asked for and not yet answered.
	Held    uint64        `json:"held,omitempty"`
	Asking  uint64        `json:"asking,omitempty"`
	AskedAt time.Duration `json:"asked_at_ns,omitempty"`
	Since   event.Instant `json:"since,omitzero"`
	// RetryAt is when a denied hold is asked for again; Pause is the present
	// pause.
	RetryAt time.Duration `json:"retry_at_ns,omitempty"`
	Pause   time.Duration `json:"pause_ns,omitempty"`
	// Who and Why tell the last refusal; both empty once it is held.
	Who string `json:"who,omitempty"`
	Why string `json:"why,omitempty"`
	// Lost is since when the wanted hold has a gap the system made.
	Lost event.Instant `json:"lost,omitzero"`
}

// Stage is how far a pending suspend came.
type Stage string

const (
	// StageDelay to StageCheck keep the protection on and can be cancelled.
	StageDelay   Stage = "delay"
	StageWebhook Stage = "webhook"
	StageSound   Stage = "sound"
	// StageCheck: lid and displays are read afresh, since a lost lid event must
	// not put a machine to sleep under somebody's hands.
	StageCheck Stage = "check"
	// StageCalled: protection is released and the system was asked.
	StageCalled Stage = "called"
	// StageRetry: refused, asked again at Due.
	StageRetry Stage = "retry"
)

// Pending is the suspend under way; there is at most one.
type Pending struct {
	ID     uint64        `json:"id"` // of the effect that is waited for in this stage
	Stage  Stage         `json:"stage"`
	Due    time.Duration `json:"due_ns"` // Awake clock: end of this stage at the latest
	Mode   Mode          `json:"mode"`
	Reason Reason        `json:"reason"`
	Asked  event.Instant `json:"asked"` // the last call, then the sleep it led to
	Tries  int           `json:"tries,omitempty"`
	// Owed is the normal end that gets PostSessionEnd if this is cancelled
	// before its PreSuspend was tried.
	Owed *SessionEnd `json:"owed,omitempty"`
	// Silent pendings come from a cancel path and call no webhook.
	Silent bool `json:"silent,omitempty"`
	// Slept: the system said that it sleeps since the call.
	Slept bool `json:"slept,omitempty"`
	// Accepted: the system took the call; the sleep itself is still to come.
	Accepted bool `json:"accepted,omitempty"`
	// Told: the PreSuspend was tried already, before a restart of the runtime.
	Told bool `json:"told,omitempty"`
	// Cut: the runtime died during the last try.
	Cut     bool     `json:"cut,omitempty"`
	Celsius *float64 `json:"celsius,omitempty"`
}

// Refused is the last suspend that did not happen, for status.
type Refused struct {
	At    event.Instant `json:"at"`
	Mode  Mode          `json:"mode"`
	Tries int           `json:"tries"`
	Who   string        `json:"who,omitempty"`
	Why   string        `json:"why,omitempty"`
}

// dropping is a lock whose release was asked for and not yet confirmed.
type dropping struct {
	ID    uint64        `json:"id"`
	Hold  Hold          `json:"hold"`
	Due   time.Duration `json:"due_ns"`
	Pause time.Duration `json:"pause_ns"`
}

// late is a lock that was asked for and not answered in time; it may still be
// granted.
type late struct {
	ID    uint64        `json:"id"`
	Until time.Duration `json:"until_ns"`
}

// sending is a webhook not yet done, repeated after a crash with its own ID.
type sending struct {
	ID      uint64        `json:"id"`
	Due     time.Duration `json:"due_ns"`
	Webhook *Webhook      `json:"webhook"`
}

// State is everything the decision remembers. It is plain data; callers read it
// and change it only through Apply.
type State struct {
	Schema int    `json:"schema"`
	Config Config `json:"config"`
	NextID uint64 `json:"next_id"`

	Live    int `json:"live"`
	Holding int `json:"holding"`
	Locked  int `json:"locked"`

	Lid      Lid `json:"lid,omitempty"`
	Displays int `json:"displays"`
	// BareAt is when "no display" starts to count; 0 while a display is there
	// or unknown.
	BareAt time.Duration `json:"bare_at_ns,omitempty"`
	// SeenDisplays: displays were read once. The first reading has nothing to
	// settle from.
	SeenDisplays bool     `json:"seen_displays,omitempty"`
	Battery      Battery  `json:"battery"`
	Celsius      *float64 `json:"celsius,omitempty"` // nil: never read or unreadable

	// Busy is whether sessions kept the machine awake after the last step, whatever
	// else did: its falling edge begins ReachUntil, the end of the time that the
	// machine stays up for whoever wants to reach it. ReachFree: on battery too.
	Busy       bool          `json:"busy,omitempty"`
	ReachUntil time.Duration `json:"reach_until_ns,omitempty"`
	ReachFree  bool          `json:"reach_free,omitempty"`
	// Remote counts the logins from afar when they were last looked at; RemoteWho
	// names them, and RemoteTold says that it was told that they keep it up.
	Remote     int    `json:"remote,omitempty"`
	RemoteWho  string `json:"remote_who,omitempty"`
	RemoteTold bool   `json:"remote_told,omitempty"`
	// Network is the last reading while it mattered, OfflineSince when it was
	// first found gone, and Offline that it was for as long as the setting says.
	Network      Network       `json:"network,omitempty"`
	OfflineSince time.Duration `json:"offline_since_ns,omitempty"`
	Offline      bool          `json:"offline,omitempty"`
	// WakeAt is the wake-up that is wanted, by the wall clock, for WakeFor; WakeID
	// that of the DoWake that is waited for, WakeSet that the system took it.
	WakeAt  time.Time `json:"wake_at,omitzero"`
	WakeFor string    `json:"wake_for,omitempty"`
	WakeID  uint64    `json:"wake_id,omitempty"`
	WakeSet bool      `json:"wake_set,omitempty"`

	HeatLatch  bool `json:"heat_latch,omitempty"`
	FloorLatch bool `json:"floor_latch,omitempty"`

	Holds    []HoldState `json:"holds"`
	Dropping []dropping  `json:"dropping,omitempty"`
	// Late are unanswered Acquires that the runtime does not leave behind.
	Late    []late    `json:"late,omitempty"`
	Pending *Pending  `json:"pending,omitempty"`
	Refused *Refused  `json:"refused,omitempty"`
	Sending []sending `json:"sending,omitempty"`

	// Working is whether sessions kept the machine awake after the last step:
	// its falling edge is what starts a suspend.
	Working bool `json:"working,omitempty"`

	// RestoreID is the Restore that is waited for; Restored is set once what a
	// dead runtime left was put back.
	RestoreID  uint64        `json:"restore_id,omitempty"`
	RestoreDue time.Duration `json:"restore_due_ns,omitempty"`
	Restored   bool          `json:"restored,omitempty"`

	// ExitBy is when a final exit no longer waits for anything.
	ExitBy     time.Duration `json:"exit_by_ns,omitempty"`
	QuietSince event.Instant `json:"quiet_since,omitzero"` // zero while anything is under way
	Exiting    bool          `json:"exiting,omitempty"`    // DoExit was given out
	ExitFinal  bool          `json:"exit_final,omitempty"` // no input calls it back
	HandedOver bool          `json:"handed_over,omitempty"`

	LastWoke event.Instant `json:"last_woke,omitzero"`
	// AsleepSince is set between Sleeping and Woke.
	AsleepSince event.Instant `json:"asleep_since,omitzero"`
	// Gap is how far Boot was ahead of Awake at the last step.
	Gap time.Duration `json:"gap_ns"`
	// GapAt is when the clocks last showed a sleep, on the Awake clock.
	GapAt time.Duration `json:"gap_at_ns,omitempty"`
	Now   event.Instant `json:"now"`

	wakeAgain bool // a new process has to ask for WakeAt anew

	in     Input    // of the Apply under way
	out    []Effect // of the Apply under way
	broken Rule
}
