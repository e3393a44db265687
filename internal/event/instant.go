package event

import "time"

// Instant is the time as the reducers see it. Nothing pure reads a clock, so
// whoever applies an input stamps it with all three clocks at once.
//
// Two clocks are needed because a laptop sleeps. Awake stands still while the
// machine sleeps and measures how long an agent had the chance to work: every
// inactivity, tool, background, settle, delay and retry deadline uses it, so
// that eight hours in a bag are not eight hours of idleness. Boot goes on
// through a sleep and measures what a person waits for: the runtime's own
// departure uses it, and Boot running ahead of Awake is how a sleep nobody
// announced is noticed. Wall is for showing only; no decision depends on it, so
// that a clock set back or forward changes nothing.
//
// Linux: CLOCK_MONOTONIC, CLOCK_BOOTTIME (clock_gettime(2)); macOS:
// mach_absolute_time, mach_continuous_time; Windows:
// QueryUnbiasedInterruptTime, QueryInterruptTime. A system that has only one of
// the two passes it twice.
type Instant struct {
	Awake time.Duration `json:"awake_ns"`
	Boot  time.Duration `json:"boot_ns"`
	Wall  time.Time     `json:"wall"`
}

// Add returns the instant d later on all three clocks, as if no sleep came
// between.
func (i Instant) Add(d time.Duration) Instant {
	i.Awake += d
	i.Boot += d
	i.Wall = i.Wall.Add(d)
	return i
}

// IsZero reports whether the instant was never set.
func (i Instant) IsZero() bool { return i.Awake == 0 && i.Boot == 0 && i.Wall.IsZero() }
