package cli

import (
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/spf13/cobra"
)

type hooksExplainOptions struct{ cwd, provider, tool string }

func (a *app) hooksExplainCmd() *cobra.Command {
	o := hooksExplainOptions{provider: string(event.Claude)}
	cmd := &cobra.Command{
		Use:   "explain COMMAND [--cwd DIR] [--provider P] [--tool T]",
		Short: "what the gate makes of a command, and why",
		Example: `lidguard hooks explain 'git reset --hard'
lidguard hooks explain 'Remove-Item -Recurse C:\' --tool powershell
lidguard hooks explain 'rm -rf "$D"' --cwd ~/project --json`,
		Long: "Nothing is run. The command is judged as a hook of the agent would judge it in that folder,\n" +
			"whether or not the gate is switched on, and by the project's rulebook as far as that counts.\n" +
			"The sentence is the one the model would read, with CODE for the code of the call. Exit code 0\n" +
			"when it passes, 1 when it would be refused or asked about.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "explain takes one command; quote it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p, ok := event.ParseProvider(o.provider)
			if !ok {
				return usagef(cmd, "--provider cannot be %q", o.provider)
			}
			return a.hooksExplain(args[0], p, o)
		},
	}
	cmd.Flags().StringVar(&o.cwd, "cwd", "", "judge it in this folder (`DIR`), default the current one")
	cmd.Flags().StringVar(&o.provider, "provider", o.provider, "the agent (`P`) that would run it")
	cmd.Flags().StringVar(&o.tool, "tool", "", "the agent's tool (`T`), such as Bash or powershell; default its shell")
	return cmd
}

func (a *app) hooksExplain(command string, p event.Provider, o hooksExplainOptions) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	dir := o.cwd
	switch {
	case dir == "":
		dir = a.WorkDir
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		dir = d.Home + dir[1:]
	case !filepath.IsAbs(dir):
		dir = filepath.Join(a.WorkDir, dir)
	}
	e, err := entry.Explain(a.GOOS, d, a.Env, entry.Question{Command: command, Provider: p, Tool: o.tool, Dir: filepath.Clean(dir)})
	if err != nil {
		return err
	}
	if err := a.result(e, func() { a.printExplanation(&e) }); err != nil {
		return err
	}
	if e.Decision != "none" {
		return errNo{}
	}
	return nil
}

func (a *app) printExplanation(e *entry.Explanation) {
	verdict := "passes: the gate has no objection"
	switch e.Decision {
	case "deny":
		verdict = "would be refused"
	case "ask":
		verdict = "a person would be asked"
	}
	a.say("%s (profile %s)", verdict, e.Profile)
	if e.Book != "" {
		a.say("by the project's rulebook %s", e.Book)
	}
	if e.Reason != "" {
		a.say("%s", e.Reason)
	}
	if len(e.Leaves) > 0 {
		a.heading("would run")
		var rows [][]string
		for _, l := range e.Leaves {
			words := strings.Join(append(append([]string{}, l.Words...), l.Writes...), " ")
			via := ""
			if len(l.Via) > 0 {
				via = strings.Join(l.Via, " > ") + " >"
			}
			rows = append(rows, []string{l.Dir, strings.TrimSpace(via + " " + oneLine(words))})
		}
		a.table("  ", rows)
	}
	if len(e.Hazards) > 0 {
		a.heading("effects")
		var rows [][]string
		for _, h := range e.Hazards {
			d := h.Decision
			if d == "none" {
				d = "silent"
			}
			rows = append(rows, []string{d, h.Effect, h.Scope, h.Rule, oneLine(h.Target)})
		}
		a.table("  ", rows)
	}
	for _, u := range e.Unknown {
		a.say("not known: %s", oneLine(u))
	}
}

// oneLine keeps a cell of a table on its line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
