package display

import (
	"context"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// readLimit bounds one run of system_profiler.
const readLimit = 10 * time.Second

// Read counts the displays; macOS has no root to read below.
func Read(string) (Reading, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readLimit)
	defer cancel()
	return ReadSystemProfiler(ctx, command.System())
}

// silent: macOS is polled.
type silent struct{}

func listen(func()) notifier { return silent{} }

func (silent) pushes() bool { return false }
func (silent) close()       {}
