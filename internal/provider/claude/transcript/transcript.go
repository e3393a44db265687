// Package transcript reads Claude Code's session log. In come the lines that the
// client appended to <config>/projects/<slug>/<session>.jsonl, out go Signals for
// what no hook tells: interruptions, API errors, turns a foreign hook ended. It
// opens no file; a tailer hands it the lines.
//
// The client also appends after a turn is over (contract §8), so growth is no
// sign of work: only records of a turn count. An assistant record counts as
// nothing, since it is written before the hooks that tell the same: read late, it
// would undo the soft lock or the end those hooks reported.
package transcript

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// The texts of the interrupt markers (contract §8). They are matched whole, as
// the only text of a record the client wrote itself, so that a person or a tool
// may quote them.
const (
	markerStream = "[Request interrupted by user]"
	markerTool   = "[Request interrupted by user for tool use]"
)

// maxLine bounds how much of one line is looked at, in bytes. Records of a turn
// name their type in the first kilobyte; what is behind the bound is tool output.
const maxLine = 1 << 20

// Detector turns the lines of one session's transcript into Signals. It keeps no
// state between lines, so it may begin anywhere. It is not safe from two
// goroutines.
type Detector struct{ key event.SessionKey }

// New returns a detector whose signals are about key.
func New(key event.SessionKey) *Detector { return &Detector{key: key} }

// record holds the members of a line that matter here.
type record struct {
	kind, subtype                                            string
	meta, sidechain, apiError, prevented, noPrompt, rejected bool
	origin                                                   bool // the client says who began the turn
	message, attachment, hookErrors, hookContext             []byte
	errorText, agent                                         string
}

// Line judges one line, which lies at offset bytes into the file. A line that
// was cut or is no JSON is judged by what can be read of it; mostly it gives nil.
func (d *Detector) Line(line []byte, offset int64) []event.Signal {
	cut := len(line) > maxLine
	if cut {
		line = line[:maxLine]
	}
	var r record
	err := jsontext.Object(line, r.member)
	s := event.Signal{Session: d.key, Offset: offset, AgentID: r.agent}
	say := func(kind event.SignalKind, source, reason string) []event.Signal {
		s.Kind, s.Source, s.Reason = kind, "transcript "+source, reason
		return []event.Signal{s}
	}
	switch {
	case r.kind == "user" && r.message == nil:
		if cut && err != nil {
			return say(event.Active, "tool_result", "") // only tool output is that long
		}
		return nil
	case err != nil:
		return nil
	}

	switch r.kind {
	case "user":
		text, result := content(jsontext.Member(r.message, "content"))
		switch {
		case result && r.rejected:
			// Somebody said no, which answers the dialog. It is no work: where it
			// ends the turn, the interrupt marker is the next record.
			return say(event.Resumed, "tool rejected", "")
		case result:
			return say(event.Active, "tool_result", "")
		case r.meta:
			if strings.HasPrefix(text.whole, "Stop hook feedback:") && !r.sidechain {
				// Not merely active: it comes after the Stop that was reported, and
				// the turn it begins may call no tool (contract §1.5).
				return say(event.Began, "stop hook feedback", "")
			}
		case r.sidechain:
		case text.item == markerStream || text.item == markerTool:
			return say(event.Interrupted, "interrupt marker", "claude_transcript_interrupted")
		case text.whole != "" && r.origin:
			if id, done, is := notification(text.whole); is {
				if !done {
					return nil
				}
				s.Task = &event.Task{ID: id}
				return say(event.TaskEnded, "task notification", "")
			}
			s.Prompt = event.Preview(typed(text.whole))
			return say(event.Began, "prompt", "")
		}
	case "assistant":
		if r.apiError && !r.sidechain {
			return say(event.Failed, "api error", r.errorText)
		}
	case "attachment":
		return d.attachment(r, say, &s)
	case "system":
		switch {
		case r.sidechain:
		case r.subtype == "turn_duration":
			return say(event.Stopped, "turn_duration", "")
		case r.subtype == "stop_hook_summary" && (r.prevented || empty(r.hookErrors) && empty(r.hookContext)):
			return say(event.Stopped, "stop_hook_summary", "")
		case r.noPrompt:
			return say(event.Interrupted, "prompt blocked", "claude_prompt_blocked")
		}
	}
	return nil
}

func (d *Detector) attachment(r record, say func(event.SignalKind, string, string) []event.Signal, s *event.Signal) []event.Signal {
	switch jsontext.Text(r.attachment, "type") {
	case "queued_command":
		// A notification that was delivered in mid-turn. The queue-operation
		// records around it are no completion: they may wait for another turn.
		if id, done, is := notification(jsontext.Text(r.attachment, "prompt")); is && done {
			s.Task = &event.Task{ID: id}
			return say(event.TaskEnded, "queued notification", "")
		}
	case "hook_stopped_continuation":
		// After a Stop the summary record says it; after a tool nothing else does.
		if name := jsontext.Text(r.attachment, "hookEvent"); name != "Stop" && name != "SubagentStop" && !r.sidechain {
			return say(event.Interrupted, "hook_stopped_continuation", "claude_turn_stopped_by_hook")
		}
	}
	return nil
}

func (r *record) member(key, value []byte) bool {
	switch string(key) {
	case "type":
		r.kind, _ = jsontext.String(value)
		switch r.kind {
		case "user", "assistant", "system", "attachment":
		default:
			return false // bookkeeping: the rest of the line need not be read
		}
	case "subtype":
		r.subtype, _ = jsontext.String(value)
	case "isMeta":
		r.meta = jsontext.True(value)
	case "isSidechain":
		r.sidechain = jsontext.True(value)
	case "isApiErrorMessage":
		r.apiError = jsontext.True(value)
	case "error":
		r.errorText, _ = jsontext.String(value)
	case "toolDenialKind":
		kind, _ := jsontext.String(value)
		r.rejected = kind == "user-rejected"
	case "agentId":
		r.agent, _ = jsontext.String(value)
	case "origin", "turnOrigin", "promptSource":
		r.origin = true
	case "message":
		r.message = value
	case "attachment":
		r.attachment = value
	case "hookErrors":
		r.hookErrors = value
	case "hookAdditionalContext":
		r.hookContext = value
	case "preventedContinuation":
		r.prevented = jsontext.True(value)
	case "promptSubmitEnding":
		r.noPrompt = jsontext.Member(value, "ending") != nil
	}
	return true
}

// texts tells a message that is one string from one with a single text item:
// markers come only as the latter.
type texts struct{ whole, item string }

func content(value []byte) (t texts, result bool) {
	if text, ok := jsontext.String(value); ok {
		t.whole = text
		return t, false
	}
	items := 0
	_ = jsontext.Array(value, func(item []byte) bool {
		items++
		switch jsontext.Text(item, "type") {
		case "text":
			t.item = jsontext.Text(item, "text")
		case "tool_result":
			result = true
		}
		return !result
	})
	if items != 1 {
		t.item = ""
	}
	return t, result
}

// typed gives back what a person typed for a command, which the record holds in
// pieces: "/name arguments"; nothing for the text by which a hook woke the model.
func typed(prompt string) string {
	if strings.HasPrefix(prompt, "<task-notification>") {
		return ""
	}
	if !strings.HasPrefix(prompt, "<command-") {
		return prompt
	}
	name, args := element(prompt, "command-name"), element(prompt, "command-args")
	if name == "" {
		return prompt
	}
	return strings.TrimSpace(name + " " + args)
}

func element(text, name string) string {
	_, rest, _ := strings.Cut(text, "<"+name+">")
	value, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(value)
}

// empty reports that a list holds nothing or is not there.
func empty(list []byte) bool {
	n := 0
	_ = jsontext.Array(list, func([]byte) bool { n++; return false })
	return n == 0
}

// notification reads a <task-notification> text like the codec does for prompts.
func notification(text string) (id string, done, is bool) {
	body, is := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "<task-notification>")
	if id = element(body, "task-id"); !is || id == "" {
		return "", false, false
	}
	body, _, _ = strings.Cut(body, "<result>")
	switch element(body, "status") {
	case "", "running", "pending", "in_progress":
		return id, false, true
	}
	return id, true, true
}

// Find returns the path of a session's transcript in projects, the client's
// projects folder, for clients whose hook named none. It must be the only match;
// none gives an error that matches fs.ErrNotExist.
func Find(projects fs.FS, id event.SessionID) (string, error) {
	file := string(id) + ".jsonl"
	if id == "" || strings.ContainsAny(string(id), `/\`) || !fs.ValidPath(file) {
		return "", fmt.Errorf("session id %q names no transcript", id)
	}
	folders, err := fs.ReadDir(projects, ".")
	if err != nil {
		return "", fmt.Errorf("reading claude's projects: %w", err)
	}
	found := ""
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		candidate := path.Join(folder.Name(), file)
		if info, err := fs.Stat(projects, candidate); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("transcript of session %q is in %q and in %q", id, path.Dir(found), folder.Name())
		}
		found = candidate
	}
	if found == "" {
		return "", fmt.Errorf("transcript of session %q: %w", id, fs.ErrNotExist)
	}
	return found, nil
}
