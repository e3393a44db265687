//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
)

// lidLock is the lock that keeps a closed laptop awake.
var lidLock = laptop.Inhibitor{What: "handle-lid-switch", Who: "lidguard", Mode: "block"}

func TestAwake_closedLidSleepsOnceClaudeIsDone(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude")
	g.Set("post-stop-suspend-delay-seconds", "1")
	c := claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{
		messages.Say("Done.").After(thinking),
	}}})
	l.WaitInhibitor(lidLock)
	l.CloseLid()
	l.StaysAwake(2 * time.Second)
	thinking.Open()
	l.WaitSleeps(1)
	l.OpenLid()
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	l.WaitNoInhibitor(lidLock)
	l.StaysAwake(2 * time.Second)
}

func TestAwake_openLidLetsTheMachineBe(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude")
	g.Set("post-stop-suspend-delay-seconds", "0")
	c := claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.").After(thinking)}}})
	l.WaitInhibitor(lidLock)
	thinking.Open()
	c.Wait()
	l.WaitNoInhibitor(lidLock)
	l.StaysAwake(2 * time.Second)
}

func TestAwake_codexIsKeptAwakeToo(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "codex")
	g.Set("post-stop-suspend-delay-seconds", "1")
	c := codex.Open(t, l, codex.Options{Script: responses.Script{Turns: []responses.Turn{
		responses.Say("Done.").After(thinking),
	}}})
	c.Say("Do it.")
	l.WaitInhibitor(lidLock)
	l.CloseLid()
	l.StaysAwake(2 * time.Second)
	thinking.Open()
	l.WaitSleeps(1)
	l.OpenLid()
	c.WaitTurns(1)
	l.WaitNoInhibitor(lidLock)
}

func TestAwake_locksAreTakenAgainFromANewLogind(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	defer thinking.Open()
	l := laptop.Start(t)
	lidguard.Install(t, l, "claude")
	claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{
		messages.Say("Done.").After(thinking),
	}}})
	before := l.WaitInhibitor(lidLock)
	l.ReplaceLogind()
	if after := l.WaitInhibitor(lidLock); after.PID != before.PID {
		t.Errorf("held by process %d, before by %d", after.PID, before.PID)
	}
	l.CloseLid()
	l.StaysAwake(2 * time.Second)
}

func TestClosedLid_claudesQuestionIsAnsweredAndTheMachineSleeps(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude")
	g.Set("post-stop-suspend-delay-seconds", "1")
	c := claude.Open(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{
		messages.Bash("touch ${PROJECT}/asked").After(thinking),
		messages.Say("Then not."),
	}}})
	c.Say("go on")
	l.WaitInhibitor(lidLock)
	l.CloseLid()
	thinking.Open()
	c.WaitHook(1, "PermissionRequest", "tool_name=Bash")
	l.WaitSleeps(1)
	l.OpenLid()
	if _, err := os.Stat(filepath.Join(c.Project, "asked")); err == nil {
		t.Error("the command ran although nobody allowed it")
	}
	if len(c.Model.Requests()) != 2 {
		t.Errorf("%d requests to the model, want the one that reads the refusal as the second", len(c.Model.Requests()))
	}
	c.WaitHook(1, "Stop")
	c.Exit()
}

func TestClosedLid_codexsQuestionIsAnsweredAndTheMachineSleeps(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "codex")
	g.Set("post-stop-suspend-delay-seconds", "1")
	c := codex.Open(t, l, codex.Options{Script: responses.Script{Turns: []responses.Turn{
		responses.Escalated("touch asked", "needs to write").After(thinking),
		responses.Say("Then not."),
	}}})
	c.Say("Go on.")
	l.WaitInhibitor(lidLock)
	l.CloseLid()
	thinking.Open()
	l.WaitSleeps(1)
	l.OpenLid()
	c.WaitTurns(1)
	if asked := c.Prompts(); len(asked) != 0 {
		t.Errorf("the person was asked %d times, want never", len(asked))
	}
	if _, err := os.Stat(filepath.Join(c.Project, "asked")); err == nil {
		t.Error("the command ran although nobody allowed it")
	}
	c.Exit()
}
