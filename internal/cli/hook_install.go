package cli

import (
	"context"
	"errors"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	"github.com/spf13/cobra"
)

type hookOptions struct {
	provider string
	dryRun   bool
	trust    bool
}

// hookResult is what happened with one agent; `--json` prints a list of them.
type hookResult struct {
	Provider event.Provider `json:"provider"`
	State    install.State  `json:"state,omitempty"` // afterwards
	Changed  []install.Done `json:"changed"`
	Diff     []string       `json:"diff,omitempty"` // --dry-run: what would change
	Skipped  string         `json:"skipped,omitempty"`
	Error    string         `json:"error,omitempty"`

	err  error
	next string // what the person should do now
}

func (a *app) hookInstallCmd() *cobra.Command {
	var o hookOptions
	cmd := &cobra.Command{
		Use:   "hook-install --provider P",
		Short: "put lidguard's hooks into an agent's config",
		Example: `lidguard hook-install --provider claude
lidguard hook-install --provider all --dry-run`,
		Long: "Only lidguard's own entries change; everything else in the file keeps every byte, and\n" +
			"a dated copy is kept beside it. Running it again changes nothing.\n\n" +
			"Codex runs a hook only after you trusted it there: start codex and answer its question,\n" +
			"or say --trust-codex-hooks to record your trust now.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.hookInstall(cmd, o) },
	}
	a.addProvider(cmd, &o.provider)
	addSwitch(cmd.Flags(), &o.dryRun, "dry-run", "show the change and write nothing")
	addSwitch(cmd.Flags(), &o.trust, "trust-codex-hooks", "record in Codex's config that you trust these hooks")
	return cmd
}

func (a *app) hookInstall(cmd *cobra.Command, o hookOptions) error {
	in, err := a.installing()
	if err != nil {
		return err
	}
	use, skipped, err := a.chosen(cmd, o.provider, in.home)
	if err != nil {
		return err
	}
	var results []hookResult
	for _, g := range use {
		r := hookResult{Provider: g.Provider(), Changed: []install.Done{}}
		plan, err := g.Install(in.program, in.records)
		if err == nil {
			err = a.carryOut(cmd.Context(), in, plan, o.dryRun, &r)
		}
		if c, ok := g.(codex.Setup); ok && err == nil && o.trust && !o.dryRun {
			err = a.trustCodex(cmd.Context(), in, c, &r)
		}
		report := g.Status(in.program)
		if err == nil {
			err = unusable(report)
		}
		r.fail(err)
		r.State = report.State
		if r.err == nil && !o.dryRun {
			r.next = nextStep(report)
		}
		results = append(results, r)
	}
	if !o.dryRun {
		if err := a.freshSecretRules(); err != nil {
			return err
		}
	}
	return a.showHookResults(results, skipped, "installed")
}

// carryOut applies a plan, or only tells what it would change.
func (a *app) carryOut(ctx context.Context, in installation, plan install.Plan, dryRun bool, r *hookResult) error {
	if dryRun {
		for _, e := range plan.Edits {
			r.Diff = append(r.Diff, e.Diff())
		}
		return nil
	}
	done, err := plan.Apply(ctx, a.Now(), in.store)
	r.Changed = append(r.Changed, done...)
	return err
}

// trustCodex records the person's trust, for which somebody has asked.
func (a *app) trustCodex(ctx context.Context, in installation, c codex.Setup, r *hookResult) error {
	records, err := in.store.Load()
	if err != nil {
		return err
	}
	plan, err := c.Trust(records)
	if err != nil {
		return err
	}
	done, err := plan.Apply(ctx, a.Now(), in.store)
	r.Changed = append(r.Changed, done...)
	return err
}

func (r *hookResult) fail(err error) {
	if err != nil {
		r.err, r.Error = editHint(err), err.Error()
	}
}

// unusable is why the agent will run no hook although they are in its config: a
// file of its that it cannot use.
func unusable(r install.Report) error {
	for _, p := range r.Problems {
		if p.Voids {
			return hint(errors.New(p.Text), p.Remedy)
		}
	}
	return nil
}

// nextStep is what is left for the person to do after an installation.
func nextStep(r install.Report) string {
	switch {
	case r.State == install.NotTrusted:
		return "Codex skips these hooks until you trust them: start `codex` and answer its question (or use /hooks there), " +
			"or run `lidguard hook-install --provider codex --trust-codex-hooks`; `codex exec` gives no sign of it"
	case r.State == install.Off && len(r.Problems) > 0:
		return r.Problems[0].Text + "; " + r.Problems[0].Remedy
	}
	return ""
}

// showHookResults prints what happened and makes the exit code.
func (a *app) showHookResults(results []hookResult, skipped []agent, verb string) error {
	failed := false
	for _, g := range skipped {
		results = append(results, hookResult{Provider: g.Provider(), Changed: []install.Done{}, Skipped: g.Title() + " has not been used here"})
	}
	err := a.result(results, func() {
		for _, r := range results {
			switch {
			case r.Skipped != "":
				a.say("%s: skipped, %s", r.Provider, r.Skipped)
			case r.err != nil && len(r.Changed)+len(r.Diff) == 0:
			case r.Diff != nil:
				for _, d := range r.Diff {
					a.diff(d)
				}
			case len(r.Changed) == 0:
				a.say("%s: nothing to change", r.Provider)
			default:
				for _, f := range r.Changed {
					a.say("%s: %s in %s", r.Provider, verb, f.Path)
					if f.Backup != "" {
						a.note("%s: a copy from before is in %s", r.Provider, f.Backup)
					}
				}
			}
			if r.next != "" {
				a.note("%s", r.next)
			}
		}
	})
	for _, r := range results {
		if r.err != nil {
			failed = true
			a.failure(r.err)
		}
	}
	if err == nil && failed {
		return errNo{}
	}
	return err
}
