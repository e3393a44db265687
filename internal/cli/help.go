package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// hookEntries are the words agents call. They are answered before this package
// is reached, and are listed so that nobody wonders what stands in a config file.
var hookEntries = [][]string{
	{"codex-hook", "called by Codex"},
	{"claude-hook", "called by Claude Code"},
	{"claude-wake", "called by Claude Code beside its work, where checks are on"},
	{"copilot-hook --event NAME", "called by Copilot CLI"},
	{"opencode-hook --event NAME", "called by OpenCode's plugin"},
}

// help prints what a command does: an example first, then the rest.
func (p *printer) help(cmd *cobra.Command) {
	fmt.Fprintf(p.out, "%s - %s\n\n", cmd.CommandPath(), cmd.Short)
	if cmd.Example != "" {
		p.heading("examples")
		for line := range strings.Lines(cmd.Example) {
			fmt.Fprintln(p.out, "  "+strings.TrimRight(line, "\n"))
		}
		fmt.Fprintln(p.out)
	}
	if cmd.Long != "" {
		fmt.Fprintf(p.out, "%s\n\n", cmd.Long)
	}
	if cmd.HasAvailableSubCommands() {
		p.helpCommands(cmd)
	} else {
		fmt.Fprintf(p.out, "usage: %s\n\n", cmd.UseLine())
	}
	if cmd.HasParent() {
		p.helpOptions(cmd.LocalFlags())
	}
	if !cmd.HasParent() {
		p.heading("hook entries (called by agents)")
		p.table("  ", hookEntries)
		fmt.Fprintln(p.out, "\nEvery command has --help, and --json for what it prints.\n"+
			"Options take `--name value` and `--name=value`; booleans true/false, yes/no, on/off, 1/0.\n"+
			"Exit codes: 0 done, 1 failed or the answer is no, 2 wrong usage.")
	}
}

func (p *printer) helpCommands(cmd *cobra.Command) {
	for _, g := range append(cmd.Groups(), &cobra.Group{}) {
		var rows [][]string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.GroupID == g.ID {
				rows = append(rows, []string{c.Name(), c.Short})
			}
		}
		if len(rows) == 0 {
			continue
		}
		title := g.Title
		if title == "" {
			title = "commands"
		}
		p.heading(title)
		p.table("  ", rows)
		fmt.Fprintln(p.out)
	}
}

func (p *printer) helpOptions(flags *pflag.FlagSet) {
	var rows [][]string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		placeholder, usage := pflag.UnquoteUsage(f)
		if f.NoOptDefVal == "" {
			name += " " + placeholder
		}
		rows = append(rows, []string{name, usage})
	})
	if len(rows) == 0 {
		return
	}
	p.heading("options")
	p.table("  ", rows)
	fmt.Fprintln(p.out)
}
