package hook_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/lidguard-go/lidguard/hook"
)

// finish asks once for the tests when the agent wants to end without a word about
// them. Continue yields by itself the second time.
func finish(_ context.Context, ev hook.Event) hook.Verdict {
	stop, ok := ev.Stopped()
	if !ok || stop.Subagent || strings.Contains(stop.LastMessage, "tests pass") {
		return hook.None()
	}
	return hook.Continue("Run the tests and say whether the tests pass.")
}

// A continuation at the end of a turn.
func Example_stopContinuation() {
	for _, payload := range []string{
		`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done."}`,
		`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"Done."}`,
		`{"session_id":"s","hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done, all tests pass."}`,
	} {
		code := hook.Run(finish, []string{"--provider", "codex"}, os.Getenv, strings.NewReader(payload), os.Stdout, os.Stdout, hook.Helper)
		fmt.Printf("\nexit %d\n", code)
	}
	// Output:
	// {"decision":"block","reason":"Run the tests and say whether the tests pass."}
	// exit 0
	//
	// exit 0
	//
	// exit 0
}
