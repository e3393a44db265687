// Package gate judges what a tool call of an agent would do, and whether it may.
// In come an event and a World of callbacks for what only the machine knows; out
// comes a Result: the hazards found, what each of them is worth, and a text for
// the model. It runs nothing, opens nothing, and reads no clock, environment or
// disk by itself. It never says "allow": it objects or says nothing.
//
// The walk is: shell turns the command into leaves (judge.go); each leaf yields
// typed effects on targets, by what its program does (files.go, changes.go, search.go,
// git.go, system.go, windows.go, network.go, services.go, environment.go), by tables
// (forms*.go), by what it starts (options.go, powershell.go), by the program text that it
// is given (code.go, bindings.go, sqlfiles.go) or, where nobody knows it, by its words
// (guess.go); other tools than shells are in tools.go. Each target has a scope (scope.go);
// a table says what an effect on a scope means (table.go); the worst wins and is put
// into words (rules.go, reason.go).
package gate

import (
	"context"
	"fmt"
	"time"

	"github.com/lidguard-go/lidguard/internal/deadline"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the policy's name in chains and logs.
const Name = "gate"

// Deadline is how long one judgement may take by the clock, all included; past it the
// call is refused, since a hook that the client kills lets the call through. It is far
// beyond Budget, for machines that have much else to do.
const Deadline = 300 * time.Millisecond

// Budget is how long one judgement may take of a processor, all included. World.Budget
// says no from Share on, and World.Alarm comes soon after, so that there is time left
// to say why.
const (
	Budget = 50 * time.Millisecond
	Share  = Budget - 5*time.Millisecond
	Late   = Budget - 2*time.Millisecond
)

// MaxInput bounds a tool's input in bytes; a larger one is refused unread.
const MaxInput = 8 << 20

// Config is what a person can set. The zero value is the standard profile without
// exceptions. It is plain data: the rulebook fills it as well as a settings file.
type Config struct {
	Profile Profile `json:"profile,omitempty"`
	// Rows replace cells of the table; the last that matches counts.
	Rows []Row `json:"rows,omitempty"`
	// Off lists rule ids that never fire.
	Off []string `json:"off,omitempty"`
	// MCP are rules for tools of MCP servers, beside the shipped ones.
	MCP []MCPRule `json:"mcp,omitempty"`
}

// Hazard is one effect that a call would have.
type Hazard struct {
	Effect   Effect         `json:"effect"`
	Scope    Scope          `json:"scope,omitempty"`
	Rule     string         `json:"rule"`
	Target   string         `json:"target,omitempty"`
	Decision event.Decision `json:"-"`
	// Offset and End delimit the place in the command, in bytes; both zero for
	// calls that are no command.
	Offset int `json:"offset,omitempty"`
	End    int `json:"end,omitempty"`
}

// Result is the judgement of one call.
type Result struct {
	// Decision is Deny, Ask or None.
	Decision event.Decision
	// Hazards are all effects that were found, gravest first, silent ones last.
	Hazards []Hazard
	// Reason is for the model; empty with None.
	Reason string
}

// Rule is the id of the rule that decided, empty with None.
func (r *Result) Rule() string {
	if r.Decision == event.None || len(r.Hazards) == 0 {
		return ""
	}
	return r.Hazards[0].Rule
}

// Wants reports whether the gate has to see an event at all. It is asked for
// every event of every client.
func Wants(ev *event.Event) bool {
	switch ev.Name {
	case event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand, event.PreMCPToolCall:
		return true
	}
	return false
}

// New returns the handler. world is called once for each event that is judged,
// and after is told every result; it may change it, which is how exceptions made
// by a person come in, or be nil.
func New(cfg Config, world func(*event.Event) World, after func(*event.Event, *Result)) policy.Handler {
	return policy.Handler{
		Name: Name, Band: policy.BandSafety + 10, Role: policy.Gate, Wants: Wants,
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			ctx, cancel := deadline.In(ctx, Deadline)
			defer cancel()
			w := world(ev)
			within := w.Budget
			w.Budget = func() bool { return ctx.Err() == nil && (within == nil || within()) }
			r := Judge(cfg, ev, w)
			if after != nil {
				after(ev, &r)
			}
			if err := ctx.Err(); err != nil && r.Decision != event.Deny {
				return event.Verdict{}, fmt.Errorf("it took longer than %v", Deadline)
			}
			return r.Verdict(ev), nil
		},
	}
}

// Verdict says a result in the words of the chain. A permission request already
// is the question to the person, so an ask there is silence.
func (r *Result) Verdict(ev *event.Event) event.Verdict {
	if r.Decision == event.None || r.Decision == event.Ask && ev.Name == event.PermissionRequest {
		return event.Verdict{}
	}
	return event.Verdict{Decision: r.Decision, Reason: r.Reason, Policy: Name, Rule: r.Rule()}
}
