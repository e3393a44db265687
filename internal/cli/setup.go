package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	"github.com/spf13/cobra"
)

type setupOptions struct {
	provider string
	yes      bool
	dryRun   bool
	trust    bool
}

// setupReport is what `setup --json` prints.
type setupReport struct {
	Agents   []setupResult `json:"agents"`
	Login    *loginResult  `json:"login,omitempty"` // on a Mac
	Findings []ipc.Finding `json:"findings"`
}

// setupResult is what happened with one agent.
type setupResult struct {
	hookResult
	MCP    mcpResult `json:"mcp"`
	Proofs []proof   `json:"proofs"`

	agent  agent
	client mcpClient
	plan   install.Plan
	server install.Plan // of the MCP registration
}

func (a *app) setupCmd() *cobra.Command {
	o := setupOptions{provider: allProviders}
	cmd := &cobra.Command{
		Use:   "setup [--provider P] [--yes]",
		Short: "find the agents on this machine and connect them",
		Example: `lidguard setup
lidguard setup --dry-run
lidguard setup --yes --trust-codex-hooks`,
		Long: "Shows every change as a diff and asks once before it writes; puts lidguard's hooks and\n" +
			"its MCP server in; runs each hook's command line with a made-up payload to prove that\n" +
			"it works; and tells whether the system lets lidguard hold off sleep here. On a Mac it\n" +
			"also writes the login agent that puts settings back after a power failure.\n" +
			"`lidguard uninstall` takes everything out again, byte for byte.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.setup(cmd, o) },
	}
	a.addProvider(cmd, &o.provider)
	addSwitch(cmd.Flags(), &o.yes, "yes", "do not ask before writing")
	addSwitch(cmd.Flags(), &o.dryRun, "dry-run", "show the changes and write nothing")
	addSwitch(cmd.Flags(), &o.trust, "trust-codex-hooks", "record in Codex's config that you trust these hooks")
	return cmd
}

func (a *app) setup(cmd *cobra.Command, o setupOptions) error {
	in, err := a.installing()
	if err != nil {
		return err
	}
	use, skipped, err := a.chosen(cmd, o.provider, in.home)
	if err != nil {
		return err
	}
	if len(use) == 0 {
		return hint(errors.New("no coding agent has been used here"), "start one once, or name it: `lidguard setup --provider claude`")
	}
	report := setupReport{Agents: []setupResult{}, Findings: []ipc.Finding{}}
	edits := 0
	for _, g := range use {
		r := setupResult{hookResult: hookResult{Provider: g.Provider(), Changed: []install.Done{}}, Proofs: []proof{}, agent: g}
		r.plan, err = g.Install(in.program, in.records)
		r.fail(err)
		a.planServer(in, &r)
		edits += len(r.plan.Edits) + len(r.server.Edits)
		report.Agents = append(report.Agents, r)
	}
	d, err := a.dirs()
	if err != nil {
		return err
	}
	report.Login = a.planLogin(d, in.records, false)
	a.showPlans(report.Agents)
	edits += a.showLogin(report.Login, o.dryRun)
	if o.dryRun {
		for i := range report.Agents {
			r := &report.Agents[i]
			_ = a.carryOut(cmd.Context(), in, r.plan, true, &r.hookResult) // a dry run cannot fail
			r.State = r.agent.Status(in.program).State
			for _, e := range r.server.Edits {
				r.MCP.Diff = append(r.MCP.Diff, e.Diff())
			}
		}
		return a.endSetup(cmd.Context(), report, skipped, in)
	}
	if edits > 0 {
		if err := a.consent(cmd, o.yes, "write "+count(edits, "file")+"?"); err != nil {
			return err
		}
	}
	for i := range report.Agents {
		a.setUpOne(cmd.Context(), in, o, &report.Agents[i])
		if cmd.Context().Err() != nil {
			return hint(errStopped, "what was written so far stays; `lidguard uninstall` takes it out, `lidguard setup` goes on")
		}
	}
	a.applyLogin(cmd, in.store, report.Login)
	if err := a.freshSecretRules(); err != nil {
		a.failure(err) // the agents are set up all the same
	}
	return a.endSetup(cmd.Context(), report, skipped, in)
}

// planServer plans the registration of the MCP server. It goes into the client's
// file directly: see nowhere.
func (a *app) planServer(in installation, r *setupResult) {
	r.MCP = mcpResult{Provider: r.Provider, Changed: []install.Done{}}
	for _, c := range a.mcpClients(in.home) {
		if c.Provider() == r.Provider {
			r.client = c
		}
	}
	want, err := a.mcpServer()
	if err == nil {
		err = checkProgram(want.Command)
	}
	if err == nil {
		var reg install.Registration
		reg, err = r.client.Register(want, in.records, nowhere)
		r.server = reg.Plan
	}
	r.MCP.fail(err)
}

// showPlans shows a person what would be written.
func (a *app) showPlans(results []setupResult) {
	if a.json {
		return
	}
	for _, r := range results {
		if r.err == nil && r.MCP.err == nil && len(r.plan.Edits)+len(r.server.Edits) == 0 {
			a.say("%s: nothing to change", r.agent.Title())
		}
		for _, e := range r.plan.Edits {
			a.heading(r.agent.Title())
			a.diff(e.Diff())
		}
		for _, e := range r.server.Edits {
			a.heading(r.agent.Title() + ", MCP")
			a.diff(e.Diff())
		}
	}
}

// errDeclined is what a person said.
var errDeclined = errors.New("nothing was written")

// consent asks once before files of others are changed.
func (a *app) consent(cmd *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	if !a.interactive || a.json {
		return hint(&usageError{fmt.Errorf("%s asks before it writes, and there is nobody to ask", cmd.Name())},
			"say --yes, or look first with --dry-run")
	}
	agreed, err := a.ask(cmd.Context(), question)
	if err == nil && !agreed {
		return errDeclined
	}
	return err
}

// setUpOne carries one agent's plans out, sees to its trust and proves the hooks.
func (a *app) setUpOne(ctx context.Context, in installation, o setupOptions, r *setupResult) {
	defer a.register(ctx, in, r) // last: uninstall goes the other way round
	if r.err != nil {
		return
	}
	err := a.carryOut(ctx, in, r.plan, false, &r.hookResult)
	if c, ok := r.agent.(codex.Setup); ok && err == nil && r.agent.Status(in.program).State == install.NotTrusted {
		err = a.codexConsent(ctx, in, o, c, &r.hookResult)
	}
	r.fail(err)
	status := r.agent.Status(in.program)
	r.State = status.State
	if r.err == nil {
		r.next = nextStep(status)
		r.Proofs, err = a.prove(ctx, status)
		r.fail(err)
	}
}

// register carries out the plan of the MCP registration.
func (a *app) register(ctx context.Context, in installation, r *setupResult) {
	changed, err := r.server.Apply(ctx, a.Now(), in.store)
	r.MCP.Changed = append(r.MCP.Changed, changed...)
	r.MCP.fail(err)
	if want, err := a.mcpServer(); err == nil {
		status := r.client.Status(want)
		r.MCP.File, r.MCP.State = status.File, status.State
	}
}

// codexConsent explains Codex's trust, and records it where the person agrees.
func (a *app) codexConsent(ctx context.Context, in installation, o setupOptions, c codex.Setup, r *hookResult) error {
	agreed := o.trust
	if !agreed && a.interactive && !a.json && !o.yes {
		a.note("Codex runs a hook only after you trusted it, and skips it without a word before (in `codex exec` for ever).")
		a.note("You can do that in Codex itself, or have your trust in these commands recorded in %s now.", c.Config)
		var err error
		if agreed, err = a.ask(ctx, "do you trust lidguard's hooks in Codex?"); err != nil {
			return err
		}
	}
	if !agreed {
		return nil
	}
	return a.trustCodex(ctx, in, c, r)
}

// endSetup prints what came of it.
func (a *app) endSetup(ctx context.Context, report setupReport, skipped []agent, in installation) error {
	good := true
	for i := range report.Agents {
		r := &report.Agents[i]
		good = good && r.err == nil && r.MCP.err == nil && r.State != install.Unreadable
		for _, p := range r.Proofs {
			good = good && p.OK
		}
		report.Findings = append(report.Findings, doctor.Agent(r.agent.Title(), r.agent.Status(in.program))...)
		report.Findings = append(report.Findings, canaryFindings(r.agent, r.Proofs)...)
	}
	report.Findings = append(report.Findings, a.powerFindings(ctx)...)
	for _, g := range skipped {
		report.Agents = append(report.Agents, setupResult{Proofs: []proof{}, agent: g, MCP: mcpResult{Provider: g.Provider(), Changed: []install.Done{}},
			hookResult: hookResult{Provider: g.Provider(), Changed: []install.Done{}, Skipped: g.Title() + " has not been used here"}})
	}
	err := a.result(report, func() {
		for _, r := range report.Agents {
			a.showSetupResult(r)
		}
		a.tellLogin(report.Login, "written to")
		a.showFindings(report.Findings)
	})
	for _, r := range report.Agents {
		for _, err := range []error{r.err, r.MCP.err} {
			if err != nil {
				a.failure(err)
			}
		}
	}
	good = !a.loginFailed(report.Login) && good
	if err == nil && !good {
		return errNo{}
	}
	return err
}

func (a *app) showSetupResult(r setupResult) {
	if r.Skipped != "" {
		a.say("%s: skipped, %s", r.Provider, r.Skipped)
		return
	}
	for _, f := range r.Changed {
		a.say("%s: installed in %s", r.Provider, f.Path)
		if f.Backup != "" {
			a.note("%s: a copy from before is in %s", r.Provider, f.Backup)
		}
	}
	for _, f := range r.MCP.Changed {
		a.say("%s: MCP server registered in %s", r.Provider, f.Path)
		if f.Backup != "" {
			a.note("%s: a copy from before is in %s", r.Provider, f.Backup)
		}
	}
	if len(r.Proofs) > 0 {
		a.say("%s: %s", r.Provider, provenWords(r.Proofs))
	}
}

// canaryFindings tells of hooks that did not do what they should, one finding for
// all that have the same fault.
func canaryFindings(g agent, proofs []proof) []ipc.Finding {
	var whys []string
	events := map[string][]string{}
	for _, p := range proofs {
		if !p.OK {
			if events[p.Why] == nil {
				whys = append(whys, p.Why)
			}
			events[p.Why] = append(events[p.Why], p.Event)
		}
	}
	var out []ipc.Finding
	for _, why := range whys {
		out = append(out, doctor.Canary(g.Title(), g.Provider(), events[why], why))
	}
	return out
}
