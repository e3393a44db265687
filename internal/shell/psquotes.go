package shell

import (
	"strings"
	"unicode/utf8"
)

// PowerShell takes the quotes of a typesetter for its own, each for any other of
// its kind, and their dashes for the one before a parameter: rm –Recurse “a b” is
// a command that mail programs and web pages make of a plain one. Facts: the
// language specification of PowerShell 3.0, §2.3.5.2 and §2.2.2, which 7.4 follows.

// psQuote tells what kind of quote begins text (' or ", 0 for none) and its bytes.
func psQuote(text string) (kind byte, size int) {
	switch r, n := utf8.DecodeRuneInString(text); r {
	case '\'', '‘', '’', '‚', '‛':
		return '\'', n
	case '"', '“', '”', '„':
		return '"', n
	}
	return 0, 0
}

// plainQuotes returns text with the quotes and dashes that count as such in ASCII.
// What is inside strings, here-strings and comments stays.
func (w *walker) plainQuotes(text string) string {
	if !strings.Contains(text, "\xe2\x80") { // all of them begin so
		return text
	}
	q := quotes{w: w, text: text}
	q.code(0)
	return q.out.String()
}

type quotes struct {
	w    *walker
	text string
	i    int
	out  strings.Builder
	// charged is up to where the work is counted.
	charged int
	// open tells for each kind of quote that no here-string ends from here on.
	open [2]bool
}

// copy moves n bytes over, at most all.
func (q *quotes) copy(n int) {
	end := min(q.i+n, len(q.text))
	q.out.WriteString(q.text[q.i:end])
	q.i = end
}

// charge counts the work on the way, so that a time limit holds in the middle.
func (q *quotes) charge() {
	if n := q.i - q.charged; n >= 1024 {
		q.w.step(n / 32)
		q.charged = q.i
	}
}

// replace writes a byte for n of the text.
func (q *quotes) replace(by byte, n int) {
	q.out.WriteByte(by)
	q.i += n
}

// code reads up to the end, or inside strings up to the bracket that ends the
// subexpression. around counts those around it.
func (q *quotes) code(around int) {
	if around > q.w.lim.Depth {
		q.w.fail("depth", q.w.lim.Depth)
	}
	depth := 0
	for begins := true; q.i < len(q.text) && !q.w.over; {
		rest := q.text[q.i:]
		q.charge()
		kind, n := psQuote(rest)
		switch {
		case kind != 0:
			q.replace(kind, n)
			q.str(kind, around)
			begins = false
			continue
		case rest[0] == '@' && q.hereString():
			continue
		case strings.HasPrefix(rest, "<#"):
			if end := strings.Index(rest, "#>"); end >= 0 {
				q.copy(end + 2)
			} else {
				q.copy(len(rest))
			}
			continue
		case rest[0] == '#' && begins:
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				q.copy(end)
			} else {
				q.copy(len(rest))
			}
			continue
		case rest[0] == '`':
			q.copy(2)
			begins = false
			continue
		case begins && (strings.HasPrefix(rest, "–") || strings.HasPrefix(rest, "—") || strings.HasPrefix(rest, "―")):
			q.replace('-', len("–"))
			begins = false
			continue
		case rest[0] == '(':
			depth++
		case rest[0] == ')':
			if depth--; around > 0 && depth <= 0 {
				q.copy(1)
				return
			}
		}
		begins = strings.IndexByte(" \t\r\n;({|&,", rest[0]) >= 0
		q.copy(1)
	}
}

// str reads a string from behind its opening quote to behind the closing one. Two
// quotes of its kind are one of its text.
func (q *quotes) str(kind byte, around int) {
	for q.w.step(1); q.i < len(q.text) && !q.w.over; {
		rest := q.text[q.i:]
		q.charge()
		switch k, n := psQuote(rest); {
		case k == kind:
			q.replace(kind, n)
			if k, n := psQuote(q.text[q.i:]); k == kind {
				q.replace(kind, n)
				continue
			}
			return
		case kind == '"' && rest[0] == '`':
			_, n := utf8.DecodeRuneInString(rest[1:])
			q.copy(1 + n)
		case kind == '"' && strings.HasPrefix(rest, "$("):
			q.copy(1)
			q.code(around + 1)
		default:
			q.copy(1)
		}
	}
}

// hereString reads a here-string, if there is one. What was looked through for an
// end in vain is not looked through again: text of many openings costs its length.
func (q *quotes) hereString() bool {
	rest := q.text[q.i:]
	kind, n := psQuote(rest[1:])
	nl := 1 + n
	for nl < len(rest) && (rest[nl] == ' ' || rest[nl] == '\t' || rest[nl] == '\r') {
		nl++
	}
	if kind == 0 || nl >= len(rest) || rest[nl] != '\n' {
		return false
	}
	open := &q.open[0]
	if kind == '"' {
		open = &q.open[1]
	}
	for at := nl; !*open && q.w.step(1); {
		if k, m := psQuote(rest[at+1:]); k == kind && strings.HasPrefix(rest[at+1+m:], "@") {
			q.copy(1)
			q.replace(kind, n)
			q.copy(at - n) // its lines, with the one before the last quote
			q.replace(kind, m)
			q.copy(1)
			return true
		}
		next := strings.IndexByte(rest[at+1:], '\n')
		*open = next < 0
		at += 1 + next
	}
	return false
}
