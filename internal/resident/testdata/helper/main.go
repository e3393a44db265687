// Command helper is a resident hook as anybody writes one with the SDK, for the
// tests of internal/resident. A call's command says what becomes of it.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

func main() { hook.Serve(judge, hook.Gate, hook.Deadline(20*time.Second)) }

// cancelled counts the bodies that were told to stop.
var cancelled atomic.Int64

func judge(ctx context.Context, ev hook.Event) hook.Verdict {
	cmd, ok := ev.Bash()
	if !ok {
		return hook.None()
	}
	word, rest, _ := strings.Cut(cmd.Text, " ")
	switch word {
	case "deny":
		return hook.Deny("as asked: " + rest).ByRule("asked")
	case "panic":
		panic(rest)
	case "exit":
		fmt.Fprintln(os.Stderr, "leaving in a hurry")
		os.Exit(3)
	case "wait":
		<-ctx.Done()
		cancelled.Add(1)
	case "cancelled":
		return hook.AddContext(fmt.Sprint(cancelled.Load()))
	case "use":
		var mib int
		fmt.Sscan(rest, &mib)
		block := make([]byte, mib<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1 // what is not touched is not used
		}
		return hook.AddContext(fmt.Sprint(len(block) >> 20))
	}
	return hook.None()
}
