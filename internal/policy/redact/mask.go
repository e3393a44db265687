package redact

import (
	"slices"
)

// Result tells what was done to a text. It holds no text of a secret.
type Result struct {
	// Masked counts what was replaced; one secret in three places counts three.
	Masked int
	// Rules are the ids of the rules that found something, in order, each once.
	Rules []string
	// Keys counts secrets in names of members, which cannot be replaced without
	// another shape.
	Keys int
	// Withheld is set where the text asked for more work than it may, so that all
	// its longer strings were taken away.
	Withheld bool
}

// Clean reports that there was nothing to do.
func (r *Result) Clean() bool { return r.Masked == 0 && r.Keys == 0 && !r.Withheld }

func (r *Result) note(rule string) {
	if !slices.Contains(r.Rules, rule) {
		r.Rules = append(r.Rules, rule)
	}
}

// maskOf is what stands in a secret's place. No rule takes it for a secret.
func maskOf(rule string) string { return "[redacted:" + rule + "]" }

// withheld stands in the place of a string that could not be searched to its end.
const withheld = "[withheld: too costly to search for secrets]"

// maxPasses bounds how often a text is searched. What was masked may leave a text in
// which another rule fits; every pass takes some more away.
const maxPasses = 6

// JSON masks the secrets in the strings of a JSON value. Where there are none, out is
// data itself. keys lets names of members be masked too, for text whose shape does
// not matter. ok is false for what is no JSON.
func (e *Engine) JSON(data []byte, keys bool) (out []byte, r Result, ok bool) {
	v, ok := readJSON(data)
	if !ok {
		return data, r, false
	}
	out = data
	for pass := 0; ; pass++ {
		found, over := e.spans(v.text)
		if over || pass == maxPasses {
			r.Withheld = true
			r.note("too-costly")
			return hold(out, v), r, true
		}
		r.Keys = 0 // those that are left are found again
		next, n := rewrite(out, v, found, keys, &r)
		if n == 0 {
			return out, r, true
		}
		out = next
		if v, ok = readJSON(out); !ok {
			return data, r, false // cannot happen: a mask is plain text
		}
	}
}

// Text masks the secrets of a plain text.
func (e *Engine) Text(text string) (string, Result) {
	var r Result
	for pass := 0; ; pass++ {
		found, over := e.spans([]byte(text))
		if over || pass == maxPasses {
			r.Withheld = true
			r.note("too-costly")
			return withheld, r
		}
		if len(found) == 0 {
			return text, r
		}
		var b []byte
		at := 0
		for _, f := range found {
			b = append(append(b, text[at:f.from]...), maskOf(f.rule)...)
			at = f.to
			r.Masked++
			r.note(f.rule)
		}
		text = string(append(b, text[at:]...))
	}
}

// maxLayers bounds how many escapes upon escapes are resolved.
const maxLayers = 3

// spans are the secrets of a text, in order and without overlaps: where two rules
// found pieces of one another, the longest gives the name.
func (e *Engine) spans(text []byte) (list []span, over bool) {
	list, over = e.search(text, true)
	// A text inside a text is escaped twice, and what is under the escapes may be
	// coloured.
	var layers []*view
	for v := plain(text); v != nil && !over && len(layers) < maxLayers; v = plain(v.text) {
		layers = append(layers, v)
		var more []span
		more, over = e.search(v.text, false)
		for _, f := range more {
			for i := len(layers) - 1; i >= 0; i-- {
				f.from, f.to = layers[i].back(f.from, f.to)
			}
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	out := list[:0]
	longest := 0
	for _, f := range list {
		if n := len(out); n > 0 && f.from < out[n-1].to {
			if f.to-f.from > longest {
				longest, out[n-1].rule = f.to-f.from, f.rule
			}
			out[n-1].to = max(out[n-1].to, f.to)
			continue
		}
		longest = f.to - f.from
		out = append(out, f)
	}
	return out, over
}

// rewrite replaces what was found in v by masks in data, of which v was made.
func rewrite(data []byte, v *view, found []span, keys bool, r *Result) (out []byte, n int) {
	at, k := 0, 0
	for _, f := range found {
		for k > 0 && int(v.parts[k-1].to) > f.from {
			k--
		}
		hit := false
		for ; k < len(v.parts) && int(v.parts[k].from) < f.to; k++ {
			p := v.parts[k]
			from, to := max(f.from, int(p.from)), min(f.to, int(p.to))
			if from >= to {
				continue
			}
			if p.key && !keys {
				r.Keys++
				r.note(f.rule)
				continue
			}
			rawFrom, rawTo := v.back(from, to)
			out = append(append(out, data[at:rawFrom]...), maskOf(f.rule)...)
			at = rawTo
			n++
			hit = true
		}
		if hit {
			r.Masked++
			r.note(f.rule)
		}
	}
	if n == 0 {
		return data, 0
	}
	return append(out, data[at:]...), n
}

// hold takes every string away that is longer than a word of the client's own.
func hold(data []byte, v *view) []byte {
	var out []byte
	at := 0
	for _, p := range v.parts {
		if p.key || p.to-p.from <= 24 || string(v.text[p.from:p.to]) == withheld {
			continue
		}
		from, to := v.back(int(p.from), int(p.to))
		out = append(append(out, data[at:from]...), withheld...)
		at = to
	}
	return append(out, data[at:]...)
}
