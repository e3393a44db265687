//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/build"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// permissions is `linux-permission check --json`.
type permissions struct {
	OK         bool   `json:"ok"`
	CanSuspend string `json:"can_suspend"`
	Verdicts   []struct{ Action, Verdict string }
}

func (p permissions) verdict(action string) string {
	for _, v := range p.Verdicts {
		if v.Action == "org.freedesktop.login1."+action {
			return v.Verdict
		}
	}
	return "not asked"
}

func parsePermissions(t testing.TB, text string) (p permissions) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(p.Verdicts) != 7 {
		t.Fatalf("%d verdicts: %s", len(p.Verdicts), text)
	}
	return p
}

// Somebody without a session on the machine, as over ssh or in cron, gets the
// lid's lock by the rule; nobody else does; and it ends with the rule.
func TestPermission_ruleForOneUser(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t, laptop.Options{NoSession: true})
	g := lidguard.Put(t, l)
	program := build.Program(t, "bin", "./cmd/lidguard")
	l.Root("useradd", "--no-create-home", "other")
	mine := func() permissions {
		stdout, _, _ := g.Try("linux-permission", "check", "--json") // exit 1 is an answer
		return parsePermissions(t, stdout)
	}
	others := func() permissions {
		return parsePermissions(t, l.Root("sh", "-c",
			"setpriv --reuid other --regid other --clear-groups -- env HOME=/ "+program+" linux-permission check --json || true"))
	}
	ask := func(what string, want bool) permissions {
		t.Helper()
		var p permissions
		wait.Until(t, wait.Long, what, func() (bool, string) { p = mine(); return p.OK == want, fmt.Sprintf("%+v", p) })
		return p
	}

	before := mine()
	if before.OK || before.verdict("inhibit-handle-lid-switch") == "yes" || before.CanSuspend == "yes" {
		t.Fatalf("a person without a session may do that already: %+v", before)
	}
	if text := l.Root(program, "linux-permission", "install", "--user", "lab"); !strings.Contains(text, "installed for lab") {
		t.Errorf("install said %q", text)
	}
	if text := l.Root(program, "linux-permission", "install", "--user", "lab"); !strings.Contains(text, "nothing to change") {
		t.Errorf("the second install said %q", text)
	}
	after := ask("polkit to grant what the rule says", true)
	if after.CanSuspend != "yes" {
		t.Errorf("after the rule: %+v", after)
	}
	if p := others(); p.OK || p.verdict("inhibit-handle-lid-switch") == "yes" || p.verdict("suspend") == "yes" || p.CanSuspend == "yes" {
		t.Errorf("the rule for lab grants to another user: %+v", p)
	}
	// The rule grants seven actions and no eighth.
	eighth := l.Root("sh", "-c", "setpriv --reuid lab --regid lab --clear-groups -- sh -c "+
		"'pkcheck --action-id org.freedesktop.login1.power-off --process $$ && echo granted || echo refused'")
	if !strings.Contains(eighth, "refused") {
		t.Errorf("power-off is %q", eighth)
	}
	if n := len(l.Sleeps()); n != 0 {
		t.Errorf("asking put the machine to sleep %d times", n)
	}

	g.Set("post-stop-suspend-delay-seconds", "0")
	g.Run("start", "--session", "over-ssh")
	l.WaitInhibitor(laptop.Inhibitor{What: "handle-lid-switch", Who: "lidguard", Mode: "block"})
	l.CloseLid()
	l.StaysAwake(2 * time.Second)
	g.Run("stop", "--session", "over-ssh")
	l.WaitSleeps(1)
	l.OpenLid()

	if text := l.Root(program, "linux-permission", "remove"); !strings.Contains(text, "removed") {
		t.Errorf("remove said %q", text)
	}
	gone := ask("the rights to end with the rule", false)
	if gone.verdict("inhibit-handle-lid-switch") == "yes" {
		t.Errorf("after the removal: %+v", gone)
	}
	if text := l.Root("sh", "-c", "ls /etc/polkit-1/rules.d"); strings.Contains(text, "lidguard") {
		t.Errorf("left in the folder: %s", text)
	}
	g.Run("start", "--session", "again")
	waitText(t, g, "org.freedesktop.login1.inhibit-handle-lid-switch", "status")
	if l.Held(laptop.Inhibitor{What: "handle-lid-switch", Who: "lidguard"}) {
		t.Error("the lid is held without the right to it")
	}
}
