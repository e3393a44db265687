package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// Stories in which the oracle once accused a sound runtime, or would have if it
// looked no closer. Each is told twice: as it is, which must pass, and with the
// rule broken that the check is there for, which must not.
func TestOracle_judgesTheMoment(t *testing.T) {
	var (
		k, n   = event.SessionKey{Provider: event.Copilot, ID: "a"}, event.SessionKey{Provider: event.Copilot, ID: "b"}
		owner  = event.Process{PID: 7, Start: 70}
		mate   = []event.Task{{ID: "t4", Type: event.TaskTeammate, Idle: true}}
		shell  = []event.Task{{ID: "t1", Type: event.TaskShell}}
		signal = func(kind event.SignalKind, k event.SessionKey) event.Signal {
			return event.Signal{Kind: kind, Session: k, Process: &owner}
		}
		stopped = func(tasks []event.Task) event.Signal {
			return event.Signal{Kind: event.Stopped, Session: k, Tasks: tasks}
		}
		goesOn = func(k event.SessionKey) event.Signal {
			return event.Signal{Kind: event.Closed, Session: k, Process: &owner, Continues: true}
		}
		waits   = event.Signal{Kind: event.Waiting, Session: k, Reason: "permission_prompt"}
		heat    = daemon.MachineInput(awake.Input{Kind: awake.InHeat, Celsius: 97})
		battery = func(percent float64) daemon.Input {
			return daemon.MachineInput(awake.Input{Kind: awake.InBattery, Battery: awake.Battery{Known: true, OnBattery: true, Percent: percent}})
		}
		// doubtful has k work at a moment at which it may still count as closed.
		doubtful = func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(signal(event.Closed, k))
			b.Pass(time.Minute + 500*time.Millisecond)
			b.Signal(event.Signal{Kind: event.ToolBegan, Session: k, Process: &owner, ToolUse: "u1"})
		}
	)
	for _, c := range []struct {
		name     string
		settings func(*daemon.CoreConfig)
		story    func(*Bench)
		broken   Broken
		want     string // of the violation where the rule is broken
	}{{
		// "Stop without work in flight" ends: what is in flight under a successor of
		// which nothing was said, only the client's own list tells.
		name: "a successor with work that nobody heard of",
		story: func(b *Bench) {
			doubtful(b)
			b.Signal(stopped(mate))
			b.Signal(event.Signal{Kind: event.Began, Session: n})
			b.Signal(goesOn(n))
			b.Signal(signal(event.Opened, k))
			b.Signal(stopped(nil)) // deferred: the teammate is still in flight
			b.Pass(time.Minute)
			b.Input(daemon.Input{})
			b.Signal(signal(event.Began, k))
			b.Signal(stopped([]event.Task{}))
			b.Pass(time.Minute)
		},
		broken: Broken{Session: session.NoSettle}, want: "works and does not hold the machine",
	}, {
		// "Carries the work over": a turn that ran goes on under the new id.
		name:     "a turn under a Stop that waits",
		settings: func(c *daemon.CoreConfig) { c.Session.MaxBackground = 5 * time.Minute },
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(stopped(mate))
			b.Signal(signal(event.Began, n))
			b.Signal(goesOn(n))
			b.Signal(signal(event.Opened, k))
			b.Pass(15 * time.Minute)
		},
		broken: Broken{Session: session.NoTimeout}, want: "has no work and holds the machine",
	}, {
		// The same, where the predecessor may have been closed for good.
		name: "a turn that may have taken one over",
		story: func(b *Bench) {
			doubtful(b)
			b.Signal(signal(event.Began, n))
			b.Pass(5 * time.Minute)
			b.Signal(goesOn(k))
			b.Signal(signal(event.Opened, n)) // counts if there was something to take over
			b.Pass(10 * time.Minute)
			b.Input(daemon.Input{})
			b.Pass(5 * time.Minute)
		},
		broken: Broken{Session: session.NoTimeout}, want: "has no work and holds the machine",
	}, {
		// A Stop of an ended session is harmless: no sign of life, so that a day after
		// its end it is forgotten.
		name:     "a session that is forgotten in spite of a late Stop",
		settings: func(c *daemon.CoreConfig) { c.Awake.ExitDelay = -1 },
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(stopped([]event.Task{}))
			b.Pass(19 * time.Hour)
			b.Signal(stopped([]event.Task{}))
			b.Pass(6 * time.Hour)
			b.Signal(event.Signal{Kind: event.Active, Session: k})
			b.Signal(signal(event.Began, k))
			b.Pass(13 * time.Minute)
		},
		broken: Broken{Session: session.NoTimeout}, want: "has no work and holds the machine",
	}, {
		// "After a Stop wait a short settle before anything is released."
		name:     "a Stop beside a monitor whose time is over",
		settings: func(c *daemon.CoreConfig) { c.Session.Timeout = 0 },
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(stopped(mate))
			b.Pass(3 * time.Hour)
			b.Signal(signal(event.Active, k))
			b.Signal(stopped(mate))
			b.Pass(session.Settle)
			b.Signal(stopped(mate))
			b.Signal(signal(event.Began, k))
			b.Signal(stopped(mate))
			b.Pass(2*time.Hour - time.Second)
			b.Signal(stopped(mate)) // its time is over while this settles
			b.Pass(session.Settle)
		},
		broken: Broken{Session: session.NoBackgroundBound}, want: "has no work and holds the machine",
	}, {
		// A Stop that follows no turn gives a monitor no more time, though what
		// locked the session is no longer set.
		name:     "a timeout that is switched off before the Stop",
		settings: func(c *daemon.CoreConfig) { c.Session.MaxBackground = time.Minute },
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(stopped(mate))
			b.Signal(signal(event.Active, k))
			b.Pass(13 * time.Minute)
			next := b.cfg
			next.Session.Timeout = 0
			b.cfg = next
			b.Input(daemon.ConfigInput(next))
			b.Signal(stopped(mate))
			b.Pass(session.Settle)
		},
		broken: Broken{Session: session.NoBackgroundBound}, want: "has no work and holds the machine",
	}, {
		// Nor does a second such Stop, which comes before the first could have settled.
		name:     "a timeout that is switched off before two Stops",
		settings: func(c *daemon.CoreConfig) { c.Session.MaxBackground = time.Minute },
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(stopped(mate))
			b.Signal(signal(event.Active, k))
			b.Pass(13 * time.Minute)
			next := b.cfg
			next.Session.Timeout = 0
			b.cfg = next
			b.Input(daemon.ConfigInput(next))
			b.Signal(stopped(mate))
			b.Signal(stopped(mate))
			b.Pass(session.Settle)
		},
		broken: Broken{Session: session.NoBackgroundBound}, want: "has no work and holds the machine",
	}, {
		// "Bounded by max-background-minutes", also where a dialog came in between.
		name:     "what is left when a task ends under a dialog",
		settings: func(c *daemon.CoreConfig) { c.Session.Timeout = 0 },
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(stopped(append(shell, mate...)))
			b.Signal(waits)
			b.Signal(event.Signal{Kind: event.TaskEnded, Session: k, Task: &shell[0]})
			b.Pass(time.Hour)
			b.Signal(stopped(mate))
			b.Pass(time.Hour)
		},
		broken: Broken{Session: session.NoBackgroundBound}, want: "has no work and holds the machine",
	}, {
		// A call in flight "is work while the agent's process tree uses CPU", also
		// where the monitor that was left has ended.
		name: "a call that shows life when the monitor beside it has ended",
		settings: func(c *daemon.CoreConfig) {
			c.Session.MaxBackground, c.Session.MaxTool = 20*time.Minute, 40*time.Minute
		},
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(event.Signal{Kind: event.ToolBegan, Session: k, ToolUse: "u1", AgentID: "t3"})
			b.Signal(stopped(mate))
			b.Signal(event.Signal{Kind: event.TaskEnded, Session: k, Task: &mate[0]})
			b.Pass(30 * time.Minute)
			b.Input(daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{k}}))
			b.Pass(11 * time.Minute) // max-tool-minutes are over
		},
		broken: Broken{Session: session.NoToolBound}, want: "has no work and holds the machine",
	}, {
		// "Only while protected and away": heat counts where work is protected.
		name: "heat with nobody there",
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.laptop.SetLid(awake.LidClosed)
			b.Pass(time.Second)
			b.Input(heat)
		},
		broken: Broken{Awake: awake.HeatIgnored}, want: "no hibernation",
	}, {
		// "Below the floor, protection ends": so that heat which is read in the very
		// moment in which nobody is there any more finds none.
		name: "heat in the moment of the battery floor",
		story: func(b *Bench) {
			b.laptop.SetDisplays(1)
			b.Signal(signal(event.Began, k))
			b.laptop.SetLid(awake.LidClosed)
			b.Pass(time.Second)
			b.Input(battery(5))
			b.laptop.SetDisplays(0)
			b.Pass(29 * time.Second)
			b.laptop.Advance(2 * time.Second)
			b.Input(heat)
			b.Pass(9 * time.Second)
		},
		broken: Broken{Awake: awake.SuspendsNever}, want: "no suspend was planned",
	}, {
		// Sessions' news comes before the machine's: the time begins on mains, and
		// the battery ends it.
		name: "a charger that is pulled as the work ends",
		settings: func(c *daemon.CoreConfig) {
			c.Session.Grace, c.Awake.Reachable = time.Minute, 10*time.Minute
		},
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(waits)
			b.Pass(59 * time.Second)
			b.laptop.Advance(2 * time.Second)
			b.Input(battery(60))
			b.Pass(time.Minute)
		},
		broken: Broken{Awake: awake.ReachesOnBattery}, want: "protection is true",
	}, {
		name: "a battery that is read as the work ends",
		settings: func(c *daemon.CoreConfig) {
			c.Session.Grace, c.Awake.Reachable, c.Awake.ReachableOnBattery = time.Minute, 10*time.Minute, true
		},
		story: func(b *Bench) {
			b.Signal(signal(event.Began, k))
			b.Signal(waits)
			b.Pass(59 * time.Second)
			b.laptop.Advance(2 * time.Second)
			b.Input(battery(60))
			b.Pass(time.Minute)
		},
		broken: Broken{Awake: awake.ReachesNever}, want: "protection is false",
	}, {
		// The work ended while no runtime lived, and still it ended.
		name:     "a grace that ends in a crash",
		settings: func(c *daemon.CoreConfig) { c.Session.Grace = time.Minute },
		story: func(b *Bench) {
			b.laptop.Foreign("another user", awake.HoldSleep) // or it sleeps as the lock dies
			b.Signal(signal(event.Began, k))
			b.laptop.SetLid(awake.LidClosed)
			b.Pass(time.Second)
			b.Signal(waits)
			b.Pass(58 * time.Second)
			broken := b.broken
			snap, err := b.core.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			b.machine.Kill()
			b.laptop.Advance(3 * time.Second)
			if b.startRuntime(snap); b.laptop.Asleep() {
				t.Fatal("the machine sleeps")
			}
			b.broken = broken
			b.Pass(time.Second)
			if b.core.Awake().Pending == nil && broken == (Broken{}) {
				t.Error("no suspend is planned")
			}
		},
		broken: Broken{Awake: awake.SuspendsNever}, want: "no suspend was planned",
	}} {
		t.Run(c.name, func(t *testing.T) {
			for _, broken := range []Broken{{}, c.broken} {
				cfg := DefaultConfig()
				if c.settings != nil {
					c.settings(&cfg)
				}
				b := NewBench(cfg, fakelaptop.Options{})
				b.broken = broken
				b.core.Sessions().Break(broken.Session)
				b.core.Awake().Break(broken.Awake)
				c.story(b)
				b.Input(daemon.Input{})
				bad := strings.Join(b.Bad, "\n")
				if broken == (Broken{}) && bad != "" || broken != (Broken{}) && !strings.Contains(bad, c.want) {
					t.Errorf("with %+v broken: violated %q, want %q\n%s", broken, bad, c.want, b.Story())
				}
			}
		})
	}
}

// "System policy after the end equals the policy before the start", though the
// runtime that should have put it back handed over first.
func TestHandover_putsBackWhatTheOldOneCouldNot(t *testing.T) {
	b := NewBench(DefaultConfig(), fakelaptop.Options{LastingLid: true})
	k := event.SessionKey{Provider: event.Claude, ID: "a"}
	b.Signal(event.Signal{Kind: event.Began, Session: k})
	b.Pass(time.Second)
	snap, err := b.core.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	b.machine.Kill()
	b.keeper = false
	b.startRuntime(snap)
	b.laptop.Fail(fakelaptop.OpRestore, errSpoilt)
	b.Signal(event.Signal{Kind: event.Removed, Session: k})
	if b.laptop.LidSetting() == b.userLid {
		t.Fatal("nothing is left to put back")
	}
	b.handover()
	b.Pass(time.Minute)
	if got := b.laptop.LidSetting(); got != b.userLid || len(b.Bad) > 0 {
		t.Errorf("the lid setting is %q, want %q; violated %q\n%s", got, b.userLid, b.Bad, b.Story())
	}
}

// "Each normal end yields exactly one of PostSessionEnd and PreSuspend", and what a
// crash left open is sent again, by the next process and once.
func TestOracle_countsWebhooks(t *testing.T) {
	end := &awake.SessionEnd{Key: event.SessionKey{Provider: event.Claude, ID: "a"}, Normal: true, Ended: event.Instant{Awake: time.Hour}}
	post := awake.Effect{Kind: awake.DoWebhook, ID: 9, Webhook: &awake.Webhook{Kind: awake.PostSessionEnd, End: end}}
	pre := awake.Effect{Kind: awake.DoWebhook, ID: 9, Webhook: &awake.Webhook{Kind: awake.PreSuspend, End: end}}
	other := post
	other.ID = 10
	for _, c := range []struct {
		name string
		do   func(o *oracle)
		want string
	}{
		{"once", func(o *oracle) { o.webhook(&post) }, ""},
		{"again after a crash", func(o *oracle) { o.webhook(&post); o.restored(); o.webhook(&post) }, ""},
		{"again after a crash, its end settled", func(o *oracle) { o.webhook(&post); o.settleEnds(); o.restored(); o.webhook(&post) }, ""},
		{"again without a crash", func(o *oracle) { o.webhook(&post); o.webhook(&post) }, "sent again"},
		{"again without a crash, its end settled", func(o *oracle) { o.webhook(&post); o.settleEnds(); o.webhook(&post) }, "sent again"},
		{"twice after one crash", func(o *oracle) { o.webhook(&post); o.restored(); o.webhook(&post); o.webhook(&post) }, "sent again"},
		{"a suspend told again after a crash", func(o *oracle) { o.webhook(&pre); o.restored(); o.webhook(&pre) }, "sent again"},
		{"two for one end", func(o *oracle) { o.webhook(&post); o.webhook(&other) }, "2 webhooks for one end"},
		{"another for an end that is settled", func(o *oracle) { o.webhook(&post); o.settleEnds(); o.webhook(&other) }, "had its webhook"},
		{"none", func(o *oracle) { o.settleEnds() }, "0 webhooks for its end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := NewBench(DefaultConfig(), fakelaptop.Options{}).World
			w.oracle.ends = []*owedEnd{{key: end.Key, at: end.Ended.Awake}}
			c.do(w.oracle)
			if bad := strings.Join(w.Bad, "\n"); c.want == "" && bad != "" || !strings.Contains(bad, c.want) {
				t.Errorf("violated %q, want %q", bad, c.want)
			}
		})
	}
}
