package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// document is a settings file with its hooks understood.
type document struct {
	doc    *confedit.JSON
	events []string // the names under "hooks", in file order
}

// wireGroup and wireHandler are what the client reads of an event's list; other
// keys may stand beside them.
type wireGroup struct {
	Matcher json.RawMessage `json:"matcher"`
	Hooks   []wireHandler   `json:"hooks"`
}

type wireHandler struct {
	Type        string   `json:"type"`
	Command     string   `json:"command"`
	Args        []string `json:"args"`
	Shell       string   `json:"shell"`
	Timeout     float64  `json:"timeout"`
	Async       bool     `json:"async"`
	AsyncRewake bool     `json:"asyncRewake"`
	If          string   `json:"if"`
}

// calls reports whether the handler is lidguard's entry of that name, written by
// whatever version.
func (h wireHandler) calls(name string) bool {
	if h.Type != "command" {
		return false
	}
	if len(h.Args) > 0 { // exec form
		return install.IsProgram(h.Command) && slices.Contains(h.Args, name)
	}
	return install.Calls(h.Command, name)
}

// place is where a handler of ours stands.
type place struct {
	group, index int
	handler      wireHandler
	alone        bool // no other handler shares the group
	matcher      json.RawMessage
}

// sees reports whether a matcher is the one wanted; "" is every event of the name.
func (p place) sees(matcher string) bool {
	if matcher == "" {
		return matchesAll(p.matcher)
	}
	var have string
	return json.Unmarshal(p.matcher, &have) == nil && have == matcher
}

// read parses a settings file. Anything that would keep hooks from being found or
// added is a *confedit.SyntaxError with its position.
func read(data []byte) (*document, error) {
	doc, err := confedit.ParseJSON(data, confedit.Strict)
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

// keys returns the keys of a JSON object in order, each once.
func keys(raw json.RawMessage) ([]string, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
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

// groups returns the groups of an event. What the client itself would skip (a
// group without hooks, a handler of another form) comes back empty.
func (d *document) groups(name string) []wireGroup {
	p := confedit.Path{"hooks", name}
	out := make([]wireGroup, d.doc.Len(p))
	for i := range out {
		at := confedit.Path{"hooks", name, i}
		matcher, _ := d.doc.Get(append(slices.Clone(at), "matcher"))
		out[i].Matcher = matcher
		hooks := append(slices.Clone(at), "hooks")
		list, ok := d.doc.Get(hooks)
		if !ok || list[0] != '[' {
			continue
		}
		out[i].Hooks = make([]wireHandler, d.doc.Len(hooks))
		for j := range out[i].Hooks {
			// A handler with a badly typed field is foreign and stays so.
			_, _ = d.doc.Decode(append(slices.Clone(hooks), j), &out[i].Hooks[j])
		}
	}
	return out
}

// places returns where handlers of ours for an entry stand under an event.
func (d *document) places(event, entry string) []place {
	var out []place
	for g, group := range d.groups(event) {
		for i, h := range group.Hooks {
			if h.calls(entry) {
				out = append(out, place{g, i, h, len(group.Hooks) == 1, group.Matcher})
			}
		}
	}
	return out
}

// matchesAll reports whether a matcher lets everything through (§6).
func matchesAll(matcher json.RawMessage) bool {
	switch string(matcher) {
	case "", `""`, `"*"`, "null":
		return true
	}
	return false
}

// eventsOf returns the events under which an entry stands.
func (d *document) eventsOf(entry string) []string {
	var out []string
	for _, event := range d.events {
		if len(d.places(event, entry)) > 0 {
			out = append(out, event)
		}
	}
	return out
}

// others are the entries of ours in the file that are not among those wanted: an
// earlier version wrote them, or a rulebook asked for them.
func (d *document) others(want []entry) []entry {
	var out []entry
	for _, name := range []string{Entry, WakeEntry} {
		for _, event := range d.eventsOf(name) {
			if !slices.ContainsFunc(want, func(e entry) bool { return e.event == event && e.name == name }) {
				out = append(out, entry{event: event, name: name})
			}
		}
	}
	return out
}

// ensure makes the entry the one of its name under its event. One that is there is
// changed where it stands, and only in the keys that differ.
func (d *document) ensure(e entry) error {
	places, want := d.places(e.event, e.name), e.handler
	// An entry that sees other events than it should is of no use.
	if len(places) > 0 && (!places[0].sees(e.matcher) || places[0].handler.If != "") {
		if _, err := d.takeOut(e.event, e.name, 0); err != nil {
			return err
		}
		places = nil
	}
	if len(places) == 0 {
		return d.doc.Append(confedit.Path{"hooks", e.event}, group{e.matcher, []handler{want}})
	}
	if _, err := d.takeOut(e.event, e.name, 1); err != nil { // doubles
		return err
	}
	at := confedit.Path{"hooks", e.event, places[0].group, "hooks", places[0].index}
	have := places[0].handler
	if len(have.Args) > 0 {
		return d.doc.Set(at, want)
	}
	set := func(key string, value any) error { return d.doc.Set(append(slices.Clone(at), key), value) }
	var errs []error
	if have.Command != want.Command {
		errs = append(errs, set("command", want.Command))
	}
	if have.Timeout != float64(want.Timeout) {
		errs = append(errs, set("timeout", want.Timeout))
	}
	if want.Shell != "" && have.Shell != want.Shell {
		errs = append(errs, set("shell", want.Shell))
	}
	if want.Shell == "" && have.Shell != "" && have.Shell != "bash" {
		errs = append(errs, d.doc.Remove(append(slices.Clone(at), "shell")))
	}
	if have.Async {
		errs = append(errs, d.doc.Remove(append(slices.Clone(at), "async")))
	}
	switch {
	case want.AsyncRewake && !have.AsyncRewake:
		errs = append(errs, set("asyncRewake", true))
	case have.AsyncRewake && !want.AsyncRewake:
		errs = append(errs, d.doc.Remove(append(slices.Clone(at), "asyncRewake")))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// takeOut removes the handlers of an entry under an event but the first keep ones,
// and the groups that held nothing else. It returns how many it removed.
func (d *document) takeOut(event, name string, keep int) (int, error) {
	places := d.places(event, name)
	var removed int
	for i := len(places) - 1; i >= keep; i-- {
		p := places[i]
		at := confedit.Path{"hooks", event, p.group}
		if d.doc.Len(append(slices.Clone(at), "hooks")) > 1 {
			at = append(at, "hooks", p.index)
		}
		if err := d.doc.Remove(at); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
