// Package display counts the displays that are plugged in, and tells when that
// may have changed. A panel that is part of the machine counts for nothing
// while the lid is shut over it. It decides nothing and writes nothing.
package display

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

var (
	// ErrUnknown is matched where the displays cannot be counted. Nobody may
	// take that for "no display".
	ErrUnknown = errors.New("displays unknown")
	// ErrUnsupported is matched, besides ErrUnknown, on a system where lidguard
	// cannot count them yet.
	ErrUnsupported = errors.New("not supported on this system")
)

// A Connector is a place where a display can be.
type Connector struct {
	// Name as the system has it, "card0-eDP-1".
	Name string
	// Internal: the panel of the machine itself.
	Internal bool
	// Status is "connected", "disconnected", or "unknown" where the hardware
	// cannot tell. A display in standby is connected.
	Status string
}

// Connected reports whether a display is there for certain.
func (c Connector) Connected() bool { return c.Status == "connected" }

// A Reading is all connectors at one moment, sorted by name.
type Reading struct{ Connectors []Connector }

// Visible counts the displays that a person could look at.
func (r Reading) Visible(lidClosed bool) int {
	n := 0
	for _, c := range r.Connectors {
		if c.Connected() && !(c.Internal && lidClosed) {
			n++
		}
	}
	return n
}

// Blocking returns the displays that speak against a suspend: those connected,
// without the internal ones while the lid is shut.
func (r Reading) Blocking(lidClosed bool) []Connector {
	var list []Connector
	for _, c := range r.Connectors {
		if c.Connected() && !(c.Internal && lidClosed) {
			list = append(list, c)
		}
	}
	return list
}

// Equal reports whether two readings say the same.
func (r Reading) Equal(o Reading) bool { return slices.Equal(r.Connectors, o.Connectors) }

// Options configure a Watcher.
type Options struct {
	// Root is prefixed to paths under /sys; "" is the real one.
	Root string
	// Poll is how often to read again where the system tells no changes and
	// Need asks for them; 5 s if zero.
	Poll time.Duration
}

// Watcher tells when the displays changed. Safe for use from several
// goroutines.
type Watcher struct {
	o      Options
	notify notifier
	nudged chan struct{}

	mu   sync.Mutex
	need bool
}

// notifier says that displays may have changed.
type notifier interface {
	// pushes reports whether changes will be told at all.
	pushes() bool
	close()
}

// Open starts listening and never fails: without notices from the system,
// Pushes says so and reading is a matter of polling.
func Open(o Options) *Watcher {
	if o.Poll == 0 {
		o.Poll = 5 * time.Second
	}
	w := &Watcher{o: o, nudged: make(chan struct{}, 1)}
	w.notify = listen(w.nudge)
	return w
}

func (w *Watcher) nudge() {
	select {
	case w.nudged <- struct{}{}:
	default:
	}
}

// Pushes reports whether the system tells changes by itself.
func (w *Watcher) Pushes() bool { return w.notify.pushes() }

// Need says whether changes matter now. Where the system tells none, a Watch
// polls only while they do.
func (w *Watcher) Need(v bool) {
	w.mu.Lock()
	w.need = v
	w.mu.Unlock()
	w.nudge()
}

// Read counts now.
func (w *Watcher) Read() (Reading, error) { return Read(w.o.Root) }

// Watch calls report with the first reading and then with each that differs,
// until ctx ends; an error is reported once until it ends or changes. It sleeps
// in between. One Watch at a time.
func (w *Watcher) Watch(ctx context.Context, report func(Reading, error)) {
	last, lastErr := w.Read()
	report(last, lastErr)
	for {
		w.mu.Lock()
		need := w.need
		w.mu.Unlock()
		var again <-chan time.Time
		if need && !w.notify.pushes() {
			again = time.After(w.o.Poll)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.nudged:
		case <-again:
		}
		now, err := w.Read()
		if now.Equal(last) && fmt.Sprint(err) == fmt.Sprint(lastErr) {
			continue
		}
		last, lastErr = now, err
		report(now, err)
	}
}

// Close stops listening. A second call does nothing.
func (w *Watcher) Close() { w.notify.close() }
