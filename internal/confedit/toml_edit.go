package confedit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// As in JSON, adding and removing are mirror images: a block takes the blank
// line above it along, and a block or line at the very end of a file without
// final line ending is written, and removed, without one.

// AppendTables writes the given blocks, in order, at the end of the document
// below a blank line. It is an error if a block cannot stand there: a [table]
// that exists already, one whose parent is written as an inline value, or one
// whose parent is an array of tables (it would join the last element), unless
// that element is among the blocks before it.
func (d *TOML) AppendTables(tables ...Table) error {
	if len(tables) == 0 {
		return nil
	}
	for i, t := range tables {
		var p Path
		for _, k := range t.Key {
			own := slices.ContainsFunc(tables[:i], func(t Table) bool { return t.Array && t.path().equal(p) })
			if _, isArray := d.Get(p.With(0)); isArray && !own {
				pos, _ := d.Locate(p)
				return &SyntaxError{pos, fmt.Sprintf("%s is an array, expected a table", p)}
			}
			p = append(p, k)
		}
		if err := d.refuseInline(p); err != nil {
			return err
		}
		if !t.Array {
			for _, s := range d.sections[1:] {
				if s.path.equal(p) {
					return syntaxErrorAt(d.text, s.head, "the table %s exists already", p)
				}
			}
		}
	}
	block, err := renderTables(d.eol, tables)
	if err != nil {
		return err
	}
	return d.load(d.appendBlock(block))
}

// appendBlock returns the text with block, which ends with a line ending, at
// its end.
func (d *TOML) appendBlock(block string) []byte {
	switch {
	case len(d.text) == 0:
		return []byte(block)
	case d.text[len(d.text)-1] == '\n':
		return append(bytes.Clone(d.text), d.eol+block...)
	default:
		return append(bytes.Clone(d.text), d.eol+d.eol+strings.TrimSuffix(block, d.eol)...)
	}
}

// refuseInline returns an error if p is, or lies within, a value written on
// one line as { … } or [ … ]: there is no place for a header or a pair.
func (d *TOML) refuseInline(p Path) error {
	for _, s := range d.sections {
		for _, kv := range s.pairs {
			if !p.within(kv.path) {
				continue
			}
			switch kv.kind {
			case unstable.InlineTable:
				return syntaxErrorAt(d.text, kv.key, "%s is written as an inline table; write it as a [%s] section first", kv.path, kv.path)
			case unstable.Array:
				return syntaxErrorAt(d.text, kv.key, "%s is written as an inline array; write it as [[%s]] sections first", kv.path, kv.path)
			default:
				return syntaxErrorAt(d.text, kv.key, "%s is a plain value, expected a table", kv.path)
			}
		}
	}
	return nil
}

// Set makes value the value at p, whose last step is a key. An existing value
// is replaced where it stands, the comment behind it stays; one that already
// means the same is left as it is written. A new key goes below the last one
// of its table; a missing table is appended to the document. Values inside
// inline tables are refused with a [*SyntaxError].
func (d *TOML) Set(p Path, value any) error {
	if err := p.valid(); err != nil {
		return err
	}
	if len(p) == 0 {
		return fmt.Errorf("the document itself cannot be set")
	}
	key, ok := p[len(p)-1].(string)
	if !ok {
		return fmt.Errorf("%s does not end in a key", p)
	}
	text, err := tomlValue(value)
	if err != nil {
		return fmt.Errorf("writing %s: %w", p, err)
	}

	for _, s := range d.sections {
		for _, kv := range s.pairs {
			if !kv.path.equal(p) {
				continue
			}
			old, _ := d.Get(p)
			if same, err := tomlValue(old); err == nil && same == text {
				return nil
			}
			return d.load(applySplices(d.text, splice{kv.value, kv.valueEnd, text}))
		}
	}
	if err := d.refuseInline(p); err != nil {
		return err
	}
	if at, ok := d.Get(p); ok {
		pos, _ := d.Locate(p)
		return &SyntaxError{pos, fmt.Sprintf("%s is %s, expected a plain value", p, tomlKind(at))}
	}

	table := p[:len(p)-1]
	for _, s := range d.sections {
		if !s.path.equal(table) {
			continue
		}
		line, err := renderPair([]string{key}, value)
		if err != nil {
			return err
		}
		switch {
		case len(s.pairs) > 0:
			last := s.pairs[len(s.pairs)-1]
			return d.load(d.insertLine(last.lineEnd, lineIndent(d.text, last.key)+line))
		case s.head >= 0:
			return d.load(d.insertLine(s.end, lineIndent(d.text, s.head)+line))
		default:
			if len(d.text) > 0 {
				line += d.eol // a blank line between it and what follows
			}
			return d.load(d.insertLine(0, line))
		}
	}

	// The table may exist only through dotted keys: table.other = 1.
	for _, s := range d.sections {
		for _, kv := range slices.Backward(s.pairs) {
			if !kv.path.within(table) || !table.within(s.path) {
				continue
			}
			var dotted []string
			for _, step := range p[len(s.path):] {
				k, ok := step.(string)
				if !ok {
					return fmt.Errorf("there is no table %s", table)
				}
				dotted = append(dotted, k)
			}
			line, err := renderPair(dotted, value)
			if err != nil {
				return err
			}
			return d.load(d.insertLine(kv.lineEnd, lineIndent(d.text, kv.key)+line))
		}
	}

	t := Table{Pairs: []Pair{{key, value}}}
	for _, step := range table {
		k, ok := step.(string)
		if !ok {
			return fmt.Errorf("there is no table %s", table)
		}
		t.Key = append(t.Key, k)
	}
	if err := d.AppendTables(t); err != nil {
		return err
	}
	d.created = addPaths(d.created, table)
	return nil
}

// insertLine returns the text with a line at offset at, which begins a line
// or ends the text.
func (d *TOML) insertLine(at int, line string) []byte {
	if at > 0 && d.text[at-1] != '\n' { // the last line, without line ending
		return applySplices(d.text, splice{at, at, d.eol + line})
	}
	return applySplices(d.text, splice{at, at, line + d.eol})
}

// Remove takes out everything at and below p: pairs with their lines, tables
// and elements of arrays of tables with their headers, wherever in the
// document they stand. Comments between them stay. Nothing at p is not an
// error; something inside an inline value is refused with a [*SyntaxError].
func (d *TOML) Remove(p Path) error { return d.replace(p, "") }

// Rename gives the pair at p, whose last step is a key, another name; value,
// comment and place stay. name must be a bare key. Nothing at p is not an error;
// a pair in an inline table is refused with a [*SyntaxError].
func (d *TOML) Rename(p Path, name string) error {
	if err := p.valid(); err != nil {
		return err
	}
	old, ok := "", len(p) > 0
	if ok {
		old, ok = p[len(p)-1].(string)
	}
	if !ok {
		return fmt.Errorf("%s does not end in a key", p)
	}
	for _, s := range d.sections {
		for _, kv := range s.pairs {
			if !kv.path.equal(p) {
				continue
			}
			written := string(d.text[kv.key:kv.value])
			i := strings.LastIndex(written, old)
			if i < 0 { // spelled with escapes
				return syntaxErrorAt(d.text, kv.key, "%s is written in an unusual way", p)
			}
			at := kv.key + i
			return d.load(applySplices(d.text, splice{at, at + len(old), name}))
		}
	}
	if _, there := d.Get(p); there {
		return d.refuseInline(p)
	}
	return nil
}

// Replace puts the given blocks where the first header at or below p stands,
// and removes the rest of p. It is how an element of an array of tables gives
// way to another without moving its neighbours' indexes.
func (d *TOML) Replace(p Path, tables ...Table) error {
	block, err := renderTables(d.eol, tables)
	if err != nil {
		return err
	}
	found := slices.ContainsFunc(d.sections, func(s section) bool { return s.head >= 0 && s.path.within(p) })
	if !found {
		return fmt.Errorf("there is no table %s", p)
	}
	return d.replace(p, block)
}

func (d *TOML) replace(p Path, block string) error {
	if err := p.valid(); err != nil {
		return err
	}
	if len(p) == 0 {
		return fmt.Errorf("the document itself cannot be removed")
	}
	type lines struct {
		splice
		block bool // a header with its pairs, or a pair standing like one
	}
	var cuts []lines
	for _, s := range d.sections {
		if s.head >= 0 && s.path.within(p) {
			cuts = append(cuts, lines{splice{s.start, s.end, block}, true})
			block = ""
			continue
		}
		for _, kv := range s.pairs {
			if kv.path.within(p) {
				alone := kv.lineStart == 0 && len(s.pairs) == 1
				cuts = append(cuts, lines{splice{kv.lineStart, kv.lineEnd, ""}, alone})
			}
		}
	}
	if len(cuts) == 0 {
		if _, ok := d.Get(p); ok {
			return d.refuseInline(p)
		}
		return nil
	}
	text := d.text
	for _, cut := range slices.Backward(cuts) { // so that offsets stay right
		cut.end = min(cut.end, len(text)) // the line ending may have gone with what followed
		text = cutLines(text, cut.splice, cut.block)
	}
	return d.load(text)
}

// cutLines replaces whole lines. A removed block takes one blank line above
// it along, or below it if it is the first; what is removed from the end of a file without final line ending
// takes the line ending before it.
func cutLines(text []byte, cut splice, block bool) []byte {
	atEnd := cut.end == len(text) && text[cut.end-1] != '\n'
	if cut.with != "" {
		if atEnd {
			cut.with, _ = strings.CutSuffix(cut.with, "\n")
			cut.with, _ = strings.CutSuffix(cut.with, "\r")
		}
		return applySplices(text, cut)
	}
	above := cutLineEnding(text[:cut.start])
	switch {
	case block && bytes.HasSuffix(above, []byte("\n")): // the line above is blank
		cut.start = len(above)
	case block && cut.start == 0: // no line above: the next block comes first now
		if below := text[cut.end:]; startsWithNewline(below[:min(len(below), 2)]) {
			cut.end = lineEnd(text, cut.end)
		}
	}
	if atEnd {
		cut.start = len(cutLineEnding(text[:cut.start]))
	}
	return applySplices(text, cut)
}

// cutLineEnding returns b without the line ending at its end, if any.
func cutLineEnding(b []byte) []byte {
	if bytes.HasSuffix(b, []byte("\n")) {
		return bytes.TrimSuffix(b[:len(b)-1], []byte("\r"))
	}
	return b
}

// Prune removes the headers of those of the given tables that have no pairs
// any more. Tables below them stay. Call it with the tables an earlier edit
// created.
func (d *TOML) Prune(created ...Path) error {
	for _, p := range created {
		i := slices.IndexFunc(d.sections, func(s section) bool { return s.head >= 0 && s.path.equal(p) })
		if i < 0 || len(d.sections[i].pairs) > 0 {
			continue
		}
		s := d.sections[i]
		if err := d.load(cutLines(d.text, splice{s.start, s.end, ""}, true)); err != nil {
			return err
		}
	}
	return nil
}

func tomlKind(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a table"
	case []any:
		return "an array"
	default:
		return "a value"
	}
}
