// Package jsontext reads and writes JSON text without reflection. In come the
// bytes of one value, out go its members one by one as slices of those bytes, or
// a new text built member by member. It is the mechanics under the provider
// codecs, in a process that lives a few milliseconds and may be handed megabytes
// of tool output it does not care about: one pass, no copy, nothing built at
// start. It knows no client; the words of each client stay in its own package.
package jsontext

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds nesting, so that a hostile payload cannot exhaust the stack.
// Clients send fewer than ten levels; a tool's JSON may have some dozens.
const maxDepth = 512

// ErrNotObject means that the text is well formed JSON's beginning of something
// else than an object.
var ErrNotObject = errors.New("not a JSON object")

// ErrNotArray is ErrNotObject's sibling for Array.
var ErrNotArray = errors.New("not a JSON array")

// Object walks the members of the object in data in one pass and hands each to
// visit: the key without its quotes (escapes resolved) and the value's text as
// it stands in data. Members seen twice are handed over twice, so that a caller
// who stores them lets the last one win, as the clients do. When visit returns
// false the walk ends there and the rest of data is not looked at.
//
// The whole text is checked against RFC 8259 on the way, nested values included,
// except that broken UTF-8 passes; a byte-order mark in front is skipped. Members
// handed over before an error was met are good, so a caller may use them to judge
// a text that was cut.
func Object(data []byte, visit func(key, value []byte) bool) error {
	s := scanner{data: data}
	i := s.space(s.mark())
	if i >= len(data) || data[i] != '{' {
		if i >= len(data) {
			return fmt.Errorf("JSON text ends at byte %d", i)
		}
		return ErrNotObject
	}
	i = s.space(i + 1)
	if i < len(data) && data[i] == '}' {
		return s.end(i + 1)
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return s.fail(i)
		}
		keyEnd := s.str(i)
		if keyEnd < 0 {
			return s.fail(-keyEnd)
		}
		key := data[i+1 : keyEnd-1]
		for _, c := range key {
			if c == '\\' {
				text, _ := String(data[i:keyEnd])
				key = []byte(text)
				break
			}
		}
		i = s.space(keyEnd)
		if i >= len(data) || data[i] != ':' {
			return s.fail(i)
		}
		i = s.space(i + 1)
		valueEnd := s.value(i, 1)
		if valueEnd < 0 {
			return s.fail(-valueEnd)
		}
		if !visit(key, data[i:valueEnd]) {
			return nil
		}
		i = s.space(valueEnd)
		if i < len(data) && data[i] == '}' {
			return s.end(i + 1)
		}
		if i >= len(data) || data[i] != ',' {
			return s.fail(i)
		}
		i = s.space(i + 1)
	}
}

// Array walks the elements of the array in data like Object does members.
func Array(data []byte, visit func(value []byte) bool) error {
	s := scanner{data: data}
	i := s.space(0)
	if i >= len(data) || data[i] != '[' {
		return ErrNotArray
	}
	i = s.space(i + 1)
	if i < len(data) && data[i] == ']' {
		return s.end(i + 1)
	}
	for {
		valueEnd := s.value(i, 1)
		if valueEnd < 0 {
			return s.fail(-valueEnd)
		}
		if !visit(data[i:valueEnd]) {
			return nil
		}
		i = s.space(valueEnd)
		if i < len(data) && data[i] == ']' {
			return s.end(i + 1)
		}
		if i >= len(data) || data[i] != ',' {
			return s.fail(i)
		}
		i = s.space(i + 1)
	}
}

// Valid reports whether data is one well formed JSON value and nothing else.
func Valid(data []byte) bool {
	s := scanner{data: data}
	end := s.value(s.space(0), 1)
	return end > 0 && s.space(end) == len(data)
}

// Kind names what a value's text begins: "object", "array", "string", "bool",
// "null", "number", or "" for no value at all.
func Kind(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

// String returns the text of a JSON string, and false when value is something
// else (null included). Broken UTF-8 and lone surrogates become U+FFFD.
func String(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return "", false
	}
	body := value[1 : len(value)-1]
	first := -1
	for i, c := range body {
		if c == '\\' {
			first = i
			break
		}
	}
	if first < 0 {
		return strings.ToValidUTF8(string(body), "\uFFFD"), true
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); {
		c := body[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		if i+1 >= len(body) {
			return "", false
		}
		switch c = body[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(body[i+2:])
			if !ok {
				return "", false
			}
			i += 6
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+1 < len(body) && body[i] == '\\' && body[i+1] == 'u' {
					low, ok = hex4(body[i+2:])
				}
				if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
					r, i = pair, i+6
				} else {
					r = utf8.RuneError
				}
			}
			out = utf8.AppendRune(out, r)
			continue
		default: // '"', '\\' and '/', the scanner lets nothing else through
			out = append(out, c)
		}
		i += 2
	}
	return strings.ToValidUTF8(string(out), "\uFFFD"), true
}

// True reports whether value is the literal true.
func True(value []byte) bool { return string(value) == "true" }

// Int returns a whole number, and false when value is anything else.
func Int(value []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	return n, err == nil
}

// Member returns the text of the member key of the object in data, or nil when
// there is none or data is no object. It stops at the first such member.
func Member(data []byte, key string) []byte {
	var found []byte
	err := Object(data, func(k, v []byte) bool {
		if string(k) == key {
			found = v
			return false
		}
		return true
	})
	if err != nil {
		return nil
	}
	return found
}

// Text returns the text of the string member key, or "".
func Text(data []byte, key string) string {
	text, _ := String(Member(data, key))
	return text
}

// scanner checks one text. Its methods take the offset where a thing begins and
// return the offset behind it, or minus the offset of the fault.
type scanner struct{ data []byte }

func (s *scanner) fail(i int) error {
	if i >= len(s.data) {
		return fmt.Errorf("JSON text ends at byte %d", len(s.data))
	}
	return fmt.Errorf("invalid JSON at byte %d", i)
}

func (s *scanner) end(i int) error {
	if i = s.space(i); i != len(s.data) {
		return fmt.Errorf("text after the JSON value at byte %d", i)
	}
	return nil
}

// mark skips the byte-order mark that some editors and shells put in front.
func (s *scanner) mark() int {
	if len(s.data) >= 3 && s.data[0] == 0xEF && s.data[1] == 0xBB && s.data[2] == 0xBF {
		return 3
	}
	return 0
}

func (s *scanner) space(i int) int {
	for i < len(s.data) {
		switch s.data[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// str scans a string whose opening quote is at i. Most bytes of a big payload
// are inside strings, so this loop is the cost of decoding: it looks at eight
// bytes at once for one that matters.
func (s *scanner) str(i int) int {
	data := s.data
	for i++; ; i++ {
		i = plain(data, i)
		if i >= len(data) {
			return -len(data)
		}
		switch data[i] {
		case '"':
			return i + 1
		case '\\':
			i++
			if i >= len(data) {
				return -len(data)
			}
			switch data[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := hex4(data[i+1:]); !ok {
					return -i
				}
				i += 4
			default:
				return -i
			}
		default:
			return -i
		}
	}
}

// plain returns the offset of the next quote, backslash or control character at
// or after i, or len(data).
func plain(data []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		// Each term has the high bit of a byte set where that byte is zero or
		// less than a space; a borrow can only spoil bytes above the first hit.
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return i
}

// value scans any value that begins at i.
func (s *scanner) value(i, depth int) int {
	data := s.data
	if i >= len(data) {
		return -len(data)
	}
	switch c := data[i]; {
	case c == '"':
		return s.str(i)
	case c == '{' || c == '[':
		return s.nested(i, depth)
	case c == 't':
		return s.word(i, "true")
	case c == 'f':
		return s.word(i, "false")
	case c == 'n':
		return s.word(i, "null")
	case c == '-' || '0' <= c && c <= '9':
		return s.number(i)
	}
	return -i
}

func (s *scanner) nested(i, depth int) int {
	if depth > maxDepth {
		return -i
	}
	data := s.data
	object := data[i] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	i = s.space(i + 1)
	if i < len(data) && data[i] == closing {
		return i + 1
	}
	for {
		if object {
			if i >= len(data) || data[i] != '"' {
				return -i
			}
			if i = s.str(i); i < 0 {
				return i
			}
			if i = s.space(i); i >= len(data) || data[i] != ':' {
				return -i
			}
			i = s.space(i + 1)
		}
		if i = s.value(i, depth+1); i < 0 {
			return i
		}
		i = s.space(i)
		if i < len(data) && data[i] == closing {
			return i + 1
		}
		if i >= len(data) || data[i] != ',' {
			return -i
		}
		i = s.space(i + 1)
	}
}

func (s *scanner) word(i int, word string) int {
	if len(s.data)-i < len(word) {
		return -len(s.data)
	}
	if string(s.data[i:i+len(word)]) != word {
		return -i
	}
	return i + len(word)
}

func (s *scanner) number(i int) int {
	digits := func() bool {
		start := i
		for i < len(s.data) && '0' <= s.data[i] && s.data[i] <= '9' {
			i++
		}
		return i > start
	}
	at := func(c byte) bool { return i < len(s.data) && s.data[i] == c }
	if at('-') {
		i++
	}
	if at('0') {
		i++
	} else if !digits() {
		return -i
	}
	if at('.') {
		i++
		if !digits() {
			return -i
		}
	}
	if at('e') || at('E') {
		i++
		if at('+') || at('-') {
			i++
		}
		if !digits() {
			return -i
		}
	}
	return i
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
