package cli

import (
	"errors"
	"io"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/simulate"
	"github.com/spf13/cobra"
)

type simulateOptions struct {
	seed  uint64
	steps int
	days  int
	quiet bool
}

func (a *app) simulateCmd() *cobra.Command {
	o := simulateOptions{seed: 1, steps: 1000}
	cmd := &cobra.Command{
		Use:   "simulate [--seed N] [--steps M | --days D]",
		Short: "run the decisions through random days and check that none goes wrong",
		Example: `lidguard simulate --seed 7 --steps 100000 --quiet
lidguard simulate --seed 7 --steps 200
lidguard simulate --days 1000 --quiet`,
		Long: "Nothing on this machine is touched: a made-up laptop with made-up agents is driven\n" +
			"through crashes, clock jumps and lost events, and after every step the invariants are\n" +
			"checked. With --steps anything happens in any order; with --days a person and their agents\n" +
			"live through whole days, and what was not kept awake is told by its cause. The same seed\n" +
			"makes the same days. What goes wrong is told again as short as it can be. Exit code 1 when\n" +
			"an invariant was violated.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := interruptible(cmd.Context(), func() (struct{}, error) { return struct{}{}, a.simulate(cmd, o) })
			return err
		},
	}
	cmd.Flags().Uint64Var(&o.seed, "seed", o.seed, "which days (`N`, default 1)")
	cmd.Flags().IntVar(&o.steps, "steps", o.steps, "how many steps at least (`M`, default 1000)")
	cmd.Flags().IntVar(&o.days, "days", 0, "whole machine-days instead of steps (`D`)")
	addSwitch(cmd.Flags(), &o.quiet, "quiet", "print only the last lines")
	return cmd
}

func (a *app) simulate(cmd *cobra.Command, o simulateOptions) error {
	if o.steps < 1 || o.steps > 100_000_000 {
		return usagef(cmd, "--steps cannot be %d: allowed is a whole number from 1 to 100000000", o.steps)
	}
	if cmd.Flags().Changed("days") {
		if cmd.Flags().Changed("steps") {
			return usagef(cmd, "simulate takes either --steps or --days")
		}
		return a.simulateDays(cmd, o)
	}
	var verdict error
	if a.json || o.quiet {
		res := simulate.Chaos(o.seed, o.steps, nil, simulate.Broken{})
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

// simulateDays lives through machine-days and tells what they came to.
func (a *app) simulateDays(cmd *cobra.Command, o simulateOptions) error {
	if o.days < 1 || o.days > 1_000_000 {
		return usagef(cmd, "--days cannot be %d: allowed is a whole number from 1 to 1000000", o.days)
	}
	var trace io.Writer
	if !a.json && !o.quiet {
		trace = a.lineWriter()
	}
	res := simulate.Day(o.seed, o.days, trace, true)
	seconds := func(s simulate.Spans) map[string]float64 {
		out := map[string]float64{}
		for _, c := range simulate.Causes() {
			if s[c] > 0 {
				out[string(c)] = s[c].Seconds()
			}
		}
		return out
	}
	out := struct {
		Seed     uint64             `json:"seed"`
		Days     int                `json:"days"`
		Steps    int                `json:"steps"`
		Crashes  int                `json:"crashes"`
		Sleeps   int                `json:"sleeps"`
		Working  float64            `json:"working_s"`
		Held     float64            `json:"held_s"`
		Bare     map[string]float64 `json:"working_without_lock_s"`
		Idle     float64            `json:"held_without_work_s"`
		Asleep   map[string]float64 `json:"asleep_under_work_s"`
		Violated []string           `json:"violated"`
	}{o.seed, res.Days, res.Steps, res.Crashes, res.Sleeps, res.Working.Seconds(), res.Held.Seconds(), seconds(res.Bare),
		res.Idled.Seconds(), seconds(res.Asleep), append([]string{}, res.Bad...)}
	err := a.result(out, func() {
		a.say("seed %d: %d days, %d steps, %d crashes, %d sleeps", o.seed, res.Days, res.Steps, res.Crashes, res.Sleeps)
		a.say("agents worked %s; the machine was held for %s of it", res.Working.Round(time.Second), res.Held.Round(time.Second))
		a.say("not held: %s", res.Bare)
		a.say("held without work: %s", res.Idled.Round(time.Second))
		a.say("asleep under work: %s", res.Asleep)
		for _, b := range res.Bad {
			a.say("violated on day %d: %s", res.BadEpisode, b)
		}
		if len(res.Bad) == 0 {
			a.say("all invariants held")
			return
		}
		a.say("")
		a.say("the shortest story of it:")
		for line := range strings.Lines(simulate.DayStory(o.seed, res, true, simulate.Broken{})) {
			a.say("%s", strings.TrimSuffix(line, "\n"))
		}
	})
	var verdict error
	if len(res.Bad) > 0 {
		verdict = errNo{}
	}
	return errors.Join(err, verdict)
}
