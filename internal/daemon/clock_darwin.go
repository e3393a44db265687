package daemon

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/lidguard-go/lidguard/internal/event"
)

// systemNow reads the clocks of event.Instant. clock_gettime(3) of macOS:
// CLOCK_UPTIME_RAW is mach_absolute_time, which stands still while the Mac sleeps
// and which Go's timers run by; CLOCK_MONOTONIC_RAW is mach_continuous_time, which
// does not.
func systemNow() event.Instant {
	return event.Instant{Awake: clock(unix.CLOCK_UPTIME_RAW), Boot: clock(unix.CLOCK_MONOTONIC_RAW), Wall: time.Now()}
}

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0 // not on any macOS since 10.12
	}
	return time.Duration(t.Nano())
}
