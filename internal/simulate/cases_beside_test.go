package simulate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/simulate"
)

// Stories about what counts beside the work of sessions.

func done(k event.SessionKey) event.Signal {
	return event.Signal{Kind: event.Stopped, Session: k, Tasks: []event.Task{}}
}

func power(b *simulate.Bench, onBattery bool) {
	b.Laptop().SetBattery(awake.Battery{Known: true, OnBattery: onBattery, Percent: 60})
	b.Pass(time.Second)
}

// Somebody who is logged in over ssh counts for nothing unless they are to count,
// and then only prolongs what work began.
func TestCase_systemd20654_remoteLogins(t *testing.T) {
	logins := func(b *simulate.Bench, n int) {
		b.Input(daemon.MachineInput(awake.Input{Kind: awake.InRemote, Remote: n, Who: "ana from 192.0.2.7"}))
	}
	t.Run("local only by default", func(t *testing.T) {
		b := bench(t, nil)
		b.Signal(began(claude))
		if b.Core().Awake().WantsRemote() {
			t.Error("logins are counted though nobody asked for it")
		}
		logins(b, 1)
		b.Laptop().SetLid(awake.LidClosed)
		b.Signal(done(claude))
		b.Pass(time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times with a login from afar, want once", n)
		}
	})
	t.Run("counted", func(t *testing.T) {
		b := bench(t, func(c *daemon.CoreConfig) { c.Awake.CountRemote = true })
		logins(b, 1)
		held(t, b, "a login and no work before", false)
		b.Signal(began(claude))
		logins(b, 1)
		b.Laptop().SetLid(awake.LidClosed)
		b.Signal(done(claude))
		b.Pass(2 * time.Hour)
		held(t, b, "the work is over and somebody is logged in", true)
		if st := b.Core().Status(); st.RemoteLogins != "ana from 192.0.2.7" {
			t.Errorf("status names %q", st.RemoteLogins)
		}
		told := false
		for _, d := range b.Core().Why(time.Time{}).Decisions {
			told = told || strings.Contains(d.Text, "ana from 192.0.2.7")
		}
		if !told {
			t.Errorf("why does not name the login: %+v", b.Core().Why(time.Time{}).Decisions)
		}
		logins(b, 0)
		b.Pass(5 * time.Second)
		logins(b, 1) // back within the countdown
		b.Pass(time.Minute)
		if n := b.Laptop().SuspendCalls(); n != 0 {
			t.Fatalf("%d suspends with somebody logged in", n)
		}
		logins(b, 0)
		b.Pass(time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times after the last logout, want once", n)
		}
	})
}

// The machine stays reachable for a while after the work, if asked for: on mains
// unless said otherwise, and never for longer.
func TestCase_claudeCode71875_reachableAfterTheWork(t *testing.T) {
	window := func(onBattery bool) func(*daemon.CoreConfig) {
		return func(c *daemon.CoreConfig) {
			c.Awake.Reachable, c.Awake.ReachableOnBattery = 30*time.Minute, onBattery
		}
	}
	closed := func(t *testing.T, change func(*daemon.CoreConfig), battery bool) *simulate.Bench {
		b := bench(t, change)
		power(b, battery)
		b.Signal(began(claude))
		b.Laptop().SetLid(awake.LidClosed)
		b.Signal(done(claude))
		b.Pass(3 * time.Second)
		return b
	}
	t.Run("off by default", func(t *testing.T) {
		b := closed(t, nil, false)
		b.Pass(30 * time.Second)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times, want at once", n)
		}
	})
	t.Run("on mains and bounded", func(t *testing.T) {
		b := closed(t, window(false), false)
		b.Pass(29 * time.Minute)
		held(t, b, "within the time", true)
		if st := b.Core().Status(); st.ReachableUntil.IsZero() || b.Count("PostSessionEnd") != 1 || b.Count("PreSuspend") != 0 {
			t.Errorf("until %v, %d PostSessionEnd, %d PreSuspend", st.ReachableUntil, b.Count("PostSessionEnd"), b.Count("PreSuspend"))
		}
		b.Pass(2 * time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times after it, want once", n)
		}
	})
	t.Run("not on battery", func(t *testing.T) {
		b := closed(t, window(false), true)
		b.Pass(30 * time.Second)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times, want at once", n)
		}
	})
	t.Run("on battery where that is said", func(t *testing.T) {
		b := closed(t, window(true), true)
		b.Pass(20 * time.Minute)
		held(t, b, "within the time", true)
	})
	t.Run("the charger is pulled", func(t *testing.T) {
		b := closed(t, window(false), false)
		b.Pass(5 * time.Minute)
		power(b, true)
		b.Pass(30 * time.Second)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times, want once it was on battery", n)
		}
		b.Laptop().Wake()
		power(b, false)
		held(t, b, "the charger is back, the time is not", false)
	})
	t.Run("heat and the battery floor still count", func(t *testing.T) {
		b := closed(t, window(true), true)
		b.Input(heatAt(95))
		if sl := b.Laptop().Sleeps(); len(sl) != 1 || sl[0].Mode != awake.Hibernate {
			t.Errorf("sleeps %+v, want a hibernation", sl)
		}
		b = closed(t, window(true), true)
		b.Laptop().SetBattery(awake.Battery{Known: true, OnBattery: true, Percent: 8})
		b.Pass(30 * time.Second)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times below the floor, want once", n)
		}
	})
	t.Run("a session that was removed begins none", func(t *testing.T) {
		b := bench(t, window(false))
		b.Signal(began(claude))
		b.Signal(is(event.Removed, claude))
		held(t, b, "removed by hand", false)
	})
	t.Run("a question does", func(t *testing.T) {
		b := bench(t, window(false))
		b.Signal(began(claude))
		b.Laptop().SetLid(awake.LidClosed)
		b.Signal(event.Signal{Kind: event.Waiting, Session: claude, Reason: "permission_prompt"})
		b.Pass(29 * time.Minute)
		held(t, b, "it waits for a person, who may reach it", true)
		b.Pass(2 * time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 1 || b.Count("webhook PreSuspend SoftLocked") != 1 {
			t.Errorf("slept %d times, want once and the webhook", n)
		}
	})
	t.Run("a crash in between", func(t *testing.T) {
		b := closed(t, window(false), false)
		b.Pass(5 * time.Minute)
		b.Laptop().SetLid(awake.LidOpen) // a shut machine sleeps as its lock dies
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		b.Pass(time.Second)
		b.Laptop().SetLid(awake.LidClosed)
		b.Pass(20 * time.Minute)
		held(t, b, "the rest of the time", true)
		b.Pass(7 * time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Errorf("slept %d times, want once", n)
		}
	})
}

func network(n awake.Network) daemon.Input {
	return daemon.MachineInput(awake.Input{Kind: awake.InNetwork, Network: n})
}

// A hotspot that is lost with the lid shut is told after its time, and lets go of
// the machine only where that is set.
func TestCase_codex21703_lostNetwork(t *testing.T) {
	lost := func(t *testing.T, release bool) *simulate.Bench {
		b := bench(t, func(c *daemon.CoreConfig) { c.Awake.Offline, c.Awake.OfflineRelease = 10*time.Minute, release })
		b.Signal(began(claude))
		b.Signal(event.Signal{Kind: event.ToolBegan, Session: claude, ToolUse: "u1", Tool: "Bash"})
		b.Pass(time.Second)
		if b.Core().Awake().WantsNetwork() {
			t.Error("the network is watched with somebody there")
		}
		b.Laptop().SetLid(awake.LidClosed)
		b.Pass(time.Second)
		if !b.Core().Awake().WantsNetwork() {
			t.Fatal("nobody asks for the network")
		}
		b.Input(network(awake.NetworkDown))
		b.Pass(9 * time.Minute)
		if b.Count("no network") != 0 {
			t.Error("told too early")
		}
		return b
	}
	t.Run("a notice", func(t *testing.T) {
		b := lost(t, false)
		b.Pass(2 * time.Minute)
		b.Input(network(awake.NetworkDown))
		held(t, b, "gone for eleven minutes", true)
		if b.Count("no network for 10m0s") != 1 {
			t.Error("want one notice")
		}
		if st := b.Core().Status(); len(st.Findings) != 1 || st.Findings[0].Code != "network-lost" || st.Findings[0].Remedy == "" {
			t.Errorf("findings %+v", st.Findings)
		}
		b.Input(network(awake.NetworkUp))
		if b.Count("the network is back after 11m") != 1 || len(b.Core().Status().Findings) != 0 {
			t.Error("its return is not told")
		}
	})
	t.Run("a release", func(t *testing.T) {
		b := lost(t, true)
		b.Pass(time.Minute + time.Second)
		told := false
		for _, f := range b.Core().Status().Findings {
			told = told || f.Code == "network-lost"
			if strings.Contains(f.Remedy, "network-lost-release true") {
				t.Errorf("%s: the remedy is what is set already: %s", f.Code, f.Remedy)
			}
		}
		if !told {
			t.Error("status does not tell the lost network")
		}
		b.Pass(time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 1 || b.Count("webhook PreSuspend NetworkLost") != 1 {
			t.Fatalf("slept %d times, want once with the webhook", n)
		}
		b.Laptop().SetLid(awake.LidOpen)
		b.Pass(time.Second)
		held(t, b, "somebody is there again", true)
	})
	t.Run("back in time", func(t *testing.T) {
		b := lost(t, true)
		b.Input(network(awake.NetworkUp))
		b.Pass(time.Second)
		b.Input(network(awake.NetworkDown))
		b.Pass(2 * time.Minute)
		held(t, b, "the count starts anew", true)
	})
	t.Run("not known is not lost", func(t *testing.T) {
		b := lost(t, true)
		b.Input(network(awake.NetworkUnknown))
		b.Pass(2 * time.Minute)
		held(t, b, "unreadable", true)
	})
	t.Run("not while somebody is there", func(t *testing.T) {
		b := lost(t, true)
		b.Laptop().SetLid(awake.LidOpen)
		b.Pass(2 * time.Minute)
		held(t, b, "opened", true)
	})
}

// A limit that is over in three hours holds nothing; where that is set the machine
// sleeps, and is woken for it.
func TestCase_claudeCode95803_wakesForTheEndOfALimit(t *testing.T) {
	limited := func(t *testing.T, on bool) (*simulate.Bench, time.Time) {
		b := bench(t, func(c *daemon.CoreConfig) { c.Awake.WakeAtReset = on })
		power(b, true)
		b.Signal(began(claude))
		b.Laptop().SetLid(awake.LidClosed)
		b.Pass(time.Minute)
		at := b.Laptop().Now().Wall.Add(3 * time.Hour)
		b.Signal(event.Signal{Kind: event.Failed, Session: claude, Reason: "rate_limit", Resets: at})
		b.Pass(time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 1 {
			t.Fatalf("slept %d times, want once: a limit is no reason to stay up", n)
		}
		return b, at
	}
	t.Run("off by default", func(t *testing.T) {
		b, _ := limited(t, false)
		if b.Count("-> wake") != 0 {
			t.Error("a wake-up was asked for")
		}
	})
	t.Run("on", func(t *testing.T) {
		b, at := limited(t, true)
		if b.Count("-> wake") != 1 {
			t.Errorf("%d wake-ups asked for, want one", b.Count("-> wake"))
		}
		b.Input(daemon.MachineInput(awake.Input{Kind: awake.InWakeSet, ID: b.Core().Awake().WakeID}))
		if st := b.Core().Status(); !st.WakesAt.Equal(at) || b.Count("is to wake at") != 1 {
			t.Errorf("wakes at %v, want %v", st.WakesAt, at)
		}
		b.Laptop().Advance(3 * time.Hour)
		b.Laptop().Wake()
		b.Pass(time.Second)
		held(t, b, "woken for the end of the limit", true)
		b.Pass(11 * time.Minute)
		if n := len(b.Laptop().Sleeps()); n != 2 {
			t.Errorf("slept %d times, want once more after nobody went on", n)
		}
		b.Laptop().SetLid(awake.LidOpen)
		b.Pass(time.Hour)
		if b.Core() != nil {
			t.Error("the runtime never leaves")
		}
	})
	t.Run("refused", func(t *testing.T) {
		b, _ := limited(t, true)
		b.Input(daemon.MachineInput(awake.Input{Kind: awake.InWakeSet, ID: b.Core().Awake().WakeID, Why: "no right"}))
		if !b.Core().Status().WakesAt.IsZero() || b.Count("will not wake at", "no right") != 1 {
			t.Error("a refused wake-up is claimed")
		}
	})
	t.Run("a crash asks again", func(t *testing.T) {
		b, _ := limited(t, true)
		b.Laptop().SetLid(awake.LidOpen)
		b.Pass(time.Second)
		if err := b.Kill(); err != nil {
			t.Fatal(err)
		}
		b.Pass(time.Second)
		if b.Count("-> wake") != 2 {
			t.Errorf("%d wake-ups asked for, want another by the new runtime", b.Count("-> wake"))
		}
	})
	t.Run("no further ahead than a week", func(t *testing.T) {
		b := bench(t, func(c *daemon.CoreConfig) { c.Awake.WakeAtReset = true }, fakelaptop.Options{})
		for _, ahead := range []time.Duration{-time.Minute, 0, 60 * 24 * time.Hour} {
			b.Signal(began(claude))
			b.Signal(event.Signal{Kind: event.Failed, Session: claude, Resets: b.Laptop().Now().Wall.Add(ahead)})
		}
		if b.Count("-> wake") != 0 {
			t.Error("a wake-up was asked for")
		}
	})
}
