package jsontext

import (
	"fmt"
	"slices"
)

// Shape is a closed description of one object a client accepts: every member it
// may have and nothing else. Clients throw an answer away as a whole for one
// member they do not know, so ours are checked before they are written. Shapes
// are meant to be package variables of constants only, which cost nothing at
// start.
type Shape []Field

// Field is one member of a Shape.
type Field struct {
	Key  string
	Kind string // as Kind names it; "any" for a value that is passed on as it is
	// Enum lists the texts a string may have; empty means any text.
	Enum     []string
	Required bool
	Members  Shape // of an object; nil means that its members are not looked at
}

// Check reports the first way in which the object in data is not of this shape.
func (s Shape) Check(data []byte) error {
	seen := make([]bool, len(s))
	var fault error
	err := Object(data, func(key, value []byte) bool {
		at := slices.IndexFunc(s, func(f Field) bool { return f.Key == string(key) })
		switch {
		case at < 0:
			fault = fmt.Errorf("member %q is not known to the client", key)
		case seen[at]:
			fault = fmt.Errorf("member %q is given twice", key)
		default:
			seen[at] = true
			fault = s[at].check(value)
		}
		return fault == nil
	})
	if fault == nil {
		fault = err
	}
	for i, f := range s {
		if fault == nil && f.Required && !seen[i] {
			fault = fmt.Errorf("member %q is missing", f.Key)
		}
	}
	return fault
}

func (f Field) check(value []byte) error {
	if f.Kind != "any" && Kind(value) != f.Kind {
		return fmt.Errorf("member %q is %s, want %s", f.Key, Kind(value), f.Kind)
	}
	if len(f.Enum) > 0 {
		text, _ := String(value)
		if !slices.Contains(f.Enum, text) {
			return fmt.Errorf("member %q is %q, want one of %q", f.Key, text, f.Enum)
		}
	}
	if f.Members != nil {
		if err := f.Members.Check(value); err != nil {
			return fmt.Errorf("in %q: %w", f.Key, err)
		}
	}
	return nil
}

// SameShape reports whether b could stand where a stood: the same kind of value
// and, for objects, the same members of the same kinds all the way down; arrays
// may differ in length when their elements are alike. A null in either is taken
// for the same, since it says nothing about the kind.
func SameShape(a, b []byte) bool { return sameShape(a, b, 0) }

func sameShape(a, b []byte, depth int) bool {
	kind := Kind(a)
	if kind == "null" || Kind(b) == "null" {
		return true
	}
	if kind != Kind(b) || depth > maxDepth {
		return false
	}
	switch kind {
	case "object":
		left, right := members(a), members(b)
		if len(left) != len(right) {
			return false
		}
		for i := range left {
			if left[i].key != right[i].key || !sameShape(left[i].value, right[i].value, depth+1) {
				return false
			}
		}
	case "array":
		var left, right [][]byte
		_ = Array(a, func(v []byte) bool { left = append(left, v); return true })
		_ = Array(b, func(v []byte) bool { right = append(right, v); return true })
		for i := 0; i < len(left) && i < len(right); i++ {
			if !sameShape(left[i], right[i], depth+1) {
				return false
			}
		}
	}
	return true
}

type member struct {
	key   string
	value []byte
}

// members lists an object's members by key, so that their order does not matter.
func members(data []byte) []member {
	var out []member
	_ = Object(data, func(k, v []byte) bool {
		out = append(out, member{string(k), v})
		return true
	})
	slices.SortStableFunc(out, func(x, y member) int {
		switch {
		case x.key < y.key:
			return -1
		case x.key > y.key:
			return 1
		}
		return 0
	})
	return out
}
