package confedit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML is a TOML document being edited. It remembers every byte; each edit
// changes only the lines it has to. A failed edit changes nothing. Not safe
// for use by several goroutines at once.
//
// In a [Path] an element of an array of tables is addressed by its index, as
// in Path{"hooks", "Stop", 0}; a path without it means all of them.
type TOML struct {
	mark     []byte // the byte-order mark, if any
	text     []byte // everything after it
	eol      string
	sections []section // sections[0] is what stands before the first header
	values   map[string]any
	created  []Path
	places   placeIndex
}

// section is a header line and the pairs below it.
type section struct {
	path       Path // with the indexes of arrays of tables filled in
	start, end int  // from the start of the header line to the end of the last pair's line
	head       int  // offset of the opening bracket; -1 for sections[0]
	pairs      []pair
}

// pair is one key = value.
type pair struct {
	path               Path // section path plus the possibly dotted key
	rel                int  // how many steps of path the dotted key has
	key                int  // offset of the key
	value, valueEnd    int  // offsets of the value
	lineStart, lineEnd int  // whole lines, with the line ending
	kind               unstable.Kind
}

// ParseTOML reads a document. Errors are [*SyntaxError]. data is not kept.
func ParseTOML(data []byte) (*TOML, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	mark, text := splitBOM(bytes.Clone(data))
	d := &TOML{mark: mark}
	if err := d.load(text); err != nil {
		return nil, err
	}
	return d, nil
}

// load makes text the document, or changes nothing and says why not.
func (d *TOML) load(text []byte) error {
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return tomlSyntaxError(text, err)
	}
	sections, err := scanTOML(text)
	if err != nil {
		return err
	}
	d.text, d.values, d.sections, d.eol, d.places = text, values, sections, eolOf(text), placeIndex{}
	return nil
}

func tomlSyntaxError(text []byte, err error) error {
	message := strings.TrimPrefix(err.Error(), "toml: ")
	decode, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return syntaxErrorAt(text, 0, "%s", message)
	}
	row, column := decode.Position()
	offset := 0
	for ; row > 1; row-- {
		offset += bytes.IndexByte(text[offset:], '\n') + 1
	}
	return syntaxErrorAt(text, offset+column-1, "%s", message)
}

// scanTOML finds where everything stands. text has been validated.
func scanTOML(text []byte) ([]section, error) {
	sections := []section{{head: -1}}
	last := map[string]int{} // highest index so far of each array of tables

	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var keys []string
		first, lastEnd := -1, 0
		for it := e.Key(); it.Next(); {
			k := it.Node()
			keys = append(keys, string(k.Data))
			if first < 0 {
				first = int(k.Raw.Offset)
			}
			lastEnd = int(k.Raw.Offset + k.Raw.Length)
		}

		if e.Kind == unstable.KeyValue {
			s := &sections[len(sections)-1]
			value := lastEnd
			for text[value] != '=' { // only blanks stand between
				value++
			}
			for value++; text[value] == ' ' || text[value] == '\t'; {
				value++
			}
			kv := pair{
				path: s.path.With(), rel: len(keys), key: first,
				value: value, valueEnd: int(e.Raw.Offset + e.Raw.Length),
				lineStart: lineStart(text, first), kind: e.Value().Kind,
			}
			for _, k := range keys {
				kv.path = append(kv.path, k)
			}
			kv.lineEnd = lineEnd(text, kv.valueEnd)
			s.pairs = append(s.pairs, kv)
			s.end = kv.lineEnd
			continue
		}

		var path Path
		for i, k := range keys {
			path = append(path, k)
			name := fmt.Sprint(path.quoted())
			n, isArray := last[name]
			if i == len(keys)-1 && e.Kind == unstable.ArrayTable {
				if isArray {
					n++
				}
				last[name], isArray = n, true
			}
			if isArray {
				path = append(path, n)
			}
		}
		head := bytes.LastIndexByte(text[:first], '[')
		if e.Kind == unstable.ArrayTable {
			head = bytes.LastIndexByte(text[:head], '[')
		}
		sections = append(sections, section{
			path: path, head: head,
			start: lineStart(text, head), end: lineEnd(text, lastEnd),
		})
	}
	if err := p.Error(); err != nil {
		return nil, syntaxErrorAt(text, 0, "%s", err)
	}
	return sections, nil
}

// quoted is an unambiguous rendering for use as a map key.
func (p Path) quoted() string { return fmt.Sprintf("%#v", []any(p)) }

// lineEnd returns the offset behind the line ending of the line offset is in.
func lineEnd(text []byte, offset int) int {
	if n := bytes.IndexByte(text[offset:], '\n'); n >= 0 {
		return offset + n + 1
	}
	return len(text)
}

// Bytes returns the document as it is now. The caller owns the slice.
func (d *TOML) Bytes() []byte { return slices.Concat(d.mark, d.text) }

// Draft returns the document as it is now, ready for [File.Write].
func (d *TOML) Draft() Draft { return Draft{Text: d.Bytes(), Created: clonePaths(d.created)} }

// Created lists the tables that [TOML.Set] had to add because they were
// missing. Hand them to [TOML.Prune] when removing.
func (d *TOML) Created() []Path { return clonePaths(d.created) }

// Empty reports whether the document has neither content nor comments.
func (d *TOML) Empty() bool { return isBlank(d.text) }

// Get returns the value at p as go-toml decodes it (string, int64, float64,
// bool, []any, map[string]any, times); ok is false if there is none. The
// value must not be changed.
func (d *TOML) Get(p Path) (value any, ok bool) {
	value = d.values
	for _, step := range p {
		switch s := step.(type) {
		case string:
			table, isTable := value.(map[string]any)
			if !isTable {
				return nil, false
			}
			if value, ok = table[s]; !ok {
				return nil, false
			}
		case int:
			list, isList := value.([]any)
			if !isList || s < 0 || s >= len(list) {
				return nil, false
			}
			value = list[s]
		default:
			return nil, false
		}
	}
	return value, true
}

// Decode stores the whole document in v, as go-toml does.
func (d *TOML) Decode(v any) error { return toml.Unmarshal(d.text, v) }
