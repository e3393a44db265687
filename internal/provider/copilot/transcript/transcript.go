// Package transcript reads the GitHub Copilot CLI's session log. In come the
// lines that the client appended to <home>/session-state/<session>/events.jsonl,
// out go Signals for what no hook tells: aborts, turns that end in an error, open
// prompts and their answers, background work that ended, with its ids. It opens no
// file; a tailer hands it the lines.
//
// Each hook run appends records of its own, ours included, so growth is no sign
// of work (contract §1.5); nor does the last record tell the state (§1.6).
package transcript

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Reasons of the signals, as `status` and `why` show them.
const (
	ReasonActivity = "github_copilot_session_event_activity_detected"
	ReasonPrompt   = "copilot_transcript_permission_requested"
)

// maxLine bounds how much of one line is looked at, in bytes.
const maxLine = 1 << 20

// maxOpen bounds how many open prompts are remembered.
const maxOpen = 64

// Detector turns the lines of one session's log into Signals. It remembers the
// open prompts and whether the root's turn was aborted; it may begin anywhere. It
// is not safe from two goroutines.
type Detector struct {
	key  event.SessionKey
	over bool                // the root's turn ended in a way no hook tells
	open map[string]struct{} // permission request ids without their completion
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
	var kind, agent string
	var data []byte
	err := jsontext.Object(line, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind, _ = jsontext.String(value)
			return matters(kind)
		case "data":
			data = value
		case "agentId":
			agent, _ = jsontext.String(value)
		}
		return true
	})
	s := event.Signal{Session: d.key, Offset: offset, AgentID: agent}
	say := func(signal event.SignalKind, reason string) []event.Signal {
		s.Kind, s.Source, s.Reason = signal, "transcript "+kind, reason
		return []event.Signal{s}
	}
	switch {
	case err != nil && cut && kind == "tool.execution_complete":
		return d.active(say, agent)
	case err != nil || !matters(kind):
		return nil
	}

	switch kind {
	case "session.shutdown":
		return say(event.Closed, jsontext.Text(data, "shutdownType"))
	case "session.error":
		if agent != "" {
			return nil // a subagent's; subagent.completed or failed follows
		}
		d.over = true
		return say(event.Failed, jsontext.Text(data, "errorType"))
	case "abort":
		if agent != "" {
			return nil
		}
		d.over = true
		clear(d.open)
		return say(event.Interrupted, "copilot_transcript_abort_"+jsontext.Text(data, "reason"))

	case "user.message":
		if agent != "" {
			return d.active(say, agent)
		}
		d.over = false
		s.Prompt = event.Preview(strings.TrimPrefix(jsontext.Text(data, "content"), "[[PLAN]]"))
		return say(event.Began, "")
	case "tool.execution_complete":
		s.ToolUse = jsontext.Text(data, "toolCallId")
		return d.active(say, agent)

	case "permission.requested":
		id := jsontext.Text(data, "requestId")
		if len(d.open) < maxOpen {
			if d.open == nil {
				d.open = map[string]struct{}{}
			}
			d.open[id] = struct{}{}
		}
		return say(event.Waiting, ReasonPrompt)
	case "permission.completed":
		delete(d.open, jsontext.Text(data, "requestId"))
		result := jsontext.Member(data, "result")
		switch {
		case jsontext.Text(result, "kind") == "cancelled":
			return nil // an abort comes with it
		case jsontext.True(jsontext.Member(result, "interrupt")) && agent == "":
			d.over = true
			return say(event.Interrupted, "copilot_permission_denied_with_interrupt")
		case len(d.open) > 0:
			return nil // another prompt is still open
		}
		return say(event.Resumed, jsontext.Text(result, "kind"))
	case "human_response.recorded":
		return say(event.Resumed, "")

	case "subagent.started":
		if agent == "" {
			return nil
		}
		s.Task = &event.Task{ID: agent, Type: event.TaskSubagent, Description: event.Preview(jsontext.Text(data, "agentDescription"))}
		return say(event.TaskBegan, "")
	case "subagent.completed", "subagent.failed":
		if agent == "" {
			return nil
		}
		s.Task = &event.Task{ID: agent, Type: event.TaskSubagent}
		return say(event.TaskEnded, "")
	case "system.notification":
		// It begins a turn of the client's own; by itself it refreshes nothing.
		d.over = false
		note := jsontext.Member(data, "kind")
		id := ""
		switch jsontext.Text(note, "type") {
		case "shell_completed", "shell_detached_completed":
			id = jsontext.Text(note, "shellId")
		case "agent_completed", "agent_idle":
			id = jsontext.Text(note, "agentId")
		}
		if id == "" {
			return nil
		}
		s.Task = &event.Task{ID: id}
		return say(event.TaskEnded, jsontext.Text(note, "type"))
	}
	return nil
}

func (d *Detector) active(say func(event.SignalKind, string) []event.Signal, agent string) []event.Signal {
	if d.over && agent == "" {
		return nil // what trails an abort
	}
	return say(event.Active, ReasonActivity)
}

// matters tells the record types that are looked at; the client has 163. What a
// model says is not among them: it is written before the hooks of the calls in it,
// and read late it would undo the soft lock they reported.
func matters(kind string) bool {
	switch kind {
	case "session.shutdown", "session.error", "abort", "user.message", "tool.execution_complete",
		"permission.requested", "permission.completed", "human_response.recorded",
		"subagent.started", "subagent.completed", "subagent.failed", "system.notification":
		return true
	}
	return false
}

// Find returns the path of a session's log in state, the client's session-state
// folder. None gives an error that matches fs.ErrNotExist; a session has none
// before its first prompt.
func Find(state fs.FS, id event.SessionID) (string, error) {
	folder, err := folderOf(id)
	if err != nil {
		return "", err
	}
	file := path.Join(folder, "events.jsonl")
	info, err := fs.Stat(state, file)
	if err != nil {
		return "", fmt.Errorf("log of session %q: %w", id, err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("log of session %q is no file: %w", id, fs.ErrNotExist)
	}
	return file, nil
}

// Owner returns the pid of the client that has a session open, which it names in
// the file inuse.<pid>.lock (contract §1.13): exact, where process ancestry is a
// guess. The file may be left behind by a client that was killed, so the caller
// checks that the process lives. No such file, or two of them, is an error that
// matches fs.ErrNotExist.
func Owner(state fs.FS, id event.SessionID) (int, error) {
	folder, err := folderOf(id)
	if err != nil {
		return 0, err
	}
	entries, err := fs.ReadDir(state, folder)
	if err != nil {
		return 0, fmt.Errorf("owner of session %q: %w", id, err)
	}
	owner := 0
	for _, e := range entries {
		digits, isLock := strings.CutPrefix(e.Name(), "inuse.")
		digits, isLock2 := strings.CutSuffix(digits, ".lock")
		if !isLock || !isLock2 {
			continue
		}
		pid, err := strconv.Atoi(digits)
		if err != nil || pid <= 0 {
			continue
		}
		if owner != 0 {
			return 0, fmt.Errorf("session %q is in use by %d and by %d: %w", id, owner, pid, fs.ErrNotExist)
		}
		owner = pid
	}
	if owner == 0 {
		return 0, fmt.Errorf("owner of session %q: %w", id, fs.ErrNotExist)
	}
	return owner, nil
}

func folderOf(id event.SessionID) (string, error) {
	name := string(id)
	if name == "" || name == "." || strings.ContainsAny(name, `/\`) || !fs.ValidPath(name) {
		return "", fmt.Errorf("session id %q names no folder", id)
	}
	return name, nil
}
