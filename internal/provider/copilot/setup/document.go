package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// document is a file with hooks understood: a hook file, or a settings file.
type document struct {
	doc    *confedit.JSON
	events []string // the names under "hooks", in file order
}

// wireHandler is what the client reads of an entry. An element of an event's list
// is such an entry, or Claude Code's nested form with a list of them.
type wireHandler struct {
	Type       string   `json:"type"`
	Command    string   `json:"command"`
	Bash       string   `json:"bash"`
	PowerShell string   `json:"powershell"`
	Exec       string   `json:"exec"`
	Args       []string `json:"args"`
	Matcher    *string  `json:"matcher"`
	TimeoutSec *float64 `json:"timeoutSec"`
}

// lines are the command lines of the entry, for whichever shell.
func (h wireHandler) lines() []string {
	return slices.DeleteFunc([]string{h.Command, h.Bash, h.PowerShell}, func(s string) bool { return s == "" })
}

// ours reports whether the entry is lidguard's, written by whatever version.
func (h wireHandler) ours() bool { return h.calls(Entry) }

func (h wireHandler) calls(entry string) bool {
	if h.Exec != "" {
		return install.IsProgram(h.Exec) && slices.Contains(h.Args, entry)
	}
	return slices.ContainsFunc(h.lines(), func(line string) bool { return install.Calls(line, entry) })
}

// line is the command line for people.
func (h wireHandler) line() string {
	if h.Exec != "" {
		return strings.Join(append([]string{h.Exec}, h.Args...), " ")
	}
	return strings.Join(h.lines(), " / ")
}

// place is where an entry stands: element index of the event's list, and inner of
// its "hooks" when that is of the nested form, else -1.
type place struct {
	index, inner int
	alone        bool // no other entry shares a nested form
	handler      wireHandler
}

// read parses a file. Anything that would keep hooks from being found or added is
// a *confedit.SyntaxError with its position.
func read(data []byte, mode confedit.Mode) (*document, error) {
	doc, err := confedit.ParseJSON(data, mode)
	if err != nil {
		return nil, err
	}
	d := &document{doc: doc}
	raw, ok := doc.Get(confedit.Path{"hooks"})
	if !ok {
		return d, nil
	}
	if raw[0] != '{' {
		return nil, d.wrong(confedit.Path{"hooks"}, "hooks is no object")
	}
	if d.events, err = keys(raw); err != nil {
		return nil, fmt.Errorf("reading hooks: %w", err)
	}
	for _, name := range d.events {
		p := confedit.Path{"hooks", name}
		if list, _ := doc.Get(p); list[0] != '[' {
			return nil, d.wrong(p, p.String()+" is no array")
		}
	}
	return d, nil
}

func (d *document) wrong(p confedit.Path, message string) error {
	at, _ := d.doc.Locate(p)
	return &confedit.SyntaxError{Position: at, Message: message}
}

func syntax(err error) (*confedit.SyntaxError, bool) {
	return errors.AsType[*confedit.SyntaxError](err)
}

// isBlank reports whether a file has nothing in it.
func isBlank(data []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))) == 0
}

// keys returns the keys of a JSON object in order, each once.
func keys(raw json.RawMessage) ([]string, error) {
	var out []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return nil, err
		}
		if key, _ := t.(string); !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out, nil
}

// entries returns every entry under an event. What the client itself would drop
// comes back as an empty entry.
func (d *document) entries(name string) []place {
	var out []place
	list := confedit.Path{"hooks", name}
	for i := range d.doc.Len(list) {
		nested := list.With(i, "hooks")
		if raw, ok := d.doc.Get(nested); ok && raw[0] == '[' {
			n := d.doc.Len(nested)
			for j := range n {
				p := place{index: i, inner: j, alone: n == 1}
				// An entry with a badly typed member is foreign and stays so.
				_, _ = d.doc.Decode(nested.With(j), &p.handler)
				out = append(out, p)
			}
			continue
		}
		p := place{index: i, inner: -1, alone: true}
		_, _ = d.doc.Decode(list.With(i), &p.handler)
		out = append(out, p)
	}
	return out
}

// places returns the entries of ours under an event.
func (d *document) places(name string) []place {
	return slices.DeleteFunc(d.entries(name), func(p place) bool { return !p.handler.ours() })
}

// ours returns the events under which an entry of ours stands.
func (d *document) ours() []string {
	var out []string
	for _, name := range d.events {
		if len(d.places(name)) > 0 {
			out = append(out, name)
		}
	}
	return out
}

// differs says in words what an entry has otherwise than want.
func (p place) differs(want handler) []string {
	h, out := p.handler, []string(nil)
	if p.inner >= 0 || h.Exec != "" || h.Bash != "" || h.Command != want.Command || h.PowerShell != want.PowerShell {
		out = append(out, "another command line")
	}
	switch {
	case h.TimeoutSec == nil:
		out = append(out, fmt.Sprintf("no timeout instead of %d s", want.TimeoutSec))
	case *h.TimeoutSec != float64(want.TimeoutSec):
		out = append(out, fmt.Sprintf("timeout %v instead of %d s", *h.TimeoutSec, want.TimeoutSec))
	}
	if matcher := deref(h.Matcher); matcher != want.Matcher || h.Matcher != nil && matcher == "" {
		out = append(out, "another matcher")
	}
	return out
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// ensure makes want the one entry of ours under an event. An entry that is there
// is changed where it stands, and only in the members that differ.
func (d *document) ensure(name string, want handler) error {
	list := confedit.Path{"hooks", name}
	places := d.places(name)
	if len(places) > 0 && places[0].inner >= 0 { // the nested form becomes our own
		if err := d.takeOut(name, 0); err != nil {
			return err
		}
		places = nil
	}
	if len(places) == 0 {
		return d.doc.Append(list, want)
	}
	if err := d.takeOut(name, 1); err != nil { // doubles
		return err
	}
	at, have := list.With(places[0].index), places[0].handler
	set := func(key, have, want string) error {
		switch {
		case have == want:
			return nil
		case want == "":
			return d.doc.Remove(at.With(key))
		}
		return d.doc.Set(at.With(key), want)
	}
	for _, err := range []error{
		set("exec", have.Exec, ""),
		set("bash", have.Bash, ""),
		set("command", have.Command, want.Command),
		set("powershell", have.PowerShell, want.PowerShell),
	} {
		if err != nil {
			return err
		}
	}
	if have.Exec != "" {
		if err := d.doc.Remove(at.With("args")); err != nil {
			return err
		}
	}
	if have.Matcher != nil && want.Matcher == "" {
		if err := d.doc.Remove(at.With("matcher")); err != nil {
			return err
		}
	} else if deref(have.Matcher) != want.Matcher {
		if err := d.doc.Set(at.With("matcher"), want.Matcher); err != nil {
			return err
		}
	}
	if have.TimeoutSec == nil || *have.TimeoutSec != float64(want.TimeoutSec) {
		return d.doc.Set(at.With("timeoutSec"), want.TimeoutSec)
	}
	return nil
}

// takeOut removes the entries of ours under an event but the first keep ones, and
// nested forms that held nothing else.
func (d *document) takeOut(name string, keep int) error {
	places := d.places(name)
	for i := len(places) - 1; i >= keep; i-- {
		at := confedit.Path{"hooks", name, places[i].index}
		nested := at.With("hooks")
		if places[i].inner >= 0 && d.doc.Len(nested) > 1 {
			at = nested.With(places[i].inner)
		}
		if err := d.doc.Remove(at); err != nil {
			return err
		}
	}
	return nil
}

// onlyVersion reports whether nothing is left but a version.
func (d *document) onlyVersion() bool {
	_, version := d.doc.Get(confedit.Path{"version"})
	return version && d.doc.Len(nil) == 1
}

// source is a file that the client reads hooks from.
type source struct {
	path string
	doc  *document
	err  error
	late bool // its hooks run after those of our file
	all  bool // disableAllHooks in it switches off all hooks here
}

// modeOf is the dialect of a file. Hook files with comments are not loaded by the
// client; of settings files that was not measured, so comments are let through.
func modeOf(path string) confedit.Mode {
	if name := filepath.Base(path); strings.HasPrefix(name, "settings") {
		return confedit.Comments
	}
	return confedit.Strict
}

// open reads one source; nil if there is no such file.
func open(path string) *source {
	f, err := confedit.Open(path)
	if err != nil {
		return &source{path: path, err: err}
	}
	if !f.Exists {
		return nil
	}
	s := &source{path: path}
	s.doc, s.err = read(f.Bytes(), modeOf(path))
	return s
}

// personal are the person's own sources: the hook files, in the order they run,
// and the settings.
func (s Setup) personal() []source {
	out := folder(filepath.Dir(s.File))
	for i := range out {
		// The order of files with one name in several folders is not known.
		out[i].late = filepath.Base(out[i].path) < FileName
	}
	if src := open(filepath.Join(s.Root, "settings.json")); src != nil {
		src.late = true
		out = append(out, *src)
	}
	return out
}

// ofProject are the sources of the project around the working folder. They count
// only where the person trusts the folder, and run after the person's own.
func (s Setup) ofProject() []source {
	if s.project == "" {
		return nil
	}
	out := folder(filepath.Join(s.project, ".github", "hooks"))
	for _, path := range [][]string{{".github", "copilot", "settings.json"}, {".claude", "settings.json"}, {".claude", "settings.local.json"}} {
		if src := open(filepath.Join(append([]string{s.project}, path...)...)); src != nil {
			src.all = true
			out = append(out, *src)
		}
	}
	for i := range out {
		out[i].late = true
	}
	return out
}

// folder opens the hook files in a folder and below, in descending order of names.
func folder(dir string) []source {
	var names []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		// A folder that cannot be read cannot be read by the client either.
		if err == nil && !e.IsDir() && strings.HasSuffix(path, ".json") {
			names = append(names, path)
		}
		return nil
	})
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(filepath.Base(b), filepath.Base(a)) })
	var out []source
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if src := open(name); src != nil {
			out = append(out, *src)
		}
	}
	return out
}
