//go:build linux

package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
)

// projectBook comes with a project that somebody cloned: a rule, and a program that
// leaves a mark when it runs.
const projectBook = `
[[rule]]
id = "no-deploy"
command = "touch *deployed*"
decision = "deny"
reason = "Deploys are a person's."
deny = ["touch ./deployed"]
allow = ["touch ./proof"]

[[handler]]
name = "marks"
tools = ["Bash"]
command = ["./tools/marks"]
`

// TestRulebook_aProjectOnlyTightensUntilItIsTrusted: the rule of a project that
// nobody trusts holds at once, and its program does not run before a person says so.
func TestRulebook_aProjectOnlyTightensUntilItIsTrusted(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	guard := lidguard.Install(t, m, "claude")
	project := machine.Project(t, m, "project", true)
	book := filepath.Join(project, ".lidguard", "rules.toml")
	machine.Write(t, m, book, projectBook)
	machine.Write(t, m, filepath.Join(project, "tools", "marks"), "#!/bin/sh\ntouch marked\necho '{\"systemMessage\":\"marked\"}'\n")
	run := func() *claude.Session {
		c := claude.Run(t, m, claude.Options{NoRecorder: true, Project: project, Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
			messages.Bash("touch ${PROJECT}/deployed"), messages.Bash("touch ${PROJECT}/proof"), messages.Say("Done.")}}})
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		return c
	}
	if err := os.Chmod(filepath.Join(project, "tools", "marks"), 0o755); err != nil {
		t.Fatal(err)
	}

	c := run()
	if !c.Model.Saw(`no-deploy.*Deploys are a person's`) || exists(project, "deployed") {
		t.Errorf("the project's rule does not hold; deployed: %t", exists(project, "deployed"))
	}
	if !exists(project, "proof") {
		t.Error("a call that no rule is about was refused")
	}
	if exists(project, "marked") {
		t.Fatal("a program of a book that nobody trusts ran")
	}

	// As `lidguard hooks trust` notes it; the command itself is for a person at a
	// terminal outside of any agent, which a test may not be.
	machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "trusted-books.json"),
		fmt.Sprintf(`{"books":[{"path":%q,"sha256":"sha256:%x","at":"2026-01-02T03:04:05Z"}]}`, book, sha256.Sum256([]byte(projectBook))))
	var pins []struct {
		State string `json:"state"`
	}
	if guard.JSON(&pins, "hooks", "trust", "--list"); len(pins) != 1 || pins[0].State != "trusted" {
		t.Fatalf("trusted are %+v", pins)
	}
	c = run()
	if !c.Model.Saw(`no-deploy.*Deploys are a person's`) || exists(project, "deployed") {
		t.Error("trusted, the rule holds no more")
	}
	if !exists(project, "marked") {
		t.Error("the program of a trusted book did not run")
	}
}

// TestRulebook_aProjectsClaudeHookRunByCopilot: Copilot runs the hooks of a
// project's .claude/settings.json. A context reaches its model only in its own words
// (contracts/copilot §1.12), and the call is noted as its own.
func TestRulebook_aProjectsClaudeHookRunByCopilot(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	lidguard.Put(t, m)
	project := machine.Project(t, m, "project", true)
	hooks := map[string]any{}
	for _, event := range []string{"UserPromptSubmit", "PreToolUse", "PermissionRequest", "SubagentStart", "Stop"} {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "lidguard-hook claude-hook", "timeout": 30}}}}
	}
	machine.Write(t, m, filepath.Join(project, ".claude", "settings.json"), compact(t, map[string]any{"hooks": hooks}))
	machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "rules.toml"), strings.Split(projectBook, "[[handler]]")[0]+`
[[nudge]]
id = "hours"
target = "prompt"
match = "."
text = "Deploys end at noon."
`)
	c := copilot.Run(t, m, copilot.Options{NoRecorder: true, Project: project, Args: []string{"--allow-all-tools"},
		Script: completions.Script{Turns: []completions.Turn{
			completions.Bash("touch ${PROJECT}/deployed"), completions.Bash("touch ${PROJECT}/proof"), completions.Say("Done.")}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if !c.Model.Saw(`no-deploy.*Deploys are a person's`) || exists(project, "deployed") {
		t.Errorf("the rule does not hold; deployed: %t", exists(project, "deployed"))
	}
	if !exists(project, "proof") {
		t.Error("a call that no rule is about was refused")
	}
	if !c.Model.Saw("Deploys end at noon") {
		t.Error("the model did not read the context")
	}
	log, err := os.ReadFile(filepath.Join(m.Home(), ".local", "state", "lidguard", "gate", "audit.jsonl"))
	if err != nil || !strings.Contains(string(log), `"provider":"copilot"`) || strings.Contains(string(log), `"provider":"claude"`) {
		t.Errorf("it is noted as %s, %v", log, err)
	}
}
