//go:build unix

package replay_test

import (
	"syscall"
	"time"
)

// cpu is the processor time of this process and of those that it has waited for.
func cpu() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return sum
}
