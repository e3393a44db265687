// Package redact keeps secrets out of what a model reads and out of what it sends.
// In comes a tool's output or input as the client's JSON, out goes the same JSON with
// every secret inside its strings replaced by "[redacted:RULE]" and not one other byte
// changed, or a refusal where that cannot be done. It knows secrets by the look their
// issuers gave them (tokens.go), by what stands around them (contexts.go), and by
// regular expressions that a person or a published ruleset brings (ruleset.go). It
// never prints, logs or keeps what it found: only rules and counts leave it.
package redact

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"strings"

	"github.com/lidguard-go/lidguard/internal/policy"
)

// Name is the pack's name.
const Name = "redact"

// Outbound says what becomes of a secret that a call would send away.
type Outbound string

// The choices; the zero value is MaskOutbound.
const (
	// MaskOutbound masks where the call still means the same, and denies elsewhere.
	MaskOutbound Outbound = "mask"
	DenyOutbound Outbound = "deny"
	AskOutbound  Outbound = "ask"
	OffOutbound  Outbound = "off"
)

// UnmarshalText reads a choice.
func (o *Outbound) UnmarshalText(text []byte) error {
	switch v := Outbound(text); v {
	case MaskOutbound, DenyOutbound, AskOutbound, OffOutbound:
		*o = v
		return nil
	}
	return fmt.Errorf("outbound is \"mask\", \"deny\", \"ask\" or \"off\", not %q", text)
}

// Unmasked says what happens where a secret is in an output that cannot be masked.
type Unmasked string

// The choices; the zero value is BlockUnmasked.
const (
	// BlockUnmasked takes the output away where the client can do that, and ends
	// the turn before the model reads it where only that helps.
	BlockUnmasked Unmasked = "block"
	// WarnUnmasked tells model and person, and goes on.
	WarnUnmasked Unmasked = "warn"
)

// UnmarshalText reads a choice.
func (u *Unmasked) UnmarshalText(text []byte) error {
	switch v := Unmasked(text); v {
	case BlockUnmasked, WarnUnmasked:
		*u = v
		return nil
	}
	return fmt.Errorf("unknown_shape is \"block\" or \"warn\", not %q", text)
}

// Config is the rulebook's section.
type Config struct {
	// Off are ids of rules that do not count.
	Off []string `toml:"off"`
	// Allow are values that are no secrets: the value itself, or /a regular
	// expression/ for all of it.
	Allow        []Allowed `toml:"allow"`
	Outbound     Outbound  `toml:"outbound"`
	UnknownShape Unmasked  `toml:"unknown_shape"`
	Rules        []Rule    `toml:"rule"`
}

// Allowed is a value that is no secret.
type Allowed struct {
	exact   string
	pattern policy.Pattern
}

// UnmarshalText reads one.
func (a *Allowed) UnmarshalText(text []byte) (err error) {
	s := string(text)
	if len(s) > 2 && s[0] == '/' && s[len(s)-1] == '/' {
		a.pattern, err = policy.NewPattern("^(?:" + s[1:len(s)-1] + ")$")
		return err
	}
	if s == "" {
		return fmt.Errorf("an allowed value cannot be empty")
	}
	a.exact = s
	return nil
}

// Rule is a person's own kind of secret.
type Rule struct {
	ID string `toml:"id"`
	// Pattern finds it; of its groups the first that takes part is the secret, or
	// all of the match where there is none.
	Pattern policy.Pattern `toml:"pattern"`
	// Entropy is what a secret must have at least, in bits for each character; 0 asks
	// for none.
	Entropy float64 `toml:"entropy"`
	// Mask and Keep are its twins: texts that hold such a secret, and texts that look
	// alike and hold none. `hooks audit` wants both.
	Mask []string `toml:"mask"`
	Keep []string `toml:"keep"`
}

// Check reports what is wrong with a section beyond its form: rules without a name, of
// a name that is taken, or without a pattern; names that no rule has.
func (c *Config) Check() error {
	if len(c.Rules) == 0 {
		return nil // a hook need not list the built-in ones
	}
	known := map[string]bool{}
	for _, id := range RuleIDs() {
		known[id] = true
	}
	for i, r := range c.Rules {
		switch {
		case r.ID == "" || strings.ContainsAny(r.ID, " []\"\\\n\t"):
			return fmt.Errorf("rule %d of [redact] needs an id, a word of letters, digits and dashes", i+1)
		case known[r.ID]:
			return fmt.Errorf("there is a rule %q in [redact] already", r.ID)
		case r.Pattern.IsZero():
			return fmt.Errorf("rule %q of [redact] needs a pattern", r.ID)
		case r.Pattern.Regexp().MatchString(""):
			return fmt.Errorf("rule %q of [redact] matches the empty text", r.ID)
		}
		known[r.ID] = true
	}
	return nil
}

// RuleIDs lists the built-in rules.
func RuleIDs() []string {
	var ids []string
	for i := range tokens {
		ids = append(ids, tokens[i].id)
	}
	for i := range finders {
		if finders[i].id != "assigned" {
			ids = append(ids, finders[i].id)
		}
	}
	for _, kind := range []nameKind{kindPassword, kindSecret, kindToken, kindKey, kindAuth} {
		ids = append(ids, "assigned-"+string(kind), "env-"+string(kind))
	}
	ids = append(ids, "aws-secret-access-key", "base64-secret")
	sort.Strings(ids)
	return slices.Compact(ids)
}

// Engine finds and masks secrets. It may be used for any number of texts, by one
// goroutine at a time.
type Engine struct {
	index   *index
	class   [256]class
	regexps []regexpRule
	off     map[string]bool
	allow   []Allowed
}

// regexpRule is a rule of a person or of a published ruleset.
type regexpRule struct {
	id      string
	words   []string // lower case; none: the whole text is searched
	re      lazy
	group   int
	entropy float64
	own     excuses
	common  *excuses // of its whole set; nil: none

	rest string // what open has not read yet
}

// NewEngine makes an engine of a section and, where there is one, a ruleset.
func NewEngine(c *Config, extra *Ruleset) *Engine {
	e := &Engine{index: newIndex(), off: map[string]bool{}, allow: c.Allow}
	for i := range e.class {
		e.class[i] = classOf(byte(i))
	}
	for _, id := range c.Off {
		e.off[id] = true
	}
	for i := range tokens {
		for n, w := range tokens[i].words {
			low := strings.ToLower(w)
			// Words that differ in case alone are one keyword.
			if !slices.ContainsFunc(tokens[i].words[:n], func(o string) bool { return strings.ToLower(o) == low }) {
				e.index.add(low, i)
			}
		}
	}
	for i, f := range finders {
		for _, w := range f.words {
			e.index.add(w, len(tokens)+i)
		}
	}
	for _, r := range c.Rules {
		e.regexps = append(e.regexps, regexpRule{id: r.ID, words: required(r.Pattern.String()), re: lazy{source: r.Pattern.String()}, entropy: r.Entropy})
	}
	if extra != nil {
		e.regexps = append(e.regexps, extra.rules...)
	}
	for i := range e.regexps {
		r := &e.regexps[i]
		if e.off[r.id] {
			r.words = []string{""} // it is never asked
			continue
		}
		for _, w := range r.words {
			e.index.add(w, len(tokens)+len(finders)+i)
		}
	}
	return e
}

func (e *Engine) allowed(value []byte) bool {
	for _, a := range e.allow {
		if a.exact != "" && a.exact == string(value) || a.exact == "" && a.pattern.Match(string(value)) {
			return true
		}
	}
	return false
}

// lazy is an expression that is neither read nor compiled before a text needs it: of a
// ruleset's hundreds a hook needs few.
type lazy struct {
	source   string
	compiled *regexp.Regexp
	tried    bool
}

// get is the compiled expression; nil where it is none, which those who wrote it have
// made sure of (policy.Pattern, FormatRuleset).
func (l *lazy) get() *regexp.Regexp {
	if !l.tried && l.source != "" {
		l.tried = true
		l.compiled, _ = regexp.Compile(l.source)
	}
	return l.compiled
}

// excused tells a match that its rule itself does not mean.
func (r *regexpRule) excused(value, match []byte) bool {
	return r.entropy > 0 && entropy(value) < r.entropy || standIn(value) || r.own.fit(value, match) || r.common.fit(value, match)
}

func (x *excuses) fit(value, match []byte) bool {
	if x == nil {
		return false
	}
	for i := range x.allow {
		if re := x.allow[i].get(); re != nil && (re.Match(value) || re.Match(match)) {
			return true
		}
	}
	if len(x.stop) > 0 {
		low := strings.ToLower(string(value))
		for _, w := range x.stop {
			if strings.Contains(low, w) {
				return true
			}
		}
	}
	return false
}

// required are texts of which every match of an expression holds one, in small
// letters; nil where there is none of three bytes or more.
func required(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return literals(re.Simplify())
}

func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		s := strings.ToLower(string(re.Rune))
		for _, r := range re.Rune {
			if r >= 0x80 {
				return nil // letters that fold into more than one
			}
		}
		// K and S have siblings outside ASCII, which only matter without case.
		if re.Flags&syntax.FoldCase != 0 && strings.ContainsAny(s, "ks") {
			longest := ""
			for _, piece := range strings.FieldsFunc(s, func(r rune) bool { return r == 'k' || r == 's' }) {
				if len(piece) > len(longest) {
					longest = piece
				}
			}
			s = longest
		}
		if len(s) < minKeyword {
			return nil
		}
		return []string{s}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literals(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if l := literals(sub); l != nil && (best == nil || shortest(l) > shortest(best)) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			l := literals(sub)
			if l == nil {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

func shortest(list []string) int {
	n := len(list[0])
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}
