package proc

import (
	"sync"
)

// A Watch waits for the end of one process.
type Watch struct {
	done  chan struct{}
	stop  func()
	once  sync.Once
	mu    sync.Mutex
	ended bool
}

// Watch waits for the end of exactly this process. One that is gone already,
// or whose id belongs to another by now, counts as ended at once. The cost is
// one descriptor and one parked goroutine until it ends or Close is called.
func (t Table) Watch(id ID) (*Watch, error) { return t.watch(id) }

// Ended is closed when the process has ended. After Close it may never be.
func (w *Watch) Ended() <-chan struct{} { return w.done }

// Close stops waiting. A second call does nothing.
func (w *Watch) Close() {
	w.once.Do(func() {
		if w.stop != nil {
			w.stop()
		}
	})
}

func newWatch(stop func()) *Watch { return &Watch{done: make(chan struct{}), stop: stop} }

func (w *Watch) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.done)
	}
}

// endedWatch is a Watch of a process that is gone.
func endedWatch() *Watch {
	w := newWatch(nil)
	w.finish()
	return w
}
