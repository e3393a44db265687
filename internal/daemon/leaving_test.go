package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
)

// street is a socket's name in a bubble: one runtime after the other serves there,
// and hooks start one where none does, as real ones do.
type street struct {
	*bubble
	mu      sync.Mutex // guards the fields below
	socket  *pipes     // nil or closed: nobody listens
	instead func()     // called once in place of a Listen, which then fails
	ends    []chan error
	stops   []context.CancelFunc
}

func newStreet(t *testing.T) *street {
	s := &street{bubble: newBubble(t, nil)}
	s.options.Listen = func(string) (net.Listener, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if f := s.instead; f != nil {
			s.instead = nil
			s.mu.Unlock()
			f()
			s.mu.Lock()
			return nil, endpoint.ErrInUse
		}
		if s.socket != nil {
			select {
			case <-s.socket.closed:
			default:
				return nil, endpoint.ErrInUse
			}
		}
		s.socket = &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
		return s.socket, nil
	}
	s.options.Dial = func(ctx context.Context, _ string) (net.Conn, error) { return s.dial(ctx) }
	return s
}

// begin is one start of `lidguard runtime`.
func (s *street) begin() {
	ctx, stop := context.WithCancel(context.Background())
	end := make(chan error, 1)
	s.mu.Lock()
	s.stops, s.ends = append(s.stops, stop), append(s.ends, end)
	s.mu.Unlock()
	o := s.options
	o.Machine = s.laptop.Machine() // its own, as a process has
	go func() { end <- Run(ctx, o) }()
}

func (s *street) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	socket := s.socket
	s.mu.Unlock()
	if socket == nil {
		return nil, errors.New("no such file")
	}
	ours, theirs := net.Pipe()
	select {
	case socket.conns <- theirs:
		return ours, nil
	case <-socket.closed:
		return nil, errors.New("refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *street) ask(req *ipc.Request) (*ipc.Reply, error) {
	c := &ipc.Client{Version: "v1.0.0", Dial: s.dial}
	return c.Call(context.Background(), req)
}

// hook tells of one event as package entry does, and of what it was told last.
func (s *street) hook(kind event.SignalKind, id event.SessionID) error {
	started := false
	var err error
	for end := time.Now().Add(600 * time.Millisecond); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		_, err = s.ask(&ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{Kind: kind, Source: "test",
			Session: event.SessionKey{Provider: event.Custom, ID: id}}}})
		var refused *ipc.RefusedError
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ipc.ErrNotRunning) && !started:
			started = true
			s.begin()
		case errors.As(err, &refused) && refused.Text != ipc.HandingOver:
			return err
		}
	}
	return err
}

// end stops every runtime.
func (s *street) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, stop := range s.stops {
		stop()
		if err := <-s.ends[i]; err != nil && !errors.Is(err, ErrRunning) {
			s.t.Errorf("Run: %v", err)
		}
	}
	if n := s.holds(); n != 0 {
		s.t.Errorf("%d holds are left after the end", n)
	}
}

// known are the sessions that whoever serves now keeps the machine awake for.
func (s *street) known() []string {
	reply, err := s.ask(&ipc.Request{Op: ipc.OpStatus})
	if err != nil {
		s.t.Fatalf("after all that nobody serves: %v", err)
	}
	var ids []string
	for _, x := range reply.Status.Sessions {
		if x.Holds {
			ids = append(ids, string(x.Key.ID))
		}
	}
	slices.Sort(ids)
	return ids
}

// leaveAt is how long after its last session's end a runtime gives up its socket.
func leaveAt(t *testing.T) (after time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t)
		s.begin()
		synctest.Wait()
		s.settle()
		ended := time.Now()
		<-s.socket.closed
		after = time.Since(ended)
		s.end()
	})
	return after
}

// settle has one session begin and end.
func (s *street) settle() {
	for _, kind := range []event.SignalKind{event.Began, event.Stopped} {
		if err := s.hook(kind, "first"); err != nil {
			s.t.Fatalf("%s: %v", kind, err)
		}
	}
}

// TestRun_leavingLosesNobody: hooks come at the very moment a runtime leaves. Each
// that was told "done" must be known to whoever serves afterwards, and each must be
// told.
func TestRun_leavingLosesNobody(t *testing.T) {
	after := leaveAt(t)
	for round := range 40 {
		synctest.Test(t, func(t *testing.T) {
			s := newStreet(t)
			s.begin()
			synctest.Wait()
			s.settle()
			time.Sleep(after - time.Microsecond)
			stop := round%2 == 1 // a person tells it to leave in the same moment
			var hooks sync.WaitGroup
			var mu sync.Mutex // guards want
			var want []string
			for i := range 1 + round%4 {
				id := fmt.Sprint("late", i)
				hooks.Go(func() {
					time.Sleep(time.Microsecond + time.Duration(round%3-1)*time.Duration(i))
					err := s.hook(event.Began, event.SessionID(id))
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						want = append(want, id)
					case !stop: // else it may have started one that was told to leave
						t.Errorf("round %d: %s: %v", round, id, err)
					}
				})
			}
			if stop {
				hooks.Go(func() {
					time.Sleep(time.Microsecond)
					_, _ = s.ask(&ipc.Request{Op: ipc.OpStop}) // it may be gone already
				})
			}
			hooks.Wait()
			time.Sleep(time.Second)
			synctest.Wait()
			// A runtime that was told to go goes, work or not; the next event of
			// a session it left brings all of them back.
			if err := s.hook(event.Active, "late0"); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			if !slices.Contains(want, "late0") {
				want = append(want, "late0")
			}
			slices.Sort(want)
			time.Sleep(time.Second)
			synctest.Wait()
			if got := s.known(); !slices.Equal(got, want) {
				t.Errorf("round %d: sessions %q are known, want %q", round, got, want)
			}
			if s.holds() != 2 {
				t.Errorf("round %d: %d holds, want 2", round, s.holds())
			}
			s.end()
		})
	}
}

// TestRun_calledBackWhileLeaving: a request that was read before the socket was
// given up, and that is taken after, brings the runtime back, and where another one
// began meanwhile that one hears of it.
func TestRun_calledBackWhileLeaving(t *testing.T) {
	after := leaveAt(t)
	for _, other := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStreet(t)
			s.begin()
			synctest.Wait()
			s.settle()
			time.Sleep(after - time.Microsecond)
			goOn := s.laptop.Hang(fakelaptop.OpLid)
			if other {
				s.mu.Lock()
				s.instead = func() {
					s.begin()
					synctest.Wait()
				}
				s.mu.Unlock()
			}
			told := make(chan error, 1)
			go func() { // its first request hangs at the lid; waited for through told
				_, err := s.ask(&ipc.Request{Op: ipc.OpSignal, Ask: true, Signals: []event.Signal{{Kind: event.Began,
					Source: "test", Session: event.SessionKey{Provider: event.Custom, ID: "late"}}}})
				if errors.Is(err, ipc.ErrHungUp) {
					err = s.hook(event.Began, "late")
				}
				told <- err
			}()
			synctest.Wait()
			first := s.socket
			<-first.closed
			synctest.Wait()
			goOn()
			if err := <-told; err != nil {
				t.Fatalf("other %v: %v", other, err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if got := s.known(); !slices.Equal(got, []string{"late"}) || s.socket == first || s.holds() != 2 {
				t.Errorf("other %v: sessions %q are known, %d holds", other, got, s.holds())
			}
			if begun := len(s.ends); begun != 1 && !other || begun != 2 && other {
				t.Errorf("other %v: %d runtimes were started", other, begun)
			}
			s.end()
		})
	}
}
