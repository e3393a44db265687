package cli_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/cli"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
	"github.com/lidguard-go/lidguard/internal/resident"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite golden files and scripts")

// The scripts run the two programs as agents and people do: as processes of their
// own, with everything that cmd/ wires into them, on the fake laptop.
func TestMain(m *testing.M) { testscript.Main(plainly{m}, programs) }

var programs = map[string]func(){"lidguard": lidguard, "lidguard-hook": hook, "fake-agent": fakeAgent}

// plainly runs the tests with programs that have no race detector in them. The
// scripts start more than a thousand processes, which took five minutes with it;
// the packages behind the programs have tests of their own under it.
type plainly struct{ m *testing.M }

func (p plainly) Run() int {
	if raceEnabled {
		if err := replacePrograms(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return p.m.Run()
}

// replacePrograms builds this package's tests once more, without the detector, and
// puts the result where testscript has put this binary under the programs' names.
func replacePrograms() error {
	bin, _, _ := strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator))
	ending := ""
	if runtime.GOOS == "windows" {
		ending = ".exe"
	}
	plain := filepath.Join(filepath.Dir(bin), "plain"+ending)
	build := exec.Command("go", "test", "-c", "-race=false", "-o", plain, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the programs are built
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the programs without the race detector: %w\n%s", err, out)
	}
	for name := range programs {
		path := filepath.Join(bin, name+ending)
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("replacing %s: %w", name, err)
		}
		if err := os.Link(plain, path); err != nil {
			return fmt.Errorf("replacing %s: %w", name, err)
		}
	}
	return nil
}

// ownHome refuses to run where home is not the folder of a script.
func ownHome() {
	home := os.Getenv("HOME")
	// A stage is what `hooks audit` makes for the hooks that it tries.
	if !strings.Contains(home, string(filepath.Separator)+"script-") && !strings.Contains(home, string(filepath.Separator)+"lidguard-stage-") {
		fmt.Fprintln(os.Stderr, "refusing to run a test in the home", home)
		os.Exit(99)
	}
}

func entryEnv() entry.Env {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return entry.Env{OS: runtime.GOOS, Getenv: os.Getenv, Environ: os.Environ(),
		Executable: program, PID: os.Getpid(), Now: time.Now}
}

func hook() {
	ownHome()
	os.Exit(entry.Run(os.Args[1:], entryEnv(), os.Stdin, os.Stdout, os.Stderr))
}

// lidguard does what cmd/lidguard does.
func lidguard() {
	ownHome()
	args := os.Args[1:]
	if !strings.HasPrefix(os.Getenv("LIDGUARD_MACHINE"), "fake:") && (len(args) == 0 || !entry.Is(args[0])) {
		fmt.Fprintln(os.Stderr, "refusing to run a test on the real machine")
		os.Exit(99)
	}
	env := entryEnv()
	switch {
	case len(args) > 0 && entry.Is(args[0]):
		os.Exit(entry.Run(args, env, os.Stdin, os.Stdout, os.Stderr))
	case len(args) > 0 && args[0] == "runtime":
		if err := serve(); err != nil && !errors.Is(err, daemon.ErrRunning) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(cli.Main(context.Background(), cli.Options{
		Args: args, Env: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Executable: env.Executable,
		Version: os.Getenv("TEST_VERSION"), Dial: endpoint.Dial,
		Listen: func(socket string) (net.Listener, error) { return endpoint.Listen(socket) },
		Launch: func(ctx context.Context, dirs paths.Dirs) error { return entry.Launch(ctx, env, dirs) },
		Self: func() (pid int, start uint64, ok bool) {
			id, err := proc.Table{}.Identify(os.Getpid())
			return id.PID, id.Start, err == nil
		},
		Probe: func(ctx context.Context) (cli.Machine, error) {
			m, closeIt, err := daemon.OpenMachine(os.Getenv)
			if err != nil {
				return cli.Machine{}, err
			}
			defer closeIt()
			p := daemon.Look(ctx, m)
			out := cli.Machine{Lid: p.Lid.String(), Displays: p.Displays}
			if p.HeatErr != nil {
				out.HeatError = p.HeatErr.Error()
				return out, nil
			}
			out.Celsius = &cli.Celsius{Low: p.Celsius["low"], Average: p.Celsius["average"], High: p.Celsius["high"]}
			return out, nil
		},
	}))
}

func serve() error {
	dirs, err := paths.Resolve(runtime.GOOS, os.Getenv)
	if err != nil {
		return err
	}
	machine, closeIt, err := daemon.OpenMachine(os.Getenv)
	if err != nil {
		return err
	}
	defer closeIt()
	return daemon.Run(context.Background(), daemon.Options{Dirs: dirs, Version: ipc.Version(), Machine: machine, BootID: daemon.BootID(""),
		Settings: func() (settings.Settings, error) { return settings.Load(dirs.Settings()) }, Detector: daemon.Detector,
		Environ: os.Environ(), Helper: func(id, cwd string) (resident.Spec, error) {
			p, err := entry.ResidentHelper(entryEnv(), dirs, id, cwd)
			return resident.Spec{Name: id, Path: p.Path, Args: p.Args, Raw: p.Raw, Dir: p.Dir}, err
		}})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup:               setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"sh":    shell,
		},
	})
}

func setupScript(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	bin, _, _ := strings.Cut(e.Getenv("PATH"), string(os.PathListSeparator))
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "TZ": "UTC", "BIN": bin, "TEST_VERSION": "v1.0.0",
		"LIDGUARD_MACHINE": "fake:" + filepath.Join(e.WorkDir, "laptop")} {
		e.Setenv(name, value)
	}
	e.Defer(func() { stopRuntime(home) })
	return nil
}

// stopRuntime ends the runtime that a script left, if any.
func stopRuntime(home string) {
	dirs, err := paths.Resolve(runtime.GOOS, func(name string) string { return map[string]string{"HOME": home, "USERPROFILE": home}[name] })
	if err != nil {
		return
	}
	client := ipc.Client{Version: ipc.Version(), DialTimeout: time.Minute, CallTimeout: time.Minute, Dial: func(ctx context.Context) (net.Conn, error) { return endpoint.Dial(ctx, dirs.Socket) }}
	_, _ = client.Call(context.Background(), &ipc.Request{Op: ipc.OpStop}) // none is fine
}

// exits runs a command and holds its exit code: exits 2 lidguard …
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s exits with %d, want %d", args[1], got, want)
	}
}

// shell runs a command line by sh, as agents do: sh 'text' < nothing.
func shell(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("/bin/sh", "-c", strings.Join(args, " "))
	if neg == (err == nil) {
		ts.Fatalf("sh -c %q: %v", strings.Join(args, " "), err)
	}
}
