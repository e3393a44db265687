//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/record"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// The life of the locks under headless Claude Code, on one laptop. A name that
// begins with case is a fault that people reported of other programs; the
// number is that of the report.
func TestLocks_claudeHeadless(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "claude")

	// The first turn finds no runtime, the others do.
	t.Run("appear with the prompt and go with its end", func(t *testing.T) {
		l := l.For(t)
		var took []time.Duration
		began := time.Now()
		for range 3 {
			thinking := modelserver.NewGate()
			c := claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.").After(thinking)}}})
			for deadline := time.Now().Add(wait.Long); len(ours(l)) < 2 && time.Now().Before(deadline); {
				time.Sleep(3 * time.Millisecond) // a finer look than wait's, since this is measured
			}
			seen := time.Now()
			waitHeld(t, l)
			took = append(took, seen.Sub(c.WaitHook(1, "UserPromptSubmit").At))
			thinking.Open()
			c.Wait()
			waitFree(t, l, seen)
		}
		best(t, "from the start of the prompt's hook to both locks, the first without a runtime", took, began, 300*time.Millisecond)
	})

	t.Run("case 39771 the person's own suspend goes through", func(t *testing.T) {
		l := l.For(t)
		thinking := modelserver.NewGate()
		c := claude.Run(t, l, claude.Options{NoRecorder: true, Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.").After(thinking)}}})
		waitHeld(t, l)
		before := len(l.Sleeps())
		if refusal := l.Suspend(); refusal != "" {
			t.Errorf("logind refuses the person's suspend: %s", refusal)
		}
		l.WaitSleeps(before + 1)
		l.Wake()
		waitHeld(t, l)
		thinking.Open()
		c.Wait()
		waitFree(t, l, time.Now())
	})

	t.Run("case 480 a killed runtime leaves nothing and the next hook brings all back", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		first, second := modelserver.NewGate(), modelserver.NewGate()
		c := claude.Run(t, l, claude.Options{NoRecorder: true, Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
			messages.Bash("true").After(first), messages.Say("Done.").After(second),
		}}})
		old := waitHeld(t, l)
		c.Model.WaitRequests(t, 1) // the prompt's hook is over, and brings no runtime back
		killed := time.Now()
		l.Root("kill", "-KILL", fmt.Sprint(old))
		bar(t, "from kill -9 of the runtime to no lock", waitFree(t, l, killed), time.Second)
		wait.Until(t, wait.Long, "no process to be left behind", func() (bool, string) {
			left := l.Root("sh", "-c", "pgrep -u lab -a lidguard || true")
			return left == "", left
		})
		first.Open() // the tool call's hook finds no runtime
		if now := waitHeld(t, l); now == old {
			t.Errorf("held by %d, which was killed", now)
		}
		if s := statusOf(g); !s.Awake || len(s.Runtime.Sessions) != 1 || !s.Runtime.Sessions[0].Holds {
			t.Errorf("status after the crash: %+v", s.Runtime)
		}
		second.Open()
		c.Wait()
		waitFree(t, l, time.Now())
	})

	// SIGINT is Ctrl-C, which cancels the client's own SessionEnd hooks.
	for report, signal := range map[string]syscall.Signal{"claude-keep-awake": syscall.SIGKILL, "32712": syscall.SIGINT, "5295": syscall.SIGTERM} {
		t.Run("case "+report+" a client ended by "+signal.String(), func(t *testing.T) {
			l, g := l.For(t), g.For(t)
			thinking := modelserver.NewGate()
			defer thinking.Open()
			c := claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{messages.Say("Done.").After(thinking)}}})
			waitHeld(t, l)
			c.WaitHook(1, "UserPromptSubmit")
			c.Signal(t, signal)
			sent := time.Now()
			if c.Wait(); signal != syscall.SIGKILL {
				sent = time.Now() // the client takes its leave, and may work until then
			}
			bar(t, "from the client's end to no lock", waitFree(t, l, sent), 2*time.Second)
			if text := g.Run("why"); signal == syscall.SIGKILL && !strings.Contains(text, "owner_exit") {
				t.Errorf("why does not name owner_exit:\n%s", text)
			}
		})
	}

	t.Run("case 7 held until the last background work is done", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		looking := modelserver.NewGate()
		c := claude.Run(t, l, claude.Options{Allow: []string{"Bash", "Agent"}, Script: messages.Script{
			Lanes: []messages.Lane{{Name: "subagent", Match: "SUBTASK", Turns: []messages.Turn{messages.Say("Looked.").After(looking)}}},
			Turns: []messages.Turn{
				messages.Use(
					messages.Tool("Bash", map[string]any{"command": until("go"), "description": "wait", "run_in_background": true}),
					messages.Tool("Agent", map[string]any{"description": "look", "prompt": "SUBTASK please", "subagent_type": "general-purpose"})),
				messages.Say("Started both."),
			}}})
		stop := c.WaitHook(1, "Stop")
		for _, kind := range []string{"shell", "subagent"} {
			if !strings.Contains(stop.String("background_tasks"), `"`+kind+`"`) {
				t.Fatalf("the first Stop names no %s: %s", kind, stop.String("background_tasks"))
			}
		}
		staysHeld(t, l, 3*time.Second) // longer than a Stop settles
		if s := statusOf(g); !s.Awake || s.Runtime.Sessions[0].State != "background" {
			t.Errorf("status while both run: %+v", s.Runtime)
		}
		looking.Open()
		c.WaitHook(2, "Stop") // the one that the subagent's result started
		staysHeld(t, l, 3*time.Second)
		touch(t, filepath.Join(c.Project, "go"))
		last := c.WaitHook(3, "Stop")
		waitFree(t, l, last.At)
		c.Wait()
	})

	t.Run("case 28046 one lock each over hundreds of tool events", func(t *testing.T) {
		l := l.For(t)
		machine.Write(t, l, filepath.Join(l.Home(), "project", "a.txt"), "one\n")
		read := messages.Tool("Read", map[string]any{"file_path": "${PROJECT}/a.txt"})
		thinking := modelserver.NewGate()
		turns := []messages.Turn{messages.Use(read)}
		for range 4 {
			turns = append(turns, messages.Use(slices.Repeat([]messages.Block{read}, 25)...))
		}
		c := claude.Run(t, l, claude.Options{NoRecorder: true, Script: messages.Script{Turns: append(turns, messages.Say("Read.").After(thinking))}})
		runtime := waitHeld(t, l)
		c.Model.WaitRequests(t, 2)
		fds := descriptors(t, l, runtime)
		most := 0
		wait.Until(t, 2*wait.Long, "all tool calls", func() (bool, string) {
			if list := ours(l); len(list) != 2 || list[0].PID != runtime {
				t.Fatalf("held: %+v", list)
			}
			if children := childrenIn(t, l, runtime); len(children) > 0 {
				t.Fatalf("the runtime has children: %v", children)
			}
			most = max(most, descriptors(t, l, runtime))
			return len(c.Model.Requests()) >= len(turns)+1, fmt.Sprint(len(c.Model.Requests()), " requests")
		})
		t.Logf("descriptors of the runtime: %d before, %d at most of 202 tool events", fds, most)
		if most > fds+20 { // hooks come and go; a dozen may be connected at once
			t.Errorf("the runtime's descriptors grew from %d to %d", fds, most)
		}
		wait.Until(t, wait.Long, "the runtime to have let go of the hooks", func() (bool, string) {
			after := descriptors(t, l, runtime)
			return after <= fds+2, fmt.Sprintf("%d descriptors, %d before", after, fds)
		})
		thinking.Open()
		c.Wait()
		waitFree(t, l, time.Now())
	})

	t.Run("an API error ends the work", func(t *testing.T) {
		l := l.For(t)
		thinking := modelserver.NewGate()
		c := claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{
			messages.Fail(400, "invalid_request_error", "scripted").After(thinking)}}})
		waitHeld(t, l)
		thinking.Open()
		c.Wait()
		waitFree(t, l, time.Now())
	})
}

// Turns that end with no Stop, in one terminal: only the transcript tells.
func TestLocks_claudeInTheTerminal(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	lidguard.Install(t, l, "claude")
	slow := messages.Turn{Text: "The first words.\n\n" + strings.Repeat("Many more words.\n\n", 600), ChunkMS: 100}
	thinking := modelserver.NewGate()
	defer thinking.Open()
	held := filepath.Join(l.Home(), "held")
	c := claude.Open(t, l, claude.Options{
		Allow:   []string{"Bash"},
		Vars:    map[string]string{"CLAUDE_CODE_MAX_RETRIES": "0"}, // else an API error takes minutes to be one
		Answers: []record.Answer{{Event: "UserPromptSubmit", Contains: "forbidden", Exit: 2, Stderr: "not this one", After: held}},
		Script: messages.Script{Turns: []messages.Turn{
			slow,
			messages.Bash(until("never")),
			messages.Fail(500, "api_error", "scripted"),
			messages.Say("never said").After(thinking),
		}}})

	// interrupt presses Esc, and waits for what the client notes of it and then
	// for the locks to go.
	interrupt := func(report string, notes int) {
		t.Helper()
		c.Press(terminal.Esc)
		wait.Until(t, wait.Long, "the interrupt in the transcript", func() (bool, string) {
			text := read(t, c.Transcripts()[0])
			return strings.Count(text, "[Request interrupted by user") >= notes, c.Screen()
		})
		bar(t, report+": from the client's note of Esc to no lock", waitFree(t, l, time.Now()), 2*time.Second)
	}

	c.Say("write")
	waitHeld(t, l)
	c.WaitScreen("The first words")
	interrupt("case 9516, while the model writes", 1)
	c.WaitScreen("Interrupted")

	c.Say("run")
	c.WaitHook(1, "PreToolUse")
	waitHeld(t, l)
	c.Busy()
	interrupt("case 58807, while a tool runs", 2)

	c.Say("fail")
	failed := c.WaitHook(1, "StopFailure")
	t.Logf("from StopFailure to no lock: %v", waitFree(t, l, failed.At).Round(time.Millisecond))

	c.Say("forbidden")
	waitHeld(t, l)
	touch(t, held)
	c.WaitScreen("not this one")
	blocked := c.WaitHook(1, "UserPromptSubmit", "prompt=forbidden")
	t.Logf("from a blocked prompt to no lock: %v", waitFree(t, l, blocked.At).Round(time.Millisecond))

	c.Press("\x15") // the client has put the prompt back into the input
	c.WaitGone(`❯ *forbidden`)
	c.Say("think")
	waitHeld(t, l)
	c.Close()
	c.Wait()
	bar(t, "case 5295: from the end of a client whose terminal closed to no lock", waitFree(t, l, time.Now()), 2*time.Second)
	if got := c.Hooks.Events(t); slices.Contains(got, "Stop") {
		t.Errorf("a Stop came, so this test shows nothing: %v", got)
	}
}

// descriptors counts the open files of a process of the laptop.
func descriptors(t testing.TB, l *laptop.Laptop, pid uint32) int {
	t.Helper()
	entries, err := os.ReadDir(l.Proc(pid) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// childrenIn lists what a process of the laptop has started.
func childrenIn(t testing.TB, l *laptop.Laptop, pid uint32) []string {
	t.Helper()
	tasks, err := filepath.Glob(l.Proc(pid) + "/task/*/children")
	if err != nil || len(tasks) == 0 {
		t.Fatalf("the threads of process %d: %v", pid, err)
	}
	var all []string
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread ended
		}
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}
