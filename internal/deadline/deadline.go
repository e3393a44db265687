// Package deadline gives contexts an end without a timer. In comes a context and a
// moment; out comes one that is over from then on, as of [context.WithDeadline]. It
// starts a timer only for who waits on Done: a timer wakes a thread that looks after
// it, which costs a hook more than most of what it bounds takes. It decides nothing.
package deadline

import (
	"context"
	"sync"
	"time"
)

// In is [context.WithTimeout] without a timer until somebody asks for Done.
func In(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return At(parent, time.Now().Add(d))
}

// At is [context.WithDeadline] without a timer until somebody asks for Done.
func At(parent context.Context, end time.Time) (context.Context, context.CancelFunc) {
	if cur, ok := parent.Deadline(); ok && cur.Before(end) {
		end = cur
	}
	c := &ending{Context: parent, end: end}
	return c, c.cancel
}

// ending is a context that is over at end. It may be used from many goroutines.
type ending struct {
	context.Context // the parent
	end             time.Time

	mu    sync.Mutex
	over  error           // once cancelled or found to be past its end
	timed context.Context // with a timer; nil until Done is asked for
	stop  context.CancelFunc
}

func (c *ending) Deadline() (time.Time, bool) { return c.end, true }

func (c *ending) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.stop = context.WithDeadline(c.Context, c.end)
		if c.over != nil {
			c.stop()
		}
	}
	return c.timed.Done()
}

func (c *ending) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over != nil:
	case c.timed != nil:
		c.over = c.timed.Err()
	case c.Context.Err() != nil:
		c.over = c.Context.Err()
	case !time.Now().Before(c.end):
		c.over = context.DeadlineExceeded
	}
	return c.over
}

func (c *ending) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over == nil {
		c.over = context.Canceled
	}
	if c.stop != nil {
		c.stop()
	}
}
