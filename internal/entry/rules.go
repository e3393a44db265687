package entry

import (
	"fmt"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy/approve"
	"github.com/lidguard-go/lidguard/internal/policy/check"
	"github.com/lidguard-go/lidguard/internal/policy/compact"
	sessioncontext "github.com/lidguard-go/lidguard/internal/policy/context"
	"github.com/lidguard-go/lidguard/internal/policy/format"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
	"github.com/lidguard-go/lidguard/internal/policy/handler"
	"github.com/lidguard-go/lidguard/internal/policy/notices"
	"github.com/lidguard-go/lidguard/internal/policy/nudge"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
	"github.com/lidguard-go/lidguard/internal/policy/rule"
	"github.com/lidguard-go/lidguard/internal/policy/sandbox"
	"github.com/lidguard-go/lidguard/internal/policy/telemetry"
	"github.com/lidguard-go/lidguard/internal/policy/until"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// Rules is a rulebook: what the packs are told. Every section belongs to one pack,
// and a section that is there switches its pack on. A section is a pointer to a
// table or a slice of them; see overlay for how books are put together.
type Rules struct {
	// Packs switches packs on, off or to audit, whatever sections there are.
	Packs map[string]Mode `toml:"packs"`
	// Include names books that count below this one.
	Include []rulebook.Include `toml:"include"`

	Gate    *GateRules             `toml:"gate"`
	Sandbox *sandbox.Config        `toml:"sandbox"`
	Rule    []rule.Rule            `toml:"rule"`
	Handler []handler.Spec         `toml:"handler"`
	Approve []approve.Rule         `toml:"approve"`
	Format  []format.Formatter     `toml:"format"`
	Context *sessioncontext.Config `toml:"context"`
	Nudge   []nudge.Nudge          `toml:"nudge"`
	Redact  *redact.Config         `toml:"redact"`
	Compact *compact.Config        `toml:"compact"`
	Check   []check.Check          `toml:"check"`
	Until   []until.Goal           `toml:"until"`

	Telemetry *telemetry.Config `toml:"telemetry"`
	Notices   *notices.Config   `toml:"notices"`
}

// GateRules is the gate's section; see gate.Config.
type GateRules struct {
	Profile gate.Profile `toml:"profile"`
	// LogCommands adds the command text to the audit log.
	LogCommands bool           `toml:"log_commands"`
	Rows        []GateRow      `toml:"rows"`
	Off         []string       `toml:"off"`
	MCP         []gate.MCPRule `toml:"mcp"`
}

// GateRow is one cell of the gate's table; see gate.Row.
type GateRow struct {
	Effect      gate.Effect  `toml:"effect"`
	Scope       gate.Scope   `toml:"scope"`
	Decision    RuleDecision `toml:"decision"`
	Catastrophe bool         `toml:"catastrophe"`
}

// RuleDecision is a decision in a rulebook: allow, ask or deny.
type RuleDecision event.Decision

// UnmarshalText reads a decision.
func (d *RuleDecision) UnmarshalText(text []byte) error {
	for _, v := range []event.Decision{event.Allow, event.Ask, event.Deny} {
		if v.String() == string(text) {
			*d = RuleDecision(v)
			return nil
		}
	}
	return fmt.Errorf("a decision is \"allow\", \"ask\" or \"deny\", not %q", text)
}

// LoadRules reads the person's rulebook and what it includes, without any
// project's. No file is no error and no rules.
func LoadRules(dirs paths.Dirs) (*Rules, error) {
	b, err := LoadBooks(dirs, "")
	if err == nil {
		err = b.Refused
	}
	return b.Rules, err
}

// gateConfig is what the gate is told by the rulebook and the command line.
func gateConfig(r *Rules, sw *Packs) gate.Config {
	var c gate.Config
	if g := r.Gate; g != nil {
		c = gate.Config{Profile: g.Profile, Off: g.Off, MCP: g.MCP}
		for _, row := range g.Rows {
			d := event.Decision(row.Decision)
			if d == event.Allow {
				d = event.None // the gate never approves, it only has no objection
			}
			c.Rows = append(c.Rows, gate.Row{Effect: row.Effect, Scope: row.Scope, Decision: d, Catastrophe: row.Catastrophe})
		}
	}
	if sw.Profile != nil {
		c.Profile = *sw.Profile
	}
	return c
}

// sandboxConfig is what the sandbox is told by both.
func sandboxConfig(r *Rules, sw *Packs) sandbox.Config {
	var c sandbox.Config
	if r.Sandbox != nil {
		c = *r.Sandbox
	}
	if sw.Roots != nil {
		c.Roots = sw.Roots
	}
	return c
}
