package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param expands ${...}. The second result is set for "$@" and "${a[@]}", whose
// values are words of their own even in quotes.
func (w *walker) param(p *syntax.ParamExp, quoted bool) (vals []Value, multi bool) {
	if !w.enter() {
		return nil, false
	}
	defer func() {
		w.leave()
		w.charge(vals...)
	}()
	if p.NestedParam != nil {
		v := w.quotedPart(p.NestedParam, false)
		return []Value{w.operate(p, v, quoted)}, false
	}
	if p.Param == nil {
		return []Value{hole(HoleMany, "")}, false
	}
	name := p.Param.Value
	if p.Names != 0 {
		return []Value{hole(HoleMany, name+"*")}, false
	}
	vals, multi = w.paramValues(p, name, quoted)
	if p.Length {
		if multi {
			for i := range vals {
				if vals[i].blurred() {
					return []Value{hole(HoleNumber, "#"+name)}, false
				}
			}
			return []Value{exact(strconv.Itoa(len(vals)))}, false
		}
		v := vals[0].mapExact(func(s string) Value { return exact(strconv.Itoa(len([]rune(s)))) })
		if v.blurred() {
			v = hole(HoleNumber, "#"+name)
		}
		return []Value{v}, false
	}
	if p.Excl && !multi {
		// ${!x}: the variable whose name is the value.
		vals[0] = vals[0].mapExact(func(s string) Value {
			if !isName(s) {
				return hole(HoleVar, s)
			}
			return w.variable(s)
		})
	} else if p.Excl {
		return []Value{hole(HoleMany, name)}, multi
	}
	if multi && p.Slice != nil {
		return w.sliceList(p, vals, name), multi
	}
	if multi && len(vals) == 0 && p.Exp != nil {
		return []Value{w.operate(p, Value{}, quoted)}, false
	}
	if plainParam(p) {
		return vals, multi
	}
	for i := range vals {
		vals[i] = w.operate(p, vals[i], quoted)
	}
	return vals, multi
}

// charge counts what values cost to copy or to keep. Without it a few bytes of
// text that name a large value again and again would be as cheap as they look.
func (w *walker) charge(vals ...Value) {
	n := max(0, len(vals)-1)
	for i := range vals {
		for _, v := range vals[i].Each() {
			n += len(v.Text)/64 + len(v.Holes)
		}
	}
	if n > 0 {
		w.step(n)
	}
}

func plainParam(p *syntax.ParamExp) bool {
	return p.Exp == nil && p.Repl == nil && p.Slice == nil && len(p.Modifiers) == 0 && p.Flags == nil
}

func (v *Value) blurred() bool { _, ok := v.Exact(); return !ok }

// paramValues returns the values of a name or special parameter before any
// operator is applied.
func (w *walker) paramValues(p *syntax.ParamExp, name string, quoted bool) ([]Value, bool) {
	switch name {
	case "@", "*":
		vals := argValues(w.st.params)
		if !w.st.knows {
			if vals = append(vals, hole(HoleParam, name)); len(vals) == 1 {
				return vals, name == "@"
			}
		}
		if name == "*" && quoted {
			return []Value{joinValues(vals, w.ifsFirst())}, false
		}
		return vals, true
	case "#":
		if p.Length || w.st.knows {
			return []Value{exact(strconv.Itoa(len(w.st.params)))}, false
		}
		return []Value{hole(HoleNumber, name)}, false
	case "?", "$", "!":
		return []Value{hole(HoleNumber, name)}, false
	case "-":
		return []Value{hole(HoleName, name)}, false
	case "0":
		if w.st.name0 != nil {
			return []Value{w.st.name0.Value}, false
		}
		return []Value{hole(HoleParam, name)}, false
	case "_":
		return []Value{hole(HoleVar, name)}, false
	}
	if allDigits(name) {
		n, _ := strconv.Atoi(name)
		if n >= 1 && n <= len(w.st.params) {
			return []Value{w.st.params[n-1].Value}, false
		}
		if w.st.knows {
			for i := range w.st.params {
				if w.st.params[i].Splits && len(w.st.params[i].Holes) > 0 {
					return []Value{w.st.params[i].Value}, false
				}
			}
			return []Value{{}}, false
		}
		return []Value{hole(HoleParam, name)}, false
	}
	if p.Index != nil {
		return w.element(p, name, quoted)
	}
	if v, ok := w.lookup(name); ok && v.isArray && w.src.dialect == Zsh {
		return append([]Value(nil), v.arr...), !quoted
	}
	return []Value{w.variable(name)}, false
}

// element expands ${name[index]}.
func (w *walker) element(p *syntax.ParamExp, name string, quoted bool) ([]Value, bool) {
	v, ok := w.lookup(name)
	index, isWord := p.Index.(*syntax.Word)
	key := ""
	if isWord {
		key = index.Lit()
	}
	if key == "@" || key == "*" {
		if !ok {
			if name == "BASH_ARGV" || name == "PIPESTATUS" {
				return []Value{hole(HoleNumber, name)}, false
			}
			return []Value{w.inherited(name)}, true
		}
		vals := append([]Value(nil), v.arr...)
		if !v.isArray {
			vals = []Value{v.val}
		}
		for _, k := range slices.Sorted(maps.Keys(v.keys)) {
			vals = append(vals, v.keys[k])
		}
		if key == "*" && quoted {
			return []Value{joinValues(vals, w.ifsFirst())}, false
		}
		return vals, true
	}
	if !ok {
		if p.Index != nil { // whether there is such a list or not, the index is evaluated
			w.arithm(p.Index)
		}
		return []Value{hole(HoleVar, name)}, false
	}
	if v.keys != nil && isWord {
		k := w.one(index)
		if s, known := k.Exact(); known {
			return []Value{v.keys[s]}, false
		}
		return []Value{hole(HoleVar, name)}, false
	}
	n, known := w.arithm(p.Index)
	if !known {
		return []Value{either(append([]Value{{}}, v.arr...)...)}, false
	}
	if !v.isArray {
		if n == 0 {
			return []Value{v.val}, false
		}
		return []Value{{}}, false
	}
	if w.src.dialect == Zsh && n > 0 {
		n--
	}
	if n < 0 {
		n += int64(len(v.arr))
	}
	if n < 0 || n >= int64(len(v.arr)) {
		return []Value{{}}, false
	}
	return []Value{v.arr[n]}, false
}

func (w *walker) sliceList(p *syntax.ParamExp, vals []Value, name string) []Value {
	if name == "@" || name == "*" {
		zero := hole(HoleParam, "0")
		if w.st.name0 != nil {
			zero = w.st.name0.Value
		}
		vals = append([]Value{zero}, vals...)
	}
	from, ok := w.arithm(p.Slice.Offset)
	n := int64(len(vals))
	if !ok {
		return []Value{hole(HoleMany, name)}
	}
	if from < 0 {
		from = max(from+n, 0)
	}
	from = min(from, n)
	to := n
	if p.Slice.Length != nil {
		l, ok := w.arithm(p.Slice.Length)
		if !ok {
			return []Value{hole(HoleMany, name)}
		}
		if l < 0 {
			to = max(n+l, from)
		} else {
			to = min(from+l, n)
		}
	}
	return vals[from:to]
}

// operate applies the operator of an expansion to a value.
func (w *walker) operate(p *syntax.ParamExp, v Value, quoted bool) Value {
	if len(v.Alts) > 0 {
		out := make([]Value, len(v.Alts))
		for i := range v.Alts {
			out[i] = w.operate(p, v.Alts[i], quoted)
		}
		return either(out...)
	}
	w.step(len(v.Text) / 64)
	switch {
	case p.Exp != nil:
		return w.expansion(p, v, quoted)
	case p.Repl != nil:
		return w.replace(p, v)
	case p.Slice != nil:
		return w.substring(p, v)
	case p.Flags != nil:
		return w.zshFlags(p.Flags.Value, v)
	case len(p.Modifiers) > 0:
		return v.mapExact(func(s string) Value {
			for _, m := range p.Modifiers {
				switch m.Value {
				case "h":
					s = dirname(s)
				case "t":
					s = s[strings.LastIndexByte(s, '/')+1:]
				case "r":
					if i := strings.LastIndexByte(s, '.'); i > strings.LastIndexByte(s, '/') {
						s = s[:i]
					}
				case "l":
					s = strings.ToLower(s)
				case "u":
					s = strings.ToUpper(s)
				case "a", "A", "P", "Q":
				default:
					return hole(HoleMany, p.Param.Value)
				}
			}
			return exact(s)
		})
	}
	return v
}

func (w *walker) zshFlags(flags string, v Value) Value {
	return v.mapExact(func(s string) Value {
		for _, f := range flags {
			switch f {
			case 'L':
				s = strings.ToLower(s)
			case 'U':
				s = strings.ToUpper(s)
			case 'f', 's', '@', 'z', 'Q', 'q', 'o', 'O', 'i':
			default:
				return hole(HoleMany, "")
			}
		}
		return exact(s)
	})
}

// expansion applies ${x:-d} and friends, ${x#p} and ${x%p}, case changes and
// ${x@Q}.
func (w *walker) expansion(p *syntax.ParamExp, v Value, quoted bool) Value {
	word := func() Value {
		if quoted && p.Exp.Word != nil {
			// Inside double quotes no tilde, and quoting by their rules.
			return w.quotedParts(p.Exp.Word.Parts, false)
		}
		return w.one(p.Exp.Word)
	}
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	_, known := v.Exact()
	_, isSet := w.lookup(name)
	// Whether a value with holes may be empty or unset.
	maybe := !known && v.Text == ""
	certain := false
	if maybe && len(v.Holes) == 1 {
		h := v.Holes[0]
		if h.NonEmpty || h.Kind == HoleNumber || h.Kind == HoleName {
			maybe = false
		}
		certain = h.Unset
	}
	set := isSet || !maybe || (known && v.Text != "") || allDigits(name) && known && v.Text != ""
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		orNull := p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnsetOrNull
		out := v
		switch {
		case known && v.Text != "", known && set && !orNull && isSet:
			return v
		case known:
			out = word()
		case certain:
			out = word()
		case maybe:
			for i := range v.Holes {
				h := v.Holes[i]
				h.NonEmpty = true
				v = Value{Holes: []Hole{h}}
			}
			out = either(word(), v)
		}
		if (p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull) && isName(name) {
			w.assign(name, out)
		}
		return out
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		switch {
		case known && (v.Text != "" || (isSet && p.Exp.Op == syntax.AlternateUnset)), !known && !maybe:
			return word()
		case known, certain:
			return Value{}
		}
		return either(word(), Value{})
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if !known && len(v.Holes) > 0 {
			holes := append([]Hole(nil), v.Holes...)
			holes[0].NonEmpty = true
			v.Holes = holes
		}
		return v
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pat := w.pattern(p.Exp.Word)
		ps, ok := pat.Exact()
		if !ok {
			return v.blur()
		}
		return w.trim(v, ps, p.Exp.Op)
	case syntax.UpperFirst, syntax.LowerFirst:
		return v.mapExact(func(s string) Value {
			if s == "" {
				return Value{}
			}
			if p.Exp.Op == syntax.UpperFirst {
				return exact(strings.ToUpper(s[:1]) + s[1:])
			}
			return exact(strings.ToLower(s[:1]) + s[1:])
		})
	case syntax.UpperAll:
		return v.mapExact(func(s string) Value { return exact(strings.ToUpper(s)) })
	case syntax.LowerAll:
		return v.mapExact(func(s string) Value { return exact(strings.ToLower(s)) })
	case syntax.OtherParamOps:
		if p.Exp.Word != nil {
			switch p.Exp.Word.Lit() {
			case "Q", "A", "K", "k":
				return v
			case "E":
				return v.mapExact(func(s string) Value { return exact(ansiC(s, false)) })
			case "P":
				return v
			case "U":
				return v.mapExact(func(s string) Value { return exact(strings.ToUpper(s)) })
			case "L":
				return v.mapExact(func(s string) Value { return exact(strings.ToLower(s)) })
			}
		}
	}
	return v.blur()
}

// trim removes a pattern from one end. On a value with holes it works on the
// known end when the pattern plainly fits there.
func (w *walker) trim(v Value, pat string, op syntax.ParExpOperator) Value {
	large := op == syntax.RemLargePrefix || op == syntax.RemLargeSuffix
	prefix := op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix
	s, known := v.Exact()
	if !known {
		if len(v.Alts) == 0 && !strings.ContainsAny(pat, "*?[\\") {
			if prefix && strings.HasPrefix(v.Prefix(), pat) {
				return v.slice(len(pat), len(v.Text))
			}
			if !prefix && strings.HasSuffix(v.Suffix(), pat) {
				return v.slice(0, len(v.Text)-len(pat))
			}
			if prefix && v.Prefix() != "" && !strings.HasPrefix(pat, v.Prefix()) {
				return v
			}
		}
		return v.blur()
	}
	if len(s) > 4096 {
		return v.blur()
	}
	try := func(i int) bool {
		w.step(1 + len(s)/16)
		if prefix {
			return globMatch(pat, s[:i])
		}
		return globMatch(pat, s[i:])
	}
	// Prefix: shortest means small i; suffix: shortest means large i.
	if prefix != large {
		for i := 0; i <= len(s); i++ {
			if w.over {
				break
			}
			if try(i) {
				if prefix {
					return exact(s[i:])
				}
				return exact(s[:i])
			}
		}
		return v
	}
	for i := len(s); i >= 0; i-- {
		if w.over {
			break
		}
		if try(i) {
			if prefix {
				return exact(s[i:])
			}
			return exact(s[:i])
		}
	}
	return v
}

// pattern expands a word to a shell pattern: quoted parts are escaped.
func (w *walker) pattern(word *syntax.Word) Value {
	if word == nil {
		return Value{}
	}
	var b builder
	for _, part := range word.Parts {
		if !w.step(1) {
			break
		}
		switch p := part.(type) {
		case *syntax.Lit:
			b.addText(p.Value)
		case *syntax.SglQuoted, *syntax.DblQuoted:
			v := w.quotedPart(p, false)
			b.add(v.mapExact(func(s string) Value { return exact(escapePattern(s)) }))
		default:
			b.add(w.quotedPart(part, false))
		}
	}
	return b.take()
}

func escapePattern(s string) string {
	if !strings.ContainsAny(s, "*?[\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("*?[\\", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// replace applies ${x/a/b}.
func (w *walker) replace(p *syntax.ParamExp, v Value) Value {
	pv, with := w.pattern(p.Repl.Orig), w.one(p.Repl.With)
	pat, ok1 := pv.Exact()
	rep, ok2 := with.Exact()
	s, ok3 := v.Exact()
	if !ok1 || !ok3 || len(s) > 4096 {
		return v.blur()
	}
	if !ok2 {
		return with.blur()
	}
	anchor := byte(0)
	if !p.Repl.All && pat != "" && (pat[0] == '#' || pat[0] == '%') {
		anchor, pat = pat[0], pat[1:]
	}
	var b strings.Builder
	for i := 0; i <= len(s); {
		n := -1
		if anchor == 0 || (anchor == '#' && i == 0) || anchor == '%' {
			n = w.longest(pat, s[i:], anchor == '%')
		}
		if n > 0 || (n == 0 && anchor != 0 && pat == "") {
			b.WriteString(rep)
			i += n
			if !p.Repl.All || w.over {
				return exact(b.String() + s[i:])
			}
			continue
		}
		if i < len(s) {
			b.WriteByte(s[i])
		}
		i++
		if b.Len() > maxText || w.over {
			return v.blur()
		}
	}
	return exact(b.String())
}

// longest returns the length of the longest prefix of s that matches, -1 if
// none; with whole, only all of s counts.
func (w *walker) longest(pat, s string, whole bool) int {
	if !strings.ContainsAny(pat, "*?[\\") {
		w.step(1)
		if strings.HasPrefix(s, pat) && (!whole || len(s) == len(pat)) {
			return len(pat)
		}
		return -1
	}
	for i := len(s); i >= 0; i-- {
		if !w.step(1 + i/16) {
			return -1
		}
		if globMatch(pat, s[:i]) {
			return i
		}
		if whole {
			return -1
		}
	}
	return -1
}

// substring applies ${x:o:l}.
func (w *walker) substring(p *syntax.ParamExp, v Value) Value {
	from, ok := w.arithm(p.Slice.Offset)
	if !ok {
		return v.blur()
	}
	length, hasLen := int64(0), p.Slice.Length != nil
	if hasLen {
		if length, ok = w.arithm(p.Slice.Length); !ok {
			return v.blur()
		}
	}
	return v.mapExact(func(s string) Value {
		n := int64(len(s))
		lo := from
		if lo < 0 {
			lo += n
		}
		if lo < 0 || lo > n {
			return Value{}
		}
		hi := n
		if hasLen {
			if length < 0 {
				hi = n + length
			} else {
				hi = lo + min(length, n-lo)
			}
		}
		if hi < lo {
			return Value{}
		}
		return exact(s[lo:hi])
	})
}

// globMatch reports whether a shell pattern matches all of s. It backtracks
// only to the last star, so its time is bounded by the product of the lengths.
func globMatch(pat, s string) bool {
	pi, si := 0, 0
	star, mark := -1, 0
	for si < len(s) {
		if pi < len(pat) {
			switch c := pat[pi]; {
			case c == '*':
				star, mark = pi, si
				pi++
				continue
			case c == '?':
				pi++
				si++
				continue
			case c == '[':
				if ok, n := classMatch(pat[pi:], s[si]); n > 0 {
					if ok {
						pi += n
						si++
						continue
					}
					break
				}
				if s[si] == '[' {
					pi++
					si++
					continue
				}
			case c == '\\' && pi+1 < len(pat):
				if pat[pi+1] == s[si] {
					pi += 2
					si++
					continue
				}
			case c == s[si]:
				pi++
				si++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		pi, si = star+1, mark
	}
	for pi < len(pat) && pat[pi] == '*' {
		pi++
	}
	return pi == len(pat)
}

// classMatch matches c against the bracket expression at the start of pat and
// returns its length, 0 if it is not closed.
func classMatch(pat string, c byte) (bool, int) {
	i := 1
	neg := i < len(pat) && (pat[i] == '!' || pat[i] == '^')
	if neg {
		i++
	}
	hit := false
	for first := true; i < len(pat); first = false {
		if pat[i] == ']' && !first {
			return hit != neg, i + 1
		}
		if strings.HasPrefix(pat[i:], "[:") {
			if end := strings.Index(pat[i:], ":]"); end > 0 && end < 12 {
				hit = hit || inClass(pat[i+2:i+end], c)
				i += end + 2
				continue
			}
		}
		lo := pat[i]
		if lo == '\\' && i+1 < len(pat) {
			i++
			lo = pat[i]
		}
		hi := lo
		if i+2 < len(pat) && pat[i+1] == '-' && pat[i+2] != ']' {
			hi = pat[i+2]
			i += 2
		}
		hit = hit || (lo <= c && c <= hi)
		i++
	}
	return false, 0
}

func inClass(name string, c byte) bool {
	lower, upper, num := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "alnum":
		return lower || upper || num
	case "digit":
		return num
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return c == ' ' || (c >= '\t' && c <= '\r')
	case "blank":
		return c == ' ' || c == '\t'
	case "punct":
		return c > ' ' && c < 0x7f && !lower && !upper && !num
	case "xdigit":
		return num || (c|0x20 >= 'a' && c|0x20 <= 'f')
	case "print":
		return c >= ' ' && c < 0x7f
	case "graph":
		return c > ' ' && c < 0x7f
	case "cntrl":
		return c < ' ' || c == 0x7f
	}
	return false
}

func isName(s string) bool {
	if s == "" || (s[0] >= '0' && s[0] <= '9') {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && digit(c) < 0 {
			return false
		}
	}
	return true
}

func dirname(s string) string {
	t := strings.TrimRight(s, "/")
	if t == "" {
		if s == "" {
			return "."
		}
		return "/"
	}
	i := strings.LastIndexByte(t, '/')
	if i < 0 {
		return "."
	}
	if t = strings.TrimRight(t[:i], "/"); t == "" {
		return "/"
	}
	return t
}

func basename(s string) string {
	t := strings.TrimRight(s, "/")
	if t == "" {
		if s == "" {
			return ""
		}
		return "/"
	}
	return t[strings.LastIndexByte(t, '/')+1:]
}
