// Command baregate is what the gate is measured against: a Go program that reads a
// payload from stdin, decodes it, parses its command with mvdan.cc/sh, looks at the
// words of every program in it, sends one line over a Unix socket and reads one line
// back, as a hook does that also tracks sessions, and answers by one rule. The
// socket's path is its only argument.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
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
		Session json.RawMessage `json:"session_id"`
		Input   struct {
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
	conn, err := net.Dial("unix", os.Args[1])
	if err != nil {
		os.Exit(2)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"session":` + string(call.Session) + "}\n")); err != nil {
		os.Exit(2)
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		os.Exit(2)
	}
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
