//go:build lidlab && linux

// A second opinion on our own double: python-dbusmock's. Built with the tag
// lidlab, TestMock_ needs LIDLAB=mock, the double's bus, and in LIDLAB_MOCK the
// script that drives it.
package sleep_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

func mock(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(os.Getenv("LIDLAB_MOCK"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestMock_refusalsHangsAndCrashes(t *testing.T) {
	address := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS")
	if os.Getenv("LIDLAB") != "mock" || os.Getenv("LIDLAB_MOCK") == "" || !strings.Contains(address, "lidlab") {
		t.Fatal("needs LIDLAB=mock, LIDLAB_MOCK and the double's DBUS_SYSTEM_BUS_ADDRESS")
	}
	var events log
	m := sleep.Open(sleep.Options{SystemBus: address, OnEvent: events.add})
	defer m.Close()
	bustest.Eventually(t, "login1 is there", func() bool { return events.count(sleep.ServiceUp) == 1 })

	if err := m.Take(t.Context(), sleep.Idle, "test"); err != nil {
		t.Fatal(err)
	}
	list, err := m.Holders(t.Context())
	if err != nil || len(list) != 1 || list[0].Who != "lidguard" || list[0].Ours {
		// This double says that everybody is process 123456: not ours, then.
		t.Errorf("got %+v, %v", list, err)
	}
	if err := m.Release(sleep.Idle); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "released", func() bool { list, err := m.Holders(t.Context()); return err == nil && len(list) == 0 })

	mock(t, "fail", "Suspend", "org.freedesktop.DBus.Error.AccessDenied", "no")
	var denied *sleep.DeniedError
	if err := m.Suspend(t.Context()); !errors.As(err, &denied) {
		t.Errorf("refusal: got %v, want DeniedError", err)
	}
	mock(t, "sleep-signal", "true")
	mock(t, "sleep-signal", "false")
	bustest.Eventually(t, "sleep and wake told", func() bool {
		return events.count(sleep.GoingToSleep) == 1 && events.count(sleep.WokeUp) == 1
	})
	mock(t, "crash")
	bustest.Eventually(t, "crash told", func() bool { return events.count(sleep.ServiceDown) == 1 })
	if err := m.Take(t.Context(), sleep.Idle, "test"); !errors.Is(err, sleep.ErrNoLogin1) {
		t.Errorf("after a crash: got %v, want ErrNoLogin1", err)
	}
	mock(t, "respawn")
	bustest.Eventually(t, "return told", func() bool { return events.count(sleep.ServiceUp) == 2 })
	if err := m.Take(t.Context(), sleep.Idle, "test"); err != nil {
		t.Fatal(err)
	}
	mock(t, "slow", "CanSuspend", "1")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := m.CanSuspend(ctx); !errors.Is(err, sleep.ErrTimeout) {
		t.Errorf("stuck: got %v, want ErrTimeout", err)
	}
}
