package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/spf13/cobra"
)

func (a *app) hooksWhyCmd() *cobra.Command {
	var report bool
	cmd := &cobra.Command{
		Use:   "why CODE [--report]",
		Short: "why a call was refused, and how to say that it was wrong",
		Example: `lidguard hooks why k3fz-q7ma
lidguard hooks why k3fz-q7ma --report`,
		Long: "CODE stands in the refusal. --report prints what the rules saw as JSON that can be shown to\n" +
			"others: no command, no code, no time, and of a path only the places that every machine has.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "why takes one code; it stands in the refusal")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.hooksWhy(args[0], report) },
	}
	addSwitch(cmd.Flags(), &report, "report", "print it for others to see")
	return cmd
}

func (a *app) hooksWhy(code string, report bool) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	o, found, err := entry.Why(d, code)
	if err != nil {
		return err
	}
	if !found {
		return hint(fmt.Errorf("no refusal with code %q", code), "the code stands at the end of the refusal, four and four letters")
	}
	if report {
		o = o.Redacted(d.Home)
		text, err := json.MarshalIndent(&o, "", "  ")
		if err != nil {
			return err
		}
		return a.result(o, func() {
			for line := range strings.Lines(string(text)) {
				a.say("%s", strings.TrimSuffix(line, "\n"))
			}
		})
	}
	return a.result(o, func() {
		a.say("%s: %s wanted to use %s (profile %s, %s)", o.Decision, o.Provider, o.Tool, o.Profile, when(o.Time, a.Now()))
		var rows [][]string
		for _, g := range o.Grounds {
			rows = append(rows, []string{g.Rule, g.Means, oneLine(g.Effect)})
		}
		a.table("  ", rows)
		a.say("to let this call through once: lidguard hooks allow-once %s", o.Code)
		a.say("to say that it was wrong, without telling what it was: lidguard hooks why %s --report", o.Code)
	})
}
