//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/opencode"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
)

// As claude_test.go: these prove the harness.

func TestOpencode_runTurn(t *testing.T) {
	t.Parallel()
	c := opencode.Run(t, machine.Bench(t), opencode.Options{Script: completions.Script{Turns: []completions.Turn{
		completions.Bash("echo hi > ${PROJECT}/out.txt; echo wrote"),
		completions.Say("All done."),
	}}})
	if code := c.Wait(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	got := c.Hooks.Events(t)
	at := 0
	for _, want := range strings.Fields("session.created chat.message session.status tool.execute.before tool.execute.after session.idle dispose") {
		next := slices.Index(got[at:], want)
		if next < 0 {
			t.Fatalf("no %s at its place: %v", want, got)
		}
		at += next + 1
	}
	if !exists(c.Project, "out.txt") {
		t.Error("the command did not run")
	}
	if !c.Model.Saw("wrote") {
		t.Error("the model was not told what the command printed")
	}
}

func TestOpencode_serveAsksAndAborts(t *testing.T) {
	t.Parallel()
	c := opencode.Serve(t, machine.Bench(t), opencode.Options{
		Permission: map[string]any{"bash": "ask"},
		Script: completions.Script{Turns: []completions.Turn{
			completions.Bash("touch ${PROJECT}/asked"),
			completions.Say("Done."),
			{Text: strings.Repeat("One more word. ", 600), ChunkMS: 100},
		}}})
	c.Say("first")
	asked := c.WaitHook(1, "permission.asked")
	if exists(c.Project, "asked") {
		t.Error("the command ran before anybody allowed it")
	}
	if open := c.Open("permission"); !slices.Equal(open, []string{asked.String("id")}) {
		t.Errorf("open are %q, asked was %q", open, asked.String("id"))
	}
	c.Reply(asked.String("id"), "once")
	c.WaitHook(1, "session.idle")
	if !exists(c.Project, "asked") {
		t.Error("the command did not run")
	}
	c.Say("second")
	c.Model.WaitRequests(t, 3)
	c.Abort()
	if got := c.WaitHook(1, "session.error").String("error.name"); got != "MessageAbortedError" {
		t.Errorf("the error is %q", got)
	}
	c.WaitHook(2, "session.idle")
}

func TestOpencode_escapeInTheTerminal(t *testing.T) {
	t.Parallel()
	c := opencode.Terminal(t, machine.Bench(t), opencode.Options{Script: completions.Script{Turns: []completions.Turn{
		{Text: strings.Repeat("One more word. ", 600), ChunkMS: 100},
	}}})
	c.Say("work")
	c.WaitScreen("One more word")
	c.Abort()
	if got := c.WaitHook(1, "session.error").String("error.name"); got != "MessageAbortedError" {
		t.Errorf("the error is %q", got)
	}
	c.WaitHook(1, "session.idle")
}
