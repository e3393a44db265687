// Command lidguard keeps a laptop awake exactly while coding agents work. A hook
// entry as first word goes straight to the hot path, `runtime` is the per-user
// process behind it, and everything else is for people.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/lidguard-go/lidguard/internal/cli"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/audio"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/platform/memory"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
	"github.com/lidguard-go/lidguard/internal/resident"
	"github.com/lidguard-go/lidguard/internal/settings"
)

func main() {
	program, _ := os.Executable() // empty: the runtime is looked for on PATH
	env := entry.Env{OS: runtime.GOOS, Getenv: os.Getenv, Environ: os.Environ(), Executable: program, PID: os.Getpid(), Now: time.Now}
	args := os.Args[1:]
	switch {
	case len(args) > 0 && entry.Is(args[0]):
		entry.OneShot()
		os.Exit(entry.Run(args, env, os.Stdin, os.Stdout, os.Stderr))
	case len(args) > 0 && args[0] == "runtime":
		os.Exit(runRuntime(args[1:]))
	case len(args) > 0 && args[0] == daemon.KeeperWord:
		os.Exit(runKeeper(args[1:]))
	}
	if len(args) > 0 && args[0] == "demo" {
		// A closed pipe (`demo | head`) would end it in the middle, and leave its
		// runtime and its folder behind. Taken notice of, it is an error of writing.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		ending = append(ending, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(cli.Main(ctx, cli.Options{
		Args: args, Env: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Executable: program,
		Dial: endpoint.Dial,
		Launch: func(ctx context.Context, dirs paths.Dirs) error {
			return entry.Launch(ctx, env, dirs)
		},
		Probe: probe,
		Self:  self,
		Power: power(), MacPower: macPower(),
		Play:    player().Play,
		Restore: func(ctx context.Context, dirs paths.Dirs) error { return daemon.RestoreLasting(ctx, os.Getenv, dirs) },
	}))
}

// runRuntime is `lidguard runtime [--replace]`, which hooks and commands start in
// the background. It prints only what went wrong; its log is in the state folder.
func runRuntime(args []string) int {
	replace := len(args) == 1 && args[0] == "--replace"
	if len(args) > 0 && !replace {
		fmt.Fprintf(os.Stderr, "error: runtime: unexpected %q\nhint: hooks and `lidguard start` start it; nobody needs to\n", args[len(args)-1])
		return cli.ExitUsage
	}
	// At rest this process should be as small as it can be: it collects early,
	// since it allocates little, and never lets garbage double a small heap.
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(64 << 20)
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	err := serve(ctx, replace)
	switch {
	case errors.Is(err, daemon.ErrRunning):
		return cli.ExitDone
	case err != nil:
		fmt.Fprintln(os.Stderr, "lidguard:", err)
		return cli.ExitFailed
	}
	return cli.ExitDone
}

func serve(ctx context.Context, replace bool) error {
	dirs, err := paths.Resolve(runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	machine, closeMachine, err := daemon.OpenMachine(os.Getenv)
	if err != nil {
		return err
	}
	defer closeMachine()
	root := os.Getenv("LIDGUARD_ROOT")
	return daemon.Run(ctx, daemon.Options{
		Dirs: dirs, Version: ipc.Version(), Machine: machine, BootID: daemon.BootID(root), Table: proc.Table{Root: root},
		Settings:  func() (settings.Settings, error) { return settings.Load(dirs.Settings()) },
		Telemetry: entry.TelemetryPlan(dirs, time.Now),
		Detector:  daemon.Detector, Locate: daemon.Locate(os.Getenv), Replace: replace, Settle: settle,
		Resume: func() { debug.SetGCPercent(garbage) },
		Play:   player().Play, Environ: os.Environ(),
		Helper: func(id, cwd string) (resident.Spec, error) {
			p, err := entry.ResidentHelper(entry.Env{OS: runtime.GOOS, Getenv: os.Getenv}, dirs, id, cwd)
			return resident.Spec{Name: id, Path: p.Path, Args: p.Args, Raw: p.Raw, Dir: p.Dir}, err
		},
	})
}

// garbage is how much of it, in percent of what is in use, the runtime waits for.
const garbage = 25

// settle gives memory back. Go collects every two minutes whether or not there is
// anything to collect, which would be all that wakes a runtime at rest; so then it is
// told not to, until it resumes; the memory limit holds all the while.
func settle(rest bool) {
	if rest {
		debug.SetGCPercent(-1)
	}
	memory.Release()
}

// runKeeper is `lidguard keeper`, a process beside the runtime that puts system
// values back when the runtime dies. No signal ends it: it ends by itself when
// that is done, and a log-out that ends the runtime as well must not come first.
func runKeeper(args []string) int {
	debug.SetGCPercent(25)
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE)
	defer time.AfterFunc(5*time.Second, func() { settle(true) }).Stop() // it waits from then on
	dirs, err := paths.Resolve(runtime.GOOS, os.Getenv)
	if err == nil {
		err = daemon.Keep(context.Background(), args, os.Getenv, dirs, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lidguard:", err)
		return cli.ExitFailed
	}
	return cli.ExitDone
}

// player plays sounds by the programs on PATH.
func player() audio.Player {
	return audio.Player{Path: os.Getenv("PATH"), Run: audio.Exec(os.Environ()), DataDirs: filepath.SplitList(os.Getenv("XDG_DATA_DIRS"))}
}

// self is this process with its start time, for the runtime to watch.
func self() (pid int, start uint64, ok bool) {
	id, err := proc.Table{Root: os.Getenv("LIDGUARD_ROOT")}.Identify(os.Getpid())
	return id.PID, id.Start, err == nil
}

// probe is one direct look at the machine for the command line.
func probe(ctx context.Context) (cli.Machine, error) {
	machine, closeMachine, err := daemon.OpenMachine(os.Getenv)
	if err != nil {
		return cli.Machine{}, err
	}
	defer closeMachine()
	p := daemon.Look(ctx, machine)
	m := cli.Machine{Lid: p.Lid.String(), Displays: p.Displays}
	if p.HeatErr != nil {
		m.HeatError = p.HeatErr.Error()
	} else {
		m.Celsius = &cli.Celsius{Low: p.Celsius["low"], Average: p.Celsius["average"], High: p.Celsius["high"]}
	}
	return m, nil
}
