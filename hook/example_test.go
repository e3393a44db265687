package hook_test

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

// The arguments of a call can be rewritten; here a tool never runs without a
// limit.
func ExampleRewriteInput() {
	body := func(_ context.Context, ev hook.Event) hook.Verdict {
		cmd, ok := ev.Bash()
		if !ok || !strings.HasPrefix(cmd.Text, "npm test") {
			return hook.None()
		}
		return hook.RewriteInput(map[string]string{"command": "timeout 300 " + cmd.Text, "description": cmd.Description})
	}
	payload := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test","description":"test"}}`
	hook.Run(body, []string{"--provider", "claude"}, os.Getenv, strings.NewReader(payload), os.Stdout, os.Stdout, hook.Helper)
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"timeout 300 npm test","description":"test"}}}
}

// Verdicts can be put together.
func ExampleVerdict_With() {
	body := func(context.Context, hook.Event) hook.Verdict {
		return hook.Ask("This opens a tunnel.").ByRule("tunnel").With(hook.AddContext("The staging network is reachable without one."))
	}
	payload := `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ssh -L 1:h:1 h"}}`
	hook.Run(body, []string{"--provider", "claude"}, os.Getenv, strings.NewReader(payload), os.Stdout, os.Stdout, hook.Deadline(time.Minute))
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"This opens a tunnel. [tunnel]","additionalContext":"The staging network is reachable without one."}}
}

// A resident hook answers lines of JSON for as long as standard input is open.
func ExampleServeOn() {
	requests := `{"id":1,"provider":"claude","event":{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}}
{"id":2,"provider":"claude"}
`
	hook.ServeOn(context.Background(), strings.NewReader(requests), os.Stdout, protect, hook.Gate, hook.Deadline(time.Minute))
	// Unordered output:
	// {"id":1,"verdict":{"decision":"deny","reason":"Pushing is for people. Leave the commit local and say that it is ready.","rule":"no-push"}}
	// {"id":2,"error":"a request without an \"event\""}
}
