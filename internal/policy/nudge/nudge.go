// Package nudge reminds the model of facts at the moment they matter. In come an
// event (a prompt, the start of a session) and a table of nudges; out come the
// texts of those that match, as context and never as an order: the model and the
// person are free to ignore them. It decides nothing and runs nothing.
package nudge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in chains and logs.
const Name = "nudge"

// Bounds of what one event gets to read. A model that is told ten things at once
// heeds none.
const (
	MaxAtOnce = 3
	MaxText   = 1000 // bytes of one nudge
)

// Nudge is one row of the table.
type Nudge struct {
	ID string `toml:"id" json:"id"`
	// Target is what Match and Exclude look at.
	Target Target `toml:"target" json:"target"`
	// Match has to match for the nudge to be given; none always does.
	Match policy.Pattern `toml:"match" json:"match"`
	// Exclude keeps it back where it matches.
	Exclude policy.Pattern `toml:"exclude" json:"exclude"`
	// Priority orders nudges that match at once: low first, the rest are dropped.
	Priority int `toml:"priority" json:"priority"`
	// Text is a factual sentence for the model.
	Text string `toml:"text" json:"text"`
	// Always gives it each time it matches, not once per session.
	Always bool `toml:"always" json:"always"`
}

// Target is what a nudge looks at, and so when.
type Target string

// The targets. Prompt, which is the default, looks at what the person typed; Cwd
// at the folder in which they typed it; Start at the way in which a session began
// (startup, resume, clear, compact).
const (
	Prompt Target = "prompt"
	Cwd    Target = "cwd"
	Start  Target = "start"
)

// UnmarshalText reads a target.
func (t *Target) UnmarshalText(text []byte) error {
	switch got := Target(text); got {
	case Prompt, Cwd, Start:
		*t = got
		return nil
	}
	return fmt.Errorf("a nudge's target is %q, %q or %q, not %q", Prompt, Cwd, Start, text)
}

// Check finds the first row that could not work, and says why; -1 where all could.
func Check(table []Nudge) (row int, problem string) {
	seen := map[string]bool{}
	for i, n := range table {
		switch words := strings.Fields(n.ID); {
		case len(words) != 1 || words[0] != n.ID:
			return i, fmt.Sprintf("the id is %q; it takes one word", n.ID)
		case seen[n.ID]:
			return i, fmt.Sprintf("there are two with the id %q", n.ID)
		case strings.TrimSpace(n.Text) == "":
			return i, fmt.Sprintf("%q has no text", n.ID)
		case len(n.Text) > MaxText:
			return i, fmt.Sprintf("%q has %d bytes of text, at most %d are given", n.ID, len(n.Text), MaxText)
		}
		seen[n.ID] = true
	}
	return -1, ""
}

// ParseJSON reads nudges.json: an array of rows, or an object with the member
// "nudges". The keys are those of the rulebook.
func ParseJSON(data []byte) ([]Nudge, error) {
	trimmed := strings.TrimSpace(string(data))
	var table []Nudge
	into := any(&table)
	var wrapped struct {
		Nudges *[]Nudge `json:"nudges"`
	}
	if strings.HasPrefix(trimmed, "{") {
		wrapped.Nudges = &table
		into = &wrapped
	}
	dec := json.NewDecoder(strings.NewReader(trimmed))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return nil, err
	}
	if row, problem := Check(table); row >= 0 {
		return nil, fmt.Errorf("nudge %d: %s", row+1, problem)
	}
	return table, nil
}

// New returns the handler. dismissed tells whether a person wants to hear no more
// of a nudge.
func New(table []Nudge, store policy.Store, dismissed func(id string) bool) policy.Handler {
	return policy.Handler{
		Name: Name, Band: policy.BandContext + 20, Role: policy.Observer, Wants: wants,
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			matching := Matching(table, ev)
			matching = slices.DeleteFunc(matching, func(n *Nudge) bool { return dismissed(n.ID) })
			if len(matching) == 0 {
				return event.Verdict{}, nil
			}
			return give(ctx, matching, store, ev)
		},
	}
}

func wants(ev *event.Event) bool {
	return policy.Asked(ev) || ev.AgentID == "" && ev.Name == event.SessionStart
}

// Matching are the nudges that an event calls for, the most urgent first.
func Matching(table []Nudge, ev *event.Event) []*Nudge {
	var list []*Nudge
	for i := range table {
		n := &table[i]
		about, fits := subject(n.Target, ev)
		if fits && (n.Match.IsZero() || n.Match.Match(about)) && !n.Exclude.Match(about) {
			list = append(list, n)
		}
	}
	slices.SortStableFunc(list, func(a, b *Nudge) int { return cmp.Compare(a.Priority, b.Priority) })
	return list
}

// subject is the text that a target looks at, and whether the event has one.
func subject(t Target, ev *event.Event) (string, bool) {
	switch {
	case t == Start:
		return ev.Source, ev.Name == event.SessionStart
	case ev.Name != event.UserPromptSubmit:
		return "", false
	case t == Cwd:
		return ev.Cwd, true
	}
	return ev.Prompt, true
}

// give keeps back what the session has heard, notes what it hears now, and says it.
func give(ctx context.Context, matching []*Nudge, store policy.Store, ev *event.Event) (event.Verdict, error) {
	var chosen []*Nudge
	err := store.Update(ctx, ev.Session.String(), func(old []byte) ([]byte, error) {
		heard := strings.Fields(string(old))
		for _, n := range matching {
			if len(chosen) == MaxAtOnce {
				break
			}
			if !n.Always && slices.Contains(heard, n.ID) {
				continue
			}
			chosen = append(chosen, n)
			if !n.Always {
				heard = append(heard, n.ID)
			}
		}
		if len(heard) == 0 {
			return nil, nil
		}
		return []byte(strings.Join(heard, "\n")), nil
	})
	if err != nil {
		return event.Verdict{}, fmt.Errorf("noting which nudges were given: %w", err)
	}
	var v event.Verdict
	for _, n := range chosen {
		v.Contexts = append(v.Contexts, "Note ["+n.ID+"], to be ignored where it does not apply: "+strings.TrimSpace(n.Text))
	}
	return v, nil
}
