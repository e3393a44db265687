//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/pace"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// ours are the locks that lidguard holds by logind's word.
func ours(l *laptop.Laptop) []laptop.Inhibitor {
	return slices.DeleteFunc(l.Inhibitors(), func(i laptop.Inhibitor) bool { return i.Who != "lidguard" })
}

// waitHeld waits for lidguard's locks and returns the runtime that holds them.
// They are exactly two entries of one kind each: one call per kind, so that
// polkit judges each by itself, and never one that takes away the person's own
// sleep or shutdown.
func waitHeld(t testing.TB, l *laptop.Laptop) (runtime uint32) {
	t.Helper()
	wait.Until(t, wait.Long, "lidguard's two locks", func() (bool, string) {
		list := ours(l)
		return len(list) >= 2, fmt.Sprintf("%+v", list)
	})
	list := ours(l)
	var what []string
	for _, i := range list {
		what = append(what, i.What)
		if i.Mode != "block" || i.UID != uint32(l.UID()) || i.PID != list[0].PID || i.Why == "" {
			t.Errorf("a lock of another kind: %+v", i)
		}
	}
	slices.Sort(what)
	if got := strings.Join(what, " "); got != "handle-lid-switch idle" {
		t.Errorf("held is %q, want handle-lid-switch and idle, one entry each", got)
	}
	return list[0].PID
}

// staysHeld watches for a while that both locks stay.
func staysHeld(t testing.TB, l *laptop.Laptop, during time.Duration) {
	t.Helper()
	wait.Never(t, during, "a lock was given up", func() (bool, string) {
		list := ours(l)
		return len(list) != 2, fmt.Sprintf("held: %+v", list)
	})
}

// waitFree waits until lidguard holds nothing and returns how long that took.
func waitFree(t testing.TB, l *laptop.Laptop, since time.Time) time.Duration {
	t.Helper()
	wait.Until(t, wait.Long, "lidguard to hold nothing", func() (bool, string) {
		list := ours(l)
		return len(list) == 0, fmt.Sprintf("held: %+v", list)
	})
	return time.Since(since)
}

// bar logs a time that was measured until now beside the one that was promised, and
// fails at twice that. The promise is for an idle machine: where things took so much
// longer meanwhile, as the pace says, so may this.
func bar(t testing.TB, what string, took, promised time.Duration) {
	t.Helper()
	busy := pace.Since(time.Now().Add(-took))
	t.Logf("%s: %v, promised %v; the machine took %.1f times as long as an idle one", what, took.Round(time.Millisecond), promised, busy)
	if float64(took) > 2*busy*float64(promised) {
		t.Errorf("%s took %v, promised %v, and the machine took %.1f times as long as an idle one", what, took, promised, busy)
	}
}

// best fails the test if not even the best of some times, all measured since then, is
// what was promised, by the pace of the machine.
func best(t testing.TB, what string, took []time.Duration, since time.Time, promised time.Duration) {
	t.Helper()
	busy := pace.Since(since)
	t.Logf("%s: %v, promised %v; the machine took %.1f times as long as an idle one", what, took, promised, busy)
	if least := slices.Min(took); float64(least) > busy*float64(promised) {
		t.Errorf("%s: the best of them took %v, promised are %v, and the machine took %.1f times as long as an idle one", what, least, promised, busy)
	}
}

// touch makes the file that a scripted command waits for.
func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// until is a shell command that runs until a file of the project is there.
func until(file string) string {
	return "until [ -e ${PROJECT}/" + file + " ]; do sleep 0.1; done"
}

// exists tells whether a command made its file.
func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

// status is what a person's program reads of `lidguard status --json`.
type status struct {
	Running bool
	Awake   bool
	Runtime *struct {
		PID       uint32
		Protected bool
		Lid       string
		Sessions  []struct {
			State    string
			Holds    bool
			SoftLock string `json:"soft_lock"`
			Key      struct {
				Provider string
				ID       string `json:"session_id"`
			}
		}
		Held []struct {
			What      string
			Confirmed bool
			Error     string
		}
	}
	Findings []finding
}

type finding struct{ Code, Text, Remedy string }

func statusOf(g *lidguard.Guard) status {
	var s status
	g.JSON(&s, "status")
	return s
}

// waitText waits until a command's answer has the text.
func waitText(t testing.TB, g *lidguard.Guard, text string, args ...string) {
	t.Helper()
	wait.Until(t, wait.Long, fmt.Sprintf("%q in lidguard %s", text, strings.Join(args, " ")), func() (bool, string) {
		stdout, stderr, _ := g.Try(args...)
		return strings.Contains(stdout, text), stdout + stderr
	})
}

// One terminal through a dialog that the person answers, many calls of one answer, a
// new id by /clear, and a resume in a new process.
func TestStory_claudeInOneTerminal(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude")
	g4 := gates(t, 4)
	var calls []messages.Block
	for range 12 {
		calls = append(calls, messages.Tool("Bash", map[string]any{"command": until("go"), "description": "wait"}))
	}
	c := claude.Open(t, l, claude.Options{Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
		messages.Use(messages.Tool("Write", map[string]any{"file_path": "${PROJECT}/asked.txt", "content": "x"})),
		messages.Say("Written.").After(g4[0]),
		messages.Use(calls...),
		messages.Say("All done.").After(g4[1]),
		messages.Say("As if new.").After(g4[2]),
	}}})
	// only waits until one session alone holds the machine awake, and returns its id.
	only := func() (id string) {
		t.Helper()
		waitHeld(t, l)
		wait.Until(t, wait.Long, "one session that holds", func() (bool, string) {
			n := 0
			s := statusOf(g)
			for _, one := range s.Runtime.Sessions {
				if one.Holds {
					n, id = n+1, one.Key.ID
				}
			}
			return n == 1, fmt.Sprintf("%+v", s.Runtime.Sessions)
		})
		return id
	}

	c.Say("ask")
	c.WaitHook(1, "PermissionRequest")
	c.WaitScreen("Do you want")
	waitFree(t, l, time.Now())
	waitText(t, g, `"soft_lock": "claude_`, "status", "--json") // by the request, or by the notification of it
	c.Answer("Do you want", terminal.Enter)
	first := only()
	g4[0].Open()
	waitFree(t, l, time.Now())
	if !exists(c.Project, "asked.txt") {
		t.Error("the answered call was not made")
	}

	c.Say("many")
	c.WaitHook(2, "PreToolUse")
	if id := only(); id != first {
		t.Errorf("the session is %q, was %q", id, first)
	}
	touch(t, filepath.Join(c.Project, "go"))
	c.WaitHook(13, "PostToolUse")
	staysHeld(t, l, 500*time.Millisecond)
	g4[1].Open()
	waitFree(t, l, time.Now())

	c.Say("/clear")
	c.WaitHook(1, "SessionEnd", "reason=clear")
	c.Say("again")
	second := only()
	if second == first {
		t.Error("after /clear the session has the old id")
	}
	g4[2].Open()
	waitFree(t, l, time.Now())
	c.Exit()

	c = claude.Open(t, l, claude.Options{Project: c.Project, Args: []string{"--continue"}, Script: messages.Script{Turns: []messages.Turn{
		messages.Say("Never said.").After(g4[3]),
	}}})
	c.WaitHook(1, "SessionStart", "source=resume")
	c.Say("go on")
	if id := only(); id != second {
		t.Errorf("the resumed session is %q, was %q", id, second)
	}
	c.Kill()
	bar(t, "from the end of a killed client that had resumed to no lock", waitFree(t, l, time.Now()), 2*time.Second)
}

// A permission prompt and a question of Codex that the person answers themselves.
func TestStory_codexAnsweredHere(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "codex")
	g2 := gates(t, 2)
	c := codex.Open(t, l, codex.Options{Script: responses.Script{Turns: []responses.Turn{
		responses.Escalated("touch made", "needs to write a file"), responses.Say("Done.").After(g2[0]),
		responses.Ask("colour", "Which colour?", "Red", "Blue"), responses.Say("Thanks.").After(g2[1]),
	}}})
	c.Say("Make a file.")
	prompt := c.WaitPrompt()
	waitFree(t, l, time.Now())
	waitSoftLock(t, g, "codex_permission_request_open")
	prompt.Accept()
	waitHeld(t, l)
	g2[0].Open()
	c.WaitTurns(1)
	waitFree(t, l, time.Now())
	if !exists(c.Project, "made") {
		t.Error("the answered call was not made")
	}
	c.Plan("Ask me.")
	prompt = c.WaitPrompt()
	waitFree(t, l, time.Now())
	waitText(t, g, "request_user_input_pending", "status", "--json") // by the hook or by the session file
	prompt.Choose("colour", "Red")
	waitHeld(t, l)
	g2[1].Open()
	c.WaitTurns(2)
	waitFree(t, l, time.Now())
	c.Exit()
}

// Two clients at once: the machine is held until the last of them is done.
func TestStory_twoClientsAtOnce(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude", "codex")
	g2 := gates(t, 2)
	one := claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.").After(g2[0])}}})
	runtime := waitHeld(t, l)
	two := codex.Exec(t, l, codex.Options{Script: responses.Script{Turns: []responses.Turn{responses.Say("Done.").After(g2[1])}}})
	wait.Until(t, wait.Long, "both sessions", func() (bool, string) {
		s := statusOf(g).Runtime.Sessions
		return len(s) == 2 && s[0].Holds && s[1].Holds, fmt.Sprintf("%+v", s)
	})
	g2[0].Open()
	if code := one.Wait(); code != 0 {
		t.Errorf("claude: exit %d", code)
	}
	staysHeld(t, l, 3*time.Second) // longer than an end is waited for
	g2[1].Open()
	if code := two.Wait(); code != 0 {
		t.Errorf("codex: exit %d", code)
	}
	waitFree(t, l, time.Now())
	if s := statusOf(g); s.Runtime == nil || s.Runtime.PID != runtime {
		t.Errorf("there was more than one runtime: %+v", s.Runtime)
	}
}
