package cli

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

// fullDisk takes the first bytes and no more.
type fullDisk struct{ room int }

func (f *fullDisk) Write(text []byte) (int, error) {
	if n := f.room; n < len(text) {
		f.room = 0
		return n, syscall.ENOSPC
	}
	f.room -= len(text)
	return len(text), nil
}

// `lidguard completion bash > FILE` on a full disk leaves half a script: whoever
// looks at the exit code alone has to learn of it, whatever the command.
func TestMain_outputThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	w.answers = func(*ipc.Request) *ipc.Reply { return &ipc.Reply{Status: busy()} }
	calls := [][]string{
		{}, {"--version"}, {"--json"}, {"help", "claude-hook"}, {"version"}, {"status"}, {"status", "--json"}, {"can-close"}, {"settings"},
		{"settings", "--json"}, {"settings", "--session-timeout-minutes", "20"}, {"current-lid-state", "--json"}, {"current-monitor-count"},
		{"claude-hooks", "settings-json"}, {"codex-hooks", "config-toml"}, {"codex-hooks", "hooks-json"}, {"copilot-hooks", "config-json"},
		{"opencode-hooks", "plugin-js"}, {"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}, {"completion", "powershell"},
		{"hook-status", "--provider", "claude"}, {"simulate", "--steps", "10"}, {"simulate", "--steps", "10", "--json"}, {"doctor"}, {"hooks"}, {"hooks", "list"},
	}
	var everyHelp func(*cobra.Command, []string)
	everyHelp = func(c *cobra.Command, path []string) {
		for _, child := range c.Commands() {
			words := append(append([]string{}, path...), child.Name())
			calls = append(calls, append(append([]string{}, words...), "--help"))
			everyHelp(child, words)
		}
	}
	everyHelp(newApp(Options{Env: func(string) string { return "" }}).root(), nil)
	for _, args := range calls {
		for _, room := range []int{0, 1} {
			var errs bytes.Buffer
			code := run(context.Background(), Options{Args: args, Env: func(name string) string { return w.env[name] }, Stdin: strings.NewReader(""),
				Stdout: &fullDisk{room}, Stderr: &errs, Now: func() time.Time { return now }, GOOS: "linux", WorkDir: w.home,
				Executable: w.home + "/bin/lidguard", Version: "v1.2.3", Dial: w.dial,
				Probe: func(context.Context) (Machine, error) { return w.machine, nil }}, func(*app) {})
			if code != ExitFailed || !strings.Contains(errs.String(), "error: printing the result: no space left on device\nhint: ") {
				t.Errorf("%q with room for %d bytes: exit %d\n%s", args, room, code, &errs)
			}
		}
	}
}

// An option that is given and empty is a script whose variable is unset: no command
// goes on as if the option were not there.
func TestOptions_refuseTheEmptyWord(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"why", "--at", ""}, {"why", "--at="}, {"why", "--replay", ""}, {"setup", "--provider", "", "--yes"}, {"hook-install", "--provider", ""},
		{"start", "--session", ""}, {"stop", "--session=", "--provider", "claude"}, {"remove-session", "--session", ""},
		{"provider-mcp-status", "--config", "mcp.json", "--provider-name", ""}, {"hooks", "explain", "--cwd", "", "ls"},
		{"hooks", "enable", "gate", "--root", ""}, {"hooks", "events", "--provider", ""},
	} {
		if code, out, errs := w.run(args...); code != ExitUsage || !strings.Contains(errs, " needs a value\n") {
			t.Errorf("%q: exit %d\n%s%s", args, code, out, errs)
		}
	}
}

// What a person typed is repeated in the error as it was typed, and not a screen
// full of it.
func TestErrors_repeatWhatWasTyped(t *testing.T) {
	w := newWorld(t)
	if _, _, errs := w.run("away-report", "-1"); !strings.Contains(errs, `no option "-1"`) {
		t.Errorf("-1 is called something else: %s", errs)
	}
	long := strings.Repeat("ä", 50_000)
	for _, args := range [][]string{{long}, {"status", long}, {"status", "--" + long}, {"start", "--session", long}, {"start", "--provider", long},
		{"settings", "--power-request-reason", long}, {"why", "--at", long}, {"why", "--replay", long}, {"hooks", "enable", long}} {
		code, _, errs := w.run(args...)
		if code == ExitDone || len(errs) > 5_000 || !strings.HasPrefix(errs, "error: ") {
			t.Errorf("%q …: exit %d, %d bytes: %.300s", args[0][:4], code, len(errs), errs)
		}
	}
}
