package rulebook

import (
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Locate finds where a book says something that only its reader found wrong: key
// in the table [section] (index -1), or in the index-th [[section]]. Without key,
// or where the table has no such key, it is the table's own place; 0, 0 where the
// book has no such table either.
func Locate(data []byte, section string, index int, key string) (line, column int) {
	var p unstable.Parser
	p.Reset(data)
	table, seen, here := "", -1, false
	at := func(n *unstable.Node) {
		start := p.Shape(n.Raw).Start
		line, column = start.Line, start.Column
	}
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Table && e.Kind != unstable.ArrayTable && e.Kind != unstable.KeyValue {
			continue
		}
		var words []string
		var first *unstable.Node
		for it := e.Key(); it.Next(); {
			if first == nil {
				first = it.Node()
			}
			words = append(words, string(it.Node().Data))
		}
		name := strings.Join(words, ".")
		switch {
		case first == nil:
		case e.Kind != unstable.KeyValue:
			table = name
			if e.Kind == unstable.ArrayTable && name == section {
				seen++
			}
			if here = name == section && (index < 0 || seen == index); here {
				at(first)
			}
		case here && key != "" && (name == key || strings.HasPrefix(name, key+".")):
			at(first)
			return line, column
		case strings.TrimPrefix(table+"."+name, ".") == section && line == 0:
			at(first) // written inline: section = [{…}]
		}
	}
	return line, column
}

// At is the error that names that place.
func At(f File, section string, index int, key, problem string) *Error {
	line, column := Locate(f.Data, section, index, key)
	where := section
	if key != "" {
		where += "." + key
	}
	return &Error{File: f.Path, Line: line, Column: column, Key: where, Problem: problem}
}
