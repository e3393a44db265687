package copilot

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Reasons of the soft locks and ends this codec reports, as `status` and `why`
// show them.
const (
	ReasonAsked    = "copilot_permission_prompt_open" // a hook of ours answered ask
	ReasonQuestion = "copilot_ask_user_open"
	ReasonPlan     = "copilot_exit_plan_mode_open"
	reasonNote     = "copilot_notification_" // + the client's notification type

	ReasonDenyInterrupt = "copilot_permission_denied_with_interrupt"
)

// Signals says what ev means for the tracked session, given the verdict v that
// is about to be answered. A permissionRequest is no prompt (contract §1.1), so it
// never waits; a denial with interrupt ends the turn with no agentStop (§1.4), so
// it is the end. It returns nil for events that mean nothing for a session.
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
	ended := func(id string) []event.Signal {
		if id == "" {
			return nil
		}
		s.Task = &event.Task{ID: id}
		return one(event.TaskEnded)
	}
	denied := v.Decision == event.Deny
	if ev.Tool != nil {
		s.Tool, s.ToolUse = ev.Tool.Name, ev.Tool.UseID
	}

	switch ev.Name {
	case event.SessionStart:
		return because(event.Opened, ev.Source)
	case event.SessionEnd:
		switch ev.Reason {
		case "complete":
			// Headless runs and autopilot fire it after every round and may work
			// on (§1.10), so it is no more than a Stop.
			return because(event.Stopped, ev.Reason)
		case "error":
			return because(event.Failed, ev.Reason)
		}
		return because(event.Closed, ev.Reason)

	case event.UserPromptSubmit:
		switch {
		case strings.HasPrefix(ev.Prompt, "<system_notification>"):
			return ended(shellID(ev.Prompt))
		case ev.AgentID != "":
			return one(event.Active)
		case denied:
			return nil // no model call, no agentStop
		}
		s.Prompt = event.Preview(strings.TrimPrefix(ev.Prompt, "[[PLAN]]"))
		return one(event.Began)

	case event.PreToolUse:
		return toolBegins(ev, v, s)
	case event.PermissionRequest:
		if denied && v.Interrupt && ev.AgentID == "" {
			return because(event.Interrupted, ReasonDenyInterrupt)
		}
		return one(event.Active)
	case event.PreMCPToolCall:
		return one(event.Active)
	case event.PostToolUse, event.PostToolUseFailure:
		return toolEnds(ev, s)

	case event.Notification:
		if ev.Notification == nil {
			return nil
		}
		switch kind := ev.Notification.Type; kind {
		case "permission_prompt", "elicitation_dialog":
			return because(event.Waiting, reasonNote+kind)
		case "shell_completed", "shell_detached_completed":
			return ended(shellID(ev.Notification.Message))
		}
		// agent_idle and agent_completed name the agent by its title alone;
		// subagentStop and the transcript have the id.
		return nil

	case event.SubagentStart:
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent, Description: ev.AgentType}
		return one(event.TaskBegan)
	case event.SubagentStop:
		if denied {
			return one(event.Active)
		}
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent}
		return one(event.TaskEnded)
	case event.Stop:
		if denied || ev.AgentID != "" {
			return one(event.Active) // blocked, or only a subagent's turn
		}
		s.LastMessage = event.Preview(ev.LastMessage)
		return because(event.Stopped, ev.Reason)

	case event.PreCompact:
		if ev.Trigger == "auto" {
			return one(event.Active)
		}
	}
	// errorOccurred is told of each failed try, and as recoverable even when it
	// was the last; the transcript's session.error is the end.
	return nil
}

func toolBegins(ev *event.Event, v event.Verdict, s event.Signal) []event.Signal {
	s.Kind = event.Active
	if ev.Tool == nil || v.Decision == event.Deny {
		return []event.Signal{s}
	}
	if v.UpdatedInput != nil {
		s.ToolUse = callID(ev.Tool.Name, v.UpdatedInput) // so will postToolUse name it
	}
	began, waiting := s, s
	began.Kind, waiting.Kind = event.ToolBegan, event.Waiting
	switch waiting.Reason = dialog(ev.Tool.Name); {
	case waiting.Reason != "":
		return []event.Signal{began, waiting}
	case v.Decision == event.Ask:
		waiting.Reason = ReasonAsked
		if v.Rule != "" {
			waiting.Reason = v.Rule
		}
		return []event.Signal{began, waiting}
	}
	return []event.Signal{began}
}

func dialog(tool string) string {
	switch tool {
	case "ask_user", "AskUserQuestion":
		return ReasonQuestion
	case "exit_plan_mode", "ExitPlanMode":
		return ReasonPlan
	}
	return ""
}

func toolEnds(ev *event.Event, s event.Signal) []event.Signal {
	s.Kind = event.ToolEnded
	if ev.Tool == nil {
		s.Kind = event.Active
		return []event.Signal{s}
	}
	out := []event.Signal{s}
	add := func(kind event.SignalKind, task *event.Task) {
		more := s
		more.Kind, more.Task = kind, task
		out = append(out, more)
	}
	if dialog(ev.Tool.Name) != "" {
		add(event.Resumed, nil)
	}
	if ev.Name == event.PostToolUse {
		if task, kind := background(ev.Tool); task != nil {
			add(kind, task)
		}
	}
	return out
}

// background finds work that outlives the call (contract §4), by its arguments
// and by the words of its result, since no payload lists what is pending.
func background(tool *event.Tool) (*event.Task, event.SignalKind) {
	describe := func() string { return event.Preview(jsontext.Text(tool.Input, "description")) }
	switch tool.Name {
	case "bash", "powershell", "Bash", "PowerShell":
		if jsontext.Text(tool.Input, "mode") != "async" {
			return nil, ""
		}
		id := jsontext.Text(tool.Input, "shellId")
		if id == "" {
			id = shellID(result(tool))
		}
		if id == "" {
			return nil, ""
		}
		if jsontext.True(jsontext.Member(tool.Input, "detach")) {
			// It outlives the client and no completion was ever seen, so it
			// weighs like a monitor.
			return &event.Task{ID: id, Type: event.TaskMonitor, Description: describe()}, event.TaskBegan
		}
		return &event.Task{ID: id, Type: event.TaskShell, Description: describe()}, event.TaskBegan
	case "read_bash", "stop_bash", "read_powershell", "stop_powershell":
		text := result(tool)
		id := shellID(text)
		if id == "" {
			id = jsontext.Text(tool.Input, "shellId")
		}
		if id != "" && (strings.HasPrefix(tool.Name, "stop_") || strings.Contains(text, " completed with exit code ")) {
			return &event.Task{ID: id, Type: event.TaskShell}, event.TaskEnded
		}
	case "task", "Agent", "Task":
		if jsontext.Text(tool.Input, "mode") == "background" {
			if _, rest, ok := strings.Cut(result(tool), "agent_id: "); ok {
				return &event.Task{ID: word(rest), Type: event.TaskSubagent, Description: describe()}, event.TaskBegan
			}
		}
	case "write_agent":
		if id := jsontext.Text(tool.Input, "agent_id"); id != "" {
			return &event.Task{ID: id, Type: event.TaskSubagent}, event.TaskBegan
		}
	case "read_agent":
		// The words of a terminal state are read in the client's help, not seen.
		id, text := jsontext.Text(tool.Input, "agent_id"), result(tool)
		if len(text) > 300 {
			text = text[:300]
		}
		for _, state := range []string{"status: idle", "status: completed", "status: failed"} {
			if id != "" && strings.Contains(strings.ToLower(text), state) {
				return &event.Task{ID: id, Type: event.TaskSubagent}, event.TaskEnded
			}
		}
	}
	return nil, ""
}

// result is the text of a tool's result in either dialect.
func result(tool *event.Tool) string {
	if text := jsontext.Text(tool.Response, "textResultForLlm"); text != "" {
		return text
	}
	return jsontext.Text(tool.Response, "text_result_for_llm")
}

// shellID takes bg1 out of "… (shellId: bg1) …".
func shellID(text string) string {
	_, rest, ok := strings.Cut(text, "shellId: ")
	if !ok {
		return ""
	}
	return word(rest)
}

func word(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	if end < 0 {
		return text
	}
	return text[:end]
}
