package cli

import (
	"fmt"
	"path/filepath"
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
	brief := false
	cmd := &cobra.Command{
		Use:   "hook-status --provider P [--brief]",
		Short: "are lidguard's hooks in place, and will the agent run them",
		Example: `lidguard hook-status --provider all
lidguard hook-status --provider codex --json`,
		Long: "Exit code 0 only when every hook is installed and will run.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if brief {
				return a.hooksNotRunning(cmd, o)
			}
			return a.hookStatus(cmd, o)
		},
	}
	a.addProvider(cmd, &o.provider)
	addSwitch(cmd.Flags(), &brief, "brief", "a sentence where hooks that lidguard installed will not run, and else nothing")
	return cmd
}

// hooksNotRunning is what a hook asks at the start of a session; see entry.
func (a *app) hooksNotRunning(cmd *cobra.Command, o hookOptions) error {
	in, err := a.installation()
	if err != nil {
		return err
	}
	use, _, err := a.chosen(cmd, o.provider, in.home)
	if err != nil {
		return err
	}
	lines := []string{}
	for _, g := range use {
		if text := in.notRunning(g); text != "" {
			lines = append(lines, text)
		}
	}
	err = a.result(lines, func() {
		for _, line := range lines {
			a.say("%s", line)
		}
	})
	if err == nil && len(lines) > 0 {
		return errNo{}
	}
	return err
}

// notRunning tells which hooks that lidguard put into an agent's files, and did not
// take out again, the agent will not run. Who keeps hooks there by hand is not told.
func (in installation) notRunning(g agent) string {
	r := g.Status(in.program)
	for file := range in.records {
		if filepath.IsAbs(file) && strings.HasPrefix(file, r.Root+string(filepath.Separator)) {
			return doctor.NotRunning(g.Title(), r)
		}
	}
	return ""
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
