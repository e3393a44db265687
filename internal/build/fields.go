package build

import "github.com/lidguard-go/lidguard/internal/event"

// Field is one thing that a verdict can say.
type Field string

// The fields.
const (
	Deny      Field = "deny"
	Ask       Field = "ask"
	Allow     Field = "allow"
	Context   Field = "context"
	Input     Field = "rewritten input"
	Output    Field = "rewritten output"
	Store     Field = "stored rule"
	Interrupt Field = "deny that ends the turn"
	EndTurn   Field = "end of the turn"
	Message   Field = "message to the person"
	Elicit    Field = "answer to the server"
	Title     Field = "session title"
	Watch     Field = "files to watch"
	Terminal  Field = "terminal sequence"
)

// Fields are all of them.
func Fields() []Field {
	return []Field{Deny, Ask, Allow, Context, Input, Output, Store, Interrupt, EndTurn, Message, Elicit, Title, Watch, Terminal}
}

// Answers is what some client can be told at an event, and so what a program of
// somebody's own may say there. At the other events every client listens to
// nothing.
func Answers(name event.Name) []Field {
	switch name {
	case event.SessionStart:
		return []Field{Context, EndTurn, Message, Title, Watch}
	case event.UserPromptSubmit:
		return []Field{Deny, Context, EndTurn, Message, Title}
	case event.UserPromptExpansion, event.PostToolBatch:
		return []Field{Deny, Context, EndTurn, Message}
	case event.PreToolUse:
		return []Field{Deny, Ask, Allow, Context, Input, EndTurn, Message}
	case event.PermissionRequest:
		return []Field{Deny, Ask, Allow, Store, Interrupt, Message}
	case event.PreSkillShellCommand, event.TaskCreated, event.ConfigChange:
		return []Field{Deny, Message}
	case event.PostToolUse:
		return []Field{Deny, Context, Output, EndTurn, Message}
	case event.PostToolUseFailure, event.SubagentStart, event.PostModelSwitch:
		return []Field{Context, Message}
	case event.Notification:
		return []Field{Terminal}
	case event.Stop, event.SubagentStop:
		return []Field{Deny, EndTurn, Message}
	case event.TaskCompleted, event.TeammateIdle, event.QuestionAsked:
		return []Field{Deny}
	case event.PreCompact:
		return []Field{Deny, Context, EndTurn, Message}
	case event.PostCompact:
		return []Field{EndTurn, Message}
	case event.PreModelSwitch:
		return []Field{Deny, Ask, Allow, Message}
	case event.CwdChanged, event.FileChanged:
		return []Field{Message, Watch}
	case event.Elicitation, event.ElicitationResult:
		return []Field{Deny, Message, Elicit}
	case event.Interrupt:
		return []Field{Message}
	}
	return nil
}
