//go:build unix

package entry

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what this process has used of processors so far, to the
// microsecond (getrusage(2)).
var processorTime = func() time.Duration {
	var used unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &used) // it fails for bad arguments alone
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
