//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/record"
)

// The life of the locks under Codex, on one laptop.
func TestLocks_codex(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Install(t, l, "codex")

	t.Run("a subagent that outlives its parent's turn holds on", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		looking := modelserver.NewGate()
		c := codex.Open(t, l, codex.Options{Approval: "never", Sandbox: codex.FullAccess, Script: responses.Script{
			// The subagent's own conversation, which alone is opened by the task as its prompt.
			Routes: []responses.Route{{Contains: "SUBTASK: look around\ninput_text", Turns: []responses.Turn{responses.Say("Looked.").After(looking)}}},
			Turns: []responses.Turn{
				{Call: "spawn_agent", Namespace: "multi_agent_v1", Args: map[string]any{"message": "SUBTASK: look around", "agent_type": "explorer"}},
				responses.Say("Parent done."),
			}},
			Args: []string{"-c", `model="unknown-model"`}}) // the model whose tools include spawn_agent
		c.Say("Delegate.")
		c.WaitHook(1, "SubagentStart")
		c.WaitHook(1, "Stop")
		staysHeld(t, l, 3*time.Second) // longer than a Stop settles
		if s := statusOf(g); !s.Awake || s.Runtime.Sessions[0].State != "background" {
			t.Errorf("status while the subagent works: %+v", s.Runtime)
		}
		looking.Open()
		waitFree(t, l, c.WaitHook(1, "SubagentStop").At)
		c.Exit()
	})

	t.Run("an interrupt and an API error end the work", func(t *testing.T) {
		l := l.For(t)
		c := codex.Open(t, l, codex.Options{Approval: "never", Sandbox: codex.FullAccess, Script: responses.Script{Turns: []responses.Turn{
			responses.Shell("sleep 60"),
			responses.Fail(400, "scripted"),
		}}})
		c.Say("Wait.")
		c.WaitHook(1, "PreToolUse")
		waitHeld(t, l)
		pressed := time.Now()
		c.Interrupt()
		bar(t, "from Esc to no lock", waitFree(t, l, pressed), 2*time.Second)
		c.Say("Fail.")
		if status := c.WaitTurns(2); status != "failed" {
			t.Errorf("the turn is %s", status)
		}
		t.Logf("from the failed turn to no lock: %v", waitFree(t, l, time.Now()).Round(time.Millisecond))
		if got := c.Hooks.Events(t); slices.Contains(got, "Stop") {
			t.Errorf("a Stop came, so this test shows nothing: %v", got)
		}
		c.Exit()
	})

	t.Run("a blocked prompt ends the work", func(t *testing.T) {
		l := l.For(t)
		held := filepath.Join(l.Home(), "held")
		c := codex.Open(t, l, codex.Options{Answers: []record.Answer{{Event: "UserPromptSubmit", Exit: 2, Stderr: "not this one", After: held}}})
		c.Say("Forbidden.")
		waitHeld(t, l)
		touch(t, held)
		c.WaitTurns(1)
		waitFree(t, l, time.Now())
		if n := len(c.Model.Requests()); n != 0 {
			t.Errorf("the model was asked %d times, so the prompt was not blocked", n)
		}
		c.Exit()
	})

	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run("codex exec ended by "+signal.String(), func(t *testing.T) {
			l, g := l.For(t), g.For(t)
			thinking := modelserver.NewGate()
			defer thinking.Open()
			c := codex.Exec(t, l, codex.Options{Script: responses.Script{Turns: []responses.Turn{responses.Say("Done.").After(thinking)}}})
			waitHeld(t, l)
			client := c.WaitHook(1, "UserPromptSubmit").Ancestry
			i := slices.IndexFunc(client, func(a record.Ancestor) bool { return a.Name == "codex" })
			if i < 0 {
				t.Fatalf("no codex above the hook: %+v", client)
			}
			sent := time.Now()
			l.Root("kill", fmt.Sprintf("-%d", signal), fmt.Sprint(client[i].PID))
			bar(t, "to no lock", waitFree(t, l, sent), 2*time.Second)
			if text := g.Run("why"); !strings.Contains(text, "owner_exit") {
				t.Errorf("why does not name owner_exit:\n%s", text)
			}
		})
	}

	t.Run("case 18607 a client that sends nothing but the prompt", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		hooks := filepath.Join(l.Home(), ".codex", "hooks.json")
		onlyPrompt(t, l, hooks)
		thinking := modelserver.NewGate()
		c := codex.Exec(t, l, codex.Options{NoRecorder: true, Project: machine.Project(t, l, "bare", true),
			Script: responses.Script{Turns: []responses.Turn{responses.Say("Done.").After(thinking)}}})
		waitHeld(t, l)
		thinking.Open()
		c.Wait()
		waitFree(t, l, time.Now())
		g.Run("hook-install", "--provider", "codex")
	})

	t.Run("case dosu-81 hooks that nobody trusts yet are said to be so", func(t *testing.T) {
		l, g := l.For(t), g.For(t)
		config := filepath.Join(l.Home(), ".codex", "config.toml")
		before := read(t, filepath.Join(l.Home(), ".codex", "hooks.json"))
		machine.Write(t, l, config, "model = \"gpt-5.5\"\n") // as after a fresh install: no trust
		stdout, _, code := g.Try("hook-status", "--provider", "codex")
		if code == 0 || !strings.Contains(strings.ToLower(stdout), "trust") {
			t.Errorf("hook-status of untrusted hooks: exit %d\n%s", code, stdout)
		}
		if g.Run("hook-install", "--provider", "codex"); read(t, filepath.Join(l.Home(), ".codex", "hooks.json")) != before {
			t.Error("installing once more changed the hooks, which would end their trust")
		}
		c := codex.Exec(t, l, codex.Options{NoRecorder: true, Project: machine.Project(t, l, "untrusted", true),
			Script: responses.Script{Turns: []responses.Turn{responses.Say("Done.")}}})
		c.Wait()
		if held := ours(l); len(held) > 0 {
			t.Errorf("an untrusted hook ran: %+v", held)
		}
	})
}

// onlyPrompt takes all of lidguard's hooks but that of the prompt out of the
// file, and trusts what is left.
func onlyPrompt(t testing.TB, m machine.Machine, path string) {
	t.Helper()
	var file struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(read(t, path)), &file); err != nil {
		t.Fatal(err)
	}
	for event := range file.Hooks {
		if event != "UserPromptSubmit" {
			delete(file.Hooks, event)
		}
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	machine.Write(t, m, path, string(text))
	codex.Trust(t, m, path)
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
