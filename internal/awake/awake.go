// Package awake decides what keeps the machine awake and when it may sleep. In
// come a summary of the sessions and what ended, lid, displays, battery, heat,
// results of earlier effects, and time; out come Effects: take or drop a hold,
// call a webhook, play the sound, suspend, write history, leave. It is a
// reducer: it reads no clock and touches no system, and every deadline goes back
// to the caller (State.Next).
//
// It also declares Machine, the interface the effect runner needs; the fake
// laptop (fakelaptop) and the suite every machine passes (machinetest) lie
// beside it.
package awake

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Measured or chosen times. All run on the Awake clock of event.Instant, which
// stands still while the machine sleeps, except where a comment says Boot.
const (
	// DisplaySettle is how long the last display must be gone before "no
	// display" counts: docks and mode switches drop displays for seconds.
	DisplaySettle = 30 * time.Second
	// WebhookLimit bounds one webhook; a PreSuspend is not waited for longer.
	WebhookLimit = 5 * time.Second
	// SoundLimit bounds the warning sound; a player that hangs must not keep a
	// closed machine awake (guessed; system sounds last under three seconds).
	SoundLimit = 30 * time.Second
	// SuspendLimit is how long a suspend may go without answer or sleep before
	// it counts as a failed try. logind waits 5 s for delay locks by default,
	// and up to 30 s are configured in the wild.
	SuspendLimit = 90 * time.Second
	// SuspendRetry is the pause after a refused suspend, and SuspendTries how
	// often it is asked for in all.
	SuspendRetry = 5 * time.Second
	SuspendTries = 3
	// RetryFirst and RetryMost bound the doubling pause after a denied or
	// failed hold.
	RetryFirst = time.Second
	RetryMost  = 5 * time.Minute
	// CheckLimit is how long the reading before a suspend may take; without an
	// answer the machine is not away.
	CheckLimit = 5 * time.Second
	// LeaveLimit is how long a final exit waits for releases and webhooks.
	LeaveLimit = 10 * time.Second
	// AnswerLimit is how long an Acquire, Release or Restore may go without an
	// answer before it is asked again.
	AnswerLimit = 30 * time.Second
	// HeatPoll is how often heat wants to be read while WantsHeat.
	HeatPoll = 10 * time.Second
	// SlowPoll is how often the network wants to be looked at while WantsNetwork,
	// and the logins from afar while WantsRemote.
	SlowPoll = 30 * time.Second
	// ResetStay is how long a machine that woke for the end of a limit stays up,
	// so that a client that goes on by itself can (chosen: it takes one prompt).
	ResetStay = 10 * time.Minute
	// ResetMost is the longest that a wake-up is asked for ahead: a weekly limit
	// and a day.
	ResetMost = 8 * 24 * time.Hour
	// FloorHysteresis is how many points above the floor end the battery latch,
	// HeatHysteresis how many degrees below the threshold end the heat latch.
	FloorHysteresis = 3.0
	HeatHysteresis  = 3.0
	// GapSlept: Boot running ahead of Awake by more than this is a sleep,
	// announced or not.
	GapSlept = 2 * time.Second
	// GapStale is how long after such a sleep its announcements may still come.
	GapStale = 2 * time.Second
)

// Hold is one kind of keep-awake lock.
type Hold string

const (
	HoldIdle    Hold = "idle"              // no idle sleep
	HoldLid     Hold = "handle-lid-switch" // closing the lid does nothing
	HoldDisplay Hold = "display"           // the display stays on
	HoldSleep   Hold = "sleep"             // strict: nobody may suspend, not even the user
)

// Holds lists every hold in the order they are taken.
func Holds() []Hold { return []Hold{HoldIdle, HoldLid, HoldDisplay, HoldSleep} }

// Lid is what is known of the lid. The zero value is unknown, which is never
// closed.
type Lid string

const (
	LidUnknown Lid = ""
	LidOpen    Lid = "open"
	LidClosed  Lid = "closed"
)

// String names the state for people; unknown has a word.
func (l Lid) String() string {
	if l == LidUnknown {
		return "unknown"
	}
	return string(l)
}

// Network is what is known of the way out. The zero value is unknown, which is
// never lost.
type Network string

const (
	NetworkUnknown Network = ""
	NetworkUp      Network = "up"
	NetworkDown    Network = "down"
)

// Mode is how the machine goes to sleep.
type Mode string

const (
	Sleep     Mode = "sleep"
	Hibernate Mode = "hibernate"
	NoSuspend Mode = "none" // the suspend-mode setting only: never suspend, just release
)

// Reason is why a suspend is wanted. The first four are webhook reasons of the
// contract, NetworkLost is one of ours; Released is a suspend after a cancel path,
// which calls no webhook.
type Reason string

const (
	Completed            Reason = "Completed"
	SoftLocked           Reason = "SoftLocked"
	EmergencyHibernation Reason = "EmergencyHibernation"
	BatteryFloor         Reason = "BatteryFloor"
	Released             Reason = "Released"
	NetworkLost          Reason = "NetworkLost"  // network-lost-release
	SessionEnded         Reason = "SessionEnded" // PostSessionEnd's only reason
)

// UnknownDisplays is the count where displays cannot be read. Unknown is never
// "no display".
const UnknownDisplays = -1

// Battery is a reading. Known false means no battery or no reading, and
// triggers nothing.
type Battery struct {
	Known     bool    `json:"known"`
	OnBattery bool    `json:"on_battery"`
	Percent   float64 `json:"percent"`
}

// Config is what the settings say; the daemon maps it. The zero value holds
// nothing, suspends never and leaves at once.
type Config struct {
	PreventIdle    bool `json:"prevent_idle"`
	Strict         bool `json:"strict,omitempty"` // with PreventIdle: also HoldSleep
	PreventDisplay bool `json:"prevent_display,omitempty"`
	ChangeLid      bool `json:"change_lid"`

	SuspendMode  Mode          `json:"suspend_mode"`
	SuspendDelay time.Duration `json:"suspend_delay_ns"`
	Sound        bool          `json:"sound,omitempty"`

	PreSuspendWebhook     bool `json:"pre_suspend_webhook,omitempty"`
	PostSessionEndWebhook bool `json:"post_session_end_webhook,omitempty"`

	// ExitDelay is how long the runtime stays after the last session (Boot
	// clock); 0 leaves at once, negative never.
	ExitDelay time.Duration `json:"exit_delay_ns"`

	EmergencyHibernation bool    `json:"emergency_hibernation"`
	EmergencyCelsius     float64 `json:"emergency_celsius"` // clamped to 70–110

	FloorPercent     float64 `json:"floor_percent"` // 0 is off
	ProtectOnBattery bool    `json:"protect_on_battery"`

	// Reachable is how long the machine stays up once the last work is over, on
	// mains or where ReachableOnBattery allows it; 0 is off.
	Reachable          time.Duration `json:"reachable_ns,omitempty"`
	ReachableOnBattery bool          `json:"reachable_on_battery,omitempty"`
	// CountRemote has logins from afar keep a machine up that work had kept up.
	CountRemote bool `json:"count_remote,omitempty"`
	// Offline is how long the network may be gone with nobody there until that is
	// told; 0 is off. With OfflineRelease the work no longer holds then.
	Offline        time.Duration `json:"offline_ns,omitempty"`
	OfflineRelease bool          `json:"offline_release,omitempty"`
	// WakeAtReset has the machine wake when the limit that ended a turn is over.
	WakeAtReset bool `json:"wake_at_reset,omitempty"`
}

// SessionEnd is the end of one session, as webhooks tell it.
type SessionEnd struct {
	Key         event.SessionKey `json:"key"`
	Normal      bool             `json:"normal"`    // only a normal end yields a webhook
	Cancelled   bool             `json:"cancelled"` // removed, process gone, orphan
	Reason      string           `json:"reason"`
	Started     event.Instant    `json:"started"`
	Activity    event.Instant    `json:"activity"`
	Ended       event.Instant    `json:"ended"`
	Cwd         string           `json:"cwd,omitempty"`
	Transcript  string           `json:"transcript,omitempty"`
	Prompt      string           `json:"prompt,omitempty"`
	LastMessage string           `json:"last_message,omitempty"`
}

// InputKind is what kind of fact an Input is.
type InputKind string

const (
	// InSessions: Live, Holding and Locked are the counts now; Ends ended and
	// NewlyLocked says that a soft lock was set, since the last such input.
	InSessions InputKind = "sessions"
	InLid      InputKind = "lid"      // Lid
	InDisplays InputKind = "displays" // Displays; UnknownDisplays if unreadable
	InBattery  InputKind = "battery"  // Battery
	InHeat     InputKind = "heat"     // Celsius; Unreadable if no sensor answers
	InNetwork  InputKind = "network"  // Network
	InRemote   InputKind = "remote"   // Remote logins, Who names them
	// InLimit: a turn of Who ended by a limit that is over At.
	InLimit InputKind = "limit"

	// Results. ID is that of the effect; a result with an ID that nobody waits
	// for is ignored, so late and duplicate ones are harmless.
	InTaken       InputKind = "taken"        // Acquire worked
	InDenied      InputKind = "denied"       // Acquire refused: Who, Why
	InFailed      InputKind = "failed"       // Acquire, Release or Restore failed: Why
	InReleased    InputKind = "released"     // Release worked (also of a lock already lost)
	InRestored    InputKind = "restored"     // Restore worked
	InLost        InputKind = "lost"         // the lock ID is gone though we did not drop it
	InSuspended   InputKind = "suspended"    // Suspend returned without refusal
	InRefused     InputKind = "refused"      // Suspend refused or failed: Who, Why
	InWebhookDone InputKind = "webhook-done" // delivered, failed or timed out: Why
	InSoundDone   InputKind = "sound-done"   // played, failed or no player: Why
	InChecked     InputKind = "checked"      // lid and displays were read again and fed before this
	InWakeSet     InputKind = "wake-set"     // Wake worked, or was refused: Why

	// InService: the service behind holds and suspend came (back): denied and
	// failed holds are tried at once. Locks it lost are reported by InLost.
	InService  InputKind = "service"
	InSleeping InputKind = "sleeping" // the system says that it goes to sleep now
	InWoke     InputKind = "woke"     // the system says that it woke

	InConfig InputKind = "config" // Config
	// InRenew: take every lock anew, because its text changed; each old one is
	// dropped only when the new one is held.
	InRenew InputKind = "renew"
	// InShutdown: put everything back and leave (a person asked).
	InShutdown InputKind = "shutdown"
	// InHandedOver: a newer runtime holds its own locks and keeps the sessions;
	// drop ours, restore nothing, leave.
	InHandedOver InputKind = "handed-over"
	InTick       InputKind = "tick" // deadlines; every other input checks them too
)

// Input is one fact. It is plain data, so that a log of inputs replays.
type Input struct {
	Kind InputKind `json:"kind"`
	ID   uint64    `json:"id,omitempty"`

	Live        int          `json:"live,omitempty"`
	Holding     int          `json:"holding,omitempty"`
	Locked      int          `json:"locked,omitempty"`
	Ends        []SessionEnd `json:"ends,omitempty"`
	NewlyLocked bool         `json:"newly_locked,omitempty"`

	Lid        Lid     `json:"lid,omitempty"`
	Displays   int     `json:"displays,omitempty"` // suspend-blocking displays only
	Battery    Battery `json:"battery,omitzero"`
	Celsius    float64 `json:"celsius,omitempty"`
	Unreadable bool    `json:"unreadable,omitempty"`

	Network Network   `json:"network,omitempty"`
	Remote  int       `json:"remote,omitempty"`
	At      time.Time `json:"at,omitzero"`

	Who    string  `json:"who,omitempty"` // who refused: a polkit action, another program's lock, a user
	Why    string  `json:"why,omitempty"`
	Config *Config `json:"config,omitempty"`
}

// EffectKind is what the runner is asked to do.
type EffectKind string

const (
	// DoAcquire takes Hold. Answer InTaken, InDenied or InFailed with ID; ID
	// then names the lock. Two locks of one hold may live side by side.
	DoAcquire EffectKind = "acquire"
	// DoRelease drops the lock ID. Answer InReleased or InFailed.
	DoRelease EffectKind = "release"
	// DoWebhook sends Webhook. Answer InWebhookDone after WebhookLimit at most.
	DoWebhook EffectKind = "webhook"
	// DoSound plays the warning sound to its end. Answer InSoundDone.
	DoSound EffectKind = "sound"
	// DoCheck reads lid and displays afresh. Answer InLid and InDisplays, then
	// InChecked with ID.
	DoCheck EffectKind = "check"
	// DoSuspend puts the machine to sleep in Mode. It comes after the releases
	// of the same step and must be carried out after them. Answer InSuspended
	// or InRefused; report InSleeping and InWoke as the system tells them.
	DoSuspend EffectKind = "suspend"
	// DoHistory appends History to the suspend history.
	DoHistory EffectKind = "history"
	// DoRestore puts back every lasting system value that a dead runtime left
	// changed. Harmless when there is none. Answer InRestored or InFailed.
	DoRestore EffectKind = "restore"
	// DoWake asks the system to wake up At, or no longer where At is zero. Answer
	// InWakeSet.
	DoWake EffectKind = "wake"
	// DoCancelReplies ends every wait for a person's answer: the machine is
	// about to hibernate for heat.
	DoCancelReplies EffectKind = "cancel-replies"
	// DoExit ends the runtime. The runner closes its socket first, feeds what
	// it had already read, and goes on serving if State.Leaving is false then.
	DoExit EffectKind = "exit"
	// DoNote only tells: Text for log and notices, Code for findings.
	DoNote EffectKind = "note"
)

// Effect is one thing to do. Effects of one step are carried out in order; a
// runner may run DoWebhook and DoSound beside the others.
type Effect struct {
	Kind    EffectKind    `json:"kind"`
	ID      uint64        `json:"id,omitempty"`
	Hold    Hold          `json:"hold,omitempty"`
	Mode    Mode          `json:"mode,omitempty"`
	Reason  Reason        `json:"reason,omitempty"`
	Webhook *Webhook      `json:"webhook,omitempty"`
	History *HistoryEntry `json:"history,omitempty"`
	Code    string        `json:"code,omitempty"`
	Text    string        `json:"text,omitempty"`
	At      time.Time     `json:"at,omitzero"`
	// HandedOver on DoExit: another runtime took over, restore nothing.
	HandedOver bool `json:"handed_over,omitempty"`
}

// WebhookKind is a webhook's eventType.
type WebhookKind string

const (
	PreSuspend     WebhookKind = "PreSuspend"
	PostSessionEnd WebhookKind = "PostSessionEnd"
)

// Webhook is what one call tells.
type Webhook struct {
	Kind   WebhookKind `json:"kind"`
	Reason Reason      `json:"reason"`
	// End is the normal end it tells about; nil for soft locks, heat, battery.
	End *SessionEnd `json:"end,omitempty"`
	// Live and Locked are session counts at the time of the call.
	Live   int `json:"live"`
	Locked int `json:"locked"`
}

// HistoryEntry is one line of the suspend history.
type HistoryEntry struct {
	At       event.Instant `json:"at"` // when the machine fell asleep, or was last asked to
	Woke     event.Instant `json:"woke,omitzero"`
	Mode     Mode          `json:"mode"`
	Reason   Reason        `json:"reason"`
	Result   string        `json:"result"` // slept, refused, no answer
	Detail   string        `json:"detail,omitempty"`
	Tries    int           `json:"tries"`
	Sessions int           `json:"sessions"`
	Celsius  *float64      `json:"celsius,omitempty"` // only where heat was the reason
}
