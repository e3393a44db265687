//go:build !linux && !darwin && !windows

package proc

import (
	"fmt"
	"runtime"
	"time"
)

func unsupported(pid int) error {
	return fmt.Errorf("process %d on %s: %w", pid, runtime.GOOS, ErrUnsupported)
}

func (t Table) lookup(pid int) (Process, error) { return Process{}, unsupported(pid) }

func (t Table) watch(id ID) (*Watch, error) { return nil, unsupported(id.PID) }

// TreeCPU cannot be read here.
func (t Table) TreeCPU(pid int) (time.Duration, error) { return 0, unsupported(pid) }
