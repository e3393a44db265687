// Package setup connects Codex with lidguard: it knows where the client keeps its
// hooks, which of them are lidguard's, whether the person trusts them, and plans
// how to put them in, bring them up to date, record the trust, and take them out.
// Nothing is written before a plan is applied, no byte of anybody else's is
// changed, and no foreign hook ever moves: the client's trust counts positions.
//
// Facts about the client are from docs/contracts/codex.md §2, §6.
package setup

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// Entry is the hook entry that Codex calls.
const Entry = "codex-hook"

// Hook is one event that lidguard listens to.
type Hook struct {
	Event   event.Name
	Timeout int // whole seconds; a fraction would reject the whole file
}

// Hooks are the entries of an installation, in the order they are written. Event
// and timeout are part of what the person trusts: changing one here makes Codex
// skip the hook, without a word, until it is trusted again.
//
// PreModelRequest and PostModelRequest are left out: undocumented, and one process
// per request. The client cuts the timeout of Interrupt and SessionEnd to 3 s and
// warns about more at every start.
func Hooks() []Hook {
	return []Hook{
		{event.SessionStart, 30},
		{event.UserPromptSubmit, 30},
		{event.PreToolUse, 30},
		{event.PermissionRequest, 600}, // a person may answer from afar (settings.MaxPhoneWait)
		{event.PostToolUse, 30},
		{event.PreCompact, 30},
		{event.PostCompact, 30},
		{event.SubagentStart, 30},
		{event.SubagentStop, 30},
		{event.Stop, 30},
		{event.Interrupt, 3},
		{event.SessionEnd, 3},
	}
}

// Optional are events that lidguard listens to only where somebody's rulebook has
// something for them; see Listen.
func Optional() []Hook {
	return []Hook{
		{event.PreModelRequest, 30},
		{event.PostModelRequest, 30},
	}
}

// Setup is Codex of one user.
type Setup struct {
	Root   string // CODEX_HOME
	JSON   string // its hooks.json
	Config string // its config.toml

	asked []event.Name // see Listen
	exact bool
}

// Listen returns a Setup whose installation listens to those of the optional
// events that are named, and to no other of them. Without it an installation
// leaves the optional entries that are there, brings them up to date, and adds none.
func (s Setup) Listen(events []event.Name) Setup {
	s.asked, s.exact = events, true
	return s
}

// hooks are the entries of an installation into a file.
func (s Setup) hooks(src source) []Hook {
	list := Hooks()
	for _, h := range Optional() {
		if s.exact && slices.Contains(s.asked, h.Event) || !s.exact && len(places(src, string(h.Event))) > 0 {
			list = append(list, h)
		}
	}
	return list
}

// New finds Codex's places: CODEX_HOME, else .codex in the home folder. Nothing
// needs to exist.
func New(_ string, env paths.Env, home string) Setup {
	root := env("CODEX_HOME")
	if root == "" {
		root = filepath.Join(home, ".codex")
	}
	return Setup{Root: root, JSON: filepath.Join(root, "hooks.json"), Config: filepath.Join(root, "config.toml")}
}

// Provider is the client's name.
func (s Setup) Provider() event.Provider { return event.Codex }

// Title is the client's name for people.
func (s Setup) Title() string { return "Codex" }

// Present reports whether the client has been used here: its folder exists.
func (s Setup) Present() bool {
	info, err := os.Stat(s.Root)
	return err == nil && info.IsDir()
}

// handler is what lidguard writes, in this order of keys.
type handler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// group is one element of an event's list, without a matcher.
type group struct {
	Hooks []handler `json:"hooks"`
}

func want(p install.Program, h Hook) handler {
	return handler{Type: "command", Command: p.Command(Entry), Timeout: h.Timeout}
}

// file chooses where the hooks go. What is there already stays where it is; where
// a person keeps hooks in config.toml alone, ours go there too, since the client
// warns about two forms side by side at every start.
func (s Setup) file() (string, error) {
	inJSON, err := s.open(s.JSON)
	if err != nil {
		return s.JSON, err
	}
	if len(ours(inJSON)) > 0 {
		return s.JSON, nil
	}
	inConfig, err := s.open(s.Config)
	if err != nil {
		// A broken config.toml is told by Status; it need not keep anybody
		// from using hooks.json.
		return s.JSON, nil
	}
	if len(ours(inConfig)) > 0 || len(inJSON.events()) == 0 && len(inConfig.events()) > 0 {
		return s.Config, nil
	}
	return s.JSON, nil
}

// open reads one of the two files as a source of hooks.
func (s Setup) open(path string) (source, error) {
	f, err := confedit.Open(path)
	if err != nil {
		return nil, err
	}
	src, err := s.parse(path, f.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return src, nil
}

func (s Setup) parse(path string, data []byte) (source, error) {
	if path == s.Config {
		return readTOML(data)
	}
	return readJSON(data)
}

// Snippet is the hooks file of somebody who has no other hooks: in the form of
// hooks.json, or of config.toml.
func (s Setup) Snippet(p install.Program, toml bool) ([]byte, error) {
	path := s.JSON
	if toml {
		path = s.Config
	}
	draft, err := s.install(path, p)(nil, nil)
	return draft.Text, err
}

// Install plans to put lidguard's hooks in, or to bring them up to date.
func (s Setup) Install(p install.Program, records install.Records) (install.Plan, error) {
	var plan install.Plan
	var dropped []string // trust of entries that go
	path, err := s.file()
	if err == nil {
		err = plan.Add(path, false, records, s.install(path, p))
	}
	if err == nil && path != s.Config {
		if src, openErr := s.open(path); openErr == nil {
			dropped = s.trustKeys(path, src, func(name string) bool { return !used(s.hooks(src), name) })
		}
		// A config.toml that cannot be read is told by Status, and no reason
		// against hooks.json.
		_ = plan.Add(s.Config, false, records, func(data []byte, _ []confedit.Path) (confedit.Draft, error) { return migrate(data, dropped) })
	}
	return plan, s.explain(err)
}

// oldSwitch is a former name of the switch newSwitch, about which Codex complains
// at every start (§6).
var oldSwitch, newSwitch = confedit.Path{"features", "codex_hooks"}, confedit.Path{"features", "hooks"}

// migrate gives the old switch its present name, or drops it where it says
// nothing beside the new one. One that is off is the person's decision, which
// stays as it is written, and so does one in an inline table; Status tells both.
// Undoing the installation brings the old name back: it never was lidguard's.
//
// The entries of trust under the keys in dropped go, since their hooks do.
func migrate(data []byte, dropped []string) (confedit.Draft, error) {
	config, err := readTOML(data)
	if err != nil {
		return confedit.Draft{}, err
	}
	if err := config.forget(dropped); err != nil {
		return confedit.Draft{}, err
	}
	if err := config.migrate(); err != nil {
		return confedit.Draft{}, err
	}
	return config.draft(), nil
}

// forget takes entries of trust out.
func (s *tomlSource) forget(keys []string) error {
	for _, key := range keys {
		if err := s.doc.Remove(confedit.Path{"hooks", stateKey, key}); err != nil {
			return err
		}
	}
	return nil
}

func (s *tomlSource) migrate() error {
	if on, ok := s.doc.Get(oldSwitch); !ok || on != true {
		return nil
	}
	var err error
	if _, both := s.doc.Get(newSwitch); both {
		err = s.doc.Remove(oldSwitch)
	} else {
		err = s.doc.Rename(oldSwitch, "hooks")
	}
	if _, inline := errors.AsType[*confedit.SyntaxError](err); inline {
		return nil
	}
	return err
}

// explain adds to a syntax error what it means with this client.
func (s Setup) explain(err error) error {
	if _, ok := errors.AsType[*confedit.SyntaxError](err); ok {
		return fmt.Errorf("%w (Codex runs no hook of a file it cannot read)", err)
	}
	return err
}

func (s Setup) install(path string, p install.Program) install.Change {
	return func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		src, err := s.parse(path, data)
		if err != nil {
			return confedit.Draft{}, err
		}
		hooks := s.hooks(src)
		if config, ok := src.(*tomlSource); ok {
			if err := config.forget(s.trustKeys(path, src, func(name string) bool { return !used(hooks, name) })); err != nil {
				return confedit.Draft{}, err
			}
		}
		for _, h := range hooks {
			if err := ensure(src, string(h.Event), want(p, h)); err != nil {
				return confedit.Draft{}, err
			}
		}
		for _, name := range slices.Sorted(maps.Keys(ours(src))) { // of events that are no longer used
			if !used(hooks, name) {
				if err := takeOut(src, name, 0); err != nil {
					return confedit.Draft{}, err
				}
				if _, isJSON := src.(*jsonSource); isJSON {
					if err := src.prune([]confedit.Path{{"hooks", name}}); err != nil {
						return confedit.Draft{}, err
					}
				}
			}
		}
		if config, ok := src.(*tomlSource); ok {
			if err := config.migrate(); err != nil {
				return confedit.Draft{}, err
			}
		}
		return src.draft(), nil
	}
}

func used(hooks []Hook, name string) bool {
	return slices.ContainsFunc(hooks, func(h Hook) bool { return string(h.Event) == name })
}

// Remove plans to take lidguard's hooks out, and what was recorded as trust for
// them. A group of ours that foreign ones follow stays as an empty one, so that
// those keep their positions and with them their trust.
func (s Setup) Remove(records install.Records) (install.Plan, error) {
	var plan install.Plan
	var keys []string
	var own []ownTrust
	inJSON, err := s.open(s.JSON)
	if err == nil {
		keys, own = s.trustKeys(s.JSON, inJSON, every), s.ownTrusts(s.JSON, inJSON)
		err = plan.Add(s.JSON, true, records, s.remove(s.JSON, nil, nil))
	}
	// A file that cannot be read is no reason to leave the hooks in the other.
	err = errors.Join(err, plan.Add(s.Config, true, records, s.remove(s.Config, keys, own)))
	return plan, s.explain(err)
}

// remove takes our entries out of one file. keys are trust entries that go too, and
// so do those for own; the ones of the file's own hooks are found while it is read.
func (s Setup) remove(path string, keys []string, own []ownTrust) install.Change {
	return func(data []byte, created []confedit.Path) (confedit.Draft, error) {
		src, err := s.parse(path, data)
		if err != nil {
			return confedit.Draft{}, err
		}
		if config, ok := src.(*tomlSource); ok {
			gone := slices.Concat(s.trustKeys(path, src, every), keys, s.trustedAs(config, slices.Concat(s.ownTrusts(path, src), own)))
			slices.Sort(gone)
			if err := config.forget(slices.Compact(gone)); err != nil {
				return confedit.Draft{}, err
			}
		}
		var emptied []confedit.Path
		for _, name := range slices.Sorted(maps.Keys(ours(src))) {
			if err := takeOut(src, name, 0); err != nil {
				return confedit.Draft{}, err
			}
			emptied = append(emptied, confedit.Path{"hooks", name})
		}
		// A lost record: parents that held nothing but ours were made for them. In
		// TOML the headers are the entries, so there is nothing more to guess.
		if _, isJSON := src.(*jsonSource); isJSON && created == nil && len(emptied) > 0 {
			created = append([]confedit.Path{{"hooks"}}, emptied...)
		}
		if err := src.prune(created); err != nil {
			return confedit.Draft{}, err
		}
		return src.draft(), nil
	}
}
