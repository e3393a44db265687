package entry

import (
	"context"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/notices"
)

// noticesPack draws a person's eye to the terminal.
var noticesPack = pack{
	name: notices.Name, band: policy.BandContext + 90, events: "Notification PreToolUse PermissionRequest",
	told: func(r *Rules) bool { return r.Notices != nil },
	build: func(h *hook, r *Rules, mode Mode) []policy.Handler {
		var cfg notices.Config
		if r.Notices != nil {
			cfg = *r.Notices
		}
		list := []policy.Handler{notices.New(cfg)}
		if cfg.Wants(notices.Denied) {
			list = append(list, policy.Handler{
				Name: notices.Name, Band: policy.BandObserve + 10, // where denials are seen
				Wants: func(ev *event.Event) bool { return ev.Name == event.PreToolUse || ev.Name == event.PermissionRequest },
				Handle: func(context.Context, *event.Event) (event.Verdict, error) {
					h.notice = mode
					return event.Verdict{}, nil
				},
			})
		}
		return list
	},
	detail: func(r *Rules, _ *Packs) string {
		var words []string
		if r.Notices != nil {
			for _, w := range r.Notices.With {
				words = append(words, string(w))
			}
		}
		if words == nil {
			words = []string{string(notices.Bell)}
		}
		return strings.Join(words, ", ")
	},
}

// noticeDenied tells the person of a refused call, where nobody told them anything
// and the client has words for it.
func (h *hook) noticeDenied() {
	if h.notice == "" || h.verdict.Decision != event.Deny || h.verdict.SystemMessage != "" {
		return
	}
	if h.notice == Audit {
		h.note(&AuditEntry{Time: h.env.Now().UTC(), Provider: h.ev.Provider, Session: h.ev.Session.ID, Tool: toolName(&h.ev),
			Kind: said(Audit), Decision: "notice", Rules: []string{notices.Name + " " + string(notices.Denied)}})
		return
	}
	h.verdict.SystemMessage = notices.DeniedText(&h.ev, &h.verdict)
}
