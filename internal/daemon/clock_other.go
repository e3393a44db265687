//go:build !linux && !darwin && !windows

package daemon

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// started anchors the monotonic clock: Go does not hand out its absolute value.
var started = time.Now()

// systemNow reads the clocks of event.Instant. Go's monotonic clock is the only
// one read here, and stands for both.
func systemNow() event.Instant {
	now := time.Now()
	since := now.Sub(started)
	return event.Instant{Awake: since, Boot: since, Wall: now}
}
