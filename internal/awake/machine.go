package awake

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Machine is what the effect runner needs of a computer. Implementations live in
// the platform folders and in fakelaptop; every one passes machinetest.
//
// All methods may be called from any goroutine. Those with a context must return
// soon after it ends. None may prompt a person, run an interactive polkit
// check, or write to a terminal.
type Machine interface {
	// Acquire takes a lock of hold and returns once the system granted it.
	// reason is shown by the system. A second lock of the same hold is
	// independent of the first. Refusals match ErrDenied (as *Refusal, where
	// known who and why); a hold this system does not have matches
	// ErrUnsupported. The lock must end with this process, however it dies.
	Acquire(ctx context.Context, hold Hold, reason string) (Lock, error)
	// Held lists the holds of ours that the system itself confirms, read back
	// rather than remembered. Order and duplicates mean nothing.
	Held(ctx context.Context) ([]Hold, error)

	// Lid, Displays and Battery read the present state. Unknown is an answer
	// (LidUnknown, UnknownDisplays, Battery.Known false), not an error; the
	// error says why it is unknown and may be nil.
	Lid(ctx context.Context) (Lid, error)
	// Displays counts displays that forbid a suspend with the lid closed:
	// external ones, connected and in use.
	Displays(ctx context.Context) (int, error)
	Battery(ctx context.Context) (Battery, error)
	// Heat returns degrees Celsius under the mode "low", "average" or "high"
	// of all sensors. No readable sensor is an error, never a number.
	Heat(ctx context.Context, mode string) (float64, error)

	// CanSuspend tells without suspending whether Suspend(mode) would work: nil,
	// a *Refusal, or ErrUnsupported.
	CanSuspend(ctx context.Context, mode Mode) error
	// Suspend asks the system to sleep. It returns nil once the system
	// accepted (it may return before, during or after the sleep; Watch tells
	// of the sleep itself) or was about to sleep in that mode anyway, else a
	// *Refusal or another error.
	Suspend(ctx context.Context, mode Mode) error

	// Watch calls tell for every change until ctx ends, then returns nil. It
	// first tells the present lid, displays and battery. tell must return
	// quickly; calls come one at a time. An error says that nothing is told any
	// more.
	Watch(ctx context.Context, tell func(Fact)) error

	// Restore puts back lasting system values that a dead runtime left
	// changed. With nothing to restore it does nothing and returns nil.
	Restore(ctx context.Context) error
}

// What not every computer can tell or do: a Machine that can implements it beside.
// The rules of its methods are those of Machine.
type (
	// NetworkReader tells whether there is a way out. Unknown is an answer.
	NetworkReader interface {
		Network(ctx context.Context) (Network, error)
	}
	// RemoteReader lists who is logged in from afar, in words for people.
	RemoteReader interface {
		Remote(ctx context.Context) ([]string, error)
	}
	// Waker has the system wake up at a moment of the wall clock, in the place of
	// what was asked before; the zero time takes that back.
	Waker interface {
		WakeAt(ctx context.Context, at time.Time) error
	}
)

// Lock is one granted hold.
type Lock interface {
	// Release gives the lock back. It may be called twice and after the lock
	// was lost; both return nil. An error means that it is still held.
	Release() error
	// Lost is closed when the system dropped the lock without Release.
	Lost() <-chan struct{}
}

// FactKind is which part of the machine a Fact is about.
type FactKind string

const (
	FactLid      FactKind = "lid"
	FactDisplays FactKind = "displays"
	FactBattery  FactKind = "battery"
	FactSleeping FactKind = "sleeping" // about to sleep
	FactWoke     FactKind = "woke"
	FactService  FactKind = "service" // the service behind holds and suspend (re)appeared
)

// Fact is one change that Watch tells.
type Fact struct {
	Kind     FactKind
	Lid      Lid
	Displays int
	Battery  Battery
}

// Input returns the fact as an input of the reducer.
func (f Fact) Input() Input {
	return Input{Kind: InputKind(f.Kind), Lid: f.Lid, Displays: f.Displays, Battery: f.Battery}
}

// ErrUnsupported says that this system has no such thing; asking again is
// useless.
var ErrUnsupported = errors.New("not supported on this system")

// ErrDenied is matched by every *Refusal.
var ErrDenied = errors.New("denied")

// Refusal is a request that the system turned down.
type Refusal struct {
	What string // what was asked: a hold or a mode
	Who  string // who refused: polkit action, holder of a lock, another user
	Why  string
}

// Error says what was refused by whom and why.
func (r *Refusal) Error() string { return fmt.Sprintf("%s denied by %q: %s", r.What, r.Who, r.Why) }

// Is makes every Refusal match ErrDenied.
func (r *Refusal) Is(target error) bool { return target == ErrDenied }
