package entry

import (
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

// nearest is whose program stands nearest above this process; "" where no agent's is
// found, or nobody stands above it, as in a rehearsal.
func nearest(env Env) event.Provider {
	if env.PID == 0 {
		return ""
	}
	owner, _ := proc.Table{Root: env.Getenv("LIDGUARD_ROOT")}.FindOwner(env.PID, "", 0)
	return event.Provider(owner.Provider)
}

// findOwner is the agent's process above this one; nil when there is none to be
// found, and then the session's time-out covers it.
func (h *hook) findOwner() *event.Process {
	if h.env.Owner != nil {
		return h.env.Owner(h.ev.ClientPID)
	}
	table := proc.Table{Root: h.env.Getenv("LIDGUARD_ROOT")}
	owner, ok := table.FindOwner(h.env.PID, string(h.codec.Provider()), h.ev.ClientPID)
	if !ok {
		return nil
	}
	return &event.Process{PID: owner.PID, Start: owner.Start, Shared: owner.Shared}
}
