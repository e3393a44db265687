package entry

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

// stopwatch tells a judgement when its time is up. It goes by what the process took
// of a processor, so that a busy machine does not have an honest call refused, and in
// the end by the clock.
type stopwatch struct {
	now   func() time.Time
	used  func() time.Duration // of a processor; nil where the system does not tell in time
	began time.Time
	base  time.Duration // what was used then
}

func startWatch(now func() time.Time) *stopwatch {
	w := &stopwatch{now: now, used: processorTime, began: now()}
	if w.used != nil {
		w.base = w.used()
	}
	return w
}

// maxBefore is what reading the payload and all else that came before may take of a
// judgement's time: more than 1 MiB of command needs, and little enough that the
// largest file can still be written.
const maxBefore = 10 * time.Millisecond

// sinceStart counts what the process used before it was started, too, for one that
// lives for one answer.
func (w *stopwatch) sinceStart() *stopwatch {
	before := min(w.base, maxBefore)
	w.began, w.base = w.began.Add(-before), w.base-before
	return w
}

// left is how much of a share is left. The clock comes first, since asking it costs
// next to nothing and a judgement's one thread cannot have used more.
func (w *stopwatch) left(share time.Duration) time.Duration {
	wall := w.now().Sub(w.began)
	if wall < share || w.used == nil {
		return share - wall
	}
	return min(share-(w.used()-w.base), gate.Deadline-wall)
}

func (w *stopwatch) inTime() bool { return w.left(gate.Share) > 0 }

// alarm is closed when the judgement is late.
func (w *stopwatch) alarm() <-chan struct{} {
	late := make(chan struct{})
	var look func()
	look = func() {
		if left := w.left(gate.Late); left > 0 {
			time.AfterFunc(max(left, time.Millisecond/2), look)
			return
		}
		close(late)
	}
	look()
	return late
}
