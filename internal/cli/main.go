// Package cli is lidguard for people and scripts: one file per command, each
// with its options, its constructor and its run. Arguments, environment, clock,
// streams and the way to the runtime come in through Options; out go text or
// JSON on the streams and an exit code. It decides nothing about sessions or
// power, never touches the system directly (that is the runtime's and the
// daemon package's work), and only print.go writes to the streams.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/spf13/cobra"
)

// The exit codes, a contract with scripts. Hook entries have codes of their own,
// which their clients define.
const (
	ExitDone   = 0
	ExitFailed = 1 // what was asked for could not be done, or the answer is no
	ExitUsage  = 2 // wrong usage
)

// Options is everything a command line may touch. Args to Now must be set; the
// rest has a default that is right for the real program.
type Options struct {
	Args   []string // without the program's name
	Env    func(name string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Now    func() time.Time

	// GOOS and WorkDir default to the running system's and the current folder.
	GOOS    string
	WorkDir string
	// Executable is the absolute path of this program's file, from which the
	// commands written into agents' config files are built. Default: os.Executable.
	Executable string
	// Version defaults to the build's own, see ipc.Version.
	Version string

	// Dial connects to the runtime's socket.
	Dial func(ctx context.Context, socket string) (net.Conn, error)
	// Listen plays the runtime at a socket, to prove that hooks report there.
	// Default: a plain Unix socket; Windows has none.
	Listen func(socket string) (net.Listener, error)
	// Launch starts a runtime where none answers and returns when it listens.
	Launch func(ctx context.Context, dirs paths.Dirs) error
	// NotByHand says why no person can have given this command, or "". Default: what
	// the processes above this one tell.
	NotByHand func() string
	// Probe reads the machine directly, for the time no runtime runs.
	Probe func(ctx context.Context) (Machine, error)
	// Run runs a client's own program (codex mcp add …). Default: install.Exec.
	Run install.Runner
	// Self is this process, with its start time as event.Process has it: its end
	// ends the sessions that its MCP server began. Default: not known.
	Self func() (pid int, start uint64, ok bool)
	// Play plays a system sound or .wav file to its end, at volume percent (0: as
	// it is). nil: this build plays nothing.
	Play func(ctx context.Context, sound string, volume int) error
	// Power is the way to a Linux machine's power rights. nil: this system has
	// no such rights to look at.
	Power *Power
	// MacPower is the way to a Mac's. nil: this system is none.
	MacPower *MacPower
	// Restore puts back what a dead runtime left changed of the system, and nothing
	// while a runtime answers. Every command begins with it. nil: this build changes
	// nothing lasting.
	Restore func(ctx context.Context, dirs paths.Dirs) error
}

// Main runs one command line and returns the exit code of the process.
func Main(ctx context.Context, o Options) int { return run(ctx, o, func(*app) {}) }

// run is Main with a look at the app before it runs.
func run(ctx context.Context, o Options, prepare func(*app)) int {
	a := newApp(o)
	prepare(a)
	if d, err := a.dirs(); err == nil && a.Restore != nil {
		// Whether it worked the file tells, which is gone then.
		_ = a.Restore(ctx, d)
	}
	root := a.root()
	root.SetArgs(joinSwitches(o.Args, switches(root)))
	err := root.ExecuteContext(ctx)
	var no errNo
	if failed := a.out.failed; failed != nil && (err == nil || errors.As(err, &no) || errors.Is(err, failed)) {
		err = hint(fmt.Errorf("printing the result: %w", failed), "what came out is not all of it; only the printing failed")
	}
	if err == nil {
		return ExitDone
	}
	if errors.As(err, &no) {
		return ExitFailed // the answer was printed, and it was no
	}
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	a.failure(err)
	var usage *usageError
	if errors.As(err, &usage) {
		return ExitUsage
	}
	return ExitFailed
}

// errNo makes a command exit with ExitFailed after it printed its answer.
type errNo struct{}

func (errNo) Error() string { return "no" }

// exitCode makes a command exit with a code of somebody else's contract: a hook's,
// which its client defines.
type exitCode int

func (exitCode) Error() string { return "a hook's answer" }

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// app is what all commands of one command line share.
type app struct {
	Options
	*printer
}

func newApp(o Options) *app {
	o = withDefaults(o)
	return &app{Options: o, printer: newPrinter(o)}
}

// dirs finds lidguard's own places.
func (a *app) dirs() (paths.Dirs, error) {
	d, err := paths.Resolve(a.GOOS, a.Env)
	if err != nil {
		return d, hint(err, "set HOME to your home folder, or LIDGUARD_HOME to a folder of lidguard's own")
	}
	return d, nil
}

// The groups of `lidguard help`, in order.
var groups = []*cobra.Group{
	{ID: "start", Title: "start here"},
	{ID: "sessions", Title: "sessions"},
	{ID: "settings", Title: "settings"},
	{ID: "diagnosis", Title: "diagnosis"},
	{ID: "hooks", Title: "provider hooks"},
	{ID: "mcp", Title: "MCP"},
	{ID: "building", Title: "hook building"},
	{ID: "more", Title: "more"},
}

// inOrderOfUse keeps commands in the order they are added in. The switch is one for
// the whole process, and tests run several commands at once.
var inOrderOfUse = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lidguard",
		Short: "keep this machine awake exactly while coding agents work",
		Example: `lidguard setup                 find the agents here and connect them
lidguard status                who keeps the machine awake, and why
lidguard can-close             may I close the lid now?`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.Version,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return noEmptyOptions(cmd)
		},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetIn(a.Stdin)
	root.SetOut(a.out)
	root.SetErr(a.Stderr)
	root.SetVersionTemplate("lidguard {{.Version}}{{println}}")
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.help(cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { a.help(cmd); return nil })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// Options behind a mistyped command are not what is wrong.
		if cmd == root && len(a.Args) > 0 && !strings.HasPrefix(a.Args[0], "-") {
			return unknownCommand(cmd, a.Args[0])
		}
		return flagError(cmd, err)
	})
	addSwitch(root.PersistentFlags(), &a.json, "json", "print JSON")
	root.AddGroup(groups...)
	root.CompletionOptions.DisableDefaultCmd = true // completionCmd is ours
	help := a.helpCmd()
	help.GroupID, help.DisableFlagsInUseLine = "more", true
	root.SetHelpCommand(help)
	inOrderOfUse()
	add := func(group string, cmds ...*cobra.Command) {
		for _, c := range cmds {
			c.GroupID = group
			c.DisableFlagsInUseLine = true
			root.AddCommand(c)
		}
	}
	add("start", a.setupCmd(), a.doctorCmd(), a.uninstallCmd(), a.demoCmd())
	add("sessions", a.startCmd(), a.stopCmd(), a.removeSessionCmd(), a.statusCmd(), a.liveStatusCmd(), a.cleanupOrphansCmd(),
		a.canCloseCmd(), a.whyCmd(), a.awayReportCmd())
	add("settings", a.settingsCmd(),
		a.removeWebhookCmd("remove-pre-suspend-webhook", "pre-suspend-webhook-url"),
		a.removeWebhookCmd("remove-post-session-end-webhook", "post-session-end-webhook-url"))
	add("diagnosis", a.lidStateCmd(), a.monitorCountCmd(), a.temperatureCmd(), a.suspendHistoryCmd(),
		a.previewSystemSoundCmd(), a.previewCurrentSoundCmd(), a.simulateCmd(),
		a.linuxPermissionCmd(), a.macOSPermissionCmd())
	add("hooks", a.hookInstallCmd(), a.hookStatusCmd(), a.hookRemoveCmd(), a.hookEventsCmd(),
		a.claudeHooksCmd(), a.codexHooksCmd(), a.copilotHooksCmd(), a.openCodeHooksCmd())
	add("mcp", a.mcpStatusCmd(), a.mcpInstallCmd(), a.mcpRemoveCmd(), a.mcpServerCmd(),
		a.providerMCPStatusCmd(), a.providerMCPInstallCmd(), a.providerMCPRemoveCmd(), a.providerMCPServerCmd())
	add("building", a.hooksCmd())
	add("more", a.completionCmd(), a.versionCmd())
	completeRest(root)
	return root
}
