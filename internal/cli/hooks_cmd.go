package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/spf13/cobra"
)

// hooksCmd is the group of commands about what hooks do.
func (a *app) hooksCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks COMMAND",
		Short: "what lidguard's hooks let agents do",
		Example: `lidguard hooks explain 'git reset --hard'
lidguard hooks enable gate
lidguard hooks list`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	for _, c := range []*cobra.Command{a.hooksExplainCmd(), a.hooksEnableCmd(), a.hooksDisableCmd(), a.hooksListCmd(), a.hooksWhyCmd(), a.hooksAllowOnceCmd(), a.hooksRelaxCmd(), a.hooksDismissCmd(), a.hooksPanesCmd(), a.hooksRunCheckCmd(), a.hooksTrustCmd(), a.hooksEventsCmd(), a.hooksLintCmd(),
		a.hooksReplayCmd(), a.hooksAuditCmd(), a.hooksBenchCmd(), a.hooksAdaptCmd(), a.hooksNewCmd(), a.hooksBuildCmd()} {
		c.DisableFlagsInUseLine = true
		cmd.AddCommand(c)
	}
	return cmd
}

// onePack accepts exactly one name of a pack.
func onePack(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(cmd, "%s needs a pack: %s", cmd.Name(), strings.Join(entry.PackNames(), ", "))
	}
	return oneOf(entry.PackNames()...)(cmd, args)
}

// personOnly refuses commands that an agent must not give: from below an agent, or
// without a terminal at which a person could sit.
func (a *app) personOnly(what string) error {
	if why := a.notByHand(); why != "" {
		return hint(fmt.Errorf("%s is for a person: %s", what, why), "open a terminal of your own and run it there")
	}
	if !a.interactive {
		return hint(fmt.Errorf("%s is for a person at a terminal, and there is none here", what), "open a terminal of your own and run it there")
	}
	return nil
}

const brokenPacks = "repair or delete that file; until then the gate judges by its standard profile"

type hooksEnableOptions struct {
	audit   bool
	profile string
	roots   []string
}

func (a *app) hooksEnableCmd() *cobra.Command {
	var o hooksEnableOptions
	cmd := &cobra.Command{
		Use:   "enable PACK [--audit] [--profile P] [--root DIR]",
		Short: "switch a pack on",
		Example: `lidguard hooks enable gate
lidguard hooks enable gate --audit     only note what it would say
lidguard hooks enable gate --profile strict
lidguard hooks enable sandbox --root . --root ~/notes`,
		Long: "Packs: gate judges what a call would do and refuses or asks; sandbox lets calls write only\n" +
			"to the project, or to the folders named with --root. With --audit nothing is refused: what\n" +
			"would have been said is noted in the audit log. Profiles of the gate: standard; strict, which\n" +
			"refuses what standard asks about; relaxed, which stops catastrophes only.",
		Args:      onePack,
		ValidArgs: entry.PackNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.profile != "" && !slices.Contains(entry.Profiles(), o.profile) {
				return usagef(cmd, "--profile cannot be %q: there are %s", o.profile, strings.Join(entry.Profiles(), ", "))
			}
			if o.profile != "" && args[0] != "gate" {
				return usagef(cmd, "--profile belongs to the gate")
			}
			if len(o.roots) > 0 && args[0] != "sandbox" {
				return usagef(cmd, "--root belongs to the sandbox")
			}
			return a.hooksEnable(cmd.Context(), args[0], o)
		},
	}
	addSwitch(cmd.Flags(), &o.audit, "audit", "only note what it would say")
	cmd.Flags().StringVar(&o.profile, "profile", "", "how strict the gate is (`P`): "+strings.Join(entry.Profiles(), ", "))
	cmd.Flags().StringArrayVar(&o.roots, "root", nil, "a folder (`DIR`) that may be written to; . is the project")
	completeWith(cmd, "profile", entry.Profiles())
	return cmd
}

func (a *app) hooksEnable(ctx context.Context, pack string, o hooksEnableOptions) error {
	mode := entry.On
	if o.audit {
		mode = entry.Audit
	}
	d, err := a.dirs()
	if err != nil {
		return err
	}
	if o.audit || o.profile != "" && o.profile != "strict" || len(o.roots) > 0 {
		// Of a pack that is on, these take protection back, as switching it off does.
		chain, err := entry.ChainIn(d, a.WorkDir)
		if err != nil {
			return hintBroken(err, brokenPacks)
		}
		on := slices.ContainsFunc(chain, func(p entry.PackStatus) bool { return p.Pack == pack && p.Mode == entry.On })
		if why := a.notByHand(); on && why != "" {
			return hint(fmt.Errorf("loosening %s is for a person: %s", pack, why), "open a terminal of your own and run it there")
		}
	}
	if pack == "redact" {
		if err := writeSecretRules(d); err != nil {
			return err
		}
	}
	return a.changePacks(ctx, pack, func(p *entry.Packs) { p.Switch(pack, mode, entry.Profile(o.profile), o.roots) })
}

func (a *app) hooksDisableCmd() *cobra.Command {
	return &cobra.Command{
		Use:       "disable PACK",
		Short:     "switch a pack off",
		Example:   `lidguard hooks disable gate`,
		Args:      onePack,
		ValidArgs: entry.PackNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			// Switching protection off is a person's business; on may be anybody's.
			if why := a.notByHand(); why != "" {
				return hint(fmt.Errorf("switching %s off is for a person: %s", args[0], why), "open a terminal of your own and run it there")
			}
			return a.changePacks(cmd.Context(), args[0], func(p *entry.Packs) { p.Switch(args[0], entry.Off, nil, nil) })
		},
	}
}

// notByHand says why no person can have given this command, or "".
func (a *app) notByHand() string {
	if a.NotByHand != nil {
		return a.NotByHand()
	}
	return entry.NotByHand(os.Getpid(), a.Env)
}

// changePacks changes the file of the packs and shows the chain as it is now.
func (a *app) changePacks(ctx context.Context, pack string, change func(*entry.Packs)) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	packs, err := entry.LoadPacks(d)
	if err != nil {
		return hintBroken(err, brokenPacks)
	}
	change(&packs)
	if err := entry.SavePacks(d, packs); err != nil {
		return err
	}
	if pack == "check" {
		if err := a.followChecks(ctx); err != nil {
			return err
		}
	}
	return a.hooksList()
}

func (a *app) hooksListCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "the packs in the order they are asked, and which are on",
		Example: `lidguard hooks list`,
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return a.hooksList() },
	}
}

func (a *app) hooksList() error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	chain, err := entry.ChainIn(d, a.WorkDir)
	if err != nil {
		return hintBroken(err, brokenPacks)
	}
	return a.result(chain, func() {
		var rows [][]string
		for _, p := range chain {
			rows = append(rows, []string{fmt.Sprintf("%3d", p.Band), p.Pack, string(p.Mode), p.Detail, strings.Join(p.Events, ", ")})
		}
		a.table("", rows)
		if until, ok := entry.RelaxedUntil(d, a.Now()); ok {
			a.say("the gate is relaxed until %s", when(until, a.Now()))
		}
	})
}
