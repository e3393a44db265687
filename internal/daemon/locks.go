package daemon

import (
	"io"
	"slices"
	"sync"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// lockSet is the locks of a machine that stand. The zero value has none; it may be
// used from many goroutines.
type lockSet struct {
	mu    sync.Mutex
	locks map[*sharedLock]struct{}
}

// sharedLock is one lock. Several of one hold may share what the system knows of
// them.
type sharedLock struct {
	hold    awake.Hold
	reason  string
	request io.Closer // the system's own object behind it, if there is one; guarded by changing
	release func(*sharedLock) error
	lost    chan struct{}
	once    sync.Once // closes lost
}

// Release gives the lock back; see awake.Lock.
func (l *sharedLock) Release() error { return l.release(l) }

// Lost is closed when the lock no longer stands; see awake.Lock.
func (l *sharedLock) Lost() <-chan struct{} { return l.lost }

func (s *lockSet) put(l *sharedLock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locks == nil {
		s.locks = map[*sharedLock]struct{}{}
	}
	s.locks[l] = struct{}{}
}

func (s *lockSet) has(l *sharedLock) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, held := s.locks[l]
	return held
}

func (s *lockSet) forget(l *sharedLock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.locks, l)
}

// of returns the locks of these holds.
func (s *lockSet) of(holds ...awake.Hold) (list []*sharedLock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.locks {
		if slices.Contains(holds, l.hold) {
			list = append(list, l)
		}
	}
	return list
}

func (s *lockSet) count(hold awake.Hold) int { return len(s.of(hold)) }

// lose drops every lock of holds that no longer stand, and says so. Where locks have
// a request, changing is held.
func (s *lockSet) lose(holds ...awake.Hold) {
	for _, l := range s.of(holds...) {
		if l.request != nil {
			_ = l.request.Close() // gone with the process at the latest
		}
		s.forget(l)
		l.once.Do(func() { close(l.lost) })
	}
}
