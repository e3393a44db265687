package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// field collects one word on its way to becoming arguments.
type field struct {
	w      *walker
	b      builder
	out    []Arg
	quote  Quote
	splits bool
	begun  bool // there is a field, even if empty: "" was written
	// active are the offsets of pattern characters that came without quotes.
	active []int
	off    int
	end    int
}

// words expands the words of a command.
func (w *walker) words(ws []*syntax.Word) []Arg {
	out := make([]Arg, 0, len(ws))
	for _, word := range ws {
		if !w.step(1) {
			return out
		}
		out = w.wordFields(out, word)
	}
	return out
}

// wordFields appends the fields that a word expands to.
func (w *walker) wordFields(out []Arg, word *syntax.Word) []Arg {
	if len(word.Parts) == 1 {
		// The common case: plain text.
		if l, ok := word.Parts[0].(*syntax.Lit); ok && plain(l.Value) {
			return append(out, Arg{Value: exact(l.Value), Quote: Bare,
				Offset: w.offset(l.ValuePos), End: w.endOffset(l.ValueEnd)})
		}
	}
	for _, parts := range w.braces(word) {
		f := field{w: w, off: w.offset(word.Pos()), end: w.endOffset(word.End())}
		if len(word.Parts) > 0 && len(parts) > 0 && len(parts) != len(word.Parts) {
			f.quote |= Expanded
		}
		f.parts(parts)
		f.flush()
		out = append(out, f.out...)
		if w.over {
			return out
		}
	}
	return out
}

// plain reports whether unquoted literal text stands for itself.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\', c == '*', c == '?', c == '[', c == '{', c == '~' && i == 0, c == '=' && i == 0, c == 0xf3:
			return false
		}
	}
	return true
}

// parts expands the parts of an unquoted word.
func (f *field) parts(parts []syntax.WordPart) {
	for i, part := range parts {
		if !f.w.step(1) {
			return
		}
		switch p := part.(type) {
		case *syntax.Lit:
			f.lit(p.Value, i == 0)
		case *syntax.SglQuoted:
			f.begun = true
			if p.Dollar {
				f.quote |= ANSI
				f.b.add(f.w.literal(ansiC(p.Value, false)))
			} else {
				f.quote |= Single
				f.b.add(f.w.literal(p.Value))
			}
		case *syntax.DblQuoted:
			f.quote |= Double
			f.double(p.Parts)
		case *syntax.ExtGlob:
			f.quote |= Bare
			f.begun = true
			f.active = append(f.active, f.b.b.Len())
			f.b.addText(p.Op.String() + p.Pattern.Value + ")")
		case *syntax.ParamExp:
			f.quote |= Expanded
			vals, _ := f.w.param(p, false)
			for j, v := range vals {
				if j > 0 {
					f.flush()
				}
				f.split(v)
			}
			if len(vals) == 0 {
				f.splits = true
			}
		case *syntax.CmdSubst:
			f.quote |= Expanded
			f.split(f.w.capture(p))
		case *syntax.ArithmExp:
			f.quote |= Expanded
			f.begun = true
			f.b.add(f.w.arithmValue(p.X))
		case *syntax.ProcSubst:
			f.quote |= Expanded
			f.begun = true
			f.b.add(f.w.procSubst(p))
		case *syntax.BraceExp:
			f.begun = true
			f.b.add(hole(HoleMany, "{}"))
		}
	}
}

// lit adds unquoted literal text.
func (f *field) lit(s string, first bool) {
	f.quote |= Bare
	f.begun = f.begun || s != ""
	if first && len(s) > 0 {
		switch {
		case s[0] == '~':
			s = f.tilde(s)
		case s[0] == '=' && len(s) > 1 && f.w.src.dialect == Zsh:
			s = s[1:] // =cmd is the path of cmd
		}
	}
	if !strings.ContainsAny(s, "\\*?[") {
		f.b.add(f.w.literal(s))
		return
	}
	last := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			f.b.add(f.w.literal(s[last:i]))
			f.quote |= Escaped
			last = i + 1
			if i+1 < len(s) && s[i+1] == '\n' {
				last++
			}
			i++
		case '*', '?', '[':
			if !f.w.step(1) {
				return
			}
			f.b.add(f.w.literal(s[last:i]))
			f.active = append(f.active, f.b.b.Len())
			last = i
		}
	}
	if last < len(s) {
		f.b.add(f.w.literal(s[last:]))
	}
}

// tilde expands a leading ~ and returns what follows it.
func (f *field) tilde(s string) string {
	end := strings.IndexByte(s, '/')
	if end < 0 {
		end = len(s)
	}
	if strings.ContainsAny(s[:end], "\\*?[") {
		return s
	}
	f.b.add(f.w.tildeValue(s[1:end]))
	return s[end:]
}

func (w *walker) tildeValue(user string) Value {
	switch user {
	case "":
		return w.variable("HOME")
	case "+":
		return w.st.dir
	case "-":
		return w.variable("OLDPWD")
	case "root":
		return exact("/root")
	}
	if user != "" && w.world.Home != "" && strings.HasSuffix(w.world.Home, "/"+user) {
		return exact(w.world.Home)
	}
	if i := strings.LastIndexByte(w.world.Home, '/'); i > 0 && plain(user) {
		// Homes lie beside each other; root's was handled above.
		return exact(w.world.Home[:i+1] + user)
	}
	return exact("/home/" + user)
}

// double adds the parts of a double-quoted string.
func (f *field) double(parts []syntax.WordPart) {
	if len(parts) == 0 {
		f.begun = true
	}
	for _, part := range parts {
		if !f.w.step(1) {
			return
		}
		switch p := part.(type) {
		case *syntax.ParamExp:
			f.quote |= Expanded
			vals, multi := f.w.param(p, true)
			if !multi {
				f.begun = true
			}
			for j, v := range vals {
				if j > 0 {
					f.flush()
				}
				f.begun = true
				f.b.add(v)
			}
			if multi && len(vals) == 1 && len(vals[0].Holes) > 0 {
				f.splits = true // "$@" of unknown arguments
			}
		default:
			f.begun = true
			f.b.add(f.w.quotedPart(part, false))
			if _, ok := part.(*syntax.Lit); !ok {
				f.quote |= Expanded
			}
		}
	}
}

// quotedPart expands one part inside double quotes or a here-document.
func (w *walker) quotedPart(part syntax.WordPart, heredoc bool) Value {
	switch p := part.(type) {
	case *syntax.Lit:
		return w.literal(unescapeDouble(p.Value, heredoc))
	case *syntax.ParamExp:
		vals, _ := w.param(p, true)
		return joinValues(vals, w.ifsFirst())
	case *syntax.CmdSubst:
		return w.capture(p)
	case *syntax.ArithmExp:
		return w.arithmValue(p.X)
	case *syntax.SglQuoted:
		if p.Dollar {
			return w.literal(ansiC(p.Value, false))
		}
		return w.literal(p.Value)
	case *syntax.DblQuoted:
		return w.quotedParts(p.Parts, false)
	case *syntax.ProcSubst:
		return w.procSubst(p)
	case *syntax.ExtGlob:
		return exact(p.Op.String() + p.Pattern.Value + ")")
	}
	return hole(HoleMany, "")
}

func (w *walker) quotedParts(parts []syntax.WordPart, heredoc bool) Value {
	var b builder
	for _, p := range parts {
		if !w.step(1) {
			break
		}
		b.add(w.quotedPart(p, heredoc))
	}
	return b.take()
}

func joinValues(vals []Value, sep string) Value {
	var b builder
	for i, v := range vals {
		if i > 0 {
			b.addText(sep)
		}
		b.add(v)
	}
	return b.take()
}

// one expands a word to a single value, without splitting or patterns: the
// right side of an assignment, a redirection target, a case word.
func (w *walker) one(word *syntax.Word) Value {
	if word == nil {
		return Value{}
	}
	if len(word.Parts) == 1 {
		if l, ok := word.Parts[0].(*syntax.Lit); ok && plain(l.Value) && !strings.Contains(l.Value, ":~") {
			return exact(l.Value)
		}
	}
	var b builder
	for i, part := range word.Parts {
		if !w.step(1) {
			break
		}
		if l, ok := part.(*syntax.Lit); ok {
			b.add(w.assignLit(l.Value, i == 0))
			continue
		}
		b.add(w.quotedPart(part, false))
	}
	return b.take()
}

// assignLit expands literal text with a tilde at the start and after colons.
func (w *walker) assignLit(s string, first bool) Value {
	if !strings.ContainsAny(s, "\\~") {
		return w.literal(s)
	}
	var b builder
	last := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			b.add(w.literal(s[last:i]))
			last = i + 1
			if i+1 < len(s) && s[i+1] == '\n' {
				last++
			}
			i++
		case '~':
			if (i == 0 && first) || (i > 0 && s[i-1] == ':') {
				end := i + 1
				for end < len(s) && s[end] != '/' && s[end] != ':' {
					end++
				}
				b.add(w.literal(s[last:i]))
				b.add(w.tildeValue(s[i+1 : end]))
				last = end
				i = end - 1
			}
		}
	}
	if last < len(s) {
		b.add(w.literal(s[last:]))
	}
	return b.take()
}

// oneArg is one with a position.
func (w *walker) oneArg(word *syntax.Word) Arg {
	return Arg{Value: w.one(word), Offset: w.offset(word.Pos()), End: w.endOffset(word.End()), Quote: quoteOf(word)}
}

func quoteOf(word *syntax.Word) Quote {
	var q Quote
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			q |= Bare
		case *syntax.SglQuoted:
			q |= Single
			if p.Dollar {
				q |= ANSI
			}
		case *syntax.DblQuoted:
			q |= Double
		default:
			q |= Expanded
		}
	}
	return q
}

func (w *walker) ifs() string {
	v := w.variable("IFS")
	if s, ok := v.Exact(); ok {
		return s
	}
	return " \t\n"
}

func (w *walker) ifsFirst() string {
	ifs := w.ifs()
	if ifs == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(ifs)
	return ifs[:n]
}

// split adds an unquoted expansion, breaking it into fields.
func (f *field) split(v Value) {
	if f.w.src.dialect == Zsh {
		// zsh does not split, but drops an empty expansion.
		f.b.add(v)
		f.splits = f.splits || len(v.Holes) > 0
		f.begun = f.begun || v.Text != "" || len(v.Holes) > 0 || len(v.Alts) > 0
		return
	}
	ifs := f.w.ifs()
	if len(v.Alts) > 0 {
		breaks := false
		for i := range v.Alts {
			breaks = breaks || strings.ContainsAny(v.Alts[i].Text, ifs)
		}
		f.splits = true
		if !breaks {
			f.begun = true
			f.b.add(v)
			return
		}
		// Several alternatives of several words each: list all their words,
		// more than any one run would see.
		for i := range v.Alts {
			if i > 0 {
				f.flush()
			}
			f.split(v.Alts[i])
		}
		f.splits = true
		return
	}
	f.w.step(len(v.Text) / 64)
	last := 0
	for _, h := range v.Holes {
		f.splitText(v.Text[last:h.At], ifs)
		last = h.At
		h.At = 0
		f.b.add(Value{Holes: []Hole{h}})
		f.begun, f.splits = true, f.splits || h.Kind != HoleNumber
	}
	f.splitText(v.Text[last:], ifs)
}

func (f *field) splitText(s, ifs string) {
	if s == "" {
		return
	}
	if !strings.ContainsAny(s, ifs) {
		f.begun = true
		f.expandedText(s)
		return
	}
	start := -1
	for i, r := range s {
		if !strings.ContainsRune(ifs, r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			f.begun = true
			f.expandedText(s[start:i])
			start = -1
		}
		if f.w.over {
			return
		}
		space := r == ' ' || r == '\t' || r == '\n'
		if f.begun || !space {
			f.begun = true
			f.flush()
		}
	}
	if start >= 0 {
		f.begun = true
		f.expandedText(s[start:])
	}
}

// expandedText adds text in which pattern characters are live.
func (f *field) expandedText(s string) {
	at := f.b.b.Len()
	for i := 0; i < len(s); i++ {
		if s[i] == '*' || s[i] == '?' || s[i] == '[' {
			f.active = append(f.active, at+i)
		}
	}
	f.b.addText(s)
}

// flush ends the current field.
func (f *field) flush() {
	if !f.begun {
		f.b.take()
		f.active = f.active[:0]
		return
	}
	v := f.b.take()
	a := Arg{Value: v, Offset: f.off, End: f.end, Quote: f.quote, Splits: f.splits}
	if len(f.active) > 0 && f.globs(&a) {
		f.reset()
		return
	}
	f.out = append(f.out, a)
	f.w.step(4) // an Arg is some four blocks large
	f.reset()
}

func (f *field) reset() {
	f.begun, f.splits = false, false
	f.active = f.active[:0]
}

// globs replaces a pattern by the names the World lists for it.
func (f *field) globs(a *Arg) bool {
	a.Glob = true
	if len(a.Alts) > 0 || len(a.Holes) > 0 {
		return false
	}
	if live := f.active; len(live) == 1 && a.Text[live[0]] == '[' && !strings.Contains(a.Text[live[0]:], "]") {
		a.Glob = false // [ alone is a command
		return false
	}
	dir, known := f.w.st.dir.Exact()
	if f.w.world.Glob == nil || f.w.st.remote || (!known && !strings.HasPrefix(a.Text, "/")) {
		return false
	}
	var pat strings.Builder
	next := 0
	for i := 0; i < len(a.Text); i++ {
		c := a.Text[i]
		if next < len(f.active) && f.active[next] == i {
			next++
		} else if c == '*' || c == '?' || c == '[' || c == '\\' {
			pat.WriteByte('\\')
		}
		pat.WriteByte(c)
	}
	names, ok := f.w.world.Glob(dir, pat.String())
	f.w.step(16 + len(names))
	if !ok || len(names) == 0 || len(names) > 4096 {
		return false
	}
	for _, n := range names {
		f.out = append(f.out, Arg{Value: exact(n), Offset: f.off, End: f.end, Quote: f.quote | Expanded, FromGlob: a.Text})
	}
	return true
}

// braces returns the part lists that a word's brace expressions make of it.
func (w *walker) braces(word *syntax.Word) [][]syntax.WordPart {
	has := false
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			has = true
			break
		}
	}
	if !has {
		return [][]syntax.WordPart{word.Parts}
	}
	copied := &syntax.Word{Parts: append([]syntax.WordPart(nil), word.Parts...)}
	nest, deepest, all, commas := 0, 0, 0, 0
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			for i := 0; i < len(l.Value); i++ {
				switch l.Value[i] {
				case '{':
					nest++
					all++
					deepest = max(deepest, nest)
				case '}':
					nest--
				case ',':
					if nest > 0 {
						commas++
					}
				}
			}
		}
	}
	if deepest > 256 {
		w.fail("depth", w.lim.Depth)
		return nil
	}
	// Two words each, from the twelfth on they are too many; what is left out of
	// account here are brackets that turn out to be none.
	if max(all, commas) > 2*w.lim.Braces {
		w.fail("braces", w.lim.Braces)
		return nil
	}
	if !syntax.SplitBraces(copied) {
		return [][]syntax.WordPart{word.Parts}
	}
	return w.expandBraces(copied.Parts)
}

func (w *walker) expandBraces(parts []syntax.WordPart) [][]syntax.WordPart {
	lists := [][]syntax.WordPart{nil}
	for _, part := range parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok {
			for i := range lists {
				lists[i] = append(lists[i], part)
			}
			if !w.step(1 + len(lists)/16) {
				return nil
			}
			continue
		}
		var elems [][]syntax.WordPart
		if br.Sequence {
			elems = w.braceSequence(br)
		} else {
			for _, e := range br.Elems {
				if !w.enter() {
					return nil
				}
				elems = append(elems, w.expandBraces(e.Parts)...)
				w.leave()
				if len(elems) > w.lim.Braces {
					break
				}
			}
		}
		if len(lists)*len(elems) > w.lim.Braces {
			w.fail("braces", w.lim.Braces)
			return nil
		}
		next := make([][]syntax.WordPart, 0, len(lists)*len(elems))
		for _, l := range lists {
			for _, e := range elems {
				if !w.step(1 + (len(l)+len(e))/8) {
					return nil
				}
				joined := make([]syntax.WordPart, 0, len(l)+len(e)+1)
				next = append(next, append(append(joined, l...), e...))
			}
		}
		lists = next
	}
	return lists
}

func (w *walker) braceSequence(br *syntax.BraceExp) [][]syntax.WordPart {
	text := func(i int) string {
		if i >= len(br.Elems) {
			return ""
		}
		return br.Elems[i].Lit()
	}
	pos := br.Elems[0].Pos()
	unit := func(s string) []syntax.WordPart {
		return []syntax.WordPart{&syntax.Lit{ValuePos: pos, ValueEnd: pos, Value: s}}
	}
	from, to := text(0), text(1)
	step := int64(1)
	if n, err := strconv.ParseInt(text(2), 10, 32); err == nil && n != 0 {
		step = max(n, -n)
	}
	a, errA := strconv.ParseInt(from, 10, 64)
	b, errB := strconv.ParseInt(to, 10, 64)
	chars := false
	if errA != nil || errB != nil {
		if len(from) != 1 || len(to) != 1 {
			return [][]syntax.WordPart{unit("{" + from + ".." + to + "}")}
		}
		a, b, chars = int64(from[0]), int64(to[0]), true
	}
	width := 0
	if !chars && (strings.HasPrefix(strings.TrimPrefix(from, "-"), "0") || strings.HasPrefix(strings.TrimPrefix(to, "-"), "0")) {
		width = max(len(from), len(to))
	}
	const show = 256
	if d := uint64(max(a, b)) - uint64(min(a, b)); d/uint64(step) > show && !chars {
		return [][]syntax.WordPart{{&syntax.ArithmExp{Left: pos, Right: pos}}}
	}
	var out [][]syntax.WordPart
	for n := a; ; {
		s := strconv.FormatInt(n, 10)
		if chars {
			s = string(rune(n))
			if s == "\\" || s == "*" || s == "?" || s == "[" || s == "~" {
				s = "\\" + s
			}
		} else if pad := width - len(s); pad > 0 {
			if n < 0 {
				s = "-" + strings.Repeat("0", pad) + s[1:]
			} else {
				s = strings.Repeat("0", pad) + s
			}
		}
		out = append(out, unit(s))
		if a <= b {
			if n > b-step {
				return out
			}
			n += step
		} else {
			if n < b+step {
				return out
			}
			n -= step
		}
	}
}

// unescapeDouble removes the backslashes that double quotes give a meaning.
func unescapeDouble(s string, heredoc bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '\\':
				i++
			case '"':
				if !heredoc {
					i++
				}
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes the escapes of $'...'; with echo set, those of echo -e and
// printf %b, where octal takes a leading zero and \c ends the text.
func ansiC(s string, echo bool) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	num := func(i, base, maxLen int) (int, int) {
		n, j := 0, i
		for j < len(s) && j-i < maxLen {
			d := digit(s[j])
			if d < 0 || d >= base {
				break
			}
			n = n*base + d
			j++
		}
		return n, j
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a':
			b.WriteByte('\a')
		case 'b':
			b.WriteByte('\b')
		case 'e', 'E':
			b.WriteByte(0x1b)
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte('\v')
		case '\\':
			b.WriteByte('\\')
		case '\'', '"', '?':
			if echo {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case 'c':
			if echo {
				return b.String()
			}
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 0x1f)
			}
		case 'x':
			n, j := num(i+1, 16, 2)
			if j == i+1 {
				b.WriteString(`\x`)
				continue
			}
			b.WriteByte(byte(n))
			i = j - 1
		case 'u', 'U':
			width := 4
			if c == 'U' {
				width = 8
			}
			n, j := num(i+1, 16, width)
			if j == i+1 {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			b.WriteRune(rune(n))
			i = j - 1
		case '0', '1', '2', '3', '4', '5', '6', '7':
			width := 3
			if echo && c == '0' {
				width = 4
			}
			n, j := num(i, 8, width)
			b.WriteByte(byte(n))
			i = j - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'Z':
		return int(c-'A') + 10
	}
	return -1
}
