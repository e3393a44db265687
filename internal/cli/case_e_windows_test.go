package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// snippetOn is what a snippet command prints on a system, for a program in a folder
// with blanks.
func snippetOn(t *testing.T, goos, program string, args ...string) string {
	t.Helper()
	env := map[string]string{"USERPROFILE": `C:\Users\A B`, "HOME": t.TempDir()}
	var stdout, errs bytes.Buffer
	code := Main(context.Background(), Options{Args: args, Env: func(name string) string { return env[name] }, Stdin: strings.NewReader(""),
		Stdout: &stdout, Stderr: &errs, Now: func() time.Time { return now }, GOOS: goos, WorkDir: t.TempDir(), Executable: program, Version: "v1.2.3"})
	out, stderr := stdout.String(), errs.String()
	if code != ExitDone {
		t.Fatalf("%v: exit %d\n%s", args, code, stderr)
	}
	return out
}

const windowsProgram = `C:\Users\A B\bin\lidguard.exe`

// E9 claude-code#88578, rtk-ai/rtk#3632 and others: a path with backslashes ran
// through Git Bash, which took them out, and the hook was dead for weeks. The command
// line names its shell and quotes the path for it, so none is lost; doctor runs it
// by that shell.
func TestCaseE9_backslashesSurvive(t *testing.T) {
	for _, args := range [][]string{{"claude-hooks", "settings-json"}, {"copilot-hooks", "config-json"}, {"codex-hooks", "hooks-json"}} {
		out := snippetOn(t, "windows", windowsProgram, args...)
		if strings.Contains(out, `A B`) != strings.Contains(out, `'C:\\Users\\A B\\bin\\lidguard.exe'`) || !strings.Contains(out, "lidguard.exe") {
			t.Errorf("%v: the path is not one quoted word:\n%s", args, out)
		}
	}
}

// E10 archgate/cli#442: the hooks' shell was guessed. Each entry names it.
func TestCaseE10_theShellIsNamed(t *testing.T) {
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Shell, Command string }
		}
	}
	out := snippetOn(t, "windows", windowsProgram, "claude-hooks", "settings-json")
	if err := json.Unmarshal([]byte(out), &settings); err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, groups := range settings.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				n++
				if h.Shell != "powershell" {
					t.Errorf("%s is for the shell %q: %s", name, h.Shell, h.Command)
				}
			}
		}
	}
	if n == 0 {
		t.Errorf("no hooks in\n%s", out)
	}
	if out := snippetOn(t, "windows", windowsProgram, "copilot-hooks", "config-json"); !strings.Contains(out, `"powershell"`) {
		t.Errorf("Copilot's entries name no shell:\n%s", out)
	}
}
