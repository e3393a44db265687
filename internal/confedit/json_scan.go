package confedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"
)

// maxDepth bounds nesting. The tree parser recurses once per level, so a file
// of brackets could otherwise exhaust the stack, which Go cannot recover from.
// encoding/json draws the same line.
const maxDepth = 10000

// scanJSON looks at the tokens once before the tree is built, for what the
// tree parser does not say: that there is no value at all, where a comment
// starts in a file that may not have one, and where an unclosed string or
// comment begins rather than ends.
func scanJSON(text []byte, mode Mode) (empty bool, err error) {
	empty = true
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '/':
			end, line, ok := commentEnd(text, i)
			if !ok {
				if bytes.HasPrefix(text[i:], []byte("/*")) {
					return false, syntaxErrorAt(text, i, "this comment is never closed")
				}
				return false, syntaxErrorAt(text, i, "a single / is not JSON")
			}
			if mode == Strict {
				return false, syntaxErrorAt(text, i, "a comment in a file that must be plain JSON")
			}
			if line {
				// Some readers end the comment at a lone carriage
				// return, others do not: what follows it is text to
				// one and data to the other.
				if cr := bytes.IndexByte(text[i:end], '\r'); cr >= 0 {
					return false, syntaxErrorAt(text, i+cr, "a carriage return without line feed in a comment")
				}
			}
			i = end
		case '"':
			empty = false
			end := i + 1
			for end < len(text) && text[end] != '"' && text[end] != '\n' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) || text[end] == '\n' {
				return false, syntaxErrorAt(text, i, "this string is not closed on its line")
			}
			i = end + 1
		case '{', '[':
			empty = false
			if depth++; depth > maxDepth {
				return false, syntaxErrorAt(text, i, "nested more than %d levels deep", maxDepth)
			}
			i++
		case '}', ']':
			empty = false
			depth--
			i++
		default:
			empty = false
			i++
		}
	}
	return empty, nil
}

// commentEnd returns the end of the comment that begins at text[i] and
// whether it runs to the end of the line. The line ending is not part of it.
func commentEnd(text []byte, i int) (end int, line, ok bool) {
	switch {
	case bytes.HasPrefix(text[i:], []byte("//")):
		end = len(text)
		if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
			end = i + n
			if text[end-1] == '\r' {
				end--
			}
		}
		return end, true, true
	case bytes.HasPrefix(text[i:], []byte("/*")):
		if n := bytes.Index(text[i+2:], []byte("*/")); n >= 0 {
			return i + 2 + n + 2, false, true
		}
	}
	return 0, false, false
}

// lastComment returns where the last comment in extra (whitespace and
// comments) ends, 0 if there is none, and whether it is a line comment.
func lastComment(extra []byte) (end int, line bool) {
	for i := 0; i < len(extra); {
		if extra[i] != '/' {
			i++
			continue
		}
		e, l, ok := commentEnd(extra, i)
		if !ok {
			return end, line
		}
		end, line, i = e, l, e
	}
	return end, line
}

// parseTree builds the tree of text, which must hold a value.
func parseTree(text []byte, mode Mode) (hujson.Value, error) {
	parsed := text
	if mode == Comments && len(text) > 0 && text[len(text)-1] != '\n' {
		// hujson wants a line ending after a comment on the last line,
		// readers of JSONC do not. Offsets stay the same.
		parsed = append(append(make([]byte, 0, len(text)+1), text...), '\n')
	}
	root, err := hujson.Parse(parsed)
	if err != nil {
		return root, jsonSyntaxError(text, err)
	}
	if mode == Strict {
		for v := range root.All() {
			if last := trailingComma(v); last != nil {
				return root, syntaxErrorAt(text, last.EndOffset+len(last.AfterExtra), "a trailing comma in a file that must be plain JSON")
			}
		}
	}
	return root, nil
}

// trailingComma returns the last value inside v if a comma follows it.
func trailingComma(v *hujson.Value) *hujson.Value {
	if c := containerOf(v); c != nil && c.len() > 0 && c.trailing {
		return c.value(c.len() - 1)
	}
	return nil
}

// jsonSyntaxError turns the parser's message into ours. It must not repeat
// literals: config files hold keys and tokens.
func jsonSyntaxError(text []byte, err error) error {
	var line, column int
	if n, _ := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); n != 2 {
		return syntaxErrorAt(text, 0, "the file is not JSON")
	}
	offset := 0
	for ; line > 1; line-- {
		offset += bytes.IndexByte(text[offset:], '\n') + 1
	}
	offset = min(offset+column-1, len(text))

	message := "the file is not JSON"
	if cause := errors.Unwrap(err); cause != nil {
		message = cause.Error()
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "the file ends in the middle of a value"
	case strings.HasPrefix(message, "invalid literal"):
		message = "this is neither a number nor true, false or null"
		if offset < len(text) && text[offset] == '"' {
			message = "this string holds a control character or an unknown escape"
		}
	}
	return syntaxErrorAt(text, offset, "%s", message)
}
