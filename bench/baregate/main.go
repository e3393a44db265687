// Command baregate is what the gate is measured against: a Go program that reads a
// payload from stdin, decodes it, parses its command with mvdan.cc/sh, looks at the
// words of every program in it, and answers by one rule. It is the least that any
// gate in Go has to do.
package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func main() {
	payload, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(2)
	}
	var call struct {
		Input struct {
			Command string `json:"command"`
		} `json:"tool_input"`
	}
	if err := json.Unmarshal(payload, &call); err != nil {
		os.Exit(2)
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(call.Input.Command), "")
	if err != nil {
		os.Exit(2)
	}
	refuse := false
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok && len(c.Args) > 1 && c.Args[0].Lit() == "rm" {
			for _, w := range c.Args[1:] {
				refuse = refuse || w.Lit() == "/"
			}
		}
		return true
	})
	if !refuse {
		return
	}
	answer, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{
		"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "it would delete everything"}})
	if err != nil {
		os.Exit(2)
	}
	os.Stdout.Write(answer)
}
