package redact

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"
)

// view is a text to search, made of another one by taking things out or resolving
// them, and the way back: every byte of it knows the bytes it was made of.
type view struct {
	text  []byte
	marks []mark
	parts []part
}

// mark says that from at on, the text stands at raw in what it was made of, byte by
// byte. A unit is one that does not: the bytes up to the next mark were made, as a
// whole, of everything up to the next mark's raw.
type mark struct {
	at, raw int32
	unit    bool
}

// part is one string of a JSON text, or one key of an object.
type part struct {
	from, to int32 // in the view
	key      bool
}

// span is a piece of a text, and the rule that found it.
type span struct {
	from, to int
	rule     string
}

// mark adds one, and drops it where it would say nothing new.
func (v *view) mark(raw int, unit bool) {
	v.marks = append(v.marks, mark{int32(len(v.text)), int32(raw), unit})
}

// back gives the bytes that the span from..to of the view was made of.
func (v *view) back(from, to int) (int, int) {
	if len(v.marks) == 0 {
		return from, to
	}
	// The last mark at or before a place. Where several stand at one place (what was
	// taken out leaves such), the last one counts.
	at := func(p int) int {
		return sort.Search(len(v.marks), func(i int) bool { return int(v.marks[i].at) > p }) - 1
	}
	i := at(from)
	m := v.marks[i]
	rawFrom := int(m.raw)
	if !m.unit {
		rawFrom += from - int(m.at)
	}
	j := at(to - 1)
	m = v.marks[j]
	if m.unit {
		return rawFrom, int(v.marks[j+1].raw)
	}
	return rawFrom, int(m.raw) + to - int(m.at)
}

// maxDepth bounds nesting: tools' outputs have some dozens of levels.
const maxDepth = 512

// reader walks a JSON text once and collects its strings.
type reader struct {
	data []byte
	v    *view
	keep bool // take the strings' text
}

// readJSON makes the view of a JSON value: all its strings in order, those of an
// array on lines of their own, those of an object as "key: value", so that a rule
// sees a name beside what it names and a key that is spread over lines as one.
// Numbers and words have no text. ok is false for what is no JSON value.
func readJSON(data []byte) (v *view, ok bool) {
	v = &view{text: make([]byte, 0, len(data))}
	r := reader{data: data, v: v, keep: true}
	i, ok := r.value(r.space(0), 0)
	if !ok || r.space(i) != len(data) {
		return nil, false
	}
	return v, true
}

func (r *reader) space(i int) int {
	for i < len(r.data) {
		switch r.data[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// value reads one value at i and returns the place behind it.
func (r *reader) value(i, depth int) (int, bool) {
	if i >= len(r.data) || depth > maxDepth {
		return i, false
	}
	switch c := r.data[i]; c {
	case '"':
		i, ok := r.str(i, false)
		r.gap("\n")
		return i, ok
	case '{', '[':
		return r.nested(i, depth)
	default:
		from := i
		for i < len(r.data) && strings.IndexByte(" \n\t\r,]}:\"{[", r.data[i]) < 0 {
			i++
		}
		return i, scalar(r.data[from:i])
	}
}

func (r *reader) nested(i, depth int) (int, bool) {
	object := r.data[i] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	i = r.space(i + 1)
	if i < len(r.data) && r.data[i] == closing {
		return i + 1, true
	}
	for {
		var ok bool
		if object {
			if i >= len(r.data) || r.data[i] != '"' {
				return i, false
			}
			if i, ok = r.str(i, true); !ok {
				return i, false
			}
			r.gap(": ")
			if i = r.space(i); i >= len(r.data) || r.data[i] != ':' {
				return i, false
			}
			i = r.space(i + 1)
		}
		if i, ok = r.value(i, depth+1); !ok {
			return i, false
		}
		i = r.space(i)
		if i >= len(r.data) {
			return i, false
		}
		switch r.data[i] {
		case closing:
			if object {
				r.gap("\n")
			}
			return i + 1, true
		case ',':
			i = r.space(i + 1)
		default:
			return i, false
		}
	}
}

// gap puts text between two strings that stands for nothing of the original.
func (r *reader) gap(text string) {
	if n := len(r.v.text); n > 0 && r.v.text[n-1] == '\n' && text == "\n" {
		return
	}
	r.v.text = append(r.v.text, text...)
}

// str reads the string whose quote is at i.
func (r *reader) str(i int, key bool) (int, bool) {
	v := r.v
	i++
	v.mark(i, false)
	from := len(v.text)
	for {
		n := i
		for n < len(r.data) && r.data[n] != '"' && r.data[n] != '\\' && r.data[n] >= 0x20 {
			n++
		}
		v.text = append(v.text, r.data[i:n]...)
		if n >= len(r.data) || r.data[n] < 0x20 {
			return n, false
		}
		if i = n; r.data[i] == '"' {
			v.parts = append(v.parts, part{int32(from), int32(len(v.text)), key})
			// What follows is a gap; this mark ends the string's last unit.
			v.mark(i, false)
			return i + 1, true
		}
		ch, width := escape(r.data[i:])
		if width == 0 {
			return i, false
		}
		v.mark(i, true)
		v.text = utf8.AppendRune(v.text, ch)
		i += width
		v.mark(i, false)
	}
}

// escape reads a JSON escape and returns what it stands for and its width, 0 for
// none. A surrogate without its other half stands for U+FFFD.
func escape(b []byte) (rune, int) {
	if len(b) < 2 || b[0] != '\\' {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return 0, 0
		}
		if r < 0xD800 || r > 0xDFFF {
			return r, 6
		}
		if r < 0xDC00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok && low >= 0xDC00 && low <= 0xDFFF {
				return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12
			}
		}
		return utf8.RuneError, 6
	}
	return 0, 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// scalar tells a number or one of the three words. What JSON forbids about numbers
// (leading zeros) is let through: their text is never touched.
func scalar(b []byte) bool {
	switch string(b) {
	case "true", "false", "null":
		return true
	case "":
		return false
	}
	for _, c := range b {
		if (c < '0' || c > '9') && strings.IndexByte("+-.eE", c) < 0 {
			return false
		}
	}
	return b[0] == '-' || '0' <= b[0] && b[0] <= '9'
}

// plain makes a second view of a text: colours of a terminal taken out, and the
// escapes resolved that a JSON text inside the text has (\u0041, \/). It is nil
// where there is neither. Marks lead back to the text.
func plain(text []byte) *view {
	if bytes.IndexByte(text, 0x1b) < 0 && !bytes.Contains(text, []byte(`\u`)) && !bytes.Contains(text, []byte(`\/`)) {
		return nil
	}
	v := &view{text: make([]byte, 0, len(text))}
	v.mark(0, false)
	for i := 0; i < len(text); {
		n := i
		for n < len(text) && text[n] != 0x1b && text[n] != '\\' {
			n++
		}
		v.text = append(v.text, text[i:n]...)
		if i = n; i >= len(text) {
			break
		}
		if text[i] == 0x1b {
			if w := sequence(text[i:]); w > 0 {
				i += w
				v.mark(i, false)
				continue
			}
		} else if i+1 < len(text) && (text[i+1] == 'u' || text[i+1] == '/') {
			if ch, w := escape(text[i:]); w > 0 {
				v.mark(i, true)
				v.text = utf8.AppendRune(v.text, ch)
				i += w
				v.mark(i, false)
				continue
			}
		}
		v.text = append(v.text, text[i])
		i++
	}
	v.mark(len(text), false)
	return v
}

// sequence is the width of the control sequence at the start of b (ECMA-48: CSI,
// parameters, a letter), 0 for none.
func sequence(b []byte) int {
	if len(b) < 3 || b[1] != '[' {
		return 0
	}
	for i := 2; i < len(b) && i < 32; i++ {
		switch c := b[i]; {
		case 0x40 <= c && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x3f:
			return 0
		}
	}
	return 0
}
