//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/record"
)

// As claude_test.go: these prove the harness.

func TestCodex_execTurn(t *testing.T) {
	t.Parallel()
	c := codex.Exec(t, machine.Bench(t), codex.Options{
		Sandbox: codex.FullAccess,
		Script: responses.Script{Turns: []responses.Turn{
			{Say: "Looking.", Shell: "echo one"},
			{Patch: "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n"},
			responses.Say("All done."),
		}},
	})
	if code := c.Wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	want := strings.Fields("SessionStart UserPromptSubmit PreToolUse PostToolUse PreToolUse PostToolUse Stop SessionEnd")
	if got := c.Hooks.Events(t); !slices.Equal(got, want) {
		t.Errorf("events:\n got %v\nwant %v", got, want)
	}
	if got := c.Hooks.Of(t, "PostToolUse", "tool_name=Bash")[0].String("tool_response"); got != "one\n" {
		t.Errorf("the shell's output is %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(c.Project, "new.txt")); err != nil || string(text) != "hello\n" {
		t.Errorf("new.txt is %q, %v", text, err)
	}
	if len(c.Rollouts()) != 1 {
		t.Errorf("session files: %v", c.Rollouts())
	}
}

func TestCodex_permissionPrompt(t *testing.T) {
	t.Parallel()
	c := codex.Open(t, machine.Bench(t), codex.Options{Script: responses.Script{Turns: []responses.Turn{
		responses.Escalated("touch made", "needs to write a file"),
		responses.Escalated("touch again", "needs to write one more"),
		responses.Say("Done."),
	}}})
	c.Say("Make two files.")
	prompt := c.WaitPrompt()
	if prompt.Method != "item/commandExecution/requestApproval" {
		t.Errorf("asked by %s", prompt.Method)
	}
	if got := c.Hooks.Of(t, "PermissionRequest", "tool_name=Bash"); len(got) != 1 {
		t.Errorf("%d PermissionRequest events before the prompt, want 1", len(got))
	}
	prompt.Decline()
	c.WaitPrompt().Accept()
	if status := c.WaitTurns(1); status != "completed" {
		t.Errorf("the turn is %s", status)
	}
	c.Exit()
	if _, err := os.Stat(filepath.Join(c.Project, "made")); err == nil {
		t.Error("what was declined was done")
	}
	if _, err := os.Stat(filepath.Join(c.Project, "again")); err != nil {
		t.Errorf("what was accepted was not done: %v", err)
	}
	if !c.Model.Saw("rejected by user") {
		t.Error("the model was not told of the refusal")
	}
}

func TestCodex_interrupt(t *testing.T) {
	t.Parallel()
	c := codex.Open(t, machine.Bench(t), codex.Options{Sandbox: codex.FullAccess, Approval: "never",
		Script: responses.Script{Turns: []responses.Turn{responses.Shell("sleep 60")}}})
	c.Say("Wait.")
	c.WaitHook(1, "PreToolUse")
	c.Interrupt()
	if status := c.WaitTurns(1); status != "interrupted" {
		t.Errorf("the turn is %s", status)
	}
	c.WaitHook(1, "Interrupt")
	c.Exit()
	want := strings.Fields("SessionStart UserPromptSubmit PreToolUse Interrupt SessionEnd")
	if got := c.Hooks.Events(t); !slices.Equal(got, want) {
		t.Errorf("events:\n got %v\nwant %v", got, want)
	}
}

func TestCodex_question(t *testing.T) {
	t.Parallel()
	c := codex.Open(t, machine.Bench(t), codex.Options{Script: responses.Script{Turns: []responses.Turn{
		responses.Ask("colour", "Which colour?", "Red", "Blue"), responses.Say("Thanks."),
	}}})
	c.Plan("Ask me.")
	c.WaitPrompt().Choose("colour", "Red")
	c.WaitTurns(1)
	if got := c.WaitHook(1, "PostToolUse", "tool_name=request_user_input").String("tool_response"); !strings.Contains(got, "Red") {
		t.Errorf("the answer is %s", got)
	}
	c.Exit()
}

func TestCodex_hookRefuses(t *testing.T) {
	t.Parallel()
	c := codex.Open(t, machine.Bench(t), codex.Options{
		Answers: []record.Answer{{Event: "PreToolUse", Contains: "touch", Exit: 2, Stderr: "not today"}},
		Script:  responses.Script{Turns: []responses.Turn{responses.Shell("touch made"), responses.Say("Pity.")}}})
	c.Say("Make a file.")
	c.WaitTurns(1)
	if got := c.HookRuns("preToolUse"); !slices.Equal(got, []string{"blocked"}) {
		t.Errorf("the client says %v of the hook, want blocked", got)
	}
	if !c.Model.Saw("not today") {
		t.Error("the model was not told the reason")
	}
	c.Exit()
}
