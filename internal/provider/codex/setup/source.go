package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// source is a file with hooks in it, in one of the client's two forms.
type source interface {
	events() []string // names with a list
	groups(event string) []wireGroup
	add(event string, h handler) error             // a new group at the end
	fill(event string, group int, h handler) error // an empty group becomes ours
	change(event string, p place, h handler) error // an entry of ours becomes h
	clear(event string, group int) error           // a group becomes an empty one
	drop(event string, group int) error            // the last group goes
	dropHandler(event string, group, i int) error  // one of several handlers goes
	prune(created []confedit.Path) error           // parents that became empty go
	draft() confedit.Draft
}

// wireGroup and wireHandler are what the client reads.
type wireGroup struct {
	Matcher *string       `json:"matcher"`
	Hooks   []wireHandler `json:"hooks"`
	bare    bool          // there is nothing in it but an empty list of hooks
}

type wireHandler struct {
	Type          string   `json:"type"`
	Command       string   `json:"command"`
	Timeout       *float64 `json:"timeout"`
	Async         bool     `json:"async"`
	StatusMessage *string  `json:"statusMessage"`
	ContextLimit  *int     `json:"additionalContextLimit"`
}

func (h wireHandler) ours() bool { return h.Type == "command" && install.Calls(h.Command, Entry) }

// place is where a handler of ours stands.
type place struct {
	group, index int
	handler      wireHandler
	matcher      *string
	others       int // handlers that share its group
}

// places returns where handlers of ours stand under an event.
func places(src source, event string) []place {
	var out []place
	for g, group := range src.groups(event) {
		for i, h := range group.Hooks {
			if h.ours() {
				out = append(out, place{g, i, h, group.Matcher, len(group.Hooks) - 1})
			}
		}
	}
	return out
}

// ours returns the places of our handlers by event.
func ours(src source) map[string][]place {
	out := map[string][]place{}
	for _, event := range src.events() {
		if p := places(src, event); len(p) > 0 {
			out[event] = p
		}
	}
	return out
}

// ensure makes want the one entry of ours under an event. One that is there is
// changed where it stands, so that neither it nor its neighbours move.
func ensure(src source, event string, want handler) error {
	have := places(src, event)
	if len(have) > 0 && !everything(event, have[0].matcher) {
		// It sees only some of the events, and its group's matcher may be
		// there for others.
		if err := takeOut(src, event, 0); err != nil {
			return err
		}
		have = nil
	}
	if len(have) > 0 {
		if err := takeOut(src, event, 1); err != nil {
			return err
		}
		return src.change(event, have[0], want)
	}
	// A group that an earlier removal left empty to hold a position is taken
	// again.
	for g, group := range src.groups(event) {
		if group.bare {
			return src.fill(event, g, want)
		}
	}
	return src.add(event, want)
}

// everything reports whether a matcher lets every event through (§2).
func everything(event string, matcher *string) bool {
	return matcher == nil || *matcher == "" || *matcher == "*" || dropsMatcher(event)
}

// takeOut removes the entries of ours under an event but the first keep ones.
func takeOut(src source, event string, keep int) error {
	for {
		have := places(src, event)
		if len(have) <= keep {
			return nil
		}
		p := have[len(have)-1]
		var err error
		switch {
		case p.others > 0:
			err = src.dropHandler(event, p.group, p.index)
		case p.group == len(src.groups(event))-1:
			err = src.drop(event, p.group)
		default:
			err = src.clear(event, p.group)
		}
		if err != nil {
			return err
		}
	}
}

// jsonSource is hooks.json.
type jsonSource struct {
	doc *confedit.JSON
	all map[string]json.RawMessage
}

func readJSON(data []byte) (*jsonSource, error) {
	doc, err := confedit.ParseJSON(data, confedit.Strict)
	if err != nil {
		return nil, err
	}
	s := &jsonSource{doc: doc}
	raw, ok := doc.Get(confedit.Path{"hooks"})
	if !ok {
		return s, nil
	}
	if raw[0] != '{' {
		return nil, s.wrong(confedit.Path{"hooks"}, "hooks is no object")
	}
	if err := json.Unmarshal(raw, &s.all); err != nil {
		return nil, fmt.Errorf("reading hooks: %w", err)
	}
	for _, event := range s.events() {
		p := confedit.Path{"hooks", event}
		if s.all[event][0] != '[' {
			return nil, s.wrong(p, p.String()+" is no array")
		}
		for g := range doc.Len(p) {
			at := confedit.Path{"hooks", event, g}
			var group wireGroup
			if _, err := doc.Decode(at, &group); err != nil {
				return nil, s.wrong(at, at.String()+" is no group of hooks as the client reads it")
			}
		}
	}
	return s, nil
}

func (s *jsonSource) wrong(p confedit.Path, message string) error {
	at, _ := s.doc.Locate(p)
	return &confedit.SyntaxError{Position: at, Message: message}
}

func (s *jsonSource) events() []string { return slices.Sorted(maps.Keys(s.all)) }

func (s *jsonSource) groups(event string) []wireGroup {
	p := confedit.Path{"hooks", event}
	out := make([]wireGroup, s.doc.Len(p))
	for g := range out {
		at := confedit.Path{"hooks", event, g}
		_, _ = s.doc.Decode(at, &out[g]) // readJSON has seen to it
		raw, _ := s.doc.Get(at)
		out[g].bare = bytes.Equal(raw, []byte(`{"hooks":[]}`))
	}
	return out
}

func (s *jsonSource) at(event string, steps ...any) confedit.Path {
	return append(confedit.Path{"hooks", event}, steps...)
}

func (s *jsonSource) add(event string, h handler) error {
	return s.doc.Append(s.at(event), group{[]handler{h}})
}

func (s *jsonSource) fill(event string, g int, h handler) error {
	return s.doc.Set(s.at(event, g), group{[]handler{h}})
}

func (s *jsonSource) clear(event string, g int) error {
	return s.doc.Set(s.at(event, g), group{[]handler{}})
}

func (s *jsonSource) drop(event string, g int) error { return s.doc.Remove(s.at(event, g)) }

func (s *jsonSource) dropHandler(event string, g, i int) error {
	return s.doc.Remove(s.at(event, g, "hooks", i))
}

func (s *jsonSource) change(event string, p place, h handler) error {
	at := s.at(event, p.group, "hooks", p.index)
	if err := s.doc.Set(append(slices.Clone(at), "command"), h.Command); err != nil {
		return err
	}
	if err := s.doc.Set(append(slices.Clone(at), "timeout"), h.Timeout); err != nil {
		return err
	}
	if p.handler.Async {
		return s.doc.Remove(append(slices.Clone(at), "async"))
	}
	return nil
}

func (s *jsonSource) prune(created []confedit.Path) error { return s.doc.Prune(created...) }
func (s *jsonSource) draft() confedit.Draft               { return s.doc.Draft() }

// tomlSource is config.toml.
type tomlSource struct{ doc *confedit.TOML }

func readTOML(data []byte) (*tomlSource, error) {
	doc, err := confedit.ParseTOML(data)
	if err != nil {
		return nil, err
	}
	return &tomlSource{doc}, nil
}

// stateKey stands among the events under "hooks" and holds the trust.
const stateKey = "state"

func (s *tomlSource) events() []string {
	hooks, _ := s.doc.Get(confedit.Path{"hooks"})
	all, _ := hooks.(map[string]any)
	var out []string
	for _, event := range slices.Sorted(maps.Keys(all)) {
		if event != stateKey {
			out = append(out, event)
		}
	}
	return out
}

func (s *tomlSource) groups(event string) []wireGroup {
	value, ok := s.doc.Get(confedit.Path{"hooks", event})
	if !ok {
		return nil
	}
	// By way of JSON, so that both files are read by the same words.
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	out := make([]wireGroup, len(parts))
	for g, part := range parts {
		_ = json.Unmarshal(part, &out[g])
		out[g].bare = bytes.Equal(part, []byte(`{"hooks":[]}`))
	}
	return out
}

func (s *tomlSource) add(event string, h handler) error {
	return s.doc.AppendTables(tables(event, h)...)
}

func tables(event string, h handler) []confedit.Table {
	return []confedit.Table{
		{Key: []string{"hooks", event}, Array: true},
		{Key: []string{"hooks", event, "hooks"}, Array: true, Pairs: []confedit.Pair{
			{Key: "type", Value: h.Type}, {Key: "command", Value: h.Command}, {Key: "timeout", Value: h.Timeout}}},
	}
}

func (s *tomlSource) fill(event string, g int, h handler) error {
	return s.doc.Replace(confedit.Path{"hooks", event, g}, tables(event, h)...)
}

func (s *tomlSource) clear(event string, g int) error {
	return s.doc.Replace(confedit.Path{"hooks", event, g}, confedit.Table{
		Key: []string{"hooks", event}, Array: true, Pairs: []confedit.Pair{{Key: "hooks", Value: []any{}}}})
}

func (s *tomlSource) drop(event string, g int) error {
	return s.doc.Remove(confedit.Path{"hooks", event, g})
}

func (s *tomlSource) dropHandler(event string, g, i int) error {
	return s.doc.Remove(confedit.Path{"hooks", event, g, "hooks", i})
}

func (s *tomlSource) change(event string, p place, h handler) error {
	at := confedit.Path{"hooks", event, p.group, "hooks", p.index}
	if err := s.doc.Set(append(slices.Clone(at), "command"), h.Command); err != nil {
		return err
	}
	if err := s.doc.Set(append(slices.Clone(at), "timeout"), h.Timeout); err != nil {
		return err
	}
	if p.handler.Async {
		return s.doc.Remove(append(slices.Clone(at), "async"))
	}
	return nil
}

func (s *tomlSource) prune(created []confedit.Path) error { return s.doc.Prune(created...) }
func (s *tomlSource) draft() confedit.Draft               { return s.doc.Draft() }
