package hook_test

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

// protect keeps agents from pushing and from writing generated files. It is a
// gate: what it cannot judge does not happen.
func protect(_ context.Context, ev hook.Event) hook.Verdict {
	if !ev.BeforeCall() {
		return hook.None()
	}
	if cmd, ok := ev.Bash(); ok && strings.Contains(cmd.Text, "git push") {
		return hook.Deny("Pushing is for people. Leave the commit local and say that it is ready.").ByRule("no-push")
	}
	if edit, ok := ev.Edit(); ok {
		for _, file := range edit.Paths() {
			if strings.HasSuffix(file, ".pb.go") {
				return hook.Deny(path.Base(file) + " is generated. Edit the .proto file and run make proto.").ByRule("generated")
			}
		}
	}
	return hook.None()
}

// A gate, and what it answers to three clients. A program calls
// hook.Main(protect, hook.Gate) instead of Run.
func Example_gate() {
	for _, call := range []struct {
		args    []string
		payload string
	}{
		{[]string{"--provider", "claude"},
			`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push"}}`},
		{[]string{"--provider", "codex"},
			`{"session_id":"s","turn_id":"1","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Update File: api/api.pb.go\n@@\n+x\n*** End Patch"}}`},
		{[]string{"--provider", "copilot", "--event", "preToolUse"},
			`{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":{"command":"git status"}}`},
		{[]string{"--provider", "claude"}, `{"session_id":"s","hook_ev`},
	} {
		code := hook.Run(protect, call.args, os.Getenv, strings.NewReader(call.payload), os.Stdout, os.Stdout,
			hook.Gate, hook.Named("protect"), hook.Deadline(time.Minute)) // a minute: an example may run on a busy machine
		fmt.Printf("\nexit %d\n", code)
	}
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Pushing is for people. Leave the commit local and say that it is ready. [no-push]"}}
	// exit 0
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"api.pb.go is generated. Edit the .proto file and run make proto. [generated]"}}
	// exit 0
	//
	// exit 0
	// protect could not judge this (claude hook payload: JSON text ends at byte 26), so it is refused.
	// exit 2
}
