// Package rule judges calls by rules that a person wrote themselves. In come an
// event, the rules and the facts about the call's command; out comes a refusal or a
// question, or nothing. A rule about a command looks at the programs that would run
// and at their arguments, as package shell finds them, and not at the text, so that
// quotes, variables, wrappers and pipes change nothing. It never approves, and it
// runs and reads nothing by itself.
package rule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// Name is the policy's name in chains and logs.
const Name = "rule"

// Band is where it stands: beside the gate.
const Band = policy.BandSafety + 15

// Rule is one [[rule]]. Every condition that is given must hold.
type Rule struct {
	ID string `toml:"id"`

	// Tool is the tool's name or a regular expression for the whole of it, in the
	// client's own words or in Claude Code's.
	Tool policy.Whole `toml:"tool"`
	// Command is a program and what is among its arguments; see command.go.
	Command Command `toml:"command"`
	// Path is a pattern for a file that the call names; see path.go.
	Path string `toml:"path"`
	// Input is a regular expression for any text in the tool's input, or for the
	// prompt.
	Input policy.Pattern `toml:"input"`

	// Events are those it is for; none are those before a call.
	Events []Event `toml:"events"`

	Decision Decision `toml:"decision"`
	Reason   string   `toml:"reason"`
	Instead  string   `toml:"instead"`

	// Deny are examples that it must fire for, Allow such that it must not.
	Deny  []Example `toml:"deny"`
	Allow []Example `toml:"allow"`
}

// Decision is deny or ask.
type Decision event.Decision

// UnmarshalText reads a decision.
func (d *Decision) UnmarshalText(text []byte) error {
	switch string(text) {
	case "deny":
		*d = Decision(event.Deny)
	case "ask":
		*d = Decision(event.Ask)
	default:
		return fmt.Errorf("a rule can \"deny\" or \"ask\", not %q", text)
	}
	return nil
}

// Event is an event that a rule may be for.
type Event event.Name

// events are those at which a refusal means something.
func events() []event.Name {
	return []event.Name{event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand, event.PreMCPToolCall,
		event.PostToolUse, event.PostToolUseFailure, event.UserPromptSubmit}
}

// UnmarshalText reads an event's name.
func (e *Event) UnmarshalText(text []byte) error {
	if !slices.Contains(events(), event.Name(text)) {
		var names []string
		for _, n := range events() {
			names = append(names, string(n))
		}
		return fmt.Errorf("a rule cannot be for %q; it can for %s", text, strings.Join(names, ", "))
	}
	*e = Event(text)
	return nil
}

// Check finds what a rule misses or contradicts. key is where it belongs.
func (r *Rule) Check() (key string, err error) {
	for _, c := range r.ID {
		if c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "id", fmt.Errorf("%q is no id: letters, digits, - _ . make one", r.ID)
		}
	}
	prompt := slices.Contains(r.Events, Event(event.UserPromptSubmit))
	switch {
	case r.ID == "":
		return "", errors.New("a rule has an id")
	case r.Decision == 0:
		return "", fmt.Errorf("rule %q says no decision: \"deny\" or \"ask\"", r.ID)
	case r.Tool.IsZero() && r.Command.IsZero() && r.Path == "" && r.Input.IsZero():
		return "", fmt.Errorf("rule %q has no condition: tool, command, path or input", r.ID)
	case prompt && (!r.Tool.IsZero() || !r.Command.IsZero() || r.Path != ""):
		return "events", fmt.Errorf("rule %q is for prompts, which have no tool, command or path; only input", r.ID)
	}
	if err := checkPath(r.Path); err != nil {
		return "path", err
	}
	return "", nil
}

// wants reports whether the rule may have something to say, by what costs nothing.
func (r *Rule) wants(ev *event.Event) bool {
	if len(r.Events) == 0 {
		return beforeCall(ev.Name) && r.maybe(ev)
	}
	return slices.Contains(r.Events, Event(ev.Name)) && r.maybe(ev)
}

func (r *Rule) maybe(ev *event.Event) bool {
	return ev.Tool == nil || r.Tool.IsZero() || !r.Tool.Plain() || r.Tool.Matches(ev.Tool.Name) || r.Tool.Matches(canonical(ev.Tool.Name))
}

func beforeCall(n event.Name) bool {
	switch n {
	case event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand, event.PreMCPToolCall:
		return true
	}
	return false
}

// World is what only the machine knows of a call.
type World struct {
	Shell shell.World
	// Root is the project's folder, to which relative path patterns belong.
	Root string
	// Dialect is the shell that a tool's commands are written in, and false for
	// tools that take none.
	Dialect func(tool string) (shell.Dialect, bool)
	// Unattended says why a question would reach nobody, or is "".
	Unattended string
	// Fold is set where the letters' case means nothing in a path.
	Fold bool
}

// New returns the handler. world is called once for each event that some rule may
// be about, and after is told every verdict; it may change it, or be nil.
func New(rules []Rule, world func(*event.Event) World, after func(*event.Event, *event.Verdict)) policy.Handler {
	return policy.Handler{
		Name: Name, Band: Band, Role: policy.Gate,
		Wants: func(ev *event.Event) bool {
			return slices.ContainsFunc(rules, func(r Rule) bool { return r.wants(ev) })
		},
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			v, err := Judge(ctx, rules, ev, world(ev))
			if err == nil && v.Decision != event.None && after != nil {
				after(ev, &v)
			}
			return v, err
		},
	}
}

// Judge judges one event. The gravest rule counts, and of several the first. The
// error says that a rule might fire and the call cannot be read, or that ctx was over
// before all rules were looked at.
func Judge(ctx context.Context, rules []Rule, ev *event.Event, w World) (event.Verdict, error) {
	c := &call{ctx: ctx, ev: ev, w: &w}
	if !heavy(rules, ev) {
		return judge(rules, c)
	}
	// A hook that its client has to end lets the call run, and nothing else ends an
	// expression that is at work. What stays behind reads the call and the rules alone.
	_, _ = c.facts() // looks at the machine; its error counts where a rule depends on it
	type answer struct {
		v   event.Verdict
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- answer{err: fmt.Errorf("panic: %v", r)}
			}
		}()
		v, err := judge(rules, c)
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-ctx.Done():
		return event.Verdict{}, ctx.Err()
	}
}

// light is how much text the patterns and the call may have, in bytes, for matching
// them without expressions to take no time that matters.
const light = 16 << 10

// heavy reports whether judging an event may take long: a regular expression may cost
// its own length for every byte that it reads, and whoever wrote it chose both.
func heavy(rules []Rule, ev *event.Event) bool {
	text := len(ev.Prompt)
	if ev.Tool != nil {
		text = len(ev.Tool.Input)
	}
	if text > light {
		return true
	}
	patterns := 0
	for i := range rules {
		r := &rules[i]
		if !r.wants(ev) {
			continue
		}
		patterns += len(r.Path) + len(r.Command.text)
		if !r.Input.IsZero() || !r.Tool.IsZero() && !r.Tool.Plain() || patterns > light {
			return true
		}
	}
	return false
}

func judge(rules []Rule, c *call) (event.Verdict, error) {
	var found *Rule
	for i := range rules {
		r := &rules[i]
		if found != nil && found.Decision >= r.Decision || !r.wants(c.ev) {
			continue
		}
		if err := c.ctx.Err(); err != nil {
			return event.Verdict{}, err
		}
		fires, err := r.fires(c)
		if err != nil {
			return event.Verdict{}, fmt.Errorf("rule %q: %w", r.ID, err)
		}
		if fires {
			found = r
		}
	}
	if found == nil {
		return event.Verdict{}, nil
	}
	return found.verdict(c.ev, c.w.Unattended), nil
}

// fires reports whether all conditions hold, the cheap ones first.
func (r *Rule) fires(c *call) (bool, error) {
	if !r.Tool.IsZero() && (c.ev.Tool == nil || !r.Tool.Matches(c.ev.Tool.Name) && !r.Tool.Matches(canonical(c.ev.Tool.Name))) {
		return false, nil
	}
	if !r.Input.IsZero() {
		ok, err := c.input(r.Input.Match)
		if !ok || err != nil {
			return false, err
		}
	}
	if r.Command.IsZero() && r.Path == "" {
		return true, nil
	}
	if c.ev.Tool == nil {
		return false, nil
	}
	if r.Path != "" && r.Command.IsZero() {
		return c.names(r.Path, nil)
	}
	f, err := c.facts()
	if f == nil || err != nil {
		return false, err
	}
	for i := range f.Leaves {
		l := &f.Leaves[i]
		if !r.Command.matches(l) {
			continue
		}
		if r.Path == "" {
			return true, nil
		}
		if ok, err := c.names(r.Path, l); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// verdict puts it into words for the model.
func (r *Rule) verdict(ev *event.Event, unattended string) event.Verdict {
	v := event.Verdict{Decision: event.Decision(r.Decision), Policy: Name, Rule: r.ID}
	if v.Decision == event.Ask && (ev.Name != event.PreToolUse || unattended != "") {
		if ev.Name == event.PermissionRequest && unattended == "" {
			return event.Verdict{} // it is the question to the person already
		}
		v.Decision = event.Deny // nobody could be asked here
	}
	reason := strings.TrimSuffix(strings.TrimSpace(r.Reason), ".")
	if reason == "" {
		reason = "a rule of this machine is against it"
	}
	v.Reason = fmt.Sprintf("lidguard rule [%s]: %s.", r.ID, reason)
	if event.Decision(r.Decision) == event.Ask && v.Decision == event.Deny && unattended != "" {
		v.Reason += " A person would be asked, but " + unattended + "."
	}
	if instead := strings.TrimSuffix(strings.TrimSpace(r.Instead), "."); instead != "" {
		v.Reason += " Instead: " + instead + "."
	}
	if v.Decision == event.Deny && beforeCall(ev.Name) {
		v.Reason += " Do not reach the same end another way."
	}
	return v
}
