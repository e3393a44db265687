package cli

import (
	"errors"
	"fmt"

	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

type uninstallOptions struct {
	yes    bool
	dryRun bool
}

// uninstallReport is what `uninstall --json` prints.
type uninstallReport struct {
	Agents  []hookResult `json:"agents"`
	Stopped bool         `json:"runtime_stopped"`
	Kept    []string     `json:"kept"` // folders of lidguard's own that stay
}

func (a *app) uninstallCmd() *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:     "uninstall [--yes]",
		Short:   "take out everything that setup put in",
		Example: `lidguard uninstall`,
		Long: "Every agent's config gets back the bytes from before, or loses lidguard's entries where\n" +
			"it was edited since; then the runtime puts power settings back and leaves. Your\n" +
			"settings and logs stay, and are named at the end.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstall(cmd, o) },
	}
	addSwitch(cmd.Flags(), &o.yes, "yes", "do not ask before writing")
	addSwitch(cmd.Flags(), &o.dryRun, "dry-run", "show the changes and write nothing")
	return cmd
}

func (a *app) uninstall(cmd *cobra.Command, o uninstallOptions) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	in := installation{store: install.Store{Path: d.Installed()}, home: d.Home}
	if in.records, err = in.store.Load(); err != nil {
		return err
	}
	type job struct {
		plan install.Plan
		r    hookResult
	}
	var jobs []job
	edits := 0
	for _, g := range a.agents(in.home) {
		j := job{r: hookResult{Provider: g.Provider(), Changed: []install.Done{}}}
		j.plan, err = g.Remove(in.records)
		j.r.fail(err)
		edits += len(j.plan.Edits)
		for _, e := range j.plan.Edits {
			if o.dryRun {
				j.r.Diff = append(j.r.Diff, e.Diff())
			}
			if !a.json {
				a.heading(g.Title())
				a.diff(e.Diff())
			}
		}
		jobs = append(jobs, j)
	}
	if edits > 0 && !o.dryRun {
		if err := a.consent(cmd, o.yes, "write "+count(edits, "file")+"?"); err != nil {
			return err
		}
	}
	report := uninstallReport{Agents: []hookResult{}, Kept: []string{}}
	failed := false
	for _, j := range jobs {
		if j.r.err == nil && !o.dryRun {
			j.r.fail(a.carryOut(cmd.Context(), in, j.plan, false, &j.r))
		}
		failed = failed || j.r.err != nil
		report.Agents = append(report.Agents, j.r)
	}
	if !o.dryRun {
		_, err := a.call(cmd.Context(), &ipc.Request{Op: ipc.OpStop})
		report.Stopped = err == nil
		if err != nil && !errors.Is(err, ipc.ErrNotRunning) {
			failed = true
			a.failure(hint(fmt.Errorf("asking the runtime to leave: %w", err), "`lidguard status` shows it; it leaves by itself when no session is left"))
		}
	}
	for _, dir := range []string{d.Config, d.State} {
		if exists(dir) {
			report.Kept = append(report.Kept, dir)
		}
	}
	err = a.result(report, func() { a.showUninstall(report, edits) })
	for _, r := range report.Agents {
		if r.err != nil {
			a.failure(r.err)
		}
	}
	if err == nil && failed {
		return errNo{}
	}
	return err
}

func (a *app) showUninstall(r uninstallReport, edits int) {
	if edits == 0 {
		a.say("no agent's config has anything of lidguard's")
	}
	for _, g := range r.Agents {
		for _, f := range g.Changed {
			a.say("%s: removed from %s", g.Provider, f.Path)
		}
	}
	if r.Stopped {
		a.say("the runtime put everything back and left")
	}
	for _, dir := range r.Kept {
		a.note("%s stays; remove it if you want no trace", dir)
	}
}
