package policy

import (
	"errors"
	"strings"
)

// Whole is a name in a rulebook, or a regular expression for the whole of one. What
// people write most, names and their beginnings with alternatives between them
// ("Edit|Write", "mcp__db__.*"), costs no expression.
type Whole struct {
	text    string
	simple  []string // alternatives, each a name or a beginning with .*
	pattern Pattern
}

// UnmarshalText reads it.
func (w *Whole) UnmarshalText(text []byte) error {
	*w = Whole{text: string(text)}
	if w.text == "" {
		return errors.New("it is empty")
	}
	for alternative := range strings.SplitSeq(w.text, "|") {
		if !plain(strings.TrimSuffix(alternative, ".*")) {
			w.simple = nil
			break
		}
		w.simple = append(w.simple, alternative)
	}
	if w.simple != nil {
		return nil
	}
	if _, err := NewPattern(w.text); err != nil {
		return err // in the person's own words
	}
	var err error
	w.pattern, err = NewPattern("^(?:" + w.text + ")$")
	return err
}

// plain reports whether no letter of s means something in an expression.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && c != '-' && c != '/' && c != ':' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}

// MarshalText writes it back.
func (w Whole) MarshalText() ([]byte, error) { return []byte(w.text), nil }

// String is it as it was written.
func (w *Whole) String() string { return w.text }

// IsZero reports whether nothing was given.
func (w *Whole) IsZero() bool { return w.text == "" }

// Plain reports whether Matches compiles nothing.
func (w *Whole) Plain() bool { return w.simple != nil }

// Matches reports whether it is for a name; nothing is for none.
func (w *Whole) Matches(name string) bool {
	for _, s := range w.simple {
		if beginning, ok := strings.CutSuffix(s, ".*"); ok && strings.HasPrefix(name, beginning) && !strings.Contains(name, "\n") || s == name {
			return true
		}
	}
	return w.pattern.Match(name)
}
