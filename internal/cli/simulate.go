package cli

import (
	"errors"
	"io"

	"github.com/lidguard-go/lidguard/internal/simulate"
	"github.com/spf13/cobra"
)

type simulateOptions struct {
	seed  uint64
	steps int
	quiet bool
}

func (a *app) simulateCmd() *cobra.Command {
	o := simulateOptions{seed: 1, steps: 1000}
	cmd := &cobra.Command{
		Use:   "simulate [--seed N] [--steps M]",
		Short: "run the decisions through random days and check that none goes wrong",
		Example: `lidguard simulate --seed 7 --steps 100000 --quiet
lidguard simulate --seed 7 --steps 200`,
		Long: "Nothing on this machine is touched: a made-up laptop with made-up agents is driven\n" +
			"through crashes, clock jumps and lost events, and after every step the invariants are\n" +
			"checked. The same seed makes the same days. Exit code 1 when an invariant was violated.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.simulate(cmd, o) },
	}
	cmd.Flags().Uint64Var(&o.seed, "seed", o.seed, "which days (`N`, default 1)")
	cmd.Flags().IntVar(&o.steps, "steps", o.steps, "how many steps at least (`M`, default 1000)")
	addSwitch(cmd.Flags(), &o.quiet, "quiet", "print only the last lines")
	return cmd
}

func (a *app) simulate(cmd *cobra.Command, o simulateOptions) error {
	if o.steps < 1 || o.steps > 100_000_000 {
		return usagef(cmd, "--steps cannot be %d: allowed is a whole number from 1 to 100000000", o.steps)
	}
	var verdict error
	if a.json || o.quiet {
		res := simulate.Chaos(o.seed, o.steps, io.Discard, simulate.Broken{})
		if len(res.Bad) > 0 {
			verdict = errNo{}
		}
		out := struct {
			Seed     uint64   `json:"seed"`
			Steps    int      `json:"steps"`
			Effects  int      `json:"effects"`
			Crashes  int      `json:"crashes"`
			Sleeps   int      `json:"sleeps"`
			Seconds  float64  `json:"virtual_s"`
			Violated []string `json:"violated"`
		}{o.seed, res.Steps, res.Effects, res.Crashes, res.Sleeps, res.Virtual.Seconds(), append([]string{}, res.Bad...)}
		err := a.result(out, func() {
			a.say("seed %d: %d steps, %d effects, %d crashes, %d sleeps in %s of virtual time", o.seed, res.Steps, res.Effects, res.Crashes, res.Sleeps, span(res.Virtual))
			for _, b := range res.Bad {
				a.say("violated: %s", b)
			}
			if len(res.Bad) == 0 {
				a.say("all invariants held")
			}
		})
		return errors.Join(err, verdict)
	}
	// The trace is printed as it comes: it may be long, and its end may never be
	// reached by somebody who is looking for a hang.
	if err := simulate.Run(o.seed, o.steps, a.lineWriter()); err != nil {
		return errNo{}
	}
	return nil
}
