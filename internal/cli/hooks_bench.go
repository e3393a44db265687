package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
	"github.com/spf13/cobra"
)

type hooksBenchOptions struct {
	provider, event string
	runs            int
	budget          time.Duration
}

func (a *app) hooksBenchCmd() *cobra.Command {
	var o hooksBenchOptions
	cmd := &cobra.Command{
		Use:   "bench [--provider P] [--event E]",
		Short: "how long your chain takes at each event, and how much it tells the model",
		Example: `lidguard hooks bench --provider claude
lidguard hooks bench --event PreToolUse --runs 200`,
		Long: "Every event's hook is started as the agent starts it, with your rulebook and a payload that\n" +
			"the agent once sent, and asked in this process as well; your runtime hears nothing of it.\n" +
			"Times are milliseconds. Exit code 1 where 95 of 100 hooks need longer than the budget, or the\n" +
			"model is told more than 10000 characters.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.hooksBench(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider", "", "only this agent's hooks (`P`): "+strings.Join(censusNames(), ", "))
	f.StringVar(&o.event, "event", "", "only this event (`E`), as the agent or lidguard calls it")
	f.IntVar(&o.runs, "runs", 30, "how often each hook is started (`N`)")
	f.DurationVar(&o.budget, "budget", replay.Budget, "how long a hook may take (`DURATION`)")
	completeWith(cmd, "provider", censusNames())
	completeWith(cmd, "event", eventNames(census.All()))
	return cmd
}

func (a *app) hooksBench(cmd *cobra.Command, o hooksBenchOptions) error {
	if o.runs < 1 {
		return usagef(cmd, "--runs cannot be %d", o.runs)
	}
	b := replay.BenchOptions{Event: o.event, Runs: o.runs, Budget: o.budget}
	if o.provider != "" {
		if _, ok := census.Of(event.Provider(o.provider)); !ok {
			return hint(&usageError{fmt.Errorf("no agent %q", o.provider)}, didYouMean(o.provider, censusNames(), "--provider ", "the agents are "+strings.Join(censusNames(), ", ")))
		}
		b.Providers = []event.Provider{event.Provider(o.provider)}
	}
	if o.event != "" && len(eventsNamed(census.All(), o.event)) == 0 {
		return hint(&usageError{fmt.Errorf("no event %q", o.event)}, didYouMean(o.event, eventNames(census.All()), "--event ", "`lidguard hooks events` lists them"))
	}
	var err error
	if b.Program, err = a.hookProgram(); err != nil {
		return err
	}
	if b.Stage, err = a.ownStage(); err != nil {
		return err
	}
	defer b.Stage.Close()
	rows, err := replay.Bench(cmd.Context(), b)
	if err != nil {
		return err
	}
	over := false
	table := [][]string{{"AGENT", "EVENT", "p50", "p95", "p99", "inside p50", "p95", "p99", "context", ""}}
	for _, r := range rows {
		verdict := ""
		if len(r.Over) > 0 {
			over, verdict = true, "over: "+strings.Join(r.Over, ", ")
		}
		ms := func(v float64) string { return fmt.Sprintf("%.1f", v) }
		fine := func(v float64) string { return fmt.Sprintf("%.3f", v) }
		table = append(table, []string{string(r.Provider), r.Event, ms(r.Spawned.P50), ms(r.Spawned.P95), ms(r.Spawned.P99),
			fine(r.Inside.P50), fine(r.Inside.P95), fine(r.Inside.P99), fmt.Sprint(r.Context), verdict})
	}
	err = a.result(rows, func() {
		a.table("", table)
		a.say("milliseconds of %d runs; the budget is %s and %d characters", o.runs, o.budget, replay.MaxContext)
	})
	if err == nil && over {
		err = errNo{}
	}
	return err
}
