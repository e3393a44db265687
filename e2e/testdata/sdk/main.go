// Command guard is a hook for coding agents: nobody pushes, no token reaches the
// model, and the work is not over before the tests were run.
package main

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

// A busy machine gets a second; what takes longer is refused.
func main() { hook.Main(guard, hook.Gate, hook.Deadline(time.Second)) }

func guard(_ context.Context, ev hook.Event) hook.Verdict {
	if cmd, ok := ev.Bash(); ok && ev.BeforeCall() && strings.Contains(cmd.Text, "git push") {
		return hook.Deny("Pushing is for people. Leave the commit local and say that it is ready.").ByRule("no-push")
	}
	if res, ok := ev.Result(); ok && strings.Contains(res.Text, "tok_") {
		masked, _ := res.MapStrings(func(s string) string { return token().ReplaceAllString(s, "tok_***") })
		return hook.RewriteOutput(masked)
	}
	if _, ok := ev.Started(); ok {
		return hook.AddContext("Work on a branch, never on main.")
	}
	if stop, ok := ev.Stopped(); ok && !strings.Contains(stop.LastMessage, "tests pass") {
		return hook.Continue("Run the tests and say whether the tests pass.")
	}
	return hook.None()
}

// token is compiled when it is needed first, since most events have none.
var token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`tok_[0-9a-z]{8,}`) })
