//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
)

// The tests of this file prove the harness, not lidguard: that the real client
// behaves on the bench as the contract says.

func TestClaude_headlessTurn(t *testing.T) {
	t.Parallel()
	c := claude.Run(t, machine.Bench(t), claude.Options{
		Allow: []string{"Bash", "Write"},
		Script: messages.Script{Turns: []messages.Turn{
			messages.Use(
				messages.Tool("Write", map[string]any{"file_path": "${PROJECT}/a.txt", "content": "one\ntwo\n"}),
				messages.Tool("Bash", map[string]any{"command": "ls", "description": "list"})),
			{Blocks: []messages.Block{messages.Tool("Bash", map[string]any{"command": "exit 3", "description": "fails"})}, Expect: `a\.txt`},
			messages.Say("Finished."),
		}},
	})
	if code := c.Wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	var events []string
	for _, event := range c.Hooks.Events(t) {
		if event != "MessageDisplay" { // shown text, beside the order of the work
			events = append(events, event)
		}
	}
	// The two calls of one answer may run in either order, and beside each other.
	want := strings.Fields("SessionStart UserPromptSubmit PreToolUse PostToolUse PreToolUse PostToolUse PostToolBatch PreToolUse PostToolUseFailure PostToolBatch Stop SessionEnd")
	if got := strings.Fields(strings.Join(events, " ")); !slices.Equal(sorted(got), sorted(want)) ||
		!slices.Equal(got[:2], want[:2]) || !slices.Equal(got[6:], want[6:]) {
		t.Errorf("events:\n got %v\nwant %v", got, want)
	}
	if text, err := os.ReadFile(filepath.Join(c.Project, "a.txt")); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("a.txt is %q, %v", text, err)
	}
	if notes := c.Model.Notes(); len(notes) > 0 {
		t.Errorf("the script met what it did not expect: %q", notes)
	}
	stop := c.Hooks.Of(t, "Stop")[0]
	if got := stop.String("last_assistant_message"); got != "Finished." {
		t.Errorf("last_assistant_message is %q", got)
	}
	if len(c.Transcripts()) != 1 {
		t.Errorf("transcripts: %v", c.Transcripts())
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func TestClaude_permissionDialog(t *testing.T) {
	t.Parallel()
	c := claude.Open(t, machine.Bench(t), claude.Options{Script: messages.Script{Turns: []messages.Turn{
		messages.Bash("touch ${PROJECT}/asked"),
		messages.Say("first done"),
	}}})
	c.Say("first")
	c.WaitHook(1, "PermissionRequest", "tool_name=Bash")
	c.WaitScreen("Do you want")
	if _, err := os.Stat(filepath.Join(c.Project, "asked")); err == nil {
		t.Error("the command ran before anybody allowed it")
	}
	c.Answer("Do you want", terminal.Enter)
	c.WaitHook(1, "Stop")
	if _, err := os.Stat(filepath.Join(c.Project, "asked")); err != nil {
		t.Errorf("the command did not run: %v", err)
	}
	if code := c.Exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if got := c.Hooks.Of(t, "SessionEnd", "reason=prompt_input_exit"); len(got) != 1 {
		t.Errorf("SessionEnd with reason prompt_input_exit: %d", len(got))
	}
}

func TestClaude_escapeEndsATurnWithoutStop(t *testing.T) {
	t.Parallel()
	c := claude.Open(t, machine.Bench(t), claude.Options{Script: messages.Script{Turns: []messages.Turn{
		{Text: "The first words.\n\n" + strings.Repeat("Many more words.\n\n", 300), ChunkMS: 100},
	}}})
	c.Say("work")
	c.WaitScreen("The first words")
	c.Press(terminal.Esc)
	c.WaitScreen("Interrupted")
	c.Exit()
	if got := c.Hooks.Events(t); slices.Contains(got, "Stop") || !slices.Contains(got, "UserPromptSubmit") {
		t.Errorf("events after Esc: %v, want UserPromptSubmit and no Stop", got)
	}
	if text, err := os.ReadFile(c.Transcripts()[0]); err != nil || !strings.Contains(string(text), "[Request interrupted by user]") {
		t.Errorf("no interrupt marker in the transcript, %v", err)
	}
}

func TestClaude_escapeBeforeTheFirstWord(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	defer thinking.Open()
	c := claude.Open(t, machine.Bench(t), claude.Options{Script: messages.Script{Turns: []messages.Turn{
		messages.Say("never seen").After(thinking),
	}}})
	c.Say("work")
	c.Model.WaitRequests(t, 1)
	c.Busy()
	c.Press(terminal.Esc)
	c.WaitScreen(`(?m)^ *❯ work$`) // the prompt is back in the input, as if nothing had been sent
	if strings.Contains(c.Screen(), "Interrupted") {
		t.Errorf("the client says that it was interrupted:\n%s", c.Screen())
	}
	c.Close()
	c.Wait()
	// Nothing on disk tells that the turn is over either: seen with 2.1.332.
	if text, err := os.ReadFile(c.Transcripts()[0]); err != nil || strings.Contains(string(text), "[Request interrupted") {
		t.Errorf("an interrupt marker in the transcript, %v", err)
	}
	if got := c.Hooks.Events(t); slices.Contains(got, "Stop") || !slices.Contains(got, "UserPromptSubmit") {
		t.Errorf("events after Esc: %v, want UserPromptSubmit and no Stop", got)
	}
}
