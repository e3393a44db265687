package claude

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// These stand in where a verdict gives no reason; the client would then tell the
// model, or ask the person, nothing.
const (
	noReason  = "lidguard refused this."
	askReason = "lidguard leaves this to you."
	// cannotAsk follows the reason of an ask that had to become a denial.
	cannotAsk = "This needs a person's word, which cannot be asked for here; leave it to them."
)

// Encode says v in the client's words for ev: one JSON object with exit 0, or a
// reason on stderr with exit 2 for the events that know only that, or nothing
// where the client has no words (contract §2, §3). What the client would ignore
// is left out: contexts of a permission request, an ask in one (the dialog is
// there anyway), contexts of a Stop that is not blocked (they would keep the turn
// going).
//
// Every object is checked against the closed shape of its event before it is
// returned. A mismatch is a fault of ours: the error says which, and the Output
// beside it refuses by exit 2 when v denies and is silent when it does not.
func Encode(ev *event.Event, v event.Verdict) (event.Output, error) {
	if v.IsZero() {
		return event.Output{}, nil
	}
	reason := jsontext.Clean(v.Reason)
	if strings.TrimSpace(reason) == "" {
		reason = noReason
		if v.Decision == event.Ask {
			reason = askReason
		}
	}
	var top, inner jsontext.Writer // inner becomes hookSpecificOutput
	denied := v.Decision == event.Deny
	block := func() {
		if denied {
			top.String("decision", "block")
			top.String("reason", reason)
		}
	}
	contexts := func() {
		if text := joined(v.Contexts); text != "" {
			inner.String("additionalContext", text)
		}
	}
	stop := func() {
		if v.StopTurn {
			top.Bool("continue", false)
			if v.StopReason != "" {
				top.Text("stopReason", v.StopReason)
			}
		}
	}

	switch ev.Name {
	case event.SessionStart:
		contexts()
		if v.SessionTitle != "" {
			inner.Text("sessionTitle", oneLine(v.SessionTitle))
		}
		watch(&inner, v)
	case event.CwdChanged, event.FileChanged:
		watch(&inner, v)
	case event.UserPromptSubmit:
		stop()
		block()
		contexts()
		if v.SessionTitle != "" {
			inner.Text("sessionTitle", oneLine(v.SessionTitle))
		}
	case event.UserPromptExpansion:
		stop()
		block()
		contexts()

	case event.PreToolUse:
		stop()
		switch v.Decision {
		case event.Deny:
			inner.String("permissionDecision", "deny")
			inner.String("permissionDecisionReason", reason)
		case event.Ask:
			inner.String("permissionDecision", "ask")
			inner.String("permissionDecisionReason", reason)
		case event.Allow:
			inner.String("permissionDecision", "allow")
			if v.Reason != "" {
				inner.String("permissionDecisionReason", reason)
			}
		}
		if v.UpdatedInput != nil && !denied {
			inner.Raw("updatedInput", v.UpdatedInput)
		}
		contexts()
	case event.PermissionRequest:
		permissionAnswer(&inner, v, reason)
	case event.PreSkillShellCommand:
		// Ask refuses here as well, and so would any rewrite; allow says nothing.
		if denied || v.Decision == event.Ask {
			if !denied {
				reason = strings.TrimSpace(jsontext.Clean(v.Reason) + " " + cannotAsk)
			}
			inner.String("permissionDecision", "deny")
			inner.String("permissionDecisionReason", reason)
		}
	case event.PreModelSwitch:
		if v.Decision != event.None {
			inner.String("permissionDecision", v.Decision.String())
			inner.String("permissionDecisionReason", reason)
		}
	case event.PostModelSwitch, event.SubagentStart:
		contexts()

	case event.PostToolUse:
		stop()
		block()
		contexts()
		if v.UpdatedOutput != nil {
			if err := rewriteFits(ev, v); err != nil {
				return fallback(ev, v, reason, err)
			}
			if ev.Tool.MCPServer != "" {
				inner.Raw("updatedMCPToolOutput", v.UpdatedOutput)
			} else {
				inner.Raw("updatedToolOutput", v.UpdatedOutput)
			}
		}
	case event.PostToolUseFailure:
		// Nothing can be blocked any more; the model can still be told.
		texts := v.Contexts
		if denied {
			texts = append([]string{reason}, texts...)
		}
		if text := joined(texts); text != "" {
			inner.String("additionalContext", text)
		}
	case event.PostToolBatch:
		stop()
		block()
		contexts()

	case event.Stop, event.SubagentStop:
		stop()
		if denied && !v.StopTurn {
			block()
			contexts()
		}
	case event.TaskCreated, event.PreCompact, event.ConfigChange:
		block()
	case event.TaskCompleted, event.TeammateIdle, event.WorktreeCreate:
		// Exit 2 is all these know, and a worktree hook's stdout is a path.
		if denied {
			return event.Output{Stderr: []byte(reason), Code: 2}, nil
		}
		return event.Output{}, nil

	case event.Elicitation, event.ElicitationResult:
		action := v.ElicitAction
		if action == "" && denied {
			action = "decline"
		}
		if action != "" {
			inner.String("action", action)
			if v.ElicitContent != nil && action == "accept" {
				inner.Raw("content", v.ElicitContent)
			}
		}
	case event.Notification:
		if v.TerminalSequence != "" {
			top.String("terminalSequence", v.TerminalSequence)
		}
	default:
		return event.Output{}, nil
	}

	if v.SystemMessage != "" && ev.Name != event.Notification {
		top.Text("systemMessage", v.SystemMessage)
	}
	if !inner.Empty() {
		var specific jsontext.Writer
		specific.String("hookEventName", string(ev.Name))
		top.Raw("hookSpecificOutput", merged(&specific, &inner))
	}
	if top.Empty() {
		return event.Output{}, nil
	}
	body := top.Bytes()
	if err := check(ev.Name, body); err != nil {
		return fallback(ev, v, reason, err)
	}
	return event.Output{Stdout: body}, nil
}

// Refuse answers for a payload that could not be read: it blocks with reason
// where an exit code can block, and says nothing where it cannot. An event whose
// name is not known counts as one that can.
func Refuse(ev *event.Event, reason string) event.Output {
	if ev.Native != "" && !blocks(ev.Name) {
		return event.Output{}
	}
	return event.Output{Stderr: []byte(jsontext.Clean(reason)), Code: 2}
}

// Refuse is the function Refuse.
func (Codec) Refuse(ev *event.Event, reason string) event.Output { return Refuse(ev, reason) }

// blocks tells the events at which exit 2 stops something (contract §2, column
// "Exit 2"). Stop is left out: there it would keep a turn going for a fault of
// ours.
func blocks(name event.Name) bool {
	switch name {
	case event.PreToolUse, event.PreSkillShellCommand, event.PermissionRequest,
		event.UserPromptSubmit, event.UserPromptExpansion, event.PreModelSwitch,
		event.ConfigChange, event.Elicitation:
		return true
	}
	return false
}

func fallback(ev *event.Event, v event.Verdict, reason string, err error) (event.Output, error) {
	err = fmt.Errorf("claude %s answer breaks the client's schema: %w", ev.Name, err)
	// A rewrite that does not fit would let the original through, secrets
	// included; exit 2 at least tells the model beside it.
	if v.Decision == event.Deny && (blocks(ev.Name) || ev.Name == event.PostToolUse) {
		return event.Output{Stderr: []byte(reason), Code: 2}, err
	}
	return event.Output{}, err
}

func permissionAnswer(inner *jsontext.Writer, v event.Verdict, reason string) {
	var decision jsontext.Writer
	switch v.Decision {
	case event.Allow:
		decision.String("behavior", "allow")
		if v.UpdatedInput != nil {
			decision.Raw("updatedInput", v.UpdatedInput)
		}
		if v.Permissions != nil {
			decision.Raw("updatedPermissions", v.Permissions)
		}
	case event.Deny:
		decision.String("behavior", "deny")
		decision.String("message", reason)
		if v.Interrupt {
			decision.Bool("interrupt", true)
		}
	default:
		return
	}
	inner.Object("decision", &decision)
}

// rewriteFits reports whether a rewritten output has the shape of the tool's own,
// without which the client lets the original through (contract §3).
func rewriteFits(ev *event.Event, v event.Verdict) error {
	if ev.Tool == nil || ev.Tool.Response == nil {
		return fmt.Errorf("there is no tool output to rewrite")
	}
	if !jsontext.Valid(v.UpdatedOutput) {
		return fmt.Errorf("the rewritten tool output is no JSON")
	}
	if !jsontext.SameShape(ev.Tool.Response, v.UpdatedOutput) {
		return fmt.Errorf("the rewritten output of %q has another shape than its own", ev.Tool.Name)
	}
	return nil
}

func watch(inner *jsontext.Writer, v event.Verdict) {
	if len(v.WatchPaths) > 0 {
		inner.Strings("watchPaths", v.WatchPaths)
	}
}

func joined(texts []string) string {
	return jsontext.Clean(strings.Join(texts, "\n\n"))
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// merged puts the members of b behind those of a.
func merged(a, b *jsontext.Writer) []byte {
	left, right := a.Bytes(), b.Bytes()
	out := append(left[:len(left)-1:len(left)-1], ',')
	return append(out, right[1:]...)
}
