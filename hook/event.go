package hook

import (
	"encoding/json"
	"fmt"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Event is one thing that a client told the hook. A field the client did not
// send is zero; nothing is made up. What belongs to some events only is behind
// a method that says whether it is there: Bash, Edit, Read, MCP, Tool, Result,
// Prompt, Started, Ended, Stopped, Note, Compaction, Question, Failure, Path.
//
// An Event may be read from several goroutines. Its slices are the payload's
// own bytes and must not be changed.
type Event struct {
	Provider Provider
	Name     Name   // "" for an event that this package has no word for
	Native   string // the client's own spelling of the event

	SessionID string // of the root session, in a subagent too
	TurnID    string // where the client numbers turns or prompts
	// AgentID and AgentType are set where a subagent is meant.
	AgentID, AgentType string

	Cwd            string // the session's folder
	TranscriptPath string // the session's log; it need not exist yet
	PermissionMode string // as the client spells it
	Model          string

	// Raw is the payload as it came, members unknown to this package included;
	// Decode reads it. It is nil for the few OpenCode events that may hold keys.
	Raw json.RawMessage

	in *event.Event
}

// BeforeCall reports whether the event comes before a call, so that Deny stops
// it. Bash, Edit, Read and MCP answer after a call as well.
func (e Event) BeforeCall() bool {
	switch e.Name {
	case PreToolUse, PermissionRequest, PreSkillShellCommand, PreMCPToolCall:
		return true
	}
	return false
}

// Decode reads the payload into v, as json.Unmarshal does: for members that
// this package has no word for.
func (e Event) Decode(v any) error {
	if e.Raw == nil {
		return fmt.Errorf("the payload of %q is not kept", e.Native)
	}
	if err := json.Unmarshal(e.Raw, v); err != nil {
		return fmt.Errorf("reading the payload of %q: %w", e.Native, err)
	}
	return nil
}

// Tool is a tool call as the client tells it.
type Tool struct {
	Name     string          // the client's own name for the tool: Bash, bash, apply_patch, …
	UseID    string          // the call's id; where the client has none it may be empty
	Input    json.RawMessage // the arguments; nil where none were sent
	Response json.RawMessage // after the call: what it gave, in the tool's own shape
}

// Tool returns the call that the event is about, and false when it is about
// none. Bash, Edit, Read and MCP read its arguments for you.
func (e Event) Tool() (Tool, bool) {
	if e.in == nil || e.in.Tool == nil {
		return Tool{}, false
	}
	t := e.in.Tool
	return Tool{Name: t.Name, UseID: t.UseID, Input: t.Input, Response: t.Response}, true
}

// Prompt returns the text that is about to be sent to the model. Clients send
// more than typed text this way: the end of a background task, a subagent's
// task, the reason of a Stop hook (docs/contracts).
func (e Event) Prompt() (string, bool) {
	if e.in == nil {
		return "", false
	}
	switch e.Name {
	case UserPromptSubmit, UserPromptExpansion, UserPromptTransformed:
		return e.in.Prompt, true
	}
	return "", false
}

// Start says how a session began.
type Start struct {
	Source string // as the client says: startup, resume, clear, compact, fork, new
}

// Started returns how the session began; SessionStart only.
func (e Event) Started() (Start, bool) {
	if e.in == nil || e.Name != SessionStart {
		return Start{}, false
	}
	return Start{Source: e.in.Source}, true
}

// Ended returns the client's reason for the end of the session; SessionEnd
// only. Several clients send it more than once, or not at all.
func (e Event) Ended() (reason string, ok bool) {
	if e.in == nil || e.Name != SessionEnd {
		return "", false
	}
	return e.in.Reason, true
}

// Stopped is the end of a turn.
type Stopped struct {
	// Subagent marks the end of a subagent's turn, not the root's.
	Subagent bool
	// Again is true when a Stop hook already kept this turn going: the
	// client's own mark (stop_hook_active). Continue honours it by itself.
	Again bool
	// LastMessage is the agent's last text, where the client sends it.
	LastMessage string
	// Background is what the client says is still in flight. nil means that
	// it did not say, empty means that it said "nothing".
	Background []Task
	// AgentTranscript is the subagent's own log, where it has one.
	AgentTranscript string
}

// Task is work that outlives the tool call which started it.
type Task struct {
	ID, Type, Description string
}

// Stopped returns the end of the turn; Stop and SubagentStop only.
func (e Event) Stopped() (Stopped, bool) {
	if e.in == nil || e.Name != Stop && e.Name != SubagentStop {
		return Stopped{}, false
	}
	s := Stopped{Subagent: e.Name == SubagentStop, Again: e.in.StopActive, LastMessage: e.in.LastMessage, AgentTranscript: e.in.AgentTranscript}
	if e.in.Tasks != nil {
		s.Background = []Task{}
	}
	for _, t := range e.in.Tasks {
		s.Background = append(s.Background, Task{ID: t.ID, Type: string(t.Type), Description: t.Description})
	}
	return s, true
}

// Note is a client's notification.
type Note struct {
	Type           string // permission_prompt, idle_prompt, elicitation_dialog, …
	Title, Message string
}

// Note returns the notification; Notification only.
func (e Event) Note() (Note, bool) {
	if e.in == nil || e.in.Notification == nil {
		return Note{}, false
	}
	n := e.in.Notification
	return Note{Type: n.Type, Title: n.Title, Message: n.Message}, true
}

// Compaction is about the context being made smaller.
type Compaction struct {
	Trigger      string // manual or auto, where the client says so
	Instructions string // PreCompact: what the person asked to keep
	Summary      string // PostCompact on Claude Code: what was kept
}

// Compaction returns it; PreCompact and PostCompact only.
func (e Event) Compaction() (Compaction, bool) {
	if e.in == nil || e.Name != PreCompact && e.Name != PostCompact {
		return Compaction{}, false
	}
	c := Compaction{Trigger: e.in.Trigger, Instructions: jsontext.Text(e.Raw, "custom_instructions"), Summary: jsontext.Text(e.Raw, "compact_summary")}
	if c.Instructions == "" {
		c.Instructions = jsontext.Text(e.Raw, "customInstructions")
	}
	return c, true
}

// Question is an MCP server's question to the person.
type Question struct {
	Server, Message string
	Mode            string          // form or url
	URL             string          // of a url question
	Schema          json.RawMessage // of a form: JSON Schema of the answer
	Action          string          // ElicitationResult: accept, decline, cancel
}

// Question returns it; Elicitation and ElicitationResult only. Answer accepts
// it, Deny declines it.
func (e Event) Question() (Question, bool) {
	if e.in == nil || e.in.Elicitation == nil {
		return Question{}, false
	}
	q := e.in.Elicitation
	return Question{Server: q.Server, Message: q.Message, Mode: q.Mode, URL: q.URL, Schema: q.Schema, Action: q.Action}, true
}

// Failure returns the client's text for what went wrong: a failed call, a
// failed model request, a turn that ended in an error.
func (e Event) Failure() (text string, ok bool) {
	if e.in == nil {
		return "", false
	}
	switch e.Name {
	case PostToolUseFailure, StopFailure, ErrorOccurred, PostModelRequest:
		return e.in.Error, e.in.Error != ""
	}
	return "", false
}

// Path returns the file or folder that the event is about: ConfigChange,
// FileChanged, InstructionsLoaded, CwdChanged, DirectoryAdded, WorktreeCreate
// (its name), WorktreeRemove.
func (e Event) Path() (string, bool) {
	if e.in == nil || e.in.Path == "" {
		return "", false
	}
	return e.in.Path, true
}

// Decode reads one payload of a client without running anything: for tests and
// for programs that keep payloads. native is the event's name in the client's
// own spelling, for payloads that do not carry it (Copilot, OpenCode); env is
// the environment, nil meaning an empty one. With an error the Event holds what
// was understood before.
func Decode(p Provider, payload []byte, native string, env func(string) string) (Event, error) {
	c := codecOf(p)
	if c == nil {
		return Event{}, fmt.Errorf("no provider %q; known are %s", p, known())
	}
	ev, err := decode(c, payload, native, env)
	return public(&ev), err
}

// decode runs a codec and remembers the event's name from outside where the
// payload was too broken to tell it.
func decode(c codec, payload []byte, native string, env func(string) string) (event.Event, error) {
	if env == nil {
		env = func(string) string { return "" }
	}
	ev, err := c.Decode(payload, env, native)
	if err != nil && ev.Native == "" && native != "" {
		ev.Native = native
		if ev.Name == "" {
			ev.Name = event.Name(native)
		}
	}
	return ev, err
}

func public(ev *event.Event) Event {
	return Event{
		Provider: Provider(ev.Provider), Name: Name(ev.Name), Native: ev.Native,
		SessionID: string(ev.Session.ID), TurnID: ev.TurnID, AgentID: ev.AgentID, AgentType: ev.AgentType,
		Cwd: ev.Cwd, TranscriptPath: ev.TranscriptPath, PermissionMode: ev.PermissionMode, Model: ev.Model,
		Raw: ev.Raw, in: ev,
	}
}
