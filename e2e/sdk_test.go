//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
)

// foreignHook builds the hook of a stranger: a module of its own that knows the
// checkout by a replace directive alone, without a network and without a module
// cache, since a hook needs nothing but the standard library and us.
func foreignHook(t testing.TB, m machine.Machine) string {
	t.Helper()
	dir := machine.Mkdir(t, m, filepath.Join(m.Folder(), "guard"))
	for _, name := range []string{"go.mod", "main.go", "main_test.go"} {
		text, err := os.ReadFile(filepath.Join("testdata", "sdk", name))
		if err != nil {
			t.Fatal(err)
		}
		machine.Write(t, m, filepath.Join(dir, name), string(text))
	}
	program := filepath.Join(dir, "guard")
	for _, args := range [][]string{
		{"mod", "edit", "-replace", "github.com/lidguard-go/lidguard=" + guard.Root()},
		{"build", "-o", program, "."},
		{"test", "-count=1", "-vet=off", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOMODCACHE="+filepath.Join(dir, "no-modules"), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	return program
}

// One function, written and tested in a module of its own, judges what
// three clients do.
func TestSDK_aStrangersHookWorksOnRealClients(t *testing.T) {
	t.Parallel()
	program := foreignHook(t, machine.Bench(t))
	events := []string{"SessionStart", "PreToolUse", "PostToolUse", "Stop"}

	t.Run("Claude Code", func(t *testing.T) {
		t.Parallel()
		m := machine.Bench(t)
		settings := map[string]any{}
		for _, event := range events {
			settings[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": program, "args": []string{"--provider", "claude"}, "timeout": 20}}}}
		}
		claude.Install(t, m)
		machine.Write(t, m, filepath.Join(m.Home(), ".claude", "settings.json"), compact(t, map[string]any{"hooks": settings}))
		c := claude.Run(t, m, claude.Options{NoRecorder: true, Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
			messages.Bash("git push && touch ${PROJECT}/pushed"),
			messages.Bash("printf 'KEY=tok_%s\\n' 12345678; touch ${PROJECT}/ran"),
			messages.Say("Done."),
			messages.Say("Done, the tests pass."),
		}}})
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		judged(t, c.Project, c.Model.Saw)
		if n := len(c.Model.Requests()); n < 4 {
			t.Errorf("%d requests: the turn was not kept going", n)
		}
	})
	t.Run("Codex", func(t *testing.T) {
		t.Parallel()
		m := machine.Bench(t)
		hooks := map[string]any{}
		for _, event := range events {
			hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": program + " --provider codex", "timeout": 20}}}}
		}
		codex.Install(t, m)
		file := filepath.Join(m.Home(), ".codex", "hooks.json")
		machine.Write(t, m, file, compact(t, map[string]any{"hooks": hooks}))
		codex.Trust(t, m, file)
		c := codex.Exec(t, m, codex.Options{NoRecorder: true, Sandbox: codex.FullAccess, Script: responses.Script{Turns: []responses.Turn{
			responses.Shell("git push && touch ${PROJECT}/pushed"),
			responses.Shell("printf 'KEY=tok_%s\\n' 12345678; touch ${PROJECT}/ran"),
			responses.Say("Done."),
			responses.Say("Done, the tests pass."),
		}}})
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		judged(t, c.Project, c.Model.Saw)
	})
	t.Run("Copilot", func(t *testing.T) {
		t.Parallel()
		m := machine.Bench(t)
		hooks := map[string]any{}
		for _, event := range []string{"sessionStart", "preToolUse", "postToolUse", "agentStop"} {
			hooks[event] = []any{map[string]any{"type": "command", "exec": program, "args": []string{"--provider", "copilot", "--event", event}, "timeoutSec": 20}}
		}
		copilot.Install(t, m)
		machine.Write(t, m, filepath.Join(m.Home(), ".copilot", "hooks", "guard.json"), compact(t, map[string]any{"version": 1, "hooks": hooks}))
		c := copilot.Run(t, m, copilot.Options{NoRecorder: true, Args: []string{"--allow-all-tools"},
			Script: completions.Script{Turns: []completions.Turn{
				completions.Bash("git push && touch ${PROJECT}/pushed"),
				completions.Bash("printf 'KEY=tok_%s\\n' 12345678; touch ${PROJECT}/ran"),
				completions.Say("Done."),
				completions.Say("Done, the tests pass."),
			}}})
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		judged(t, c.Project, c.Model.Saw)
	})
}

// judged looks at what the hook was to do with a turn.
func judged(t *testing.T, project string, saw func(pattern string) bool) {
	t.Helper()
	if exists(project, "pushed") {
		t.Error("what was refused was done")
	}
	if !exists(project, "ran") {
		t.Error("what was not refused was not done")
	}
	for what, pattern := range map[string]string{
		"the context":       "Work on a branch, never on main",
		"the refusal":       `Pushing is for people.*\[no-push\]`,
		"the masked output": `KEY=tok_\*\*\*`,
		"the wish to go on": "Run the tests and say whether the tests pass",
	} {
		if !saw(pattern) {
			t.Errorf("the model did not read %s", what)
		}
	}
	if saw("tok_12345678") {
		t.Error("the model read the token")
	}
}

func compact(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
