package cli

import (
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/spf13/cobra"
)

func (a *app) hooksPanesCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "panes",
		Short:   "the terminal pane of each session",
		Example: `lidguard hooks panes`,
		Long: "The pack context notes the pane (tmux, Zellij, WezTerm, kitty, iTerm2) in which a session\n" +
			"starts. This lists the last of them, with the command that shows the pane where its terminal\n" +
			"has one.",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.hooksPanes() },
	}
}

func (a *app) hooksPanes() error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	panes, err := entry.Panes(d)
	if err != nil {
		return err
	}
	return a.result(panes, func() {
		if len(panes) == 0 {
			a.say("no pane is known; `lidguard hooks enable context` notes those of new sessions")
		}
		var rows [][]string
		for _, p := range panes {
			rows = append(rows, []string{p.Session.String(), p.Terminal + " " + p.ID, p.Cwd, p.Command})
		}
		a.table("", rows)
	})
}
