//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/build"
	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// The bar is 200, which takes some minutes: go test ./e2e -run Power_killed -args -kills 200
var (
	kills    = flag.Int("kills", 5, "how often the runtime is killed at a random moment")
	killSeed = flag.Uint64("killseed", 1, "which moments")
)

// Report claude-threads#480: hard kills left 43 inhibitors behind. The runtime is
// killed at random moments: while it starts, takes, serves, lets go, leaves. No lock
// stays longer than a second, and the next event of a living session brings
// everything back. (The keeper has nothing to keep on Linux, and is not started.)
func TestPower_killedAtRandomMoments(t *testing.T) {
	t.Parallel()
	l := laptop.Start(t)
	g := lidguard.Put(t, l)
	g.Set("server-runtime-cleanup-delay-minutes", "0") // it leaves between, too
	hook := build.Program(t, "bin", "./cmd/lidguard-hook")
	payload := func(event, session string) string {
		return fmt.Sprintf(`{"session_id":%q,"transcript_path":"","cwd":"/","hook_event_name":%q,"prompt":"go","tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"u"}`, session, event)
	}
	run := func(event, session string) {
		t.Helper()
		stdout, stderr, code := machine.Run(t, l, machine.Spec{Args: []string{hook, "claude-hook"}, Stdin: payload(event, session)})
		if code != 0 || stdout+stderr != "" {
			t.Errorf("%s: exit %d, %s%s", event, code, stdout, stderr)
		}
	}
	rng := rand.New(rand.NewPCG(*killSeed, 0))
	mine := laptop.Inhibitor{Who: "lidguard"}
	var gone, back []time.Duration
	struck := 0
	for n := range *kills {
		session := fmt.Sprint("kill-", n)
		// A life of one session, cut short at a moment of it.
		moment := time.Duration(rng.Int64N(int64(400 * time.Millisecond)))
		life := make(chan struct{})
		go func() { // ends with its last hook; waited for below
			defer close(life)
			for _, event := range []string{"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit"} {
				machine.Run(t, l, machine.Spec{Args: []string{hook, "claude-hook"}, Stdin: payload(event, session)})
			}
		}()
		timer := time.NewTimer(moment)
		<-timer.C
		struck += len(kill(l))
		<-life
		killed := time.Now()
		struck += len(kill(l)) // the one that hooks after the first kill began
		l.WaitNoInhibitor(mine)
		gone = append(gone, time.Since(killed))
		bar(t, "from kill -9 of the runtime to no lock", gone[n], time.Second)
		began := time.Now()
		run("PreToolUse", session) // the session lives
		waitHeld(t, l)
		back = append(back, time.Since(began))
		run("Stop", session)
		run("SessionEnd", session)
		l.WaitNoInhibitor(mine)
	}
	slices.Sort(gone)
	slices.Sort(back)
	t.Logf("%d runtimes killed at %d moments; from the kill to no lock: median %v, worst %v; from the next event to both locks: median %v, worst %v",
		struck, *kills, gone[len(gone)/2], gone[len(gone)-1], back[len(back)/2], back[len(back)-1])
	if struck < *kills {
		t.Errorf("only %d runtimes were there to be killed", struck)
	}
	wait.Until(t, wait.Long, "no process to be left behind but the last runtime", func() (bool, string) {
		left := l.Root("sh", "-c", "pgrep -u lab -a lidguard || true")
		return strings.Count(left, "\n") <= 1, left
	})
}

// kill ends every runtime of the laptop's person the hard way and returns their
// process ids there.
func kill(l *laptop.Laptop) []string {
	pids := strings.Fields(l.Root("sh", "-c", "pgrep -u lab -x lidguard || true"))
	if len(pids) > 0 {
		l.Root("sh", "-c", "kill -KILL "+strings.Join(pids, " ")+" 2>/dev/null || true") // one may have left by itself
	}
	return pids
}
