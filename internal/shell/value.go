package shell

import (
	"slices"
	"strings"
)

// Value is what is known of a piece of text that a command would work with.
//
// There are three kinds. Exact: Holes and Alts are empty and Text is the text.
// With holes: Text is all that is known, in order, and each hole says where
// something unknown is inserted. Alternatives: Alts lists the values it may
// have, none of which has alternatives itself, and Text and Holes are empty.
//
// The zero Value is the empty text, exactly.
type Value struct {
	Text  string
	Holes []Hole
	Alts  []Value
}

// Hole is an unknown part of a value.
type Hole struct {
	// At is the byte offset in the value's text where the unknown part goes.
	At   int
	Kind HoleKind
	// Name is the variable, parameter or pattern behind the hole.
	Name string
	// From spans the leaves whose output fills the hole.
	From Span
	// NonEmpty is set when the hole cannot be empty, as with ${x:?}.
	NonEmpty bool
	// Unset is set when the World says that the variable has no value.
	Unset bool
}

// HoleKind says why a part is unknown.
type HoleKind uint8

// The kinds of holes.
const (
	HoleVar    HoleKind = iota + 1 // a variable that the command did not set
	HoleOutput                     // the output of leaves
	HoleInput                      // read from standard input or a file
	HoleParam                      // an argument of the script or function
	HoleNumber                     // digits and sign only: $$, $?, $RANDOM, unknown arithmetic
	HoleName                       // one file name without a slash: mktemp, {} of find
	HolePath                       // a path: of a process substitution, of an input item
	HoleMany                       // known in principle, too much to follow
)

func (k HoleKind) String() string {
	switch k {
	case HoleVar:
		return "variable"
	case HoleOutput:
		return "output"
	case HoleInput:
		return "input"
	case HoleParam:
		return "parameter"
	case HoleNumber:
		return "number"
	case HoleName:
		return "name"
	case HolePath:
		return "path"
	case HoleMany:
		return "too much to follow"
	}
	return "unknown"
}

// maxAlts bounds the alternatives of one value; a hole takes the place of more.
const maxAlts = 16

// maxText bounds text built by expansion, so that x=$x$x cannot double forever.
const maxText = 1 << 20

// maxHoles bounds the holes of one value, for the same reason where x is not
// known. Nobody looks at the thousandth.
const maxHoles = 1000

// exact returns a value with known text.
func exact(s string) Value { return Value{Text: s} }

func hole(k HoleKind, name string) Value {
	return Value{Holes: []Hole{{Kind: k, Name: name}}}
}

func outputHole(from Span) Value {
	return Value{Holes: []Hole{{Kind: HoleOutput, From: from}}}
}

// Exact returns the text and true if the value has exactly one, known text.
func (v *Value) Exact() (string, bool) {
	if len(v.Holes) == 0 && len(v.Alts) == 0 {
		return v.Text, true
	}
	return "", false
}

// IsEmpty reports whether the value is exactly the empty text.
func (v *Value) IsEmpty() bool {
	return v.Text == "" && len(v.Holes) == 0 && len(v.Alts) == 0
}

// Each returns the values it may have, itself if there is only one.
func (v *Value) Each() []Value {
	if len(v.Alts) > 0 {
		return v.Alts
	}
	return []Value{*v}
}

// Prefix returns the text before the first hole. For alternatives it is their
// common prefix.
func (v *Value) Prefix() string {
	if len(v.Alts) > 0 {
		p := v.Alts[0].Prefix()
		for i := range v.Alts[1:] {
			q := v.Alts[i+1].Prefix()
			n := 0
			for n < len(p) && n < len(q) && p[n] == q[n] {
				n++
			}
			p = p[:n]
		}
		return p
	}
	if len(v.Holes) > 0 {
		return v.Text[:v.Holes[0].At]
	}
	return v.Text
}

// Suffix returns the text after the last hole, all of it when there is none,
// and nothing for alternatives.
func (v *Value) Suffix() string {
	if len(v.Alts) > 0 {
		return ""
	}
	if n := len(v.Holes); n > 0 {
		return v.Text[v.Holes[n-1].At:]
	}
	return v.Text
}

// String shows the value for people: holes as <kind name>, alternatives with
// bars between them.
func (v *Value) String() string {
	if len(v.Alts) > 0 {
		parts := make([]string, len(v.Alts))
		for i := range v.Alts {
			parts[i] = v.Alts[i].String()
		}
		return "{" + strings.Join(parts, "|") + "}"
	}
	if len(v.Holes) == 0 {
		return v.Text
	}
	var b strings.Builder
	last := 0
	for _, h := range v.Holes {
		b.WriteString(v.Text[last:h.At])
		last = h.At
		b.WriteByte('<')
		b.WriteString(h.Kind.String())
		if h.Name != "" {
			b.WriteByte(' ')
			b.WriteString(h.Name)
		}
		b.WriteByte('>')
	}
	b.WriteString(v.Text[last:])
	return b.String()
}

func (v *Value) equal(o *Value) bool {
	return v.Text == o.Text && slices.Equal(v.Holes, o.Holes) &&
		slices.EqualFunc(v.Alts, o.Alts, func(a, b Value) bool { return a.equal(&b) })
}

// either returns a value that may be any of the given ones.
func either(vs ...Value) Value {
	var alts []Value
	add := func(v Value) bool {
		for i := range alts {
			if alts[i].equal(&v) {
				return true
			}
		}
		if len(alts) == maxAlts {
			return false
		}
		alts = append(alts, v)
		return true
	}
	for i := range vs {
		for _, one := range vs[i].Each() {
			if !add(one) {
				alts[maxAlts-1] = hole(HoleMany, "")
				return Value{Alts: alts}
			}
		}
	}
	if len(alts) == 1 {
		return alts[0]
	}
	return Value{Alts: alts}
}

// mapExact applies f to each exact alternative; what is not exact becomes a
// hole of the same origin.
func (v *Value) mapExact(f func(string) Value) Value {
	if t, ok := v.Exact(); ok {
		return f(t)
	}
	if len(v.Alts) == 0 {
		return v.blur()
	}
	out := make([]Value, len(v.Alts))
	for i := range v.Alts {
		out[i] = v.Alts[i].mapExact(f)
	}
	return either(out...)
}

// blur returns one hole that stands for the whole value, keeping the origin of
// its first hole.
func (v *Value) blur() Value {
	if len(v.Alts) > 0 {
		for i := range v.Alts {
			if len(v.Alts[i].Holes) > 0 {
				return v.Alts[i].blur()
			}
		}
		return hole(HoleMany, "")
	}
	if len(v.Holes) == 0 {
		return hole(HoleMany, "")
	}
	h := v.Holes[0]
	h.At = 0
	h.NonEmpty = h.NonEmpty || v.Text != ""
	return Value{Holes: []Hole{h}}
}

// origin returns the span of leaves that the first hole with one comes from.
func (v *Value) origin() Span {
	for i := range v.Holes {
		if !v.Holes[i].From.Empty() {
			return v.Holes[i].From
		}
	}
	for i := range v.Alts {
		if s := v.Alts[i].origin(); !s.Empty() {
			return s
		}
	}
	return Span{}
}

// builder concatenates values in linear time.
type builder struct {
	b     strings.Builder
	holes []Hole
	// alts, when set, are the alternatives built so far; b and holes then hold
	// what follows all of them.
	alts []Value
	full bool
}

func (b *builder) addText(s string) {
	if b.full {
		return
	}
	if b.b.Len()+len(s) > maxText {
		b.full = true
		b.holes = append(b.holes, Hole{At: b.b.Len(), Kind: HoleMany})
		return
	}
	b.b.WriteString(s)
}

func (b *builder) add(v Value) {
	if b.full {
		return
	}
	if len(v.Alts) > 0 {
		head := b.take()
		var out []Value
		for _, h := range head.Each() {
			for _, a := range v.Alts {
				if len(out) == maxAlts {
					// Too many combinations: give up on this part only.
					b.alts = nil
					b.add(head)
					b.add(v.blur())
					return
				}
				out = append(out, join(h, a))
			}
		}
		b.alts = out
		return
	}
	at := b.b.Len()
	b.addText(v.Text)
	if b.full {
		return
	}
	for _, h := range v.Holes {
		if len(b.holes) == maxHoles {
			b.full = true
			b.holes = append(b.holes, Hole{At: b.b.Len(), Kind: HoleMany})
			return
		}
		h.At += at
		b.holes = append(b.holes, h)
	}
}

// take returns what was built and empties the builder.
func (b *builder) take() Value {
	tail := Value{Text: b.b.String(), Holes: b.holes}
	alts := b.alts
	b.b.Reset()
	b.holes, b.alts = nil, nil
	if len(alts) == 0 {
		return tail
	}
	if tail.IsEmpty() {
		return Value{Alts: alts}
	}
	for i := range alts {
		alts[i] = join(alts[i], tail)
	}
	return Value{Alts: alts}
}

// join concatenates two values without alternatives.
func join(a, b Value) Value {
	if a.IsEmpty() {
		return b
	}
	if b.IsEmpty() {
		return a
	}
	if len(a.Text)+len(b.Text) > maxText || len(a.Holes)+len(b.Holes) > maxHoles {
		return hole(HoleMany, "")
	}
	holes := a.Holes
	if len(b.Holes) > 0 {
		holes = slices.Clone(a.Holes)
		for _, h := range b.Holes {
			h.At += len(a.Text)
			holes = append(holes, h)
		}
	}
	return Value{Text: a.Text + b.Text, Holes: holes}
}

// concat concatenates any two values.
func concat(vs ...Value) Value {
	var b builder
	for _, v := range vs {
		b.add(v)
	}
	return b.take()
}

// slice returns the part of a value without alternatives between two offsets.
func (v *Value) slice(from, to int) Value {
	out := Value{Text: v.Text[from:to]}
	for _, h := range v.Holes {
		if h.At < from || h.At > to || (h.At == to && to < len(v.Text) && h.At != from) {
			continue
		}
		h.At -= from
		out.Holes = append(out.Holes, h)
	}
	return out
}

func allDigits(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// lower is ToLower for ASCII alone: unlike that it keeps every byte offset,
// also in text that is not UTF-8.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if b[i] >= 'A' && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}
