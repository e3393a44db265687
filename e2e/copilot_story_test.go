//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/copilot"
	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// waitSoftLocked waits until one session waits for a person and returns the
// reason.
func waitSoftLocked(t testing.TB, g *lidguard.Guard) string {
	t.Helper()
	var reason string
	wait.Until(t, wait.Long, "a soft lock", func() (bool, string) {
		s := statusOf(g)
		if s.Runtime == nil || len(s.Runtime.Sessions) != 1 {
			return false, "not one session"
		}
		reason = s.Runtime.Sessions[0].SoftLock
		return reason != "", s.Runtime.Sessions[0].State
	})
	return reason
}

// Headless Copilot CLI with everything allowed, on one laptop.
func TestCopilot_locksOfHeadlessTurns(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "copilot")
	g.Set("post-stop-suspend-delay-seconds", "1")
	all := []string{"--allow-all-tools"}

	t.Run("what the person allowed is done behind a closed lid too, then the machine sleeps", func(t *testing.T) {
		l := l.For(t)
		thinking := modelserver.NewGate()
		c := copilot.Run(t, l, copilot.Options{Args: all, Script: completions.Script{Turns: []completions.Turn{
			completions.Bash("touch ${PROJECT}/first").After(thinking),
			completions.Use(completions.Tool("create", map[string]any{"path": "${PROJECT}/second", "file_text": "two\n"})),
			completions.Say("Done."),
		}}})
		waitHeld(t, l)
		l.CloseLid()
		l.StaysAwake(time.Second)
		thinking.Open()
		l.WaitSleeps(1)
		l.OpenLid()
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if !exists(c.Project, "first") || !exists(c.Project, "second") {
			t.Error("a call that was allowed was not made")
		}
		if c.Model.Saw("(?i)denied") {
			t.Error("the model was told of a denial")
		}
		waitFree(t, l, time.Now())
	})

	t.Run("a killed client is let go of", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		thinking := modelserver.NewGate()
		defer thinking.Open()
		c := copilot.Run(t, l, copilot.Options{Args: all, Script: completions.Script{Turns: []completions.Turn{
			completions.Say("Done.").After(thinking)}}})
		waitHeld(t, l)
		killed := time.Now()
		c.Kill9()
		bar(t, "from kill -9 of the client to no lock", waitFree(t, l, killed), 2*time.Second)
		if text := g.Run("why"); !strings.Contains(text, "owner_exit") {
			t.Errorf("why does not name owner_exit:\n%s", text)
		}
	})

	// The client fires agentStop and sessionEnd, works on, and fires both again.
	t.Run("held while a shell runs in the background", func(t *testing.T) {
		l := l.For(t)
		c := copilot.Run(t, l, copilot.Options{Args: all, Script: completions.Script{Turns: []completions.Turn{
			completions.Use(completions.Tool("bash", map[string]any{"command": until("go"), "description": "wait", "mode": "async", "shellId": "bg1"})),
			completions.Say("Started."),
			completions.Say("Seen it."),
		}}})
		c.WaitHook(1, "sessionEnd")
		staysHeld(t, l, 3*time.Second) // longer than a Stop settles
		touch(t, filepath.Join(c.Project, "go"))
		last := c.WaitHook(2, "agentStop")
		waitFree(t, l, last.At)
		if code := c.Wait(); code != 0 {
			t.Errorf("exit %d", code)
		}
	})

	t.Run("held while a subagent works in the background", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		looking := modelserver.NewGate()
		defer looking.Open()
		c := copilot.Run(t, l, copilot.Options{Args: all, Script: completions.Script{Turns: []completions.Turn{
			completions.Use(completions.Tool("task", map[string]any{"description": "look around", "prompt": "SUBTASK now",
				"agent_type": "general-purpose", "name": "scout", "mode": "background"})).On("Do the task"),
			completions.Say("Looked.").On("SUBTASK").After(looking),
			completions.Say("Waiting.").On("started in background"),
			completions.Say("Main done."),
		}}})
		c.WaitHook(1, "sessionEnd")
		staysHeld(t, l, 3*time.Second)
		if s := statusOf(g); len(s.Runtime.Sessions) != 1 {
			t.Errorf("the subagent counts as a session: %+v", s.Runtime.Sessions)
		}
		looking.Open()
		c.Wait()
		waitFree(t, l, time.Now())
	})

	t.Run("a model error ends the work", func(t *testing.T) {
		l := l.For(t)
		thinking := modelserver.NewGate()
		c := copilot.Run(t, l, copilot.Options{Script: completions.Script{Turns: []completions.Turn{
			completions.Fail(400, "scripted refusal").After(thinking)}}})
		waitHeld(t, l)
		thinking.Open()
		if code := c.Wait(); code == 0 {
			t.Error("exit 0 after a model error")
		}
		waitFree(t, l, time.Now())
	})
}

// Interactive Copilot CLI: what waits for a person, and turns that end with no
// agentStop.
func TestCopilot_locksInTheTerminal(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "copilot")
	g.Set("post-stop-suspend-delay-seconds", "1")
	asking, planning, prompting := modelserver.NewGate(), modelserver.NewGate(), modelserver.NewGate()
	c := copilot.Open(t, l, copilot.Options{Script: completions.Script{Turns: []completions.Turn{
		// the person ends it
		{Text: strings.Repeat("One more word. ", 900), ChunkMS: 100},
		// the person is asked
		completions.Bash("touch ${PROJECT}/asked"),
		completions.Say("Was allowed."),
		// nobody is there
		completions.Use(completions.Tool("ask_user", map[string]any{"message": "Which colour?", "requestedSchema": map[string]any{
			"properties": map[string]any{"colour": map[string]any{"type": "string", "enum": []string{"red", "green"}, "title": "Colour"}},
			"required":   []string{"colour"}}})).After(asking),
		completions.Say("Chose myself."),
		completions.Bash("touch ${PROJECT}/unasked").After(prompting),
		completions.Say("Allowed late."),
	}}})

	t.Run("gone after Esc", func(t *testing.T) {
		l := l.For(t)
		c.Say("work")
		waitHeld(t, l)
		c.WaitScreen("One more word")
		c.Abort()
		bar(t, "from Esc to no lock", waitFree(t, l, time.Now()), 3*time.Second)
	})

	t.Run("a permission prompt lets go, its answer holds again", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		c.Say("touch it")
		c.WaitHook(1, "notification", "notification_type=permission_prompt")
		waitFree(t, l, time.Now())
		if reason := waitSoftLocked(t, g); !strings.Contains(reason, "permission") {
			t.Errorf("the soft lock's reason is %q", reason)
		}
		staysSoft(t, g) // the hook itself makes the client's log grow
		c.Answer("Do you want", terminal.Enter)
		c.WaitHook(1, "agentStop")
		if !exists(c.Project, "asked") {
			t.Error("the command did not run")
		}
		waitFree(t, l, time.Now())
	})

	t.Run("a question to nobody is refused and the model goes on", func(t *testing.T) {
		l := l.For(t)
		c.Say("choose")
		waitHeld(t, l)
		l.CloseLid()
		asking.Open()
		l.WaitSleeps(1)
		l.OpenLid()
		c.WaitHook(2, "agentStop")
		if !c.Model.Saw("Nobody is at this computer") {
			t.Error("the model was not told that nobody is there")
		}
		if got := c.Hooks.Of(t, "notification", "notification_type=elicitation_dialog"); len(got) != 0 {
			t.Errorf("%d dialogs were opened", len(got))
		}
	})

	// The client asks its hooks before its rules, so lidguard must not answer;
	// the prompt that opens then waits for the person, and the machine sleeps.
	t.Run("a permission prompt behind a closed lid waits for the person", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		c.Say("again")
		waitHeld(t, l)
		l.CloseLid()
		prompting.Open()
		l.WaitSleeps(2)
		l.OpenLid()
		waitSoftLocked(t, g)
		if exists(c.Project, "unasked") {
			t.Error("the command ran although nobody allowed it")
		}
		c.Answer("Do you want", terminal.Enter)
		c.WaitHook(3, "agentStop")
		if !exists(c.Project, "unasked") {
			t.Error("the command did not run after all")
		}
		waitFree(t, l, time.Now())
		c.Exit()
	})

	t.Run("a plan for nobody is refused and the model goes on", func(t *testing.T) {
		l := l.For(t)
		c := copilot.Open(t, l, copilot.Options{Args: []string{"--plan"}, Script: completions.Script{Turns: []completions.Turn{
			completions.Use(completions.Tool("exit_plan_mode", map[string]any{"summary": "- do it", "actions": []string{"interactive"},
				"recommendedAction": "interactive"})).After(planning),
			completions.Say("Wrote the plan down."),
		}}})
		c.Say("Make a plan")
		waitHeld(t, l)
		l.CloseLid()
		planning.Open()
		l.WaitSleeps(3)
		l.OpenLid()
		c.WaitHook(1, "agentStop")
		if !c.Model.Saw("nobody could approve the plan") {
			t.Error("the model was not told that nobody is there")
		}
	})
}

// staysSoft watches that the soft lock stays.
func staysSoft(t testing.TB, g *lidguard.Guard) {
	t.Helper()
	for range 5 { // each call of status takes its time
		if s := statusOf(g); len(s.Runtime.Sessions) != 1 || s.Runtime.Sessions[0].SoftLock == "" {
			t.Fatalf("the soft lock is gone: %+v", s.Runtime.Sessions)
		}
	}
}

// A hook that fails denies, so hooks whose program has gone must do nothing.
func TestCopilot_hooksOfARemovedProgramDenyNothing(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	copilot.Install(t, m)
	program := lidguard.Copy(t, m)
	if out, stderr, code := machine.Run(t, m, machine.Spec{Args: []string{program, "hook-install", "--provider", "copilot"}}); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, stderr)
	}
	hooks, err := filepath.Glob(filepath.Join(m.Home(), ".copilot", "hooks", "*lidguard*"))
	if err != nil || len(hooks) != 1 {
		t.Fatalf("hook files: %v, %v", hooks, err)
	}
	if text, err := os.ReadFile(hooks[0]); err != nil || !strings.Contains(string(text), filepath.Dir(program)) ||
		strings.Contains(string(text), guard.Root()) {
		t.Fatalf("the hooks do not call the copy: %v\n%s", err, text)
	}
	if err := os.RemoveAll(filepath.Dir(program)); err != nil {
		t.Fatal(err)
	}
	c := copilot.Run(t, m, copilot.Options{Args: []string{"--allow-all-tools"}, Script: completions.Script{Turns: []completions.Turn{
		completions.Bash("touch ${PROJECT}/made"), completions.Say("Done."),
	}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if !exists(c.Project, "made") {
		t.Error("the call was not made")
	}
}
