package confedit

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// bom is the UTF-8 byte-order mark. Windows editors put it in front; clients
// tolerate it, and it is not ours to remove.
const bom = "\xef\xbb\xbf"

// Format is how a text file is laid out, apart from its content.
type Format struct {
	BOM          bool   // starts with a UTF-8 byte-order mark
	EOL          string // "\n" or "\r\n"; the first line decides, "\n" if there is only one
	FinalNewline bool   // the last byte is a line ending
}

// FormatOf looks at data and reports its layout.
func FormatOf(data []byte) Format {
	return Format{
		BOM:          bytes.HasPrefix(data, []byte(bom)),
		EOL:          eolOf(data),
		FinalNewline: len(data) > 0 && data[len(data)-1] == '\n',
	}
}

func eolOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// splitBOM cuts the byte-order mark off data. Both parts alias data.
func splitBOM(data []byte) (mark, text []byte) {
	if bytes.HasPrefix(data, []byte(bom)) {
		return data[:len(bom):len(bom)], data[len(bom):]
	}
	return nil, data
}

// Position is a place in a text file. Line and Column count from 1; Column
// counts characters, not bytes, and a byte-order mark is not counted.
type Position struct {
	Line, Column int
}

func (p Position) String() string { return fmt.Sprintf("line %d, column %d", p.Line, p.Column) }

func positionAt(text []byte, offset int) Position {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return Position{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: 1 + utf8.RuneCount(before[lineStart:]),
	}
}

// SyntaxError says that a file cannot be edited because of what stands at one
// place in it: it does not parse, or it parses to something that has no room
// for the edit. The file was left alone.
type SyntaxError struct {
	Position
	Message string // one sentence without full stop; never quotes values from the file
}

func (e *SyntaxError) Error() string { return e.Position.String() + ": " + e.Message }

func syntaxErrorAt(text []byte, offset int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Position: positionAt(text, offset), Message: fmt.Sprintf(format, args...)}
}

// lineStart returns the offset of the first byte of the line that offset is in.
func lineStart(text []byte, offset int) int {
	return bytes.LastIndexByte(text[:offset], '\n') + 1
}

// lineIndent returns the spaces and tabs that begin the line offset is in.
func lineIndent(text []byte, offset int) string {
	start := lineStart(text, offset)
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:end])
}

// splice is one replacement: text[start:end] becomes with.
type splice struct {
	start, end int
	with       string
}

// applySplices returns text with all replacements made. They must be sorted
// and must not overlap. text itself is not changed.
func applySplices(text []byte, splices ...splice) []byte {
	size := len(text)
	for _, s := range splices {
		size += len(s.with) - (s.end - s.start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, s := range splices {
		out = append(out, text[at:s.start]...)
		out = append(out, s.with...)
		at = s.end
	}
	return append(out, text[at:]...)
}

func isBlank(b []byte) bool { return len(bytes.Trim(b, " \t\r\n")) == 0 }

func hasNewline[T ~[]byte](b T) bool { return bytes.IndexByte(b, '\n') >= 0 }

// startsWithNewline reports whether b is spaces and tabs up to a line ending.
func startsWithNewline(b []byte) bool {
	b = bytes.TrimLeft(b, " \t")
	return bytes.HasPrefix(b, []byte("\n")) || bytes.HasPrefix(b, []byte("\r\n"))
}

// checkText refuses bytes that no text editor of ours may touch.
func checkText(data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return &SyntaxError{Position: Position{1, 1}, Message: "the file is UTF-16, expected UTF-8"}
	case !utf8.Valid(data):
		_, text := splitBOM(data)
		bad := 0
		for bad < len(text) {
			r, n := utf8.DecodeRune(text[bad:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			bad += n
		}
		return syntaxErrorAt(text, bad, "the bytes here are not UTF-8")
	}
	return nil
}
