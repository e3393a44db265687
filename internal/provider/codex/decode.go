package codex

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Decode reads one hook payload. It is kind: unknown members stay in Raw, an
// event this package has no word for comes back with Name empty and Native set,
// and a member of an unexpected kind (transcript_path is null with --ephemeral)
// counts as not sent. Only text that is no JSON object, or one without
// hook_event_name or session_id, is an error; the Event returned beside it holds
// what was understood before.
//
// The Event keeps slices of payload; the caller must not change it afterwards.
// In a subagent Session is the root's, AgentID the subagent's, and
// TranscriptPath stays empty, since the client names the subagent's own file
// there, which AgentTranscript holds. env is not asked for anything.
func Decode(payload []byte, env func(string) string) (event.Event, error) {
	ev := event.Event{Provider: event.Codex, Raw: payload}
	ev.Session.Provider = event.Codex
	var tool event.Tool
	isTool := false
	thread := ""
	err := jsontext.Object(payload, func(key, value []byte) bool {
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
		case "turn_id":
			text(&ev.TurnID)
		case "thread_id":
			text(&thread)
		case "agent_id":
			text(&ev.AgentID)
		case "agent_type":
			text(&ev.AgentType)
		case "transcript_path":
			text(&ev.TranscriptPath)
		case "agent_transcript_path":
			text(&ev.AgentTranscript)
		case "cwd":
			text(&ev.Cwd)
		case "model":
			text(&ev.Model)
		case "permission_mode":
			text(&ev.PermissionMode)
		case "prompt":
			text(&ev.Prompt)
		case "source":
			text(&ev.Source)
		case "reason":
			text(&ev.Reason)
		case "trigger":
			text(&ev.Trigger)
		case "stop_hook_active":
			ev.StopActive = jsontext.True(value)
		case "last_assistant_message":
			text(&ev.LastMessage)
		case "status": // PostModelRequest: completed, failed
			text(&ev.Reason)
		case "error":
			text(&ev.Error)
		case "tool_name":
			isTool = true
			text(&tool.Name)
		case "tool_input":
			tool.Input = value
		case "tool_use_id":
			text(&tool.UseID)
		case "tool_response":
			tool.Response = value
		}
		return true
	})
	if isTool {
		tool.MCPServer = mcpServer(tool.Name)
		ev.Tool = &tool
	}
	// The model-request pair names a subagent by its thread alone.
	if ev.AgentID == "" && thread != "" && thread != string(ev.Session.ID) {
		ev.AgentID = thread
	}
	if ev.AgentID != "" && ev.Name != event.SubagentStop {
		ev.AgentTranscript, ev.TranscriptPath = ev.TranscriptPath, ""
	}
	switch {
	case err != nil:
		return ev, fmt.Errorf("codex hook payload: %w", err)
	case ev.Native == "":
		return ev, fmt.Errorf("codex hook payload has no %q text", "hook_event_name")
	case ev.Session.ID == "":
		return ev, fmt.Errorf("codex %q payload has no %q text", ev.Native, "session_id")
	}
	return ev, nil
}

func mcpServer(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return ""
	}
	server, _, _ := strings.Cut(rest, "__")
	return server
}

// canonical returns the event's canonical name, which is the client's own where
// we know it (contract §2), and "" elsewhere.
func canonical(native string) event.Name {
	switch name := event.Name(native); name {
	case event.SessionStart, event.SessionEnd, event.UserPromptSubmit, event.PreToolUse,
		event.PermissionRequest, event.PostToolUse, event.PreCompact, event.PostCompact,
		event.SubagentStart, event.SubagentStop, event.Stop, event.Interrupt,
		event.PreModelRequest, event.PostModelRequest:
		return name
	}
	return ""
}
