package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/platform/bustest"
)

// onDesktop is the machine of somebody in a desktop session, on private buses.
func onDesktop(t *testing.T, system, session string) *linuxMachine {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc"), 0o700); err != nil {
		t.Fatal(err)
	}
	m, closeIt := openSystem(func(name string) string {
		return map[string]string{"DBUS_SYSTEM_BUS_ADDRESS": system, "DBUS_SESSION_BUS_ADDRESS": session, "LIDGUARD_ROOT": root}[name]
	})
	t.Cleanup(closeIt)
	return m.(*linuxMachine)
}

// The desktop's own lock stands beside login1's, is claimed only as read back,
// survives a restart of the session manager, and goes with the last idle hold.
func TestDesktop_itsLockStandsBesideLogin1s(t *testing.T) {
	system, session := bustest.Start(t), bustest.Start(t)
	bustest.NewLogin1(t, system)
	gnome := bustest.NewGnome(t, session)
	m := onDesktop(t, system, session)
	if more := m.More(t.Context()); more.Desktop != nil {
		t.Errorf("claimed without a hold: %+v", more.Desktop)
	}
	lid, err := m.Acquire(t.Context(), awake.HoldLid, "agents work")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(gnome.Locks()); n != 0 {
		t.Errorf("the lid's hold took %d locks of the desktop", n)
	}
	idle, err := m.Acquire(t.Context(), awake.HoldIdle, "agents work")
	if err != nil {
		t.Fatal(err)
	}
	if l := gnome.Locks(); len(l) != 1 || l[0].App != "lidguard" || l[0].Reason != "agents work" || l[0].Flags != 4 {
		t.Errorf("the desktop has %+v", l)
	}
	confirmed := func() bool {
		d := m.More(t.Context()).Desktop
		return d != nil && d.What == HoldSessionBus && d.Confirmed && d.Error == ""
	}
	if !confirmed() {
		t.Errorf("not confirmed: %+v", m.More(t.Context()).Desktop)
	}
	gnome.Restart() // which forgets every lock
	bustest.Eventually(t, "the lock is taken again", func() bool { return len(gnome.Locks()) == 1 && confirmed() })

	var st ipc.Status
	m.More(t.Context()).into(&st)
	if len(st.Held) != 1 || st.Held[0].What != "session-bus" || !st.Held[0].Confirmed {
		t.Errorf("status shows %+v", st.Held)
	}
	if err := idle.Release(); err != nil {
		t.Fatal(err)
	}
	if l := gnome.Locks(); len(l) != 0 || m.More(t.Context()).Desktop != nil {
		t.Errorf("after the release the desktop has %+v", l)
	}
	if err := lid.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestDesktop_aRefusalIsToldAndHarmless(t *testing.T) {
	system, session := bustest.Start(t), bustest.Start(t)
	login1 := bustest.NewLogin1(t, system)
	gnome := bustest.NewGnome(t, session)
	gnome.Fail("Inhibit", "org.freedesktop.DBus.Error.AccessDenied", "no")
	m := onDesktop(t, system, session)
	if _, err := m.Acquire(t.Context(), awake.HoldIdle, "agents work"); err != nil {
		t.Fatalf("login1's lock depends on the desktop's: %v", err)
	}
	if d := m.More(t.Context()).Desktop; d == nil || d.Confirmed || d.Error == "" {
		t.Errorf("told: %+v", d)
	}
	if len(login1.Locks()) != 1 {
		t.Errorf("login1 has %+v", login1.Locks())
	}
}

// login1 may go in the very moment it grants a lock, which is lost then. Where
// nobody asks again, the desktop's lock goes as well.
func TestLinuxMachine_login1GoesWhileItGrants(t *testing.T) {
	system, session := bustest.Start(t), bustest.Start(t)
	login1 := bustest.NewLogin1(t, system)
	gnome := bustest.NewGnome(t, session)
	m := onDesktop(t, system, session)
	gnome.Hang("Inhibit") // keeps Acquire from ending
	var lock awake.Lock
	taken := make(chan error, 1)
	go func() { // ends with the desktop's answer
		var err error
		lock, err = m.Acquire(t.Context(), awake.HoldIdle, "agents work")
		taken <- err
	}()
	bustest.Eventually(t, "the desktop is asked", func() bool { return len(gnome.Calls("Inhibit")) == 1 })
	login1.Restart()
	bustest.Eventually(t, "the loss is heard of", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.locks) == 0
	})
	gnome.Unhang("Inhibit")
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	select {
	case <-lock.Lost():
	case <-time.After(time.Minute):
		t.Fatal("the lock that login1 forgot is not lost")
	}
	bustest.Eventually(t, "nothing is held", func() bool { return len(gnome.Locks()) == 0 && len(login1.Locks()) == 0 })
	if err := lock.Release(); err != nil {
		t.Error(err)
	}

	if _, err := m.Acquire(t.Context(), awake.HoldIdle, "agents work"); err != nil {
		t.Fatal(err)
	}
	if len(gnome.Locks()) != 1 || len(login1.Locks()) != 1 {
		t.Fatalf("held: %+v and %+v", gnome.Locks(), login1.Locks())
	}
	login1.Stop()
	bustest.Eventually(t, "the desktop is free as well", func() bool { return len(gnome.Locks()) == 0 })
}

// A desktop that handles the lid itself, as KDE's power manager, is named.
func TestMore_namesWhoHandlesTheLid(t *testing.T) {
	system := bustest.Start(t)
	login1 := bustest.NewLogin1(t, system)
	login1.AddForeign(bustest.Lock{What: "handle-power-key:handle-lid-switch", Who: "PowerDevil", Why: "KDE handles power events", Mode: "block", UID: 1000, PID: 1})
	login1.AddForeign(bustest.Lock{What: "sleep:handle-lid-switch", Who: "UPower", Why: "delay", Mode: "delay", PID: 2})
	m := onDesktop(t, system, "")
	if _, err := m.Acquire(t.Context(), awake.HoldLid, "agents work"); err != nil {
		t.Fatal(err)
	}
	more := m.More(t.Context())
	if len(more.LidHandlers) != 1 || more.LidHandlers[0] != "PowerDevil (KDE handles power events)" {
		t.Errorf("named: %q", more.LidHandlers)
	}
	var st ipc.Status
	more.into(&st)
	if len(st.Findings) != 1 || st.Findings[0].Code != "desktop-handles-lid" || st.Findings[0].Remedy == "" {
		t.Errorf("findings: %+v", st.Findings)
	}
}

// Reports orca#17078, claude-code#60734 and others: screens that never went off or
// locked. Nothing of the screen's is asked for unless the display's hold is.
func TestDesktop_leavesTheScreenAlone(t *testing.T) {
	system, session := bustest.Start(t), bustest.Start(t)
	login1 := bustest.NewLogin1(t, system)
	gnome := bustest.NewGnome(t, session)
	var witnesses []*bustest.Witness
	for _, name := range []string{"org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver", "org.gnome.Mutter.IdleMonitor", "org.kde.screensaver",
		"org.freedesktop.portal.Desktop", "org.freedesktop.PowerManagement.Inhibit"} {
		witnesses = append(witnesses, bustest.NewWitness(t, session, name))
	}
	m := onDesktop(t, system, session)
	for _, hold := range []awake.Hold{awake.HoldIdle, awake.HoldLid, awake.HoldSleep} {
		if _, err := m.Acquire(t.Context(), hold, "agents work"); err != nil {
			t.Fatal(err)
		}
	}
	bustest.Eventually(t, "the desktop's lock", func() bool { return len(gnome.Locks()) == 1 })
	if flags := gnome.Locks()[0].Flags; flags&8 != 0 {
		t.Errorf("flags %d hold the screen on", flags)
	}
	for _, w := range witnesses {
		for _, method := range []string{"Inhibit", "SimulateUserActivity", "SetActive", "AddIdleWatch"} {
			if calls := w.Calls(method); len(calls) > 0 {
				t.Errorf("called: %+v", calls)
			}
		}
	}
	for _, lock := range login1.Locks() {
		if strings.Contains(lock.What, "shutdown") || lock.What == "idle:sleep" {
			t.Errorf("login1 holds %+v", lock)
		}
	}
}
