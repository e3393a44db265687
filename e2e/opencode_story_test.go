//go:build linux

package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/opencode"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/completions"
)

func TestOpencode_locksOfHeadlessTurns(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "opencode")
	g.Set("post-stop-suspend-delay-seconds", "1")

	t.Run("held while it works, asleep afterwards", func(t *testing.T) {
		l := l.For(t)
		thinking := modelserver.NewGate()
		c := opencode.Run(t, l, opencode.Options{Script: completions.Script{Turns: []completions.Turn{
			completions.Bash("touch ${PROJECT}/made").After(thinking), completions.Say("Done."),
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
		if !exists(c.Project, "made") {
			t.Error("the call was not made")
		}
		waitFree(t, l, time.Now())
	})

	// A killed client runs no dispose: only its process tells.
	t.Run("a killed client is let go of", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		thinking := modelserver.NewGate()
		defer thinking.Open()
		c := opencode.Run(t, l, opencode.Options{Script: completions.Script{Turns: []completions.Turn{completions.Say("Done.").After(thinking)}}})
		waitHeld(t, l)
		killed := time.Now()
		c.Signal(t, syscall.SIGKILL)
		bar(t, "from kill -9 of the client to no lock", waitFree(t, l, killed), 2*time.Second)
		if text := g.Run("why"); !strings.Contains(text, "owner_exit") {
			t.Errorf("why does not name owner_exit:\n%s", text)
		}
	})
}

func question(text string) completions.Turn {
	option := func(label string) any { return map[string]any{"label": label, "description": label} }
	return completions.Use(completions.Tool("question", map[string]any{"questions": []any{map[string]any{
		"question": text, "header": "Colour", "options": []any{option("red"), option("green")}}}}))
}

// One server and one session through everything at which it waits or ends.
func TestOpencode_locksOfAServer(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "opencode")
	g.Set("post-stop-suspend-delay-seconds", "1")
	looking, away, wondering := modelserver.NewGate(), modelserver.NewGate(), modelserver.NewGate()
	c := opencode.Serve(t, l, opencode.Options{
		Permission: map[string]any{"bash": map[string]any{"*": "allow", "touch *": "ask"}},
		Vars:       map[string]string{"OPENCODE_ENABLE_QUESTION_TOOL": "1"},
		Script: completions.Script{Turns: []completions.Turn{
			completions.Say("Looked.").On("SUBTASK").After(looking),
			// the person is asked
			completions.Bash("touch ${PROJECT}/asked"),
			completions.Say("Was allowed."),
			// a subagent
			completions.Use(completions.Tool("task", map[string]any{"description": "look", "prompt": "SUBTASK now", "subagent_type": "general"})),
			completions.Say("Main done."),
			// nobody is there
			completions.Bash("touch ${PROJECT}/unasked").After(away),
			completions.Say("Went another way."),
			question("Which colour?").After(wondering),
			completions.Say("Chose myself."),
			// the person ends it
			{Text: strings.Repeat("One more word. ", 900), ChunkMS: 100},
			// the model fails
			completions.Fail(400, "scripted refusal"),
		}}})

	t.Run("a permission prompt lets go, its answer holds again", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		c.Say("touch it")
		asked := c.WaitHook(1, "permission.asked")
		if reason := waitSoftLocked(t, g); reason != "opencode_permission_open" {
			t.Errorf("the soft lock's reason is %q", reason)
		}
		waitFree(t, l, time.Now())
		c.Reply(asked.String("id"), "once")
		c.WaitHook(1, "session.idle")
		if !exists(c.Project, "asked") {
			t.Error("the command did not run")
		}
		waitFree(t, l, time.Now())
	})

	t.Run("held while a subagent works, which is no session of its own", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		c.Say("look around")
		c.Model.WaitRequests(t, 4) // the subagent's
		waitHeld(t, l)
		staysHeld(t, l, 3*time.Second)
		if s := statusOf(g); len(s.Runtime.Sessions) != 1 {
			t.Errorf("the subagent counts as a session: %+v", s.Runtime.Sessions)
		}
		looking.Open()
		c.WaitHook(3, "session.idle") // the subagent's, then its parent's
		waitFree(t, l, time.Now())
	})

	t.Run("a permission request to nobody is refused once and the model goes on", func(t *testing.T) {
		l := l.For(t)
		c.Say("touch it again")
		waitHeld(t, l)
		l.CloseLid()
		away.Open()
		l.WaitSleeps(1)
		l.OpenLid()
		c.WaitHook(4, "session.idle")
		asked := c.WaitHook(2, "permission.asked").String("id")
		if got := c.Hooks.Of(t, "permission.replied", "requestID="+asked); len(got) != 1 || got[0].String("reply") != "reject" {
			t.Errorf("answered %d times, want one reject: %+v", len(got), got)
		}
		if exists(c.Project, "unasked") {
			t.Error("the command ran although nobody allowed it")
		}
		if told := c.Model.WaitRequests(t, 7).Text; strings.Count(told, "nobody could approve bash (touch ") != 1 {
			t.Errorf("the model was told:\n%s", told)
		}
		if open := c.Open("permission"); len(open) != 0 {
			t.Errorf("still open: %v", open)
		}
	})

	t.Run("a question to nobody is refused and the model goes on", func(t *testing.T) {
		l := l.For(t)
		c.Say("choose")
		waitHeld(t, l)
		l.CloseLid()
		wondering.Open()
		l.WaitSleeps(2)
		l.OpenLid()
		c.WaitHook(5, "session.idle")
		if !c.Model.Saw("nobody could answer a question") {
			t.Error("the model was not told that nobody is there")
		}
		if open := c.Open("question"); len(open) != 0 {
			t.Errorf("still open: %v", open)
		}
		waitFree(t, l, time.Now())
	})

	t.Run("gone after an abort", func(t *testing.T) {
		l := l.For(t)
		c.Say("write")
		c.Model.WaitRequests(t, 10)
		waitHeld(t, l)
		c.Abort()
		bar(t, "from the abort to no lock", waitFree(t, l, time.Now()), 3*time.Second)
	})

	t.Run("gone after a model error", func(t *testing.T) {
		l := l.For(t)
		c.Say("try")
		c.WaitHook(2, "session.error")
		waitFree(t, l, time.Now())
	})

	t.Run("gone with the session", func(t *testing.T) {
		l := l.For(t)
		var made struct {
			ID string `json:"id"`
		}
		c.Call(http.MethodPost, "/session", map[string]string{"title": "short"}, &made)
		c.Call(http.MethodDelete, "/session/"+made.ID, nil, nil)
		c.WaitHook(1, "session.deleted")
		waitFree(t, l, time.Now())
	})
}
