package codex

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// The closed shapes of what this codec writes, per event: contract §4. A member
// that is not here makes the client throw the whole answer away.

var (
	message  = jsontext.Field{Key: "systemMessage", Kind: "string"}
	goOn     = jsontext.Field{Key: "continue", Kind: "bool"}
	decision = jsontext.Field{Key: "decision", Kind: "string", Enum: []string{"block"}}
	because  = jsontext.Field{Key: "reason", Kind: "string"}

	contextual = jsontext.Shape{{Key: "additionalContext", Kind: "string"}}
	preToolUse = jsontext.Shape{
		{Key: "permissionDecision", Kind: "string", Enum: []string{"allow", "deny"}},
		{Key: "permissionDecisionReason", Kind: "string"},
		{Key: "updatedInput", Kind: "object"},
		{Key: "additionalContext", Kind: "string"},
	}
	permissionRequest = jsontext.Shape{{Key: "decision", Kind: "object", Required: true, Members: jsontext.Shape{
		{Key: "behavior", Kind: "string", Enum: []string{"allow", "deny"}, Required: true},
		{Key: "message", Kind: "string"},
	}}}
)

// check reports why the client would throw body away at this event.
func check(name event.Name, body []byte) error {
	var top, inner jsontext.Shape
	switch name {
	case event.SessionStart:
		top, inner = jsontext.Shape{message, goOn}, contextual
	case event.UserPromptSubmit:
		top, inner = jsontext.Shape{message, goOn, decision, because}, contextual
	case event.SubagentStart:
		top, inner = jsontext.Shape{message}, contextual
	case event.PreToolUse:
		top, inner = jsontext.Shape{message}, preToolUse
	case event.PermissionRequest:
		inner = permissionRequest
	case event.PostToolUse:
		top, inner = jsontext.Shape{message, decision, because}, contextual
	case event.Stop, event.SubagentStop:
		top = jsontext.Shape{message, goOn, decision, because}
	case event.PreCompact, event.PostCompact:
		top = jsontext.Shape{message, goOn}
	case event.Interrupt:
		top = jsontext.Shape{message}
	}
	if inner != nil {
		named := jsontext.Shape{{Key: "hookEventName", Kind: "string", Enum: []string{string(name)}, Required: true}}
		top = append(top, jsontext.Field{Key: "hookSpecificOutput", Kind: "object", Members: append(named, inner...)})
	}
	if err := top.Check(body); err != nil {
		return err
	}
	return together(body)
}

// together holds the rules between members: a denial and a block need a reason,
// an allow is a rewrite and a rewrite an allow.
func together(body []byte) error {
	inner := jsontext.Member(body, "hookSpecificOutput")
	decided := jsontext.Text(inner, "permissionDecision")
	blank := func(text string) bool { return strings.TrimSpace(text) == "" }
	switch {
	case decided == "deny" && blank(jsontext.Text(inner, "permissionDecisionReason")):
		return fmt.Errorf("a denial without a reason")
	case (decided == "allow") != (jsontext.Member(inner, "updatedInput") != nil):
		return fmt.Errorf("an allow without a rewrite, or a rewrite without an allow")
	case (jsontext.Member(body, "decision") != nil) != !blank(jsontext.Text(body, "reason")):
		return fmt.Errorf("a block without a reason, or a reason without a block")
	}
	return nil
}
