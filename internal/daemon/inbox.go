package daemon

import "sync"

// inbox is the queue of what the owner goroutine has to do. It has no bound on
// purpose: those who put something in are themselves bounded (connections,
// effects in flight, one tailer), and a full queue would let the owner and the
// goroutines it feeds wait for each other.
type inbox struct {
	mu    sync.Mutex // guards queue
	queue []func()
	wake  chan struct{} // capacity 1: the queue is not empty
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// put has f called by the owner. It never blocks.
func (b *inbox) put(f func()) {
	b.mu.Lock()
	b.queue = append(b.queue, f)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns what was put in, oldest first.
func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.queue
	b.queue = nil
	return all
}
