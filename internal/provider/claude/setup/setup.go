// Package setup connects Claude Code with lidguard: it knows where the client
// keeps its settings, which hook entries in them are lidguard's, and plans how to
// put them in, bring them up to date and take them out. Nothing is written before
// the plan is applied, and no byte of anybody else's is changed.
//
// Facts about the client are from docs/contracts/claude.md §2, §6, §7.
package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// Entry is the hook entry that Claude Code calls.
const Entry = "claude-hook"

// WakeEntry is the one that it starts beside its work after a call that changed a
// file, and that wakes the model where a check of the rulebook found something new
// (asyncRewake, §3). It is there only where checks are: see Wake.
const WakeEntry = "claude-wake"

// wakeTimeout is in seconds, above the time that the entry gives itself for the
// longest check.
const wakeTimeout = 1900

// Hook is one event that lidguard listens to.
type Hook struct {
	Event   event.Name
	Timeout int // seconds
}

// Hooks are the entries of an installation, in the order they are written.
//
// Each one is a process of a few milliseconds per event, so only events are here
// that change what lidguard knows or answers. Left out on purpose: MessageDisplay
// (one per piece of text), PostToolBatch (says nothing that PostToolUse has not
// said), FileChanged, CwdChanged and InstructionsLoaded (no sign of work or its
// end), UserPromptExpansion (a UserPromptSubmit comes anyway), WorktreeCreate
// (a hook there replaces git's work). Unknown names are harmless on older clients.
//
// The timeout is far above what a hook takes (its own limit is below a second);
// it must only be shorter than the client's ten minutes, for the day the disk
// hangs. PermissionRequest has all of them, for a person who answers from afar
// (settings.MaxPhoneWait); the client's own dialog is open meanwhile. For SessionEnd it lengthens the client's 1.5 s, which a loaded machine
// can exceed.
func Hooks() []Hook {
	return []Hook{
		{event.SessionStart, 30},       // a session exists; also hands work over after /clear
		{event.UserPromptSubmit, 30},   // work begins
		{event.PreToolUse, 30},         // a tool call begins; gates judge it here
		{event.PermissionRequest, 600}, // waits for a person; answered when the lid is closed, perhaps from their phone
		{event.PermissionDenied, 30},   // a call that began and will have no end
		{event.PostToolUse, 30},        // a tool call ended
		{event.PostToolUseFailure, 30}, // the same, badly
		{event.PreSkillShellCommand, 30},
		{event.Notification, 30},      // waits for a person, or no longer
		{event.Elicitation, 30},       // an MCP server asks; cancelled when the lid is closed
		{event.ElicitationResult, 30}, // the person answered
		{event.SubagentStart, 30},
		{event.SubagentStop, 30},
		{event.TaskCreated, 30}, // to-do items, shown in status
		{event.TaskCompleted, 30},
		{event.TeammateIdle, 30}, // an idle teammate still counts as running elsewhere
		{event.PreCompact, 30},   // compaction works for minutes without another event
		{event.PostCompact, 30},
		{event.Stop, 30},
		{event.StopFailure, 30}, // the turn ended in an API error; no Stop comes
		{event.SessionEnd, 5},
	}
}

// Optional are events that change nothing of what lidguard knows, and that it
// listens to only where somebody's rulebook has something for them; see Listen.
// WorktreeCreate is not among them: a hook there takes over git's work.
func Optional() []Hook {
	return []Hook{
		{event.Setup, 30},
		{event.InstructionsLoaded, 30},
		{event.UserPromptExpansion, 30},
		{event.MessageDisplay, 30},
		{event.PostToolBatch, 30},
		{event.PreModelSwitch, 30},
		{event.PostModelSwitch, 30},
		{event.ConfigChange, 30},
		{event.CwdChanged, 30},
		{event.DirectoryAdded, 30},
		{event.FileChanged, 30},
		{event.WorktreeRemove, 30},
	}
}

// Setup is Claude Code of one user.
type Setup struct {
	Root string // its config folder
	File string // its user settings
	goos string

	asked []event.Name // see Listen
	exact bool
	wake  bool // see Wake
}

// Listen returns a Setup whose installation listens to those of the optional
// events that are named, and to no other of them. Without it an installation
// leaves the optional entries that are there, brings them up to date, and adds none.
func (s Setup) Listen(events []event.Name) Setup {
	s.asked, s.exact = events, true
	return s
}

// Wake returns a Setup whose installation has the entry that wakes the model. Without
// it an installation brings one that is there up to date, or takes it out after Listen.
func (s Setup) Wake() Setup {
	s.wake = true
	return s
}

// entry is an entry of an installation: who calls it and what stands there.
type entry struct {
	event   string
	name    string // Entry or WakeEntry
	matcher string
	handler handler
}

// entries are those of an installation into a file.
func (s Setup) entries(p install.Program, d *document) []entry {
	var list []entry
	for _, h := range s.hooks(d) {
		list = append(list, entry{string(h.Event), Entry, "", s.handler(p, Entry, h.Timeout)})
	}
	wake := entry{string(event.PostToolUse), WakeEntry, "Edit|MultiEdit|NotebookEdit|Write", s.handler(p, WakeEntry, wakeTimeout)}
	wake.handler.AsyncRewake = true
	if s.wake || !s.exact && len(d.places(wake.event, WakeEntry)) > 0 {
		list = append(list, wake)
	}
	return list
}

// hooks are the events that an installation into a file listens to.
func (s Setup) hooks(d *document) []Hook {
	list := Hooks()
	for _, h := range Optional() {
		if s.exact && slices.Contains(s.asked, h.Event) || !s.exact && slices.Contains(d.eventsOf(Entry), string(h.Event)) {
			list = append(list, h)
		}
	}
	return list
}

// New finds Claude Code's places: CLAUDE_CONFIG_DIR, else .claude in the home
// folder. Nothing needs to exist.
func New(goos string, env paths.Env, home string) Setup {
	root := env("CLAUDE_CONFIG_DIR")
	if root == "" {
		root = filepath.Join(home, ".claude")
	}
	return Setup{Root: root, File: filepath.Join(root, "settings.json"), goos: goos}
}

// Provider is the client's name.
func (s Setup) Provider() event.Provider { return event.Claude }

// Title is the client's name for people.
func (s Setup) Title() string { return "Claude Code" }

// Present reports whether the client has been used here: its folder exists.
func (s Setup) Present() bool {
	info, err := os.Stat(s.Root)
	return err == nil && info.IsDir()
}

// handler is the part of a handler that lidguard writes and compares.
type handler struct {
	Type        string `json:"type"`
	Command     string `json:"command"`
	Shell       string `json:"shell,omitempty"`
	Timeout     int    `json:"timeout"`
	AsyncRewake bool   `json:"asyncRewake,omitempty"`
}

// group is one element of an event's list. Without a matcher every event of this
// name is meant.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

func (s Setup) handler(p install.Program, name string, timeout int) handler {
	out := handler{Type: "command", Command: p.Command(name), Timeout: timeout}
	if s.goos == "windows" {
		out.Shell = "powershell" // without it the client takes Git's bash, which eats backslashes
	}
	return out
}

// Snippet is the settings file of somebody who has nothing else in it, for those
// who keep their settings by hand.
func (s Setup) Snippet(p install.Program) ([]byte, error) {
	draft, err := s.install(p)(nil, nil)
	return draft.Text, err
}

// Install plans to put lidguard's hooks in, or to bring them up to date.
func (s Setup) Install(p install.Program, records install.Records) (install.Plan, error) {
	var plan install.Plan
	err := plan.Add(s.File, false, records, s.install(p))
	return plan, s.explain(err)
}

// Remove plans to take lidguard's hooks out.
func (s Setup) Remove(records install.Records) (install.Plan, error) {
	var plan install.Plan
	err := plan.Add(s.File, true, records, remove)
	return plan, s.explain(err)
}

// explain adds to a syntax error what it means with this client.
func (s Setup) explain(err error) error {
	if _, ok := errors.AsType[*confedit.SyntaxError](err); ok {
		return fmt.Errorf("%w (Claude Code ignores the whole file for that, without a word in -p)", err)
	}
	return err
}

func (s Setup) install(p install.Program) install.Change {
	return func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		d, err := read(data)
		if err != nil {
			return confedit.Draft{}, err
		}
		entries := s.entries(p, d)
		for _, e := range entries {
			if err := d.ensure(e); err != nil {
				return confedit.Draft{}, err
			}
		}
		for _, gone := range d.others(entries) {
			if _, err := d.takeOut(gone.event, gone.name, 0); err != nil {
				return confedit.Draft{}, err
			}
			if err := d.doc.Prune(confedit.Path{"hooks", gone.event}); err != nil {
				return confedit.Draft{}, err
			}
		}
		return d.doc.Draft(), nil
	}
}

// remove takes every entry of ours out, and the parents that were created for
// them. Where it is not known which were, those go that held nothing else.
func remove(data []byte, created []confedit.Path) (confedit.Draft, error) {
	d, err := read(data)
	if err != nil {
		return confedit.Draft{}, err
	}
	var emptied []confedit.Path
	for _, e := range d.others(nil) {
		if _, err := d.takeOut(e.event, e.name, 0); err != nil {
			return confedit.Draft{}, err
		}
		if at := (confedit.Path{"hooks", e.event}); !slices.ContainsFunc(emptied, func(p confedit.Path) bool { return slices.Equal(p, at) }) {
			emptied = append(emptied, at)
		}
	}
	if created == nil && len(emptied) > 0 {
		created = append([]confedit.Path{{"hooks"}}, emptied...)
	}
	if err := d.doc.Prune(created...); err != nil {
		return confedit.Draft{}, err
	}
	return d.doc.Draft(), nil
}
