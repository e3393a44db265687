package watch

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

// ToolCPU is the processor time that what an agent started has used so far: its
// process tree without the agent itself, which draws a waiting line while it waits
// for a hung tool just as for a working one. Where the agent's own share is not
// known it is part of the sum. The difference of two calls tells whether a silent
// tool works.
func ToolCPU(table proc.Table, agent int) (time.Duration, error) {
	all, err := table.TreeCPU(agent)
	if err != nil {
		return 0, err
	}
	return all - ownCPU(table, agent), nil
}
