package shell

import (
	"strings"
	"unicode/utf16"
)

// The PowerShell reader finds commands, their words and what feeds them. It is
// no parser of the language: expressions are read only as far as constants and
// method calls go, and both sides of every branch are walked. The grammar
// followed is that of PowerShell 7.4, about_Parsing and about_Quoting_Rules.

// ps reads one PowerShell text.
type ps struct {
	w    *walker
	text string
	i    int
	c    ctx
	// redirs are the redirections behind an expression.
	redirs []Redirect
}

func (w *walker) powershell(text string, c ctx) {
	if plain := w.plainQuotes(text); plain != text {
		old := w.src
		src := *old
		if src.text, src.verbatim = plain, false; old.verbatim { // what stands where is no longer known
			src.end = src.base + len(text)
		}
		w.src, text = &src, plain
		defer func() { w.src = old }()
	}
	p := &ps{w: w, text: text, c: c}
	p.statements()
}

func (p *ps) pos(i int) int {
	if p.w.src.verbatim {
		return min(p.w.src.base+i, len(p.w.f.Text))
	}
	return p.w.src.base
}

func (p *ps) unparsable(detail string) {
	p.w.problem(Problem{Kind: Unparsable, Detail: detail, Leaf: -1, Offset: p.pos(p.i)})
	p.i = len(p.text)
}

// nested walks the text between two offsets as statements.
func (p *ps) nested(from, to int, c ctx) {
	w := p.w
	old := w.src
	src := *old
	src.text = p.text[from:to]
	if src.verbatim {
		src.base += from
	}
	w.src = &src
	w.text(src.text, PowerShell, c)
	w.src = old
}

// space skips blanks, comments and continued lines; with lines, newlines too.
func (p *ps) space(lines bool) {
	for p.i < len(p.text) {
		switch ch := p.text[p.i]; {
		case ch == ' ' || ch == '\t' || ch == '\r':
			p.i++
		case ch == '\n' && lines:
			p.i++
		case ch == '`' && p.i+1 < len(p.text) && p.text[p.i+1] == '\n':
			p.i += 2
		case ch == '`' && strings.HasPrefix(p.text[p.i+1:], "\r\n"):
			p.i += 3
		case ch == '#':
			for p.i < len(p.text) && p.text[p.i] != '\n' {
				p.i++
			}
		case ch == '<' && strings.HasPrefix(p.text[p.i:], "<#"):
			end := strings.Index(p.text[p.i:], "#>")
			if end < 0 {
				p.unparsable("comment without an end")
				return
			}
			p.i += end + 2
		default:
			return
		}
	}
}

// group returns the offset after the bracket that closes the one at i. It
// knows quotes, here-strings, comments and escapes.
func (p *ps) group(i int) (int, bool) {
	start := i
	defer func() { p.w.step((i - start) / 32) }()
	var stack []byte
	for i < len(p.text) {
		switch ch := p.text[i]; ch {
		case '(', '{', '[':
			stack = append(stack, ch)
		case ')', '}', ']':
			if len(stack) == 0 {
				return i, false
			}
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return i + 1, true
			}
		case '\'', '"':
			end, ok := p.quoted(i)
			if !ok {
				return len(p.text), false
			}
			i = end
			continue
		case '@':
			if end, ok := p.hereString(i); ok {
				i = end
				continue
			}
		case '`':
			i++
		case '#':
			if i == 0 || strings.IndexByte(" \t\r\n;({", p.text[i-1]) >= 0 {
				for i < len(p.text) && p.text[i] != '\n' {
					i++
				}
				continue
			}
		}
		i++
	}
	return len(p.text), false
}

// quoted returns the offset after the string that starts at i.
func (p *ps) quoted(i int) (int, bool) {
	q, start := p.text[i], i
	defer func() { p.w.step((i - start) / 32) }()
	for i++; i < len(p.text); i++ {
		switch ch := p.text[i]; {
		case ch == '`' && q == '"':
			i++
		case ch == '$' && q == '"' && i+1 < len(p.text) && p.text[i+1] == '(':
			// A subexpression may hold quotes of its own.
			depth := 0
			for ; i < len(p.text); i++ {
				if p.text[i] == '(' {
					depth++
				} else if p.text[i] == ')' {
					if depth--; depth == 0 {
						break
					}
				}
			}
		case ch == q:
			if i+1 < len(p.text) && p.text[i+1] == q {
				i++
				continue
			}
			return i + 1, true
		}
	}
	return len(p.text), false
}

// hereString returns the offset after a here-string at i.
func (p *ps) hereString(i int) (int, bool) {
	if i+2 >= len(p.text) || (p.text[i+1] != '\'' && p.text[i+1] != '"') {
		return 0, false
	}
	nl := 2 // only blanks may stand before the end of the line, so look no further
	for i+nl < len(p.text) && (p.text[i+nl] == ' ' || p.text[i+nl] == '\t' || p.text[i+nl] == '\r') {
		nl++
	}
	if i+nl >= len(p.text) || p.text[i+nl] != '\n' {
		return 0, false
	}
	end := strings.Index(p.text[i+nl:], "\n"+p.text[i+1:i+2]+"@")
	if end < 0 {
		p.w.step((len(p.text) - i) / 256)
		return 0, false
	}
	return i + nl + end + 3, true
}

func (p *ps) statements() {
	for !p.w.over {
		p.space(true)
		if p.i >= len(p.text) {
			return
		}
		if !p.w.step(1) {
			return
		}
		switch p.text[p.i] {
		case ';', '&', '|':
			if p.text[p.i] == '&' && !strings.HasPrefix(p.text[p.i:], "&&") {
				break
			}
			if strings.HasPrefix(p.text[p.i:], "&&") || strings.HasPrefix(p.text[p.i:], "||") {
				p.c.flags |= Conditional
				p.i++
			}
			p.i++
			continue
		case ')', '}', ']':
			p.unparsable("closing bracket without an opening one")
			return
		}
		if p.keyword() {
			continue
		}
		p.pipeline()
	}
}

// word returns the run of letters at the offset.
func (p *ps) word() string {
	j := p.i
	for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '-' || p.text[j] == '_') {
		j++
	}
	return p.text[p.i:j]
}

// keyword walks a statement that starts with a keyword.
func (p *ps) keyword() bool {
	word := lower(p.word())
	c := p.c
	switch word {
	case "if", "elseif", "while", "for", "foreach", "switch", "until":
		save := p.i
		p.i += len(word)
		p.space(true)
		for p.i < len(p.text) && p.text[p.i] == '-' {
			for p.i < len(p.text) && p.text[p.i] != ' ' && p.text[p.i] != '(' {
				p.i++
			}
			p.space(true)
		}
		if p.i >= len(p.text) || p.text[p.i] != '(' {
			p.i = save
			return false // foreach as the alias of ForEach-Object
		}
		end, ok := p.group(p.i)
		if !ok {
			p.unparsable("bracket without an end")
			return true
		}
		from := p.i
		p.i = end
		loop := word == "while" || word == "for" || word == "foreach" || word == "until"
		p.condition(word, from+1, end-1)
		if word == "until" {
			return true
		}
		if loop {
			c.flags |= Loop
		}
		c.flags |= Conditional
		p.block(c, word == "switch")
		return true
	case "else", "do", "try", "finally", "begin", "process", "end", "dynamicparam", "clean", "trap", "data", "catch":
		save := p.i
		p.i += len(word)
		p.space(true)
		for p.i < len(p.text) && p.text[p.i] == '[' { // catch [type]
			end, ok := p.group(p.i)
			if !ok {
				p.unparsable("bracket without an end")
				return true
			}
			p.i = end
			p.space(true)
			if p.i < len(p.text) && p.text[p.i] == ',' {
				p.i++
				p.space(true)
			}
		}
		if p.i < len(p.text) && p.text[p.i] == '{' {
			c.flags |= Conditional
			p.block(c, false)
			return true
		}
		if word == "else" {
			return true // else if
		}
		p.i = save
		return false
	case "function", "filter", "workflow":
		p.i += len(word)
		p.space(true)
		from := p.i
		for p.i < len(p.text) && strings.IndexByte(" \t\r\n({", p.text[p.i]) < 0 {
			p.i++
		}
		name := lower(p.text[from:p.i])
		if j := strings.IndexByte(name, ':'); j >= 0 {
			name = name[j+1:]
		}
		p.space(true)
		if p.i < len(p.text) && p.text[p.i] == '(' {
			end, ok := p.group(p.i)
			if !ok {
				p.unparsable("bracket without an end")
				return true
			}
			p.i = end
			p.space(true)
		}
		if p.i >= len(p.text) || p.text[p.i] != '{' {
			return true
		}
		end, ok := p.group(p.i)
		if !ok {
			p.unparsable("block without an end")
			return true
		}
		w := p.w
		if w.st.funcs == nil {
			w.st.funcs = map[string]function{}
		}
		src := *w.src
		if src.verbatim {
			src.base += p.i + 1
		}
		src.dialect = PowerShell
		w.st.funcs[name] = function{ps: p.text[p.i+1 : end-1], src: &src}
		p.i = end
		return true
	case "param", "class", "enum", "using":
		p.i += len(word)
		for p.i < len(p.text) && p.text[p.i] != '\n' && p.text[p.i] != ';' {
			if p.text[p.i] == '(' || p.text[p.i] == '{' {
				end, ok := p.group(p.i)
				if !ok {
					p.unparsable("bracket without an end")
					return true
				}
				p.i = end
				return true
			}
			p.i++
		}
		return true
	case "return", "throw", "exit", "break", "continue":
		p.i += len(word)
		p.space(false)
		return true
	}
	return false
}

// condition walks what stands in the brackets of a keyword.
func (p *ps) condition(word string, from, to int) {
	if word == "foreach" {
		text := p.text[from:to]
		low := lower(text)
		if k := strings.Index(low, " in "); k > 0 {
			name := strings.TrimPrefix(strings.TrimSpace(low[:k]), "$")
			q := &ps{w: p.w, text: p.text[:to], i: from + k + 4, c: ctx{}}
			vals := q.expression()
			var all []Value
			for _, v := range vals {
				all = append(all, v.Value)
				if len(all) > 64 {
					break
				}
			}
			if len(all) == 0 {
				all = []Value{hole(HoleInput, name)}
			}
			p.w.st.setVar(name, variable{val: either(all...)})
			return
		}
	}
	p.nested(from, to, ctx{flags: p.c.flags})
}

// block walks { ... } at the offset; a switch holds pattern { } pairs.
func (p *ps) block(c ctx, isSwitch bool) {
	p.space(true)
	if p.i >= len(p.text) || p.text[p.i] != '{' {
		return
	}
	end, ok := p.group(p.i)
	if !ok {
		p.unparsable("block without an end")
		return
	}
	from, to := p.i+1, end-1
	p.i = end
	if !isSwitch {
		p.w.branches(1, func(int) { p.nested(from, to, c) }, true)
		return
	}
	q := &ps{w: p.w, text: p.text[:to], i: from, c: c}
	for q.i < to && p.w.step(1) {
		if q.text[q.i] == '{' {
			q.block(c, false)
			continue
		}
		if q.text[q.i] == '\'' || q.text[q.i] == '"' {
			e, ok := q.quoted(q.i)
			if !ok {
				return
			}
			q.i = e
			continue
		}
		q.i++
	}
}

// stage is one element of a pipeline.
type stage struct{ from, to int }

// pipeline walks commands joined by |.
func (p *ps) pipeline() {
	var stages []stage
	for {
		from := p.i
		p.skipStage()
		stages = append(stages, stage{from, p.i})
		if p.i < len(p.text) && p.text[p.i] == '|' && !strings.HasPrefix(p.text[p.i:], "||") && p.w.step(1) {
			p.i++
			p.space(true)
			continue
		}
		break
	}
	c := p.c
	if p.i < len(p.text) && p.text[p.i] == '&' && !strings.HasPrefix(p.text[p.i:], "&&") {
		p.i++
		c.flags |= Background
	}
	if p.w.over {
		return
	}
	// PowerShell runs all stages in the shell itself.
	run := func(i int, c ctx) {
		q := &ps{w: p.w, text: p.text[:stages[i].to], i: stages[i].from, c: c}
		q.command()
	}
	if len(stages) == 1 {
		run(0, c)
		return
	}
	p.w.pipelineInShell(len(stages), c, run)
}

// pipelineInShell is pipeline with every stage in the shell.
func (w *walker) pipelineInShell(n int, c ctx, walk func(int, ctx)) {
	w.pipeline(n, c, true, walk)
}

// skipStage moves to the end of the command at the offset.
func (p *ps) skipStage() {
	start := p.i
	for p.i < len(p.text) && !p.w.over {
		switch ch := p.text[p.i]; ch {
		case '\n', ';', '|':
			return
		case '&':
			// The call operator stands in front; elsewhere & ends the command,
			// but 2>&1 does not.
			if strings.TrimSpace(p.text[start:p.i]) == "" || (p.i > 0 && p.text[p.i-1] == '>') || strings.HasSuffix(strings.TrimRight(p.text[start:p.i], " \t"), "=") {
				p.i++
				continue
			}
			return
		case '(', '{', '[':
			end, ok := p.group(p.i)
			if !ok {
				if ch == '[' {
					p.i++
					continue
				}
				p.unparsable("bracket without an end")
				return
			}
			p.i = end
		case ')', '}':
			return
		case '\'', '"':
			end, ok := p.quoted(p.i)
			if !ok {
				p.unparsable("string without an end")
				return
			}
			p.i = end
		case '@':
			if end, ok := p.hereString(p.i); ok {
				p.i = end
				continue
			}
			p.i++
		case '`':
			p.i = min(p.i+2, len(p.text))
		case '#':
			if p.i == start || strings.IndexByte(" \t", p.text[p.i-1]) >= 0 {
				for p.i < len(p.text) && p.text[p.i] != '\n' {
					p.i++
				}
				continue
			}
			p.i++
		default:
			p.i++
		}
	}
}

// command walks one element of a pipeline, the rest of the text.
func (p *ps) command() {
	p.space(true)
	if p.i >= len(p.text) {
		return
	}
	start := p.i
	c := p.c
	c.pos = [2]int{p.pos(start), p.pos(len(p.text))}
	p.c = c
	w := p.w
	if p.assignment() || w.over {
		return
	}
	invoke := false
	switch ch := p.text[p.i]; {
	case ch == '&' || (ch == '.' && p.i+1 < len(p.text) && strings.IndexByte(" \t'\"$(", p.text[p.i+1]) >= 0):
		p.i++
		p.space(true)
		invoke = true
	case ch == '$' || ch == '[' || ch == '(' || ch == '\'' || ch == '"' || ch == '@' || ch == '!' || ch == '+' || ch == '-' || (ch >= '0' && ch <= '9' && !strings.HasPrefix(p.text[p.i:], "7z")):
		vals := p.expression()
		if len(p.redirs) > 0 {
			// 'text' > file
			c.redirs = append(append([]Redirect(nil), c.redirs...), p.redirs...)
			w.add(Leaf{Flags: RedirectOnly, Offset: c.pos[0], End: c.pos[1]}, c)
			for _, r := range p.redirs {
				if r.Writes() {
					w.write(slashes(r.Target.Value), joinValues(argValues(vals), "\n"), r.Op == ">>")
				}
			}
			return
		}
		if c.out != nil {
			c.out.add(joinValues(argValues(vals), "\n"))
		}
		return
	}
	argv, redirs := p.arguments(invoke)
	if len(argv) == 0 || w.over {
		return
	}
	if len(redirs) > 0 {
		c.redirs = append(append([]Redirect(nil), c.redirs...), redirs...)
		for i := range redirs {
			if r := redirs[i]; r.Writes() && r.FD != 2 {
				var out builder
				c.out, c.outKind = &out, OutputFile
				defer func() { w.write(slashes(r.Target.Value), out.take(), r.Op == ">>") }()
			}
		}
	}
	if argv[0].psBlock() {
		body := argv[0].Text
		w.nestedPS(body, argv[0], c)
		return
	}
	w.run(argv, c)
}

// psBlock reports whether the word is a script block.
func (a *Arg) psBlock() bool { return a.Quote&blockQuote != 0 }

// blockQuote marks a word that was { ... }.
const blockQuote Quote = 1 << 7

// nestedPS walks a script block that came as a word.
func (w *walker) nestedPS(body string, at Arg, c ctx) {
	verbatim := w.src.verbatim && at.Offset+1+len(body) <= len(w.f.Text) && w.f.Text[at.Offset+1:at.Offset+1+len(body)] == body
	base := at.Offset
	if verbatim {
		base++
	}
	w.nested(body, nil, PowerShell, base, at.End, verbatim, false, c)
}

// assignment walks $x = ..., $x += ... and typed ones.
func (p *ps) assignment() bool {
	i := p.i
	for i < len(p.text) && p.text[i] == '[' && !p.w.over {
		end, ok := p.group(i)
		if !ok {
			return false
		}
		i = end
		for i < len(p.text) && p.text[i] == ' ' {
			i++
		}
	}
	if i >= len(p.text) || p.text[i] != '$' {
		return false
	}
	from := i + 1
	j := from
	if j < len(p.text) && p.text[j] == '{' {
		end := strings.IndexByte(p.text[j:], '}')
		if end < 0 {
			return false
		}
		j += end + 1
	} else {
		for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_' || p.text[j] == ':') {
			j++
		}
	}
	name := lower(strings.Trim(p.text[from:j], "{}"))
	k := j
	for k < len(p.text) && (p.text[k] == ' ' || p.text[k] == '\t') {
		k++
	}
	op := ""
	for _, o := range [...]string{"??=", "+=", "-=", "*=", "/=", "="} {
		if strings.HasPrefix(p.text[k:], o) {
			op = o
			break
		}
	}
	if op == "" || strings.HasPrefix(p.text[k:], "==") || name == "" {
		return false
	}
	p.i = k + len(op)
	p.space(true)
	w := p.w
	var v Value
	vals := p.rightSide()
	if len(vals) == 1 {
		v = vals[0].Value
	} else if len(vals) > 0 {
		v = joinValues(argValues(vals), " ")
	}
	env := strings.HasPrefix(name, "env:")
	if op == "+=" {
		v = concat(w.psVariable(name), v)
	}
	old := w.st.vars[name]
	old.val, old.isArray, old.unset = v, len(vals) > 1, false
	old.arr = nil
	if len(vals) > 1 {
		old.arr = argValues(vals)
	}
	old.exported = env
	if len(vals) == 1 && vals[0].psBlock() {
		old.ref = ""
		old.keys = map[string]Value{"\x00block": vals[0].Value}
	}
	w.st.setVar(name, old)
	w.charge(v)
	shown := strings.TrimPrefix(name, "env:")
	if env {
		shown = strings.ToUpper(shown)
		w.export(shown, v)
	}
	w.add(Leaf{Flags: AssignOnly, Offset: p.c.pos[0], End: p.c.pos[1],
		Assigns: []Assign{{Name: shown, Value: v, Exported: env, Append: op == "+=", Offset: p.c.pos[0]}}}, p.c)
	return true
}

// rightSide evaluates the right side of an assignment: an expression or a
// command whose output is taken.
func (p *ps) rightSide() []Arg {
	if p.i >= len(p.text) {
		return nil
	}
	switch ch := p.text[p.i]; {
	case ch == '{':
		end, ok := p.group(p.i)
		if !ok {
			p.unparsable("block without an end")
			return nil
		}
		a := Arg{Value: exact(p.text[p.i+1 : end-1]), Offset: p.pos(p.i), End: p.pos(end), Quote: blockQuote}
		p.i = end
		return []Arg{a}
	case ch == '$' || ch == '[' || ch == '(' || ch == '\'' || ch == '"' || ch == '@' || ch == '!' || ch == '-' || (ch >= '0' && ch <= '9'):
		return p.expression()
	}
	from := p.i
	p.i = len(p.text)
	return []Arg{{Value: p.w.captured(func(c ctx) { c.flags |= p.c.flags; p.nested(from, len(p.text), c) })}}
}

// arguments reads the words and redirections of a command.
func (p *ps) arguments(invoke bool) ([]Arg, []Redirect) {
	var argv []Arg
	var redirs []Redirect
	for p.w.step(1) {
		p.space(false)
		if p.i >= len(p.text) {
			break
		}
		if r, ok := p.redirect(); ok {
			redirs = append(redirs, r)
			continue
		}
		switch p.text[p.i] {
		case ',', '\n':
			p.i++
			continue
		case ';', '|':
			return argv, redirs
		}
		if strings.HasPrefix(p.text[p.i:], "--%") && len(argv) > 0 {
			rest := p.text[p.i+3:]
			off := p.pos(p.i + 3)
			for f := range strings.FieldsSeq(rest) {
				argv = append(argv, Arg{Value: exact(strings.Trim(f, `"`)), Offset: off, End: p.pos(len(p.text)), Quote: Bare})
			}
			p.i = len(p.text)
			break
		}
		before := p.i
		argv = append(argv, p.argument(len(argv) == 0 && !invoke)...)
		if p.i == before {
			p.i++
		}
	}
	return argv, redirs
}

func (p *ps) redirect() (Redirect, bool) {
	i := p.i
	fd := -1
	if i+1 < len(p.text) && (p.text[i] >= '1' && p.text[i] <= '6' || p.text[i] == '*') && p.text[i+1] == '>' {
		if p.text[i] != '*' {
			fd = int(p.text[i] - '0')
		}
		i++
	}
	if i >= len(p.text) || (p.text[i] != '>' && p.text[i] != '<') {
		return Redirect{}, false
	}
	r := Redirect{Op: p.text[i : i+1], FD: fd, Offset: p.pos(i)}
	i++
	if i < len(p.text) && p.text[i] == '>' {
		r.Op = ">>"
		i++
	}
	if i < len(p.text) && p.text[i] == '&' {
		r.Op = ">&"
		i++
	}
	p.i = i
	p.space(false)
	if args := p.argument(false); len(args) > 0 {
		r.Target = args[0]
	}
	return r, true
}

// argument reads one word in argument mode, which may be an array of several.
func (p *ps) argument(first bool) []Arg {
	start := p.i
	var b builder
	var quote Quote
	splits := false
	var arr []Arg
	begun := false
	for p.i < len(p.text) && !p.w.over {
		ch := p.text[p.i]
		switch {
		case ch == '\'':
			s, ok := p.single()
			if !ok {
				return nil
			}
			b.addText(s)
			quote |= Single
			begun = true
			continue
		case ch == '"':
			v, ok := p.double()
			if !ok {
				return nil
			}
			b.add(v)
			quote |= Double
			begun = true
			continue
		case ch == '@' && !begun:
			if end, ok := p.hereString(p.i); ok {
				b.add(p.hereText(p.i, end))
				p.i = end
				quote |= Double
				begun = true
				continue
			}
			if strings.HasPrefix(p.text[p.i:], "@(") {
				p.i++
				return p.paren()
			}
			if strings.HasPrefix(p.text[p.i:], "@{") {
				end, ok := p.group(p.i + 1)
				if !ok {
					p.unparsable("bracket without an end")
					return nil
				}
				a := Arg{Value: exact(p.text[p.i:end]), Offset: p.pos(p.i), End: p.pos(end), Quote: Bare}
				p.i = end
				return []Arg{a}
			}
			// Splatting: @name.
			p.i++
			j := p.i
			for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_') {
				j++
			}
			if j > p.i {
				name := lower(p.text[p.i:j])
				p.i = j
				v := p.w.st.vars[name]
				if v.isArray {
					var out []Arg
					for _, x := range v.arr {
						out = append(out, Arg{Value: x, Offset: p.pos(start), End: p.pos(j), Quote: Expanded})
					}
					return out
				}
				if t, ok := v.val.Exact(); ok && strings.HasPrefix(t, "@{") {
					return p.w.psTable(t, p.pos(start), p.pos(j))
				}
				return []Arg{{Value: p.w.psVariable(name), Offset: p.pos(start), End: p.pos(j), Quote: Expanded, Splits: true}}
			}
			b.addText("@")
			begun = true
			continue
		case ch == '{' && !begun:
			end, ok := p.group(p.i)
			if !ok {
				p.unparsable("block without an end")
				return nil
			}
			a := Arg{Value: exact(p.text[p.i+1 : end-1]), Offset: p.pos(p.i), End: p.pos(end), Quote: blockQuote}
			p.i = end
			return []Arg{a}
		case ch == '(' && begun && first:
			goto done // iex(...): its first argument
		case ch == '(':
			if !begun {
				return append(arr, p.member(p.paren())...)
			}
			args := p.paren()
			b.add(joinValues(argValues(args), " "))
			continue
		case ch == '$':
			v, many := p.dollar()
			quote |= Expanded
			if many != nil && !begun {
				arr = many
				return p.member(arr)
			}
			b.add(v)
			splits = splits || len(v.Holes) > 0
			begun = true
			if p.i < len(p.text) && (p.text[p.i] == '.' || p.text[p.i] == '[') {
				b2 := p.member([]Arg{{Value: b.take()}})
				b.add(b2[0].Value)
			}
			continue
		case ch == '`' && first && p.i+1 < len(p.text) && letter(p.text[p.i+1]):
			// Re`move-It`em: a line end in the name of a command makes no sense,
			// and Windows PowerShell knows fewer escapes.
			b.addText(p.text[p.i+1 : p.i+2])
			quote |= Escaped
			begun = true
			p.i += 2
			continue
		case ch == '`' && p.i+1 < len(p.text):
			b.addText(psEscape(p.text[p.i+1]))
			quote |= Escaped
			begun = true
			p.i += 2
			continue
		case strings.IndexByte(" \t\r\n;|,)}<", ch) >= 0, ch == '&' && begun, ch == '>' && begun:
			goto done
		}
		b.addText(p.text[p.i : p.i+1])
		quote |= Bare
		begun = true
		p.i++
	}
done:
	if !begun {
		return nil
	}
	a := Arg{Value: p.w.restore(b.take()), Offset: p.pos(start), End: p.pos(p.i), Quote: quote, Splits: splits}
	if quote&(Single|Double) == 0 && strings.ContainsAny(a.Text, "*?[") && !first {
		a.Glob = true
	}
	return []Arg{a}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// psTable turns the text of a hash table into parameters: @{Path = 'x'; Force = $true}.
func (w *walker) psTable(text string, from, to int) []Arg {
	var out []Arg
	text = strings.TrimSuffix(strings.TrimPrefix(text, "@{"), "}")
	for i := 0; i < len(text) && w.step(1); {
		key, _, ok := strings.Cut(text[i:], "=")
		if !ok {
			break
		}
		i += len(key) + 1
		q := &ps{w: w, text: text, i: i}
		q.skipStage()
		vals := (&ps{w: w, text: text[:q.i], i: i}).expression()
		i = max(q.i, i) + 1
		out = append(out, Arg{Value: exact("-" + strings.Trim(strings.TrimSpace(key), `'"`)), Offset: from, End: to, Quote: Bare})
		for _, v := range vals {
			if t, ok := v.Exact(); ok && strings.EqualFold(t, "true") {
				continue
			}
			v.Offset, v.End = from, to
			out = append(out, v)
		}
	}
	return out
}

// single reads '...'.
func (p *ps) single() (string, bool) {
	end, ok := p.quoted(p.i)
	if !ok {
		p.unparsable("string without an end")
		return "", false
	}
	s := strings.ReplaceAll(p.text[p.i+1:end-1], "''", "'")
	p.i = end
	return s, true
}

// double reads "..." with its variables.
func (p *ps) double() (Value, bool) {
	end, ok := p.quoted(p.i)
	if !ok {
		p.unparsable("string without an end")
		return Value{}, false
	}
	v := p.expandString(p.i+1, end-1)
	p.i = end
	return v, true
}

func (p *ps) hereText(from, end int) Value {
	nl := from + strings.IndexByte(p.text[from:], '\n') + 1
	to := max(end-3, nl)
	if p.text[from+1] == '\'' {
		return p.w.literal(p.text[nl:to])
	}
	return p.expandString(nl, to)
}

func (p *ps) expandString(from, to int) Value {
	q := &ps{w: p.w, text: p.text[:to], i: from, c: p.c}
	var b builder
	last := from
	for q.i < to && !p.w.over {
		if ch := q.text[q.i]; (ch == '`' || ch == '$') && !p.w.step(1) {
			break
		}
		switch ch := q.text[q.i]; {
		case ch == '`' && q.i+1 < to:
			b.addText(q.text[last:q.i])
			b.addText(psEscape(q.text[q.i+1]))
			q.i += 2
			last = q.i
		case ch == '"' && q.i+1 < to && q.text[q.i+1] == '"':
			b.addText(q.text[last : q.i+1])
			q.i += 2
			last = q.i
		case ch == '$':
			b.addText(q.text[last:q.i])
			v, many := q.dollar()
			if many != nil {
				v = joinValues(argValues(many), " ")
			}
			b.add(v)
			last = q.i
		default:
			q.i++
		}
	}
	b.addText(p.text[min(last, to):to])
	return p.w.restore(b.take())
}

func psEscape(ch byte) string {
	switch ch {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case '0':
		return "\x00"
	case 'a':
		return "\a"
	case 'b':
		return "\b"
	case 'f':
		return "\f"
	case 'v':
		return "\v"
	case 'e':
		return "\x1b"
	case '\n':
		return ""
	}
	return string([]byte{ch})
}

// dollar reads $x, ${x}, $env:x or $( ). An array is returned as many.
func (p *ps) dollar() (Value, []Arg) {
	start := p.i
	p.i++
	if p.i >= len(p.text) {
		return exact("$"), nil
	}
	if p.text[p.i] == '(' {
		args := p.paren()
		if len(args) == 1 {
			return args[0].Value, nil
		}
		return Value{}, args
	}
	name := ""
	if p.text[p.i] == '{' {
		end := strings.IndexByte(p.text[p.i:], '}')
		if end < 0 {
			p.i = len(p.text)
			return hole(HoleVar, ""), nil
		}
		name = p.text[p.i+1 : p.i+end]
		p.i += end + 1
	} else {
		j := p.i
		for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_') {
			j++
		}
		if j < len(p.text) && p.text[j] == ':' && j+1 < len(p.text) && (digit(p.text[j+1]) >= 0 || p.text[j+1] == '_') && !strings.EqualFold(p.text[p.i:j], "_") {
			j++
			for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_') {
				j++
			}
		}
		if j == p.i {
			switch p.text[p.i] {
			case '$', '?', '^':
				p.i++
				return hole(HoleNumber, p.text[start:p.i]), nil
			}
			return exact("$"), nil
		}
		name = p.text[p.i:j]
		p.i = j
	}
	name = lower(name)
	for _, scope := range [...]string{"global:", "script:", "local:", "private:", "using:"} {
		name = strings.TrimPrefix(name, scope)
	}
	if v, ok := p.w.st.vars[name]; ok && v.isArray {
		p.w.charge(v.arr...)
		out := make([]Arg, len(v.arr))
		for i := range v.arr {
			out[i] = Arg{Value: v.arr[i], Offset: p.pos(start), End: p.pos(p.i), Quote: Expanded}
		}
		return Value{}, out
	}
	return p.w.psVariable(name), nil
}

// psVariable returns the value of a variable by its lower-case name.
func (w *walker) psVariable(name string) Value {
	if v, ok := w.st.vars[name]; ok {
		w.charge(v.val)
		return v.val
	}
	switch name {
	case "home", "env:home", "env:userprofile":
		if w.world.Home != "" && !w.st.remote {
			return exact(w.world.Home)
		}
	case "pwd":
		return w.st.dir
	case "true", "false", "null":
		if name == "null" {
			return Value{}
		}
		return exact(name)
	case "_", "psitem", "input":
		return hole(HoleInput, name)
	case "args", "psboundparameters":
		return hole(HoleParam, name)
	case "pid", "lastexitcode":
		return hole(HoleNumber, name)
	case "env:temp", "env:tmp":
		if v, ok := w.psEnv("TEMP"); ok {
			return v
		}
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		if v, ok := w.psEnv(env); ok {
			return v
		}
		h := hole(HoleVar, strings.ToUpper(env))
		h.Holes[0].Unset = w.world.Env != nil && !w.st.remote
		return h
	}
	// A shell variable nobody set is empty, unless the profile sets it.
	return Value{Holes: []Hole{{Kind: HoleVar, Name: name, Unset: true}}}
}

func (w *walker) psEnv(name string) (Value, bool) {
	if w.world.Env == nil || w.st.remote {
		return Value{}, false
	}
	for _, n := range [...]string{name, strings.ToUpper(name), lower(name)} {
		if v, ok := w.world.Env(n); ok {
			return exact(v), true
		}
	}
	return Value{}, false
}

// paren evaluates ( ... ) at the offset: an expression, or a pipeline whose
// output is taken.
func (p *ps) paren() []Arg {
	end, ok := p.group(p.i)
	if !ok {
		p.unparsable("bracket without an end")
		return nil
	}
	from, to := p.i+1, end-1
	start := p.i
	p.i = end
	if !p.w.enter() {
		return nil
	}
	defer p.w.leave()
	q := &ps{w: p.w, text: p.text[:to], i: from, c: p.c}
	q.space(true)
	if q.i >= to {
		return nil
	}
	var out []Arg
	switch ch := q.text[q.i]; {
	case (ch == '$' || ch == '[' || ch == '(' || ch == '\'' || ch == '"' || ch == '@' || ch == '-' || ch == '!' || (ch >= '0' && ch <= '9')) && !q.hasPipe():
		out = q.expression()
	default:
		v := p.w.captured(func(c ctx) { c.flags |= p.c.flags; q.nested(from, to, c) })
		out = []Arg{{Value: v}}
	}
	for i := range out {
		out[i].Offset, out[i].End = p.pos(start), p.pos(end)
		out[i].Quote |= Expanded
	}
	return out
}

// hasPipe reports whether a pipe or separator follows outside brackets.
func (p *ps) hasPipe() bool {
	// A walker of its own, so that looking ahead reports no problems; the work
	// is charged all the same.
	q := *p
	q.w = &walker{f: &Facts{}, world: p.w.world, lim: p.w.lim, st: p.w.st, src: p.w.src, steps: p.w.steps}
	q.skipStage()
	p.w.step(1 + q.w.steps - p.w.steps + (q.i-p.i)/32)
	if o := q.w.f.Over; o != nil {
		p.w.fail(o.What, o.Limit)
	}
	return q.i < len(q.text) && (q.text[q.i] == '|' || q.text[q.i] == ';' || q.text[q.i] == '\n' || q.text[q.i] == '&')
}

// member follows .Name, .Method(args) and [index] behind values.
func (p *ps) member(vals []Arg) []Arg {
	for p.i < len(p.text) && p.w.step(1) {
		switch {
		case p.text[p.i] == '[':
			end, ok := p.group(p.i)
			if !ok {
				p.i++
				return vals
			}
			inner := strings.TrimSpace(p.text[p.i+1 : end-1])
			p.i = end
			if n, ok := p.w.number(inner, 9); ok && allDigits(strings.TrimPrefix(inner, "-")) && len(vals) > 1 {
				if n < 0 {
					n += int64(len(vals))
				}
				if n >= 0 && n < int64(len(vals)) {
					vals = []Arg{vals[n]}
					continue
				}
			}
			vals = []Arg{{Value: blurAll(vals)}}
		case p.text[p.i] == '.' && p.i+1 < len(p.text) && (digit(p.text[p.i+1]) >= 0 || p.text[p.i+1] == '_'):
			j := p.i + 1
			for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_') {
				j++
			}
			name := lower(p.text[p.i+1 : j])
			if j >= len(p.text) || p.text[j] != '(' {
				if len(vals) == 1 && vals[0].blurred() || len(vals) != 1 || name == "fullname" || name == "length" || name == "count" {
					p.i = j
					vals = []Arg{{Value: blurAll(vals)}}
					continue
				}
				return vals // file.txt: a dot in a word
			}
			at := p.i
			p.i = j
			args := p.paren()
			vals = []Arg{{Value: p.w.psMethod(vals, "."+name, args, p.pos(at), p.c)}}
		case strings.HasPrefix(p.text[p.i:], "::"):
			j := p.i + 2
			for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_') {
				j++
			}
			name := lower(p.text[p.i+2 : j])
			at := p.i
			p.i = j
			var args []Arg
			call := p.i < len(p.text) && p.text[p.i] == '('
			if call {
				args = p.paren()
			}
			if !call {
				// A property such as UTF8: keep the name for the method behind it.
				if len(vals) == 1 {
					vals = []Arg{{Value: concat(vals[0].Value, exact("::"+name))}}
				}
				continue
			}
			vals = []Arg{{Value: p.w.psMethod(vals, "::"+name, args, p.pos(at), p.c)}}
		default:
			return vals
		}
	}
	return vals
}

func blurAll(vals []Arg) Value {
	v := joinValues(argValues(vals), " ")
	return v.blur()
}

// psMethod notes a method call as a leaf named after type and method, and
// computes the few that hide text.
func (w *walker) psMethod(on []Arg, name string, args []Arg, off int, c ctx) Value {
	subject := Value{}
	if len(on) == 1 {
		subject = on[0].Value
	}
	typ := lower(subject.Text)
	static := strings.HasPrefix(typ, "[")
	s, known := subject.Exact()
	arg := func(i int) (string, bool) {
		if i < len(args) {
			return args[i].Exact()
		}
		return "", false
	}
	switch name {
	case ".replace":
		a, ok1 := arg(0)
		b, ok2 := arg(1)
		if known && ok1 && ok2 && a != "" && len(s) < 64<<10 && strings.Count(s, a)*len(b) < maxText {
			return exact(strings.ReplaceAll(s, a, b))
		}
		return subject.blur()
	case ".tostring", ".trim", ".trimend", ".trimstart":
		if known {
			return exact(strings.TrimSpace(s))
		}
		return subject
	case ".tolower":
		return subject.mapExact(func(s string) Value { return exact(lower(s)) })
	case ".toupper":
		return subject.mapExact(func(s string) Value { return exact(strings.ToUpper(s)) })
	case ".substring", ".split", ".join", ".tochararray", ".contains", ".startswith", ".endswith", ".gettype", ".padleft", ".indexof":
		return subject.blur()
	case ".getstring":
		if known && !strings.HasPrefix(typ, "[") && len(args) == 0 {
			return subject
		}
		if t, ok := arg(0); ok {
			if strings.Contains(typ, "unicode") {
				return exact(fromUTF16(t))
			}
			return exact(t)
		}
	case "::frombase64string":
		if t, ok := arg(0); ok {
			if d, ok := decodeBase64(t); ok {
				return exact(d)
			}
		}
	case "::getstring":
		if t, ok := arg(0); ok {
			return exact(t)
		}
	case "::getfolderpath", "::combine", "::join":
		if name == "::combine" && len(args) > 0 {
			return joinValues(argValues(args), "/")
		}
	case "::getenvironmentvariable":
		if t, ok := arg(0); ok {
			return w.psVariable("env:" + lower(t))
		}
	}
	head := subject
	if !static {
		head = Value{}
	}
	argv := append([]Arg{{Value: concat(head, exact(name)), Offset: off, End: off}}, args...)
	l := Leaf{Name: strings.TrimPrefix(typ, "[system.") + name, Argv: argv, Flags: Builtin, Offset: off, End: c.pos[1]}
	if static {
		l.Name = "[" + strings.TrimPrefix(strings.TrimPrefix(typ, "["), "system.") + name
	} else {
		l.Name = name
	}
	i := w.add(l, ctx{via: c.via, flags: c.flags})
	switch name {
	case ".delete", ".moveto": // what it is of says what is deleted
		w.f.Leaves[min(i, len(w.f.Leaves)-1)].Argv = append(argv, Arg{Value: subject, Offset: off, End: off})
	case ".downloadfile":
		if len(args) > 1 {
			w.write(args[1].Value, outputHole(Span{i, i + 1}), false)
		}
	}
	// ScriptBlock.Create, Invoke and InvokeScript run their text.
	switch name {
	case "::create":
		if strings.Contains(typ, "scriptblock") && len(args) > 0 {
			w.sub(func() { w.code(args[0].Value, PowerShell, &args[0], "scriptblock", ctx{via: c.via, flags: c.flags}) })
		}
	case ".invokescript", ".invokeexpression", ".addscript":
		if len(args) > 0 {
			w.sub(func() { w.code(args[0].Value, PowerShell, &args[0], name, ctx{via: c.via, flags: c.flags}) })
		}
	case "::start":
		if strings.Contains(typ, "process") && len(args) > 0 {
			w.sub(func() {
				next := []Arg{args[0]}
				if len(args) > 1 {
					next = append(next, w.splitWords(args[1])...)
				}
				w.run(next, ctx{via: c.via, flags: c.flags, pos: c.pos})
			})
		}
	}
	return outputHole(Span{i, i + 1})
}

func fromUTF16(s string) string {
	u := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		u = append(u, uint16(s[i])|uint16(s[i+1])<<8)
	}
	return string(utf16.Decode(u))
}

// expression evaluates what is written in expression mode until the end of the
// text: constants, variables, +, -join, -f, -replace, casts and method calls.
func (p *ps) expression() (result []Arg) {
	if !p.w.enter() {
		return nil
	}
	defer p.w.leave()
	var out []Arg
	op := ""
	var format *Value // the left side of -f, until all operands are read
	push := func(vals []Arg) {
		switch {
		case op == "-f":
			if len(out) > 0 {
				f := out[len(out)-1].Value
				format = &f
			}
			out = append([]Arg(nil), vals...)
		case op == "+" && len(out) > 0 && len(vals) == 1:
			out[len(out)-1].Value = concat(out[len(out)-1].Value, vals[0].Value)
		case op == "-join" && len(vals) == 1:
			sep, ok := vals[0].Exact()
			if ok {
				out = []Arg{{Value: joinValues(argValues(out), sep)}}
			}
		case op == "prejoin":
			out = append(out, Arg{Value: joinValues(argValues(vals), "")})
		case op == "[char]" && len(vals) == 1:
			out = append(out, Arg{Value: vals[0].mapExact(func(s string) Value {
				n, ok := p.w.number(s, 9)
				if !ok || n < 0 || n > 0x10ffff {
					return exact(s)
				}
				return exact(string(rune(n)))
			})})
		default:
			out = append(out, vals...)
		}
		op = ""
	}
	defer func() {
		if format != nil {
			if f, ok := format.Exact(); ok {
				result = []Arg{{Value: psFormat(f, result)}}
			}
		}
	}()
	for p.i < len(p.text) && p.w.step(1) {
		p.space(true)
		if p.i >= len(p.text) {
			break
		}
		start := p.i
		ch := p.text[p.i]
		switch {
		case ch == '\'':
			s, ok := p.single()
			if !ok {
				return out
			}
			push(p.member([]Arg{{Value: p.w.literal(s), Offset: p.pos(start), End: p.pos(p.i), Quote: Single}}))
		case ch == '"':
			v, ok := p.double()
			if !ok {
				return out
			}
			push(p.member([]Arg{{Value: v, Offset: p.pos(start), End: p.pos(p.i), Quote: Double}}))
		case ch == '$':
			v, many := p.dollar()
			vals := many
			if many == nil {
				vals = []Arg{{Value: v, Offset: p.pos(start), End: p.pos(p.i), Quote: Expanded}}
			}
			push(p.member(vals))
		case ch == '@' || ch == '{':
			if ch == '@' {
				if end, ok := p.hereString(p.i); ok {
					v := p.hereText(p.i, end)
					p.i = end
					push(p.member([]Arg{{Value: v, Offset: p.pos(start), End: p.pos(end), Quote: Double}}))
					continue
				}
			}
			args := p.argument(false)
			if p.i == start {
				p.i++
				continue
			}
			if len(args) == 1 && args[0].psBlock() && p.i < len(p.text) {
				// {...}.Invoke()
				p.w.sub(func() { p.w.nestedPS(args[0].Text, args[0], p.c) })
			}
			push(args)
		case ch == '(':
			push(p.member(p.paren()))
		case ch == '[':
			end, ok := p.group(p.i)
			if !ok {
				p.i++
				continue
			}
			typ := p.text[p.i:end]
			p.i = end
			if strings.HasPrefix(p.text[p.i:], "::") {
				push(p.member([]Arg{{Value: exact(typ), Offset: p.pos(start), End: p.pos(end)}}))
				continue
			}
			if strings.EqualFold(typ, "[char]") {
				was := op
				op = "[char]"
				if was == "+" {
					// 'a' + [char]66
					n := len(out)
					p.space(false)
					sub := p.primary()
					op = "[char]"
					push(sub)
					if len(out) > n && n > 0 {
						out[n-1].Value = concat(out[n-1].Value, out[n].Value)
						out = out[:n]
					}
				}
			}
		case ch == '+':
			op = "+"
			p.i++
		case ch == ',':
			op = ""
			p.i++
		case ch == '-':
			j := p.i + 1
			for j < len(p.text) && (p.text[j]|0x20 >= 'a' && p.text[j]|0x20 <= 'z') {
				j++
			}
			name := lower(p.text[p.i:j])
			p.i = max(j, p.i+1)
			switch name {
			case "-join":
				op = "-join"
				if len(out) == 0 {
					op = "prejoin"
				}
			case "-f":
				op = "-f"
			case "-replace", "-creplace", "-ireplace", "-split":
				if len(out) > 0 {
					out = []Arg{{Value: blurAll(out)}}
				}
			}
		case digit(ch) >= 0 || ch == '_':
			j := p.i
			for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '.' || p.text[j] == '_') {
				j++
			}
			v := exact(p.text[p.i:j])
			p.i = j
			if p.text[start] >= '0' && p.text[start] <= '9' && strings.HasPrefix(p.text[j:], "..") {
				v = hole(HoleNumber, "")
			}
			push([]Arg{{Value: v, Offset: p.pos(start), End: p.pos(j)}})
		case ch == ';' || ch == '|':
			return out
		case ch == '>':
			if r, ok := p.redirect(); ok {
				p.redirs = append(p.redirs, r)
			}
		default:
			p.i++
		}
	}
	return out
}

// primary reads one operand for a cast.
func (p *ps) primary() []Arg {
	start := p.i
	switch {
	case p.i >= len(p.text):
		return nil
	case p.text[p.i] == '(':
		return p.paren()
	case p.text[p.i] == '$':
		v, many := p.dollar()
		if many != nil {
			return many
		}
		return []Arg{{Value: v}}
	}
	for p.i < len(p.text) && digit(p.text[p.i]) >= 0 {
		p.i++
	}
	return []Arg{{Value: exact(p.text[start:p.i])}}
}

// psFormat fills {0}, {1} ... of -f.
func psFormat(f string, args []Arg) Value {
	var b builder
	for i := 0; i < len(f); i++ {
		if f[i] != '{' {
			b.addText(f[i : i+1])
			continue
		}
		end := strings.IndexByte(f[i:], '}')
		if end < 2 {
			b.addText("{")
			continue
		}
		n := int(f[i+1] - '0')
		if n >= 0 && n < len(args) && end == 2 {
			b.add(args[n].Value)
		} else {
			b.add(hole(HoleMany, ""))
		}
		i += end
	}
	return b.take()
}

// splitWords splits the text of a word at blanks.
func (w *walker) splitWords(a Arg) []Arg {
	if len(a.Alts) > 0 || len(a.Holes) > 0 {
		a.Splits = true
		return []Arg{a}
	}
	var out []Arg
	for f := range strings.FieldsSeq(a.Text) {
		if !w.step(1) {
			break
		}
		out = append(out, Arg{Value: exact(strings.Trim(f, `"'`)), Offset: a.Offset, End: a.End, Quote: a.Quote})
	}
	return out
}
