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
		if h.folders != nil {
			h.books = h.folders.in(h.own, h.dirs, h.ev.Cwd)
		} else {
			h.books = h.own.in(h.dirs, h.ev.Cwd)
		}
	}
	return &h.packs, h.books, h.packsErr
}

// besides is what a book that nobody trusts says to a pack, beside the person's own.
func besides(p *pack, row PackStatus, sw *Packs, b *Book) []PackStatus {
	mode, switched := b.Rules.Packs[p.name]
	if !switched && !p.told(b.Rules) {
		return nil
	}
	if p.eventsOf != nil {
		row.Events = p.eventsOf(b.Rules)
	}
	row.Source, row.Mode, row.Detail = b.File.Path, Held, "until you trust the project's rulebook"
	if own, ok := sw.Modes[p.name]; p.beside != nil && (!switched || mode == On) {
		if row.Mode = On; ok {
			row.Mode = own
		}
		row.Detail = "the project's, to tighten"
		if p.detail != nil {
			row.Detail += ": " + p.detail(b.Rules, &Packs{})
		}
	}
	return []PackStatus{row}
}

// chainTime is how long the handlers that want an event may take beyond Limit.
func chainTime(handlers []policy.Handler) time.Duration {
	var sum time.Duration
	for _, p := range handlers {
		sum += p.Limit
	}
	return min(sum, maxChain)
}

// Modes tells which packs are on by the switches and a rulebook.
func Modes(sw *Packs, r *Rules) map[string]Mode {
	modes := map[string]Mode{}
	for _, p := range packs() {
		modes[p.name] = modeOf(&p, sw, r)
	}
	return modes
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

// Held is shown as the mode of what a project's book says and nobody has trusted.
const Held Mode = "held"

// Chain lists the packs in the order they are asked, without any project's.
func Chain(dirs paths.Dirs) ([]PackStatus, error) { return ChainIn(dirs, "") }

// ChainIn lists the packs that count in the folder cwd.
func ChainIn(dirs paths.Dirs, cwd string) ([]PackStatus, error) {
	sw, err := LoadPacks(dirs)
	if err != nil {
		return nil, err
	}
	books, err := LoadBooks(dirs, cwd)
	if err == nil {
		err = books.Refused
	}
	if err != nil {
		return nil, err
	}
	for _, b := range books.projects() {
		if b.Broken != nil {
			return nil, b.Broken
		}
	}
	rules := books.Rules
	list := []PackStatus{{Pack: closedlid.Name, Band: closedlid.Band, Mode: On, Role: "observer",
		Events: []string{string(event.PermissionRequest), string(event.PreToolUse), string(event.Elicitation), string(event.QuestionAsked)}, Source: "built in"},
		{Pack: selfCheckName, Band: policy.BandContext, Mode: On, Role: "observer", Events: []string{string(event.SessionStart)}, Source: "built in"}}
	for _, p := range packs() {
		row := PackStatus{Pack: p.name, Band: p.band, Mode: modeOf(&p, &sw, rules), Role: "observer", Events: strings.Fields(p.events), Source: "built in"}
		if p.eventsOf != nil {
			row.Events = p.eventsOf(rules)
		}
		if p.role == policy.Gate {
			row.Role = "gate"
		}
		if _, switched := sw.Modes[p.name]; switched {
			row.Source = dirs.Packs()
		} else if _, switched := rules.Packs[p.name]; switched || p.told(rules) {
			row.Source = dirs.Rules()
			for _, b := range books.projects() {
				if !b.Trusted {
					continue
				}
				if _, switched := b.Rules.Packs[p.name]; switched || p.told(b.Rules) {
					row.Source = b.File.Path
				}
			}
		}
		if row.Mode != Off && p.detail != nil {
			row.Detail = p.detail(rules, &sw)
		}
		if row.Mode != Off && p.state != nil {
			row.Detail += "; " + p.state(dirs)
		}
		list = append(list, row)
		for _, b := range books.projects() {
			if !b.Trusted {
				list = append(list, besides(&p, row, &sw, b)...)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b PackStatus) int { return a.Band - b.Band })
	return list, nil
}
