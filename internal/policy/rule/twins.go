package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// Example is a call that shows what a rule means: a line for the shell, or
// {tool = …, input = {…}}. For a rule about prompts the line is a prompt.
type Example struct {
	Line  string         `toml:"-"`
	Tool  string         `toml:"tool"`
	Input map[string]any `toml:"input"`
}

// UnmarshalText reads a line.
func (e *Example) UnmarshalText(text []byte) error {
	if e.Line = string(text); strings.TrimSpace(e.Line) == "" {
		return errors.New("an example is empty")
	}
	return nil
}

// String shows it to people.
func (e *Example) String() string {
	if e.Tool == "" {
		return e.Line
	}
	input, err := json.Marshal(e.Input)
	if err != nil {
		return e.Tool
	}
	return e.Tool + " " + string(input)
}

// Proof is what came of one example.
type Proof struct {
	Rule string `json:"rule"`
	// Case is the example, or what is missing.
	Case string `json:"case"`
	// Fires is whether the rule should fire, Fired whether it did.
	Fires bool `json:"fires"`
	Fired bool `json:"fired"`
	// Problem says what is wrong, "" if all is well.
	Problem string `json:"problem,omitempty"`
}

// Prove holds every rule to its examples: it needs some of both kinds, fires for
// those under deny and for none under allow. dialect is World.Dialect. The rules
// are asked one by one, so that no other hides what one of them says.
func Prove(rules []Rule, dialect func(string) (shell.Dialect, bool)) []Proof {
	var list []Proof
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		if seen[r.ID] {
			list = append(list, Proof{Rule: r.ID, Case: "its id", Problem: "another rule has the same id"})
		}
		seen[r.ID] = true
		if len(r.Deny) == 0 {
			list = append(list, Proof{Rule: r.ID, Case: "deny = […]", Fires: true, Problem: "no example that the rule fires for"})
		}
		if len(r.Allow) == 0 {
			list = append(list, Proof{Rule: r.ID, Case: "allow = […]", Problem: "no example that the rule leaves alone"})
		}
		for k := range r.Deny {
			list = append(list, r.prove(&r.Deny[k], true, dialect))
		}
		for k := range r.Allow {
			list = append(list, r.prove(&r.Allow[k], false, dialect))
		}
	}
	return list
}

// proofDir is the project that examples play in.
const proofDir = "/home/u/project"

func (r *Rule) prove(e *Example, fires bool, dialect func(string) (shell.Dialect, bool)) Proof {
	p := Proof{Rule: r.ID, Case: e.String(), Fires: fires}
	ev, err := r.Event(e)
	if err != nil {
		p.Problem = err.Error()
		return p
	}
	w := World{Root: proofDir, Dialect: dialect, Shell: shell.World{Dir: proofDir, Home: "/home/u"}}
	c := call{ev: &ev, w: &w}
	p.Fired = r.wants(&ev)
	if p.Fired {
		if p.Fired, err = r.fires(&c); err != nil {
			p.Problem = err.Error()
			return p
		}
	}
	switch {
	case fires && !p.Fired:
		p.Problem = "the rule does not fire"
	case !fires && p.Fired:
		p.Problem = "the rule fires"
	}
	return p
}

// Event is the event that an example stands for.
func (r *Rule) Event(e *Example) (event.Event, error) {
	ev := event.Event{Provider: event.Claude, Name: event.PreToolUse, Cwd: proofDir, Session: event.SessionKey{Provider: event.Claude, ID: "example"}}
	if len(r.Events) > 0 {
		ev.Name = event.Name(r.Events[0])
	}
	ev.Native = string(ev.Name)
	if ev.Name == event.UserPromptSubmit {
		if e.Tool != "" {
			return ev, errors.New("a prompt has no tool")
		}
		ev.Prompt = e.Line
		return ev, nil
	}
	tool, input := e.Tool, e.Input
	if tool == "" {
		tool = "Bash"
		if others := []string{"PowerShell", "cmd"}; !r.Tool.IsZero() && !r.Tool.Matches(tool) {
			i := slices.IndexFunc(others, func(o string) bool { return r.Tool.Matches(o) })
			if i < 0 {
				return ev, fmt.Errorf("the rule is for %s, so an example is {tool = …, input = {…}}", &r.Tool)
			}
			tool = others[i]
		}
		input = map[string]any{"command": e.Line}
	}
	if input == nil {
		input = map[string]any{}
	}
	text, err := json.Marshal(input)
	if err != nil {
		return ev, fmt.Errorf("the example's input: %w", err)
	}
	ev.Tool = &event.Tool{Name: tool, Input: text, UseID: "example"}
	return ev, nil
}
