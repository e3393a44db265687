// Package lid tells whether the laptop's lid is open or closed, and when that
// changes. It believes nothing that two sources contradict: an unknown lid is
// never a closed one. It decides nothing and writes nothing.
package lid

import (
	"context"
	"fmt"
	"time"
)

// State of the lid.
type State int

const (
	// Unknown: no lid, no source, or sources that disagree.
	Unknown State = iota
	Open
	Closed
)

func (s State) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Open:
		return "open"
	case Closed:
		return "closed"
	}
	return fmt.Sprintf("state %d", int(s))
}

// Presence says whether there is a lid at all.
type Presence int

const (
	PresenceUnknown Presence = iota
	Present
	Absent
)

func (p Presence) String() string {
	switch p {
	case PresenceUnknown:
		return "unknown"
	case Present:
		return "present"
	case Absent:
		return "absent"
	}
	return fmt.Sprintf("presence %d", int(p))
}

// A Reading is what is known of the lid at one moment. It can be compared.
type Reading struct {
	State    State
	Presence Presence
	// Source names what said so: "upower+login1", "upower", "login1", "acpi", "ioreg", "windows",
	// or "" for nothing.
	Source string
	// Why is set where State is Unknown, for people.
	Why string
}

// Options configure a Sensor.
type Options struct {
	// SystemBus is the address of the D-Bus system bus. Linux only.
	SystemBus string
	// Root is prefixed to paths under /proc and /sys; "" is the real one.
	Root string
	// Poll is how often a watch reads again while no source pushes changes
	// (a Linux without UPower); 5 s if zero.
	Poll time.Duration
}

// backend is what each system implements.
type backend interface {
	read(ctx context.Context) Reading
	// pushes reports whether changes are told without polling.
	pushes() bool
	close()
}

// Sensor reads and watches the lid. Safe for use from several goroutines.
type Sensor struct {
	b       backend
	poll    time.Duration
	changed chan struct{} // holds one token while something may have changed
}

// OpenSensor touches the system and never fails: where nothing can be known,
// readings say so.
func OpenSensor(o Options) *Sensor {
	if o.Poll == 0 {
		o.Poll = 5 * time.Second
	}
	s := &Sensor{poll: o.Poll, changed: make(chan struct{}, 1)}
	s.b = open(o, s.nudge)
	return s
}

func (s *Sensor) nudge() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Read asks now. It returns within some seconds, mostly in milliseconds.
func (s *Sensor) Read(ctx context.Context) Reading { return s.b.read(ctx) }

// Watch calls report with the first reading and then with each that differs
// from the one before, until ctx ends. It sleeps in between. One Watch at a
// time.
func (s *Sensor) Watch(ctx context.Context, report func(Reading)) {
	last := s.b.read(ctx)
	report(last)
	for {
		var again <-chan time.Time
		if !s.b.pushes() {
			again = time.After(s.poll)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-again:
		}
		now := s.b.read(ctx)
		if ctx.Err() != nil {
			return // half a reading
		}
		if now != last {
			last = now
			report(now)
		}
	}
}

// Close lets go of the system. A second call does nothing.
func (s *Sensor) Close() { s.b.close() }
