package simulate_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/simulate"
)

// The seven invariants of the sessions specification, one test each, over random
// inputs with faults. Each is judged here, from what the runtime was told and
// what the laptop shows; the oracle, which judges all of them in finer detail,
// watches as well. rapid shrinks a failure to the acts that matter.

// wildly does up to 60 random acts on random machines and ends everything. judge
// is called after every step, and once more with End set when all is over.
func wildly(t *testing.T, judge func(w *simulate.Wild) func(s simulate.Seen, end bool) string) {
	rapid.Check(t, func(rt *rapid.T) {
		var bad string
		var check func(simulate.Seen, bool) string
		w := simulate.NewWild(rapid.Uint64().Draw(rt, "machine"), func(s simulate.Seen) {
			if check != nil && bad == "" {
				bad = check(s, false)
			}
		})
		check = judge(w)
		for _, act := range rapid.SliceOfN(rapid.Uint64(), 1, 60).Draw(rt, "acts") {
			if w.Act(act); bad != "" || len(w.Bad) > 0 {
				break
			}
		}
		if bad == "" && len(w.Bad) == 0 {
			w.End()
			if bad == "" {
				bad = check(simulate.Seen{}, true)
			}
		}
		if bad != "" {
			rt.Fatal(bad)
		}
		if len(w.Bad) > 0 {
			rt.Fatal(w.Bad[0])
		}
	})
}

// atWork counts sessions that are active and not soft-locked, or within the grace.
func atWork(s simulate.Seen) (n int) {
	for _, x := range s.Core.Sessions().All() {
		active := x.Phase == session.Working || x.Phase == session.Settling || x.Phase == session.Carrying
		if active && (x.Lock == nil || x.Lock.HoldsUntil > s.Core.Now().Awake) {
			n++
		}
	}
	return n
}

// Protection is on exactly while a session is active and not soft-locked, the
// machine stays reachable or a login from afar counts (and neither heat nor battery
// forbids it), or a pending suspend still runs.
func TestInvariant1_protectionExactlyWhileWorkOrCountdown(t *testing.T) {
	wildly(t, func(*simulate.Wild) func(simulate.Seen, bool) string {
		return func(s simulate.Seen, end bool) string {
			if end {
				return ""
			}
			a := s.Core.Awake()
			countdown := a.Pending != nil && a.Pending.Stage != awake.StageCalled && a.Pending.Stage != awake.StageRetry
			beside := a.ReachUntil > s.Core.Now().Awake || a.Config.CountRemote && a.Remote > 0
			want := (atWork(s) > 0 || beside) && a.Blocked() == "" || countdown
			if got := a.Protected(); got != want {
				return fmt.Sprintf("protection is %v with %d sessions at work, blocked %q, countdown %v", got, atWork(s), a.Blocked(), countdown)
			}
			for _, h := range a.Holds {
				if h.Wanted && !want && h.Hold != awake.HoldLid { // the lid lock may outlast a hibernation
					return fmt.Sprintf("%s is wanted without protection", h.Hold)
				}
			}
			return ""
		}
	})
}

// Never suspend with an unlocked active session, an open or unknown lid, or a
// blocking display. Heat may, and the battery floor may, with nobody there.
func TestInvariant2_neverSuspendsUnderWorkOrUnderAPerson(t *testing.T) {
	wildly(t, func(*simulate.Wild) func(simulate.Seen, bool) string {
		return func(s simulate.Seen, end bool) string {
			for _, e := range s.Step.Effects {
				if e.Kind != awake.DoSuspend {
					continue
				}
				a := s.Core.Awake()
				if a.Lid != awake.LidClosed || a.Displays != 0 {
					return fmt.Sprintf("suspends (%s) with lid %s and %d displays", e.Reason, a.Lid, a.Displays)
				}
				forced := e.Reason == awake.EmergencyHibernation || (e.Reason == awake.BatteryFloor || e.Reason == awake.NetworkLost) && a.Blocked() != ""
				if n := atWork(s); n > 0 && !forced {
					return fmt.Sprintf("suspends (%s) with %d sessions at work", e.Reason, n)
				}
			}
			return ""
		}
	})
}

// At most one suspend is pending: one call a step, three tries in all, and no
// other while one is out.
func TestInvariant3_atMostOnePendingSuspend(t *testing.T) {
	wildly(t, func(*simulate.Wild) func(simulate.Seen, bool) string {
		return func(s simulate.Seen, end bool) string {
			calls := 0
			for _, e := range s.Step.Effects {
				if e.Kind == awake.DoSuspend {
					calls++
					if p := s.Core.Awake().Pending; p == nil || p.ID != e.ID || p.Tries > awake.SuspendTries {
						return fmt.Sprintf("call #%d is not the pending suspend %+v", e.ID, p)
					}
				}
			}
			if calls > 1 {
				return fmt.Sprintf("%d suspends in one step", calls)
			}
			return ""
		}
	})
}

// After the end no lock stands and the lasting lid setting is the user's own,
// whatever was injected.
func TestInvariant4_systemPolicyAfterIsAsBefore(t *testing.T) {
	wildly(t, func(w *simulate.Wild) func(simulate.Seen, bool) string {
		return func(s simulate.Seen, end bool) string {
			if !end {
				return ""
			}
			if now, chosen := w.LidSettings(); now != chosen {
				return fmt.Sprintf("the lid setting is %q, it was %q", now, chosen)
			}
			for _, h := range awake.Holds() {
				if n := w.Locks(h); n != 0 {
					return fmt.Sprintf("%d locks of %s stand", n, h)
				}
			}
			return ""
		}
	})
}

// No end is told of twice: each normal end yields one of PostSessionEnd and
// PreSuspend, each cancel path none. (That none is forgotten, over crashes too,
// is the oracle's to say.)
func TestInvariant5_oneWebhookForEachNormalEnd(t *testing.T) {
	type end struct {
		key event.SessionKey
		at  time.Duration
	}
	wildly(t, func(*simulate.Wild) func(simulate.Seen, bool) string {
		normal, told := map[end]int{}, map[end]map[uint64]bool{}
		return func(s simulate.Seen, over bool) string {
			for _, c := range s.Step.Changes {
				if c.Kind == session.Ended && c.End == session.Normal {
					normal[end{c.Key, c.At.Awake}]++
				}
			}
			for _, e := range s.Step.Effects {
				if e.Kind != awake.DoWebhook || e.Webhook.End == nil {
					continue
				}
				if !e.Webhook.End.Normal {
					return fmt.Sprintf("%s for %s, which ended by %s", e.Webhook.Kind, e.Webhook.End.Key, e.Webhook.End.Reason)
				}
				k := end{e.Webhook.End.Key, e.Webhook.End.Ended.Awake}
				if told[k] == nil {
					told[k] = map[uint64]bool{}
				}
				told[k][e.ID] = true // a crash repeats a call under its own ID
				if len(told[k]) > max(normal[k], 1) {
					return fmt.Sprintf("%d webhooks for %d ends of %s", len(told[k]), normal[k], k.key)
				}
			}
			return ""
		}
	})
}

// The runtime leaves when nothing is left, never before, and is gone half an hour
// after the end.
func TestInvariant6_leavesAfterTheLastAndNeverBefore(t *testing.T) {
	wildly(t, func(w *simulate.Wild) func(simulate.Seen, bool) string {
		return func(s simulate.Seen, end bool) string {
			if end {
				if w.Running() && w.Config().Awake.ExitDelay >= 0 {
					return "half an hour after the end the runtime is still there"
				}
				return ""
			}
			for _, e := range s.Step.Effects {
				if e.Kind != awake.DoExit {
					continue
				}
				if sum := s.Core.Sessions().Summary(); sum.Live > 0 || s.Core.Awake().Pending != nil {
					return fmt.Sprintf("leaves with %+v and pending %+v", sum, s.Core.Awake().Pending)
				}
				if w.Config().Awake.ExitDelay < 0 {
					return "leaves though it is told to stay"
				}
			}
			return ""
		}
	})
}

// With the timeout on, no session holds the machine for ever: whatever came
// before, silence lets go of it.
func TestInvariant7_noSessionIsImmortal(t *testing.T) {
	wildly(t, func(w *simulate.Wild) func(simulate.Seen, bool) string {
		silent := map[event.SessionKey]time.Duration{} // last heard of, on the Awake clock
		return func(s simulate.Seen, end bool) string {
			if end {
				return ""
			}
			now, c := s.Core.Now().Awake, w.Config().Session
			switch in := s.In.Session; {
			case in == nil:
			case in.Signal != nil:
				silent[in.Signal.Session] = now
			case in.Kind == session.InBusy:
				for _, k := range in.Keys {
					silent[k] = now
				}
			}
			for _, ch := range s.Step.Changes {
				if ch.To != nil {
					silent[*ch.To] = now
				}
			}
			if c.Timeout == 0 {
				return ""
			}
			for _, x := range s.Core.Sessions().All() {
				last, heard := silent[x.Key]
				if limit := max(c.Timeout, c.Grace, session.CarryOver); heard && x.Holds() && now-last > limit {
					return fmt.Sprintf("%s (%s) holds after %s of silence, the timeout is %s", x.Key, x.Phase, now-last, c.Timeout)
				}
			}
			return ""
		}
	})
}
