package policy

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
	"time"
)

// Duration is a length of time in a rulebook: "1.5s", "10m".
type Duration time.Duration

// UnmarshalText reads what time.ParseDuration reads, and nothing negative.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no duration such as \"1.5s\" or \"10m\"", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes it back.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Or is d, or another length where none was given.
func (d Duration) Or(other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return time.Duration(d)
}

// Pattern is a regular expression of a rulebook (RE2, see regexp/syntax). It is
// checked when it is read and compiled when it is first needed, since most events
// need none.
type Pattern struct {
	source   string
	compiled *sync.Once
	re       **regexp.Regexp
}

// NewPattern checks an expression.
func NewPattern(source string) (Pattern, error) {
	if _, err := syntax.Parse(source, syntax.Perl); err != nil {
		return Pattern{}, fmt.Errorf("%q is no regular expression: %w", source, err)
	}
	return Pattern{source: source, compiled: new(sync.Once), re: new(*regexp.Regexp)}, nil
}

// UnmarshalText checks an expression that a file holds.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	*p, err = NewPattern(string(text))
	return err
}

// MarshalText writes it back.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.source), nil }

// String is the expression as it was written.
func (p Pattern) String() string { return p.source }

// IsZero reports whether no expression was given.
func (p Pattern) IsZero() bool { return p.compiled == nil }

// Regexp is the compiled expression; nil where none was given.
func (p Pattern) Regexp() *regexp.Regexp {
	if p.IsZero() {
		return nil
	}
	p.compiled.Do(func() {
		*p.re = regexp.MustCompile(p.source) // NewPattern has parsed it
	})
	return *p.re
}

// Match reports whether the expression matches somewhere in s; no expression
// matches nothing.
func (p Pattern) Match(s string) bool {
	re := p.Regexp()
	return re != nil && re.MatchString(s)
}
