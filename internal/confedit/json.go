package confedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Mode says which dialect of JSON the client reads.
type Mode int

const (
	// Strict is plain JSON. A comment or a trailing comma would make the
	// client refuse the file, so they are errors here.
	Strict Mode = iota
	// Comments is JSON with // and /* */ comments and trailing commas.
	Comments
)

// JSON is a JSON document being edited. It remembers every byte; each edit
// changes only the bytes it has to. A failed edit changes nothing. Not safe
// for use by several goroutines at once.
//
// Where an object has the same key twice, the last one counts, as it does for
// the clients.
type JSON struct {
	mark    []byte // the byte-order mark, if any
	text    []byte // everything after it
	mode    Mode
	eol     string
	empty   bool // there is no value, only blanks and comments
	root    hujson.Value
	created []Path
	places  placeIndex
}

// ParseJSON reads a document whose root is an object. Nothing at all, or
// nothing but blanks and comments, counts as an object that is still to be
// written. Errors are [*SyntaxError]. data is not kept.
func ParseJSON(data []byte, mode Mode) (*JSON, error) {
	if err := checkText(data); err != nil {
		return nil, err
	}
	mark, text := splitBOM(bytes.Clone(data))
	d := &JSON{mark: mark, mode: mode}
	if err := d.load(text); err != nil {
		return nil, err
	}
	return d, nil
}

// load makes text the document, or changes nothing and says why not.
func (d *JSON) load(text []byte) error {
	empty, err := scanJSON(text, d.mode)
	if err != nil {
		return err
	}
	var root hujson.Value
	if !empty {
		if root, err = parseTree(text, d.mode); err != nil {
			return err
		}
		if kind := root.Value.Kind(); kind != '{' {
			return syntaxErrorAt(text, root.StartOffset, "the file holds %s, expected an object", kindName(kind))
		}
	}
	d.text, d.empty, d.root, d.eol, d.places = text, empty, root, eolOf(text), placeIndex{}
	return nil
}

// Bytes returns the document as it is now. The caller owns the slice.
func (d *JSON) Bytes() []byte { return slices.Concat(d.mark, d.text) }

// Draft returns the document as it is now, ready for [File.Write].
func (d *JSON) Draft() Draft { return Draft{Text: d.Bytes(), Created: clonePaths(d.created)} }

// Created lists the objects and arrays that edits had to add because a parent
// was missing, outermost first. The empty path stands for the root object of
// an empty file. Hand them to [JSON.Prune] when removing.
func (d *JSON) Created() []Path { return clonePaths(d.created) }

// Empty reports whether nothing is left that anybody would miss: no text, or
// a root object without members and comments.
func (d *JSON) Empty() bool {
	if d.empty {
		return isBlank(d.text)
	}
	c := containerOf(&d.root)
	return c.len() == 0 && isBlank(c.inner(d.text)) && isBlank(d.root.BeforeExtra) && isBlank(d.root.AfterExtra)
}

// Get returns the value at p as plain compact JSON; ok is false if there is
// none.
func (d *JSON) Get(p Path) (value json.RawMessage, ok bool) {
	n := d.find(p)
	if n == nil {
		return nil, false
	}
	return plain(n.value), true
}

// Decode stores the value at p in v, as [json.Unmarshal] does; ok is false,
// and v untouched, if there is no value.
func (d *JSON) Decode(p Path, v any) (ok bool, err error) {
	raw, ok := d.Get(p)
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("reading %s: %w", p, err)
	}
	return true, nil
}

// Len returns how many elements or members the array or object at p has, and
// 0 for anything else.
func (d *JSON) Len(p Path) int {
	if n := d.find(p); n != nil {
		if c := containerOf(n.value); c != nil {
			return c.len()
		}
	}
	return 0
}

// node is a value and where it hangs.
type node struct {
	value  *hujson.Value
	parent *container // nil for the root
	index  int        // position in parent
}

// start is the offset of the key, or of the value where there is none.
func (n *node) start() int {
	if n.parent == nil {
		return n.value.StartOffset
	}
	return n.parent.start(n.index)
}

// ownLine reports whether the value begins a line of its own.
func (n *node) ownLine() bool {
	return n.parent == nil || hasNewline(n.parent.before(n.index))
}

// find returns the node at p, nil if there is none.
func (d *JSON) find(p Path) *node {
	if d.empty {
		return nil
	}
	n := &node{value: &d.root}
	for _, step := range p {
		if n = n.child(step); n == nil {
			return nil
		}
	}
	return n
}

// child returns the last member of that name or the element at that index.
func (n *node) child(step any) *node {
	c := containerOf(n.value)
	if c == nil {
		return nil
	}
	switch s := step.(type) {
	case string:
		if c.object == nil {
			return nil
		}
		for i := c.len() - 1; i >= 0; i-- {
			if memberName(c.object.Members[i]) == s {
				return &node{c.value(i), c, i}
			}
		}
	case int:
		if c.array != nil && 0 <= s && s < c.len() {
			return &node{c.value(s), c, s}
		}
	}
	return nil
}

// container is one view on objects and arrays, which the tree keeps apart.
type container struct {
	object     *hujson.Object // one of the two is nil
	array      *hujson.Array
	open, shut int  // offsets of the brackets
	trailing   bool // a comma follows the last entry
}

// containerOf returns nil for a value that holds no others.
func containerOf(v *hujson.Value) *container {
	c := &container{open: v.StartOffset, shut: v.EndOffset - 1}
	switch t := v.Value.(type) {
	case *hujson.Object:
		c.object = t
	case *hujson.Array:
		c.array = t
	default:
		return nil
	}
	c.trailing = c.len() > 0 && c.value(c.len()-1).AfterExtra != nil
	return c
}

func (c *container) len() int {
	if c.object != nil {
		return len(c.object.Members)
	}
	return len(c.array.Elements)
}

func (c *container) value(i int) *hujson.Value {
	if c.object != nil {
		return &c.object.Members[i].Value
	}
	return &c.array.Elements[i]
}

func (c *container) head(i int) *hujson.Value {
	if c.object != nil {
		return &c.object.Members[i].Name
	}
	return &c.array.Elements[i]
}

func (c *container) start(i int) int     { return c.head(i).StartOffset }
func (c *container) before(i int) []byte { return c.head(i).BeforeExtra }

// comma is the offset of the comma after entry i, if there is one.
func (c *container) comma(i int) int {
	v := c.value(i)
	return v.EndOffset + len(v.AfterExtra)
}

// tail is what stands before the closing bracket, after the last entry and
// its comma.
func (c *container) tail() []byte {
	if c.object != nil {
		return c.object.AfterExtra
	}
	return c.array.AfterExtra
}

func (c *container) inner(text []byte) []byte { return text[c.open+1 : c.shut] }

func memberName(m hujson.ObjectMember) string {
	name := m.Name.Value.(hujson.Literal)
	// Names are compared all the time, and hardly one has an escape in it.
	if n := len(name); n >= 2 && !slices.Contains(name, '\\') && utf8.Valid(name) {
		return string(name[1 : n-1])
	}
	return name.String()
}

// plain renders v without comments and blanks.
func plain(v *hujson.Value) json.RawMessage {
	c := hujson.Value{Value: v.Value}.Clone()
	c.Minimize()
	return c.Pack()
}

// encode turns a Go value into a tree without blanks.
func encode(value any) (hujson.Value, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // "a && b" is what a person expects to read
	if err := enc.Encode(value); err != nil {
		return hujson.Value{}, fmt.Errorf("encoding the new value: %w", err)
	}
	v, err := hujson.Parse(bytes.TrimSpace(buf.Bytes()))
	if err != nil {
		return hujson.Value{}, fmt.Errorf("encoding the new value: %w", err)
	}
	return v, nil
}

// sameJSON reports whether two texts mean the same. Numbers are compared as
// written: 1 and 1.0 are different to some readers.
func sameJSON(a, b []byte) bool {
	x, errX := decodeAny(a)
	y, errY := decodeAny(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func decodeAny(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

func kindName(k hujson.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "a boolean"
	}
}
