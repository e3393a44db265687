//go:build linux

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/client/opencode"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

const yesBook = `
[[approve]]
id = "proof"
tool = "shell"
command = ["touch", "proof"]
durable = true
`

// TestApprove_fourClients: the one command that the book names runs without a question,
// and the next best one is left to the person, on every client.
func TestApprove_fourClients(t *testing.T) {
	t.Parallel()
	const named, other = "touch proof", "touch other"
	for _, client := range []struct {
		name string
		run  func(t *testing.T, m machine.Machine, project string)
	}{
		{"claude", func(t *testing.T, m machine.Machine, project string) {
			c := claude.Run(t, m, claude.Options{NoRecorder: true, Project: project, Script: messages.Script{Turns: []messages.Turn{
				messages.Bash(named), messages.Bash(other), messages.Say("Done.")}}})
			if code := c.Wait(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if got := read(t, filepath.Join(project, ".claude", "settings.local.json")); !strings.Contains(got, `"Bash(touch proof)"`) || strings.Contains(got, "other") {
				t.Errorf("kept for later: %s", got)
			}
		}},
		{"codex", func(t *testing.T, m machine.Machine, project string) {
			c := codex.Open(t, m, codex.Options{NoRecorder: true, Project: project, Script: responses.Script{Turns: []responses.Turn{
				responses.Escalated(named, "needs to write a file"), responses.Escalated(other, "needs to write one more"), responses.Say("Done.")}}})
			c.Say("Make two files.")
			c.WaitPrompt().Decline() // of the second
			if status := c.WaitTurns(1); status != "completed" || len(c.Prompts()) != 1 {
				t.Errorf("%s after %d questions", status, len(c.Prompts()))
			}
			c.Exit()
		}},
		{"copilot", func(t *testing.T, m machine.Machine, project string) {
			c := copilot.Run(t, m, copilot.Options{NoRecorder: true, Project: project, Script: completions.Script{Turns: []completions.Turn{
				completions.Bash(named), completions.Bash(other), completions.Say("Done.")}}})
			if code := c.Wait(); code != 0 {
				t.Errorf("exit %d", code)
			}
		}},
		{"opencode", func(t *testing.T, m machine.Machine, project string) {
			c := opencode.Serve(t, m, opencode.Options{NoRecorder: true, Project: project, Permission: map[string]any{"bash": "ask"}, Script: completions.Script{Turns: []completions.Turn{
				completions.Bash(named), completions.Bash(other), completions.Say("Done.")}}})
			c.Say("Make two files.")
			c.Model.WaitRequests(t, 2)
			wait.Until(t, wait.Long, "the second question", func() (bool, string) { return len(c.Open("permission")) == 1, "" })
			c.Abort()
		}},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			m := machine.Bench(t)
			lidguard.Install(t, m, client.name)
			machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "rules.toml"), yesBook)
			project := machine.Project(t, m, "project", true)
			client.run(t, m, project)
			if !exists(project, "proof") || exists(project, "other") {
				t.Errorf("proof: %t, other: %t", exists(project, "proof"), exists(project, "other"))
			}
		})
	}
}
