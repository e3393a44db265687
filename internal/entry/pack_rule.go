package entry

import (
	"fmt"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/rule"
)

// rulePack judges by a person's own rules.
var rulePack = pack{
	name: rule.Name, band: rule.Band, role: policy.Gate, events: callEvents,
	told: func(r *Rules) bool { return len(r.Rule) > 0 },
	build: func(h *hook, r *Rules, mode Mode) []policy.Handler {
		return []policy.Handler{rule.New(r.Rule, h.ruleWorld, func(ev *event.Event, v *event.Verdict) { h.ruleSaid(mode, ev, v) })}
	},
	detail: func(r *Rules, _ *Packs) string {
		if len(r.Rule) == 1 {
			return "1 rule"
		}
		return fmt.Sprintf("%d rules", len(r.Rule))
	},
	beside: asIs,
	check: func(r *Rules) *Fault {
		seen := map[string]bool{}
		for i := range r.Rule {
			id := r.Rule[i].ID
			if key, err := r.Rule[i].Check(); err != nil {
				return &Fault{"rule", i, key, err.Error()}
			}
			if seen[id] {
				return &Fault{"rule", i, "id", fmt.Sprintf("there is another rule %q in this book", id)}
			}
			seen[id] = true
		}
		return nil
	},
}

// ruleWorld is what rules may know of this machine.
func (h *hook) ruleWorld(ev *event.Event) rule.World {
	w := h.gateWorld(ev)
	out := rule.World{Root: w.Project, Dialect: gate.DialectOf, Unattended: w.Unattended, Fold: h.env.OS == "windows" || h.env.OS == "darwin"}
	if out.Root == "" {
		out.Root = ev.Cwd
	}
	out.Shell.Dir, out.Shell.Home, out.Shell.Env = w.Dir, w.Home, w.Env
	out.Shell.ReadFile, out.Shell.Glob, out.Shell.Budget = w.ReadFile, w.Glob, w.Budget
	return out
}

// ruleSaid notes what a rule says and applies what a person excepted.
func (h *hook) ruleSaid(mode Mode, ev *event.Event, v *event.Verdict) {
	e := AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev), Kind: said(mode),
		Decision: v.Decision.String(), Rules: []string{v.Rule}}
	if mode == Audit || !beforeCall(ev) {
		h.note(&e)
		if mode == Audit {
			*v = event.Verdict{}
		}
		return
	}
	d := digestOf(ev)
	e.Code, e.Digest = codeOf(d), d
	if h.excepted(d) {
		e.Kind = "allowed-once"
		*v = event.Verdict{}
	}
	h.note(&e)
	if v.Decision == event.Deny {
		v.Reason += " A person can let this call through once, from a terminal of their own: lidguard hooks allow-once " + e.Code
	}
}
