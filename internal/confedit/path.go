package confedit

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Path leads from the root of a document to a value: a string step names a
// key, an int step counts elements of an array from 0. The empty path is the
// root.
//
//	confedit.Path{"hooks", "Stop", 0, "hooks"}
type Path []any

// String writes the path for people: hooks.Stop[0].hooks, with keys quoted
// where they would be hard to read.
func (p Path) String() string {
	if len(p) == 0 {
		return "the document"
	}
	var b strings.Builder
	for i, step := range p {
		switch s := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if i > 0 {
				b.WriteByte('.')
			}
			if isBareKey(s) {
				b.WriteString(s)
			} else {
				b.WriteString(strconv.Quote(s))
			}
		default:
			fmt.Fprintf(&b, "(%T)", step)
		}
	}
	return b.String()
}

// valid reports the first step that is neither a key nor an index.
func (p Path) valid() error {
	for _, step := range p {
		switch s := step.(type) {
		case string:
		case int:
			if s < 0 {
				return fmt.Errorf("path %s has a negative index", p)
			}
		default:
			return fmt.Errorf("path %s has a step of type %T, want string or int", p, step)
		}
	}
	return nil
}

// With returns p extended by steps, in memory of its own.
func (p Path) With(steps ...any) Path {
	return append(append(make(Path, 0, len(p)+len(steps)), p...), steps...)
}

// within reports whether p is prefix itself or lies below it.
func (p Path) within(prefix Path) bool {
	if len(p) < len(prefix) {
		return false
	}
	for i, step := range prefix {
		if p[i] != step {
			return false
		}
	}
	return true
}

func (p Path) equal(q Path) bool { return len(p) == len(q) && p.within(q) }

// clonePaths copies the list and every path in it.
func clonePaths(paths []Path) []Path {
	var out []Path
	for _, p := range paths {
		out = append(out, p.With())
	}
	return out
}

// addPaths appends those of more that are not in paths yet.
func addPaths(paths []Path, more ...Path) []Path {
next:
	for _, p := range more {
		for _, q := range paths {
			if p.equal(q) {
				continue next
			}
		}
		paths = append(paths, p.With())
	}
	return paths
}

// UnmarshalJSON reads what encoding/json writes for a Path: an array of
// strings and whole numbers. It exists because numbers would come back as
// float64 and no longer match.
func (p *Path) UnmarshalJSON(data []byte) error {
	steps, err := decodeAny(data)
	if err != nil {
		return err
	}
	list, ok := steps.([]any)
	if !ok {
		return fmt.Errorf("a path is an array of keys and indexes, not %s", data)
	}
	out := make(Path, 0, len(list))
	for _, step := range list {
		switch s := step.(type) {
		case string:
			out = append(out, s)
		case json.Number:
			n, err := s.Int64()
			if err != nil || n < 0 {
				return fmt.Errorf("path step %v is not an index", step)
			}
			out = append(out, int(n))
		default:
			return fmt.Errorf("path step %v is neither a key nor an index", step)
		}
	}
	*p = out
	return nil
}

// isBareKey reports whether s needs no quotes as a TOML key.
func isBareKey(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
