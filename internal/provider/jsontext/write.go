package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Writer builds one JSON object member by member, in the order of the calls. The
// zero value is an empty object. It escapes, it does not validate what Raw is
// given: a codec checks its finished answer against a Shape.
type Writer struct{ buf []byte }

func (w *Writer) key(key string) {
	if len(w.buf) == 0 {
		w.buf = append(w.buf, '{')
	} else {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(AppendString(w.buf, key), ':')
}

// Text adds a string that a model or a person will read: Clean is applied.
func (w *Writer) Text(key, text string) { w.String(key, Clean(text)) }

// String adds a string as it is.
func (w *Writer) String(key, text string) {
	w.key(key)
	w.buf = AppendString(w.buf, text)
}

// Bool adds true or false.
func (w *Writer) Bool(key string, value bool) {
	w.key(key)
	if value {
		w.buf = append(w.buf, "true"...)
	} else {
		w.buf = append(w.buf, "false"...)
	}
}

// Raw adds a value that is JSON text already. Line ends between its tokens go, so
// that the object stays one line, and broken UTF-8 becomes U+FFFD.
func (w *Writer) Raw(key string, value []byte) {
	w.key(key)
	if bytes.ContainsAny(value, "\n\r") {
		var one bytes.Buffer
		if json.Compact(&one, value) == nil {
			value = one.Bytes()
		}
	}
	w.buf = append(w.buf, bytes.ToValidUTF8(value, []byte("\uFFFD"))...)
}

// Strings adds an array of strings.
func (w *Writer) Strings(key string, values []string) {
	w.key(key)
	w.buf = append(w.buf, '[')
	for i, v := range values {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = AppendString(w.buf, v)
	}
	w.buf = append(w.buf, ']')
}

// Object adds what inner holds.
func (w *Writer) Object(key string, inner *Writer) { w.Raw(key, inner.Bytes()) }

// Empty reports whether nothing was added yet.
func (w *Writer) Empty() bool { return len(w.buf) == 0 }

// Bytes returns the object's text. The Writer may be added to afterwards.
func (w *Writer) Bytes() []byte {
	if len(w.buf) == 0 {
		return []byte("{}")
	}
	return append(w.buf[:len(w.buf):len(w.buf)], '}')
}

// AppendString appends text as a JSON string. Broken UTF-8 becomes U+FFFD.
func AppendString(dst []byte, text string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(text[i:])
			// U+2028 and U+2029 end a line in old JavaScript.
			if r == '\u2028' || r == '\u2029' {
				dst = append(dst, `\u202`...)
				dst = append(dst, hex[r&0xF])
			} else {
				dst = utf8.AppendRune(dst, r)
			}
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c < 0x20 || c == 0x7F:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}

// Clean makes foreign text fit for a model or a terminal: control characters go
// (line feed and tab stay, CR LF becomes LF), so do the marks that reorder text
// on a screen, and broken UTF-8 becomes U+FFFD. It is idempotent.
func Clean(text string) string {
	clean := true
	for _, r := range text {
		if r == utf8.RuneError || unwanted(r) {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unwanted(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func unwanted(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, 0x7F <= r && r <= 0x9F: // C0, DEL, C1
		return true
	case 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return true // they show a text in another order than the one that runs
	}
	return false
}
