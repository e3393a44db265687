package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// Grip carries out the effects that touch the machine, one at a time, and keeps
// the locks. It blocks as long as the machine does, starts nothing and logs
// nothing: the runtime calls it from its worker, the simulation from its own
// loop, so that both go through the same code. It belongs to one goroutine;
// Check, Heat, Network and Remote may be called from any.
type Grip struct {
	machine awake.Machine
	locks   map[uint64]awake.Lock
}

// NewGrip returns a Grip on m that holds nothing.
func NewGrip(m awake.Machine) *Grip {
	return &Grip{machine: m, locks: map[uint64]awake.Lock{}}
}

// Do carries out DoAcquire, DoRelease, DoSuspend, DoWake or DoRestore and returns the
// answer for the Core and, for the log, what went wrong. Other effects are not
// the machine's; their answer is the zero Input. reason is what the system shows
// beside a lock.
func (g *Grip) Do(ctx context.Context, e awake.Effect, reason string) (awake.Input, error) {
	switch e.Kind {
	case awake.DoAcquire:
		lock, err := g.machine.Acquire(ctx, e.Hold, reason)
		if err != nil {
			in := awake.Input{Kind: awake.InFailed, ID: e.ID}
			if errors.Is(err, awake.ErrDenied) {
				in.Kind = awake.InDenied
			}
			in.Who, in.Why = blame(err)
			// Wherever it is told, the lock was named before.
			in.Why = strings.TrimPrefix(in.Why, "hold "+string(e.Hold)+": ")
			return in, err
		}
		g.locks[e.ID] = lock
		return awake.Input{Kind: awake.InTaken, ID: e.ID}, nil
	case awake.DoRelease:
		// A lock of a runtime that died went with its process.
		if lock, ok := g.locks[e.ID]; ok {
			if err := lock.Release(); err != nil {
				return awake.Input{Kind: awake.InFailed, ID: e.ID, Why: err.Error()}, err
			}
			delete(g.locks, e.ID)
		}
		return awake.Input{Kind: awake.InReleased, ID: e.ID}, nil
	case awake.DoSuspend:
		if err := g.machine.Suspend(ctx, e.Mode); err != nil {
			in := awake.Input{Kind: awake.InRefused, ID: e.ID}
			in.Who, in.Why = blame(err)
			return in, err
		}
		return awake.Input{Kind: awake.InSuspended, ID: e.ID}, nil
	case awake.DoWake:
		err := awake.ErrUnsupported
		if m, ok := g.machine.(awake.Waker); ok {
			err = m.WakeAt(ctx, e.At)
		}
		return awake.Input{Kind: awake.InWakeSet, ID: e.ID, Why: text(err)}, err
	case awake.DoRestore:
		if err := g.machine.Restore(ctx); err != nil {
			return awake.Input{Kind: awake.InFailed, ID: e.ID, Why: err.Error()}, err
		}
		return awake.Input{Kind: awake.InRestored, ID: e.ID}, nil
	}
	return awake.Input{}, nil
}

// Lock returns the lock that effect id took, nil if it is not held (any more).
func (g *Grip) Lock(id uint64) awake.Lock { return g.locks[id] }

// Locks returns the ids of the locks that are held, lowest first.
func (g *Grip) Locks() []uint64 {
	ids := make([]uint64, 0, len(g.locks))
	for id := range g.locks {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Check reads lid and displays afresh and returns both facts, then the answer to
// DoCheck id. An error tells what could not be read; unknown is a fact too.
func (g *Grip) Check(ctx context.Context, id uint64) ([]awake.Input, error) {
	lid, lidErr := g.machine.Lid(ctx)
	displays, displaysErr := g.machine.Displays(ctx)
	return []awake.Input{
		{Kind: awake.InLid, Lid: lid},
		{Kind: awake.InDisplays, Displays: displays},
		{Kind: awake.InChecked, ID: id},
	}, errors.Join(lidErr, displaysErr)
}

// Heat reads the temperature under mode.
func (g *Grip) Heat(ctx context.Context, mode string) awake.Input {
	c, err := g.machine.Heat(ctx, mode)
	if err != nil {
		return awake.Input{Kind: awake.InHeat, Unreadable: true, Why: err.Error()}
	}
	return awake.Input{Kind: awake.InHeat, Celsius: c}
}

// Close lets go of everything that is still held.
func (g *Grip) Close() error {
	var all error
	for _, id := range g.Locks() {
		all = errors.Join(all, g.locks[id].Release())
		delete(g.locks, id)
	}
	return all
}

// Network reads whether there is a way out, where the machine can tell.
func (g *Grip) Network(ctx context.Context) (awake.Input, error) {
	in := awake.Input{Kind: awake.InNetwork}
	m, ok := g.machine.(awake.NetworkReader)
	if !ok {
		return in, awake.ErrUnsupported
	}
	var err error
	in.Network, err = m.Network(ctx)
	return in, err
}

// Remote reads who is logged in from afar, where the machine can tell.
func (g *Grip) Remote(ctx context.Context) (awake.Input, error) {
	in := awake.Input{Kind: awake.InRemote}
	m, ok := g.machine.(awake.RemoteReader)
	if !ok {
		return in, awake.ErrUnsupported
	}
	who, err := m.Remote(ctx)
	in.Remote, in.Who = len(who), strings.Join(who, ", ")
	return in, err
}
