// Package handler lets a person's own programs take part in the chain. In come an
// event and what the rulebook says of a program; the program is run, or a helper
// that lives in the runtime is asked, and out comes its answer as a Verdict: read
// by Claude Code's rules, or from one line of lidguard's own protocol
// (docs/resident.md). It starts nothing by itself: programs run through a Runner,
// helpers are asked through an Asker, and both are bounded by the handler's limit.
package handler

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name in the rulebook and in logs.
const Name = "handler"

// Spec is one [[handler]].
type Spec struct {
	Name string `toml:"name"`
	// Events are the canonical names of those it is for; none are all that come
	// before a call.
	Events []Event `toml:"events"`
	// Tools are names, or regular expressions for the whole of one; none are all.
	Tools []policy.Whole `toml:"tools"`
	// Command is a list of words, or a line for the system's shell.
	Command Program `toml:"command"`
	Role    Role    `toml:"role"`
	// Band is where it stands in the chain, 0 to 999; 0 leaves that to its role.
	Band    int             `toml:"band"`
	Limit   policy.Duration `toml:"limit"`
	Dialect Dialect         `toml:"dialect"`
	// Resident helpers stay in the runtime and answer many events.
	Resident bool `toml:"resident"`
}

// Limits of a handler.
const (
	// DefaultLimit is how long a handler may take unless it says so itself: a
	// program has to start, and people wait for it at every call.
	DefaultLimit = 5 * time.Second
	MaxLimit     = 20 * time.Second
	// MaxAnswer bounds what is read of an answer, in bytes.
	MaxAnswer = 8 << 20
)

// Event is an event's canonical name.
type Event event.Name

// Program is a command: words, or an empty word and a line for the shell. The
// first word is a bare name, looked for on PATH, or an absolute path.
type Program []string

// Script is the line for the shell, "" where the command is words.
func (p Program) Script() string {
	if len(p) == 2 && p[0] == "" {
		return p[1]
	}
	return ""
}

// Argv are the words, none where the command is a line.
func (p Program) Argv() []string {
	if p.Script() != "" {
		return nil
	}
	return p
}

// Role says what a failure of the handler means.
type Role string

// The roles. A gate is the default: whoever writes a handler wants it to hold.
const (
	Gate     Role = "gate"     // its failure refuses the call
	Helper   Role = "helper"   // its failure says nothing
	Observer Role = "observer" // nothing it says counts
)

// UnmarshalText reads a role.
func (r *Role) UnmarshalText(text []byte) error {
	if *r = Role(text); *r != Gate && *r != Helper && *r != Observer {
		return fmt.Errorf("a role is %q, %q or %q, not %q", Gate, Helper, Observer, text)
	}
	return nil
}

// Dialect says how a handler is spoken to.
type Dialect string

// The dialects.
const (
	Claude Dialect = "claude" // as Claude Code speaks to its hooks
	Native Dialect = "native" // lines of lidguard's own protocol
)

// UnmarshalText reads a dialect.
func (d *Dialect) UnmarshalText(text []byte) error {
	if *d = Dialect(text); *d != Claude && *d != Native {
		return fmt.Errorf("a dialect is %q or %q, not %q", Claude, Native, text)
	}
	return nil
}

// UnmarshalText reads a line for the shell.
func (p *Program) UnmarshalText(text []byte) error {
	if *p = (Program{"", string(text)}); strings.TrimSpace(p.Script()) == "" {
		return errors.New("it is empty")
	}
	return nil
}

// String shows it to people.
func (p Program) String() string {
	if line := p.Script(); line != "" {
		return line
	}
	return strings.Join(p, " ")
}

// Check finds what a handler misses or contradicts. key is where it belongs.
func (s *Spec) Check() (key string, err error) {
	for _, c := range s.Name {
		if c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "name", fmt.Errorf("%q is no name: letters, digits, - _ . make one", s.Name)
		}
	}
	switch {
	case s.Name == "":
		return "", errors.New("a handler has a name")
	case len(s.Command) == 0:
		return "", fmt.Errorf("handler %q has no command", s.Name)
	case s.Command.Script() == "" && s.Command[0] == "":
		return "command", errors.New("the program's name is empty")
	case s.Band < 0 || s.Band > 999:
		return "band", fmt.Errorf("a band is 0 to 999, not %d", s.Band)
	case time.Duration(s.Limit) > MaxLimit:
		return "limit", fmt.Errorf("a handler may take %s at most: the client waits for it", MaxLimit)
	case s.Resident && s.Dialect == Claude:
		return "dialect", errors.New("a resident helper speaks lines of the native protocol")
	}
	for _, e := range s.Events {
		if !slices.Contains(names(), event.Name(e)) {
			return "events", fmt.Errorf("there is no event %q; `lidguard hooks events` lists them", e)
		}
	}
	return "", nil
}

// names are the events that a handler may be for.
func names() []event.Name {
	return []event.Name{event.SessionStart, event.SessionEnd, event.Setup, event.InstructionsLoaded, event.UserPromptSubmit, event.UserPromptExpansion,
		event.PreToolUse, event.PermissionRequest, event.PermissionDenied, event.PostToolUse, event.PostToolUseFailure, event.PostToolBatch,
		event.PreSkillShellCommand, event.Notification, event.SubagentStart, event.SubagentStop, event.TaskCreated, event.TaskCompleted, event.TeammateIdle,
		event.Stop, event.StopFailure, event.PreCompact, event.PostCompact, event.PreModelSwitch, event.PostModelSwitch, event.ConfigChange, event.CwdChanged,
		event.DirectoryAdded, event.FileChanged, event.Elicitation, event.ElicitationResult, event.Interrupt, event.ErrorOccurred, event.PreMCPToolCall}
}

// beforeCalls are the events of a handler that names none.
var beforeCalls = []Event{Event(event.PreToolUse), Event(event.PermissionRequest), Event(event.PreSkillShellCommand), Event(event.PreMCPToolCall)}

// For are the events that a handler is for. The list must not be changed.
func (s *Spec) For() []Event {
	if len(s.Events) == 0 {
		return beforeCalls
	}
	return s.Events
}

// Wants reports whether a handler is for an event. It compiles nothing but for
// tools that are told by an expression.
func (s *Spec) Wants(ev *event.Event) bool {
	if !slices.Contains(s.For(), Event(ev.Name)) {
		return false
	}
	if len(s.Tools) == 0 {
		return true
	}
	return ev.Tool != nil && slices.ContainsFunc(s.Tools, func(w policy.Whole) bool { return w.Matches(ev.Tool.Name) || w.Matches(canonical(ev.Tool.Name)) })
}

// limit is how long it may take.
func (s *Spec) limit() time.Duration { return s.Limit.Or(DefaultLimit) }

func (s *Spec) dialect() Dialect {
	if s.Dialect == "" && s.Resident {
		return Native
	}
	if s.Dialect == "" {
		return Claude
	}
	return s.Dialect
}

func (s *Spec) band() int {
	switch {
	case s.Band != 0:
		return s.Band
	case s.Role == Observer:
		return policy.BandObserve
	}
	return policy.BandPolicy + 50
}

// ID names a helper by its name and its command, so that two books may use one
// name and a changed book another helper.
func (s *Spec) ID() string {
	sum := fnv.New32a()
	for _, w := range s.Command {
		fmt.Fprintf(sum, "%d:%s", len(w), w)
	}
	return fmt.Sprintf("%s#%08x", s.Name, sum.Sum32())
}

// ErrNotServed is matched by an Asker's error where no runtime served the request,
// so that the handler's program has to be run here.
var ErrNotServed = errors.New("no helper answers")

// Asker asks resident helpers.
type Asker interface {
	// Ask returns the verdict of the helper with that ID as JSON. The error matches
	// ErrNotServed where none was asked; any other is the helper's failure.
	Ask(ctx context.Context, id string, r *Request) (verdict []byte, err error)
}

// New returns the handler.
func New(s Spec, run policy.Runner, ask Asker) policy.Handler {
	h := policy.Handler{Name: s.Name, Band: s.band(), Role: policy.Gate, Wants: s.Wants, Limit: s.limit(),
		Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
			v, err := s.handle(ctx, ev, run, ask)
			v.Policy = ""
			if s.Role == Observer {
				v = event.Verdict{}
			}
			return v, err
		}}
	if s.Role == Helper || s.Role == Observer {
		h.Role = policy.Observer
	}
	return h
}

func (s *Spec) handle(ctx context.Context, ev *event.Event, run policy.Runner, ask Asker) (event.Verdict, error) {
	if s.dialect() == Claude {
		payload, err := ClaudePayload(ev)
		if err != nil {
			return event.Verdict{}, err
		}
		r, err := s.run(ctx, ev, run, payload)
		if err != nil {
			return event.Verdict{}, err
		}
		return readClaude(ev, r)
	}
	req, err := request(ev, s.left(ctx))
	if err != nil {
		return event.Verdict{}, err
	}
	if s.Resident && ask != nil {
		answer, err := ask.Ask(ctx, s.ID(), req)
		if err == nil {
			return readVerdict(answer)
		}
		if !errors.Is(err, ErrNotServed) {
			return event.Verdict{}, err
		}
	}
	// Without a runtime the same program answers one line and leaves.
	line, err := req.line(1)
	if err != nil {
		return event.Verdict{}, err
	}
	r, err := s.run(ctx, ev, run, line)
	if err != nil {
		return event.Verdict{}, err
	}
	return readLine(r)
}

// left is how much of the limit is left.
func (s *Spec) left(ctx context.Context) time.Duration {
	if d, ok := ctx.Deadline(); ok {
		return min(time.Until(d), s.limit())
	}
	return s.limit()
}

// run runs the program once. Being late is an error, as half an answer is none.
func (s *Spec) run(ctx context.Context, ev *event.Event, run policy.Runner, stdin []byte) (policy.Result, error) {
	r, err := run.Run(ctx, policy.Command{Argv: s.Command.Argv(), Script: s.Command.Script(), Dir: ev.Cwd, Stdin: stdin, Limit: s.left(ctx), MaxOutput: MaxAnswer,
		Env: []string{"LIDGUARD_HANDLER=" + s.Name, "LIDGUARD_PROVIDER=" + string(ev.Provider), "CLAUDE_PROJECT_DIR=" + ev.Cwd}})
	switch {
	case err != nil:
		return r, err
	case r.Late:
		return r, fmt.Errorf("no answer within %s", s.limit())
	case r.Cut:
		return r, fmt.Errorf("an answer of more than %d bytes", MaxAnswer)
	}
	return r, nil
}

// canonical is Claude Code's name for what a tool does, as rules know it.
func canonical(tool string) string {
	switch tool {
	case "bash", "shell", "exec_command", "shell_command", "local_shell", "container.exec", "unified_exec", "run_in_terminal", "run_shell_command":
		return "Bash"
	case "powershell", "pwsh":
		return "PowerShell"
	case "write", "create", "create_file", "write_file":
		return "Write"
	case "edit", "str_replace", "str_replace_editor", "insert", "edit_file", "multiedit", "replace":
		return "Edit"
	case "read", "view", "read_file":
		return "Read"
	case "patch", "ApplyPatch":
		return "apply_patch"
	case "grep", "rg":
		return "Grep"
	case "glob":
		return "Glob"
	case "webfetch", "web_fetch", "fetch":
		return "WebFetch"
	case "websearch", "web_search":
		return "WebSearch"
	case "task":
		return "Task"
	}
	return tool
}
