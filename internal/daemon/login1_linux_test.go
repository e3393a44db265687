package daemon

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/bustest"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// onBus is a runtime on a private bus.
type onBus struct {
	t    *testing.T
	dirs paths.Dirs
}

func newOnBus(t *testing.T, address string) *onBus {
	t.Helper()
	home, err := os.MkdirTemp("", "b") // short: a socket will be in it
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string { return map[string]string{"HOME": home}[name] })
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(home, "root")
	if err := os.MkdirAll(filepath.Join(root, "proc"), 0o700); err != nil {
		t.Fatal(err)
	}
	machine, closeIt := openSystem(func(name string) string {
		return map[string]string{"DBUS_SYSTEM_BUS_ADDRESS": address, "LIDGUARD_ROOT": root}[name]
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { // waited for in the cleanup
		ended <- Run(ctx, Options{Dirs: dirs, Version: "v1", Machine: machine, BootID: "boot",
			Settings: func() (settings.Settings, error) { return settings.Default(), nil }})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		closeIt()
		os.RemoveAll(home)
	})
	b := &onBus{t: t, dirs: dirs}
	bustest.Eventually(t, "the runtime answers", func() bool {
		_, err := b.try(&ipc.Request{Op: ipc.OpStatus})
		return err == nil
	})
	return b
}

func (b *onBus) try(req *ipc.Request) (*ipc.Reply, error) {
	c := &ipc.Client{Version: "v1", DialTimeout: time.Minute, CallTimeout: time.Minute, Dial: func(ctx context.Context) (net.Conn, error) {
		return endpoint.Dial(ctx, b.dirs.Socket)
	}}
	return c.Call(b.t.Context(), req)
}

func (b *onBus) call(req *ipc.Request) *ipc.Reply {
	b.t.Helper()
	reply, err := b.try(req)
	if err != nil {
		b.t.Fatalf("%s: %v", req.Op, err)
	}
	return reply
}

func (b *onBus) begin(id event.SessionID) {
	b.t.Helper()
	b.call(&ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{Kind: event.Began, Source: "test",
		Session: event.SessionKey{Provider: event.Custom, ID: id}}}})
}

// whats are the locks that login1 lists, each as what/mode, sorted.
func whats(login1 *bustest.Login1) []string {
	var list []string
	for _, l := range login1.Locks() {
		list = append(list, l.What+"/"+l.Mode)
	}
	slices.Sort(list)
	return list
}

var both = []string{"handle-lid-switch/block", "idle/block"}

func TestLogin1_onePerKindAndNothingElse(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	b := newOnBus(t, address)
	for range 20 {
		b.begin("a")
		b.begin("b")
	}
	bustest.Eventually(t, "one lock of each kind", func() bool { return slices.Equal(whats(login1), both) })
	// Never what would stop the person's own suspend or a shutdown.
	for _, l := range login1.Locks() {
		if strings.Contains(l.What, "sleep") || strings.Contains(l.What, "shutdown") || strings.Contains(l.What, ":") {
			t.Errorf("lock %+v", l)
		}
	}
	bustest.Eventually(t, "status confirms both", func() bool {
		held := b.call(&ipc.Request{Op: ipc.OpStatus}).Status.Held
		return len(held) == 2 && held[0].Confirmed && held[1].Confirmed
	})
	b.call(&ipc.Request{Op: ipc.OpRemove, All: true})
	bustest.Eventually(t, "no lock is left", func() bool { return len(whats(login1)) == 0 })
}

func TestLogin1_restartIsFollowed(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	b := newOnBus(t, address)
	b.begin("a")
	bustest.Eventually(t, "both locks", func() bool { return slices.Equal(whats(login1), both) })
	login1.Restart()
	bustest.Eventually(t, "both locks again", func() bool { return slices.Equal(whats(login1), both) })
}

func TestLogin1_denialIsShownAndTriedAgain(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	login1.Deny("handle-lid-switch")
	b := newOnBus(t, address)
	b.begin("a")
	bustest.Eventually(t, "the idle lock alone", func() bool { return slices.Equal(whats(login1), both[1:]) })
	bustest.Eventually(t, "status names the polkit action", func() bool {
		for _, h := range b.call(&ipc.Request{Op: ipc.OpStatus}).Status.Held {
			if h.What == "handle-lid-switch" && !h.Confirmed && strings.Contains(h.Error, "org.freedesktop.login1.inhibit-handle-lid-switch") {
				return true
			}
		}
		return false
	})
	login1.Allow("handle-lid-switch")
	bustest.Eventually(t, "both locks after the right was given", func() bool { return slices.Equal(whats(login1), both) })
}

func TestLogin1_absentIsSaidPlainly(t *testing.T) {
	b := newOnBus(t, "unix:path=/nonexistent/bus")
	b.begin("a")
	status := b.call(&ipc.Request{Op: ipc.OpStatus}).Status
	if len(status.Held) != 2 || status.Lid != "unknown" || status.Away {
		t.Fatalf("status: %+v", status)
	}
	for _, h := range status.Held {
		if h.Confirmed || h.Error == "" {
			t.Errorf("claims %+v without a login1", h)
		}
	}
}
