package entry

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/closedlid"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// handlers is the chain that judges every event of every client. Building it
// reads nothing for events that no pack could answer; what a policy needs is
// fetched once an event wants it.
func (h *hook) handlers() []policy.Handler {
	return append(h.packHandlers(), h.closedLid(), h.selfCheck())
}

// closedLid answers for a person who closed the lid.
func (h *hook) closedLid() policy.Handler {
	handler := closedlid.New(closedlid.Config{}, nil)
	handler.Handle = func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
		return closedlid.New(h.closedLidConfig(), func() (closedlid.Away, error) {
			away, err := h.askAway(ctx)
			return closedlid.Away(away), err
		}).Handle(ctx, ev)
	}
	return handler
}

// resolve turns a question into a denial when nobody is there to be asked.
func (h *hook) resolve(ctx context.Context, v event.Verdict) event.Verdict {
	if v.Decision != event.Ask || h.ev.Name != event.PreToolUse {
		return v
	}
	return closedlid.Resolve(h.closedLidConfig(), &h.ev, v, func() (closedlid.Away, error) {
		away, err := h.askAway(ctx)
		return closedlid.Away(away), err
	})
}

func (h *hook) closedLidConfig() closedlid.Config {
	s, err := settings.Default(), h.noHome
	if err == nil {
		s, err = settings.Load(h.dirs.Settings())
	}
	if err != nil {
		h.complain(err)
		s = settings.Default()
	}
	c := closedlid.Config{Decision: event.Deny, Interrupt: s.ClosedLidInterrupt, CopilotStrict: s.ClosedLidCopilotStrict}
	switch s.ClosedLidPermissionDecision {
	case "phone":
		c.Phone = s.PhoneURL != "" // without one it is a denial
	case "allow":
		c.Decision = event.Allow
	case "ask":
		c.Decision = event.Ask
	}
	return c
}
