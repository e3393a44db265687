package confedit

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// Inserting and removing are mirror images here. An entry is put in together
// with the blanks before it, directly behind the last comment, comma or
// bracket; it is taken out together with the blanks before it. Everything
// behind it stays where it is. Read insert and remove side by side.

// Append adds value as the last element of the array at p. Missing parents
// are created: objects, and the array itself. value is marshalled with
// encoding/json (structs and json.RawMessage keep their key order) and laid
// out the way the file is. If something on the way is no object or array, a
// [*SyntaxError] names the place.
func (d *JSON) Append(p Path, value any) error {
	v, err := encode(value)
	if err != nil {
		return err
	}
	if n := d.find(p); n != nil {
		c := containerOf(n.value)
		if c == nil || c.array == nil {
			return syntaxErrorAt(d.text, n.value.StartOffset, "%s is %s, expected an array", p, kindName(n.value.Value.Kind()))
		}
		return d.load(d.insert(n, "", v))
	}
	list := hujson.Value{Value: &hujson.Array{Elements: []hujson.Value{v}}}
	return d.add(p, list, true)
}

// Set makes value the value at p: it replaces what is there, or adds a key at
// the end of its object, creating missing parents. A value that already means
// the same is left as it is written. An element of an array can be replaced,
// not added; see Append.
func (d *JSON) Set(p Path, value any) error {
	v, err := encode(value)
	if err != nil {
		return err
	}
	n := d.find(p)
	if n == nil {
		return d.add(p, v, false)
	}
	if sameJSON(plain(n.value), plain(&v)) {
		return nil
	}
	if len(p) == 0 && v.Value.Kind() != '{' {
		return fmt.Errorf("the document must stay an object, not become %s", kindName(v.Value.Kind()))
	}
	at := n.value
	lines := n.ownLine() || hasNewline(d.text[at.StartOffset:at.EndOffset])
	text := d.style().render(&v, lineIndent(d.text, n.start()), lines)
	return d.load(applySplices(d.text, splice{at.StartOffset, at.EndOffset, text}))
}

// add inserts v at p, where nothing is yet. own says that v itself is a
// parent created for what is in it.
func (d *JSON) add(p Path, v hujson.Value, own bool) error {
	if err := p.valid(); err != nil {
		return err
	}
	if len(p) == 0 {
		if own {
			return fmt.Errorf("the document is an object, expected an array")
		}
		return d.load(d.insertRoot(v))
	}
	if d.empty {
		for i, step := range p {
			if _, ok := step.(string); !ok {
				return fmt.Errorf("there is no element %s", p[:i+1])
			}
		}
		if err := d.load(d.insertRoot(wrap(p, v))); err != nil {
			return err
		}
		d.noteCreated(p, 0, own)
		return nil
	}

	// Go down as far as the document goes.
	n, depth := &node{value: &d.root}, 0
	for {
		next := n.child(p[depth])
		if next == nil {
			break
		}
		n, depth = next, depth+1
	}
	for i := depth; i < len(p); i++ {
		if _, ok := p[i].(string); !ok {
			return fmt.Errorf("there is no element %s", p[:i+1])
		}
	}
	if c := containerOf(n.value); c == nil || c.object == nil {
		return syntaxErrorAt(d.text, n.value.StartOffset, "%s is %s, expected an object", p[:depth], kindName(n.value.Value.Kind()))
	}
	if err := d.load(d.insert(n, p[depth].(string), wrap(p[depth+1:], v))); err != nil {
		return err
	}
	d.noteCreated(p, depth+1, own)
	return nil
}

// wrap puts v into nested objects, one for each key of p.
func wrap(p Path, v hujson.Value) hujson.Value {
	for _, step := range slices.Backward(p) {
		name := hujson.Value{Value: hujson.String(step.(string))}
		v = hujson.Value{Value: &hujson.Object{Members: []hujson.ObjectMember{{Name: name, Value: v}}}}
	}
	return v
}

// noteCreated records the parents of p from depth on, and p itself if own.
func (d *JSON) noteCreated(p Path, depth int, own bool) {
	for ; depth < len(p); depth++ {
		d.created = addPaths(d.created, p[:depth])
	}
	if own {
		d.created = addPaths(d.created, p)
	}
}

// insertRoot returns the text with a first value in it.
func (d *JSON) insertRoot(v hujson.Value) []byte {
	value := d.style().render(&v, "", true)
	switch {
	case len(d.text) == 0 || d.text[len(d.text)-1] == '\n':
		value += d.eol
	case d.text[len(d.text)-1] == '\r': // must not become half of a line ending
	default:
		value = d.eol + value
	}
	return append(bytes.Clone(d.text), value...)
}

// removeRoot is the way back from insertRoot.
func (d *JSON) removeRoot() []byte {
	before, after := d.text[:d.root.StartOffset], d.text[d.root.EndOffset:]
	if len(after) == 0 {
		before, _ = cutLastNewline(before)
	} else {
		after = bytes.TrimPrefix(bytes.TrimPrefix(after, []byte("\r")), []byte("\n"))
	}
	return slices.Concat(before, after)
}

// insert returns the text with an entry at the end of the object or array n.
// name is ignored for arrays.
func (d *JSON) insert(n *node, name string, v hujson.Value) []byte {
	s := d.style()
	c := containerOf(n.value)
	entry := func(base string, lines bool) string {
		text := s.render(&v, base, lines)
		if c.object != nil {
			text = string(hujson.String(name)) + ":" + s.colon + text
		}
		return text
	}
	outer := lineIndent(d.text, c.open)

	if c.len() == 0 {
		inner := c.inner(d.text)
		end, line := lastComment(inner)
		switch {
		case end > 0: // behind the last comment
			at := c.open + 1 + end
			if line || hasNewline(inner[end:]) {
				return applySplices(d.text, splice{at, at, s.eol + outer + s.unit + entry(outer+s.unit, true)})
			}
			return applySplices(d.text, splice{at, at, " " + entry(outer, false)})
		case hasLoneCR(inner):
			return applySplices(d.text, splice{c.open + 1, c.open + 1, entry(outer, false)})
		case n.ownLine() || hasNewline(inner):
			// What was between the brackets stays in front, even if that
			// leaves an odd blank: it is how {} and { } and {⏎} are told
			// apart again when the entry goes.
			return applySplices(d.text, splice{c.shut, c.shut, s.eol + outer + s.unit + entry(outer+s.unit, true) + s.eol + outer})
		default:
			return applySplices(d.text, splice{c.open + 1, c.open + 1, string(inner) + entry(outer, false)})
		}
	}

	last := c.len() - 1
	lastValue := c.value(last)
	tail := c.tail()
	end, line := lastComment(tail)
	at := c.shut - len(tail) + end
	lines := hasNewline(c.before(last))

	gap, base := s.comma, lineIndent(d.text, c.start(last))
	switch {
	case lines:
		gap = s.eol + base
	case line: // nothing may follow on that line
		base = outer + s.unit
		gap, lines = s.eol+base, true
	default:
		if end > 0 {
			gap = " "
		} else if last > 0 && isBlank(c.before(last)) {
			gap = string(c.before(last))
		}
		// [{⏎ … ⏎}] goes on as [{⏎ … ⏎}, {⏎ … ⏎}].
		lines = hasNewline(d.text[lastValue.StartOffset:lastValue.EndOffset])
	}
	text := gap + entry(base, lines)
	if c.trailing {
		return applySplices(d.text, splice{at, at, text + ","})
	}
	return applySplices(d.text, splice{lastValue.EndOffset, lastValue.EndOffset, ","}, splice{at, at, text})
}

// Remove takes out the value at p, with its key. Comments around it stay. If
// an object has the key several times all of them go, so that no older one
// comes to life. Nothing at p is not an error.
func (d *JSON) Remove(p Path) error {
	if err := p.valid(); err != nil {
		return err
	}
	if len(p) == 0 {
		return fmt.Errorf("the document itself cannot be removed")
	}
	for {
		n := d.find(p)
		if n == nil {
			return nil
		}
		if err := d.load(d.remove(n.parent, n.index)); err != nil {
			return err
		}
		if n.parent.array != nil {
			return nil
		}
	}
}

// remove returns the text without entry i of c.
func (d *JSON) remove(c *container, i int) []byte {
	start, end := c.start(i), c.value(i).EndOffset
	before, after := c.before(i), []byte(c.value(i).AfterExtra)
	only, last := c.len() == 1, i == c.len()-1
	comma := c.comma(i)

	if tail := c.tail(); only && isBlank(before) && isBlank(after) && isBlank(tail) {
		inner := tail
		if nl, blanks := cutLastNewline(tail); len(nl) == 0 && len(blanks) > 0 && hasNewline(before) {
			inner, _ = cutLastNewline(before)
		}
		return applySplices(d.text, splice{c.open + 1, c.shut, string(inner)})
	}

	if i == 0 && !last && isBlank(after) && isBlank(c.before(1)) {
		// The next entry moves up into this place: what insert left in
		// front of the first entry stays in front.
		return applySplices(d.text, splice{start, c.start(1), ""})
	}

	kept, line := lastComment(before)
	cut := start - len(before) + kept
	rest := "" // comments between the value and its comma stay
	if end0, _ := lastComment(after); end0 > 0 {
		rest = string(after)
	}
	next := comma // where the text goes on
	if !last || c.trailing {
		next++
	} else {
		next, rest = end, ""
	}
	if line && !startsWithNewline(append([]byte(rest), d.text[next:]...)) {
		// The line ending closes the comment before us.
		cut += bytes.IndexByte(d.text[cut:start], '\n') + 1
	}
	splices := []splice{{cut, next, rest}}
	if last && !only && !c.trailing {
		prev := c.comma(i - 1)
		splices = append([]splice{{prev, prev + 1, ""}}, splices...)
	}
	return applySplices(d.text, splices...)
}

// Prune removes those of the given objects and arrays that are there and hold
// nothing any more, not even a comment; innermost first. Call it with the
// parents an earlier edit created.
func (d *JSON) Prune(created ...Path) error {
	created = slices.Clone(created)
	slices.SortStableFunc(created, func(a, b Path) int { return len(b) - len(a) })
	for _, p := range created {
		n := d.find(p)
		if n == nil {
			continue
		}
		c := containerOf(n.value)
		if c == nil || c.len() > 0 || !isBlank(c.inner(d.text)) {
			continue
		}
		text := d.removeRoot
		if n.parent != nil {
			text = func() []byte { return d.remove(n.parent, n.index) }
		}
		if err := d.load(text()); err != nil {
			return err
		}
	}
	return nil
}

// cutLastNewline splits b before its last line ending, provided that only
// spaces and tabs follow it.
func cutLastNewline(b []byte) (before, ending []byte) {
	trimmed := bytes.TrimRight(b, " \t")
	if !bytes.HasSuffix(trimmed, []byte("\n")) {
		return b, nil
	}
	at := len(trimmed) - 1
	if at > 0 && b[at-1] == '\r' {
		at--
	}
	return b[:at], b[at:]
}

// hasLoneCR reports whether b holds a carriage return without line feed,
// which is a blank to JSON and a line ending to nobody.
func hasLoneCR(b []byte) bool {
	for i, c := range b {
		if c == '\r' && (i+1 == len(b) || b[i+1] != '\n') {
			return true
		}
	}
	return false
}
