package simulate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/simulate"
)

// Stories that people reported of other tools, as tests. The names carry the
// public report.

var (
	claude  = event.SessionKey{Provider: event.Claude, ID: "c1"}
	codex   = event.SessionKey{Provider: event.Codex, ID: "x1"}
	copilot = event.SessionKey{Provider: event.Copilot, ID: "p1"}
	owner   = event.Process{PID: 4711, Start: 99}
)

func bench(t *testing.T, change func(*daemon.CoreConfig), opt ...fakelaptop.Options) *simulate.Bench {
	cfg := simulate.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	b := simulate.NewBench(cfg, append(opt, fakelaptop.Options{})[0])
	t.Cleanup(func() {
		for _, bad := range b.Bad {
			t.Errorf("invariant: %s", bad)
		}
		if t.Failed() {
			t.Log("\n" + b.Story())
		}
	})
	return b
}

func began(k event.SessionKey) event.Signal {
	return event.Signal{Kind: event.Began, Session: k, Process: &owner}
}

func is(kind event.SignalKind, k event.SessionKey) event.Signal {
	return event.Signal{Kind: kind, Session: k}
}

// held checks what the laptop itself holds.
func held(t *testing.T, b *simulate.Bench, what string, want bool) {
	t.Helper()
	b.Pass(100 * time.Millisecond)
	if got := b.Laptop().Locks(awake.HoldIdle) == 1; got != want {
		t.Errorf("%s: idle lock held %v, want %v", what, got, want)
	}
}

func TestCase_claudeTerminal1_interruptWithoutStop(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	held(t, b, "working", true)
	b.Signal(event.Signal{Kind: event.Interrupted, Session: claude, Source: "transcript interrupt marker", Offset: 900})
	b.Pass(2 * time.Second)
	held(t, b, "two seconds after the marker", false)
	if b.Count("PostSessionEnd") != 0 {
		t.Error("an interrupt called PostSessionEnd")
	}

	b = bench(t, nil)
	b.Signal(began(codex))
	b.Pass(12*time.Minute - 2*time.Second)
	held(t, b, "no transcript, before the timeout", true)
	b.Pass(3 * time.Second)
	held(t, b, "no transcript, after the timeout", false)
}

func TestCase_claudeCode32712_killedHookLeavesOwnerExit(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	b.Pass(time.Minute)
	b.Input(daemon.SessionInput(session.Input{Kind: session.InExited, Process: &owner})) // SessionEnd never came
	held(t, b, "owner gone", false)
	b.Pass(time.Minute)
	if b.Count("webhook") != 0 {
		t.Error("a dead process called a webhook")
	}
}

func TestCase_adrafinil20_questionDialogSoftLocks(t *testing.T) {
	for _, c := range []struct {
		name string
		sig  event.Signal
	}{
		{"notification", event.Signal{Kind: event.Waiting, Session: claude, Reason: "permission_prompt"}},
		{"asking tool", event.Signal{Kind: event.Waiting, Session: claude, Reason: "question", ToolUse: "u1", Tool: "AskUserQuestion"}},
		{"no hook at all", event.Signal{Kind: event.Waiting, Session: claude, Reason: "waiting", Source: "client state file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bench(t, nil)
			b.Signal(began(claude))
			b.Signal(event.Signal{Kind: event.ToolBegan, Session: claude, ToolUse: "u1", Tool: "AskUserQuestion"})
			b.Signal(c.sig)
			held(t, b, "dialog open", false)
			b.Pass(48 * time.Minute)
			held(t, b, "dialog open for 48 minutes", false)
			b.Signal(event.Signal{Kind: event.ToolEnded, Session: claude, ToolUse: "u1"})
			held(t, b, "answered", true)
		})
	}
	t.Run("grace", func(t *testing.T) {
		b := bench(t, func(c *daemon.CoreConfig) { c.Session.Grace = 180 * time.Second })
		b.Signal(began(claude))
		b.Signal(event.Signal{Kind: event.Waiting, Session: claude, Reason: "permission_prompt"})
		b.Pass(179 * time.Second)
		held(t, b, "within the grace", true)
		b.Pass(time.Second)
		held(t, b, "after the grace", false)
	})
}

func TestCase_decaf_silentCrashAndSilentBuild(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude)) // then silence: alive, no CPU
	b.Pass(12 * time.Minute)
	held(t, b, "silence for 12 minutes", false)

	b = bench(t, nil)
	b.Signal(began(claude))
	b.Signal(event.Signal{Kind: event.ToolBegan, Session: claude, ToolUse: "u1", Tool: "Bash"})
	for range 40 {
		b.Pass(time.Minute)
		b.Input(daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{claude}}))
		held(t, b, "a silent build", true)
	}
}

func TestCase_ccCaffeine19_longSilentTool(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	b.Signal(event.Signal{Kind: event.ToolBegan, Session: claude, ToolUse: "u1", Tool: "Bash"})
	for range 9 {
		b.Pass(5 * time.Minute)
		b.Input(daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{claude}}))
	}
	b.Signal(event.Signal{Kind: event.ToolEnded, Session: claude, ToolUse: "u1"})
	held(t, b, "after 45 silent minutes", true)
	if n := b.Count("release idle"); n != 0 {
		t.Errorf("protection lapsed %d times", n)
	}

	b.Signal(event.Signal{Kind: event.ToolBegan, Session: claude, ToolUse: "u2", Tool: "Bash"})
	for range 60 { // hung in a busy loop
		b.Pass(5 * time.Minute)
		b.Input(daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{claude}}))
	}
	held(t, b, "a tool that hangs for five hours", false)
}

func TestCase_adrafinil7_stopWithBackgroundWork(t *testing.T) {
	shell := event.Task{ID: "b1", Type: event.TaskShell}
	t.Run("the client's list", func(t *testing.T) {
		b := bench(t, nil)
		b.Signal(began(claude))
		b.Signal(event.Signal{Kind: event.Stopped, Session: claude, Tasks: []event.Task{shell}})
		b.Pass(10 * time.Minute)
		held(t, b, "shell running", true)
		if b.Count("PostSessionEnd") != 0 {
			t.Error("a webhook before the end")
		}
		b.Signal(event.Signal{Kind: event.Stopped, Session: claude, Tasks: []event.Task{}})
		b.Pass(3 * time.Second)
		held(t, b, "second Stop", false)
		if b.Count("PostSessionEnd") != 1 {
			t.Error("want one PostSessionEnd")
		}
	})
	t.Run("an older client", func(t *testing.T) {
		b := bench(t, nil)
		b.Signal(began(claude))
		b.Signal(event.Signal{Kind: event.TaskBegan, Session: claude, Task: &shell})
		b.Signal(is(event.Stopped, claude))
		b.Pass(10 * time.Minute)
		held(t, b, "shell running", true)
		b.Signal(event.Signal{Kind: event.TaskEnded, Session: claude, Task: &shell})
		b.Signal(is(event.Stopped, claude))
		b.Pass(3 * time.Second)
		held(t, b, "second Stop", false)
	})
}

func TestCase_adrafinil15_idlePromptHoldsNothing(t *testing.T) {
	for _, k := range []event.SessionKey{claude, codex, copilot, {Provider: event.OpenCode, ID: "o"}} {
		b := bench(t, nil)
		b.Signal(is(event.Opened, k))
		b.Signal(is(event.Active, k))
		held(t, b, k.String()+" opened", false)
		b.Signal(began(k))
		b.Signal(event.Signal{Kind: event.Stopped, Session: k, Tasks: []event.Task{}})
		b.Pass(3 * time.Second)
		held(t, b, k.String()+" at its prompt", false)
	}
}

func TestCase_codex18607_onlyAPrompt(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(codex))
	b.Signal(event.Signal{Kind: event.Stopped, Session: codex, Source: "transcript task_complete", Offset: 5000})
	b.Pass(3 * time.Second)
	held(t, b, "task_complete in the rollout", false)

	b = bench(t, nil)
	b.Signal(began(codex))
	b.Input(daemon.SessionInput(session.Input{Kind: session.InExited, Process: &owner}))
	held(t, b, "codex exec gone", false)
}

// sessionStart and sessionEnd per prompt, never, or not after a resume: the same
// state at the end, and no sleep between two prompts.
func TestCase_copilotCLI991_fourOrders(t *testing.T) {
	open, end := is(event.Opened, copilot), is(event.Closed, copilot)
	stop := event.Signal{Kind: event.Stopped, Session: copilot}
	for name, order := range map[string][]event.Signal{
		"once a session":     {open, began(copilot), stop, began(copilot), stop, end},
		"once a prompt":      {open, began(copilot), stop, end, open, began(copilot), stop, end},
		"never":              {began(copilot), stop, began(copilot), stop},
		"end, then a prompt": {open, began(copilot), stop, end, began(copilot), stop},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, nil)
			b.Laptop().SetLid(awake.LidOpen)
			prompts := 0
			for _, sig := range order {
				b.Signal(sig)
				if sig.Kind == event.Began {
					held(t, b, "working", true)
					if prompts++; prompts == 1 {
						b.Laptop().SetLid(awake.LidClosed)
					}
				}
				b.Pass(500 * time.Millisecond)
				if b.Laptop().SuspendCalls() != 0 {
					t.Fatalf("suspended after %s", sig.Kind)
				}
			}
			b.Pass(30 * time.Second)
			if n := b.Laptop().SuspendCalls(); n != 1 {
				t.Errorf("%d suspends at the end, want 1", n)
			}
		})
	}
}

func TestCase_claudeCode36995_orphanBurnsCPU(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	for range 20 {
		b.Pass(time.Minute)
		b.Input(daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{claude}}))
	}
	held(t, b, "CPU alone for 20 minutes", false)
	if st := b.Core().Status(); len(st.Sessions) != 1 || st.Sessions[0].SoftLock != session.ReasonTimeout {
		t.Errorf("status does not report it: %+v", st.Sessions)
	}
}

func TestCase_kiroCrew10888_readingIsNoActivity(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	for range 12 {
		b.Pass(time.Minute)
		b.Core().Status()
		b.Core().Why(time.Time{})
		b.Core().Away()
		b.Core().Watches()
	}
	held(t, b, "read every minute", false)
}

func TestCase_coldBrew152_dockedMachineStaysUp(t *testing.T) {
	b := bench(t, nil)
	b.Laptop().SetDisplays(1)
	b.Signal(began(claude))
	b.Laptop().SetLid(awake.LidClosed)
	b.Pass(time.Minute)
	b.Signal(event.Signal{Kind: event.Stopped, Session: claude, Tasks: []event.Task{}})
	b.Pass(5 * time.Minute)
	held(t, b, "released", false)
	if n := b.Laptop().SuspendCalls(); n != 0 || b.Laptop().Asleep() {
		t.Errorf("%d suspend calls under a display, asleep %v", n, b.Laptop().Asleep())
	}
}

func TestCase_codex33918_oneCountdownAfterTheLast(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	b.Signal(began(codex))
	b.Pass(time.Second)
	b.Laptop().SetLid(awake.LidClosed)
	b.Pass(time.Minute)
	b.Signal(event.Signal{Kind: event.Stopped, Session: claude, Tasks: []event.Task{}})
	b.Pass(5 * time.Second)
	b.Signal(is(event.Stopped, codex))
	b.Pass(8 * time.Second)
	b.Signal(began(codex)) // cancelled by a new prompt
	b.Pass(time.Minute)
	if n := b.Laptop().SuspendCalls(); n != 0 {
		t.Fatalf("%d suspends while a session works", n)
	}
	b.Signal(is(event.Stopped, codex))
	b.Pass(8 * time.Second)
	b.Laptop().SetLid(awake.LidOpen) // cancelled by the lid
	b.Pass(time.Minute)
	if n := b.Laptop().SuspendCalls(); n != 0 {
		t.Fatalf("%d suspends with the lid open", n)
	}
	b.Signal(began(codex))
	b.Pass(time.Second)
	b.Laptop().SetLid(awake.LidClosed)
	b.Signal(is(event.Stopped, codex))
	b.Pass(time.Minute)
	if n := b.Laptop().SuspendCalls(); n != 1 || !b.Laptop().Asleep() {
		t.Errorf("%d suspends, asleep %v, want one sleep", n, b.Laptop().Asleep())
	}
	b.Laptop().SetLid(awake.LidOpen)
	b.Pass(time.Second)
	if n := b.Count("history Completed slept"); n != 1 {
		t.Errorf("%d history entries, want the sleep once", n)
	}
	// claude's end found codex at work; codex's two cancelled suspends owed
	// theirs; the last end had its PreSuspend.
	if post, pre := b.Count("PostSessionEnd"), b.Count("PreSuspend"); post != 3 || pre != 1 {
		t.Errorf("%d PostSessionEnd and %d PreSuspend, want 3 and 1", post, pre)
	}
}

func TestCase_systemd14812_shutMachineSleepsAfterRelease(t *testing.T) {
	for name, opt := range map[string]fakelaptop.Options{"logind sleeps by itself": {}, "nobody else does": {LastingLid: true}} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, nil, opt)
			b.Laptop().SetLidSetting("sleep")
			b.Signal(began(claude))
			b.Pass(time.Second)
			b.Laptop().SetLid(awake.LidClosed)
			b.Signal(event.Signal{Kind: event.Stopped, Session: claude, Tasks: []event.Task{}})
			b.Pass(time.Minute)
			if !b.Laptop().Asleep() || b.Count("-> check") != 1 || b.Count("suspend sleep Completed") != 1 {
				t.Errorf("asleep %v, %d checks, %d suspends", b.Laptop().Asleep(), b.Count("-> check"), b.Count("suspend sleep Completed"))
			}
			if n := len(b.Laptop().Sleeps()); n != 1 {
				t.Errorf("%d sleeps, want one", n)
			}
		})
	}
}

func heatAt(c float64) daemon.Input {
	return daemon.MachineInput(awake.Input{Kind: awake.InHeat, Celsius: c})
}

func TestCase_powerToys34479_hotInABag(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	b.Pass(time.Second)
	b.Input(heatAt(97))
	if b.Laptop().SuspendCalls() != 0 {
		t.Fatal("hibernated with the lid open")
	}
	b.Laptop().SetLid(awake.LidClosed)
	b.Pass(time.Minute)
	if !b.Core().Awake().WantsHeat() {
		t.Fatal("nobody asks for the heat")
	}
	b.Input(daemon.MachineInput(awake.Input{Kind: awake.InHeat, Unreadable: true}))
	for c := 60.0; c < 93; c += 3 {
		b.Input(heatAt(c))
	}
	if b.Laptop().SuspendCalls() != 0 {
		t.Fatal("hibernated below the threshold or for an unreadable sensor")
	}
	b.Input(heatAt(95))
	if sl := b.Laptop().Sleeps(); len(sl) != 1 || sl[0].Mode != awake.Hibernate {
		t.Fatalf("sleeps %+v, want one hibernation in the very poll", sl)
	}
	b.Laptop().SetLid(awake.LidOpen)
	b.Pass(time.Second)
	if b.Count("history EmergencyHibernation slept") != 1 || b.Count("webhook PreSuspend EmergencyHibernation") != 1 {
		t.Error("want one webhook and one history entry")
	}
	held(t, b, "the work goes on after the wake", true)
}

func TestCase_powerToys33936_fallsBackToSleep(t *testing.T) {
	b := bench(t, nil, fakelaptop.Options{NoHibernate: true})
	b.Signal(began(claude))
	b.Pass(time.Second)
	b.Laptop().SetLid(awake.LidClosed)
	b.Pass(time.Second)
	b.Laptop().Fail(fakelaptop.OpSuspend, errors.New("no swap"))
	b.Input(heatAt(95))
	b.Pass(5 * time.Second)
	b.Laptop().SetLid(awake.LidOpen)
	b.Pass(time.Second)
	if b.Count("history EmergencyHibernation refused") != 1 || b.Count("history EmergencyHibernation slept") != 1 {
		t.Error("want both tries in the history")
	}
}

func TestCase_daintree12516_batteryFloor(t *testing.T) {
	b := bench(t, func(c *daemon.CoreConfig) { c.Awake.FloorPercent = 20 })
	charge := func(percent float64, onBattery bool) {
		b.Laptop().SetBattery(awake.Battery{Known: true, OnBattery: onBattery, Percent: percent})
		b.Pass(time.Second)
	}
	b.Signal(began(claude))
	b.Signal(event.Signal{Kind: event.ToolBegan, Session: claude, ToolUse: "u1"})
	charge(19, true)
	held(t, b, "below the floor with the lid open", true)
	charge(21, true)
	b.Laptop().SetLid(awake.LidClosed)
	b.Pass(time.Second)
	held(t, b, "above the floor", true)
	charge(19, true)
	b.Pass(30 * time.Second)
	if !b.Laptop().Asleep() || b.Count("webhook PreSuspend BatteryFloor") != 1 {
		t.Fatalf("asleep %v at 19 %%", b.Laptop().Asleep())
	}
	b.Laptop().Wake() // by a key, lid still shut
	charge(21, true)
	b.Pass(30 * time.Second)
	if n := len(b.Laptop().Sleeps()); n != 2 {
		t.Errorf("%d sleeps; 21 %% is within the hysteresis", n)
	}
	b.Laptop().Wake()
	charge(23, true)
	held(t, b, "23 % ends the latch", true)
	charge(22, true)
	held(t, b, "22 % does not bring it back", true)
}

func TestCase_daintree12516_mainsOnly(t *testing.T) {
	b := bench(t, func(c *daemon.CoreConfig) { c.Awake.ProtectOnBattery = false })
	b.Signal(began(claude))
	held(t, b, "on mains", true)
	b.Laptop().SetBattery(awake.Battery{Known: true, OnBattery: true, Percent: 90})
	b.Pass(time.Second)
	held(t, b, "on battery", false)
	b.Laptop().SetBattery(awake.Battery{Known: true, Percent: 90})
	b.Pass(time.Second)
	held(t, b, "on mains again", true)
}

func TestCase_alwaysGrinding_restartRetakesWithinASecond(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	b.Pass(time.Minute)
	b.RestartService()
	b.Pass(time.Second)
	held(t, b, "login1 restarted", true)
	if b.Count("the system dropped idle") == 0 || b.Count("is held again after") == 0 {
		t.Error("the gap is not told")
	}
}

func TestCase_alwaysGrinding_deniedThenAllowed(t *testing.T) {
	b := bench(t, nil)
	b.Laptop().Deny(awake.HoldIdle, "org.freedesktop.login1.inhibit-block-idle", "not authorised")
	b.Signal(began(claude))
	b.Pass(10 * time.Second)
	st := b.Core().Status()
	found := false
	for _, h := range st.Held {
		found = found || h.What == "idle" && strings.Contains(h.Error, "org.freedesktop.login1.inhibit-block-idle")
	}
	if !found {
		t.Errorf("held %+v does not name the refusal", st.Held)
	}
	b.Laptop().Allow(awake.HoldIdle)
	b.Input(daemon.MachineInput(awake.Input{Kind: awake.InService}))
	held(t, b, "allowed and the service is back", true)
}

// 5,000 tool events, one lock.
func TestCase_claudeCode28046_oneLockForAll(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	for range 2500 {
		b.Signal(event.Signal{Kind: event.ToolBegan, Session: claude, ToolUse: "u"})
		b.Signal(event.Signal{Kind: event.ToolEnded, Session: claude, ToolUse: "u"})
	}
	held(t, b, "after 5,000 events", true)
	if n := b.Count("acquire idle"); n != 1 {
		t.Errorf("%d acquires", n)
	}
}

// A crash with a lasting value changed: the next runtime puts the user's own
// value back, without a command.
func TestCase_onlySwitch157_lastingValueComesBack(t *testing.T) {
	b := bench(t, nil, fakelaptop.Options{LastingLid: true})
	b.Signal(began(claude))
	b.Pass(time.Second)
	if got := b.Laptop().LidSetting(); got != "nothing" {
		t.Fatalf("lid setting %q while working", got)
	}
	if err := b.Kill(); err != nil {
		t.Fatal(err)
	}
	b.Signal(is(event.Removed, claude))
	b.Pass(time.Minute)
	if got := b.Laptop().LidSetting(); got != "sleep" {
		t.Errorf("lid setting %q after crash and end, want the user's own", got)
	}
}

// A limit that resets in three hours ends the turn; it is no reason to stay awake for
// three hours, and a closed machine on its battery sleeps.
func TestCase_claudeCode13354_aLimitHoldsNothing(t *testing.T) {
	b := bench(t, nil)
	b.Signal(began(claude))
	held(t, b, "working", true)
	b.Signal(event.Signal{Kind: event.Failed, Session: claude, Reason: "rate_limit"})
	b.Pass(3 * time.Second)
	held(t, b, "after the limit", false)

	b = bench(t, nil)
	b.Laptop().SetBattery(awake.Battery{Known: true, OnBattery: true, Percent: 60})
	b.Signal(began(claude))
	b.Laptop().SetLid(awake.LidClosed)
	b.Pass(time.Minute)
	b.Signal(event.Signal{Kind: event.Failed, Session: claude, Reason: "rate_limit"})
	b.Pass(time.Minute)
	if n := len(b.Laptop().Sleeps()); n != 1 {
		t.Errorf("slept %d times, want once", n)
	}
}

func TestBench_hibernateKeepsTheLidLockUntilTheOutcome(t *testing.T) {
	b := bench(t, func(c *daemon.CoreConfig) { c.Awake.SuspendMode = awake.Hibernate })
	b.Signal(began(claude))
	b.Pass(time.Second)
	b.Laptop().SetLid(awake.LidClosed)
	b.Signal(event.Signal{Kind: event.Stopped, Session: claude, Tasks: []event.Task{}})
	b.Pass(time.Minute)
	if sl := b.Laptop().Sleeps(); len(sl) != 1 || sl[0].Mode != awake.Hibernate || sl[0].By != "call" {
		t.Errorf("sleeps %+v, want one hibernation by our call", sl)
	}
}

func TestBench_refusedThreeTimesSaysWho(t *testing.T) {
	b := bench(t, nil)
	b.Laptop().Foreign("packagekit", awake.HoldSleep)
	b.Signal(began(claude))
	b.Pass(time.Second)
	b.Laptop().SetLid(awake.LidClosed)
	b.Signal(event.Signal{Kind: event.Stopped, Session: claude, Tasks: []event.Task{}})
	b.Pass(2 * time.Minute)
	if n := b.Laptop().SuspendCalls(); n != 3 {
		t.Errorf("%d tries, want 3", n)
	}
	st := b.Core().Status()
	if len(st.Findings) == 0 || st.Findings[0].Code != "suspend-refused" {
		t.Errorf("findings %+v", st.Findings)
	}
}
