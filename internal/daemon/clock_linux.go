package daemon

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/lidguard-go/lidguard/internal/event"
)

// systemNow reads the clocks of event.Instant.
func systemNow() event.Instant {
	return event.Instant{Awake: clock(unix.CLOCK_MONOTONIC), Boot: clock(unix.CLOCK_BOOTTIME), Wall: time.Now()}
}

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0 // not on any kernel since 2.6.39
	}
	return time.Duration(t.Nano())
}
