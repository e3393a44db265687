package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/machinetest"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
	"github.com/lidguard-go/lidguard/internal/platform/notice"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
	"github.com/lidguard-go/lidguard/internal/platform/wintest"
)

// onWindows returns a runtime's view of the PC; backups are kept in dir.
func onWindows(t *testing.T, pc *wintest.PC, dir, owner string) (*winMachine, *testKeeper) {
	t.Helper()
	k := &testKeeper{}
	m := newWin(winOptions{power: pc, keeper: k, notices: pc.Notices, awake: pc.Awake, boot: pc.Boot,
		readDisplays: pc.ReadDisplays, readBattery: pc.ReadBattery, readHeat: pc.ReadHeat,
		store: &lasting.Store{Path: filepath.Join(dir, "pending-backup.json"), Values: sleep.LidAction{Schemes: pc}, Owner: owner,
			Now: time.Now, Patience: 50 * time.Millisecond},
		pace: winPace{look: 2 * time.Millisecond, slow: 2 * time.Millisecond, tidy: 2 * time.Millisecond}})
	t.Cleanup(m.close)
	return m, k
}

// theirs are the lid actions that wintest's user has.
var theirs = map[string][2]uint32{wintest.Balanced: {1, 2}, wintest.Saver: {3, 1}}

// wantTheirs fails unless every lid action is the user's own and nothing pends.
func wantTheirs(t *testing.T, pc *wintest.PC, m *winMachine) {
	t.Helper()
	until(t, "every lid action is the user's own", func() bool {
		pending, err := m.store.Pending()
		return err == nil && len(pending) == 0 &&
			pc.Actions(wintest.Balanced) == theirs[wintest.Balanced] && pc.Actions(wintest.Saver) == theirs[wintest.Saver]
	})
}

// watching starts a Watch that ends with the test, and returns its facts.
func watching(t *testing.T, m awake.Machine) <-chan awake.Fact {
	facts := make(chan awake.Fact, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // ended by cancel, waited for in the cleanup
		defer close(done)
		m.Watch(ctx, func(f awake.Fact) { facts <- f })
	}()
	t.Cleanup(func() { cancel(); <-done })
	for f := range facts {
		if f.Kind == awake.FactBattery {
			break
		}
	}
	return facts
}

func waitFact(t *testing.T, facts <-chan awake.Fact, kind awake.FactKind) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case f := <-facts:
			if f.Kind == kind {
				return
			}
		case <-deadline:
			t.Fatalf("never told: %s", kind)
		}
	}
}

func TestWinMachine(t *testing.T) {
	lids := map[awake.Lid]notice.Kind{awake.LidOpen: notice.LidOpen, awake.LidClosed: notice.LidClosed}
	machinetest.Run(t, func(t *testing.T) machinetest.Bench {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "suite")
		return machinetest.Bench{
			Machine: m, Holds: awake.Holds(),
			Deny:        func(awake.Hold) { pc.Bar("Request", "group policy") },
			SetLid:      func(l awake.Lid) { pc.SetLid(lids[l]) },
			SetDisplays: pc.SetDisplays,
			SetBattery:  func(b awake.Battery) { pc.SetBattery(b.Percent, b.OnBattery) },
			MaySuspend:  true,
		}
	})
}

// The same suite for the machine of today, which sleeps in the modern way only.
func TestWinMachine_modernStandby(t *testing.T) {
	machinetest.Run(t, func(t *testing.T) machinetest.Bench {
		pc := wintest.New()
		pc.Can = sleep.Abilities{Lid: true, ModernStandby: true}
		m, _ := onWindows(t, pc, t.TempDir(), "suite")
		return machinetest.Bench{
			Machine: m, Holds: []awake.Hold{awake.HoldLid, awake.HoldIdle, awake.HoldDisplay},
			Deny:       func(awake.Hold) { pc.Bar("SetLidAction", "group policy") },
			MaySuspend: true,
		}
	})
}

func TestWinMachine_lidSetting(t *testing.T) {
	ctx := context.Background()
	hold := func(m *winMachine) (awake.Lock, error) { return m.Acquire(ctx, awake.HoldLid, "test") }
	nothing := [2]uint32{}

	lidSetting(t, func(t *testing.T, same bool) lidBench {
		pc := wintest.New()
		own := theirs[wintest.Balanced]
		if same {
			own[0] = 0
			pc.SetAction(wintest.Balanced, true, 0)
		}
		m, k := onWindows(t, pc, t.TempDir(), "a")
		return lidBench{machine: m, store: m.store, keeper: k, ignore: pc.IgnoreWrites, delay: pc.DelayWrites,
			undo: func() { pc.SetAction(wintest.Balanced, false, 2) },
			look: func() error { _, err := m.action.Shut(ctx); return err },
			ours: func() bool { return pc.Actions(wintest.Balanced) == nothing }, theirs: func() bool { return pc.Actions(wintest.Balanced) == own }}
	})
	t.Run("both power sources are changed, and put back as they were", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		lock, err := hold(m)
		if err != nil || pc.Actions(wintest.Balanced) != nothing {
			t.Fatalf("Acquire = %v, actions %v", err, pc.Actions(wintest.Balanced))
		}
		pc.SetLid(notice.LidClosed)
		if s := pc.Sleeps(); len(s) != 0 {
			t.Errorf("the shut lid slept: %+v", s)
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
		wantTheirs(t, pc, m)
	})
	t.Run("a policy is named, and nothing is left behind", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		pc.Bar("SetLidAction", "group policy")
		_, err := hold(m)
		var r *awake.Refusal
		if !errors.As(err, &r) || r.Who != "group policy" {
			t.Errorf("Acquire = %v", err)
		}
		wantTheirs(t, pc, m)
	})
	t.Run("a scheme without a lid setting is unsupported", func(t *testing.T) {
		pc := wintest.New()
		m, k := onWindows(t, pc, t.TempDir(), "a")
		pc.DeleteScheme(wintest.Balanced)
		if _, err := hold(m); !errors.Is(err, awake.ErrUnsupported) || k.ensured.Load() != 0 {
			t.Errorf("Acquire = %v", err)
		}
	})
	t.Run("another power scheme loses the lock, and both schemes get their own back", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		watching(t, m)
		lock, err := hold(m)
		if err != nil {
			t.Fatal(err)
		}
		pc.SetScheme(wintest.Saver)
		if held, err := m.Held(ctx); err != nil || len(held) != 0 {
			t.Errorf("Held = %q, %v though the new scheme sleeps", held, err)
		}
		<-lock.Lost()
		next, err := hold(m)
		if err != nil || pc.Actions(wintest.Saver) != nothing {
			t.Fatalf("again: %v, actions %v", err, pc.Actions(wintest.Saver))
		}
		until(t, "the scheme left behind is the user's own", func() bool {
			return pc.Actions(wintest.Balanced) == theirs[wintest.Balanced]
		})
		if pc.Actions(wintest.Saver) != nothing {
			t.Error("the new scheme was put back as well")
		}
		if err := next.Release(); err != nil {
			t.Error(err)
		}
		wantTheirs(t, pc, m)
	})
	t.Run("a scheme that is deleted meanwhile does not pend for ever", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		lock, err := hold(m)
		if err != nil {
			t.Fatal(err)
		}
		pc.DeleteScheme(wintest.Balanced)
		if err := lock.Release(); err != nil {
			t.Errorf("Release = %v", err)
		}
		if pending, err := m.store.Pending(); err != nil || len(pending) != 0 {
			t.Errorf("pending %+v, %v", pending, err)
		}
	})
}

func TestWinMachine_crashAndRestart(t *testing.T) {
	ctx := context.Background()
	pc := wintest.New()
	dir := t.TempDir()
	dead, _ := onWindows(t, pc, dir, "dead")
	if _, err := dead.Acquire(ctx, awake.HoldLid, "test"); err != nil {
		t.Fatal(err)
	}
	pc.SetScheme(wintest.Saver)              // and a boot later
	next, _ := onWindows(t, pc, dir, "next") // the other is not closed: it was killed
	for range 2 {
		if err := next.Restore(ctx); err != nil {
			t.Errorf("Restore = %v", err)
		}
		wantTheirs(t, pc, next)
	}
}

// The next login stands by while a value is changed, and no longer.
func TestWinMachine_nextLogin(t *testing.T) {
	armed, broken := false, error(nil)
	pc := wintest.New()
	m, k := onWindows(t, pc, t.TempDir(), "a")
	m.keeper = &loginKeeper{keeper: k, arm: func() error { armed = broken == nil; return broken },
		disarm: func() error { armed = false; return nil }}
	broken = errors.New("registry")
	if _, err := m.Acquire(t.Context(), awake.HoldLid, "test"); !errors.Is(err, broken) || k.ensured.Load() != 0 {
		t.Errorf("Acquire = %v though the next login cannot restore", err)
	}
	wantTheirs(t, pc, m)
	broken = nil
	if _, err := m.Acquire(t.Context(), awake.HoldLid, "test"); err != nil || !armed {
		t.Errorf("Acquire = %v, armed %v", err, armed)
	}
	m.close()
	if armed {
		t.Error("armed after all was put back")
	}

	pc = wintest.New()
	m, k = onWindows(t, pc, t.TempDir(), "a")
	m.keeper = &loginKeeper{keeper: k, arm: func() error { armed = true; return nil }, disarm: func() error { armed = false; return nil }}
	if _, err := m.Acquire(t.Context(), awake.HoldLid, "test"); err != nil {
		t.Fatal(err)
	}
	pc.IgnoreWrites(true)
	m.close()
	if !armed {
		t.Error("not armed though nothing could be put back")
	}
}

func TestWinMachine_closeGivesAllBack(t *testing.T) {
	pc := wintest.New()
	m, _ := onWindows(t, pc, t.TempDir(), "a")
	for _, hold := range awake.Holds() {
		if _, err := m.Acquire(t.Context(), hold, "test"); err != nil {
			t.Fatal(err)
		}
	}
	m.close()
	m.close()
	if pc.Requests() != 0 || pc.Windows() != 0 {
		t.Errorf("%d requests and %d windows are left", pc.Requests(), pc.Windows())
	}
	wantTheirs(t, pc, m)
}

func TestWinMachine_requests(t *testing.T) {
	ctx := context.Background()
	t.Run("nothing is claimed that Windows does not show", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		for _, hold := range awake.Holds() {
			if _, err := m.Acquire(ctx, hold, "test"); err != nil {
				t.Fatal(err)
			}
		}
		pc.Blind(true)
		if held, err := m.Held(ctx); err != nil || !slices.Equal(held, []awake.Hold{awake.HoldLid}) {
			t.Errorf("Held = %q, %v", held, err)
		}
		pc.Break("Execution", wintest.ErrBroken)
		if held, err := m.Held(ctx); !errors.Is(err, wintest.ErrBroken) {
			t.Errorf("Held = %q, %v though nothing can be read", held, err)
		}
	})
	t.Run("requests that Windows ended are made anew", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		lock, err := m.Acquire(ctx, awake.HoldIdle, "test")
		if err != nil {
			t.Fatal(err)
		}
		watching(t, m)
		for _, end := range []func(){pc.Terminate, pc.Doze} {
			end()
			until(t, "the request stands again", func() bool {
				held, err := m.Held(ctx)
				return err == nil && len(held) == 1
			})
			if pc.Requests() != 1 {
				t.Errorf("%d requests for one lock", pc.Requests())
			}
		}
		pc.Bar("Request", "Windows")
		pc.Terminate()
		<-lock.Lost()
		if pc.Requests() != 0 {
			t.Errorf("%d requests for a lost lock", pc.Requests())
		}
	})
	t.Run("a refusal says who", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		pc.Bar("Request", "group policy")
		var r *awake.Refusal
		if _, err := m.Acquire(ctx, awake.HoldIdle, "test"); !errors.As(err, &r) || r.Who != "group policy" || !strings.Contains(r.Why, "group policy") {
			t.Errorf("Acquire = %v", err)
		}
	})
}

func TestWinMachine_suspend(t *testing.T) {
	ctx := context.Background()
	t.Run("away mode gives way to the sleep", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		strict, err := m.Acquire(ctx, awake.HoldSleep, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Suspend(ctx, awake.Sleep); err != nil {
			t.Fatal(err)
		}
		if s := pc.Sleeps(); len(s) != 1 || s[0] != (wintest.Sleep{Mode: sleep.Suspend, By: "program"}) {
			t.Errorf("sleeps %+v", s)
		}
		select {
		case <-strict.Lost():
		default:
			t.Error("the strict lock went without a word")
		}
	})
	t.Run("hibernation is hibernation", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		if err := m.Suspend(ctx, awake.Hibernate); err != nil {
			t.Fatal(err)
		}
		if s := pc.Sleeps(); len(s) != 1 || s[0].Mode != sleep.Hibernate {
			t.Errorf("sleeps %+v", s)
		}
	})
	t.Run("a sleep is told, once, also where Windows keeps quiet", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		facts := watching(t, m)
		pc.Doze()
		waitFact(t, facts, awake.FactSleeping)
		waitFact(t, facts, awake.FactWoke)
		pc.Hush(true)
		pc.Doze()
		waitFact(t, facts, awake.FactWoke)
		pc.SetBattery(50, true) // a fact that comes after whatever was still to be told
		for f := range facts {
			if f.Kind == awake.FactWoke || f.Kind == awake.FactSleeping {
				t.Errorf("told again: %+v", f)
			}
			if f.Kind == awake.FactBattery {
				break
			}
		}
	})
	t.Run("a call that hangs ends with its context, and another is refused meanwhile", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		release := pc.Stick()
		defer release()
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		if err := m.Suspend(short, awake.Sleep); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Suspend = %v", err)
		}
		if err := m.Suspend(ctx, awake.Sleep); !errors.Is(err, awake.ErrDenied) {
			t.Errorf("a second Suspend = %v", err)
		}
		release()
		until(t, "the machine can be put to sleep again", func() bool { return m.Suspend(ctx, awake.Sleep) == nil })
	})
	t.Run("a call that outlives its context through a sleep has slept", func(t *testing.T) {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		release := pc.Stick()
		defer release()
		short, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() { done <- m.Suspend(short, awake.Sleep) }() // ends with cancel
		until(t, "the call is under way", func() bool {
			m.mu.Lock()
			defer m.mu.Unlock()
			return m.entering != nil
		})
		pc.Doze()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Suspend = %v", err)
		}
	})
}

func TestWinMachine_canSuspend(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		set  func(*wintest.PC)
		mode awake.Mode
		want error
	}{
		"sleep":                        {func(*wintest.PC) {}, awake.Sleep, nil},
		"hibernate":                    {func(*wintest.PC) {}, awake.Hibernate, nil},
		"hibernation is switched off":  {func(p *wintest.PC) { p.Can.Hibernate = false }, awake.Hibernate, awake.ErrUnsupported},
		"modern standby":               {func(p *wintest.PC) { p.Can.Sleep, p.Can.ModernStandby = false, true }, awake.Sleep, nil},
		"a machine that never sleeps":  {func(p *wintest.PC) { p.Can.Sleep = false }, awake.Sleep, awake.ErrUnsupported},
		"no privilege":                 {func(p *wintest.PC) { p.Bar("Allowed", "SeShutdownPrivilege") }, awake.Sleep, awake.ErrDenied},
		"Windows does not know itself": {func(p *wintest.PC) { p.Break("Abilities", wintest.ErrBroken) }, awake.Sleep, wintest.ErrBroken},
	} {
		pc := wintest.New()
		m, _ := onWindows(t, pc, t.TempDir(), "a")
		c.set(pc)
		if err := m.CanSuspend(ctx, c.mode); !errors.Is(err, c.want) || len(pc.Sleeps()) != 0 {
			t.Errorf("%s: CanSuspend = %v, want %v; sleeps %+v", name, err, c.want, pc.Sleeps())
		}
		err := m.Suspend(ctx, c.mode)
		if !errors.Is(err, c.want) || (err == nil) != (len(pc.Sleeps()) == 1) {
			t.Errorf("%s: Suspend = %v, want %v; sleeps %+v", name, err, c.want, pc.Sleeps())
		}
	}
	pc := wintest.New()
	m, _ := onWindows(t, pc, t.TempDir(), "a")
	pc.Bar("Enter", "Windows")
	if err := m.Suspend(ctx, awake.Sleep); !errors.Is(err, awake.ErrDenied) {
		t.Errorf("a refused call: Suspend = %v", err)
	}
}

func TestWinMachine_unreadableIsUnknown(t *testing.T) {
	pc := wintest.New()
	for _, call := range []string{"Notices", "Displays", "Battery", "Heat"} {
		pc.Break(call, wintest.ErrBroken)
	}
	m, _ := onWindows(t, pc, t.TempDir(), "a")
	ctx := t.Context()
	if l, err := m.Lid(ctx); l != awake.LidUnknown || !errors.Is(err, wintest.ErrBroken) {
		t.Errorf("Lid = %s, %v", l, err)
	}
	if n, err := m.Displays(ctx); n != awake.UnknownDisplays || err == nil {
		t.Errorf("Displays = %d, %v", n, err)
	}
	if b, err := m.Battery(ctx); b.Known || err == nil {
		t.Errorf("Battery = %+v, %v", b, err)
	}
	if c, err := m.Heat(ctx, "average"); err == nil {
		t.Errorf("Heat = %v", c)
	}
	facts := watching(t, m) // tells unknowns, and goes on
	pc.Hush(true)
	pc.Doze()
	waitFact(t, facts, awake.FactWoke)
}

// A machine without a lid is never a shut one, whatever Windows says.
func TestWinMachine_noLid(t *testing.T) {
	pc := wintest.New()
	pc.Can.Lid = false
	m, _ := onWindows(t, pc, t.TempDir(), "a")
	pc.Tell(notice.LidClosed)
	if l, err := m.Lid(t.Context()); l != awake.LidUnknown || err == nil {
		t.Errorf("Lid = %s, %v", l, err)
	}
}

// Notices that nobody takes are no harm, and those before a Watch are not told.
func TestWinMachine_noticesWithoutAWatch(t *testing.T) {
	pc := wintest.New()
	m, _ := onWindows(t, pc, t.TempDir(), "a")
	for range 1000 {
		pc.Doze()
	}
	pc.Tell(notice.LidClosed)
	facts := watching(t, m)
	pc.SetBattery(50, true)
	for f := range facts {
		if f.Kind == awake.FactSleeping || f.Kind == awake.FactWoke {
			t.Errorf("told: %+v, which was before", f)
		}
		if f.Kind == awake.FactBattery {
			break
		}
	}
	if l, err := m.Lid(t.Context()); l != awake.LidClosed || err != nil {
		t.Errorf("Lid = %s, %v", l, err)
	}
}

// What a machine costs while an agent works.
func TestWinMachine_asksRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pc := wintest.New()
		m, k := onWindows(t, pc, t.TempDir(), "a")
		m.pace = defaultWinPace()
		for _, hold := range []awake.Hold{awake.HoldIdle, awake.HoldLid} {
			if _, err := m.Acquire(t.Context(), hold, "test"); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		facts := 0
		if err := m.Watch(ctx, func(awake.Fact) { facts++ }); err != nil {
			t.Fatal(err)
		}
		if facts != 3 || pc.Made() != 1 || k.ensured.Load() > 125 {
			t.Errorf("within a quiet hour: %d facts, %d requests, %d looks at the keeper", facts, pc.Made(), k.ensured.Load())
		}
		m.close() // in the bubble that its channels belong to
	})
}
