package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/huh/v2"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	opencode "github.com/lidguard-go/lidguard/internal/provider/opencode/setup"
	"github.com/spf13/cobra"
)

// agent is a client that lidguard can be installed in.
type agent interface {
	Provider() event.Provider
	Title() string
	Present() bool // the client has been used here
	Status(install.Program) install.Report
	Install(install.Program, install.Records) (install.Plan, error)
	Remove(install.Records) (install.Plan, error)
}

// agents is the table of the clients' setups, in the order people see them. Without a
// home they are for their names alone.
func (a *app) agents(home string) []agent { return a.agentsIn(a.clientEnv, home) }

// agentsIn is agents for an environment.
func (a *app) agentsIn(env paths.Env, home string) []agent {
	claudeCode := claude.New(a.GOOS, env, home)
	if home != "" && a.hasChecks() {
		claudeCode = claudeCode.Wake()
	}
	return []agent{
		codex.New(a.GOOS, env, home),
		claudeCode,
		copilot.New(a.GOOS, env, home, a.WorkDir),
		opencode.New(a.GOOS, env, home, a.WorkDir),
	}
}

type clientRoot struct {
	env   string
	files []string
}

// clientRoots name, for each client in the order of agents, the variable that moves
// its config folder, and the files in that folder that lidguard may write.
var clientRoots = []clientRoot{
	{"CODEX_HOME", []string{"hooks.json", "config.toml"}},
	{"CLAUDE_CONFIG_DIR", []string{"settings.json", ".claude.json"}},
	{"COPILOT_HOME", []string{"hooks/" + copilot.FileName, "mcp-config.json"}},
	{"OPENCODE_CONFIG_DIR", []string{"plugins/" + opencode.FileName, "opencode.jsonc", "opencode.json", "config.json"}},
}

// clientEnv is the environment for the setups of clients. A folder that is told
// relative to the present one gets its whole name, by which a later command finds it.
func (a *app) clientEnv(name string) string {
	value := a.Env(name)
	if value != "" && slices.ContainsFunc(clientRoots, func(r clientRoot) bool { return r.env == name }) {
		return a.absolute(value)
	}
	return value
}

// allProviders is what --provider takes beside the names.
const allProviders = "all"

// addProvider defines --provider for the hook commands; what is in value is the
// default.
func (a *app) addProvider(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "provider", *value, "the agent (`P`): "+strings.Join(a.hookNames(), ", "))
	completeWith(cmd, "provider", a.hookNames())
}

// hookNames are the words that --provider takes.
func (a *app) hookNames() []string {
	var names []string
	for _, g := range a.agents("") {
		names = append(names, string(g.Provider()))
	}
	return append(names, allProviders)
}

// hookProviders turns --provider into names. Without it a person is asked.
func (a *app) hookProviders(cmd *cobra.Command, value string) ([]string, error) {
	names := a.hookNames()
	if value == "" {
		if !a.interactive || a.json {
			return nil, usagef(cmd, "%s needs --provider (%s)", cmd.Name(), strings.Join(names, ", "))
		}
		choice := huh.NewSelect[string]().Title("which agent?").Options(huh.NewOptions(names...)...).Value(&value)
		if err := a.form(huh.NewGroup(choice)); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(names, value) {
		return nil, hint(&usageError{fmt.Errorf("no agent %q", value)},
			didYouMean(value, names, "--provider ", "the agents are "+strings.Join(names, ", ")))
	}
	if value == allProviders {
		return names[:len(names)-1], nil
	}
	return []string{value}, nil
}

// chosen returns the agents that --provider names. skipped are those of `all`
// that have never been used here.
func (a *app) chosen(cmd *cobra.Command, value, home string) (use, skipped []agent, err error) {
	names, err := a.hookProviders(cmd, value)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range a.agents(home) {
		switch {
		case !slices.Contains(names, string(g.Provider())):
		case len(names) > 1 && !g.Present():
			skipped = append(skipped, g)
		default:
			use = append(use, g)
		}
	}
	return use, skipped, nil
}

// installation is what the commands around hooks need besides the agents.
type installation struct {
	program install.Program
	store   install.Store
	records install.Records
	home    string
}

func (a *app) installation() (installation, error) {
	d, err := a.dirs()
	if err != nil {
		return installation{}, err
	}
	program, err := install.FindProgram(a.GOOS, a.Env, a.Executable)
	if err != nil {
		return installation{}, err
	}
	in := installation{program: program, store: install.Store{Path: d.Installed()}, home: d.Home}
	if in.records, err = in.store.Load(); err != nil {
		return in, &unreadRecord{err}
	}
	return in, nil
}

// installing is installation for commands that write the program's path into
// agents' files.
func (a *app) installing() (installation, error) {
	in, err := a.installation()
	if err == nil {
		err = checkProgram(in.program.Path)
	}
	return in, err
}

// checkProgram refuses a program that no agent's file can name, before anything is
// written.
func checkProgram(path string) error {
	if err := install.CheckText(path); err != nil {
		return hint(fmt.Errorf("nothing was written: %w", err),
			"move lidguard to a folder whose path is UTF-8, or put a link to it into such a folder that is on PATH, and run that")
	}
	return nil
}

// unreadRecord: everything else of the installation is known.
type unreadRecord struct{ err error }

func (e *unreadRecord) Error() string { return e.err.Error() }
func (e *unreadRecord) Unwrap() error { return e.err }

// editHint adds to an error of an edit what the person can do.
func editHint(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, install.ErrReadOnly) {
		return hint(err, "it was left alone; make it writable (chmod u+w), or copy what `lidguard claude-hooks settings-json` or `lidguard codex-hooks hooks-json` prints")
	}
	var syntax *confedit.SyntaxError
	if errors.As(err, &syntax) {
		return hint(err, "the file was left alone; correct that place by hand and try again")
	}
	if remedy := install.Remedy(err); remedy != "" {
		return hint(err, remedy)
	}
	return err
}
