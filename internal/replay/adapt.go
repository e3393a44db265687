package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Adapter lets a hook that was written for Claude Code answer another client. The
// client's payload becomes Claude Code's, with its names of tools and arguments;
// what the hook says is read as Claude Code would read it, and said again in the
// client's words. What the client has no words for becomes what is safest (an ask
// on Codex refuses) or is left out; docs/prove.md has the table.
type Adapter struct {
	Provider event.Provider
	Event    string // as the client spells it; needed where the payload does not say
	// Gate makes a refusal of a hook that fails: it crashed, hung, or said what
	// Claude Code would throw away. Without it such a hook has said nothing.
	Gate   bool
	Body   Runner
	Getenv func(string) string
}

// Answer answers one payload. The error is for a client that there is not.
func (a *Adapter) Answer(ctx context.Context, payload []byte) (event.Output, error) {
	_, codec, ok := entry.EntryOf(a.Provider)
	if !ok {
		return event.Output{}, fmt.Errorf("there are no hooks of %q", a.Provider)
	}
	ev, err := codec.Decode(payload, a.Getenv, a.Event)
	if err != nil {
		if a.Gate {
			return codec.Refuse(&ev, fmt.Sprintf("The hook could not be asked (%v), so this is refused.", err)), nil
		}
		return event.Output{}, nil
	}
	if ev.Provider == event.Claude {
		return a.through(ctx, &ev, payload, codec)
	}
	if _, known := find(event.Claude, string(ev.Name)); !known {
		return event.Output{}, nil // an event that the hook cannot know
	}
	var v event.Verdict
	for i, call := range calls(&ev) {
		one, failed := a.ask(ctx, &ev, call)
		if failed != "" && a.Gate && stoppable(ev.Name) {
			one = event.Verdict{Decision: event.Deny, Reason: "The hook that judges this failed (" + failed + "), so this is refused."}
		}
		if one, failed = call.back(&ev, one); failed != "" {
			one = event.Verdict{Decision: event.Deny, Reason: failed}
		}
		if i == 0 {
			v = one
			continue
		}
		if one.Decision > v.Decision {
			v.Decision, v.Reason, v.Interrupt = one.Decision, one.Reason, one.Interrupt
		}
		v.Contexts = append(v.Contexts, one.Contexts...)
	}
	out, err := codec.Encode(&ev, v)
	if err != nil { // a rewrite that does not fit; Output is the safest to say
		return out, nil
	}
	return out, nil
}

// through is Claude Code itself: its own dialect needs no translation, only its
// failures may.
func (a *Adapter) through(ctx context.Context, ev *event.Event, payload []byte, codec entry.Codec) (event.Output, error) {
	o, err := Play(ctx, a.Body, Case{Provider: event.Claude, Event: ev.Native, Payload: payload})
	if failed := failure(&o, err); failed != "" && a.Gate && stoppable(ev.Name) {
		return codec.Encode(ev, event.Verdict{Decision: event.Deny, Reason: "The hook that judges this failed (" + failed + "), so this is refused."})
	}
	if err != nil || o.Late {
		return event.Output{}, nil
	}
	return event.Output{Stdout: o.Stdout, Stderr: o.Stderr, Code: o.Code}, nil
}

// ask puts one call to the hook; failed says why it has not answered.
func (a *Adapter) ask(ctx context.Context, ev *event.Event, c call) (v event.Verdict, failed string) {
	payload, err := c.payload(ev)
	if err != nil {
		return v, err.Error()
	}
	o, err := Play(ctx, a.Body, Case{Provider: event.Claude, Event: string(ev.Name), Payload: payload})
	if failed := failure(&o, err); failed != "" {
		return event.Verdict{}, failed
	}
	return o.Verdict, ""
}

// failure says why a hook counts as broken, "" where it does not.
func failure(o *Outcome, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case o.Late:
		return "no answer in time"
	case o.Failed && o.Code != 0:
		return o.Ended()
	case o.Failed:
		return strings.Join(o.Faults, "; ")
	}
	return ""
}

// stoppable are the events at which a broken gate refuses. The end of a turn is not
// one: that would keep the agent going for the hook's own fault.
func stoppable(name event.Name) bool {
	switch name {
	case event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand, event.UserPromptSubmit:
		return true
	}
	return false
}

// call is an event as Claude Code would send it. A patch of Codex is one call for
// each file.
type call struct {
	tool            string
	input, response json.RawMessage
	part            bool // of a patch
	keys            map[string]string
}

// The words of other clients for Claude Code's tools and arguments.
var (
	toolNames = map[event.Provider]map[string]string{
		event.Codex: {"spawn_agent": "Agent", "view_image": "Read", "request_user_input": "AskUserQuestion"},
		event.Copilot: {"bash": "Bash", "powershell": "PowerShell", "view": "Read", "create": "Write", "edit": "Edit", "glob": "Glob", "grep": "Grep",
			"rg": "Grep", "task": "Agent", "ask_user": "AskUserQuestion", "exit_plan_mode": "ExitPlanMode", "web_fetch": "WebFetch", "web_search": "WebSearch", "skill": "Skill"},
		event.OpenCode: {"bash": "Bash", "read": "Read", "write": "Write", "edit": "Edit", "glob": "Glob", "grep": "Grep", "task": "Agent",
			"question": "AskUserQuestion", "webfetch": "WebFetch", "websearch": "WebSearch", "todowrite": "TodoWrite", "skill": "Skill"},
	}
	argumentNames = map[event.Provider]map[string]string{
		event.Codex:    {"path": "file_path"},
		event.Copilot:  {"path": "file_path", "file_text": "content", "old_str": "old_string", "new_str": "new_string"},
		event.OpenCode: {"filePath": "file_path", "oldString": "old_string", "newString": "new_string", "replaceAll": "replace_all"},
	}
)

// fileTools are those whose arguments are renamed; elsewhere a path is a path.
var fileTools = []string{"Read", "Write", "Edit"}

// calls are the payloads that an event becomes.
func calls(ev *event.Event) []call {
	t := ev.Tool
	if t == nil {
		return []call{{}}
	}
	c := call{tool: t.Name, input: t.Input, response: t.Response}
	if name, ok := toolNames[ev.Provider][t.Name]; ok {
		c.tool = name
	}
	if t.MCPServer != "" && !strings.HasPrefix(t.Name, "mcp__") {
		name := strings.TrimPrefix(strings.TrimPrefix(t.Name, t.MCPServer+"/"), t.MCPServer+"-")
		c.tool = "mcp__" + t.MCPServer + "__" + name
	}
	if slices.Contains(fileTools, c.tool) {
		c.keys = argumentNames[ev.Provider]
		c.input = renamed(c.input, c.keys)
	}
	if c.tool == "Bash" && c.response != nil {
		if text, ok := outputOf(c.response); ok {
			c.response, _ = plain(members{"stdout": text, "stderr": "", "interrupted": false, "isImage": false}) // texts always encode
		}
	}
	if t.Name == "apply_patch" || t.Name == "patch" {
		if parts := patchCalls(ev, c); len(parts) > 0 {
			return parts
		}
	}
	return []call{c}
}

// patchCalls are the files of a patch, each as the call that Claude Code would make.
func patchCalls(ev *event.Event, whole call) []call {
	var text string
	for _, key := range []string{"command", "patchText", "patch", "input"} {
		if text == "" {
			text = jsontext.Text(whole.input, key)
		}
	}
	var out []call
	var added []string
	var kind, file string
	flush := func() {
		if file == "" {
			return
		}
		if !path.IsAbs(file) && ev.Cwd != "" {
			file = path.Join(ev.Cwd, file)
		}
		c := call{tool: "Edit", response: whole.response, part: true}
		in := members{"file_path": file, "old_string": "", "new_string": strings.Join(added, "\n")}
		if kind == "*** Add File" || kind == "*** Move to" {
			c.tool, in = "Write", members{"file_path": file, "content": strings.Join(added, "\n")}
		}
		c.input, _ = plain(in)
		out = append(out, c)
		file, added = "", nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if more, ok := strings.CutPrefix(line, "+"); ok {
			added = append(added, more)
			continue
		}
		verb, name, ok := strings.Cut(strings.TrimSpace(line), ":")
		switch verb {
		case "*** Add File", "*** Update File", "*** Delete File", "*** Move to":
			if name = strings.TrimSpace(name); ok && name != "" {
				flush()
				kind, file = verb, name
			}
		}
	}
	flush()
	return out
}

// renamed is a JSON object with other names for some members.
func renamed(input json.RawMessage, keys map[string]string) json.RawMessage {
	if len(keys) == 0 || jsontext.Kind(input) != "object" {
		return input
	}
	var w jsontext.Writer
	err := jsontext.Object(input, func(key, value []byte) bool {
		name := string(key)
		if other, ok := keys[name]; ok {
			name = other
		}
		w.Raw(name, value)
		return true
	})
	if err != nil {
		return input
	}
	return w.Bytes()
}

// outputOf is the text in a shell's result, in the shape of any client but Claude
// Code.
func outputOf(response []byte) (string, bool) {
	if text, ok := jsontext.String(response); ok {
		return text, true // Codex
	}
	for _, key := range []string{"textResultForLlm", "text_result_for_llm", "output"} {
		if value := jsontext.Member(response, key); value != nil {
			return jsontext.String(value)
		}
	}
	return "", false
}

// payload is what Claude Code would send.
func (c call) payload(ev *event.Event) ([]byte, error) {
	var t event.Tool
	if ev.Tool != nil {
		t = *ev.Tool
	}
	p := members{"session_id": string(ev.Session.ID), "transcript_path": ev.TranscriptPath, "cwd": ev.Cwd, "hook_event_name": string(ev.Name)}
	p.set("permission_mode", ev.PermissionMode)
	p.set("prompt_id", ev.TurnID)
	p.set("agent_id", ev.AgentID)
	p.set("agent_type", ev.AgentType)
	if c.tool != "" {
		p["tool_name"] = c.tool
		p["tool_input"] = orEmpty(c.input)
	}
	switch ev.Name {
	case event.SessionStart:
		p["source"] = ev.Source
		p.set("model", ev.Model)
	case event.SessionEnd:
		p["reason"] = ev.Reason
	case event.UserPromptSubmit:
		p["prompt"] = ev.Prompt
	case event.PreToolUse:
		p["tool_use_id"] = t.UseID
	case event.PostToolUse:
		p["tool_use_id"], p["tool_response"] = t.UseID, orEmpty(c.response)
	case event.PostToolUseFailure:
		p["tool_use_id"], p["error"], p["is_interrupt"] = t.UseID, ev.Error, t.Interrupted
	case event.Stop, event.SubagentStop:
		p["stop_hook_active"], p["last_assistant_message"] = ev.StopActive, ev.LastMessage
		p["background_tasks"], p["session_crons"] = []string{}, []string{}
		p.set("agent_transcript_path", ev.AgentTranscript)
	case event.StopFailure:
		p["error"] = ev.Error
	case event.PreCompact, event.PostCompact:
		p["trigger"], p["custom_instructions"] = ev.Trigger, ""
	case event.Notification:
		if n := ev.Notification; n != nil {
			p["notification_type"], p["message"], p["title"] = n.Type, n.Message, n.Title
		}
	}
	return plain(p)
}

func orEmpty(raw json.RawMessage) any {
	if !json.Valid(raw) {
		return members{}
	}
	return raw
}

// back puts the rewrites of an answer into the client's words. lost says that one
// cannot be: dropping it would let run or show what the hook took away.
func (c call) back(ev *event.Event, v event.Verdict) (out event.Verdict, lost string) {
	if v.UpdatedInput != nil {
		if c.part {
			return v, "The hook wants to change this patch, and a part of a patch cannot be changed. Make the change by a call of its own."
		}
		inverse := map[string]string{}
		for theirs, ours := range c.keys {
			inverse[ours] = theirs
		}
		v.UpdatedInput = renamed(v.UpdatedInput, inverse)
	}
	if v.UpdatedOutput != nil && c.tool == "Bash" && !bytes.Equal(c.response, ev.Tool.Response) {
		text := jsontext.Text(v.UpdatedOutput, "stdout") + jsontext.Text(v.UpdatedOutput, "stderr")
		v.UpdatedOutput = withOutput(ev.Tool.Response, text)
	}
	return v, ""
}

// withOutput is a shell's result with another text.
func withOutput(response []byte, text string) json.RawMessage {
	quoted := jsontext.AppendString(nil, text)
	if jsontext.Kind(response) == "string" {
		return quoted
	}
	var w jsontext.Writer
	_ = jsontext.Object(response, func(key, value []byte) bool { // it was read before
		switch string(key) {
		case "textResultForLlm", "text_result_for_llm", "output":
			value = quoted
		case "metadata": // OpenCode keeps the text there once more
			if jsontext.Member(value, "output") != nil {
				value = withOutput(value, text)
			}
		}
		w.Raw(string(key), value)
		return true
	})
	return w.Bytes()
}
