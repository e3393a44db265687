package codex

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Reasons of the soft locks this codec reports, as `status` and `why` show them.
const (
	ReasonPermission = "codex_permission_request_open"
	ReasonQuestion   = "codex_request_user_input_pending"
)

// question is the tool with which the model asks the person. It opens a prompt
// in plan mode only; elsewhere it answers "unavailable" at once, and the next
// sign of work clears the soft lock.
const question = "request_user_input"

// request is the client's tool, still under development, that asks the person
// for permissions without a PermissionRequest (contract §3).
const request = "request_permissions"

// Signals says what ev means for the tracked session, given the verdict v that
// is about to be answered. Any hook of the root session is a sign of work, since
// goal turns start without a prompt (contract §5); a subagent's events carry the
// root's session and its own AgentID. It returns nil for events that mean
// nothing for a session.
func Signals(ev *event.Event, v event.Verdict) []event.Signal {
	s := event.Signal{
		Session: ev.Session, Source: "hook " + ev.Native, AgentID: ev.AgentID,
		Cwd: ev.Cwd, Transcript: ev.TranscriptPath,
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
	if ev.Tool != nil {
		s.Tool, s.ToolUse = ev.Tool.Name, ev.Tool.UseID
	}

	switch ev.Name {
	case event.SessionStart:
		if ev.Source == "compact" {
			return nil // in mid-turn; the turn's other events tell of it
		}
		return because(event.Opened, ev.Source)
	case event.SessionEnd:
		return because(event.Closed, ev.Reason)

	case event.UserPromptSubmit:
		switch {
		case denied || v.StopTurn:
			return nil // no turn, and no Stop
		case ev.AgentID != "":
			return one(event.Active) // a subagent's task, not a person's prompt
		}
		s.Prompt = event.Preview(ev.Prompt)
		return one(event.Began)

	case event.PreToolUse:
		switch {
		case denied || v.Decision == event.Ask: // an ask is answered as a denial
			return one(event.Active)
		case s.Tool == question, s.Tool == request:
			// Not ToolBegan: where the tool is unavailable no PostToolUse comes.
			return because(event.Waiting, ReasonQuestion)
		}
		return one(event.ToolBegan)
	case event.PermissionRequest:
		if denied || v.Decision == event.Allow {
			return one(event.Active)
		}
		if v.Decision == event.Ask && v.Rule != "" {
			return because(event.Waiting, v.Rule)
		}
		return because(event.Waiting, ReasonPermission)
	case event.PostToolUse:
		if s.Tool == question || s.Tool == request {
			return one(event.Resumed)
		}
		return one(event.ToolEnded)

	case event.SubagentStart:
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent, Description: ev.AgentType}
		return one(event.TaskBegan)
	case event.SubagentStop:
		if denied && !v.StopTurn {
			return one(event.Active)
		}
		// After the root's Stop this is the last that is heard (contract §5).
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent}
		return one(event.TaskEnded)

	case event.Stop:
		if denied && !v.StopTurn {
			return one(event.Active)
		}
		s.LastMessage = cut(ev.LastMessage)
		return one(event.Stopped)
	case event.Interrupt:
		return because(event.Interrupted, "codex_interrupt")

	case event.PreCompact, event.PostCompact:
		// One asked for by a person ends with no Stop, so it begins nothing; the
		// session file shows it as a turn of its own.
		if ev.Trigger == "auto" {
			return one(event.Active)
		}
	case event.PreModelRequest:
		return one(event.Active)
	}
	// PostModelRequest tells nothing that the next event does not, and after a
	// failed request for good no next event comes: the session file has it.
	return nil
}

// maxLast bounds the last message in a signal, in bytes; it is for a
// notification's body, not for reading.
const maxLast = 1000

func cut(text string) string {
	if len(text) > maxLast {
		text = strings.ToValidUTF8(text[:maxLast], "") + "..."
	}
	return jsontext.Clean(text)
}
