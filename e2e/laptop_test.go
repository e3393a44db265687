//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/client/codex"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/responses"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
)

// standIn is the smallest keep-awake there can be, two shell hooks: it shows
// that client, hooks, logind and lid come together in the laptop, whatever
// state lidguard is in.
const standIn = `{"hooks": {
	"UserPromptSubmit": [{"hooks": [{"type": "command", "command":
		"setsid systemd-inhibit --what=handle-lid-switch --who=stand-in --mode=block sleep 600 >/dev/null 2>&1 & echo $! > $HOME/holder"}]}],
	"Stop": [{"hooks": [{"type": "command", "command": "kill $(cat $HOME/holder)"}]}]}}`

func TestLaptop_aHookKeepsItAwakeWhileClaudeWorks(t *testing.T) {
	t.Parallel()
	thinking := modelserver.NewGate()
	l := laptop.Start(t)
	machine.Write(t, l, filepath.Join(l.Home(), ".claude", "settings.json"), standIn)
	c := claude.Run(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{
		messages.Say("Done.").After(thinking),
	}}})
	lock := l.WaitInhibitor(laptop.Inhibitor{What: "handle-lid-switch", Who: "stand-in"})
	if lock.UID != uint32(l.UID()) {
		t.Errorf("held by uid %d", lock.UID)
	}
	l.CloseLid()
	l.StaysAwake(time.Second)
	thinking.Open()
	l.WaitSleeps(1)
	l.OpenLid()
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}
	// The client is a program of the logged-in person, not of some service.
	stop := c.WaitHook(1, "Stop")
	if stop.Client["XDG_SESSION_ID"] == "" || stop.Client["XDG_RUNTIME_DIR"] == "" {
		t.Errorf("the hook's environment: %v", stop.Client)
	}
	if chain := stop.Ancestry; len(chain) < 2 || !strings.HasPrefix(chain[1].Name, "claude") && !strings.HasPrefix(chain[0].Name, "claude") {
		t.Errorf("the hook's ancestors: %+v", chain)
	}
}

func TestLaptop_interactiveClaude(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	c := claude.Open(t, l, claude.Options{Script: messages.Script{Turns: []messages.Turn{
		messages.Bash("touch ${PROJECT}/asked"), messages.Say("Done."),
	}}})
	c.Say("go on")
	c.Answer("Do you want", terminal.Enter)
	c.WaitHook(1, "Stop")
	if _, err := os.Stat(filepath.Join(c.Project, "asked")); err != nil {
		t.Error(err)
	}
	c.Exit()
}

func TestLaptop_codexAsks(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	c := codex.Open(t, l, codex.Options{Script: responses.Script{Turns: []responses.Turn{
		responses.Escalated("touch made", "needs to write a file"), responses.Say("Done."),
	}}})
	c.Say("Make a file.")
	c.WaitPrompt().Accept()
	c.WaitTurns(1)
	if _, err := os.Stat(filepath.Join(c.Project, "made")); err != nil {
		t.Error(err)
	}
	c.Exit()
	if got := c.Hooks.Events(t); got[len(got)-1] != "SessionEnd" {
		t.Errorf("events: %v", got)
	}
}
