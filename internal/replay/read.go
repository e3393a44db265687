package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// table is the census by client and event, in every spelling.
var table = sync.OnceValue(func() map[[2]string]*census.Event {
	m := map[[2]string]*census.Event{}
	for _, e := range census.All() {
		m[[2]string{string(e.Provider), e.Native}] = &e
		if e.Pascal != "" {
			m[[2]string{string(e.Provider), e.Pascal}] = &e
		}
	}
	return m
})

func find(p event.Provider, native string) (*census.Event, bool) {
	e, ok := table()[[2]string{string(p), native}]
	return e, ok
}

// honours reports whether a client acts on a member at this event.
func honours(row *census.Event, key string) bool {
	return slices.ContainsFunc(row.Outputs, func(o census.Output) bool { return o.Key == key || strings.HasPrefix(o.Key, key+".") })
}

// said is a JSON object that a hook printed.
type said map[string]json.RawMessage

// object reads text as one JSON object.
func object(text []byte) (said, bool) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return nil, false
	}
	var s said
	if json.Unmarshal(text, &s) != nil {
		return nil, false
	}
	return s, true
}

// text is a member that should be a string; bad says that it is there and is none.
func (s said) text(key string) (value string, has, bad bool) {
	raw, ok := s[key]
	if !ok || string(raw) == "null" {
		return "", false, false
	}
	if json.Unmarshal(raw, &value) != nil {
		return "", true, true
	}
	return value, true, false
}

// flag is a member that should be true or false.
func (s said) flag(key string) (value, has, bad bool) {
	raw, ok := s[key]
	if !ok || string(raw) == "null" {
		return false, false, false
	}
	if json.Unmarshal(raw, &value) != nil {
		return false, true, true
	}
	return value, true, false
}

// inner is a member that should be an object.
func (s said) inner(key string) (value said, has, bad bool) {
	raw, ok := s[key]
	if !ok || string(raw) == "null" {
		return nil, false, false
	}
	value, isObject := object(raw)
	return value, true, !isObject
}

// keys lists the members in order.
func (s said) keys() []string {
	var out []string
	for k := range s {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// lost names the members that the client does not know, in order.
func (s said) lost(known ...string) []string {
	return slices.DeleteFunc(s.keys(), func(k string) bool { return slices.Contains(known, k) })
}

// noise reports whether something that is no answer stands before or behind one.
func noise(stdout []byte) bool {
	text := bytes.TrimSpace(stdout)
	if len(text) == 0 {
		return false
	}
	if _, ok := object(text); ok {
		return false
	}
	return bytes.IndexByte(text, '{') >= 0
}
