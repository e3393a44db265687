// Package transcript reads the Codex CLI's session file. In come the lines that
// the client appended to $CODEX_HOME/sessions/…/rollout-….jsonl, out go Signals
// for what no hook tells: turns that fail or are aborted, goal turns that start
// by themselves, questions that wait for a person, commands left running. It
// opens no file; a tailer hands it the lines.
//
// Records of a call are written before the hooks of that call run, so only the
// results of calls count as activity: a call read late would undo the soft lock
// its hook reported (contract §5).
package transcript

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// ReasonQuestion is the soft lock of a question whose answer is not in the file.
const ReasonQuestion = "codex_transcript_request_user_input_pending"

// maxLine bounds how much of one line is looked at, in bytes. A record names its
// type and, but for tool output, all that matters in the first kilobytes.
const maxLine = 1 << 20

// maxOpen bounds how many commands left running are remembered.
const maxOpen = 64

// Detector turns the lines of one session file into Signals. It remembers which
// question and which commands are open and whether a turn runs; begun in the
// middle of a file it takes a turn for running. It is not safe from two
// goroutines.
type Detector struct {
	key      event.SessionKey
	idle     bool              // the last turn is over
	question string            // call id of the open request_user_input
	running  map[string]string // the client's exec session id → call id
}

// New returns a detector whose signals are about key.
func New(key event.SessionKey) *Detector { return &Detector{key: key} }

// Line judges one line, which lies at offset bytes into the file. A line that is
// no JSON gives nil, and so does one that was cut, except in a tool's output.
func (d *Detector) Line(line []byte, offset int64) []event.Signal {
	cut := len(line) > maxLine
	if cut {
		line = line[:maxLine]
	}
	kind := ""
	var payload []byte
	err := jsontext.Object(line, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind, _ = jsontext.String(value)
			return kind == "event_msg" || kind == "response_item" // the rest is bookkeeping
		case "payload":
			payload = value
			return kind == "" // all that matters was seen
		}
		return true
	})
	s := event.Signal{Session: d.key, Offset: offset}
	say := func(kind event.SignalKind, source, reason string) []event.Signal {
		s.Kind, s.Source, s.Reason = kind, "transcript "+source, reason
		return []event.Signal{s}
	}
	if cut && err != nil && payload == nil && kind != "" {
		// Only what a tool gave back is that long.
		if d.idle {
			return nil
		}
		return say(event.Active, kind, "")
	}
	if err != nil {
		return nil
	}
	var r record
	if jsontext.Object(payload, r.member) != nil {
		return nil
	}

	switch kind + " " + r.kind {
	case "event_msg task_started":
		d.idle, d.question = false, ""
		return say(event.Began, "task_started", "")
	case "event_msg task_complete":
		d.idle, d.question = true, ""
		if jsontext.Kind(r.fault) == "object" {
			reason := jsontext.Text(r.fault, "codex_error_info")
			if reason == "" {
				reason = "codex_task_failed"
			}
			return say(event.Failed, "task_complete", reason)
		}
		s.LastMessage = event.Preview(r.last)
		return say(event.Stopped, "task_complete", "")
	case "event_msg turn_aborted":
		d.idle, d.question = true, ""
		return say(event.Interrupted, "turn_aborted", "codex_transcript_turn_aborted")
	case "event_msg item_completed":
		item, id := jsontext.Text(r.item, "type"), jsontext.Text(r.item, "id")
		if item == "CommandExecution" {
			// After the turn it can only be one left running, be it that this
			// detector saw it begin or not.
			if (d.ended(id) || d.idle) && id != "" {
				s.Task = &event.Task{ID: id, Type: event.TaskShell}
				return say(event.TaskEnded, "command ended", "")
			}
			return nil // its output record tells the same, if a turn still runs
		}
		if item == "HookPrompt" {
			// A hook blocked the Stop that was reported: the turn goes on, with no
			// event that says so, and perhaps no tool call (contract §5).
			d.idle = false
			return say(event.Began, "hook prompt", "")
		}
		if d.idle || item == "AgentMessage" || item == "Reasoning" {
			return nil // written before the hooks of the calls in the same answer
		}
		return say(event.Active, "item_completed", "")

	case "response_item function_call":
		if r.name == "request_user_input" && r.call != "" {
			d.question, s.ToolUse = r.call, r.call
			return say(event.Waiting, r.name, ReasonQuestion)
		}
	case "response_item function_call_output", "response_item custom_tool_call_output":
		s.ToolUse = r.call
		if r.call != "" && r.call == d.question {
			d.question = ""
			return say(event.Resumed, "request_user_input answered", "")
		}
		if d.idle || r.call == "" { // goal texts come without a call
			return nil
		}
		if d.left(r.call, r.output) {
			s.Task = &event.Task{ID: r.call, Type: event.TaskShell}
			return say(event.TaskBegan, "command left running", "")
		}
		return say(event.Active, r.kind, "")
	}
	return nil
}

// record holds the members of a payload that matter here.
type record struct {
	kind, name, call, last string
	item, fault, output    []byte
}

func (r *record) member(key, value []byte) bool {
	switch string(key) {
	case "type":
		r.kind, _ = jsontext.String(value)
	case "name":
		r.name, _ = jsontext.String(value)
	case "call_id":
		r.call, _ = jsontext.String(value)
	case "last_agent_message":
		r.last, _ = jsontext.String(value)
	case "item":
		r.item = value
	case "error":
		r.fault = value
	case "output":
		r.output = value
	}
	return true
}

// left notes a command that outlived its call: the head of the output, before
// what the command printed, names the client's session for it. A later call that
// only looks at the same session (write_stdin) is no second command.
func (d *Detector) left(call string, output []byte) bool {
	const head = 512 // bytes; the client's own lines are some 120
	if len(output) > head {
		output = output[:head]
	}
	text, _, _ := strings.Cut(string(output), `\nOutput:`)
	_, rest, ok := strings.Cut(text, "Process running with session ID ")
	if !ok {
		return false
	}
	session := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if _, known := d.running[session]; session == "" || known || len(d.running) >= maxOpen {
		return false
	}
	if d.running == nil {
		d.running = map[string]string{}
	}
	d.running[session] = call
	return true
}

// ended forgets a command that was left running, and says whether it was one.
func (d *Detector) ended(call string) bool {
	for session, known := range d.running {
		if known == call {
			delete(d.running, session)
			return true
		}
	}
	return false
}

// Find returns the path of a session's file in sessions, the client's sessions
// folder, for clients whose hook named none. It must be the only match; none
// gives an error that matches fs.ErrNotExist (a session with --ephemeral has no
// file).
func Find(sessions fs.FS, id event.SessionID) (string, error) {
	suffix := "-" + string(id) + ".jsonl"
	if id == "" || strings.ContainsAny(string(id), `/\`) || !fs.ValidPath(suffix) {
		return "", fmt.Errorf("session id %q names no session file", id)
	}
	found := ""
	// Year, month and day folders, then the files: the depth is the client's.
	var walk func(folder string, depth int) error
	walk = func(folder string, depth int) error {
		entries, err := fs.ReadDir(sessions, folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			switch {
			case depth < 3 && e.IsDir():
				if err := walk(name, depth+1); err != nil {
					return err
				}
			case depth == 3 && e.Type().IsRegular() && strings.HasPrefix(e.Name(), "rollout-") && strings.HasSuffix(e.Name(), suffix):
				if found != "" {
					return fmt.Errorf("session %q has the files %q and %q", id, found, name)
				}
				found = name
			}
		}
		return nil
	}
	if err := walk(".", 0); err != nil {
		return "", fmt.Errorf("searching codex's sessions: %w", err)
	}
	if found == "" {
		return "", fmt.Errorf("file of session %q: %w", id, fs.ErrNotExist)
	}
	return found, nil
}
