// Package setup connects GitHub Copilot CLI with lidguard: it knows where the
// client keeps its hooks, writes lidguard's into a file of their own, tells which
// hooks of others get in their way, and takes ours out again. Nothing is written
// before a plan is applied, and no byte of anybody else's is changed.
//
// Facts about the client are from docs/contracts/copilot.md, cited as "contract §6".
package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// Entry is the hook entry that the client calls, with --event NAME.
const Entry = "copilot-hook"

// FileName is the hook file of lidguard's own. The client runs hook files in
// descending order of their names, and at permissionRequest and agentStop the last
// answer counts (contract §3, §6). The leading zeros make lidguard the last of the
// person's hook files, so that no other of them can turn its closed-lid answer
// around; where it has nothing to say it changes nothing of what the others said.
// Hooks in settings.json, of projects and of plugins run later still, and Status
// names those that matter.
const FileName = "00-lidguard-copilot-cli.json"

// oldNames are names of the file that others may have used; what they hold of
// ours is moved.
var oldNames = []string{"lidguard-copilot-cli.json", "00-lidguard.json", "lidguard.json"}

// Hook is one event that lidguard listens to.
type Hook struct {
	Event   string // the client's camelCase name
	Matcher string // a regular expression that must match in full; empty: all
	Timeout int    // seconds
}

// Hooks are the entries of an installation, in the order they are written. The
// camelCase names are used since their payloads and answers are the ones that were
// measured throughout.
//
// Left out on purpose: userPromptTransformed, which says nothing that
// userPromptSubmitted has not said. preMcpToolCall is in: it comes after the
// permission, so it is the first sign that a person answered a prompt.
//
// A time-out fails open, so it only has to be shorter than anybody's patience; the
// hook itself ends within a second. The client waits for sessionEnd when a person
// leaves.
func Hooks() []Hook {
	return []Hook{
		{"sessionStart", "", 30},
		{"userPromptSubmitted", "", 30},
		{"preToolUse", "", 30},
		{"permissionRequest", "", 30},
		{"preMcpToolCall", "", 30},
		{"postToolUse", "", 30},
		{"postToolUseFailure", "", 30},
		{"notification", notifications, 30},
		{"subagentStart", "", 30},
		{"subagentStop", "", 30},
		{"preCompact", "", 30},
		{"errorOccurred", "", 30},
		{"agentStop", "", 30},
		{"sessionEnd", "", 5},
	}
}

// Optional are events that lidguard listens to only where somebody's rulebook has
// something for them; see Listen.
func Optional() []Hook {
	return []Hook{{"userPromptTransformed", "", 30}}
}

// notifications are the types that say that a person is waited for, or that work
// in the background ended (contract §4).
const notifications = "permission_prompt|elicitation_dialog|shell_completed|shell_detached_completed|agent_completed|agent_idle"

// Setup is Copilot CLI of one user, looked at from one project.
type Setup struct {
	Root    string // COPILOT_HOME
	File    string // our hook file
	project string // the project's folder, or ""
	home    string
	goos    string

	asked []string // see Listen
	exact bool
}

// Listen returns a Setup whose installation listens to those of the optional
// events that are named, in the client's words, and to no other of them. Without it
// an installation leaves the optional entries that are there, brings them up to
// date, and adds none.
func (s Setup) Listen(events []string) Setup {
	s.asked, s.exact = events, true
	return s
}

// hooks are the entries of an installation into a file.
func (s Setup) hooks(d *document) []Hook {
	list := Hooks()
	for _, h := range Optional() {
		if s.exact && slices.Contains(s.asked, h.Event) || !s.exact && len(d.places(h.Event)) > 0 {
			list = append(list, h)
		}
	}
	return list
}

// New finds the client's places: COPILOT_HOME, else .copilot in the home folder.
// workDir is the folder the person is in; the hooks of the project around it run
// beside the person's own. It may be empty. Nothing needs to exist.
func New(goos string, env paths.Env, home, workDir string) Setup {
	root := env("COPILOT_HOME")
	if root == "" {
		root = filepath.Join(home, ".copilot")
	}
	return Setup{Root: root, File: filepath.Join(root, "hooks", FileName), project: projectOf(workDir, home), home: home, goos: goos}
}

// projectOf is the repository around a folder, or the folder itself. The home
// folder is no project: what lies in it is the person's.
func projectOf(dir, home string) string {
	if dir == "" || dir == home {
		return ""
	}
	for at := dir; at != home; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return dir
}

// Provider is the client's name.
func (s Setup) Provider() event.Provider { return event.Copilot }

// Title is the client's name for people.
func (s Setup) Title() string { return "Copilot CLI" }

// Present reports whether the client has been used here: its folder exists.
func (s Setup) Present() bool {
	info, err := os.Stat(s.Root)
	return err == nil && info.IsDir()
}

// handler is what lidguard writes, in this order of keys. The command is guarded:
// a hook whose program is missing refuses every call of every session (contract
// §1.11). The exec form could not be guarded.
type handler struct {
	Type       string `json:"type"`
	Command    string `json:"command,omitempty"`
	PowerShell string `json:"powershell,omitempty"`
	Matcher    string `json:"matcher,omitempty"`
	TimeoutSec int    `json:"timeoutSec"`
}

func (s Setup) handler(p install.Program, h Hook) handler {
	line := p.Command(Entry, "--event", h.Event)
	out := handler{Type: "command", Matcher: h.Matcher, TimeoutSec: h.Timeout}
	if s.goos == "windows" {
		out.PowerShell = line
	} else {
		out.Command = line
	}
	return out
}

// Snippet is the hook file, for those who keep such files by hand.
func (s Setup) Snippet(p install.Program) ([]byte, error) {
	draft, err := s.install(p)(nil, nil)
	return draft.Text, err
}

// Install plans to put lidguard's hooks in, or to bring them up to date. Entries
// of ours in other files would be called twice, so they go.
func (s Setup) Install(p install.Program, records install.Records) (install.Plan, error) {
	var plan install.Plan
	if err := plan.Add(s.File, false, records, s.install(p)); err != nil {
		return plan, explain(err)
	}
	return plan, s.clear(&plan, records)
}

// Remove plans to take lidguard's hooks out, wherever they stand.
func (s Setup) Remove(records install.Records) (install.Plan, error) {
	var plan install.Plan
	if err := plan.Add(s.File, true, records, s.remove(s.File)); err != nil {
		return plan, explain(err)
	}
	return plan, s.clear(&plan, records)
}

// clear plans to take entries of ours out of every other file of the person's.
func (s Setup) clear(plan *install.Plan, records install.Records) error {
	for _, src := range s.personal() {
		if src.path == s.File || src.err != nil || len(src.doc.ours()) == 0 {
			continue
		}
		if err := plan.Add(src.path, true, records, s.remove(src.path)); err != nil {
			return explain(err)
		}
	}
	return nil
}

func explain(err error) error {
	if _, ok := syntax(err); ok {
		return fmt.Errorf("%w (Copilot CLI loads no hook of a file it cannot read)", err)
	}
	return err
}

// install makes the change of our file. What others have put into it stays.
func (s Setup) install(p install.Program) install.Change {
	return func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		d, err := read(data, confedit.Strict)
		if err != nil {
			return confedit.Draft{}, err
		}
		if isBlank(data) {
			if err := d.doc.Set(confedit.Path{"version"}, 1); err != nil {
				return confedit.Draft{}, err
			}
		}
		hooks := s.hooks(d)
		for _, h := range hooks {
			if err := d.ensure(h.Event, s.handler(p, h)); err != nil {
				return confedit.Draft{}, err
			}
		}
		for _, name := range d.ours() { // of events that are no longer used
			if !used(hooks, name) {
				if err := d.takeOut(name, 0); err != nil {
					return confedit.Draft{}, err
				}
				if err := d.doc.Prune(confedit.Path{"hooks", name}); err != nil {
					return confedit.Draft{}, err
				}
			}
		}
		return d.doc.Draft(), nil
	}
}

func used(hooks []Hook, name string) bool {
	return slices.ContainsFunc(hooks, func(h Hook) bool { return h.Event == name })
}

// remove makes the change that takes every entry of ours out of a file, and the
// parents that were created for them. A file of our own name in which nothing
// else is left goes.
func (s Setup) remove(path string) install.Change {
	return func(data []byte, created []confedit.Path) (confedit.Draft, error) {
		d, err := read(data, modeOf(path))
		if err != nil {
			return confedit.Draft{}, err
		}
		var emptied []confedit.Path
		for _, name := range d.ours() {
			if err := d.takeOut(name, 0); err != nil {
				return confedit.Draft{}, err
			}
			emptied = append(emptied, confedit.Path{"hooks", name})
		}
		if len(emptied) == 0 {
			return confedit.Draft{Text: data}, nil
		}
		lost := created == nil
		if lost { // which parents were ours is not known: those that held nothing else
			created = append([]confedit.Path{{"hooks"}}, emptied...)
		}
		whole := slices.ContainsFunc(created, func(p confedit.Path) bool { return len(p) == 0 })
		if err := d.doc.Prune(created...); err != nil {
			return confedit.Draft{}, err
		}
		if only := d.onlyVersion(); only && (whole || lost && s.named(path)) {
			// version was written with the file.
			if err := d.doc.Remove(confedit.Path{"version"}); err != nil {
				return confedit.Draft{}, err
			}
			if err := d.doc.Prune(confedit.Path{}); err != nil {
				return confedit.Draft{}, err
			}
			draft := d.doc.Draft()
			draft.Delete = lost
			return draft, nil
		}
		return d.doc.Draft(), nil
	}
}

// named reports whether a file has a name of ours, now or formerly.
func (s Setup) named(path string) bool {
	name := filepath.Base(path)
	return filepath.Dir(path) == filepath.Dir(s.File) && (name == FileName || slices.Contains(oldNames, name))
}
