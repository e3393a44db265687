package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"charm.land/huh/v2"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	opencode "github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
	"github.com/spf13/cobra"
)

// mcpClient is a client that lidguard's MCP server can be registered in.
type mcpClient interface {
	Provider() event.Provider
	Title() string
	Present() bool // the client has been used here
	Status(install.Server) install.ServerReport
	Register(install.Server, install.Records, install.Finder) (install.Registration, error)
	Unregister(install.Server, install.Records, install.Finder) (install.Registration, error)
}

// mcpClients is the table of the clients, in the order people see them.
func (a *app) mcpClients(home string) []mcpClient { return a.mcpClientsIn(a.clientEnv, home) }

// mcpClientsIn is mcpClients for an environment.
func (a *app) mcpClientsIn(env paths.Env, home string) []mcpClient {
	return []mcpClient{codex.NewMCP(env, home), claude.NewMCP(env, home), copilot.NewMCP(env, home), opencode.NewMCP(env, home)}
}

// mcpNames are the words that name clients.
func (a *app) mcpNames() []string {
	var names []string
	for _, c := range a.mcpClients("") {
		names = append(names, string(c.Provider()))
	}
	return append(names, allProviders)
}

// mcpCommand makes a command that is followed by a client's name.
func (a *app) mcpCommand(name, short, example, long string, run func(*cobra.Command, []mcpClient, []mcpClient, installation) error) *cobra.Command {
	names := a.mcpNames()
	return &cobra.Command{
		Use:       name + " PROVIDER",
		Short:     short,
		Example:   example,
		Long:      long + "\n\nPROVIDER is one of " + strings.Join(names, ", ") + "; all means every client that has been used here.",
		Args:      oneOf(names...),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			word, err := a.mcpWord(cmd, args)
			if err != nil {
				return err
			}
			in, err := a.mcpInstallation()
			if err != nil {
				return err
			}
			var use, skipped []mcpClient
			for _, c := range a.mcpClients(in.home) {
				switch {
				case word == allProviders && !c.Present():
					skipped = append(skipped, c)
				case word == allProviders || word == string(c.Provider()):
					use = append(use, c)
				}
			}
			return run(cmd, use, skipped, in)
		},
	}
}

// mcpWord is the client that the command line names; without one a person is asked.
func (a *app) mcpWord(cmd *cobra.Command, args []string) (word string, err error) {
	if len(args) == 1 {
		return args[0], nil
	}
	names := a.mcpNames()
	if !a.interactive || a.json {
		return "", usagef(cmd, "%s needs a provider (%s)", cmd.Name(), strings.Join(names, ", "))
	}
	choice := huh.NewSelect[string]().Title("which agent?").Options(huh.NewOptions(names...)...).Value(&word)
	return word, a.form(huh.NewGroup(choice))
}

// mcpInstallation is what the commands around MCP need of this machine. Its
// program is not set; servers run lidguard itself, whose path is server.
func (a *app) mcpInstallation() (installation, error) {
	d, err := a.dirs()
	if err != nil {
		return installation{}, err
	}
	in := installation{store: install.Store{Path: d.Installed()}, home: d.Home}
	in.records, err = in.store.Load()
	return in, err
}

// mcpServer is the server to register, for this program.
func (a *app) mcpServer() (install.Server, error) {
	path, err := install.FindMain(a.GOOS, a.Env, a.Executable)
	return install.MainServer(path), err
}

// find looks for a client's program on PATH, as a shell would, but never in a
// relative folder.
func (a *app) find(program string) string {
	endings := []string{""}
	if a.GOOS == "windows" {
		endings = []string{".exe", ".cmd", ".bat"} // npm makes .cmd files
	}
	for _, dir := range filepath.SplitList(a.Env("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, ending := range endings {
			path := filepath.Join(dir, program+ending)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && (a.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return path
			}
		}
	}
	return ""
}

// mcpResult is what happened with one client; `--json` prints a list of them.
type mcpResult struct {
	Provider event.Provider `json:"provider,omitempty"`
	File     string         `json:"file,omitempty"`
	State    install.State  `json:"state,omitempty"` // afterwards
	Changed  []install.Done `json:"changed"`
	Ran      [][]string     `json:"ran,omitempty"`     // the client's own commands
	Diff     []string       `json:"diff,omitempty"`    // --dry-run: what would change
	Would    [][]string     `json:"would,omitempty"`   // --dry-run: what would run
	Why      string         `json:"why,omitempty"`     // why the file was edited and no command was run
	Skipped  string         `json:"skipped,omitempty"` // the client has not been used here
	Error    string         `json:"error,omitempty"`

	err error
}

func (r *mcpResult) fail(err error) {
	if err == nil {
		return
	}
	r.err, r.Error = mcpHint(err), err.Error()
}

// mcpHint adds to an error what the person can do.
func mcpHint(err error) error {
	if errors.Is(err, install.ErrForeignServer) {
		return hint(err, "it was left alone; remove or rename it, then try again")
	}
	return editHint(err)
}

// commandLimit bounds one run of a client's own command. Node programs on a busy
// machine need seconds.
const commandLimit = time.Minute

// mcpChange is a change of registrations.
type mcpChange struct {
	plan func(mcpClient, install.Server, install.Records, install.Finder) (install.Registration, error)
	to   install.State // what comes of it
	verb string        // what was done then
}

// changeMCP carries one change out in each of the clients.
func (a *app) changeMCP(cmd *cobra.Command, use, skipped []mcpClient, in installation, dryRun bool, change mcpChange) error {
	want, err := a.mcpServer()
	if err == nil && change.to == install.Installed {
		err = checkProgram(want.Command)
	}
	if err != nil {
		return err
	}
	var results []mcpResult
	for _, c := range use {
		r := mcpResult{Provider: c.Provider(), Changed: []install.Done{}}
		r.File = c.Status(want).File // the file may be gone afterwards
		reg, err := change.plan(c, want, in.records, a.find)
		r.fail(err)
		if err == nil {
			a.carryOutMCP(cmd.Context(), in, reg, func() bool { return c.Status(want).State == change.to }, dryRun, &r)
		}
		r.State = c.Status(want).State
		results = append(results, r)
	}
	return a.showMCPResults(results, skipped, change.verb)
}

// carryOutMCP runs the client's commands, and edits the file where there are none
// or where they do not lead to the wanted state.
func (a *app) carryOutMCP(ctx context.Context, in installation, reg install.Registration, done func() bool, dryRun bool, r *mcpResult) {
	r.Why = reg.Why
	if dryRun {
		for _, c := range reg.Commands {
			r.Would = append(r.Would, c.Argv)
		}
		if len(reg.Commands) == 0 {
			for _, e := range reg.Plan.Edits {
				r.Diff = append(r.Diff, e.Diff())
			}
		}
		return
	}
	if len(reg.Commands) > 0 {
		run := a.Run
		if run == nil {
			run = install.Exec
		}
		ctx, cancel := context.WithTimeout(ctx, commandLimit)
		defer cancel()
		err := reg.Run(ctx, run)
		if err == nil && !done() {
			last := reg.Commands[len(reg.Commands)-1]
			err = fmt.Errorf("`%s` did not do what it should", strings.Join(last.Argv, " "))
		}
		if err == nil {
			for _, c := range reg.Commands {
				r.Ran = append(r.Ran, c.Argv)
			}
			return
		}
		r.Why = err.Error()
	}
	changed, err := reg.Plan.Apply(ctx, a.Now(), in.store)
	r.Changed = append(r.Changed, changed...)
	r.fail(err)
}

// showMCPResults prints what happened and makes the exit code.
func (a *app) showMCPResults(results []mcpResult, skipped []mcpClient, verb string) error {
	for _, c := range skipped {
		results = append(results, mcpResult{Provider: c.Provider(), Changed: []install.Done{}, Skipped: c.Title() + " has not been used here"})
	}
	if results == nil {
		results = []mcpResult{}
	}
	err := a.result(results, func() {
		for _, r := range results {
			a.showMCPResult(r, verb)
		}
	})
	failed := false
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

func (a *app) showMCPResult(r mcpResult, verb string) {
	name := string(r.Provider)
	if name == "" {
		name = install.ProviderServerName
	}
	if r.Why != "" {
		a.note("%s: the file is edited directly: %s", name, r.Why)
	}
	for _, argv := range r.Would {
		a.say("%s: would run %s", name, strings.Join(argv, " "))
	}
	for _, diff := range r.Diff {
		a.diff(diff)
	}
	for _, argv := range r.Ran {
		a.note("%s: ran %s", name, strings.Join(argv, " "))
	}
	for _, f := range r.Changed {
		if f.Backup != "" {
			a.note("%s: a copy from before is in %s", name, f.Backup)
		}
	}
	switch {
	case r.Skipped != "":
		a.say("%s: skipped, %s", name, r.Skipped)
	case r.err != nil || len(r.Would)+len(r.Diff) > 0:
	case len(r.Ran)+len(r.Changed) == 0:
		a.say("%s: nothing to change", name)
	default:
		a.say("%s: %s in %s", name, verb, r.File)
	}
}

// showServerReports prints states and makes the exit code: 0 only when every
// registration is as it should be.
func (a *app) showServerReports(reports []serverReport) error {
	good := true
	err := a.result(reports, func() {
		for _, r := range reports {
			name := string(r.Provider)
			if name == "" {
				name = r.Name
			}
			if r.Skipped != "" {
				a.say("%s: skipped, %s", name, r.Skipped)
				continue
			}
			a.say("%s: %s (%s)", name, stateWords(r.State), r.File)
			if r.Detail != "" {
				a.say("  %s", r.Detail)
			}
			if r.Remedy != "" {
				a.say("  %s", r.Remedy)
			}
		}
	})
	for _, r := range reports {
		good = good && (r.Skipped != "" || r.State == install.Installed)
	}
	if err == nil && !good {
		return errNo{}
	}
	return err
}

// serverReport is one registration in the status commands' --json.
type serverReport struct {
	install.ServerReport
	Remedy  string `json:"remedy,omitempty"`
	Skipped string `json:"skipped,omitempty"`
}

// withRemedy adds what a person can do; put is the command that installs.
func withRemedy(r install.ServerReport, put string) serverReport {
	out := serverReport{ServerReport: r}
	switch r.State {
	case install.Missing, install.NeedsUpdate:
		out.Remedy = "`" + put + "`"
	case install.Foreign:
		out.Remedy = "remove or rename that entry, then `" + put + "`"
	case install.Off:
		out.Remedy = "switch it on again in " + r.File
	case install.Unreadable:
		out.Remedy = r.Remedy
	}
	return out
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
