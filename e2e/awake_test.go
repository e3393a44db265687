//go:build linux

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
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
	// logind's own sleep, which begins as the lock goes, and the one that
	// lidguard asks for are one.
	waitText(t, g, "slept", "suspend-history")
	if text := g.Run("suspend-history"); strings.Count(text, "slept") != 1 || strings.Contains(text, "refused") {
		t.Errorf("the history of one sleep:\n%s", text)
	}
	if s := statusOf(g); slices.ContainsFunc(s.Findings, func(f finding) bool { return f.Code == "suspend-refused" }) {
		t.Errorf("findings after one sleep: %+v", s.Findings)
	}
}
