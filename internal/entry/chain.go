package entry

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/closedlid"
)

// maxChain is the longest that all handlers of one event may take together. It is
// below the 30 s that the installed entries give a hook, since a hook that the
// client ends has said nothing.
const maxChain = 25 * time.Second

// packHandlers are the handlers of the packs that are on.
func (h *hook) packHandlers() []policy.Handler {
	if h.noHome != nil {
		return nil
	}
	sw, books, err := h.loadPacks()
	if err != nil {
		// The files say that packs are wanted, and not how. The gate's standard is
		// the safe reading of it.
		h.complain(err)
		return append(gatePack.build(h, &Rules{}, On), unreadableRules(err))
	}
	var list []policy.Handler
	for _, p := range packs() {
		mode := modeOf(&p, sw, books.Rules)
		if mode == Off {
			continue
		}
		for _, handler := range p.build(h, books.Rules, mode) {
			if mode == Audit {
				handler = h.auditOnly(handler)
			}
			list = append(list, handler)
		}
	}
	for _, r := range books.Tighten {
		list = append(list, h.tightenedBy(r)...)
	}
	return append(list, h.bookHandlers(books)...)
}

// unreadableRules tells the person at the start of a session that the packs could
// not be read.
func unreadableRules(problem error) policy.Handler {
	return policy.Handler{
		Name: "rulebook", Band: policy.BandContext,
		Wants: func(ev *event.Event) bool { return ev.Name == event.SessionStart },
		Handle: func(context.Context, *event.Event) (event.Verdict, error) {
			return event.Verdict{SystemMessage: "lidguard's rules are off, only the gate's standard holds: " + problem.Error()}, nil
		},
	}
}

// auditOnly keeps a handler from saying anything and notes what it would have said.
// The gate and the sandbox have noted that better themselves, and come here with
// nothing left to say.
func (h *hook) auditOnly(handler policy.Handler) policy.Handler {
	handle := handler.Handle
	handler.Role = policy.Observer
	handler.Handle = func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
		v, err := handle(ctx, ev)
		if err == nil && !v.IsZero() {
			h.note(&AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev),
				Kind: said(Audit), Decision: v.Decision.String(), Rules: []string{handler.Name + " " + v.Rule}})
		}
		return event.Verdict{}, err
	}
	return handler
}

// loadPacks reads the switches and the books once.
func (h *hook) loadPacks() (*Packs, *Books, error) {
	if h.books == nil {
		if h.own == nil {
			h.packs, h.packsErr = LoadPacks(h.dirs)
			own, err := ownBook(h.dirs)
			if h.packsErr == nil {
				h.packsErr = err
			}
			h.own = own
		}
		h.books = h.own.in(h.dirs, h.ev.Cwd)
	}
	return &h.packs, h.books, h.packsErr
}

// chainTime is how long the handlers that want an event may take beyond Limit.
func chainTime(handlers []policy.Handler) time.Duration {
	var sum time.Duration
	for _, p := range handlers {
		sum += p.Limit
	}
	return min(sum, maxChain)
}

// PackStatus is one row of the chain, for people.
type PackStatus struct {
	Pack   string   `json:"pack"`
	Band   int      `json:"band"`
	Mode   Mode     `json:"mode"`
	Role   string   `json:"role"` // gate: fails closed; observer: fails open
	Events []string `json:"events"`
	Detail string   `json:"detail,omitempty"`
	Source string   `json:"source"` // the file that says so, or built in
}

// Chain lists the packs in the order they are asked.
func Chain(dirs paths.Dirs) ([]PackStatus, error) {
	sw, err := LoadPacks(dirs)
	if err != nil {
		return nil, err
	}
	rules, err := LoadRules(dirs)
	if err != nil {
		return nil, err
	}
	list := []PackStatus{{Pack: closedlid.Name, Band: closedlid.Band, Mode: On, Role: "observer",
		Events: []string{string(event.PermissionRequest), string(event.PreToolUse), string(event.Elicitation), string(event.QuestionAsked)}, Source: "built in"}}
	for _, p := range packs() {
		row := PackStatus{Pack: p.name, Band: p.band, Mode: modeOf(&p, &sw, rules), Role: "observer", Events: strings.Fields(p.events), Source: "built in"}
		if p.role == policy.Gate {
			row.Role = "gate"
		}
		if _, switched := sw.Modes[p.name]; switched {
			row.Source = dirs.Packs()
		} else if _, switched := rules.Packs[p.name]; switched || p.told(rules) {
			row.Source = dirs.Rules()
		}
		if row.Mode != Off && p.detail != nil {
			row.Detail = p.detail(rules, &sw)
		}
		if row.Mode != Off && p.state != nil {
			row.Detail += "; " + p.state(dirs)
		}
		list = append(list, row)
	}
	slices.SortStableFunc(list, func(a, b PackStatus) int { return a.Band - b.Band })
	return list, nil
}
