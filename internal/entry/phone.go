package entry

import (
	"context"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/policy/closedlid"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// phonePace is how often a hook looks whether the phone has answered. The runtime
// takes a question back that is not looked at for some seconds.
const phonePace = 500 * time.Millisecond

// phoneLimit bounds the whole wait. The runtime knows the person's own limit; this
// one only has to come before the ten minutes of the installed hooks.
const phoneLimit = (settings.MaxPhoneWait + 10) * time.Second

// askPhone puts a denial that the phone may turn to the person, and waits for the
// answer. Whatever goes wrong the denial stands. It reports whether it asked.
//
// Only the runtime reaches the network and knows how an answer proves itself: a hook
// hears no more than what was decided.
func (h *hook) askPhone() bool {
	if h.verdict.Rule != closedlid.RulePhone || h.dry || h.noHome != nil {
		return false
	}
	text, whole := closedlid.Shown(&h.ev)
	ask := &ipc.PhoneAsk{Session: h.ev.Session, Title: closedlid.Title(&h.ev), Text: text, Whole: whole}
	if h.ev.Tool != nil {
		ask.Tool = h.ev.Tool.Name
	}
	ctx, cancel := context.WithTimeout(context.Background(), phoneLimit)
	defer cancel()
	for {
		reply, err := h.client().Call(ctx, &ipc.Request{Op: ipc.OpPhone, Phone: ask})
		switch {
		case err != nil: // the runtime ended or hands over, and the question with it
			h.complain(err)
			return true
		case reply.Phone == nil:
			return true
		case reply.Phone.Answer != ipc.PhoneWaits:
			h.verdict = closedlid.Answered(h.verdict, &h.ev, string(reply.Phone.Answer))
			return true
		}
		ask = &ipc.PhoneAsk{ID: reply.Phone.ID, Session: h.ev.Session}
		time.Sleep(phonePace)
	}
}
