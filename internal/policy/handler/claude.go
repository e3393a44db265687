package handler

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// ClaudePayload is an event in the JSON that Claude Code gives its hooks, whichever
// client it comes from (docs/contracts/claude.md).
func ClaudePayload(ev *event.Event) ([]byte, error) {
	all := map[string]any{}
	if ev.Provider == event.Claude && len(ev.Raw) > 0 {
		var own map[string]json.RawMessage // keeps numbers as they were written
		if err := json.Unmarshal(ev.Raw, &own); err != nil {
			return nil, fmt.Errorf("the payload is no JSON object: %w", err)
		}
		for k, v := range own {
			all[k] = v
		}
	}
	put := func(key, value string) {
		if value != "" {
			all[key] = value
		}
	}
	put("session_id", string(ev.Session.ID))
	put("transcript_path", ev.TranscriptPath)
	put("cwd", ev.Cwd)
	put("permission_mode", ev.PermissionMode)
	put("agent_id", ev.AgentID)
	put("agent_type", ev.AgentType)
	all["hook_event_name"] = ev.Name
	if t := ev.Tool; t != nil {
		name := t.Name
		if ev.Provider != event.Claude {
			name = canonical(name)
		}
		all["tool_name"] = name
		put("tool_use_id", t.UseID)
		if len(t.Input) > 0 {
			all["tool_input"] = t.Input
		}
		if len(t.Response) > 0 {
			all["tool_response"] = t.Response
		}
		put("error", t.Error)
	}
	if ev.Provider != event.Claude {
		put("prompt", ev.Prompt)
		put("source", ev.Source)
		put("reason", ev.Reason)
		put("trigger", ev.Trigger)
		put("last_assistant_message", ev.LastMessage)
		put("error", ev.Error)
		put("model", ev.Model)
		if ev.Name == event.Stop || ev.Name == event.SubagentStop {
			all["stop_hook_active"] = ev.StopActive
		}
		if n := ev.Notification; n != nil {
			put("notification_type", n.Type)
			put("title", n.Title)
			put("message", n.Message)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(all)
	return b.Bytes(), err
}

// claudeAnswer is what a hook may print for Claude Code.
type claudeAnswer struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	SystemMessage string `json:"systemMessage"`
	Specific      *struct {
		Event                    string          `json:"hookEventName"`
		PermissionDecision       string          `json:"permissionDecision"`
		PermissionDecisionReason string          `json:"permissionDecisionReason"`
		AdditionalContext        string          `json:"additionalContext"`
		UpdatedInput             json.RawMessage `json:"updatedInput"`
		UpdatedOutput            json.RawMessage `json:"updatedToolOutput"`
		UpdatedMCPOutput         json.RawMessage `json:"updatedMCPToolOutput"`
		Action                   string          `json:"action"`
		Content                  json.RawMessage `json:"content"`
		SessionTitle             string          `json:"sessionTitle"`
		WatchPaths               []string        `json:"watchPaths"`
		Decision                 *struct {
			Behavior     string          `json:"behavior"`
			Message      string          `json:"message"`
			Interrupt    bool            `json:"interrupt"`
			UpdatedInput json.RawMessage `json:"updatedInput"`
			Permissions  json.RawMessage `json:"updatedPermissions"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`
}

// readClaude reads how a program ended as Claude Code would: exit 2 refuses with
// what stands on stderr, JSON on stdout counts else, and an empty stdout says
// nothing. What Claude Code would pass over as a fault of the hook (another exit
// code, text that is no JSON, the name of another event) is an error here, so that
// the handler's role decides and not an accident.
func readClaude(ev *event.Event, r policy.Result) (event.Verdict, error) {
	if r.Code == 2 {
		return event.Verdict{Decision: event.Deny, Reason: strings.TrimSpace(printable(string(r.Stderr)))}, nil
	}
	out := bytes.TrimSpace(r.Stdout)
	if r.Code != 0 && (len(out) == 0 || out[0] != '{') {
		return event.Verdict{}, ended(r)
	}
	if len(out) == 0 {
		return event.Verdict{}, nil
	}
	if out[0] != '{' {
		if ev.Name == event.SessionStart || ev.Name == event.UserPromptSubmit { // plain text is context there
			return event.Verdict{Contexts: []string{printable(string(out))}}, nil
		}
		return event.Verdict{}, fmt.Errorf("its answer is no JSON object: %q", short(string(out)))
	}
	var a claudeAnswer
	if err := json.Unmarshal(out, &a); err != nil {
		return event.Verdict{}, fmt.Errorf("its answer cannot be read: %w", err)
	}
	return a.verdict(ev)
}

func (a *claudeAnswer) verdict(ev *event.Event) (event.Verdict, error) {
	v := event.Verdict{SystemMessage: printable(a.SystemMessage)}
	if a.Continue != nil && !*a.Continue {
		v.StopTurn, v.StopReason = true, printable(a.StopReason)
	}
	switch a.Decision {
	case "":
	case "block":
		v.Decision, v.Reason = event.Deny, printable(a.Reason)
	case "approve":
		v.Decision, v.Reason = event.Allow, printable(a.Reason)
	default:
		return event.Verdict{}, fmt.Errorf("its decision is %q, which is none", short(a.Decision))
	}
	s := a.Specific
	if s == nil {
		return v, nil
	}
	if s.Event != string(ev.Name) {
		return event.Verdict{}, fmt.Errorf("its answer is for the event %q", short(s.Event))
	}
	switch s.PermissionDecision {
	case "":
	case "defer": // leaves the call to a later run; nobody here could take it up
		v.Decision, v.Reason = event.Ask, printable(s.PermissionDecisionReason)
	default:
		d, ok := decision(s.PermissionDecision)
		if !ok || d == event.None {
			return event.Verdict{}, fmt.Errorf("its permissionDecision is %q, which is none", short(s.PermissionDecision))
		}
		v.Decision, v.Reason = d, printable(s.PermissionDecisionReason)
	}
	v.UpdatedInput, v.UpdatedOutput = value(s.UpdatedInput), value(s.UpdatedOutput)
	if v.UpdatedOutput == nil {
		v.UpdatedOutput = value(s.UpdatedMCPOutput)
	}
	if c := printable(s.AdditionalContext); strings.TrimSpace(c) != "" {
		v.Contexts = []string{c}
	}
	v.ElicitAction, v.ElicitContent = s.Action, value(s.Content)
	v.SessionTitle, v.WatchPaths = printable(s.SessionTitle), s.WatchPaths
	if d := s.Decision; d != nil {
		switch d.Behavior {
		case "allow":
			v.Decision, v.UpdatedInput, v.Permissions = event.Allow, value(d.UpdatedInput), value(d.Permissions)
		case "deny":
			v.Decision, v.Reason, v.Interrupt = event.Deny, printable(d.Message), d.Interrupt
		default:
			return event.Verdict{}, fmt.Errorf("its behavior is %q, which is none", short(d.Behavior))
		}
	}
	return v, nil
}
