package claude

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Decode reads one hook payload. It is kind: unknown members stay in Raw, an
// event this package has no word for comes back with Name empty and Native set,
// and a member of an unexpected kind counts as not sent. Only text that is no
// JSON object, or one without hook_event_name or session_id, is an error; the
// Event returned beside it holds what was understood before, so that a caller
// can still tell whether a gate event has to fail closed.
//
// The Event keeps slices of payload (Raw, the tool's input and response); the
// caller must not change payload afterwards. env is asked for CLAUDE_PID, which
// the client sets since 2.1.214.
func Decode(payload []byte, env func(string) string) (event.Event, error) {
	ev := event.Event{Provider: event.Claude, Raw: payload}
	ev.Session.Provider = event.Claude
	if pid, err := strconv.Atoi(env("CLAUDE_PID")); err == nil && pid > 0 {
		ev.ClientPID = pid
	}
	p := parser{ev: &ev}
	err := jsontext.Object(payload, p.member)
	p.finish()
	switch {
	case err != nil:
		return ev, fmt.Errorf("claude hook payload: %w", err)
	case ev.Native == "":
		return ev, fmt.Errorf("claude hook payload has no %q text", "hook_event_name")
	case ev.Session.ID == "":
		return ev, fmt.Errorf("claude %q payload has no %q text", ev.Native, "session_id")
	}
	return ev, nil
}

// parser collects the members of one payload. Members whose meaning depends on
// the event wait in the fields below until all were seen, since their order is
// the client's business.
type parser struct {
	ev   *event.Event
	tool event.Tool
	note event.Note
	ask  event.Elicit

	isTool                         bool
	filePath, newCwd, directory    string
	name, worktree, source, loaded string
	errorText, fileEvent, toModel  string
	message, title, turn           string
}

func (p *parser) member(key, value []byte) bool {
	ev := p.ev
	text := func(dst *string) {
		if s, ok := jsontext.String(value); ok {
			*dst = s
		}
	}
	switch string(key) {
	case "session_id":
		var id string
		text(&id)
		ev.Session.ID = event.SessionID(id)
	case "hook_event_name":
		text(&ev.Native)
		ev.Name = canonical(ev.Native)
	case "transcript_path":
		text(&ev.TranscriptPath)
	case "agent_transcript_path":
		text(&ev.AgentTranscript)
	case "cwd":
		text(&ev.Cwd)
	case "prompt_id":
		text(&ev.TurnID)
	case "turn_id":
		text(&p.turn)
	case "permission_mode":
		text(&ev.PermissionMode)
	case "model":
		text(&ev.Model)
	case "to_model":
		text(&p.toModel)
	case "agent_id":
		text(&ev.AgentID)
	case "agent_type":
		text(&ev.AgentType)
	case "prompt":
		text(&ev.Prompt)
	case "source":
		text(&p.source)
	case "load_reason":
		text(&p.loaded)
	case "reason":
		text(&ev.Reason)
	case "trigger":
		text(&ev.Trigger)
	case "stop_hook_active":
		ev.StopActive = jsontext.True(value)
	case "last_assistant_message":
		text(&ev.LastMessage)
	case "error":
		text(&p.errorText)
	case "background_tasks":
		ev.Tasks = tasks(value)
	case "session_crons":
		ev.Crons = crons(value)

	case "tool_name":
		p.isTool = true
		text(&p.tool.Name)
	case "tool_input":
		p.tool.Input = value
	case "tool_use_id":
		text(&p.tool.UseID)
	case "tool_response":
		p.tool.Response = value
	case "is_interrupt":
		p.tool.Interrupted = jsontext.True(value)
	case "mcp_server":
		p.tool.MCPServer = jsontext.Text(value, "name")
	case "permission_suggestions":
		p.tool.Suggestions = value

	case "notification_type":
		text(&p.note.Type)
	case "message":
		text(&p.message)
	case "title":
		text(&p.title)

	case "mcp_server_name":
		text(&p.ask.Server)
	case "mode":
		text(&p.ask.Mode)
	case "url":
		text(&p.ask.URL)
	case "elicitation_id":
		text(&p.ask.ID)
	case "requested_schema":
		p.ask.Schema = value
	case "action":
		text(&p.ask.Action)

	case "file_path":
		text(&p.filePath)
	case "event":
		text(&p.fileEvent)
	case "new_cwd":
		text(&p.newCwd)
	case "directory":
		text(&p.directory)
	case "name":
		text(&p.name)
	case "worktree_path":
		text(&p.worktree)
	}
	return true
}

// finish gives the members that only mean something for one event their place.
func (p *parser) finish() {
	ev := p.ev
	if ev.TurnID == "" {
		ev.TurnID = p.turn
	}
	if p.isTool {
		if p.tool.MCPServer == "" {
			p.tool.MCPServer = mcpServer(p.tool.Name)
		}
		ev.Tool = &p.tool
	}
	switch ev.Name {
	case event.SessionStart, event.UserPromptSubmit:
		ev.Source = p.source
		if ev.Name == event.UserPromptSubmit && strings.HasPrefix(ev.Prompt, notificationMark) {
			ev.Source = event.Notified
		}
	case event.ConfigChange, event.InstructionsLoaded:
		ev.Source, ev.Path, ev.Reason = p.source, p.filePath, p.loaded
	case event.PreModelSwitch, event.PostModelSwitch:
		ev.Source, ev.Model = p.source, p.toModel
	case event.FileChanged:
		ev.Path, ev.Reason = p.filePath, p.fileEvent
	case event.CwdChanged:
		ev.Path = p.newCwd
	case event.DirectoryAdded:
		ev.Source, ev.Path = p.source, p.directory
	case event.WorktreeCreate:
		ev.Path = p.name
	case event.WorktreeRemove:
		ev.Path = p.worktree
	case event.Notification:
		p.note.Title, p.note.Message = p.title, p.message
		ev.Notification = &p.note
	case event.Elicitation, event.ElicitationResult:
		p.ask.Message = p.message
		ev.Elicitation = &p.ask
	case event.PostToolUseFailure:
		ev.Error = p.errorText
		p.tool.Error = p.errorText
	case event.StopFailure:
		ev.Error = p.errorText
	}
}

// mcpServer takes the server out of mcp__server__tool, for clients before
// 2.1.274, which do not name it beside the tool.
func mcpServer(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return ""
	}
	server, _, _ := strings.Cut(rest, "__")
	return server
}

// tasks reads background_tasks. The result is never nil: the client said it.
// What is not running any more is left out.
func tasks(value []byte) []event.Task {
	out := []event.Task{}
	_ = jsontext.Array(value, func(item []byte) bool {
		var t event.Task
		var kind, status string
		_ = jsontext.Object(item, func(key, v []byte) bool {
			switch string(key) {
			case "id":
				t.ID, _ = jsontext.String(v)
			case "type":
				kind, _ = jsontext.String(v)
			case "status":
				status, _ = jsontext.String(v)
			case "description":
				t.Description, _ = jsontext.String(v)
			}
			return true
		})
		t.Type = event.TaskType(kind) // the client's words for the kinds are ours
		t.Description = event.Preview(t.Description)
		if t.ID != "" && !ended(status) {
			out = append(out, t)
		}
		return true
	})
	return out
}

// ended tells which status words mean that a task is over. Only running and
// completed were seen; the others are from the client's typings.
func ended(status string) bool {
	switch status {
	case "completed", "failed", "killed", "stopped", "cancelled", "canceled", "error", "timed_out":
		return true
	}
	return false
}

func crons(value []byte) []event.Cron {
	out := []event.Cron{}
	_ = jsontext.Array(value, func(item []byte) bool {
		var c event.Cron
		_ = jsontext.Object(item, func(key, v []byte) bool {
			switch string(key) {
			case "id":
				c.ID, _ = jsontext.String(v)
			case "schedule":
				c.Schedule, _ = jsontext.String(v)
			}
			return true
		})
		if c.ID != "" {
			out = append(out, c)
		}
		return true
	})
	return out
}

// canonical returns the event's canonical name, which is the client's own where
// we know it (contract §2 has all 34), and "" elsewhere.
func canonical(native string) event.Name {
	switch name := event.Name(native); name {
	case event.SessionStart, event.SessionEnd, event.Setup, event.InstructionsLoaded,
		event.UserPromptSubmit, event.UserPromptExpansion, event.MessageDisplay,
		event.PreToolUse, event.PermissionRequest, event.PermissionDenied,
		event.PostToolUse, event.PostToolUseFailure, event.PostToolBatch,
		event.PreSkillShellCommand, event.Notification, event.SubagentStart,
		event.SubagentStop, event.TaskCreated, event.TaskCompleted, event.TeammateIdle,
		event.Stop, event.StopFailure, event.PreCompact, event.PostCompact,
		event.PreModelSwitch, event.PostModelSwitch, event.ConfigChange, event.CwdChanged,
		event.DirectoryAdded, event.FileChanged, event.WorktreeCreate, event.WorktreeRemove,
		event.Elicitation, event.ElicitationResult:
		return name
	}
	return ""
}
