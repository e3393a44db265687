package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	// Limits are what no hook can do in the agents that have lidguard's.
	Limits []doctor.Limit `json:"limits"`
}

// agentCheck is one agent with the proofs of its hooks.
type agentCheck struct {
	install.Report
	Proofs []proof `json:"proofs"`
}

func (a *app) doctorCmd() *cobra.Command {
	limits := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "check everything, and say how to put it right",
		Example: `lidguard doctor
lidguard doctor --limits          and what no hook can do in the agents here`,
		Long: "Checks settings, runtime, programs, and for each agent used here whether its hooks are\n" +
			"in place and will run, and whether the MCP servers stand as they were registered; each installed hook is run once with a made-up payload. Exit\n" +
			"code 0 when nothing was found, else 1.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), limits) },
	}
	addSwitch(cmd.Flags(), &limits, "limits", "list what no hook can do or see in the agents here")
	return cmd
}

func (a *app) doctor(ctx context.Context, limits bool) error {
	r := doctorReport{Version: a.Version, Findings: []ipc.Finding{}, Agents: []agentCheck{}, Limits: []doctor.Limit{}}
	facts, err := a.runtimeFacts(ctx)
	if err != nil {
		return err
	}
	r.Checked = append(r.Checked, "settings", "runtime", "programs")
	if facts.Status != nil {
		r.Findings = append(r.Findings, facts.Status.Findings...)
	}
	r.Findings = append(r.Findings, doctor.Runtime(facts)...)
	books, err := a.bookFacts()
	if err != nil {
		return err
	}
	r.Checked = append(r.Checked, "rulebooks")
	r.Findings = append(r.Findings, doctor.Books(books)...)
	found := install.OnPath(a.GOOS, a.Env)
	r.Findings = append(r.Findings, doctor.Path(doctor.PathFacts{Executable: a.Executable, OnPath: found, Same: same(found, a.Executable)})...)
	if a.Power != nil || a.MacPower != nil {
		r.Checked = append(r.Checked, "power rights")
		r.Findings = append(r.Findings, a.powerFindings(ctx)...)
	}

	in, err := a.installation()
	var unread *unreadRecord
	if errors.As(err, &unread) { // the hooks can be looked at all the same
		r.Findings = append(r.Findings, doctor.Record(in.store.Path, unread.err))
	} else if err != nil {
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
			r.Findings = append(r.Findings, canaryFindings(g, check.Proofs)...)
			r.Agents = append(r.Agents, check)
			if len(check.Proofs) > 0 {
				r.Limits = append(r.Limits, doctor.Limits(g.Provider())...)
			}
		}
	}
	r.Findings = append(r.Findings, a.serverFindings(in, r.Agents)...)
	if len(r.Agents) == 0 {
		r.Findings = append(r.Findings, doctor.Nobody())
	}
	err = a.result(r, func() {
		for _, check := range r.Agents {
			if len(check.Proofs) > 0 {
				a.say("%s: %s, %s", check.Provider, stateWords(check.State), provenWords(check.Proofs))
			}
		}
		a.showFindings(r.Findings)
		if len(r.Findings) == 0 {
			a.say("nothing found")
		}
		a.showLimits(r.Limits, limits)
	})
	if err == nil && len(r.Findings) > 0 {
		return errNo{}
	}
	return err
}

// serverFindings tells how the MCP servers stand that lidguard registered in these
// agents and in the files of other MCP clients.
func (a *app) serverFindings(in installation, agents []agentCheck) (out []ipc.Finding) {
	want, err := a.mcpServer()
	if err != nil {
		return nil // nothing to compare with; the hooks say it
	}
	for _, c := range a.mcpClients(in.home) {
		s := c.Status(want)
		i := slices.IndexFunc(agents, func(g agentCheck) bool { return g.Provider == c.Provider() })
		told := func(p install.Problem) bool { return strings.Contains(p.Text, s.File) } // its hooks are in that file, too
		if i < 0 || s.State == install.Unreadable && slices.ContainsFunc(agents[i].Problems, told) {
			continue
		}
		out = append(out, doctor.Server(c.Title(), s, in.records[install.ServerRecord(s.File)] != nil, "lidguard mcp-install "+string(c.Provider()))...)
	}
	for _, name := range sortedKeys(in.records) {
		if path, server := install.RecordOf(name); server {
			s := install.ServerFile{Path: path}.Status(install.ProviderServer(want.Command, ""))
			if s.State == install.NeedsUpdate {
				out = append(out, doctor.Server("MCP client", s, true, fmt.Sprintf("lidguard provider-mcp-install --config %s --provider-name %s",
					install.ShellWord(path), install.ShellWord(install.ProviderOf(s.Command))))...)
			}
		}
	}
	return out
}

// showLimits lists what no hook can do, or only says that there is such a thing:
// it is nothing to put right.
func (a *app) showLimits(limits []doctor.Limit, list bool) {
	if len(limits) == 0 {
		return
	}
	if !list {
		a.note("%s of the agents themselves, which no hook lifts: `lidguard doctor --limits`", count(len(limits), "known limit"))
		return
	}
	a.heading("what no hook can do")
	for _, l := range limits {
		a.say("%s: %s", l.Provider, l.Text)
		a.say("  (%s)", l.Source)
	}
}
