package sleep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// Display is a display that stays on. Only Caffeinate has it: to login1, a
// machine whose display must stay on is one that is not idle.
const Display What = "display"

const caffeinatePath = "/usr/bin/caffeinate"

// caffeinated are caffeinate's options and the assertions they make
// (caffeinate(8), and pmset -g assertions of macOS 14).
var caffeinated = map[What]struct{ option, assertion string }{
	Idle:    {"-i", "PreventUserIdleSystemSleep"},
	Display: {"-d", "PreventUserIdleDisplaySleep"},
}

// How long a new caffeinate may take until macOS lists its assertion, and how
// often the list is read meanwhile. Chosen; it takes some ten milliseconds.
const (
	listedLimit = 3 * time.Second
	listedPace  = 50 * time.Millisecond
)

// One that lived this long ended for a reason of its own; those that die sooner
// are started again ever more slowly.
const (
	longLife  = time.Minute
	firstRest = time.Second
	mostRest  = 5 * time.Minute
)

// Caffeinate holds off macOS's own sleep by caffeinate processes: at most one of
// each kind, each ending with the process PID however that ends. All methods are
// safe from several goroutines.
type Caffeinate struct {
	Pmset Pmset
	// PID is the process that the holds end with.
	PID int
	// Now is a clock that never goes back.
	Now func() time.Duration
	// Lost hears of a process that ended by itself, in a goroutine of its own.
	Lost func(What)

	busy sync.Mutex // one Hold or Release at a time; before mu

	mu    sync.Mutex
	procs map[What]*cup
	rest  map[What]rest
}

// cup is one caffeinate process.
type cup struct {
	command.Process
	since   time.Duration
	letting bool // we end it
}

// rest is what is remembered of those that died.
type rest struct {
	deaths int
	until  time.Duration
}

// Hold starts a process unless one holds already, and returns once macOS lists
// what it holds. Where the last ones died young it refuses for a while, so that a
// caffeinate that cannot live never becomes thousands.
func (c *Caffeinate) Hold(ctx context.Context, what What) error {
	kind, ok := caffeinated[what]
	if !ok {
		return fmt.Errorf("hold %s: %w", what, ErrUnsupported)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.busy.Lock()
	defer c.busy.Unlock()
	c.mu.Lock()
	held, r := c.procs[what], c.rest[what]
	c.mu.Unlock()
	if held != nil {
		return nil
	}
	if wait := r.until - c.Now(); wait > 0 {
		return fmt.Errorf("hold %s: caffeinate ended %d times; trying again in %s", what, r.deaths, wait.Round(time.Second))
	}
	p, err := c.Pmset.Run.Start(caffeinatePath, kind.option, "-w", strconv.Itoa(c.PID))
	if err != nil {
		return fmt.Errorf("hold %s: %w", what, err)
	}
	if err := c.listed(ctx, p, kind.assertion); err != nil {
		p.Stop()
		c.mu.Lock()
		c.died(what, 0)
		c.mu.Unlock()
		return fmt.Errorf("hold %s: %w", what, err)
	}
	u := &cup{Process: p, since: c.Now()}
	c.mu.Lock()
	if c.procs == nil {
		c.procs = map[What]*cup{}
	}
	c.procs[what] = u
	c.mu.Unlock()
	go c.watch(what, u) // ends with the process
	return nil
}

// listed waits until macOS lists the assertion of p.
func (c *Caffeinate) listed(ctx context.Context, p command.Process, assertion string) error {
	ctx, cancel := context.WithTimeout(ctx, listedLimit)
	defer cancel()
	missing := fmt.Errorf("macOS does not list %s of caffeinate", assertion)
	for {
		list, err := c.Pmset.Assertions(ctx)
		if err != nil && ctx.Err() == nil {
			missing = err
		}
		if err == nil && slices.Contains(list, Assertion{p.PID(), assertion}) {
			return nil
		}
		select {
		case <-p.Done():
			return errors.New("caffeinate ended at once")
		case <-ctx.Done():
			return missing
		case <-time.After(listedPace):
		}
	}
}

func (c *Caffeinate) watch(what What, u *cup) {
	<-u.Done()
	c.mu.Lock()
	if c.procs[what] == u {
		delete(c.procs, what)
	}
	lost := !u.letting
	if lost {
		c.died(what, c.Now()-u.since)
	}
	c.mu.Unlock()
	if lost && c.Lost != nil {
		c.Lost(what)
	}
}

// died paces the next start: at once after the first death, then after a
// doubling rest. c.mu is held.
func (c *Caffeinate) died(what What, lived time.Duration) {
	if c.rest == nil {
		c.rest = map[What]rest{}
	}
	r := c.rest[what]
	if lived >= longLife {
		r = rest{}
	}
	r.deaths++
	if n := r.deaths - 2; n >= 0 {
		r.until = c.Now() + min(firstRest<<min(n, 16), mostRest)
	}
	c.rest[what] = r
}

// Release ends the process of one kind. Where none holds it does nothing.
func (c *Caffeinate) Release(what What) {
	c.busy.Lock()
	defer c.busy.Unlock()
	c.mu.Lock()
	u := c.procs[what]
	if u != nil {
		u.letting = true
		delete(c.procs, what)
		delete(c.rest, what)
	}
	c.mu.Unlock()
	if u != nil {
		u.Stop()
	}
}

// Holding reports whether a process of this kind is there, without asking macOS.
func (c *Caffeinate) Holding(what What) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.procs[what] != nil
}

// Held returns the kinds that macOS lists for our processes.
func (c *Caffeinate) Held(ctx context.Context) ([]What, error) {
	list, err := c.Pmset.Assertions(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var held []What
	for _, what := range []What{Idle, Display} {
		if u := c.procs[what]; u != nil && slices.Contains(list, Assertion{u.PID(), caffeinated[what].assertion}) {
			held = append(held, what)
		}
	}
	return held, nil
}

// Close ends every process. A second call does nothing.
func (c *Caffeinate) Close() {
	for what := range caffeinated {
		c.Release(what)
	}
}
