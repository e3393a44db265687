package sleep_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/sys/unix"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

type log struct {
	mu   sync.Mutex
	list []sleep.EventKind
}

func (l *log) add(k sleep.EventKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, k)
}

func (l *log) count(k sleep.EventKind) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, have := range l.list {
		if have == k {
			n++
		}
	}
	return n
}

func start(t *testing.T) (*bustest.Login1, *sleep.Manager, *log) {
	t.Helper()
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	var events log
	m := sleep.Open(sleep.Options{SystemBus: address, OnEvent: events.add})
	t.Cleanup(func() { m.Close() })
	bustest.Eventually(t, "login1 seen", func() bool { return events.count(sleep.ServiceUp) == 1 })
	return login1, m, &events
}

func whats(locks []bustest.Lock) []string {
	var list []string
	for _, l := range locks {
		list = append(list, l.What)
	}
	slices.Sort(list)
	return list
}

func held(t *testing.T, m *sleep.Manager) []sleep.What {
	t.Helper()
	h, err := m.Held(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTake_oneCallPerKindAndNeverInteractive(t *testing.T) {
	login1, m, _ := start(t)
	for _, w := range []sleep.What{sleep.Idle, sleep.LidSwitch, sleep.AnySleep} {
		if err := m.Take(t.Context(), w, "2 agents work"); err != nil {
			t.Fatal(err)
		}
	}
	calls := login1.Calls("Inhibit")
	if len(calls) != 3 {
		t.Fatalf("got %d calls, want 3", len(calls))
	}
	for _, c := range calls {
		if c.Flags&dbus.FlagAllowInteractiveAuthorization != 0 {
			t.Errorf("%v allows a password prompt", c.Args)
		}
		if what := c.Args[0].(string); strings.Contains(what, ":") || strings.Contains(what, "shutdown") {
			t.Errorf("what is %q", what)
		}
		if c.Args[1] != "lidguard" || c.Args[2] != "2 agents work" || c.Args[3] != "block" {
			t.Errorf("got %q", c.Args[1:])
		}
	}
	if got, want := held(t, m), []sleep.What{sleep.Idle, sleep.LidSwitch, sleep.AnySleep}; !slices.Equal(got, want) {
		t.Errorf("held %q, want %q", got, want)
	}
	if err := m.Release(sleep.AnySleep); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "released", func() bool { return len(login1.Locks()) == 2 })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "all released", func() bool { return len(login1.Locks()) == 0 })
	if err := m.Take(t.Context(), sleep.Idle, "x"); !errors.Is(err, sleep.ErrClosed) {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func openFDs(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Thousands of tool events must not become thousands of locks.
func TestTake_againIsFree(t *testing.T) {
	login1, m, _ := start(t)
	m.Take(t.Context(), sleep.Idle, "work")
	before := openFDs(t)
	for range 5000 {
		if err := m.Take(t.Context(), sleep.Idle, "work"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(login1.Calls("Inhibit")); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
	// Fewer is fine: the double closes some of its own late.
	if after := openFDs(t); after > before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

func TestTake_newReasonOverlapsTheOld(t *testing.T) {
	login1, m, _ := start(t)
	if err := m.Take(t.Context(), sleep.Idle, "1 agent"); err != nil {
		t.Fatal(err)
	}
	login1.Deny("idle")
	var denied *sleep.DeniedError
	if err := m.Take(t.Context(), sleep.Idle, "2 agents"); !errors.As(err, &denied) {
		t.Fatalf("got %v, want DeniedError", err)
	}
	if l := login1.Locks(); len(l) != 1 || l[0].Why != "1 agent" {
		t.Errorf("a refused change lost the old lock: %v", l)
	}
	login1.Allow("idle")
	if err := m.Take(t.Context(), sleep.Idle, "2 agents"); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "only the new lock left", func() bool {
		l := login1.Locks()
		return len(l) == 1 && l[0].Why == "2 agents"
	})
}

func TestTake_descriptorIsNotInherited(t *testing.T) {
	_, m, _ := start(t)
	before := map[string]bool{}
	list, _ := os.ReadDir("/proc/self/fd")
	for _, e := range list {
		before[e.Name()] = true
	}
	if err := m.Take(t.Context(), sleep.Idle, "x"); err != nil {
		t.Fatal(err)
	}
	list, _ = os.ReadDir("/proc/self/fd")
	pipes := 0
	for _, e := range list {
		link, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err != nil || before[e.Name()] || !strings.HasPrefix(link, "pipe:") {
			continue
		}
		var fd int
		fmt.Sscan(e.Name(), &fd)
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil {
			continue // the double's own end, closed meanwhile
		}
		pipes++
		if flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor %d would be inherited", fd)
		}
	}
	if pipes == 0 {
		t.Error("no descriptor found: the test looks at nothing")
	}
}

func TestTake_deniedNamesTheAction(t *testing.T) {
	login1, m, _ := start(t)
	login1.Deny("idle", "handle-lid-switch", "sleep")
	for what, action := range map[sleep.What]string{
		sleep.Idle:      "org.freedesktop.login1.inhibit-block-idle",
		sleep.LidSwitch: "org.freedesktop.login1.inhibit-handle-lid-switch",
		sleep.AnySleep:  "org.freedesktop.login1.inhibit-block-sleep",
	} {
		err := m.Take(t.Context(), what, "x")
		var denied *sleep.DeniedError
		if !errors.As(err, &denied) || denied.PolkitAction != action {
			t.Errorf("%s: got %v, want action %s", what, err, action)
		}
	}
	if h := held(t, m); len(h) != 0 {
		t.Errorf("holds %q after refusals", h)
	}
	login1.Allow("idle")
	if err := m.Take(t.Context(), sleep.Idle, "x"); err != nil {
		t.Errorf("allowed later: %v", err)
	}
}

// A lock that a stuck login1 grants after we gave up must not stay behind.
func TestTake_lateGrantIsGivenBack(t *testing.T) {
	login1, m, _ := start(t)
	login1.Hang("Inhibit")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.Take(ctx, sleep.Idle, "x"); !errors.Is(err, sleep.ErrTimeout) {
		t.Fatalf("got %v, want ErrTimeout", err)
	}
	before := openFDs(t)
	login1.Unhang("Inhibit")
	bustest.Eventually(t, "late lock gone", func() bool { return len(login1.Locks()) == 0 })
	bustest.Eventually(t, "descriptors as before", func() bool { return openFDs(t) <= before })
	if err := m.Take(t.Context(), sleep.Idle, "x"); err != nil {
		t.Fatal(err)
	}
	if h := held(t, m); !slices.Equal(h, []sleep.What{sleep.Idle}) {
		t.Errorf("held %q, want idle", h)
	}
}

func TestHeld_hangingLogin1EndsInTime(t *testing.T) {
	login1, m, _ := start(t)
	login1.Hang("ListInhibitors")
	if _, err := m.Held(t.Context()); !errors.Is(err, sleep.ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
}

func TestRestart_locksAreTakenAgain(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	var m *sleep.Manager
	var events log
	ready := make(chan struct{})
	m = sleep.Open(sleep.Options{SystemBus: address, OnEvent: func(k sleep.EventKind) {
		<-ready
		if k == sleep.ServiceUp {
			// What a caller does: take everything it wants again.
			if err := m.Take(context.Background(), sleep.Idle, "work"); err != nil {
				t.Error(err)
			}
		}
		events.add(k)
	}})
	defer m.Close()
	close(ready)
	bustest.Eventually(t, "held", func() bool { return slices.Equal(whats(login1.Locks()), []string{"idle"}) })
	login1.Restart()
	bustest.Eventually(t, "held again", func() bool {
		return events.count(sleep.ServiceDown) == 1 && events.count(sleep.ServiceUp) == 2 &&
			slices.Equal(whats(login1.Locks()), []string{"idle"})
	})
	login1.Stop()
	bustest.Eventually(t, "loss told", func() bool { return events.count(sleep.ServiceDown) == 2 })
	if _, err := m.Held(t.Context()); !errors.Is(err, sleep.ErrNoLogin1) {
		t.Errorf("without login1: got %v, want ErrNoLogin1", err)
	}
	if err := m.Take(t.Context(), sleep.LidSwitch, "work"); !errors.Is(err, sleep.ErrNoLogin1) {
		t.Errorf("without login1: got %v, want ErrNoLogin1", err)
	}
}

func TestForeign_namesBlocksOfOthersOnly(t *testing.T) {
	login1, m, _ := start(t)
	login1.AddForeign(bustest.Lock{What: "handle-power-key:handle-lid-switch", Who: "gsd", Why: "external display", Mode: "block", UID: 1000, PID: 99})
	login1.AddForeign(bustest.Lock{What: "sleep", Who: "UPower", Why: "pause", Mode: "delay", PID: 7})
	login1.AddForeign(bustest.Lock{What: "sleep", Who: "apt", Why: "install", Mode: "block-weak", PID: 8})
	// The same who by another process is not ours.
	login1.AddForeign(bustest.Lock{What: "idle", Who: "lidguard", Mode: "block", UID: uint32(os.Getuid()), PID: 9})
	if err := m.Take(t.Context(), sleep.LidSwitch, "x"); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[sleep.What]string{sleep.LidSwitch: "gsd", sleep.AnySleep: "apt", sleep.Idle: "lidguard"} {
		list, err := m.Foreign(t.Context(), what)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 || list[0].Who != want || list[0].Ours {
			t.Errorf("%s: got %+v, want %s alone", what, list, want)
		}
	}
	if h := held(t, m); !slices.Equal(h, []sleep.What{sleep.LidSwitch}) {
		t.Errorf("held %q, want the lid only", h)
	}
}

func TestSuspend_refusalSaysWhoAndWhichRight(t *testing.T) {
	login1, m, _ := start(t)
	if err := m.Suspend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := login1.Calls("Suspend"); len(c) != 1 || c[0].Args[0] != false {
		t.Errorf("got %+v, want one call that is not interactive", c)
	}
	denied := func(wantAction string) *sleep.DeniedError {
		t.Helper()
		var e *sleep.DeniedError
		if err := m.Suspend(t.Context()); !errors.As(err, &e) || e.PolkitAction != wantAction {
			t.Fatalf("got %v, want %s", err, wantAction)
		}
		return e
	}
	login1.Fail("Suspend", "org.freedesktop.DBus.Error.AccessDenied", "no")
	denied("org.freedesktop.login1.suspend")
	login1.Fail("Suspend", "org.freedesktop.login1.BlockedByInhibitorLock", "no")
	login1.AddForeign(bustest.Lock{What: "sleep", Who: "apt", Why: "install", Mode: "block", PID: 8})
	if e := denied("org.freedesktop.login1.suspend-ignore-inhibit"); len(e.Holders) != 1 || !strings.Contains(e.Error(), `"apt" holds a lock: "install"`) {
		t.Errorf("got %v", e)
	}
	for name, want := range map[string]error{
		"org.freedesktop.login1.OperationInProgress":   sleep.ErrInProgress,
		"org.freedesktop.login1.SleepVerbNotSupported": sleep.ErrUnsupported,
	} {
		login1.Fail("Hibernate", name, "no")
		if err := m.Hibernate(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", name, err, want)
		}
	}
}

func TestSuspend_anotherUserIsNamed(t *testing.T) {
	login1, m, _ := start(t)
	login1.AddSession("c1", uint32(os.Getuid()), "me", "user")
	login1.AddSession("c2", 4242, "ana", "user")
	login1.AddSession("c3", 4242, "ana", "user")
	login1.AddSession("c4", 4343, "gdm", "greeter")
	login1.Fail("Hibernate", "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "no")
	var e *sleep.DeniedError
	if err := m.Hibernate(t.Context()); !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if e.PolkitAction != "org.freedesktop.login1.hibernate-multiple-sessions" || !slices.Equal(e.OtherUsers, []string{"ana"}) {
		t.Errorf("got %s, users %q", e.PolkitAction, e.OtherUsers)
	}
}

func TestCan_passesTheAnswerOn(t *testing.T) {
	login1, m, _ := start(t)
	for _, want := range []sleep.Answer{sleep.Yes, sleep.No, sleep.Challenge, sleep.NA} {
		login1.Can("CanSuspend", string(want))
		if got, err := m.CanSuspend(t.Context()); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if got, err := m.CanHibernate(t.Context()); got != sleep.NA || err != nil {
		t.Errorf("hibernate: got %q, %v", got, err)
	}
}

func TestEvents_sleepAndWake(t *testing.T) {
	login1, _, events := start(t)
	login1.PrepareForSleep(true)
	bustest.Eventually(t, "sleep told", func() bool { return events.count(sleep.GoingToSleep) == 1 })
	login1.PrepareForSleep(false)
	bustest.Eventually(t, "wake told", func() bool { return events.count(sleep.WokeUp) == 1 })
}

// login1 restarts over a sleep: its wake-up signal is never sent.
func TestEvents_missedWakeIsMadeUp(t *testing.T) {
	login1, _, events := start(t)
	login1.PrepareForSleep(true)
	bustest.Eventually(t, "sleep told", func() bool { return events.count(sleep.GoingToSleep) == 1 })
	login1.Stop()
	login1.Set("PreparingForSleep", false)
	login1.Begin()
	bustest.Eventually(t, "wake told", func() bool { return events.count(sleep.WokeUp) == 1 })
}

func TestOpen_withoutABus(t *testing.T) {
	m := sleep.Open(sleep.Options{SystemBus: "unix:path=" + filepath.Join(t.TempDir(), "none")})
	defer m.Close()
	if err := m.Take(t.Context(), sleep.Idle, "x"); !errors.Is(err, sleep.ErrNoLogin1) {
		t.Errorf("Take: got %v, want ErrNoLogin1", err)
	}
	if err := m.Suspend(t.Context()); !errors.Is(err, sleep.ErrNoLogin1) {
		t.Errorf("Suspend: got %v, want ErrNoLogin1", err)
	}
	if a, err := m.CanSuspend(t.Context()); a != sleep.No || !errors.Is(err, sleep.ErrNoLogin1) {
		t.Errorf("CanSuspend: got %q, %v", a, err)
	}
}

// TestHelperHolder is the child of TestKill: it holds a lock until it is killed.
func TestHelperHolder(t *testing.T) {
	address := os.Getenv("SLEEP_TEST_HOLD_ON")
	if address == "" {
		return // run by TestKill only, in a process of its own
	}
	m := sleep.Open(sleep.Options{SystemBus: address})
	if err := m.Take(t.Context(), sleep.LidSwitch, "until killed"); err != nil {
		t.Fatal(err)
	}
	select {}
}

func TestKill_locksDieWithTheProcess(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperHolder$")
	cmd.Env = append(os.Environ(), "SLEEP_TEST_HOLD_ON="+address)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "child holds", func() bool { return len(login1.Locks()) == 1 })
	cmd.Process.Kill()
	cmd.Wait()
	bustest.Eventually(t, "lock gone", func() bool { return len(login1.Locks()) == 0 })
}

func TestRemote_countsPeopleOverTheNetwork(t *testing.T) {
	login1, m, _ := start(t)
	login1.AddSession("1", 1000, "ana", "user")
	login1.AddSession("2", 42, "gdm", "greeter")
	login1.AddRemote("3", 1000, "ana", "192.0.2.7")
	login1.AddRemote("4", 1001, "bo", "")
	login1.AddRemote("5", 1001, "bo", "192.0.2.8")
	login1.EndSession("5")
	who, err := m.Remote(t.Context())
	if err != nil || !slices.Equal(who, []string{"ana from 192.0.2.7", "bo"}) {
		t.Errorf("got %q, %v", who, err)
	}
	login1.Stop()
	if who, err := m.Remote(t.Context()); err == nil {
		t.Errorf("without login1 %q is logged in", who)
	}
}
