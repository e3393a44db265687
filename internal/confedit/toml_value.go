package confedit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tomlKey writes a dotted key, quoting the parts that need it.
func tomlKey(parts ...string) (string, error) {
	var out []string
	for _, part := range parts {
		if !isBareKey(part) {
			q, err := tomlString(part)
			if err != nil {
				return "", err
			}
			part = q
		}
		out = append(out, part)
	}
	return strings.Join(out, "."), nil
}

// tomlString writes s as a basic string on one line.
func tomlString(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%q is not UTF-8 and cannot stand in TOML", s)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String(), nil
}

// tomlValue writes strings, booleans, numbers, and lists of these.
func tomlValue(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return tomlString(v)
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", fmt.Errorf("%v is no value for a config file", v)
		}
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0" // without it the value would be an integer
		}
		return s, nil
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return tomlValue(list)
	case []any:
		var parts []string
		for _, item := range v {
			s, err := tomlValue(item)
			if err != nil {
				return "", err
			}
			parts = append(parts, s)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	}
	return "", fmt.Errorf("values of type %T are not written as TOML here", value)
}

// Table is a block to be written: a header and its pairs in order.
type Table struct {
	Key   []string // the parts of the header's dotted key, unquoted
	Array bool     // [[key]] instead of [key]
	Pairs []Pair
}

func (t Table) path() Path {
	var p Path
	for _, k := range t.Key {
		p = append(p, k)
	}
	return p
}

// Pair is a key and its value: a string, bool, int, int64, float64, []string,
// or []any of these.
type Pair struct {
	Key   string
	Value any
}

// renderTables writes blocks with a blank line between them and a line ending
// at the end.
func renderTables(eol string, tables []Table) (string, error) {
	var b strings.Builder
	for i, t := range tables {
		if len(t.Key) == 0 {
			return "", fmt.Errorf("a table needs a key")
		}
		key, err := tomlKey(t.Key...)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString(eol)
		}
		if t.Array {
			key = "[" + key + "]"
		}
		b.WriteString("[" + key + "]" + eol)
		for _, p := range t.Pairs {
			line, err := renderPair([]string{p.Key}, p.Value)
			if err != nil {
				return "", err
			}
			b.WriteString(line + eol)
		}
	}
	return b.String(), nil
}

func renderPair(key []string, value any) (string, error) {
	k, err := tomlKey(key...)
	if err != nil {
		return "", err
	}
	v, err := tomlValue(value)
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", k, err)
	}
	return k + " = " + v, nil
}
