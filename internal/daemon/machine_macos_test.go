package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/machinetest"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
	"github.com/lidguard-go/lidguard/internal/platform/mactest"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

// testKeeper only counts: the real one is tested in package lasting.
type testKeeper struct {
	err     error
	ensured atomic.Int32
}

func (k *testKeeper) Ensure(context.Context) error {
	k.ensured.Add(1)
	return k.err
}
func (k *testKeeper) Close(context.Context) error { return nil }

// onMac returns a runtime's view of the Mac; backups are kept in dir.
func onMac(t *testing.T, mac *mactest.Mac, dir, owner string) (*macMachine, *testKeeper) {
	t.Helper()
	k := &testKeeper{}
	m := newMac(macOptions{run: mac, pid: 4711, awake: mac.Awake, boot: mac.Boot, keeper: k,
		store: &lasting.Store{Path: filepath.Join(dir, "pending-backup.json"), Values: sleep.Pmset{Run: mac}, Owner: owner,
			Now: time.Now, Patience: 50 * time.Millisecond},
		pace: macPace{lid: 2 * time.Millisecond, battery: 2 * time.Millisecond, displaysShut: 2 * time.Millisecond,
			displaysOpen: 2 * time.Millisecond, held: 2 * time.Millisecond, tidy: 2 * time.Millisecond}})
	t.Cleanup(m.close)
	return m, k
}

func refuse(words string) func(string) bool {
	return func(command string) bool { return strings.Contains(command, words) }
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestMacMachine(t *testing.T) {
	machinetest.Run(t, func(t *testing.T) machinetest.Bench {
		mac := mactest.New()
		m, _ := onMac(t, mac, t.TempDir(), "suite")
		return machinetest.Bench{
			Machine: m, Holds: []awake.Hold{awake.HoldLid, awake.HoldIdle, awake.HoldDisplay},
			Deny: func(awake.Hold) { mac.Forbid(refuse("disablesleep 1")) },
			SetLid: func(l awake.Lid) {
				mac.SetLid(map[awake.Lid]string{awake.LidOpen: "open", awake.LidClosed: "shut"}[l])
			},
			SetDisplays: mac.SetDisplays,
			SetBattery:  func(b awake.Battery) { mac.SetBattery(b.Percent, b.OnBattery) },
		}
	})
}

func TestMacMachine_lidSetting(t *testing.T) {
	ctx := context.Background()
	lidSetting(t, func(t *testing.T, same bool) lidBench {
		mac := mactest.New()
		own := "0"
		if same {
			own = "1"
			mac.Set("disablesleep", own)
		}
		m, k := onMac(t, mac, t.TempDir(), "a")
		return lidBench{machine: m, store: m.store, keeper: k, ignore: mac.IgnoreWrites, delay: mac.DelayWrites,
			undo: func() { mac.Set("disablesleep", "0") },
			look: func() error { _, err := m.pmset.Read(ctx, sleep.DisableSleep); return err },
			ours: func() bool { return mac.Get("disablesleep") == "1" }, theirs: func() bool { return mac.Get("disablesleep") == own }}
	})
	t.Run("without a right nothing is held and nothing is left behind", func(t *testing.T) {
		mac := mactest.New()
		m, _ := onMac(t, mac, t.TempDir(), "a")
		mac.Forbid(refuse("pmset"))
		_, err := m.Acquire(ctx, awake.HoldLid, "test")
		var r *awake.Refusal
		if !errors.As(err, &r) || r.Who != "sudo" || !strings.Contains(r.Why, "lidguard macos-permission install") {
			t.Errorf("Acquire = %v", err)
		}
		until(t, "no backup is pending", func() bool {
			pending, err := m.store.Pending()
			return err == nil && len(pending) == 0
		})
	})
	t.Run("without a keeper the hibernate mode is not changed", func(t *testing.T) {
		mac := mactest.New()
		m, k := onMac(t, mac, t.TempDir(), "a")
		k.err = errors.New("no program")
		if err := m.Suspend(ctx, awake.Hibernate); !errors.Is(err, k.err) || mac.Get("hibernatemode") != "3" {
			t.Errorf("Suspend = %v, mode %q", err, mac.Get("hibernatemode"))
		}
	})
}

// OnlySwitch#157: the setting stayed after the program and even after a reboot.
func TestMacMachine_crashAndRestart(t *testing.T) {
	ctx := context.Background()
	mac := mactest.New()
	dir := t.TempDir()
	dead, _ := onMac(t, mac, dir, "dead")
	if _, err := dead.Acquire(ctx, awake.HoldLid, "test"); err != nil {
		t.Fatal(err)
	}
	next, _ := onMac(t, mac, dir, "next") // the other is not closed: it was killed
	for range 2 {
		if err := next.Restore(ctx); err != nil || mac.Get("disablesleep") != "0" {
			t.Errorf("Restore = %v, value %q", err, mac.Get("disablesleep"))
		}
	}
	// And when the next one takes its own lock before it could restore.
	if _, err := dead.Acquire(ctx, awake.HoldDisplay, "test"); err != nil {
		t.Fatal(err)
	}
	mac.Set("disablesleep", "0")
	if err := dead.store.Change(ctx, sleep.DisableSleep, "1"); err != nil {
		t.Fatal(err)
	}
	lock, err := next.Acquire(ctx, awake.HoldLid, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.store.PutBack(ctx); err != nil || mac.Get("disablesleep") != "1" {
		t.Errorf("the dead one's keeper took the next one's lock: %v, value %q", err, mac.Get("disablesleep"))
	}
	if err := lock.Release(); err != nil || mac.Get("disablesleep") != "0" {
		t.Errorf("Release = %v, value %q, want the user's own", err, mac.Get("disablesleep"))
	}
}

func TestMacMachine_closeGivesAllBack(t *testing.T) {
	mac := mactest.New()
	m, _ := onMac(t, mac, t.TempDir(), "a")
	for _, hold := range []awake.Hold{awake.HoldIdle, awake.HoldLid, awake.HoldDisplay} {
		if _, err := m.Acquire(t.Context(), hold, "test"); err != nil {
			t.Fatal(err)
		}
	}
	m.close()
	m.close()
	if mac.Running() != 0 || mac.Get("disablesleep") != "0" {
		t.Errorf("%d caffeinate run on, disablesleep %q", mac.Running(), mac.Get("disablesleep"))
	}
}

// claude-code#28046: thousands of caffeinate processes from one session.
func TestMacMachine_oneCaffeinate(t *testing.T) {
	mac := mactest.New()
	m, _ := onMac(t, mac, t.TempDir(), "a")
	first, err := m.Acquire(t.Context(), awake.HoldIdle, "test")
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		k, err := m.Acquire(t.Context(), awake.HoldIdle, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if mac.Starts() != 1 || mac.Running() != 1 {
		t.Errorf("%d started, %d run", mac.Starts(), mac.Running())
	}
	mac.KillCaffeinate()
	<-first.Lost()
	if held, err := m.Held(t.Context()); err != nil || len(held) != 0 {
		t.Errorf("Held = %q, %v after it was killed", held, err)
	}
	again, err := m.Acquire(t.Context(), awake.HoldIdle, "test")
	if err != nil || mac.Running() != 1 {
		t.Fatalf("again: %v, %d run", err, mac.Running())
	}
	// Word of the first one's end, come late, must not take the lock from the second:
	// it would run on for nobody.
	m.cups.Lost(sleep.Idle)
	select {
	case <-again.Lost():
		t.Error("lost, and its caffeinate runs")
	default:
	}
	if err := again.Release(); err != nil || mac.Running() != 0 {
		t.Errorf("released: %v, %d run", err, mac.Running())
	}
}

// One may die while it is being taken, before there is a lock to lose.
func TestMacMachine_diesWhileTaken(t *testing.T) {
	mac := mactest.New()
	m, _ := onMac(t, mac, t.TempDir(), "a")
	started := m.cups.Now
	m.cups.Now = func() time.Duration { // asked once it is listed
		if mac.Running() > 0 {
			mac.KillCaffeinate()
		}
		return started()
	}
	lock, err := m.Acquire(t.Context(), awake.HoldIdle, "test")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-lock.Lost():
	case <-time.After(time.Minute):
		t.Error("it is not lost")
	}
}

func TestMacMachine_suspend(t *testing.T) {
	ctx := context.Background()
	t.Run("sleep is asked for and the wake-up told", func(t *testing.T) {
		mac := mactest.New()
		m, _ := onMac(t, mac, t.TempDir(), "a")
		watch, cancel := context.WithCancel(ctx)
		defer cancel()
		facts := make(chan awake.Fact, 100)
		go m.Watch(watch, func(f awake.Fact) { facts <- f }) // ends with cancel
		for f := range facts {
			if f.Kind == awake.FactBattery {
				break
			}
		}
		if err := m.Suspend(ctx, awake.Sleep); err != nil {
			t.Fatal(err)
		}
		if s := mac.Sleeps(); len(s) != 1 || s[0].By != "sleepnow" || s[0].Mode != "3" {
			t.Errorf("sleeps %+v", s)
		}
		for f := range facts {
			if f.Kind == awake.FactWoke {
				break
			}
		}
		mac.Doze() // and from the menu
		for f := range facts {
			if f.Kind == awake.FactWoke {
				break
			}
		}
	})
	t.Run("hibernation changes the mode for that sleep only", func(t *testing.T) {
		for _, own := range []string{"0", "3", "25"} {
			mac := mactest.New()
			mac.Set("hibernatemode", own)
			m, _ := onMac(t, mac, t.TempDir(), "a")
			lid, err := m.Acquire(ctx, awake.HoldLid, "test")
			if err != nil {
				t.Fatal(err)
			}
			mac.SetLid("shut")
			if err := m.Suspend(ctx, awake.Hibernate); err != nil {
				t.Fatal(err)
			}
			if s := mac.Sleeps(); len(s) != 1 || s[0].Mode != "25" {
				t.Errorf("sleeps %+v, want one in mode 25", s)
			}
			select {
			case <-lid.Lost():
			default:
				t.Error("the lid lock went for the sleep without a word")
			}
			until(t, "the mode is the user's own", func() bool {
				pending, err := m.store.Pending()
				return err == nil && len(pending) == 0 && mac.Get("hibernatemode") == own
			})
			if mac.Get("disablesleep") != "0" {
				t.Errorf("disablesleep is %q", mac.Get("disablesleep"))
			}
		}
	})
	t.Run("the mode goes back where no sleep could be asked for", func(t *testing.T) {
		mac := mactest.New()
		m, _ := onMac(t, mac, t.TempDir(), "a")
		lock, err := m.Acquire(ctx, awake.HoldLid, "test")
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Release()
		mac.Forbid(refuse("disablesleep 0"))
		if err := m.Suspend(ctx, awake.Hibernate); !errors.Is(err, awake.ErrDenied) {
			t.Errorf("Suspend = %v", err)
		}
		if s := mac.Sleeps(); len(s) != 0 {
			t.Errorf("sleeps %+v", s)
		}
		until(t, "the mode is the user's own", func() bool { return mac.Get("hibernatemode") == "3" })
		mac.Forbid(nil)
	})
	t.Run("the runtime dies while the Mac hibernates", func(t *testing.T) {
		mac := mactest.New()
		m, _ := onMac(t, mac, t.TempDir(), "a")
		m.stop() // nothing of it acts any more
		if err := m.Suspend(ctx, awake.Hibernate); err != nil {
			t.Fatal(err)
		}
		if mac.Get("hibernatemode") != "25" {
			t.Fatalf("mode %q", mac.Get("hibernatemode"))
		}
		keeper := &lasting.Store{Path: m.store.Path, Values: m.store.Values, Owner: "a", Now: time.Now}
		if err := keeper.PutBack(ctx); err != nil || mac.Get("hibernatemode") != "3" {
			t.Errorf("the keeper: %v, mode %q", err, mac.Get("hibernatemode"))
		}
	})
}

func TestMacMachine_canSuspend(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		set  func(*mactest.Mac)
		mode awake.Mode
		want func(error) bool
	}{
		"sleep":     {func(*mactest.Mac) {}, awake.Sleep, func(err error) bool { return err == nil }},
		"hibernate": {func(*mactest.Mac) {}, awake.Hibernate, func(err error) bool { return err == nil }},
		"hibernate without the right": {func(m *mactest.Mac) { m.Forbid(refuse("hibernatemode 25")) }, awake.Hibernate,
			func(err error) bool { return errors.Is(err, awake.ErrDenied) }},
		"hibernate without the right to go back": {func(m *mactest.Mac) { m.Forbid(refuse("hibernatemode 3")) }, awake.Hibernate,
			func(err error) bool { return errors.Is(err, awake.ErrDenied) }},
		"sleep needs no right": {func(m *mactest.Mac) { m.Forbid(refuse("")) }, awake.Sleep, func(err error) bool { return err == nil }},
		"the user's own disablesleep": {func(m *mactest.Mac) { m.Set("disablesleep", "1") }, awake.Sleep,
			func(err error) bool { return errors.Is(err, awake.ErrDenied) }},
		"a mode that could not be put back": {func(m *mactest.Mac) { m.Set("hibernatemode", "7") }, awake.Hibernate,
			func(err error) bool { return err != nil }},
		"two modes that could not be put back": {func(m *mactest.Mac) { m.SetApart("0") }, awake.Hibernate,
			func(err error) bool { return err != nil }},
		"a Mac that does not hibernate": {func(m *mactest.Mac) { m.Set("hibernatemode", "") }, awake.Hibernate,
			func(err error) bool { return errors.Is(err, awake.ErrUnsupported) }},
		"pmset does not answer": {func(m *mactest.Mac) { m.Break("/usr/bin/pmset", mactest.ErrBroken) }, awake.Sleep,
			func(err error) bool { return errors.Is(err, mactest.ErrBroken) }},
	} {
		mac := mactest.New()
		m, _ := onMac(t, mac, t.TempDir(), "a")
		c.set(mac)
		before := mac.Get("hibernatemode")
		err := m.CanSuspend(ctx, c.mode)
		if !c.want(err) || mac.Get("hibernatemode") != before || len(mac.Sleeps()) != 0 {
			t.Errorf("%s: CanSuspend = %v, mode %q, sleeps %+v", name, err, mac.Get("hibernatemode"), mac.Sleeps())
		}
		if err != nil {
			if got := m.Suspend(ctx, c.mode); got == nil || len(mac.Sleeps()) != 0 || mac.Get("hibernatemode") != before {
				t.Errorf("%s: Suspend = %v, mode %q, sleeps %+v", name, got, mac.Get("hibernatemode"), mac.Sleeps())
			}
		}
	}
}

func TestMacMachine_unreadableIsUnknown(t *testing.T) {
	mac := mactest.New()
	m, _ := onMac(t, mac, t.TempDir(), "a")
	mac.SetHeat(0) // Apple silicon
	for _, path := range []string{"/usr/sbin/ioreg", "/usr/sbin/system_profiler", "/usr/bin/pmset"} {
		mac.Break(path, mactest.ErrBroken)
	}
	ctx := t.Context()
	if l, err := m.Lid(ctx); l != awake.LidUnknown || err == nil {
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
}

// What a Mac costs while an agent works, lid open and lid shut.
func TestMacMachine_asksRarely(t *testing.T) {
	for name, c := range map[string]struct {
		lid  string
		most map[string]int // runs within an hour
	}{
		"lid open": {"open", map[string]int{"ioreg": 721, "system_profiler": 31, "batt": 121, "pmset -g": 121, "powermetrics": 0}},
		"lid shut": {"shut", map[string]int{"ioreg": 721, "system_profiler": 181, "batt": 121, "pmset -g": 121, "powermetrics": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mac := mactest.New()
				m, _ := onMac(t, mac, t.TempDir(), "a")
				m.pace = defaultMacPace()
				lock, err := m.Acquire(t.Context(), awake.HoldLid, "test")
				if err != nil {
					t.Fatal(err)
				}
				mac.SetLid(c.lid)
				mac.Calls()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				facts := 0
				if err := m.Watch(ctx, func(awake.Fact) { facts++ }); err != nil {
					t.Fatal(err)
				}
				got := map[string]int{}
				for _, line := range mac.Calls() {
					for word := range c.most {
						if strings.Contains(line, word) && (word != "pmset -g" || strings.HasSuffix(line, word)) {
							got[word]++
						}
					}
				}
				for word, most := range c.most {
					if got[word] > most || most > 0 && got[word] < most/2 {
						t.Errorf("%s ran %d times within an hour, want at most %d", word, got[word], most)
					}
				}
				if facts != 3 {
					t.Errorf("%d facts were told of a Mac that does not change", facts)
				}
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A hook waits a quarter of a second for the displays; system_profiler may take
// longer, and then the next hook has the answer.
func TestFresh(t *testing.T) {
	now := time.Duration(0)
	ran := 0
	hold, entered := make(chan struct{}), make(chan struct{})
	f := fresh{read: func(context.Context) (any, error) {
		ran++
		close(entered)
		<-hold
		return ran, nil
	}}
	clock := func() time.Duration { return now }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := f.get(ended, clock, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context gets %v, %v", v, err)
	}
	<-entered
	close(hold)
	for range 2 {
		if v, err := f.get(t.Context(), clock, time.Second); v != 1 || err != nil {
			t.Errorf("got %v, %v, want the reading that went on", v, err)
		}
	}
	entered = make(chan struct{})
	now = time.Second
	if v, err := f.get(t.Context(), clock, time.Second); v != 2 || err != nil {
		t.Errorf("got %v, %v, want a new reading", v, err)
	}
}
