package opencode

import (
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Reasons of the soft locks and ends this codec reports, as `status` and `why`
// show them.
const (
	ReasonPermission = "opencode_permission_open"
	ReasonQuestion   = "opencode_question_open"
	ReasonAborted    = "opencode_message_aborted"
	ReasonRejected   = "opencode_permission_rejected"
)

// Signals says what ev means for the tracked session, given the verdict v that is
// about to be answered. Every end of a turn gives session.idle, twice after errors
// and aborts (contract §1.7); the second finds nothing to end. A subagent's idle
// ends only the subagent. It returns nil for events that mean nothing for a session.
func Signals(ev *event.Event, v event.Verdict) []event.Signal {
	s := event.Signal{
		Session: ev.Session, Source: "plugin " + ev.Native, AgentID: ev.AgentID, Cwd: ev.Cwd,
	}
	one := func(kind event.SignalKind) []event.Signal {
		s.Kind = kind
		return []event.Signal{s}
	}
	because := func(kind event.SignalKind, reason string) []event.Signal {
		s.Reason = reason
		return one(kind)
	}
	denied := v.Decision == event.Deny
	child := ev.AgentID != ""
	if ev.Tool != nil {
		s.Tool, s.ToolUse = ev.Tool.Name, ev.Tool.UseID
	}

	switch ev.Name {
	case event.SessionStart:
		return because(event.Opened, ev.Source)
	case event.SubagentStart:
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent, Description: ev.AgentType}
		return one(event.TaskBegan)
	case event.SessionEnd, event.SubagentStop:
		if child {
			if denied && ev.Name == event.SubagentStop {
				return one(event.Active)
			}
			s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent}
			return one(event.TaskEnded)
		}
		return because(event.Closed, ev.Reason)

	case event.StatusChanged:
		switch {
		case ev.Reason == "busy" && !child:
			return one(event.Began) // a turn may begin with no chat.message
		case ev.Reason == "busy", ev.Reason == "retry": // waiting to try again is work
			return one(event.Active)
		case ev.Reason == "idle" && child:
			s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent}
			return one(event.TaskEnded)
		case ev.Reason == "idle":
			// The plugin sends it in place of session.idle when it will not
			// continue the session whatever the answer.
			return one(event.Stopped)
		}
		return nil
	case event.MessageDisplay:
		return one(event.Active)
	case event.UserPromptSubmit:
		switch {
		case denied:
			return nil // the prompt is not sent: no busy, no idle
		case child:
			return one(event.Active)
		}
		s.Prompt = event.Preview(ev.Prompt)
		return one(event.Began)

	case event.PreToolUse:
		if denied || v.Decision == event.Ask { // an ask is answered as a denial
			return one(event.Active)
		}
		return one(event.ToolBegan)
	case event.PostToolUse:
		return one(event.ToolEnded)
	case event.PermissionRequest:
		switch {
		case denied && v.Interrupt && !child:
			return because(event.Interrupted, ReasonRejected) // rejected without a message
		case denied, v.Decision == event.Allow:
			return one(event.Active)
		case v.Decision == event.Ask && v.Rule != "":
			return because(event.Waiting, v.Rule)
		}
		return because(event.Waiting, ReasonPermission)
	case event.QuestionAsked:
		if denied {
			return one(event.Active)
		}
		return because(event.Waiting, ReasonQuestion)
	case event.PermissionReply, event.QuestionReply:
		return because(event.Resumed, ev.Reason)

	case event.Stop:
		if denied && !v.StopTurn {
			return one(event.Active) // the plugin prompts the session again
		}
		return one(event.Stopped)
	case event.Interrupt:
		if child {
			return nil // its idle follows
		}
		return because(event.Interrupted, ReasonAborted)
	case event.StopFailure:
		if child {
			return nil
		}
		return because(event.Failed, ev.Error)
	case event.Disposed:
		// No idle comes for what still ran (contract §1.9).
		var out []event.Signal
		_ = jsontext.Array(jsontext.Member(ev.Raw, "sessions"), func(value []byte) bool {
			if id, ok := jsontext.String(value); ok && id != "" {
				s.Kind, s.Reason = event.Closed, "dispose"
				s.Session.ID = event.SessionID(id)
				out = append(out, s)
			}
			return true
		})
		return out
	}
	// A compaction is between a busy and an idle of its own.
	return nil
}
