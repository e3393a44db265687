package confedit

import (
	"bytes"
	"sort"
	"strconv"
	"unicode/utf8"
)

// Whoever asks where one value stands asks for thousands, so that each question
// must cost no more than its own path: the first one makes an index of the whole
// document, and an edit drops it.

// placeIndex tells where values stand. The zero value is none yet.
type placeIndex struct {
	made  bool
	marks []waymark
	// offsets by key; in TOML those of what stands there or below it.
	offsets map[string]int
	// pairs: TOML only, the offsets of whole pairs, whose values lie below them.
	pairs map[string]int
}

// key is an unambiguous rendering, of which that of every prefix is a prefix.
func (p Path) key() (key string, ends []int) {
	var b []byte
	ends = append(ends, 0)
	for _, step := range p {
		b = appendStep(b, step)
		ends = append(ends, len(b))
	}
	return string(b), ends
}

func appendStep(b []byte, step any) []byte {
	switch s := step.(type) {
	case string:
		b = append(strconv.AppendInt(b, int64(len(s)), 10), ':')
		return append(b, s...)
	case int:
		return append(strconv.AppendInt(append(b, '#'), int64(s), 10), ';')
	}
	return append(b, '?') // leads nowhere
}

// waymark is a place in a text from which others are counted.
type waymark struct {
	offset int
	Position
}

// marksOf has a mark for about every 4 KiB of a text, so that neither many lines
// nor a long one are counted through for every question.
func marksOf(text []byte) []waymark {
	m := waymark{0, Position{1, 1}}
	marks := []waymark{m}
	for {
		end := m.offset + 4096
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		if end >= len(text) {
			return marks
		}
		m = m.forward(text, end)
		marks = append(marks, m)
	}
}

// forward is the mark of a later offset.
func (m waymark) forward(text []byte, offset int) waymark {
	part := text[m.offset:offset]
	if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
		m.Line += bytes.Count(part, []byte("\n"))
		m.Column, part = 1, part[i+1:]
	}
	m.Column += utf8.RuneCount(part)
	m.offset = offset
	return m
}

func (x *placeIndex) position(text []byte, offset int) Position {
	i := sort.Search(len(x.marks), func(i int) bool { return x.marks[i].offset > offset }) - 1
	return x.marks[i].forward(text, offset).Position
}

// Locate returns where the value at p starts, or its key if it has one.
func (d *JSON) Locate(p Path) (Position, bool) {
	if d.empty {
		return Position{}, false
	}
	if !d.places.made {
		d.places = placeIndex{made: true, marks: marksOf(d.text), offsets: map[string]int{}}
		d.places.tree(&node{value: &d.root}, nil)
	}
	key, _ := p.key()
	offset, ok := d.places.offsets[key]
	if !ok {
		return Position{}, false
	}
	return d.places.position(d.text, offset), true
}

// tree takes in a value and what is in it; of members with one name, the last.
func (x *placeIndex) tree(n *node, key []byte) {
	x.offsets[string(key)] = n.start()
	c := containerOf(n.value)
	if c == nil {
		return
	}
	seen := map[string]bool{}
	for i := c.len() - 1; i >= 0; i-- {
		var step any = i
		if c.object != nil {
			name := memberName(c.object.Members[i])
			if seen[name] {
				continue
			}
			seen[name] = true
			step = name
		}
		x.tree(&node{c.value(i), c, i}, appendStep(key, step))
	}
}

// Locate returns where the value at p is written: its key, or the header of
// its table. A table that is only implied by others is found at the first of
// them.
func (d *TOML) Locate(p Path) (Position, bool) {
	if _, ok := d.Get(p); !ok {
		return Position{}, false
	}
	if !d.places.made {
		d.places = placeIndex{made: true, marks: marksOf(d.text), offsets: map[string]int{}, pairs: map[string]int{}}
		for _, s := range d.sections {
			if s.head >= 0 {
				d.places.line(s.path, s.head)
			}
			for _, kv := range s.pairs {
				d.places.line(kv.path, kv.key)
				key, _ := kv.path.key()
				d.places.pairs[key] = kv.key
			}
		}
	}
	key, ends := p.key()
	first, found := d.places.offsets[key]
	for _, end := range ends {
		if at, ok := d.places.pairs[key[:end]]; ok && (!found || at < first) {
			first, found = at, true
		}
	}
	if !found {
		return Position{1, 1}, true // the root of an empty document
	}
	return d.places.position(d.text, first), true
}

// line takes in a header or a pair of TOML, which stand in the order of the text:
// the first that lies at or below a path is where that is.
func (x *placeIndex) line(p Path, offset int) {
	key, ends := p.key()
	for _, end := range ends {
		if _, ok := x.offsets[key[:end]]; !ok {
			x.offsets[key[:end]] = offset
		}
	}
}
