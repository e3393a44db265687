package cli

import (
	"context"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

// doctorReport is what `doctor --json` prints.
type doctorReport struct {
	Version  string        `json:"version"`
	Checked  []string      `json:"checked"` // what was looked at, in words
	Findings []ipc.Finding `json:"findings"`
	Agents   []agentCheck  `json:"agents"`
}

// agentCheck is one agent with the proofs of its hooks.
type agentCheck struct {
	install.Report
	Proofs []proof `json:"proofs"`
}

func (a *app) doctorCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "check everything, and say how to put it right",
		Example: `lidguard doctor`,
		Long: "Checks settings, runtime, programs, and for each agent used here whether its hooks are\n" +
			"in place and will run; each installed hook is run once with a made-up payload. Exit\n" +
			"code 0 when nothing was found, else 1.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

func (a *app) doctor(ctx context.Context) error {
	r := doctorReport{Version: a.Version, Findings: []ipc.Finding{}, Agents: []agentCheck{}}
	facts, err := a.runtimeFacts(ctx)
	if err != nil {
		return err
	}
	r.Checked = append(r.Checked, "settings", "runtime", "programs")
	if facts.Status != nil {
		r.Findings = append(r.Findings, facts.Status.Findings...)
	}
	r.Findings = append(r.Findings, doctor.Runtime(facts)...)
	found := install.OnPath(a.GOOS, a.Env)
	r.Findings = append(r.Findings, doctor.Path(doctor.PathFacts{Executable: a.Executable, OnPath: found, Same: same(found, a.Executable)})...)
	if a.Power != nil || a.MacPower != nil {
		r.Checked = append(r.Checked, "power rights")
		r.Findings = append(r.Findings, a.powerFindings(ctx)...)
	}

	in, err := a.installation()
	if err != nil {
		return err
	}
	for _, g := range a.agents(in.home) {
		check := agentCheck{Report: g.Status(in.program), Proofs: []proof{}}
		if check.Present {
			r.Checked = append(r.Checked, g.Title())
			r.Findings = append(r.Findings, doctor.Agent(g.Title(), check.Report)...)
			if check.Proofs, err = a.prove(ctx, check.Report); err != nil {
				return err
			}
			check.Proofs = append([]proof{}, check.Proofs...)
			r.Findings = append(r.Findings, canaryFindings(g.Title(), check.Proofs)...)
			r.Agents = append(r.Agents, check)
		}
	}
	if len(r.Agents) == 0 {
		r.Findings = append(r.Findings, doctor.Nobody())
	}
	err = a.result(r, func() {
		for _, check := range r.Agents {
			if n := len(check.Proofs); n > 0 {
				a.say("%s: %s, %s run", check.Provider, stateWords(check.State), count(n, "hook"))
			}
		}
		a.showFindings(r.Findings)
		if len(r.Findings) == 0 {
			a.say("nothing found")
		}
	})
	if err == nil && len(r.Findings) > 0 {
		return errNo{}
	}
	return err
}
