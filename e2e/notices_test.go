//go:build linux

package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/terminal"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

const loudBook = `
[notices]
with = ["osc9", "osc777", "osc99", "title", "bell"]

[[rule]]
id = "no-deploy"
command = "touch *deployed*"
decision = "deny"
reason = "Deploys are a person's."
deny = ["touch ./deployed"]
allow = ["touch ./proof"]
`

// TestNotices_claudesTerminal: a permission dialog that nobody answers comes to the
// terminal of the real client in every way that the book names, and a
// refused call is told on the screen.
func TestNotices_claudesTerminal(t *testing.T) {
	t.Parallel()
	m := machine.Bench(t)
	lidguard.Install(t, m, "claude")
	machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "rules.toml"), loudBook)
	project := machine.Project(t, m, "harbour", true)
	c := claude.Open(t, m, claude.Options{Project: project, Script: messages.Script{Turns: []messages.Turn{
		messages.Bash("touch ${PROJECT}/proof"), messages.Bash("touch ${PROJECT}/deployed"), messages.Say("Done.")}}})
	c.Say("Do it.")
	c.WaitScreen("proof")
	message := c.WaitHook(1, "Notification", "notification_type=permission_prompt").String("message")
	// The client ends a sequence as it likes, by BEL or ST.
	text, end := regexp.QuoteMeta("harbour: "+message), "(?:\x07|\x1b\\\\)"
	want := regexp.MustCompile("\x1b\\]9;" + text + end + "\x1b\\]777;notify;lidguard;" + text + end + "\x1b\\]99;i=lidguard:d=1;" + text + end + "\x1b\\]2;" + text + end + "\x07")
	wait.Until(t, wait.Long, "the notice on the terminal", func() (bool, string) {
		out := c.Output()
		at := max(0, strings.LastIndex(out, "lidguard;")-200)
		return want.MatchString(out), fmt.Sprintf("%q", out[at:min(len(out), at+800)])
	})
	if n := strings.Count(c.Output(), "\x1b]777;notify;lidguard;"); n != 1 {
		t.Errorf("%d notices of one dialog", n)
	}
	c.Answer("Do you want to proceed", terminal.Enter)
	c.WaitHook(1, "Stop")
	c.WaitScreen(`lidguard refused a call of Bash \(no-deploy\)`)
	if exists(project, "deployed") || !exists(project, "proof") {
		t.Error("the refused call ran, or the other one did not")
	}
	c.Exit()
}
