//go:build linux

package bus_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/bus"
	"github.com/lidguard-go/lidguard/internal/platform/bustest"
)

const (
	name  = "org.freedesktop.login1"
	path  = "/org/freedesktop/login1"
	iface = "org.freedesktop.login1.Manager"
)

// events collects what a Link reports.
type events struct {
	mu   sync.Mutex
	list []bus.Event
}

func (e *events) add(ev bus.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ev)
}

func (e *events) count(f func(bus.Event) bool) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.list {
		if f(ev) {
			n++
		}
	}
	return n
}

func open(t *testing.T, address string) (*bus.Link, *events) {
	t.Helper()
	return openFor(t, address, time.Minute)
}

// openFor is open with another limit for connecting and each call.
func openFor(t *testing.T, address string, limit time.Duration) (*bus.Link, *events) {
	t.Helper()
	var got events
	l := bus.Open(bus.Options{
		Address: address,
		Matches: []bus.Match{{Service: name, Path: path, Interface: iface, Member: "PrepareForSleep"}},
		Handle:  got.add,
		Timeout: limit,
	})
	t.Cleanup(l.Close)
	return l, &got
}

func TestLink_deadAddressesFailFastAndSaySo(t *testing.T) {
	silent, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for what, address := range map[string]string{
		"no socket there":                 "unix:path=/nonexistent/bus",
		"an empty address":                "",
		"a transport that starts helpers": "unixexec:path=/bin/false",
		"such a transport as second":      "unix:path=/nonexistent/bus;unixexec:path=/bin/false",
		"a bus that never answers":        "unix:path=" + silent.Addr().String(),
	} {
		t.Run(what, func(t *testing.T) {
			l, _ := openFor(t, address, 100*time.Millisecond)
			err := l.Call(t.Context(), bus.Call{Service: name, Path: path, Method: iface + ".CanSuspend"})
			if !errors.Is(err, bus.ErrUnavailable) {
				t.Errorf("got %v, want ErrUnavailable", err)
			}
			if l.Err() == nil {
				t.Error("Err is nil without a connection")
			}
		})
	}
}

func TestLink_classifiesErrors(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	l, _ := open(t, address)
	call := func() error {
		return l.Call(t.Context(), bus.Call{Service: name, Path: path, Method: iface + ".CanSuspend"})
	}
	for errorName, want := range map[string]error{
		"org.freedesktop.DBus.Error.AccessDenied":                     bus.ErrDenied,
		"org.freedesktop.DBus.Error.InteractiveAuthorizationRequired": bus.ErrDenied,
		"org.freedesktop.DBus.Error.ServiceUnknown":                   bus.ErrUnavailable,
		"org.freedesktop.DBus.Error.Spawn.ChildExited":                bus.ErrUnavailable,
		"org.freedesktop.DBus.Error.NoReply":                          bus.ErrTimeout,
	} {
		login1.Fail("CanSuspend", errorName, "text")
		if err := call(); !errors.Is(err, want) || bus.ErrorName(err) != errorName {
			t.Errorf("%s: got %v, want %v", errorName, err, want)
		}
	}
	login1.Fail("CanSuspend", "org.example.Odd", "text")
	if err := call(); errors.Is(err, bus.ErrDenied) || errors.Is(err, bus.ErrUnavailable) || bus.ErrorName(err) != "org.example.Odd" {
		t.Errorf("an unknown error was taken for a known one: %v", err)
	}
	login1.Fail("CanSuspend", "", "")
	login1.Hang("CanSuspend")
	short, told := openFor(t, address, 500*time.Millisecond)
	bustest.Eventually(t, "connected", func() bool {
		return told.count(func(e bus.Event) bool { return e.Kind == bus.Up }) > 0
	})
	if err := short.Call(t.Context(), bus.Call{Service: name, Path: path, Method: iface + ".CanSuspend"}); !errors.Is(err, bus.ErrTimeout) {
		t.Errorf("hanging service: got %v, want ErrTimeout", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Call(ctx, bus.Call{Service: name, Path: path, Method: iface + ".CanSuspend"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
	login1.Stop()
	bustest.Eventually(t, "loss seen", func() bool { return l.Owner(name) == "" })
	if err := call(); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("absent service: got %v, want ErrUnavailable", err)
	}
}

func TestLink_followsOwners(t *testing.T) {
	address := bustest.Start(t)
	l, got := open(t, address)
	present := func(e bus.Event) bool { return e.Kind == bus.Owner && e.Owner != "" }
	gone := func(e bus.Event) bool { return e.Kind == bus.Owner && e.Owner == "" }
	bustest.Eventually(t, "connected", func() bool {
		return got.count(func(e bus.Event) bool { return e.Kind == bus.Up }) == 1
	})
	if l.Owner(name) != "" {
		t.Error("an owner of nothing")
	}
	login1 := bustest.NewLogin1(t, address)
	bustest.Eventually(t, "service seen", func() bool { return got.count(present) == 1 && l.Owner(name) != "" })
	login1.Restart()
	bustest.Eventually(t, "loss and return seen", func() bool { return got.count(gone) == 1 && got.count(present) == 2 })

	// One that is there at the start is told, too.
	_, later := open(t, address)
	bustest.Eventually(t, "present service told", func() bool { return later.count(present) == 1 })
}

// Anybody may send a signal straight to a connection; only the service's own
// may count.
func TestLink_dropsForgedSignals(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	_, got := open(t, address)
	signal := func(e bus.Event) bool { return e.Kind == bus.Signal }
	bustest.Eventually(t, "service seen", func() bool {
		return got.count(func(e bus.Event) bool { return e.Kind == bus.Owner }) == 1
	})
	bustest.SendForged(t, address, path, iface+".PrepareForSleep", true)
	bustest.SendForged(t, address, "/org/freedesktop/DBus", "org.freedesktop.DBus.NameOwnerChanged", name, "", ":9.9")
	login1.PrepareForSleep(false)
	bustest.Eventually(t, "true signal seen", func() bool { return got.count(signal) >= 1 })
	if n := got.count(signal); n != 1 {
		t.Errorf("got %d signals, want the true one only", n)
	}
	if n := got.count(func(e bus.Event) bool { return e.Owner == ":9.9" }); n != 0 {
		t.Error("a forged owner was believed")
	}
}

func TestLink_closeTwice(t *testing.T) {
	l, _ := open(t, bustest.Start(t))
	l.Close()
	l.Close()
	if err := l.Call(t.Context(), bus.Call{Service: name, Path: path, Method: iface + ".CanSuspend"}); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

func TestLink_comesBackAfterTheBusDied(t *testing.T) {
	daemon := bustest.StartDaemon(t)
	l, got := open(t, daemon.Address)
	kinds := func(k bus.Kind) int { return got.count(func(e bus.Event) bool { return e.Kind == k }) }
	bustest.Eventually(t, "connected", func() bool { return kinds(bus.Up) == 1 })
	daemon.Kill()
	bustest.Eventually(t, "loss told", func() bool { return kinds(bus.Down) == 1 })
	if err := l.Call(t.Context(), bus.Call{Service: name, Path: path, Method: iface + ".CanSuspend"}); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("without a bus: got %v, want ErrUnavailable", err)
	}
	daemon.Begin()
	login1 := bustest.NewLogin1(t, daemon.Address)
	bustest.Eventually(t, "back", func() bool { return kinds(bus.Up) == 2 && l.Owner(name) != "" })
	if err := l.Call(t.Context(), bus.Call{Service: name, Path: path, Method: iface + ".CanSuspend"}); err != nil {
		t.Error(err)
	}
	login1.PrepareForSleep(true)
	bustest.Eventually(t, "signals follow the new connection", func() bool { return kinds(bus.Signal) == 1 })
}
