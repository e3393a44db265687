// Package battery tells whether the machine runs on its battery, how full that
// is, and how long it will last. Several batteries are seen as one; those of
// mice and headsets are not seen at all. It decides nothing and writes nothing.
package battery

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrUnknown is matched where nothing can be said about power. Nobody may
	// take that for mains, nor for an empty battery.
	ErrUnknown = errors.New("battery unknown")
	// ErrUnsupported is matched, besides ErrUnknown, on a system where lidguard
	// cannot read it yet.
	ErrUnsupported = errors.New("not supported on this system")
)

// State of the battery.
type State string

const (
	Unknown     State = "unknown"
	Charging    State = "charging"
	Discharging State = "discharging"
	Full        State = "full"
	Empty       State = "empty"
	// Idle: on mains, neither charging nor full, as with a charge limit.
	Idle State = "idle"
)

// A Reading is what is known at one moment.
type Reading struct {
	// Present: there is a battery. Without one, only OnBattery, false, and
	// Source mean anything.
	Present bool
	// OnBattery: the machine draws from the battery, not from the mains.
	OnBattery bool
	Percent   float64 // 0 to 100, of all batteries together
	State     State
	// Watts it is drained or charged with; 0 where unknown.
	Watts float64
	// ToEmpty at the current drain; 0 where unknown or not discharging.
	ToEmpty time.Duration
	// Source names what said so: "upower", "sysfs", "pmset" or "windows".
	Source string
}

// Options configure a Sensor.
type Options struct {
	// SystemBus is the address of the D-Bus system bus. Linux only.
	SystemBus string
	// Root is prefixed to paths under /sys; "" is the real one.
	Root string
	// Poll is how often a Watch reads again while no source pushes changes (a
	// Linux without UPower); 30 s if zero.
	Poll time.Duration
}

// backend is what each system implements.
type backend interface {
	read(ctx context.Context) (Reading, error)
	pushes() bool
	close()
}

// Sensor reads and watches the battery. Safe for use from several goroutines.
type Sensor struct {
	b       backend
	poll    time.Duration
	changed chan struct{}
}

// Open touches the system and never fails: where nothing can be known, readings
// say so.
func Open(o Options) *Sensor {
	if o.Poll == 0 {
		o.Poll = 30 * time.Second
	}
	s := &Sensor{poll: o.Poll, changed: make(chan struct{}, 1)}
	s.b = open(o, func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	})
	return s
}

// Read asks now. Errors match ErrUnknown. It returns within some seconds,
// mostly in milliseconds.
func (s *Sensor) Read(ctx context.Context) (Reading, error) { return s.b.read(ctx) }

// Watch calls report with the first reading and then whenever one differs,
// until ctx ends. It sleeps in between. One Watch at a time.
func (s *Sensor) Watch(ctx context.Context, report func(Reading, error)) {
	last, lastErr := s.b.read(ctx)
	report(last, lastErr)
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
		now, err := s.b.read(ctx)
		if ctx.Err() != nil {
			return // half a reading
		}
		if now != last || (err == nil) != (lastErr == nil) {
			last, lastErr = now, err
			report(now, err)
		}
	}
}

// Close lets go of the system. A second call does nothing.
func (s *Sensor) Close() { s.b.close() }
