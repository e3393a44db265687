package copilot

import (
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// The closed shapes of what this codec writes, per event: contract §2 "stdout
// honoured", §3.

var (
	contextual = jsontext.Field{Key: "additionalContext", Kind: "string"}
	blocking   = jsontext.Shape{
		{Key: "decision", Kind: "string", Enum: []string{"block"}},
		{Key: "reason", Kind: "string"},
	}
	decided = jsontext.Shape{
		{Key: "permissionDecision", Kind: "string", Enum: []string{"allow", "deny", "ask"}},
		{Key: "permissionDecisionReason", Kind: "string"},
	}
	permission = jsontext.Shape{
		{Key: "behavior", Kind: "string", Enum: []string{"allow", "deny"}, Required: true},
		{Key: "message", Kind: "string"},
		{Key: "interrupt", Kind: "bool"},
	}
	rewritten = jsontext.Field{Key: "modifiedResult", Kind: "object"}
)

// check reports why body is no answer the client honours for this event.
func check(ev *event.Event, body []byte) error {
	var shape jsontext.Shape
	switch ev.Name {
	case event.SessionStart, event.SubagentStart, event.PostToolUseFailure:
		shape = with(contextual)
	case event.UserPromptSubmit:
		shape = with(contextual, blocking...)
	case event.PreToolUse:
		if pascal(ev.Native) {
			named := jsontext.Field{Key: "hookEventName", Kind: "string", Enum: []string{"PreToolUse"}, Required: true}
			inner := append(with(named, decided...), jsontext.Field{Key: "updatedInput", Kind: "object"})
			shape = with(jsontext.Field{Key: "hookSpecificOutput", Kind: "object", Required: true, Members: inner})
		} else {
			shape = append(with(contextual, decided...), jsontext.Field{Key: "modifiedArgs", Kind: "object"})
		}
	case event.PermissionRequest:
		shape = permission
	case event.PostToolUse:
		shape = append(with(contextual, blocking...), rewritten)
	case event.Stop, event.SubagentStop:
		shape = blocking
	}
	return shape.Check(body)
}

func with(first jsontext.Field, more ...jsontext.Field) jsontext.Shape {
	return append(jsontext.Shape{first}, more...)
}
