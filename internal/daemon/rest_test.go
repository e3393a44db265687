package daemon

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// pipes is a socket in memory, so that these tests run in a bubble whose clock
// only moves when nobody has anything to do.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// bubble is one runtime in a bubble.
type bubble struct {
	t       *testing.T
	laptop  *fakelaptop.Laptop
	options Options
	socket  *pipes // of the latest Listen
	ended   chan error
	stop    context.CancelFunc
}

func newBubble(t *testing.T, change func(*settings.Settings)) *bubble {
	t.Helper()
	home := t.TempDir()
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string {
		return map[string]string{"LIDGUARD_HOME": home}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	s := settings.Default()
	if change != nil {
		change(&s)
	}
	b := &bubble{t: t, laptop: fakelaptop.New(fakelaptop.Options{})}
	epoch := time.Now()
	b.options = Options{Dirs: dirs, Version: "v1.0.0", Machine: b.laptop.Machine(), BootID: "boot",
		Settings: func() (settings.Settings, error) { return s, nil },
		Now: func() event.Instant {
			since := time.Since(epoch) + time.Hour
			return event.Instant{Awake: since, Boot: since, Wall: time.Now()}
		},
		Listen: func(string) (net.Listener, error) {
			b.socket = &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
			return b.socket, nil
		},
	}
	return b
}

func (b *bubble) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.stop, b.ended = cancel, make(chan error, 1)
	go func() { b.ended <- Run(ctx, b.options) }() // waited for through ended
	synctest.Wait()
}

func (b *bubble) call(req *ipc.Request) (*ipc.Reply, error) {
	c := &ipc.Client{Version: "v1.0.0", Dial: func(ctx context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case b.socket.conns <- theirs:
			return ours, nil
		case <-b.socket.closed:
			return nil, errors.New("refused")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	return c.Call(context.Background(), req)
}

func (b *bubble) signal(kind event.SignalKind, id event.SessionID) {
	b.t.Helper()
	_, err := b.call(&ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{Kind: kind, Source: "test",
		Session: event.SessionKey{Provider: event.Custom, ID: id}}}})
	if err != nil {
		b.t.Fatalf("%s: %v", kind, err)
	}
	synctest.Wait()
}

func (b *bubble) holds() int {
	n := 0
	for _, h := range awake.Holds() {
		n += b.laptop.Locks(h)
	}
	return n
}

func (b *bubble) running() bool {
	synctest.Wait()
	select {
	case err := <-b.ended:
		if err != nil {
			b.t.Errorf("Run: %v", err)
		}
		b.ended <- nil
		return false
	default:
		return true
	}
}

func (b *bubble) end() {
	b.stop()
	if err := <-b.ended; err != nil {
		b.t.Errorf("Run: %v", err)
	}
	if n := b.holds(); n != 0 {
		b.t.Errorf("%d holds are left after the end", n)
	}
}

func TestRun_leavesAfterTheCleanupDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, nil)
		b.start()
		b.signal(event.Began, "a")
		if b.holds() != 2 {
			t.Fatalf("%d holds while working, want 2", b.holds())
		}
		b.signal(event.Stopped, "a")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if b.holds() != 0 {
			t.Fatalf("%d holds after the settling, want none", b.holds())
		}
		time.Sleep(9 * time.Minute)
		if !b.running() {
			t.Fatal("left before the clean-up delay")
		}
		b.signal(event.Began, "b") // and everything begins anew
		time.Sleep(2 * time.Minute)
		if !b.running() {
			t.Fatal("left under a working session")
		}
		b.signal(event.Stopped, "b")
		time.Sleep(11 * time.Minute)
		if b.running() {
			t.Fatal("still there after the clean-up delay")
		}
		b.end()
	})
}

func TestRun_aSilentSessionTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, nil)
		b.start()
		b.signal(event.Began, "a")
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if b.holds() != 2 {
			t.Fatalf("%d holds before the time-out, want 2", b.holds())
		}
		// Looking is no activity.
		for _, op := range []ipc.Op{ipc.OpStatus, ipc.OpWhy, ipc.OpAway} {
			if _, err := b.call(&ipc.Request{Op: op}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if b.holds() != 0 {
			t.Fatalf("%d holds after the time-out, want none", b.holds())
		}
		b.end()
	})
}

func TestRun_atRestNothingWakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) { s.RuntimeCleanupDelayMinutes = -1 })
		reads := 0
		now := b.options.Now
		b.options.Now = func() event.Instant { reads++; return now() }
		b.start()
		b.signal(event.Began, "a")
		b.signal(event.Stopped, "a")
		time.Sleep(time.Minute) // settled, saved
		synctest.Wait()
		before := reads
		time.Sleep(12 * time.Hour)
		synctest.Wait()
		// The registry forgets an idle session once; each look at the clock
		// stands for a wake-up or two.
		if got := reads - before; got > 12 {
			t.Errorf("the clock was read %d times in twelve hours of rest", got)
		}
		b.end()
	})
}

func TestRun_givesMemoryBackAfterStartAndWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) { s.RuntimeCleanupDelayMinutes = -1 })
		var settled atomic.Int32
		var resting atomic.Bool
		b.options.Settle = func(rest bool) { settled.Add(1); resting.Store(rest) }
		b.options.Resume = func() {
			if !resting.Swap(false) {
				t.Error("resumed without a rest")
			}
		}
		at := func(when string, pause time.Duration, want int32) {
			t.Helper()
			time.Sleep(pause)
			synctest.Wait()
			if settled.Load() != want || resting.Load() != (want > 1) {
				t.Fatalf("%s: settled %d times, resting %v; want %d times", when, settled.Load(), resting.Load(), want)
			}
		}
		b.start()
		b.signal(event.Began, "a")
		at("at the start", time.Second, 0)
		at("after the start", settleAfter, 1)
		for range 8 {
			b.signal(event.Active, "a")
			at("under work", time.Minute, 1)
		}
		b.signal(event.Began, "b")
		b.signal(event.Stopped, "a")
		at("while one still works", time.Minute, 1)
		b.signal(event.Stopped, "b")
		at("after the last one", 20*time.Second, 2)
		at("after what else was due, a look at what the last one left running", time.Minute, 3)
		at("at rest", 12*time.Hour, 3)
		if _, err := b.call(&ipc.Request{Op: ipc.OpStatus}); err != nil {
			t.Fatal(err)
		}
		at("after a look", settleAfter+time.Millisecond, 4)
		at("at rest again, when the two sessions were forgotten", 12*time.Hour, 6)
		b.signal(event.Began, "c")
		if resting.Load() {
			t.Error("still at rest when work begins")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if settled.Load() != 6 || resting.Load() {
			t.Errorf("under new work: settled %d times, resting %v; want 6 times", settled.Load(), resting.Load())
		}
		b.end()
	})
}

func TestRun_waitsForWhoeverStartedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) { s.RuntimeCleanupDelayMinutes = 0 })
		b.start()
		time.Sleep(time.Second) // a loaded machine: the hook comes late
		synctest.Wait()
		b.signal(event.Began, "a")
		if b.holds() != 2 {
			t.Fatalf("%d holds, want 2", b.holds())
		}
		b.signal(event.Stopped, "a")
		time.Sleep(minStay + time.Second)
		synctest.Wait()
		if err := <-b.ended; err != nil {
			t.Errorf("the runtime ended with %v", err)
		}
		b.stop()
	})
}

func TestRun_aCrashDoesNotLoseTheEndOfATurn(t *testing.T) {
	for _, kind := range []event.SignalKind{event.Stopped, event.Failed, event.Interrupted} {
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, nil)
			b.start()
			b.signal(event.Began, "a")
			time.Sleep(time.Minute)
			b.signal(kind, "a")
			time.Sleep(saveSoon + time.Millisecond)
			synctest.Wait()
			saved, err := loadSaved(b.options.Dirs.Sessions()) // what a kill -9 would leave
			if err != nil {
				t.Fatal(err)
			}
			core, err := RestoreCore(saved.Core, "boot", AfterCrash, b.options.Now())
			if err != nil {
				t.Fatal(err)
			}
			if x := core.Sessions().Get(event.SessionKey{Provider: event.Custom, ID: "a"}); x == nil || x.Phase == session.Working {
				t.Errorf("%s: the next runtime would find %+v at work", kind, x)
			}
			b.end()
		})
	}
}

func TestRun_settingsApplyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, nil)
		current := settings.Default()
		b.options.Settings = func() (settings.Settings, error) { return current, nil }
		b.start()
		b.signal(event.Began, "a")
		current.PreventSystemSleep, current.ChangeLidAction = "off", false
		if _, err := b.call(&ipc.Request{Op: ipc.OpReload}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if b.holds() != 0 {
			t.Errorf("%d holds after both were switched off, want none", b.holds())
		}
		current = settings.Default()
		if _, err := b.call(&ipc.Request{Op: ipc.OpReload}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if b.holds() != 2 {
			t.Errorf("%d holds after both were switched on, want 2", b.holds())
		}
		b.end()
	})
}

func TestRun_rebootEndsEverySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, nil)
		b.start()
		_, err := b.call(&ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{
			{Kind: event.Began, Source: "test", Session: event.SessionKey{Provider: event.Claude, ID: "a"}, Process: &event.Process{PID: os.Getpid(), Start: 1}},
			{Kind: event.Began, Source: "test", Session: event.SessionKey{Provider: event.MCP, ID: "b", Name: "n"}}}})
		if err != nil {
			t.Fatal(err)
		}
		b.end()
		b.options.BootID = "another boot"
		b.options.Machine = b.laptop.Machine()
		b.start()
		reply, err := b.call(&ipc.Request{Op: ipc.OpStatus})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Status.Sessions) != 0 || b.holds() != 0 {
			t.Errorf("after a reboot: sessions %+v, %d holds", reply.Status.Sessions, b.holds())
		}
		b.end()
	})
}

func TestRun_promptsStayOutWhenTheyAreOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) { s.PromptPreviews = false })
		b.start()
		_, err := b.call(&ipc.Request{Op: ipc.OpSignal,
			Hook:    &ipc.HookEvent{Provider: event.Claude, Event: "UserPromptSubmit", Prompt: "hidden words"},
			Signals: []event.Signal{{Kind: event.Began, Source: "test", Session: event.SessionKey{Provider: event.Claude, ID: "a"}, Prompt: "hidden words"}}})
		if err != nil {
			t.Fatal(err)
		}
		b.end()
		err = filepath.Walk(b.options.Dirs.State, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			text, err := io.ReadAll(f)
			for i := range len(text) - len("hidden") {
				if string(text[i:i+len("hidden")]) == "hidden" {
					t.Errorf("%s keeps the prompt", path)
					break
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
