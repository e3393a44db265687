package entry

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

func TestStopwatch_goesByTheProcessor(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name       string
		wall, used time.Duration
		in         bool
	}{
		{"at the start", 0, 0, true},
		{"within its share", gate.Share - ms, gate.Share - ms, true},
		{"busy with itself", gate.Share, gate.Share, false},
		{"kept waiting by others", gate.Deadline - ms, gate.Share - ms, true},
		{"kept waiting for too long", gate.Deadline, ms, false},
		{"while other threads worked, too", gate.Share - ms, 2 * gate.Share, true},
	} {
		began := time.Unix(0, 0)
		const before = time.Hour // what the process used for other things
		w := stopwatch{now: func() time.Time { return began.Add(c.wall) }, used: func() time.Duration { return before + c.used }, began: began, base: before}
		if got := w.inTime(); got != c.in {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// Where the system does not tell, there is the clock.
func TestStopwatch_withoutTheProcessors(t *testing.T) {
	began := time.Unix(0, 0)
	var wall time.Duration
	w := stopwatch{now: func() time.Time { return began.Add(wall) }, began: began}
	for _, wall = range []time.Duration{0, gate.Share - 1, gate.Share, gate.Deadline} {
		if got := w.inTime(); got != (wall < gate.Share) {
			t.Errorf("after %v: got %v", wall, got)
		}
	}
}

// The alarm goes when the share is used up, not before: here the process has half of
// a processor.
func TestStopwatch_alarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := stopwatch{now: time.Now, used: func() time.Duration { return time.Since(began) / 2 }, began: began}
		<-w.alarm()
		if got := time.Since(began); got < 2*gate.Late || got > 2*gate.Late+time.Millisecond {
			t.Errorf("it went after %v", got)
		}
		began = time.Now()
		w = stopwatch{now: time.Now, used: func() time.Duration { return 0 }, began: began}
		<-w.alarm()
		if got := time.Since(began); got < gate.Deadline || got > gate.Deadline+time.Millisecond {
			t.Errorf("without work it went after %v", got)
		}
	})
}

func TestStopwatch_sinceStart(t *testing.T) {
	for before, want := range map[time.Duration]time.Duration{0: gate.Share, 4 * time.Millisecond: gate.Share - 4*time.Millisecond, time.Second: gate.Share - maxBefore} {
		now := time.Unix(0, 0)
		w := stopwatch{now: func() time.Time { return now }, used: func() time.Duration { return before }, began: now, base: before}
		w.sinceStart()
		if got := w.left(gate.Share); got != want {
			t.Errorf("%v after the start of the process %v are left, want %v", before, got, want)
		}
		now = now.Add(gate.Share) // others had the processor
		if got := w.left(gate.Share); got != want {
			t.Errorf("%v after the start of a process that waited %v are left, want %v", before, got, want)
		}
	}
}
