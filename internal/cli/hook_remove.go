package cli

import (
	"errors"

	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/spf13/cobra"
)

func (a *app) hookRemoveCmd() *cobra.Command {
	var o hookOptions
	cmd := &cobra.Command{
		Use:     "hook-remove --provider P",
		Short:   "take lidguard's hooks out of an agent's config",
		Example: `lidguard hook-remove --provider claude`,
		Long: "Where nobody edited the file since, it gets back every byte from before; else only\n" +
			"lidguard's entries go.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.hookRemove(cmd, o) },
	}
	a.addProvider(cmd, &o.provider)
	addSwitch(cmd.Flags(), &o.dryRun, "dry-run", "show the change and write nothing")
	return cmd
}

func (a *app) hookRemove(cmd *cobra.Command, o hookOptions) error {
	in, err := a.installation()
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
		// A plan with an error holds what can be done.
		plan, err := g.Remove(in.records)
		r.fail(errors.Join(err, a.carryOut(cmd.Context(), in, plan, o.dryRun, &r)))
		r.State = g.Status(in.program).State
		results = append(results, r)
	}
	return a.showHookResults(results, skipped, "removed")
}
