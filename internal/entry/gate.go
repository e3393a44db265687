package entry

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/sandbox"
)

// packHandlers are the handlers of the packs that are switched on and could say
// something about this event. For all other events nothing is read: that is most
// of them, and what a hook costs there is start-up alone.
func (h *hook) packHandlers() []policy.Handler {
	if h.noHome != nil || h.ev.Native != "" && !gate.Wants(&h.ev) {
		return nil
	}
	packs, err := h.loadPacks()
	if err != nil {
		// The file says that packs are wanted, and not how. The gate's standard
		// is the safe reading of it.
		h.complain(err)
		packs = Packs{Gate: &GatePack{Mode: PackOn}}
	}
	var list []policy.Handler
	if p := packs.Gate; p != nil {
		list = append(list, h.gate(p))
	}
	if p := packs.Sandbox; p != nil {
		list = append(list, h.sandbox(p))
	}
	return list
}

// loadPacks reads the file once.
func (h *hook) loadPacks() (Packs, error) {
	if !h.packsRead {
		h.packsRead = true
		h.packs, h.packsErr = LoadPacks(h.dirs)
	}
	return h.packs, h.packsErr
}

func (h *hook) gate(p *GatePack) policy.Handler {
	cfg := p.Config
	if _, relaxed := RelaxedUntil(h.dirs, h.env.Now()); relaxed {
		cfg.Profile = gate.Relaxed
	}
	handler := gate.New(cfg, h.gateWorld, func(ev *event.Event, r *gate.Result) {
		h.gateSaid(p, cfg.Profile, ev, r)
	})
	if p.Mode == PackAudit {
		handler.Role = policy.Observer
	}
	return handler
}

func (h *hook) sandbox(p *SandboxPack) policy.Handler {
	handler := sandbox.New(p.Config, h.gateWorld, func(ev *event.Event, v *event.Verdict) {
		audit(h.dirs, &AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev),
			Kind: said(p.Mode), Decision: v.Decision.String(), Rules: []string{v.Rule}})
		if p.Mode == PackAudit {
			*v = event.Verdict{}
		}
	})
	if p.Mode == PackAudit {
		handler.Role = policy.Observer
	}
	return handler
}

// gateWorld is what the gate may know of this machine.
func (h *hook) gateWorld(ev *event.Event) gate.World {
	w := gateWorld(h.env.OS, ev.Cwd, h.env.Getenv, h.dirs.Home)
	w.Self = []string{h.dirs.Config, h.dirs.State, h.dirs.Run}
	w.Unattended = unattended(ev, h.env.Getenv)
	end := h.env.Now().Add(gate.Budget)
	w.Budget = func() bool { return h.env.Now().Before(end) }
	return w
}

// unattended says why a question would reach nobody, or "". That somebody closed
// the lid is told later, by the runtime (closedlid.Resolve).
func unattended(ev *event.Event, getenv func(string) string) string {
	switch ev.Provider {
	case event.Codex:
		return "Codex cannot ask from a hook" // contracts/codex §4: ask is an error there, and the call runs
	case event.OpenCode:
		return "OpenCode cannot ask from a plugin" // contracts/opencode §3
	case event.Claude:
		// contracts/claude §6: sdk-cli is a run with -p.
		if getenv("CLAUDE_CODE_ENTRYPOINT") == "sdk-cli" {
			return "this run is headless"
		}
		if ev.PermissionMode == "dontAsk" {
			return "this session never asks"
		}
	}
	return ""
}

// gateSaid notes what the gate would say and applies what a person excepted.
func (h *hook) gateSaid(p *GatePack, profile gate.Profile, ev *event.Event, r *gate.Result) {
	if r.Decision == event.None {
		return
	}
	e := AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev), Kind: said(p.Mode),
		Decision: r.Decision.String(), Profile: profile.String(), Unattended: h.gateUnattended(ev)}
	e.hazards(r)
	if p.LogCommands && ev.Tool != nil {
		e.Input = string(ev.Tool.Input)
	}
	if p.Mode == PackAudit {
		audit(h.dirs, &e)
		r.Decision, r.Reason = event.None, ""
		return
	}
	d := digestOf(ev)
	e.Code, e.Digest = codeOf(d), d
	if takeAllowance(h.dirs, d, h.env.Now()) {
		e.Kind = "allowed-once"
		audit(h.dirs, &e)
		r.Decision, r.Reason = event.None, ""
		return
	}
	audit(h.dirs, &e)
	if r.Decision == event.Deny {
		r.Reason += " A person can let this call through once, from a terminal of their own: lidguard hooks allow-once " + e.Code
	}
}

func (h *hook) gateUnattended(ev *event.Event) bool { return unattended(ev, h.env.Getenv) != "" }

func toolName(ev *event.Event) string {
	if ev.Tool == nil {
		return ""
	}
	return ev.Tool.Name
}

func said(mode string) string {
	if mode == PackAudit {
		return "would-say"
	}
	return "said"
}

// allowanceLife is how long a person's exception for one call lasts.
const allowanceLife = 10 * time.Minute
