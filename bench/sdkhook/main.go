// Command sdkhook is a hook written with the public SDK, as a stranger would: it
// refuses pushes and lets everything else pass. bench measures it against
// barehook, which does the same by hand.
package main

import (
	"context"
	"strings"

	"github.com/lidguard-go/lidguard/hook"
)

func main() {
	hook.Main(func(_ context.Context, ev hook.Event) hook.Verdict {
		if cmd, ok := ev.Bash(); ok && ev.BeforeCall() && strings.Contains(cmd.Text, "git push") {
			return hook.Deny("Pushing is for people.")
		}
		return hook.None()
	}, hook.Gate)
}
