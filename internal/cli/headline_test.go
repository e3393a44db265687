package cli

import (
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// TestHeadline holds that the first line of status agrees with what follows it.
func TestHeadline(t *testing.T) {
	works := []ipc.Session{{Key: event.SessionKey{Provider: event.Claude, ID: "a"}, Holds: true}}
	rests := []ipc.Session{{Key: event.SessionKey{Provider: event.Claude, ID: "a"}}}
	held := []ipc.Hold{{What: "idle", Confirmed: true}, {What: "handle-lid-switch", Confirmed: true}}
	half := []ipc.Hold{{What: "idle", Confirmed: true}, {What: "handle-lid-switch"}}
	lid := held[1:]
	soon := time.Now().Add(time.Minute)
	for want, st := range map[string]ipc.Status{
		"awake: 1 session at work": {Sessions: works, Protected: true, Held: held},
		"not safely awake: 1 session at work, but the system does not confirm every lock":                      {Sessions: works, Protected: true, Held: half},
		"awake: the work is over, and the machine stays reachable":                                             {Sessions: rests, Protected: true, Held: held, ReachableUntil: soon, RemoteLogins: "ana"},
		"awake: the work is over, and somebody is logged in from afar":                                         {Sessions: rests, Protected: true, Held: held, RemoteLogins: "ana"},
		"not safely awake: 1 session at work, and only the lid is held off, since prevent-system-sleep is off": {Sessions: works, Protected: true, Held: lid},
		"not safely awake: the system does not confirm every lock":                                             {Sessions: rests, Protected: true, Held: half, Suspend: &ipc.Pending{}},
		"free to sleep: no session":              {},
		"free to sleep: 1 session, none at work": {Sessions: rests},
		"free to sleep, with 1 session at work":  {Sessions: works, Held: held}, // battery floor, heat, no network
	} {
		if got := headline(&st); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, sessions := range [][]ipc.Session{rests, works} { // those at the battery floor
		st := ipc.Status{Sessions: sessions, Protected: true, Held: held, Suspend: &ipc.Pending{}}
		if got, want := headline(&st), "awake: a suspend is on its way"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPending(t *testing.T) {
	now := time.Date(2026, 6, 1, 8, 0, 0, 0, time.Local)
	for stage, want := range map[string]string{"delay": "sleep at 08:00:10 (Completed, now: delay)", "called": "sleep was asked for (Completed)"} {
		if got := pending(&ipc.Pending{Due: now.Add(10 * time.Second), Mode: "sleep", Reason: "Completed", Stage: stage}, now); got != want {
			t.Errorf("%s: %q, want %q", stage, got, want)
		}
	}
}
