package claude

import (
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// The closed shapes of what this codec writes, per event: contract §2 "Output
// honoured". They are narrower than what the client takes, since only what we
// write on purpose may get out.

var (
	general = jsontext.Shape{{Key: "systemMessage", Kind: "string"}}
	turn    = jsontext.Shape{
		{Key: "systemMessage", Kind: "string"},
		{Key: "continue", Kind: "bool"},
		{Key: "stopReason", Kind: "string"},
	}
	blocking = jsontext.Shape{
		{Key: "decision", Kind: "string", Enum: []string{"block"}},
		{Key: "reason", Kind: "string"},
	}
	contextual = jsontext.Shape{{Key: "additionalContext", Kind: "string"}}
	titled     = jsontext.Shape{{Key: "sessionTitle", Kind: "string"}}
	watching   = jsontext.Shape{{Key: "watchPaths", Kind: "array"}}

	preToolUse = jsontext.Shape{
		{Key: "permissionDecision", Kind: "string", Enum: []string{"allow", "deny", "ask"}},
		{Key: "permissionDecisionReason", Kind: "string"},
		{Key: "updatedInput", Kind: "object"},
		{Key: "additionalContext", Kind: "string"},
	}
	permissionRequest = jsontext.Shape{{Key: "decision", Kind: "object", Required: true, Members: jsontext.Shape{
		{Key: "behavior", Kind: "string", Enum: []string{"allow", "deny"}, Required: true},
		{Key: "updatedInput", Kind: "object"},
		{Key: "updatedPermissions", Kind: "array"},
		{Key: "message", Kind: "string"},
		{Key: "interrupt", Kind: "bool"},
	}}}
	skillShell = jsontext.Shape{
		{Key: "permissionDecision", Kind: "string", Enum: []string{"deny"}, Required: true},
		{Key: "permissionDecisionReason", Kind: "string", Required: true},
	}
	modelSwitch = jsontext.Shape{
		{Key: "permissionDecision", Kind: "string", Enum: []string{"allow", "deny", "ask"}, Required: true},
		{Key: "permissionDecisionReason", Kind: "string"},
	}
	postToolUse = jsontext.Shape{
		{Key: "additionalContext", Kind: "string"},
		{Key: "updatedToolOutput", Kind: "any"},
		{Key: "updatedMCPToolOutput", Kind: "any"},
	}
	elicitation = jsontext.Shape{
		{Key: "action", Kind: "string", Enum: []string{"accept", "decline", "cancel"}, Required: true},
		{Key: "content", Kind: "object"},
	}
	notifying = jsontext.Shape{{Key: "terminalSequence", Kind: "string"}}
)

// check reports why body is no answer the client honours for this event.
func check(name event.Name, body []byte) error {
	var top, inner jsontext.Shape
	switch name {
	case event.SessionStart:
		top, inner = general, join(contextual, titled, watching)
	case event.CwdChanged, event.FileChanged:
		top, inner = general, watching
	case event.UserPromptSubmit:
		top, inner = join(turn, blocking), join(contextual, titled)
	case event.UserPromptExpansion, event.PostToolBatch, event.Stop, event.SubagentStop:
		top, inner = join(turn, blocking), contextual
	case event.PreToolUse:
		top, inner = turn, preToolUse
	case event.PermissionRequest:
		top, inner = general, permissionRequest
	case event.PreSkillShellCommand:
		top, inner = general, skillShell
	case event.PreModelSwitch:
		top, inner = general, modelSwitch
	case event.PostModelSwitch, event.SubagentStart, event.PostToolUseFailure:
		top, inner = general, contextual
	case event.PostToolUse:
		top, inner = join(turn, blocking), postToolUse
	case event.TaskCreated, event.PreCompact, event.ConfigChange:
		top = join(general, blocking)
	case event.Elicitation, event.ElicitationResult:
		top, inner = general, elicitation
	case event.Notification:
		top = notifying
	}
	if inner != nil {
		// The client lets everything pass that names no event or another one.
		named := jsontext.Shape{{Key: "hookEventName", Kind: "string", Enum: []string{string(name)}, Required: true}}
		top = join(top, jsontext.Shape{{Key: "hookSpecificOutput", Kind: "object", Members: join(named, inner)}})
	}
	return top.Check(body)
}

func join(shapes ...jsontext.Shape) jsontext.Shape {
	var out jsontext.Shape
	for _, s := range shapes {
		out = append(out, s...)
	}
	return out
}
