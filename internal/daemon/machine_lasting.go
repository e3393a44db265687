package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// keeper is the process that puts values back when this one dies.
type keeper interface {
	Ensure(ctx context.Context) error
	Close(ctx context.Context) error
}

// lastingMachine is what the systems share whose settings outlive every process: the
// locks that stand, the clocks that prove a sleep, and a janitor for values that
// could not be put back at once.
type lastingMachine struct {
	// lead is how far the Boot clock is ahead of the Awake clock.
	lead func() time.Duration
	// pause is how long the janitor waits before each try, and sweep one try: it
	// puts back what is due and reports whether nothing is left. changing is held.
	pause time.Duration
	sweep func(ctx context.Context) (tidy bool)

	// changing is held over everything that reads and writes lasting values, and
	// over a whole Acquire or Release. It comes before mu.
	changing sync.Mutex

	lockSet // its mu guards slack and tidying as well

	slack    time.Duration // lead, as last seen
	tidying  bool
	ctx      context.Context
	stop     context.CancelFunc
	janitors sync.WaitGroup
}

// begin makes the zero value ready. The fields before changing must be set.
func (m *lastingMachine) begin() {
	m.slack = m.lead()
	m.ctx, m.stop = context.WithCancel(context.Background())
}

// end stops the janitor and waits for it.
func (m *lastingMachine) end() {
	m.stop()
	m.janitors.Wait()
}

// tidy has the janitor come. changing is held.
func (m *lastingMachine) tidy() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.tidying && m.ctx.Err() == nil {
		m.tidying = true
		m.janitors.Go(m.janitor) // ends when all is tidy or with end, which waits for it
	}
}

func (m *lastingMachine) janitor() {
	for tidy := false; !tidy; {
		select {
		case <-m.ctx.Done():
			return // whoever ends the machine puts everything back
		case <-time.After(m.pause):
		}
		tidy = m.try()
	}
}

// try is one sweep. Whoever needs another one holds changing, so none is missed.
func (m *lastingMachine) try() (tidy bool) {
	m.changing.Lock()
	defer m.changing.Unlock()
	ctx, cancel := context.WithTimeout(m.ctx, restoreLimit)
	defer cancel()
	tidy = m.sweep(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tidying = !tidy
	return tidy
}

// slept reports whether the machine slept since it was last asked: the clocks prove
// it, whoever caused it.
func (m *lastingMachine) slept() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	lead := m.lead()
	grown := lead-m.slack > awake.GapSlept
	m.slack = max(m.slack, lead)
	return grown
}
