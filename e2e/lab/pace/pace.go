//go:build linux

// Package pace tells how busy the machine is that runs the tests. Nothing comes in;
// out goes by how many times longer work takes than it would on an idle machine. It
// is for promises in seconds, which hold there. It never waits for a quiet moment.
package pace

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A look is a little work: how much processor time it took, and how long in all,
// from the moment at which it was to begin.
type look struct {
	at           time.Time
	took, worked time.Duration
}

// Four hundredths of one processor. The work is shorter than what a scheduler gives
// at once, as most of what a client, a hook and logind do for each other.
const (
	every = 50 * time.Millisecond
	work  = 2 * time.Millisecond
)

var (
	mu    sync.Mutex
	looks []look // in order; twenty a second, for as long as the tests run
	watch sync.Once
)

// Watch begins to look, which ends with the process. Calling it again changes nothing.
func Watch() {
	watch.Do(func() {
		go func() {
			runtime.LockOSThread() // whose processor time is measured
			for {
				due := time.Now().Add(every)
				time.Sleep(every)
				l := lookFrom(due)
				mu.Lock()
				looks = append(looks, l)
				mu.Unlock()
			}
		}()
	})
}

func lookFrom(due time.Time) look {
	began := worked()
	for worked()-began < work {
	}
	return look{at: time.Now(), took: time.Since(due), worked: worked() - began}
}

// worked is the processor time of this thread.
func worked() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has it
	}
	return time.Duration(t.Nano())
}

// Since is how much longer work has taken than on an idle machine, since then: 1 is
// no longer. Without a look in that time it is 1.
func Since(begin time.Time) float64 {
	mu.Lock()
	defer mu.Unlock()
	return since(looks, begin)
}

func since(looks []look, begin time.Time) float64 {
	var took, worked time.Duration
	for i := len(looks) - 1; i >= 0 && looks[i].at.After(begin); i-- {
		took, worked = took+looks[i].took, worked+looks[i].worked
	}
	if worked == 0 {
		return 1
	}
	return max(1, float64(took)/float64(worked))
}
