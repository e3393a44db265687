package copilot

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Decode reads one hook payload. native is the event's name as configured; where
// it is "" the payload's own name is used, which PascalCase payloads, notification
// and permissionRequest have; SubagentStart is told by its members. It is kind like every codec here: unknown members
// stay in Raw, unknown events come back with Name empty, a member of an unexpected
// kind counts as not sent; only text that is no JSON object, or one without event
// or session, is an error, beside the Event understood so far.
//
// A subagent's prompts, tool calls and stops carry its own id as session
// (contract §1.7); here Session is always the root's, as far as the payload tells,
// and AgentID the subagent's. The transcript's path is filled in from
// COPILOT_HOME, HOME or USERPROFILE where the payload has none; the file may not
// exist yet.
//
// The Event keeps slices of payload; the caller must not change it afterwards.
func Decode(payload []byte, env func(string) string, native string) (event.Event, error) {
	ev := event.Event{Provider: event.Copilot, Native: native, Raw: payload}
	ev.Session.Provider = event.Copilot
	p := parser{ev: &ev}
	err := jsontext.Object(payload, p.member)
	if ev.Native == "" {
		ev.Native = p.named
	}
	if ev.Native == "" && p.agentName != "" && p.stop == "" {
		ev.Native = string(event.SubagentStart) // the one PascalCase payload without its name (contract §2)
	}
	ev.Name = canonical(ev.Native)
	p.finish(env)
	switch {
	case err != nil:
		return ev, fmt.Errorf("copilot hook payload: %w", err)
	case ev.Native == "":
		return ev, fmt.Errorf("copilot hook payload names no event, and the command line does not either")
	case ev.Session.ID == "":
		return ev, fmt.Errorf("copilot %q payload has no %q text", ev.Native, "sessionId")
	}
	return ev, nil
}

type parser struct {
	ev   *event.Event
	tool event.Tool
	note event.Note

	isTool               bool
	named, id, parent    string
	agentName, errorText string
	message, title, stop string
}

func (p *parser) member(key, value []byte) bool {
	ev := p.ev
	text := func(dst *string) {
		if s, ok := jsontext.String(value); ok {
			*dst = s
		}
	}
	switch string(key) {
	case "hook_event_name", "hookName":
		text(&p.named)
	case "sessionId", "session_id":
		text(&p.id)
	case "cwd":
		text(&ev.Cwd)
	case "transcriptPath", "transcript_path":
		text(&ev.TranscriptPath)
	case "agentId", "agent_id":
		text(&ev.AgentID)
	case "agentType", "agent_type":
		text(&ev.AgentType)
	case "agentName", "agent_name":
		text(&p.agentName)
	case "parentAgentId", "parent_agent_id":
		text(&p.parent)
	case "prompt":
		text(&ev.Prompt)
	case "source":
		text(&ev.Source)
	case "reason":
		text(&ev.Reason)
	case "stopReason", "stop_reason":
		text(&p.stop)
	case "trigger":
		text(&ev.Trigger)
	case "stop_hook_active", "stopHookActive":
		ev.StopActive = jsontext.True(value)
	case "response", "last_assistant_message":
		text(&ev.LastMessage)
	case "error":
		if text(&p.errorText); jsontext.Kind(value) == "object" {
			p.errorText = jsontext.Text(value, "message")
		}

	case "toolName", "tool_name":
		p.isTool = true
		text(&p.tool.Name)
	case "toolArgs", "toolInput", "tool_input", "arguments":
		p.tool.Input = arguments(value)
	case "toolResult", "tool_result":
		p.tool.Response = value
	case "toolCallId", "tool_call_id":
		text(&p.tool.UseID)
	case "serverName", "server_name":
		text(&p.tool.MCPServer)
	case "permissionSuggestions", "permission_suggestions":
		p.tool.Suggestions = value

	case "notification_type", "notificationType":
		text(&p.note.Type)
	case "message":
		text(&p.message)
	case "title":
		text(&p.title)
	}
	return true
}

func (p *parser) finish(env func(string) string) {
	ev := p.ev
	if ev.Reason == "" {
		ev.Reason = p.stop
	}
	if ev.AgentType == "" {
		ev.AgentType = p.agentName
	}
	ev.Error = p.errorText
	ev.Session.ID = event.SessionID(p.id)
	if ev.AgentID != "" && ev.AgentID == p.id && p.parent != "" {
		// The subagent speaks. Its parent may be another subagent; the root's
		// id is in the transcript's path, where there is one.
		ev.Session.ID = event.SessionID(p.parent)
		if root := rootOf(ev.TranscriptPath); root != "" {
			ev.Session.ID = event.SessionID(root)
		}
	}
	if ev.TranscriptPath == "" {
		ev.TranscriptPath = transcriptOf(string(ev.Session.ID), env)
	}
	if p.isTool {
		if server, _, ok := strings.Cut(p.tool.Name, "/"); ok && p.tool.MCPServer == "" {
			p.tool.MCPServer = server // permissionRequest spells server/tool
		}
		p.tool.Error = p.errorText
		if p.tool.UseID == "" {
			p.tool.UseID = callID(p.tool.Name, p.tool.Input)
		}
		ev.Tool = &p.tool
	}
	if ev.Name == event.Notification {
		p.note.Title, p.note.Message = p.title, p.message
		ev.Notification = &p.note
	}
}

// arguments returns a tool's arguments as an object; older clients sent them as a
// string of JSON.
func arguments(value []byte) []byte {
	if text, ok := jsontext.String(value); ok && jsontext.Kind([]byte(text)) == "object" && jsontext.Valid([]byte(text)) {
		return []byte(text)
	}
	return value
}

// callID makes up an id for a call from its tool and arguments, since the client
// sends none at preToolUse and postToolUse. Two equal calls at the same time share
// it, and one end then counts for both. FNV-1a, so that no hash package is linked.
func callID(tool string, input []byte) string {
	h := uint64(14695981039346656037)
	for _, c := range input {
		if c > ' ' { // the client's spacing may differ between events
			h = (h ^ uint64(c)) * 1099511628211
		}
	}
	return fmt.Sprintf("%s:%016x", tool, h)
}

// rootOf takes the session id out of …/session-state/<id>/events.jsonl.
func rootOf(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	_, rest, ok := strings.Cut(file, "/session-state/")
	if !ok {
		return ""
	}
	id, _, ok := strings.Cut(rest, "/")
	if !ok {
		return ""
	}
	return id
}

func transcriptOf(id string, env func(string) string) string {
	if id == "" || strings.ContainsAny(id, `/\`) || id == ".." {
		return ""
	}
	home := env("COPILOT_HOME")
	if home == "" {
		user := env("HOME")
		if user == "" {
			user = env("USERPROFILE")
		}
		if user == "" {
			return ""
		}
		home = join(user, ".copilot")
	}
	return join(home, "session-state", id, "events.jsonl")
}

// join uses the separator its first part has, so that it needs to know no system.
func join(first string, parts ...string) string {
	sep := "/"
	if strings.Contains(first, `\`) && !strings.Contains(first, "/") {
		sep = `\`
	}
	return strings.Join(append([]string{strings.TrimRight(first, `/\`)}, parts...), sep)
}

// canonical returns our name of the client's event in either spelling, or "".
func canonical(native string) event.Name {
	switch native {
	case "sessionStart", "SessionStart":
		return event.SessionStart
	case "sessionEnd", "SessionEnd":
		return event.SessionEnd
	case "userPromptSubmitted", "UserPromptSubmit", "UserPromptSubmitted":
		return event.UserPromptSubmit
	case "userPromptTransformed", "UserPromptTransformed":
		return event.UserPromptTransformed
	case "preToolUse", "PreToolUse":
		return event.PreToolUse
	case "permissionRequest", "PermissionRequest":
		return event.PermissionRequest
	case "preMcpToolCall", "PreMcpToolCall":
		return event.PreMCPToolCall
	case "postToolUse", "PostToolUse":
		return event.PostToolUse
	case "postToolUseFailure", "PostToolUseFailure":
		return event.PostToolUseFailure
	case "notification", "Notification":
		return event.Notification
	case "agentStop", "Stop":
		return event.Stop
	case "subagentStart", "SubagentStart":
		return event.SubagentStart
	case "subagentStop", "SubagentStop":
		return event.SubagentStop
	case "errorOccurred", "ErrorOccurred":
		return event.ErrorOccurred
	case "preCompact", "PreCompact":
		return event.PreCompact
	}
	return ""
}
