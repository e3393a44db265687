package hook_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

// secret is compiled when it is needed first, since most events have none.
var secret = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`tok_[0-9a-z]{8,}`) })

// redact takes tokens out of what tools give, in whatever shape they give it. As
// a gate it withholds a result that it could not look through.
func redact(_ context.Context, ev hook.Event) hook.Verdict {
	res, ok := ev.Result()
	if !ok || !strings.Contains(string(res.Raw), "tok_") {
		return hook.None()
	}
	masked, changed := res.MapStrings(func(text string) string { return secret().ReplaceAllString(text, "tok_***") })
	if !changed {
		return hook.None()
	}
	return hook.RewriteOutput(masked)
}

// A redactor. Each client has a way of its own to replace a result; Codex shows
// the model the new text in place of it.
func Example_redactor() {
	for _, call := range []struct {
		provider, payload string
	}{
		{"claude", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"env"},"tool_response":{"stdout":"KEY=tok_12345678\nHOME=/h","stderr":"","interrupted":false,"isImage":false}}`},
		{"codex", `{"session_id":"s","turn_id":"1","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"env"},"tool_response":"KEY=tok_12345678"}`},
	} {
		hook.Run(redact, []string{"--provider", call.provider}, os.Getenv, strings.NewReader(call.payload), os.Stdout, os.Stdout, hook.Gate, hook.Deadline(time.Minute))
		fmt.Println()
	}
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"KEY=tok_***\nHOME=/h","stderr":"","interrupted":false,"isImage":false}}}
	// {"decision":"block","reason":"KEY=tok_***"}
}
