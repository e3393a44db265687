//go:build lidlab && linux

// These tests need a logind that enforces its rules, inside a laboratory where
// nothing can put a machine to sleep. Built with the tag lidlab they insist on
// it: LIDLAB=real must be set, and the bus there. TestReal_ runs as a local
// user, as one without a session, and as root; TestRealRoot_ as root only.
package sleep_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

const sleepLog = "/run/lidlab/sleep.log"

func realManager(t *testing.T) (*sleep.Manager, *log) {
	t.Helper()
	if lab := os.Getenv("LIDLAB"); lab != "real" && lab != "vm" {
		t.Fatal("built for the laboratory, but LIDLAB is neither \"real\" nor \"vm\": run it there")
	}
	if _, err := os.Stat(sleepLog); err != nil {
		t.Fatalf("not inside the laboratory: %v", err)
	}
	var events log
	m := sleep.Open(sleep.Options{SystemBus: os.Getenv("DBUS_SYSTEM_BUS_ADDRESS"), OnEvent: events.add})
	t.Cleanup(func() { m.Close() })
	bustest.Eventually(t, "login1 is there", func() bool { return events.count(sleep.ServiceUp) == 1 })
	return m, &events
}

// local reports whether we run as somebody with an active session.
func local() bool { return os.Getenv("XDG_SESSION_ID") != "" }

func slept(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(sleepLog)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), " post suspend")
}

func TestReal_takeReadBackRelease(t *testing.T) {
	m, _ := realManager(t)
	all := []sleep.What{sleep.Idle, sleep.LidSwitch, sleep.AnySleep}
	if !local() && os.Getuid() != 0 {
		// Without an active session only idle is granted.
		for _, w := range all[1:] {
			var denied *sleep.DeniedError
			if err := m.Take(t.Context(), w, "test"); !errors.As(err, &denied) || denied.PolkitAction == "" {
				t.Errorf("%s: got %v, want a refusal that names its action", w, err)
			}
		}
		all = all[:1]
	}
	for _, w := range all {
		if err := m.Take(t.Context(), w, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if h := held(t, m); !slices.Equal(h, all) {
		t.Errorf("held %q, want %q", h, all)
	}
	if err := m.Take(t.Context(), sleep.Idle, "another reason"); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "the old lock gone, the new one there", func() bool {
		list, err := m.Holders(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var why []string
		for _, h := range list {
			if h.Ours && h.Blocks(sleep.Idle) {
				why = append(why, h.Why)
			}
		}
		return slices.Equal(why, []string{"another reason"})
	})
	for _, w := range all {
		if err := m.Release(w); err != nil {
			t.Fatal(err)
		}
	}
	bustest.Eventually(t, "nothing held", func() bool { return len(held(t, m)) == 0 })
}

func TestReal_foreignLocksLeaveUPowerOut(t *testing.T) {
	m, _ := realManager(t)
	list, err := m.Foreign(t.Context(), sleep.AnySleep)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range list {
		if h.Who == "UPower" {
			t.Errorf("UPower's delay lock is named: %+v", h)
		}
	}
	other := sleep.Open(sleep.Options{SystemBus: os.Getenv("DBUS_SYSTEM_BUS_ADDRESS"), Who: "desktop"})
	defer other.Close()
	if err := other.Take(t.Context(), sleep.Idle, "its own reasons"); err != nil {
		t.Fatal(err)
	}
	if list, err = m.Foreign(t.Context(), sleep.Idle); err != nil || len(list) != 1 || list[0].Who != "desktop" {
		t.Errorf("got %+v, %v, want the desktop's lock", list, err)
	}
}

func TestReal_canSuspend(t *testing.T) {
	m, _ := realManager(t)
	want := sleep.Yes
	if !local() && os.Getuid() != 0 {
		want = sleep.Challenge
	}
	if a, err := m.CanSuspend(t.Context()); a != want || err != nil {
		t.Errorf("got %q, %v, want %q", a, err, want)
	}
}

func TestReal_suspendAndWakeAreTold(t *testing.T) {
	m, events := realManager(t)
	if !local() && os.Getuid() != 0 {
		var denied *sleep.DeniedError
		if err := m.Suspend(t.Context()); !errors.As(err, &denied) {
			t.Errorf("without a session: got %v, want a refusal", err)
		}
		return
	}
	before := slept(t)
	if err := m.Suspend(t.Context()); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "slept, and told", func() bool {
		return slept(t) > before && events.count(sleep.GoingToSleep) == 1 && events.count(sleep.WokeUp) == 1
	})
}

// The real logind remembers locks over a restart, so for a moment it may list
// ours twice; what counts is that it is never without one for longer than it
// takes to notice.
func TestRealRoot_login1Restarts(t *testing.T) {
	m, events := realManager(t)
	if os.Getuid() != 0 {
		t.Fatal("only root can restart logind")
	}
	if err := m.Take(t.Context(), sleep.LidSwitch, "test"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if out, err := exec.Command("systemctl", "restart", "systemd-logind").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	bustest.Eventually(t, "loss and return told", func() bool {
		return events.count(sleep.ServiceDown) == 1 && events.count(sleep.ServiceUp) == 2
	})
	if err := m.Take(t.Context(), sleep.LidSwitch, "test"); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "held once after a restart", func() bool { return slices.Equal(held(t, m), []sleep.What{sleep.LidSwitch}) })
	t.Logf("retaken %v after the restart was asked for", time.Since(began))
	if err := m.Release(sleep.LidSwitch); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "nothing left behind", func() bool { return len(held(t, m)) == 0 })
}
