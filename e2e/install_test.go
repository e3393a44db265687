//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/build"
	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/client/opencode"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
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

// claude-code#93742 and its like: the client, or another tool, writes the settings
// from an old copy, and hooks are gone without a word. A hook that is left tells the
// person and the model when the next session begins; where none is left, the MCP
// server tells the model.
func TestInstall_droppedHooksAreTold(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	g := lidguard.Install(t, m, "claude", "codex", "copilot", "opencode")
	g.Run("mcp-install", "all")
	within := func(folders ...string) string { return filepath.Join(append([]string{m.Home()}, folders...)...) }
	settings, hooks, trust := within(".claude", "settings.json"), within(".codex", "hooks.json"), within(".codex", "config.toml")
	copilotHooks := within(".copilot", "hooks", "00-lidguard-copilot-cli.json")
	// drop writes a file of hooks anew without an event, as from an old copy.
	drop := func(t testing.TB, file, event string) {
		t.Helper()
		var all map[string]any
		if err := json.Unmarshal([]byte(read(t, file)), &all); err != nil {
			t.Fatal(err)
		}
		delete(all["hooks"].(map[string]any), event)
		text, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		machine.Write(t, m, file, string(text))
	}
	// Each client works until its model is told a text, and returns the request that
	// told it. An MCP server may come later than the first request, and Copilot begins
	// with what the server said in an earlier session.
	work := map[string]func(testing.TB, string) json.RawMessage{
		"claude": func(t testing.TB, text string) json.RawMessage {
			c := claude.Run(t, m, claude.Options{NoRecorder: true, Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
				messages.Say("Done.").Once(text, messages.Bash("true"))}}})
			c.Wait()
			return c.Model.WaitRequests(t, 1).Body
		},
		"codex": func(t testing.TB, text string) json.RawMessage {
			c := codex.Exec(t, m, codex.Options{NoRecorder: true, Script: responses.Script{Turns: []responses.Turn{
				responses.Say("Done.").Once(text, responses.Shell("true"))}}})
			c.Wait()
			return c.Model.WaitRequests(t, 1).Body
		},
		"copilot": func(t testing.TB, text string) json.RawMessage {
			c := copilot.Run(t, m, copilot.Options{NoRecorder: true, Args: []string{"--allow-all-tools"}, Script: completions.Script{Turns: []completions.Turn{
				completions.Say("Done.").Once(text, completions.Bash("true"))}}})
			c.Wait()
			return c.Model.WaitRequests(t, 1).Body
		},
		"opencode": func(t testing.TB, text string) json.RawMessage {
			c := opencode.Run(t, m, opencode.Options{NoRecorder: true, Script: completions.Script{Turns: []completions.Turn{
				completions.Say("Done.").Once(text, completions.Bash("true"))}}})
			c.Wait()
			return c.Model.WaitRequests(t, 1).Body
		},
	}
	server := map[string]string{"claude": "mcp__lidguard", "codex": "mcp__lidguard", "copilot": "lidguard-get_settings_status", "opencode": "lidguard_get_settings_status"}
	for name, run := range work {
		model := string(run(t, server[name]))
		if !strings.Contains(model, server[name]) {
			t.Errorf("%s: the model is not offered the server's tools:\n%s", name, model)
		}
		if strings.Contains(model, "has lost") || strings.Contains(model, "nobody trusted") {
			t.Errorf("%s: with all hooks in place the model is told:\n%s", name, model)
		}
	}
	for _, c := range []struct {
		client, name string
		drop         func(testing.TB)
		told         string
	}{
		{"claude", "one is gone", func(t testing.TB) { drop(t, settings, "PreToolUse") }, settings + " has lost 1 hook of lidguard (PreToolUse)"},
		{"claude", "the person reads it", func(t testing.TB) {
			c := claude.Open(t, m, claude.Options{NoRecorder: true, Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.")}}})
			c.WaitScreen("has lost 1 hook")
			c.Exit()
		}, " has lost 1 hook of lidguard (PreToolUse)"},
		{"claude", "all are gone", func(t testing.TB) { machine.Write(t, m, settings, `{"model": "opus"}`) }, settings + " has lost all hooks of lidguard"},
		{"codex", "one is not trusted", func(t testing.TB) {
			machine.Write(t, m, trust, strings.ReplaceAll(read(t, trust), ":pre_tool_use:", ":pre_tool_use_of_old:"))
		},
			"Codex does not run 1 hook of lidguard (PreToolUse), which nobody trusted there"},
		{"codex", "all are gone", func(t testing.TB) { machine.Write(t, m, hooks, `{"hooks": {}}`) }, " has lost all hooks of lidguard"},
		{"copilot", "one is gone", func(t testing.TB) { drop(t, copilotHooks, "preToolUse") }, " has lost 1 hook of lidguard (preToolUse)"},
		{"copilot", "all are gone", func(t testing.TB) { machine.Write(t, m, copilotHooks, `{"version": 1, "hooks": {}}`) }, " has lost all hooks of lidguard"},
		{"opencode", "the plugin is gone", func(t testing.TB) {
			if err := os.RemoveAll(within(".config", "opencode", "plugins")); err != nil {
				t.Fatal(err)
			}
		}, " has lost all hooks of lidguard"},
	} {
		t.Run(c.client+", "+c.name, func(t *testing.T) {
			c.drop(t)
			if model := string(work[c.client](t, c.told)); !strings.Contains(model, c.told) {
				t.Errorf("the model is not told %q:\n%s", c.told, model)
			}
		})
	}
}
