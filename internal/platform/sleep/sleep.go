// Package sleep holds off the system's sleep, and asks for it. In come the
// kinds of sleep to hold off and a text that says why; out go what is really
// held, who else holds something, and word of each sleep and wake-up. It
// decides nothing, runs no helper program, and never lets the system ask the
// person for a password.
package sleep

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// What is a kind of sleep that can be held off. The names are login1's
// (org.freedesktop.login1(5), Inhibit) and stand for the same on every system.
type What string

const (
	// Idle is the sleep that comes by itself when nobody touches the machine.
	Idle What = "idle"
	// LidSwitch is the sleep that comes from closing the lid. While the lid is
	// shut, releasing it makes logind sleep at once.
	LidSwitch What = "handle-lid-switch"
	// AnySleep is every sleep, the one the person asks for included. From
	// systemd 257 it also refuses our own Suspend: release it first.
	AnySleep What = "sleep"
)

var (
	// ErrUnsupported is matched where this system has no such thing, or
	// lidguard cannot do it here.
	ErrUnsupported = errors.New("not supported on this system")
	// ErrNoLogin1 is matched where login1 is not there: no system bus, no
	// logind on it (containers, WSL), or logind gone just now.
	ErrNoLogin1 = errors.New("no login1")
	// ErrTimeout is matched when the service did not answer in time. A lock it
	// grants later is given back at once; a sleep may still come.
	ErrTimeout = errors.New("no answer in time")
	// ErrInProgress is matched when another sleep or shutdown is under way.
	ErrInProgress = errors.New("another sleep or shutdown is under way")
	// ErrClosed is matched by calls after Close.
	ErrClosed = errors.New("closed")
)

// DeniedError says that the system refused, and what right was missing.
type DeniedError struct {
	// Doing is what was refused, as in "hold idle" or "suspend".
	Doing string
	// PolkitAction is the action that would have had to be granted.
	PolkitAction string
	// Holders are the locks in the way, if it was a lock.
	Holders []Holder
	// OtherUsers are the people logged in besides us, if it was one of them.
	OtherUsers []string
	// Err is the system's own answer.
	Err error
}

func (e *DeniedError) Error() string {
	s := fmt.Sprintf("not permitted to %s (polkit action %s)", e.Doing, e.PolkitAction)
	for _, h := range e.Holders {
		s += fmt.Sprintf(", %q holds a lock: %q", h.Who, h.Why)
	}
	if len(e.OtherUsers) > 0 {
		s += ", also logged in: " + strings.Join(e.OtherUsers, ", ")
	}
	return s
}

func (e *DeniedError) Unwrap() error { return e.Err }

// A Holder is one lock in the system's list.
type Holder struct {
	What []What
	Who  string
	Why  string
	Mode string // "block", "block-weak" or "delay"
	UID  uint32
	PID  uint32
	Ours bool // held by this process
}

// Blocks reports whether h holds off what, rather than only delaying it.
func (h Holder) Blocks(what What) bool {
	if h.Mode != "block" && h.Mode != "block-weak" {
		return false
	}
	for _, w := range h.What {
		if w == what {
			return true
		}
	}
	return false
}

// Answer is the system's word on whether a sleep would be granted.
type Answer string

const (
	Yes Answer = "yes"
	No  Answer = "no"
	// Challenge: only with a password. Another user's lock is in the way, or
	// the caller has no active session. For an unattended program it means no.
	Challenge Answer = "challenge"
	NA        Answer = "na" // the hardware cannot
)

// EventKind tells events apart.
type EventKind int

const (
	// ServiceUp: what grants locks is there, for the first time or again after
	// ServiceDown. Locks taken before are in doubt: Take them again.
	ServiceUp EventKind = iota + 1
	// ServiceDown: it went away. Nothing is held off for sure until ServiceUp
	// and the next Take.
	ServiceDown
	// GoingToSleep: the machine is about to sleep.
	GoingToSleep
	// WokeUp: it is back.
	WokeUp
)

func (k EventKind) String() string {
	switch k {
	case ServiceUp:
		return "service up"
	case ServiceDown:
		return "service down"
	case GoingToSleep:
		return "going to sleep"
	case WokeUp:
		return "woke up"
	}
	return fmt.Sprintf("event %d", int(k))
}

// Capabilities say what this system's backend can do at all. Whether it may is
// another question: see CanSuspend and DeniedError.
type Capabilities struct {
	// System names the backend, as in "login1".
	System string
	// Blocks are the kinds that Take can hold.
	Blocks []What
	// Lasting are those of Blocks that change a value of the system which
	// outlives this process: the original must be saved before Take.
	Lasting []What
	// Suspend and Hibernate: there is a call for it.
	Suspend, Hibernate bool
	// ReadBack: Held and Holders tell the system's truth.
	ReadBack bool
	// Events: GoingToSleep and WokeUp are told.
	Events bool
}

// Options configure a Manager.
type Options struct {
	// SystemBus is the address of the D-Bus system bus. Linux only.
	SystemBus string
	// Who is shown to people as the holder; "lidguard" if empty.
	Who string
	// OnEvent receives events one at a time, in order, the first perhaps
	// before Open has returned. It may call the Manager, except Close. Nil
	// drops them.
	OnEvent func(EventKind)
}

// backend is what each system implements; see Manager for the contract.
type backend interface {
	capabilities() Capabilities
	take(ctx context.Context, what What, why string) error
	release(what What) error
	holders(ctx context.Context) ([]Holder, error)
	can(ctx context.Context, how Mode) (Answer, error)
	enter(ctx context.Context, how Mode) error
	close() error
}

// Mode is a way to sleep.
type Mode string

const (
	Suspend   Mode = "suspend"
	Hibernate Mode = "hibernate"
)

// Manager takes and releases locks and puts the machine to sleep. All methods
// are safe from several goroutines and return within some seconds, whatever
// the system does.
type Manager struct{ b backend }

// Open touches the system, and never fails: where there is nothing to talk to,
// the methods say so. The locks end with Close, or with the process however it
// ends, except those in Capabilities.Lasting.
func Open(o Options) *Manager {
	if o.Who == "" {
		o.Who = "lidguard"
	}
	if o.OnEvent == nil {
		o.OnEvent = func(EventKind) {}
	}
	return &Manager{open(o)}
}

// Capabilities returns what this system can do.
func (m *Manager) Capabilities() Capabilities { return m.b.capabilities() }

// Take holds off one kind of sleep; why is shown to people. It does nothing
// where that lock is held already, for the same reason and by the service that
// still runs. Else the new lock is taken before the old one is dropped, and the
// old one stays when the new one is refused.
//
// Errors match ErrNoLogin1, ErrTimeout, ErrUnsupported or *DeniedError.
func (m *Manager) Take(ctx context.Context, what What, why string) error {
	return m.b.take(ctx, what, why)
}

// Release lets go of one lock. Releasing what is not held does nothing.
func (m *Manager) Release(what What) error { return m.b.release(what) }

// Holders returns the system's whole list of locks, ours included.
func (m *Manager) Holders(ctx context.Context) ([]Holder, error) { return m.b.holders(ctx) }

// Held returns the locks of this process as the system has them, which is the
// only ground for claiming that the machine stays awake.
func (m *Manager) Held(ctx context.Context) ([]What, error) {
	all, err := m.b.holders(ctx)
	if err != nil {
		return nil, err
	}
	var held []What
	for _, what := range []What{Idle, LidSwitch, AnySleep} {
		for _, h := range all {
			if h.Ours && h.Blocks(what) {
				held = append(held, what)
				break
			}
		}
	}
	return held, nil
}

// Foreign returns the locks of others that hold off what. Those that merely
// delay it, as UPower does for ever, are left out.
func (m *Manager) Foreign(ctx context.Context, what What) ([]Holder, error) {
	all, err := m.b.holders(ctx)
	if err != nil {
		return nil, err
	}
	var list []Holder
	for _, h := range all {
		if !h.Ours && h.Blocks(what) {
			list = append(list, h)
		}
	}
	return list, nil
}

// Remote lists who is logged in from afar, as "alice from 192.0.2.7": sessions of
// people that login1 calls remote and that are not just ending. Elsewhere it fails
// with ErrUnsupported.
func (m *Manager) Remote(ctx context.Context) ([]string, error) {
	if b, ok := m.b.(interface {
		remote(context.Context) ([]string, error)
	}); ok {
		return b.remote(ctx)
	}
	return nil, ErrUnsupported
}

// CanSuspend returns whether Suspend would be granted. Nothing happens.
func (m *Manager) CanSuspend(ctx context.Context) (Answer, error) { return m.b.can(ctx, Suspend) }

// CanHibernate returns whether Hibernate would be granted. Nothing happens.
func (m *Manager) CanHibernate(ctx context.Context) (Answer, error) { return m.b.can(ctx, Hibernate) }

// Suspend asks the system to sleep and returns when it has agreed, which may
// be before or after the sleep: GoingToSleep and WokeUp tell. Errors match
// ErrNoLogin1, ErrTimeout, ErrUnsupported, ErrInProgress or *DeniedError.
func (m *Manager) Suspend(ctx context.Context) error { return m.b.enter(ctx, Suspend) }

// Hibernate is Suspend to disk.
func (m *Manager) Hibernate(ctx context.Context) error { return m.b.enter(ctx, Hibernate) }

// Close releases every lock. A second call does nothing.
func (m *Manager) Close() error { return m.b.close() }
