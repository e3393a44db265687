package claude

import (
	"bytes"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Reasons of the soft locks and ends this codec reports, as `status` and `why`
// show them. A closed-lid policy that leaves a prompt open on purpose names its
// own reason in Verdict.Rule.
const (
	ReasonPermission  = "claude_permission_request_open"
	ReasonQuestion    = "claude_ask_user_question_open"
	ReasonPlan        = "claude_exit_plan_mode_open"
	ReasonElicitation = "claude_elicitation_open"
	reasonNote        = "claude_notification_" // + the client's notification type

	ReasonDenyInterrupt = "claude_permission_denied_with_interrupt"
	ReasonBlockedPrompt = "claude_prompt_blocked"
	ReasonStopTurn      = "claude_turn_stopped_by_hook"
	ReasonToolInterrupt = "claude_tool_interrupted"
)

// Signals says what ev means for the tracked session, given the verdict v that
// is about to be answered: whether a permission request is left open, whether a
// Stop was turned into more work and whether a denial ends the turn without a
// Stop (contract §1.4) are known only together with the answer. Events of a
// subagent carry the session of its parent and Signal.AgentID. It returns nil
// for events that mean nothing for a session.
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

	switch ev.Name {
	case event.SessionStart:
		// After a compaction the session is what it was before.
		if ev.Source == "compact" {
			return nil
		}
		return because(event.Opened, ev.Source)
	case event.SessionEnd:
		// /clear and resume end this id and go on under another one in the
		// same process.
		s.Continues = ev.Reason == "clear" || ev.Reason == "resume"
		return because(event.Closed, ev.Reason)

	case event.UserPromptSubmit:
		switch id, done, is := notification(ev.Prompt); {
		case is && done:
			s.Task = &event.Task{ID: id}
			return one(event.TaskEnded)
		case is:
			return nil // a line from a monitor: no completion, no activity
		case denied || v.StopTurn:
			return nil // the prompt never becomes a turn
		case ev.AgentID != "":
			return one(event.Active)
		}
		if !strings.HasPrefix(ev.Prompt, notificationMark) { // a hook woke the model; nobody typed that
			s.Prompt = event.Preview(ev.Prompt)
		}
		return one(event.Began)
	case event.UserPromptExpansion:
		// It follows the prompt's own event; a refusal ends that turn with no
		// Stop.
		if denied || v.StopTurn {
			return because(event.Interrupted, ReasonBlockedPrompt)
		}
		return one(event.Active)

	case event.PreToolUse:
		return toolBegins(ev, v, s)
	case event.PermissionRequest:
		return permission(ev, v, s)
	case event.PermissionDenied:
		return toolEnds(ev, s, nil)
	case event.PostToolUse:
		return toolEnds(ev, s, stopTurn(v, s))
	case event.PostToolUseFailure:
		if ev.Tool != nil && ev.Tool.Interrupted && ev.AgentID == "" {
			s.Reason = ReasonToolInterrupt
			return toolEnds(ev, s, one(event.Interrupted))
		}
		return toolEnds(ev, s, nil)
	case event.PostToolBatch:
		// Both a block and continue:false end the turn here.
		if denied || v.StopTurn {
			v.StopTurn = true
			return stopTurn(v, s)
		}
		return batchEnds(ev, s)
	case event.PreSkillShellCommand:
		return one(event.Active)

	case event.Notification:
		if ev.Notification == nil {
			return nil
		}
		switch kind := ev.Notification.Type; kind {
		case "permission_prompt", "elicitation_dialog", "elicitation_url_dialog", "agent_needs_input", "idle_prompt":
			return because(event.Waiting, reasonNote+kind)
		case "elicitation_complete", "elicitation_response":
			return because(event.Resumed, reasonNote+kind)
		}
		return nil

	case event.SubagentStart:
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent, Description: ev.AgentType}
		return one(event.TaskBegan)
	case event.SubagentStop:
		switch {
		case ev.AgentType == "":
			return nil // an internal agent (compaction, suggestions): no start came either
		case denied && !v.StopTurn:
			return one(event.Active)
		}
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent}
		return one(event.TaskEnded)
	case event.TeammateIdle:
		if denied {
			return one(event.Active)
		}
		// The id here is the agent's. Stop lists teammates under another id and
		// as running, so the registry needs the type to weigh them.
		s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskTeammate, Description: ev.AgentType, Idle: true}
		return one(event.TaskEnded)
	case event.TaskCreated, event.TaskCompleted:
		// These are to-do items: shown, never a reason to stay awake.
		if denied {
			return nil
		}
		s.Task = &event.Task{
			ID: jsontext.Text(ev.Raw, "task_id"), Type: event.TaskTodo,
			Description: event.Preview(jsontext.Text(ev.Raw, "task_subject")),
		}
		if ev.Name == event.TaskCreated {
			return one(event.TaskBegan)
		}
		return one(event.TaskEnded)

	case event.Stop:
		if denied && !v.StopTurn {
			return one(event.Active) // the turn goes on, with no new prompt event
		}
		s.Tasks = inFlight(ev)
		s.LastMessage = cut(ev.LastMessage)
		return because(event.Stopped, ev.Reason)
	case event.StopFailure:
		if ev.AgentID != "" {
			// Only a side agent broke; the turn goes on.
			s.Task = &event.Task{ID: ev.AgentID, Type: event.TaskSubagent}
			return because(event.TaskEnded, ev.Error)
		}
		s.LastMessage = cut(ev.LastMessage)
		return because(event.Failed, ev.Error)

	case event.PreCompact, event.PostCompact:
		// A compaction asked for by a person ends with no Stop, so it must not
		// begin anything.
		if ev.Trigger == "auto" {
			return one(event.Active)
		}
		return nil
	case event.Elicitation:
		if v.ElicitAction != "" || denied {
			return one(event.Active)
		}
		return because(event.Waiting, ReasonElicitation)
	case event.ElicitationResult:
		return one(event.Resumed)
	}
	// MessageDisplay is left out although it is work: its hook runs beside the
	// turn and may report after the Stop, which would start the session again.
	return nil
}

func toolBegins(ev *event.Event, v event.Verdict, s event.Signal) []event.Signal {
	s.Kind = event.Active
	if ev.Tool == nil {
		return []event.Signal{s}
	}
	s.Tool, s.ToolUse = ev.Tool.Name, ev.Tool.UseID
	if v.StopTurn {
		return stopTurn(v, s)
	}
	if v.Decision == event.Deny {
		return []event.Signal{s} // it never runs, and nothing reports its end
	}
	began := s
	began.Kind = event.ToolBegan
	waiting := s
	waiting.Kind = event.Waiting
	switch reason := dialog(ev.Tool.Name); {
	case reason != "":
		// The dialog opens whatever else is answered, allow included.
		waiting.Reason = reason
		return []event.Signal{began, waiting}
	case v.Decision == event.Ask:
		waiting.Reason = ReasonPermission
		if v.Rule != "" {
			waiting.Reason = v.Rule
		}
		return []event.Signal{began, waiting}
	}
	return []event.Signal{began}
}

func permission(ev *event.Event, v event.Verdict, s event.Signal) []event.Signal {
	tool := ""
	if ev.Tool != nil {
		tool = ev.Tool.Name
	}
	s.Tool = tool
	question := dialog(tool)
	answered := question == "" || v.UpdatedInput != nil
	switch {
	case v.Decision == event.Deny && v.Interrupt && ev.AgentID == "":
		// No Stop follows, so this hook is the last to know of the turn.
		s.Kind, s.Reason = event.Interrupted, ReasonDenyInterrupt
	case v.Decision == event.Deny, v.Decision == event.Allow && answered:
		s.Kind = event.Active
	default:
		s.Kind, s.Reason = event.Waiting, ReasonPermission
		if question != "" {
			s.Reason = question
		}
		if v.Decision == event.Ask && v.Rule != "" {
			s.Reason = v.Rule
		}
	}
	return []event.Signal{s}
}

// dialog returns the soft-lock reason of a tool that is a dialog by nature: a
// plain allow leaves it open (contract §3).
func dialog(tool string) string {
	switch tool {
	case "AskUserQuestion":
		return ReasonQuestion
	case "ExitPlanMode":
		return ReasonPlan
	}
	return ""
}

func toolEnds(ev *event.Event, s event.Signal, after []event.Signal) []event.Signal {
	if ev.Tool == nil {
		s.Kind = event.Active
		return append([]event.Signal{s}, after...)
	}
	s.Kind, s.Tool, s.ToolUse, s.Reason = event.ToolEnded, ev.Tool.Name, ev.Tool.UseID, ""
	out := []event.Signal{s}
	if ev.Name == event.PostToolUse {
		if dialog(ev.Tool.Name) != "" {
			resumed := s
			resumed.Kind = event.Resumed
			out = append(out, resumed)
		}
		if task, kind := background(ev.Tool); task != nil {
			began := s
			began.Kind, began.Task = kind, task
			out = append(out, began)
		}
	}
	return append(out, after...)
}

// batchEnds ends every call of a batch. Calls that a person or a hook refused at
// the dialog have no PostToolUse, so this is all that is heard of them.
func batchEnds(ev *event.Event, s event.Signal) []event.Signal {
	s.Kind = event.Active
	out := []event.Signal{s}
	_ = jsontext.Array(jsontext.Member(ev.Raw, "tool_calls"), func(call []byte) bool {
		ended := s
		ended.Kind = event.ToolEnded
		_ = jsontext.Object(call, func(key, value []byte) bool {
			switch string(key) {
			case "tool_name":
				ended.Tool, _ = jsontext.String(value)
			case "tool_use_id":
				ended.ToolUse, _ = jsontext.String(value)
			}
			return ended.Tool == "" || ended.ToolUse == ""
		})
		if ended.ToolUse != "" {
			out = append(out, ended)
		}
		return true
	})
	return out
}

// stopTurn is the end of a turn by continue:false, after which no Stop comes.
func stopTurn(v event.Verdict, s event.Signal) []event.Signal {
	if !v.StopTurn {
		return nil
	}
	s.Kind, s.Reason = event.Interrupted, ReasonStopTurn
	if s.AgentID != "" {
		s.Kind = event.Active // a subagent's turn, not the session's
	}
	return []event.Signal{s}
}

// background finds work that outlives the call in a tool's response (contract
// §4). Responses may be megabytes, so only those of the tools that can start or
// stop such work are looked into.
func background(tool *event.Tool) (*event.Task, event.SignalKind) {
	r := tool.Response
	switch tool.Name {
	case "Bash", "PowerShell":
		// Most calls do not have it: a search for the word is cheaper than to
		// read through all that a command printed.
		if !bytes.Contains(r, []byte("backgroundTaskId")) {
			return nil, ""
		}
		if id := jsontext.Text(r, "backgroundTaskId"); id != "" {
			return &event.Task{ID: id, Type: event.TaskShell, Description: describe(tool)}, event.TaskBegan
		}
	case "Agent", "Task":
		// SubagentStart reports these too, under the same id; a ledger keyed by
		// id counts it once. A teammate is listed by Stop under its own id.
		if jsontext.Text(r, "status") == "async_launched" {
			if id := jsontext.Text(r, "agentId"); id != "" {
				return &event.Task{ID: id, Type: event.TaskSubagent, Description: describe(tool)}, event.TaskBegan
			}
		}
	case "Monitor":
		if id := jsontext.Text(r, "taskId"); id != "" {
			return &event.Task{ID: id, Type: event.TaskMonitor, Description: describe(tool)}, event.TaskBegan
		}
	case "CronCreate":
		if id := jsontext.Text(r, "id"); id != "" {
			return &event.Task{ID: id, Type: event.TaskCron, Description: event.Preview(jsontext.Text(r, "humanSchedule"))}, event.TaskBegan
		}
	case "TaskStop", "KillShell":
		if id := jsontext.Text(r, "task_id"); id != "" {
			return &event.Task{ID: id}, event.TaskEnded
		}
	}
	return nil, ""
}

func describe(tool *event.Tool) string {
	return event.Preview(jsontext.Text(tool.Input, "description"))
}

const notificationMark = "<task-notification>"

// notification reads a <task-notification> prompt: the id of the task, whether
// it says that the task is over, and whether it is such a prompt at all. One that
// names no task is none: with it a hook wakes the model, which begins a turn
// (asyncRewake, §3).
func notification(prompt string) (id string, done, is bool) {
	body, is := strings.CutPrefix(strings.TrimLeft(prompt, " \t\r\n"), notificationMark)
	if id = element(body, "task-id"); !is || id == "" {
		return "", false, false
	}
	// <result> quotes what an agent wrote, which may hold anything; the elements
	// the client writes come before it.
	body, _, _ = strings.Cut(body, "<result>")
	switch status := element(body, "status"); status {
	case "", "running", "pending", "in_progress":
		return id, false, true
	}
	return id, true, true
}

func element(text, name string) string {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return ""
	}
	value, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(value)
}

// inFlight is the client's list of running work with its wake-ups, or nil when
// the client (before 2.1.197 or so) did not say.
func inFlight(ev *event.Event) []event.Task {
	if ev.Tasks == nil && ev.Crons == nil {
		return nil
	}
	out := make([]event.Task, 0, len(ev.Tasks)+len(ev.Crons))
	out = append(out, ev.Tasks...)
	for _, c := range ev.Crons {
		out = append(out, event.Task{ID: c.ID, Type: event.TaskCron, Description: c.Schedule})
	}
	return out
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
