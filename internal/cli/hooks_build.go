package cli

import (
	"github.com/lidguard-go/lidguard/internal/build"
	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/spf13/cobra"
)

type hooksBuildOptions struct {
	provider string
	check    bool
	project  bool
}

// buildReport is what `hooks build --json` prints.
type buildReport struct {
	Agents []buildResult `json:"agents"`
	Losses []build.Lost  `json:"losses"`
}

// buildResult is what happened with one agent.
type buildResult struct {
	hookResult
	Current bool `json:"current"` // nothing had to change
}

func (a *app) hooksBuildCmd() *cobra.Command {
	o := hooksBuildOptions{provider: allProviders}
	cmd := &cobra.Command{
		Use:   "build [--provider P] [--check] [--project]",
		Short: "write the rulebook into the agents' configs, and say what they cannot carry",
		Example: `lidguard hooks build
lidguard hooks build --check
lidguard hooks build --provider codex --project --json`,
		Long: "Puts lidguard's hook entries into each agent's config for all that tracking and the rulebook\n" +
			"need, the books of projects you trust included; entries of others keep every byte. Running\n" +
			"it again changes nothing. Then it tells what of your packs, rules and handlers an agent has\n" +
			"no words for, and what happens instead; with --project of the project here as well.\n" +
			"With --check nothing is written: it shows each change as a diff, and the exit code is 1 when\n" +
			"there is one. Docs: docs/losses.md.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.hooksBuild(cmd, o) },
	}
	a.addProvider(cmd, &o.provider)
	addSwitch(cmd.Flags(), &o.check, "check", "write nothing; show what would change")
	addSwitch(cmd.Flags(), &o.project, "project", "report on the project here as well")
	return cmd
}

func (a *app) hooksBuild(cmd *cobra.Command, o hooksBuildOptions) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	source, err := build.Load(d, a.WorkDir, o.project)
	if err != nil {
		return hint(err, "nothing was written; correct that place and try again")
	}
	in, err := a.installing()
	if err != nil {
		return err
	}
	use, skipped, err := a.chosen(cmd, o.provider, in.home)
	if err != nil {
		return err
	}
	report := buildReport{Agents: []buildResult{}, Losses: []build.Lost{}}
	for _, g := range use {
		report.Agents = append(report.Agents, a.buildOne(cmd, in, source.Listening(g), o.check))
		report.Losses = append(report.Losses, build.Report(g.Provider(), source.Items)...)
	}
	for _, g := range skipped {
		report.Agents = append(report.Agents, buildResult{hookResult: hookResult{Provider: g.Provider(), Changed: []install.Done{}, Skipped: g.Title() + " has not been used here"}})
	}
	if !o.check {
		if err := a.freshSecretRules(); err != nil {
			return err
		}
	}
	if err := a.result(report, func() { a.printBuild(report, source) }); err != nil {
		return err
	}
	failed := false
	for _, r := range report.Agents {
		if r.err != nil {
			a.failure(r.err)
		}
		failed = failed || r.err != nil || o.check && !r.Current && r.Skipped == ""
	}
	if failed {
		return errNo{}
	}
	return nil
}

func (a *app) buildOne(cmd *cobra.Command, in installation, c build.Client, check bool) buildResult {
	r := buildResult{hookResult: hookResult{Provider: c.Provider(), Changed: []install.Done{}}}
	plan, err := c.Install(in.program, in.records)
	if err == nil {
		r.Current = len(plan.Edits) == 0
		err = a.carryOut(cmd.Context(), in, plan, check, &r.hookResult)
	}
	status := c.Status(in.program)
	if err == nil {
		err = unusable(status)
	}
	r.fail(err)
	r.State = status.State
	if r.err == nil && !check {
		r.next = nextStep(status)
	}
	return r
}

func (a *app) printBuild(report buildReport, source build.Source) {
	for _, r := range report.Agents {
		switch {
		case r.Skipped != "":
			a.say("%s: skipped, %s", r.Provider, r.Skipped)
		case r.Diff != nil:
			for _, d := range r.Diff {
				a.diff(d)
			}
		case r.Current:
			a.say("%s: nothing to change", r.Provider)
		}
		for _, f := range r.Changed {
			a.say("%s: written to %s", r.Provider, f.Path)
			if f.Backup != "" {
				a.note("%s: a copy from before is in %s", r.Provider, f.Backup)
			}
		}
		if r.next != "" {
			a.note("%s", r.next)
		}
	}
	if len(source.Items) == 0 {
		a.say("no pack is on, so there is nothing that an agent could not carry")
		return
	}
	var last event.Provider
	for _, l := range report.Losses {
		if l.Provider != last {
			client, _ := census.Of(l.Provider)
			a.heading("what " + client.Title + " cannot carry")
			last = l.Provider
		}
		a.say("  %s", l)
	}
}
