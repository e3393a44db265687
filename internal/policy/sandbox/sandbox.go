// Package sandbox keeps agents inside folders. In come an event, the folders a
// person allows and the gate's World; out comes a denial for a call that would
// write, move or delete elsewhere, or that asks to leave the client's own sandbox.
// It runs and opens nothing; it is a promise about what a call says it would do,
// and no wall: a program that is started may do more than its words tell.
package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

// Name is the policy's name in chains and logs.
const Name = "sandbox"

// The rules, as they show in logs and in Verdict.Rule.
const (
	RuleWrite    = "sandbox-write"
	RuleEscape   = "sandbox-escape"
	RuleUnjudged = "sandbox-unjudged"
)

// Config is what a person can set.
type Config struct {
	// Roots are the folders that may be written to, absolute or beginning with
	// ~/; "." is the project. Empty means the project. The temp folders and
	// build caches below them are always allowed.
	Roots []string `json:"roots,omitempty"`
	// AllowEscape lets calls ask to leave the client's own sandbox.
	AllowEscape bool `json:"allow_escape,omitempty"`
}

// New returns the handler; world is called once for each event that is judged.
func New(cfg Config, world func(*event.Event) gate.World, after func(*event.Event, *event.Verdict)) policy.Handler {
	return policy.Handler{
		Name: Name, Band: policy.BandSafety + 20, Role: policy.Gate, Wants: gate.Wants,
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			v := Judge(cfg, ev, world(ev))
			if after != nil && v.Decision != event.None {
				after(ev, &v)
			}
			return v, nil
		},
	}
}

// Judge says whether a call stays inside.
func Judge(cfg Config, ev *event.Event, w gate.World) event.Verdict {
	if !cfg.AllowEscape && escapes(ev) {
		return event.Verdict{Decision: event.Deny, Rule: RuleEscape, Policy: Name,
			Reason: "lidguard sandbox [" + RuleEscape + "]: the call asks to run outside the client's sandbox. Instead: run it inside, or tell the person what it needs. Do not reach the same end another way."}
	}
	roots := cfg.roots(ev, &w)
	touched, whole := gate.Touches(ev, w)
	for _, p := range touched {
		if !inside(p, roots, &w) {
			return event.Verdict{Decision: event.Deny, Rule: RuleWrite, Policy: Name,
				Reason: fmt.Sprintf("lidguard sandbox [%s]: it would write to %q, and only %s may be written to. Instead: write there. Do not reach the same end another way.",
					RuleWrite, event.Preview(p), strings.Join(roots, ", "))}
		}
	}
	if !whole {
		return event.Verdict{Decision: event.Deny, Rule: RuleUnjudged, Policy: Name,
			Reason: "lidguard sandbox [" + RuleUnjudged + "]: the call cannot be read, or not in time, so where it would write is not known. Instead: make it plain, or several calls of it. Do not reach the same end another way."}
	}
	return event.Verdict{}
}

func (c *Config) roots(ev *event.Event, w *gate.World) []string {
	project := w.Project
	if project == "" {
		project = w.Dir
	}
	if project == "" {
		project = ev.Cwd
	}
	if len(c.Roots) == 0 {
		return []string{project}
	}
	out := make([]string, 0, len(c.Roots))
	for _, r := range c.Roots {
		switch {
		case r == "." || r == "":
			r = project
		case r == "~" || strings.HasPrefix(r, "~/"):
			r = w.Home + r[1:]
		}
		if r != "/" {
			r = strings.TrimRight(r, "/")
		}
		out = append(out, r)
	}
	return out
}

func inside(p string, roots []string, w *gate.World) bool {
	if p == "/dev/null" || strings.HasPrefix(p, "/dev/std") || strings.HasPrefix(p, "/dev/fd/") || p == "/dev/tty" {
		return true
	}
	temp := append([]string{"/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/dev/shm"}, w.Temp...)
	for _, list := range [][]string{roots, temp} {
		for _, r := range list {
			if r != "" && (p == r || strings.HasPrefix(p, strings.TrimSuffix(r, "/")+"/")) {
				return true
			}
			if w.Resolve != nil && r != "" {
				if real := w.Resolve(r); real != "" && (p == real || strings.HasPrefix(p, real+"/")) {
					return true
				}
			}
		}
	}
	return false
}

// escapes reports whether a call asks to leave the client's own sandbox: Claude
// Code's dangerouslyDisableSandbox, Codex's sandbox_permissions.
func escapes(ev *event.Event) bool {
	if ev.Tool == nil {
		return false
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(ev.Tool.Input, &in) != nil {
		return false // what cannot be read is refused for that
	}
	asks := func(key string) bool {
		switch string(in[key]) {
		case "", "null", "false", `"false"`, `""`, "0":
			return false
		}
		return true // a client may take "true" and 1 for it, too
	}
	return asks("dangerouslyDisableSandbox") || asks("with_escalated_permissions") || string(in["sandbox_permissions"]) == `"require_escalated"`
}
