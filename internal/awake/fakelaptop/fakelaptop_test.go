package fakelaptop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/awake/machinetest"
)

func TestMachine(t *testing.T) {
	for name, opt := range map[string]fakelaptop.Options{
		"systemd 252": {},
		"systemd 257": {RefuseOwnBlock: true},
		"lasting lid": {LastingLid: true},
	} {
		t.Run(name, func(t *testing.T) {
			machinetest.Run(t, func(t *testing.T) machinetest.Bench {
				l := fakelaptop.New(opt)
				return machinetest.Bench{
					Machine: l.Machine(), Holds: awake.Holds(),
					Deny:   func(h awake.Hold) { l.Deny(h, "org.freedesktop.login1.inhibit", "not authorised") },
					SetLid: l.SetLid, SetDisplays: l.SetDisplays, SetBattery: l.SetBattery,
					RestartService: l.RestartService, MaySuspend: true, Wake: l.Wake,
				}
			})
		})
	}
}

// What the lab measured of logind, as the fake does it.
func TestLaptop_habitsOfLogind(t *testing.T) {
	ctx := context.Background()
	t.Run("closing the lid with no lock sleeps, opening it wakes", func(t *testing.T) {
		l := fakelaptop.New(fakelaptop.Options{})
		l.SetLid(awake.LidClosed)
		if !l.Asleep() {
			t.Fatal("a shut machine without locks is awake")
		}
		before := l.Now()
		l.Advance(time.Hour)
		after := l.Now()
		if after.Awake != before.Awake || after.Boot != before.Boot+time.Hour {
			t.Errorf("an hour asleep moved the clocks by %s awake, %s boot", after.Awake-before.Awake, after.Boot-before.Boot)
		}
		l.SetLid(awake.LidOpen)
		if l.Asleep() {
			t.Error("an opened machine sleeps on")
		}
	})
	t.Run("dropping the lid lock of a shut machine sleeps at once", func(t *testing.T) {
		l := fakelaptop.New(fakelaptop.Options{})
		k, err := l.Machine().Acquire(ctx, awake.HoldLid, "test")
		if err != nil {
			t.Fatal(err)
		}
		l.SetLid(awake.LidClosed)
		if l.Asleep() {
			t.Fatal("the lid lock did not hold")
		}
		if err := k.Release(); err != nil || !l.Asleep() {
			t.Errorf("asleep = %v, Release = %v", l.Asleep(), err)
		}
		l.Wake()
		l.Advance(fakelaptop.HoldOff + time.Second)
		if got := len(l.Sleeps()); got != 2 {
			t.Errorf("%d sleeps; logind sleeps again %s after a wake with the lid shut", got, fakelaptop.HoldOff)
		}
	})
	t.Run("a docked machine stays awake until the display goes", func(t *testing.T) {
		l := fakelaptop.New(fakelaptop.Options{})
		l.SetDisplays(1)
		l.SetLid(awake.LidClosed)
		if l.Asleep() {
			t.Fatal("docked machine slept")
		}
		l.SetDisplays(0)
		if !l.Asleep() {
			t.Error("undocked shut machine is awake")
		}
	})
	t.Run("an own sleep block refuses the own suspend on 257 only", func(t *testing.T) {
		for _, newer := range []bool{false, true} {
			l := fakelaptop.New(fakelaptop.Options{RefuseOwnBlock: newer})
			m := l.Machine()
			if _, err := m.Acquire(ctx, awake.HoldSleep, "test"); err != nil {
				t.Fatal(err)
			}
			if l.Sleep() {
				t.Error("the person's own suspend passed a sleep block")
			}
			if err := m.Suspend(ctx, awake.Sleep); newer != errors.Is(err, awake.ErrDenied) {
				t.Errorf("257 %v: Suspend = %v", newer, err)
			}
		}
	})
	t.Run("a killed process leaves no lock but its lasting value", func(t *testing.T) {
		l := fakelaptop.New(fakelaptop.Options{LastingLid: true})
		l.SetLidSetting("hibernate")
		m := l.Machine()
		for _, h := range awake.Holds() {
			if _, err := m.Acquire(ctx, h, "test"); err != nil {
				t.Fatal(err)
			}
		}
		m.Kill()
		for _, h := range awake.Holds() {
			if n := l.Locks(h); n != 0 {
				t.Errorf("%d locks of %s outlived the process", n, h)
			}
		}
		if got := l.LidSetting(); got != "nothing" {
			t.Errorf("lid setting is %q after a kill, want the changed one", got)
		}
		if err := l.Machine().Restore(ctx); err != nil || l.LidSetting() != "hibernate" {
			t.Errorf("Restore = %v, setting %q, want the user's own", err, l.LidSetting())
		}
	})
	t.Run("a write that is not kept is a failure", func(t *testing.T) {
		l := fakelaptop.New(fakelaptop.Options{LastingLid: true})
		l.LoseWrites(true)
		if _, err := l.Machine().Acquire(ctx, awake.HoldLid, "test"); err == nil {
			t.Error("claims a lid hold that does not stand")
		}
	})
	t.Run("a hanging call ends with its context", func(t *testing.T) {
		l := fakelaptop.New(fakelaptop.Options{})
		defer l.Hang(fakelaptop.OpAcquire)()
		ended, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := l.Machine().Acquire(ended, awake.HoldIdle, "test"); !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire = %v", err)
		}
	})
}
