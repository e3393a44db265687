//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/build"
	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
)

// Reports: orca#11564 and its like lost hooks of others; context-mode#1058 left
// hooks behind that failed at every prompt; claude-keep-awake broke on a path
// with a space.
func TestInstall_lifeInAnOddPlace(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Put(t, m)
	place := filepath.Join(m.Home(), "it's a \"place\" für $HOME")
	for _, path := range []string{"./cmd/lidguard", "./cmd/lidguard-hook"} {
		program := filepath.Join(place, filepath.Base(path))
		machine.Write(t, m, program, read(t, build.Program(t, "bin", path)))
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(m.Home(), ".claude", "settings.json")
	original := "{\n\t\"model\":   \"opus\",\n\t\"unknown\": [1,  2],\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"echo foreign >> " +
		m.Home() + "/foreign\"}]}]}\n}"
	claude.Install(t, m)
	machine.Write(t, m, settings, original)
	person := func(args ...string) {
		t.Helper()
		stdout, stderr, code := machine.Run(t, m, machine.Spec{Args: args})
		if code != 0 {
			t.Fatalf("%v: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
	// work runs a turn and returns the hooks that did not succeed.
	work := func() (failed []string) {
		t.Helper()
		c := claude.Run(t, m, claude.Options{NoRecorder: true, Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.")}}})
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		hooks := 0
		for _, message := range c.Stream() {
			if message["subtype"] == "hook_response" {
				hooks++
				if message["outcome"] != "success" || message["stdout"] != "" && message["stdout"] != nil {
					failed = append(failed, strings.TrimSpace(message["hook_event"].(string)))
				}
			}
		}
		if hooks == 0 {
			t.Error("no hook ran")
		}
		return failed
	}

	person(filepath.Join(place, "lidguard"), "hook-install", "--provider", "claude")
	if !strings.Contains(read(t, settings), "echo foreign") {
		t.Fatalf("the foreign hook is gone:\n%s", read(t, settings))
	}
	if failed := work(); len(failed) > 0 {
		t.Errorf("hooks failed: %v", failed)
	}
	if text := g.Run("hook-events", "--provider", "claude"); !strings.Contains(text, "UserPromptSubmit") {
		t.Errorf("lidguard heard of no prompt:\n%s", text)
	}

	if err := os.RemoveAll(place); err != nil { // without hook-remove, as people do
		t.Fatal(err)
	}
	if failed := work(); len(failed) > 0 {
		t.Errorf("hooks failed without the program: %v", failed)
	}
	if got := read(t, filepath.Join(m.Home(), "foreign")); got != "foreign\nforeign\n" {
		t.Errorf("the foreign hook ran otherwise: %q", got)
	}

	g.Run("hook-remove", "--provider", "claude") // from another place
	if got := read(t, settings); got != original {
		t.Errorf("after removal the file is\n%q\nit was\n%q", got, original)
	}
}
