package census

import (
	"fmt"
	"regexp"
	"strings"
)

// Law is how a client compares a matcher with a value.
type Law string

// The laws.
const (
	// Ignored: the event takes no matcher, and one that is there changes nothing.
	Ignored Law = "no matcher"
	// ListOrRegex is Claude Code's: with only letters, digits, _ - , | and blanks it
	// is a list of whole names, else a JavaScript regular expression that may match
	// anywhere in the value. Case counts.
	ListOrRegex Law = "list of whole names, or else an unanchored JavaScript regexp"
	// NarrowList is the same with a list of letters, digits, _ and | alone.
	NarrowList Law = "list of whole names (letters, digits, _ and |), or else an unanchored JavaScript regexp"
	// FileNames is a list of names, split at |, taken literally.
	FileNames Law = "file names, literal, split at |"
	// WordsOrRegex is Codex's: words joined by | are whole names, anything else is
	// a regular expression that may match anywhere (Rust's syntax). Case counts.
	WordsOrRegex Law = "whole names joined by |, or else an unanchored regexp (Rust)"
	// FullRegex is Copilot's: a regular expression that must match the whole value;
	// empty and * are errors that drop the entry.
	FullRegex Law = "regexp (JavaScript) that matches the whole value"
	// InPlugin: there is no matcher in a config, the plugin's code decides.
	InPlugin Law = "none: the plugin decides"
	// Untested: a matcher may count, and how was not found out.
	Untested Law = "not found out"
)

// Reading is what a client makes of one matcher.
type Reading struct {
	All     bool     // everything matches
	Ignored bool     // the matcher does not count
	Names   []string // whole names, when it is a list
	Pattern string   // the regular expression, when it is one
	Full    bool     // Pattern must match the whole value
	// Fault says why the matcher matches nothing, or drops its entry.
	Fault string
	// Loose is set when Matches may say yes too often: the pattern has parts
	// (looking ahead or behind, back references) that were taken to always match.
	Loose bool

	expr, whole *regexp.Regexp
}

// Read returns what a client with this law makes of a matcher. An absent matcher
// is the empty one, except with FullRegex, where it is not the same.
func (l Law) Read(matcher string) Reading {
	switch l {
	case Ignored, InPlugin:
		return Reading{All: true, Ignored: true}
	case Untested:
		return Reading{All: true}
	case FileNames:
		if matcher == "" {
			return Reading{All: true}
		}
		return Reading{Names: strings.Split(matcher, "|")}
	case FullRegex:
		switch matcher {
		case "":
			return Reading{Fault: "an empty matcher is an error; leave it out"}
		case "*":
			return Reading{Fault: "* is no regular expression; use .* or leave it out"}
		}
		return javaScript(matcher, true)
	}
	if matcher == "" || matcher == "*" {
		return Reading{All: true}
	}
	switch l {
	case ListOrRegex:
		if only(matcher, "_-,| ") {
			return list(matcher, "|,")
		}
	case NarrowList:
		if only(matcher, "_|") {
			return list(matcher, "|")
		}
	case WordsOrRegex:
		if only(matcher, "_-|") {
			return list(matcher, "|")
		}
		expr, err := regexp.Compile(matcher)
		if err != nil {
			return Reading{Pattern: matcher, Fault: faultOf(err)}
		}
		return Reading{Pattern: matcher, expr: expr, whole: between(expr)}
	}
	return javaScript(matcher, false)
}

// Matches reports whether the client takes value for a match.
func (r Reading) Matches(value string) bool {
	switch {
	case r.All:
		return true
	case r.Fault != "":
		return false
	case r.expr != nil:
		return r.expr.MatchString(value)
	}
	for _, name := range r.Names {
		if name == value {
			return true
		}
	}
	return false
}

// Whole reports whether the pattern, put between ^ and $, still matches value. It
// is what Matches says for anything but an unanchored pattern.
func (r Reading) Whole(value string) bool {
	if r.expr == nil || r.Full {
		return r.Matches(value)
	}
	return r.whole != nil && r.whole.MatchString(value)
}

// only reports whether s has letters, digits and the characters of more alone.
func only(s, more string) bool {
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.ContainsRune(more, c):
		default:
			return false
		}
	}
	return true
}

func list(matcher, separators string) Reading {
	var names []string
	for name := range strings.FieldsFuncSeq(matcher, func(c rune) bool { return strings.ContainsRune(separators, c) }) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return Reading{Names: names}
}

func faultOf(err error) string {
	return strings.TrimPrefix(err.Error(), "error parsing regexp: ")
}

// javaScript reads a regular expression in JavaScript's syntax (without flags).
func javaScript(pattern string, full bool) Reading {
	r := Reading{Pattern: pattern, Full: full}
	text, loose, err := translate(pattern)
	if err != nil {
		r.Fault = err.Error()
		return r
	}
	if full {
		text = "^(?:" + text + ")$"
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		r.Fault = faultOf(err)
		return r
	}
	r.expr, r.Loose = expr, loose
	if !full {
		r.whole = between(expr)
	}
	return r
}

// between is expr between ^ and $; nil where that is too large.
func between(expr *regexp.Regexp) *regexp.Regexp {
	whole, err := regexp.Compile("^(?:" + expr.String() + ")$")
	if err != nil {
		return nil
	}
	return whole
}

// translate writes a JavaScript pattern in Go's syntax. What Go has no words for
// becomes something that matches at least as much, and loose is true.
func translate(p string) (out string, loose bool, err error) {
	var b strings.Builder
	for i := 0; i < len(p); {
		switch c := p[i]; {
		case c == '\\':
			text, n, maybe, err := escape(p[i:], false)
			if err != nil {
				return "", false, err
			}
			b.WriteString(text)
			i, loose = i+n, loose || maybe
		case c == '[':
			text, n, err := class(p[i:])
			if err != nil {
				return "", false, err
			}
			b.WriteString(text)
			i += n
		case strings.HasPrefix(p[i:], "(?"):
			rest := p[i+2:]
			switch {
			case strings.HasPrefix(rest, ":"):
				b.WriteString("(?:")
				i += 3
			case strings.HasPrefix(rest, "="), strings.HasPrefix(rest, "!"), strings.HasPrefix(rest, "<="), strings.HasPrefix(rest, "<!"):
				n := groupEnd(p[i:])
				if n < 0 {
					return "", false, fmt.Errorf("a group is not closed")
				}
				b.WriteString("(?:)")
				i, loose = i+n, true
			case strings.HasPrefix(rest, "<"):
				name, _, ok := strings.Cut(rest[1:], ">")
				if !ok || name == "" || !only(name, "_$") {
					return "", false, fmt.Errorf("a group's name is not closed")
				}
				b.WriteString("(")
				i += 2 + len(name) + 2
			default:
				return "", false, fmt.Errorf("JavaScript has no %q here", p[i:min(i+4, len(p))])
			}
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), loose, nil
}

// escape translates the escape that p begins with; n bytes of p are used.
func escape(p string, inClass bool) (text string, n int, loose bool, err error) {
	if len(p) < 2 {
		return "", 0, false, fmt.Errorf("a backslash at the end")
	}
	switch c := p[1]; {
	case strings.IndexByte("dDwWsSnrtfv", c) >= 0, c == 'b' && !inClass, c == 'B' && !inClass:
		return p[:2], 2, false, nil
	case c == '0':
		return `\x00`, 2, false, nil
	case '1' <= c && c <= '9', c == 'k' && strings.HasPrefix(p[2:], "<"):
		n = 2
		if c == 'k' {
			if end := strings.IndexByte(p, '>'); end > 0 {
				n = end + 1
			}
		}
		return "(?s:.*)", n, true, nil
	case c == 'x' && hex(p[2:], 2):
		return `\x{` + p[2:4] + "}", 4, false, nil
	case c == 'u' && hex(p[2:], 4):
		return `\x{` + p[2:6] + "}", 6, false, nil
	case c < 0x80:
		return regexp.QuoteMeta(string(c)), 2, false, nil
	}
	return "", 1, false, nil // a letter beyond ASCII stands for itself
}

func hex(s string, n int) bool {
	if len(s) < n {
		return false
	}
	for _, c := range s[:n] {
		if !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}

// class translates the character class that p begins with.
func class(p string) (text string, n int, err error) {
	switch {
	case strings.HasPrefix(p, "[^]"):
		return `[\s\S]`, 3, nil
	case strings.HasPrefix(p, "[]"):
		return `[^\s\S]`, 2, nil
	}
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if strings.HasPrefix(p[1:], "^") {
		b.WriteByte('^')
		i = 2
	}
	for i < len(p) {
		switch p[i] {
		case ']':
			b.WriteByte(']')
			return b.String(), i + 1, nil
		case '[':
			b.WriteString(`\[`)
			i++
		case '\\':
			text, n, loose, err := escape(p[i:], true)
			switch {
			case err != nil:
				return "", 0, err
			case loose: // a digit, in a class
				text = regexp.QuoteMeta(p[i+1 : i+2])
				n = 2
			case text == "-":
				text = `\-`
			}
			b.WriteString(text)
			i += n
		default:
			b.WriteByte(p[i])
			i++
		}
	}
	return "", 0, fmt.Errorf("a [ is not closed")
}

// groupEnd returns how long the group is that p begins with, -1 if it never ends.
func groupEnd(p string) int {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			for i++; i < len(p) && p[i] != ']'; i++ {
				if p[i] == '\\' {
					i++
				}
			}
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
