package entry

import (
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/sandbox"
)

// gatePack judges what a call would do.
var gatePack = pack{
	name: gate.Name, band: policy.BandSafety + 10, role: policy.Gate, events: callEvents,
	told: func(r *Rules) bool { return r.Gate != nil },
	build: func(h *hook, r *Rules, mode Mode) []policy.Handler {
		cfg := gateConfig(r, &h.packs)
		if _, relaxed := h.relaxedUntil(); relaxed {
			cfg.Profile = gate.Relaxed
		}
		return []policy.Handler{gate.New(cfg, h.gateWorld, func(ev *event.Event, result *gate.Result) {
			h.gateSaid(mode, r.Gate != nil && r.Gate.LogCommands, cfg.Profile, ev, result)
		})}
	},
	detail: func(r *Rules, sw *Packs) string { return "profile " + gateConfig(r, sw).Profile.String() },
	beside: func(r *Rules) *Rules {
		if r.Gate == nil {
			return r
		}
		g := *r.Gate
		g.LogCommands = false // what is kept of calls is the person's business
		return &Rules{Gate: &g}
	},
}

// callEvents are the events before a call.
const callEvents = "PreToolUse PermissionRequest PreSkillShellCommand PreMcpToolCall"

// sandboxPack keeps writes inside folders.
var sandboxPack = pack{
	name: sandbox.Name, band: policy.BandSafety + 20, role: policy.Gate, events: callEvents,
	told: func(r *Rules) bool { return r.Sandbox != nil },
	build: func(h *hook, r *Rules, mode Mode) []policy.Handler {
		return []policy.Handler{sandbox.New(sandboxConfig(r, &h.packs), h.gateWorld, func(ev *event.Event, v *event.Verdict) {
			h.note(&AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev),
				Kind: said(mode), Decision: v.Decision.String(), Rules: []string{v.Rule}})
			if mode == Audit {
				*v = event.Verdict{}
			}
		})}
	},
	detail: func(r *Rules, sw *Packs) string {
		if roots := sandboxConfig(r, sw).Roots; len(roots) > 0 {
			return "writes to " + strings.Join(roots, ", ")
		}
		return "writes to the project"
	},
	beside: asIs,
}

// gateWorld is what the gate may know of this machine.
func (h *hook) gateWorld(ev *event.Event) gate.World {
	look := gateWorld
	if h.world != nil {
		look = h.world
	}
	w := look(h.env.OS, ev.Cwd, h.env.Getenv, h.dirs.Home)
	w.Self = []string{h.dirs.Config, h.dirs.State, h.dirs.Run}
	w.Unattended = h.unattended(ev)
	watch := startWatch(h.env.Now)
	w.Budget = watch.inTime
	if !h.dry { // what an alarm leaves behind would go on with what a rehearsal keeps
		w.Alarm = watch.sinceStart().alarm
	}
	return w
}

// unattended is what the event and the environment tell of that.
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
func (h *hook) gateSaid(mode Mode, logCommands bool, profile gate.Profile, ev *event.Event, r *gate.Result) {
	if r.Decision == event.None {
		return
	}
	e := AuditEntry{Time: h.env.Now().UTC(), Provider: ev.Provider, Session: ev.Session.ID, Tool: toolName(ev), Kind: said(mode),
		Decision: r.Decision.String(), Profile: profile.String(), Unattended: h.gateUnattended(ev)}
	e.hazards(r)
	if logCommands && ev.Tool != nil {
		e.Input = string(ev.Tool.Input[:min(len(ev.Tool.Input), maxLogged)])
	}
	if mode == Audit {
		h.note(&e)
		r.Decision, r.Reason = event.None, ""
		return
	}
	d := digestOf(ev)
	e.Code, e.Digest = codeOf(d), d
	if h.excepted(d) {
		e.Kind = "allowed-once"
		h.note(&e)
		r.Decision, r.Reason = event.None, ""
		return
	}
	h.note(&e)
	if r.Decision == event.Deny {
		r.Reason += onceMore + e.Code
	}
}

// onceMore ends each refusal; the call's code follows.
const onceMore = " A person can let this call through once, from a terminal of their own: lidguard hooks allow-once "

// excepted uses a person's exception for this call up, for all who would refuse it.
func (h *hook) excepted(digest string) bool {
	if h.pass != digest && !h.dry && takeAllowance(h.dirs, digest, h.env.Now()) {
		h.pass = digest
	}
	return h.pass == digest
}

func (h *hook) gateUnattended(ev *event.Event) bool { return h.unattended(ev) != "" }

func toolName(ev *event.Event) string {
	if ev.Tool == nil {
		return ""
	}
	return ev.Tool.Name
}

func said(mode Mode) string {
	if mode == Audit {
		return "would-say"
	}
	return "said"
}

// maxLogged bounds what is kept of a call's input, in bytes.
const maxLogged = 64 << 10

// AllowanceLife is how long a person's exception for one call lasts.
const AllowanceLife = 10 * time.Minute
