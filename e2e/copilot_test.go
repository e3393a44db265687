//go:build linux

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
)

// As claude_test.go: these prove the harness.

func TestCopilot_headlessTurn(t *testing.T) {
	t.Parallel()
	c := copilot.Run(t, machine.Bench(t), copilot.Options{
		Args: []string{"--allow-all-tools"},
		Script: completions.Script{Turns: []completions.Turn{
			completions.Bash("echo hi > ${PROJECT}/out.txt; echo wrote"),
			completions.Say("All done."),
		}},
	})
	if code := c.Wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	got := c.Hooks.Events(t)
	// The first two come beside each other.
	want := strings.Fields("sessionStart userPromptSubmitted preToolUse permissionRequest postToolUse agentStop sessionEnd")
	if !slices.Equal(sorted(got), sorted(want)) || !slices.Equal(got[2:], want[2:]) {
		t.Errorf("events:\n got %v\nwant %v", got, want)
	}
	if !exists(c.Project, "out.txt") {
		t.Error("the command did not run")
	}
	if !c.Model.Saw("wrote") {
		t.Error("the model was not told what the command printed")
	}
	if got := c.Hooks.Of(t, "sessionEnd")[0].String("reason"); got != "complete" {
		t.Errorf("sessionEnd's reason is %q", got)
	}
	if !c.Recorded("session.shutdown") {
		t.Error("the client wrote no record of its end")
	}
}

func TestCopilot_permissionPrompt(t *testing.T) {
	t.Parallel()
	c := copilot.Open(t, machine.Bench(t), copilot.Options{Script: completions.Script{Turns: []completions.Turn{
		completions.Bash("touch ${PROJECT}/asked"),
		completions.Say("All done."),
	}}})
	c.Say("first")
	note := c.WaitHook(1, "notification")
	if got := note.String("notification_type"); got != "permission_prompt" {
		t.Errorf("notified of %q", got)
	}
	if exists(c.Project, "asked") {
		t.Error("the command ran before anybody allowed it")
	}
	c.Answer("Do you want", terminal.Enter)
	c.WaitHook(1, "agentStop")
	if !exists(filepath.Join(c.Project, "asked")) {
		t.Error("the command did not run")
	}
	if code := c.Exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if got := c.Hooks.Of(t, "sessionEnd", "reason=user_exit"); len(got) != 1 {
		t.Errorf("sessionEnd with reason user_exit: %d", len(got))
	}
}

func TestCopilot_escapeEndsATurnWithoutStop(t *testing.T) {
	t.Parallel()
	c := copilot.Open(t, machine.Bench(t), copilot.Options{Script: completions.Script{Turns: []completions.Turn{
		{Text: strings.Repeat("One more word. ", 600), ChunkMS: 100},
	}}})
	c.Say("work")
	c.WaitScreen("One more word")
	c.Abort()
	c.Exit()
	if got := c.Hooks.Events(t); slices.Contains(got, "agentStop") || !slices.Contains(got, "userPromptSubmitted") {
		t.Errorf("events after Esc: %v, want userPromptSubmitted and no agentStop", got)
	}
}
