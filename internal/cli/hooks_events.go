package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/spf13/cobra"
)

type hooksEventsOptions struct{ provider, event string }

func (a *app) hooksEventsCmd() *cobra.Command {
	var o hooksEventsOptions
	cmd := &cobra.Command{
		Use:   "events [--provider P] [--event E]",
		Short: "every event of every agent: when, payload, what an answer does",
		Example: `lidguard hooks events --provider codex
lidguard hooks events --event PreToolUse           the same moment in every agent
lidguard hooks events --provider copilot --event agentStop --json`,
		Long: "Without --event a line per event; with it everything that is known of it. An event may be\n" +
			"named as its agent spells it, or by lidguard's word, which is Claude Code's. Facts were\n" +
			"measured on the agent's version shown, unless they are marked read. Docs: docs/events.md.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var rows []census.Event
			for _, p := range census.Providers() {
				if o.provider == "" || o.provider == string(p) {
					rows = append(rows, census.Events(p)...)
				}
			}
			if len(rows) == 0 {
				return hint(&usageError{fmt.Errorf("no agent %q", o.provider)},
					didYouMean(o.provider, censusNames(), "--provider ", "the agents are "+strings.Join(censusNames(), ", ")))
			}
			if o.event == "" {
				return a.result(rows, func() { a.printEvents(rows) })
			}
			found := eventsNamed(rows, o.event)
			if len(found) == 0 {
				return hint(&usageError{fmt.Errorf("no event %q", o.event)}, didYouMean(o.event, eventNames(rows), "--event ", "`lidguard hooks events` lists them"))
			}
			return a.result(found, func() {
				for i, e := range found {
					if i > 0 {
						a.say("")
					}
					a.printEvent(e)
				}
			})
		},
	}
	cmd.Flags().StringVar(&o.provider, "provider", "", "only the events of this agent (`P`): "+strings.Join(censusNames(), ", "))
	cmd.Flags().StringVar(&o.event, "event", "", "everything about this event (`E`)")
	completeWith(cmd, "provider", censusNames())
	completeWith(cmd, "event", eventNames(census.All()))
	return cmd
}

func censusNames() []string {
	var out []string
	for _, p := range census.Providers() {
		out = append(out, string(p))
	}
	return out
}

func eventNames(rows []census.Event) []string {
	var out []string
	for _, e := range rows {
		for _, name := range []string{e.Native, e.Pascal, string(e.Name)} {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// eventsNamed are the rows whose own name is name in whatever case, and those for
// which it is lidguard's word.
func eventsNamed(rows []census.Event, name string) []census.Event {
	var out []census.Event
	for _, e := range rows {
		if strings.EqualFold(e.Native, name) || strings.EqualFold(e.Pascal, name) || strings.EqualFold(string(e.Name), name) {
			out = append(out, e)
		}
	}
	return out
}

func (a *app) printEvents(rows []census.Event) {
	var last event.Provider
	var table [][]string
	flush := func() {
		a.table("  ", table)
		table = nil
	}
	for _, e := range rows {
		if e.Provider != last {
			flush()
			if last != "" {
				a.say("")
			}
			c, _ := census.Of(e.Provider)
			a.heading(c.Title + " " + c.Version)
			table = append(table, []string{"event", "matched by", "strongest answer", "by", "timeout"})
			last = e.Provider
		}
		table = append(table, []string{e.Native, dash(e.Matcher.Field), effectOf(e), dash(channelsOf(e)), timeoutOf(e)})
	}
	flush()
}

func (a *app) printEvent(e census.Event) {
	c, _ := census.Of(e.Provider)
	a.heading(c.Title + ": " + e.Native)
	add := func(rows [][]string, key, text string) [][]string {
		if text == "" {
			return rows
		}
		return append(rows, []string{key, text})
	}
	var rows [][]string
	rows = add(rows, "fires", e.When)
	rows = add(rows, "known", string(e.Mark)+" ("+c.Version+")")
	rows = add(rows, "since", e.Since)
	rows = add(rows, "also spelled", e.Pascal)
	if name := string(e.Name); name != e.Native {
		rows = add(rows, "lidguard's word", name)
	}
	matcher := string(e.Matcher.Law)
	if e.Matcher.Field != "" {
		matcher = e.Matcher.Field + "; " + matcher
	}
	rows = add(rows, "matcher", matcher)
	rows = add(rows, "values", strings.Join(e.Matcher.Values, ", "))
	for i, f := range e.Payload() {
		key := "payload"
		if i > 0 {
			key = " "
		}
		text := f.Name
		if f.Optional {
			text += "?"
		}
		text += " " + f.Type
		if f.Note != "" {
			text += " (" + f.Note + ")"
		}
		rows = add(rows, key, text)
	}
	for i, out := range e.Outputs {
		key := "outputs"
		if i > 0 {
			key = " "
		}
		text := out.Key + ": " + out.Does
		if out.Mark == census.Read && e.Mark != census.Read {
			text += " (read)"
		}
		rows = add(rows, key, text)
	}
	rows = add(rows, "exit 2", e.Exit2)
	by := ""
	if how := channelsOf(e); how != "" {
		by = ", by " + how
	}
	rows = add(rows, "strongest answer", effectOf(e)+by)
	limit := timeoutOf(e)
	if e.Timeout.Note != "" {
		limit += "; " + e.Timeout.Note
	}
	rows = add(rows, "timeout", limit)
	var kinds []string
	for _, k := range e.Kinds {
		kinds = append(kinds, string(k))
	}
	rows = add(rows, "handlers", strings.Join(kinds, ", "))
	for _, n := range e.Notes {
		rows = add(rows, "note", n)
	}
	a.table("  ", rows)
}

func effectOf(e census.Event) string {
	s := string(e.Blocks.Effect)
	if e.Blocks.Mark == census.Read {
		s += " (read)"
	}
	return s
}

func channelsOf(e census.Event) string {
	var out []string
	if e.Blocks.Exit2 {
		out = append(out, "exit 2")
	}
	return strings.Join(append(out, e.Blocks.Keys...), ", ")
}

func timeoutOf(e census.Event) string {
	if e.Timeout.Default == 0 {
		return "none"
	}
	s := strconv.FormatFloat(e.Timeout.Default, 'g', -1, 64) + " s"
	if e.Timeout.Max != 0 {
		s += " (at most " + strconv.FormatFloat(e.Timeout.Max, 'g', -1, 64) + " s)"
	}
	return s
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
