package cli

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

// hookReport is one agent in `hook-status --json`.
type hookReport struct {
	install.Report
	Skipped  string        `json:"skipped,omitempty"`
	Findings []ipc.Finding `json:"findings"`
}

func (a *app) hookStatusCmd() *cobra.Command {
	var o hookOptions
	cmd := &cobra.Command{
		Use:   "hook-status --provider P",
		Short: "are lidguard's hooks in place, and will the agent run them",
		Example: `lidguard hook-status --provider all
lidguard hook-status --provider codex --json`,
		Long: "Exit code 0 only when every hook is installed and will run.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.hookStatus(cmd, o) },
	}
	a.addProvider(cmd, &o.provider)
	return cmd
}

func (a *app) hookStatus(cmd *cobra.Command, o hookOptions) error {
	in, err := a.installation()
	if err != nil {
		return err
	}
	use, skipped, err := a.chosen(cmd, o.provider, in.home)
	if err != nil {
		return err
	}
	reports := []hookReport{}
	good := true
	for _, g := range use {
		r := hookReport{Report: g.Status(in.program)}
		r.Findings = append([]ipc.Finding{}, doctor.Agent(g.Title(), r.Report)...)
		good = good && (r.State == install.Installed || r.State == install.Conflicts)
		reports = append(reports, r)
	}
	for _, g := range skipped {
		r := hookReport{Report: g.Status(in.program), Skipped: g.Title() + " has not been used here", Findings: []ipc.Finding{}}
		reports = append(reports, r)
	}
	err = a.result(reports, func() {
		for _, r := range reports {
			a.showHookReport(r)
		}
	})
	if err == nil && !good {
		return errNo{}
	}
	return err
}

func (a *app) showHookReport(r hookReport) {
	if r.Skipped != "" {
		a.say("%s: skipped, %s", r.Provider, r.Skipped)
		return
	}
	a.say("%s: %s (%s)", r.Provider, stateWords(r.State), r.File)
	var rows [][]string
	same := true // all hooks stand alike, as the first line says
	for _, h := range r.Hooks {
		same = same && h.State == r.Hooks[0].State && h.Detail == r.Hooks[0].Detail
		if h.State != install.Installed {
			rows = append(rows, []string{h.Event, stateWords(h.State), h.Detail})
		}
	}
	if same {
		rows = nil
	}
	a.table("  ", rows)
	a.showFindings(r.Findings)
}

// stateWords is a state the way people say it.
func stateWords(s install.State) string { return strings.ReplaceAll(fmt.Sprint(s), "-", " ") }
