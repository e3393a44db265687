// Command barehook is what a hook of the SDK is measured against: the least Go
// program that reads a payload, looks at the command and refuses pushes. It knows
// one client, checks nothing and promises nothing when it fails.
package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	var payload struct {
		Input struct {
			Command string `json:"command"`
		} `json:"tool_input"`
	}
	if err := json.Unmarshal(text, &payload); err != nil {
		os.Exit(1)
	}
	if !strings.Contains(payload.Input.Command, "git push") {
		return
	}
	answer := map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "Pushing is for people.",
	}}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		os.Exit(1)
	}
}
