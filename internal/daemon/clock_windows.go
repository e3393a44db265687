package daemon

import (
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/lidguard-go/lidguard/internal/event"
)

var (
	queryUnbiasedInterruptTime = windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryUnbiasedInterruptTime")
	// Windows 10 and later.
	queryInterruptTime = windows.NewLazySystemDLL("kernelbase.dll").NewProc("QueryInterruptTime")
)

// systemNow reads the clocks of event.Instant. Go's own monotonic clock goes on
// through a sleep on Windows, and its timers are due at the wake-up: whoever is
// woken by one looks at Awake again.
func systemNow() event.Instant {
	return event.Instant{Awake: awakeTime(), Boot: bootTime(), Wall: time.Now()}
}

// interruptUnit is that of both clocks; both move with the timer interrupt, some
// 1 to 16 ms at a time.
const interruptUnit = 100 * time.Nanosecond

// awakeTime stands still while the machine sleeps.
func awakeTime() time.Duration {
	var t uint64
	if queryUnbiasedInterruptTime.Find() != nil {
		return 0 // not on any Windows since 7
	}
	queryUnbiasedInterruptTime.Call(uintptr(unsafe.Pointer(&t)))
	return time.Duration(t) * interruptUnit
}

// bootTime does not.
func bootTime() time.Duration {
	var t uint64
	if queryInterruptTime.Find() != nil {
		return windows.DurationSinceBoot() // the same clock in milliseconds
	}
	queryInterruptTime.Call(uintptr(unsafe.Pointer(&t)))
	return time.Duration(t) * interruptUnit
}
