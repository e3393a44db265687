package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

type uninstallOptions struct {
	yes    bool
	dryRun bool
}

// uninstallReport is what `uninstall --json` prints.
type uninstallReport struct {
	Agents  []hookResult `json:"agents"`
	MCP     []mcpResult  `json:"mcp"`
	Login   *loginResult `json:"login,omitempty"` // on a Mac
	Stopped bool         `json:"runtime_stopped"`
	Kept    []string     `json:"kept"` // folders of lidguard's own that stay
	// Rule is a file of root's that stays, if there is one, and RuleRemove the
	// command that deletes it.
	Rule       string `json:"rule,omitempty"`
	RuleRemove string `json:"rule_remove,omitempty"`
}

func (a *app) uninstallCmd() *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:     "uninstall [--yes]",
		Short:   "take out everything that setup put in",
		Example: `lidguard uninstall`,
		Long: "Every agent's config gets back the bytes from before, or loses lidguard's hooks and MCP\n" +
			"server where it was edited since, as do the files of other MCP clients and config folders\n" +
			"that CLAUDE_CONFIG_DIR or its like named when lidguard wrote there; a file that cannot be\n" +
			"read is named, left alone, and does not keep the rest (exit code 1 then). Then the runtime puts power settings back and leaves. Your\n" +
			"settings and logs stay, and are named at the end, as is a rule of root's, which\n" +
			"linux-permission or macos-permission deletes.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstall(cmd, o) },
	}
	addSwitch(cmd.Flags(), &o.yes, "yes", "do not ask before writing")
	addSwitch(cmd.Flags(), &o.dryRun, "dry-run", "show the changes and write nothing")
	return cmd
}

func (a *app) uninstall(cmd *cobra.Command, o uninstallOptions) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	in := installation{store: install.Store{Path: d.Installed()}, home: d.Home}
	if in.records, err = in.store.Load(); err != nil {
		return err
	}
	jobs, edits := a.removals(in, o.dryRun)
	login := a.planLogin(d, in.records, true)
	edits += a.showLogin(login, o.dryRun)
	if edits > 0 && !o.dryRun {
		if err := a.consent(cmd, o.yes, "write "+count(edits, "file")+"?"); err != nil {
			return err
		}
	}
	failed := false
	report := uninstallReport{Agents: []hookResult{}, MCP: []mcpResult{}, Kept: []string{}, Login: login}
	report.Rule, report.RuleRemove = a.ruleLeft()
	for i := range jobs {
		j := &jobs[i]
		if !o.dryRun {
			// What was written last goes first, so that the bytes from before
			// both come back. A plan with an error holds what can be done.
			changed, err := j.server.Apply(cmd.Context(), a.Now(), in.store)
			j.mcp.Changed = append(j.mcp.Changed, changed...)
			j.mcp.fail(err)
			j.r.fail(a.carryOut(cmd.Context(), in, j.plan, false, &j.r))
		}
		failed = failed || j.r.err != nil || j.mcp.err != nil
		if j.r.Provider != "" {
			report.Agents = append(report.Agents, j.r)
		}
		report.MCP = append(report.MCP, j.mcp)
	}
	if !o.dryRun {
		// The runtime first: while it has settings changed, the login agent is of use.
		_, err := a.call(cmd.Context(), &ipc.Request{Op: ipc.OpStop})
		report.Stopped = err == nil
		if err != nil && !errors.Is(err, ipc.ErrNotRunning) {
			failed = true
			a.failure(hint(fmt.Errorf("asking the runtime to leave: %w", err), "`lidguard status` shows it; it leaves by itself when no session is left"))
		}
		a.applyLogin(cmd, in.store, login)
		a.tidy(cmd.Context(), in)
		if err := in.store.Tidy(); err != nil {
			failed = true
			a.failure(editHint(err))
		}
	}
	for _, dir := range []string{d.Run, d.Config, d.State} { // that of the record last
		if exists(dir) && (dir != d.Run || !strings.HasPrefix(dir, d.State)) {
			report.Kept = append(report.Kept, dir)
		}
	}
	left, _ := in.store.Load() // one that cannot be read is no reason to keep it
	err = a.result(report, func() { a.showUninstall(report, edits, len(left) > 0 && !o.dryRun) })
	for _, j := range jobs {
		for _, err := range []error{j.mcp.err, j.r.err} {
			if err != nil {
				a.failure(err)
			}
		}
	}
	failed = a.loginFailed(login) || failed
	if err == nil && failed {
		return errNo{}
	}
	return err
}

// tidyLimit bounds the wait for another installer that works on a file.
const tidyLimit = 2 * time.Second

// tidy removes what an installer left that was killed before it had anything to record.
func (a *app) tidy(ctx context.Context, in installation) {
	ctx, cancel := context.WithTimeout(ctx, tidyLimit)
	defer cancel()
	var files []string
	for i, g := range a.agents(in.home) {
		for _, file := range clientRoots[i].files {
			files = append(files, filepath.Join(g.Status(in.program).Root, filepath.FromSlash(file)))
		}
	}
	for _, c := range a.mcpClients(in.home) {
		files = append(files, c.Status(install.MainServer("")).File)
	}
	for _, file := range files {
		_ = confedit.Tidy(ctx, file) // litter harms nobody
	}
}

// removal is what is to be taken out of one agent, or of the file of an MCP client
// that is none: then r names no provider.
type removal struct {
	plan, server install.Plan // hooks and MCP server
	r            hookResult
	mcp          mcpResult
}

// removals plans the way back for every agent, wherever an installer of ours wrote,
// shows it, and counts the edits.
func (a *app) removals(in installation, dryRun bool) (jobs []removal, edits int) {
	show := func(title string, plan install.Plan) (diffs []string) {
		edits += len(plan.Edits)
		for _, e := range plan.Edits {
			if dryRun {
				diffs = append(diffs, e.Diff())
			}
			if !a.json {
				a.heading(title)
				a.diff(e.Diff())
			}
		}
		return diffs
	}
	want, mainErr := a.mcpServer()
	take := func(c mcpClient, g agent, title string, planned func(*install.Plan)) {
		j := removal{r: hookResult{Provider: g.Provider(), Changed: []install.Done{}}}
		j.mcp = mcpResult{Provider: g.Provider(), Changed: []install.Done{}}
		err := mainErr
		if err == nil {
			j.mcp.File = c.Status(want).File
			var reg install.Registration
			reg, err = c.Unregister(want, in.records, nowhere)
			j.server = reg.Plan
		}
		j.mcp.fail(err)
		planned(&j.server)
		j.mcp.Diff = show(title+", MCP", j.server)
		j.plan, err = g.Remove(in.records)
		j.r.fail(err)
		planned(&j.plan)
		j.r.Diff = show(title, j.plan)
		jobs = append(jobs, j)
	}
	agents, clients := a.agents(in.home), a.mcpClients(in.home)
	takeAgents := func() {
		for i, g := range agents {
			take(clients[i], g, g.Title(), func(*install.Plan) {})
		}
	}
	if mainErr != nil {
		takeAgents()
		return jobs, edits
	}
	files, roots := a.elsewhere(in, agents, clients, want)
	takeFile := func(path string) {
		file, server := install.ServerFile{Path: path}, install.ProviderServer(want.Command, "")
		j := removal{mcp: mcpResult{File: path, Changed: []install.Done{}}}
		var err error
		j.server, err = file.Unregister(server, in.records)
		j.mcp.fail(err)
		j.mcp.Diff = show(install.ProviderServerName, j.server)
		jobs = append(jobs, j)
	}
	// In an agent's file two servers may stand, and what was written last goes first.
	agentsLast := func(path string) bool {
		f, err := confedit.Open(path)
		u := in.records[install.ServerRecord(path)]
		return err != nil || u == nil || u.Post != f.Digest()
	}
	for _, path := range files {
		if agentsLast(path) {
			takeFile(path)
		}
	}
	takeAgents()
	for _, path := range files {
		if !agentsLast(path) {
			takeFile(path)
		}
	}
	for _, r := range roots {
		env := func(name string) string {
			if name == clientRoots[r.client].env {
				return r.root
			}
			return a.clientEnv(name)
		}
		g, c := a.agentsIn(env, in.home)[r.client], a.mcpClientsIn(env, in.home)[r.client]
		take(c, g, g.Title()+" in "+r.root, func(p *install.Plan) {
			// A client looks into more than one folder, and the first plan has the rest.
			p.Edits = slices.DeleteFunc(p.Edits, func(e install.Edit) bool { return !below(e.Path, r.root) })
		})
	}
	return jobs, edits
}

// otherRoot is a config folder that a client had, by its place in clientRoots.
type otherRoot struct {
	client int
	root   string
}

// elsewhere finds, in the records, what an installer wrote where the present
// environment names no agent: files of MCP clients, be the entry still there or not,
// and config folders that a variable named at the time.
func (a *app) elsewhere(in installation, agents []agent, clients []mcpClient, want install.Server) (files []string, roots []otherRoot) {
	known := make([][2]string, len(clientRoots)) // config folder and file of MCP servers
	for i := range clientRoots {
		known[i] = [2]string{agents[i].Status(in.program).Root, clients[i].Status(want).File}
	}
	for _, name := range sortedKeys(in.records) {
		path, server := install.RecordOf(name)
		ofAgent := false
		for i, c := range clientRoots {
			ofAgent = ofAgent || path == known[i][1]
			for _, file := range c.files {
				root, ok := strings.CutSuffix(path, string(filepath.Separator)+filepath.FromSlash(file))
				ofAgent = ofAgent || ok
				at := otherRoot{i, root}
				if ok && root != known[i][0] && path != known[i][1] && !slices.Contains(roots, at) {
					roots = append(roots, at)
				}
			}
		}
		if server && !slices.Contains(files, path) {
			switch (install.ServerFile{Path: path}).Status(install.ProviderServer(want.Command, "")).State {
			case install.Installed, install.NeedsUpdate:
				files = append(files, path)
			default: // nothing, or nothing that can be read
				if !ofAgent || name == install.ProviderRecord(path) {
					files = append(files, path)
				}
			}
		}
	}
	return files, roots
}

// below reports whether a path is in a folder or deeper.
func below(path, dir string) bool { return strings.HasPrefix(path, dir+string(filepath.Separator)) }

// nowhere finds no client's program, so that a registration is an edit of the
// client's file: that can be shown before it is made, takes no seconds, and is
// undone byte for byte.
func nowhere(string) string { return "" }

// showUninstall prints what happened; unfinished: the state folder has the record of
// what could not be taken out.
func (a *app) showUninstall(r uninstallReport, edits int, unfinished bool) {
	if edits == 0 {
		a.say("no agent's config has anything of lidguard's")
	}
	for _, g := range r.Agents {
		for _, f := range g.Changed {
			a.say("%s: removed from %s", g.Provider, f.Path)
		}
	}
	for _, m := range r.MCP {
		for _, f := range m.Changed {
			a.say("%s: MCP server removed from %s", cmp.Or(string(m.Provider), install.ProviderServerName), f.Path)
		}
	}
	a.tellLogin(r.Login, "removed from")
	if r.Stopped {
		a.say("the runtime put everything back and left")
	}
	for i, dir := range r.Kept {
		if unfinished && i == len(r.Kept)-1 {
			a.note("%s stays, with the record of what is still to be taken out", dir)
			continue
		}
		a.note("%s stays; remove it if you want no trace", dir)
	}
	if r.Rule != "" {
		a.note("%s stays, with the rights it grants; `%s` deletes it, as long as this program is there", r.Rule, r.RuleRemove)
	}
}

// ruleLeft names the file of root's that a permission command wrote and the
// command that deletes it; nothing where there is none. A file that only root may
// see is not guessed at.
func (a *app) ruleLeft() (file, remove string) {
	switch {
	case a.Power != nil:
		if s := a.Power.Rule.State(); s.State == daemon.RuleInstalled || s.State == daemon.RuleOutdated {
			return s.File, "lidguard linux-permission remove"
		}
	case a.MacPower != nil:
		// Whoever is not root sees the file, not what is in it.
		if s := a.MacPower.Rule.State(); s.State != daemon.SudoMissing && s.State != daemon.SudoForeign {
			return s.File, "lidguard macos-permission remove"
		}
	}
	return "", ""
}
