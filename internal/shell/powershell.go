package shell

import (
	"maps"
	"slices"
	"strings"
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
	// assigned is the variable that the last assignment set first.
	assigned string
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
			if !strings.Contains(p.text[p.i:], "#>") {
				p.unparsable("comment without an end")
				return
			}
			p.i = p.comment(p.i)
		default:
			return
		}
	}
}

// group returns the offset after the bracket that closes the one at i. It
// knows quotes, here-strings, comments and escapes.
func (p *ps) group(i int) (int, bool) { return p.groupIn(i, 0) }

// groupIn is group inside that many strings.
func (p *ps) groupIn(i, around int) (int, bool) {
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
			end, ok := p.quotedIn(i, around)
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
		case '#', '<':
			if end := p.comment(i); end > i {
				i = end
				continue
			}
		}
		i++
	}
	return len(p.text), false
}

// comment returns the offset after the comment at i, or i if there is none: # only
// begins one where a word may begin, <# anywhere.
func (p *ps) comment(i int) int {
	switch {
	case strings.HasPrefix(p.text[i:], "<#"):
		if end := strings.Index(p.text[i:], "#>"); end >= 0 {
			return i + end + 2
		}
		return len(p.text)
	case p.text[i] == '#' && (i == 0 || strings.IndexByte(" \t\r\n;({|&,", p.text[i-1]) >= 0):
		if end := strings.IndexByte(p.text[i:], '\n'); end >= 0 {
			return i + end
		}
		return len(p.text)
	}
	return i
}

// quoted returns the offset after the string that starts at i.
func (p *ps) quoted(i int) (int, bool) { return p.quotedIn(i, 0) }

// quotedIn is quoted inside that many strings: a subexpression holds strings of its
// own, and where it ends is told by its brackets outside those.
func (p *ps) quotedIn(i, around int) (int, bool) {
	q, start := p.text[i], i
	defer func() { p.w.step((i - start) / 32) }()
	if around > p.w.lim.Depth {
		p.w.fail("depth", p.w.lim.Depth)
		return len(p.text), false
	}
	for i++; i < len(p.text) && !p.w.over; i++ {
		switch ch := p.text[i]; {
		case ch == '`' && q == '"':
			i++
		case ch == '$' && q == '"' && i+1 < len(p.text) && p.text[i+1] == '(':
			end, ok := p.groupIn(i+1, around+1)
			if !ok {
				return len(p.text), false
			}
			i = end - 1
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
	and := false
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
			if and = strings.HasPrefix(p.text[p.i:], "&&"); and || strings.HasPrefix(p.text[p.i:], "||") {
				p.c.flags |= Conditional
				p.i++
			}
			p.i++
			continue
		case ')', '}', ']':
			p.unparsable("closing bracket without an opening one")
			return
		}
		p.w.stayedOr(and, p.text[p.i:])
		and = false
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
	c := p.c
	save := p.i
	for p.i < len(p.text) && p.text[p.i] == '[' { // [CmdletBinding()] param(
		end, ok := p.group(p.i)
		if !ok {
			break
		}
		p.i = end
		p.space(true)
	}
	if p.i > save && lower(p.word()) != "param" {
		p.i = save
		return false
	}
	if p.text[p.i] == ':' { // :outer foreach
		p.i++
		p.i += len(p.word())
		p.space(true)
	}
	if p.i >= len(p.text) {
		return true
	}
	word := lower(p.word())
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
		header := ""
		if p.i < len(p.text) && p.text[p.i] == '(' {
			end, ok := p.group(p.i)
			if !ok {
				p.unparsable("bracket without an end")
				return true
			}
			header = p.text[p.i+1 : end-1]
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
		src := *w.src
		if src.verbatim {
			src.base += p.i + 1
		}
		src.dialect = PowerShell
		w.define(name, body{ps: p.text[p.i+1 : end-1], params: header, src: &src})
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
				switch word {
				case "param":
					var args []Arg
					if p.w.st.knows {
						args = p.w.st.params
					}
					p.parameters(p.i+1, end-1, args)
				case "class":
					c.flags |= Conditional
					p.blocksIn(p.i+1, end-1, c)
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
			q.space(true)
			vals := q.rightSide()
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
	var out builder // what a condition yields is not shown
	p.nested(from, to, ctx{flags: p.c.flags, out: &out, outKind: OutputCaptured})
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
	p.blocksIn(from, to, c)
}

// blocksIn walks each { } and ( ) between two offsets, and what strings run there:
// the clauses of a switch, the body of a class, the attributes of a parameter.
func (p *ps) blocksIn(from, to int, c ctx) {
	q := &ps{w: p.w, text: p.text[:to], i: from, c: c}
	for q.i < to && p.w.step(1) {
		switch ch := q.text[q.i]; ch {
		case '{':
			q.block(c, false)
			continue
		case '(':
			end, ok := q.group(q.i)
			if !ok {
				q.unparsable("bracket without an end")
				return
			}
			q.nested(q.i+1, end-1, c)
			q.i = end
			continue
		case '\'', '"':
			e, ok := q.quoted(q.i)
			if !ok {
				q.unparsable("string without an end")
				return
			}
			if ch == '"' {
				q.expandString(q.i+1, e-1)
			}
			q.i = e
			continue
		case '@':
			if e, ok := q.hereString(q.i); ok {
				q.i = e
				continue
			}
		case '`':
			q.i++
		case '#', '<':
			if e := q.comment(q.i); e > q.i {
				q.i = e
				continue
			}
		}
		q.i++
	}
}

// parameters reads param(...) between two offsets and gives each of its variables the
// value that args hold, by name or in order, or else its default.
func (p *ps) parameters(from, to int, args []Arg) {
	type param struct {
		name  string
		val   Value
		bound bool
	}
	q := &ps{w: p.w, text: p.text[:to], c: p.c}
	var params []param
	for i := from; i < to && p.w.step(1); {
		q.text, q.i = p.text[:to], i
		i = q.operandEnd()
		q.text = q.text[:i]
		i++
		if name, def := q.parameter(); name != "" {
			params = append(params, param{name: name, val: def})
		}
	}
	var free []Arg
	for k := 0; k < len(args); k++ {
		a := &args[k]
		named := len(a.Text) > 1 && a.Text[0] == '-' && a.Quote&(Single|Double) == 0
		if named {
			name := strings.TrimSuffix(lower(a.Text[1:]), ":")
			for i := range params {
				if strings.HasPrefix(params[i].name, name) && k+1 < len(args) {
					k++
					params[i].val, params[i].bound, named = args[k].Value, true, false
					break
				}
			}
			if !named || !p.w.step(1+len(params)) {
				continue
			}
		}
		free = append(free, *a)
	}
	for i := range params {
		if !params[i].bound && len(free) > 0 {
			params[i].val, free = free[0].Value, free[1:]
		}
		p.w.st.setVar(params[i].name, variable{val: params[i].val})
	}
}

// parameter reads one parameter, the rest of the text: attributes, types, $name and
// maybe = default.
func (p *ps) parameter() (name string, def Value) {
	piped := false
	for p.i < len(p.text) && p.w.step(1) {
		switch p.space(true); {
		case p.i >= len(p.text):
		case p.text[p.i] == '[':
			end, ok := p.group(p.i)
			if !ok {
				p.unparsable("bracket without an end")
				return "", def
			}
			p.blocksIn(p.i+1, end-1, p.c)
			piped = piped || strings.Contains(lower(p.text[p.i:end]), "valuefrompipeline")
			p.i = end
		case p.text[p.i] == '$':
			from := p.i + 1
			for p.i = from; p.i < len(p.text) && (digit(p.text[p.i]) >= 0 || p.text[p.i] == '_'); {
				p.i++
			}
			name = lower(p.text[from:p.i])
			def = hole(HoleParam, name)
			if v, ok := p.w.st.vars["input"]; ok && piped {
				def = v.val
			}
			if p.space(true); p.i < len(p.text) && p.text[p.i] == '=' {
				p.i++
				if vals := p.expression(); len(vals) > 0 {
					def = joinValues(argValues(vals), " ")
				}
			}
			return name, def
		default:
			p.i++
		}
	}
	return name, def
}

// operandEnd is where what stands at the offset ends: at a comma outside brackets.
func (p *ps) operandEnd() int {
	for i := p.i; i < len(p.text); {
		end, ok := i, false
		switch p.text[i] {
		case ',':
			return i
		case '(', '{', '[':
			end, ok = p.group(i)
		case '\'', '"':
			end, ok = p.quoted(i)
		case '#', '<':
			end = p.comment(i)
			ok = end > i
		case '`':
			i++
		}
		if !ok {
			end = i + 1
		}
		i = end
	}
	return len(p.text)
}

// psBody walks the body of a function or block with what it is called with: header
// is what stands in the brackets behind a function's name. Its variables are its own.
func (w *walker) psBody(header, body string, args []Arg, c ctx) {
	old, params, knows := w.st.vars, w.st.params, w.st.knows
	w.st.vars = w.fork().vars
	w.st.params, w.st.knows = args, true
	w.psInput(c)
	if header != "" {
		(&ps{w: w, text: header, c: c}).parameters(0, len(header), args)
	}
	w.text(body, PowerShell, c)
	w.st.vars, w.st.params, w.st.knows = old, params, knows
}

// psInput gives the variables of the pipeline what comes by it.
func (w *walker) psInput(c ctx) {
	if c.in.Text != nil {
		v := variable{val: psItems(*c.in.Text)}
		w.st.setVar("_", v)
		w.st.setVar("input", v)
	}
}

// psItems are the objects of a pipeline, of which a known text has one in each line.
func psItems(v Value) Value {
	v = trimNewlines(v)
	t, ok := v.Exact()
	if n := strings.Count(t, "\n"); !ok || n == 0 || n >= maxAlts || strings.ContainsAny(t, "{}") {
		return v
	}
	var items []Value
	for line := range strings.SplitSeq(t, "\n") {
		items = append(items, exact(line))
	}
	return either(items...)
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
		if q.space(true); q.i < len(q.text) && !q.w.over {
			q.statements() // what the reader did not take for a part of it runs all the same
		}
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
		case '#', '<':
			if end := p.comment(p.i); end > p.i {
				p.i = end
				continue
			}
			p.i++
		case '-':
			if p.stopsParsing() {
				p.i = p.verbatimEnd()
				return
			}
			p.i++
		default:
			p.i++
		}
	}
}

// stopsParsing reports whether --% stands at the offset as a word: what follows goes
// to the program as it is, up to the line's end or a bar outside double quotes.
func (p *ps) stopsParsing() bool {
	return strings.HasPrefix(p.text[p.i:], "--%") && p.i > 0 && strings.IndexByte(" \t", p.text[p.i-1]) >= 0 &&
		(p.i+3 == len(p.text) || strings.IndexByte(" \t\r\n", p.text[p.i+3]) >= 0)
}

func (p *ps) verbatimEnd() int {
	quoted := false
	for i := p.i + 3; i < len(p.text); i++ {
		switch ch := p.text[i]; {
		case ch == '"':
			quoted = !quoted
		case ch == '\n', ch == '|' && !quoted:
			return i
		}
	}
	return len(p.text)
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
	case ch >= '1' && ch <= '6' && strings.HasPrefix(p.text[p.i+1:], ">"): // a redirection in front
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
		} else if shown := p.text[start:p.i]; ofEnvironment(vals) && (shown[0] == '"' || !strings.ContainsAny(shown, ".-([")) {
			w.add(Leaf{Name: "write-output", Argv: append([]Arg{{Value: exact("write-output"), Offset: c.pos[0], End: c.pos[0]}}, vals...), Flags: Builtin, Offset: c.pos[0], End: c.pos[1]}, c)
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
		w.callBlock(argv[0], argv[1:], c)
		return
	}
	w.run(argv, c)
}

// callBlock walks a script block with what it is given.
func (w *walker) callBlock(b Arg, args []Arg, c ctx) {
	params, knows := w.st.params, w.st.knows
	w.st.params, w.st.knows = args, true
	w.psInput(c)
	w.nestedPS(b.Text, b, c)
	w.st.params, w.st.knows = params, knows
}

// ofEnvironment reports whether one of the values is that of an environment variable.
func ofEnvironment(vals []Arg) bool {
	for i := range vals {
		for _, h := range vals[i].Holes {
			if h.Kind == HoleVar && h.Name != lower(h.Name) {
				return true
			}
		}
	}
	return false
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
	w.nested(body, w.src.holes, PowerShell, base, at.End, verbatim, false, c)
}

// assignment walks $x = ..., $x += ..., $x.y = ..., $x, $y = ... and typed ones.
func (p *ps) assignment() bool {
	i := p.i
	for i < len(p.text) && p.text[i] == '[' && !p.w.over {
		end, ok := p.group(i)
		if !ok {
			return false
		}
		if strings.IndexByte(p.text[i:end], '{') >= 0 { // [ValidateScript({...})]$x = ...
			p.blocksIn(i+1, end-1, p.c)
		}
		i = end
		for i < len(p.text) && p.text[i] == ' ' {
			i++
		}
	}
	var names []string
	var key string
	k := i
	for len(names) < 16 {
		name, j := p.variableAt(k)
		if name == "" {
			return false
		}
		names = append(names, name)
		if k = j; k < len(p.text) && len(names) == 1 {
			if key, j = p.key(k); key != "" {
				k = j
			}
		}
		for k < len(p.text) && (p.text[k] == ' ' || p.text[k] == '\t') {
			k++
		}
		if k >= len(p.text) || p.text[k] != ',' {
			break
		}
		for k++; k < len(p.text) && (p.text[k] == ' ' || p.text[k] == '\t'); {
			k++
		}
	}
	op := ""
	for _, o := range [...]string{"??=", "+=", "-=", "*=", "/=", "="} {
		if strings.HasPrefix(p.text[k:], o) {
			op = o
			break
		}
	}
	if op == "" || strings.HasPrefix(p.text[k:], "==") {
		return false
	}
	p.i = k + len(op)
	p.space(true)
	vals := p.rightSide()
	p.assigned = names[0]
	if key != "" {
		p.property(names[0], key, vals)
		return true
	}
	for n, name := range names {
		own := vals
		if len(names) > 1 {
			if n >= len(vals) {
				break
			}
			if own = vals[n:]; n < len(names)-1 {
				own = own[:1]
			}
		}
		p.assign(name, op, own)
	}
	return true
}

// variableAt reads the $name or ${name} at i, in lower case and without its scope, and
// the offset behind it.
func (p *ps) variableAt(i int) (string, int) {
	if i >= len(p.text) || p.text[i] != '$' {
		return "", i
	}
	from := i + 1
	j := from
	if j < len(p.text) && p.text[j] == '{' {
		end := strings.IndexByte(p.text[j:], '}')
		if end < 0 {
			return "", i
		}
		j += end + 1
	} else {
		for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_' || p.text[j] == ':') {
			j++
		}
	}
	return withoutScope(lower(strings.Trim(p.text[from:j], "{}"))), j
}

func withoutScope(name string) string {
	for _, scope := range [...]string{"global:", "script:", "local:", "private:", "using:", "variable:"} {
		name = strings.TrimPrefix(name, scope)
	}
	return name
}

// assign gives a variable its values, or what a drive such as env: or function: holds.
func (p *ps) assign(name, op string, vals []Arg) {
	w := p.w
	var v Value
	if len(vals) == 1 {
		v = vals[0].Value
	} else if len(vals) > 0 {
		v = joinValues(argValues(vals), " ")
	}
	if w.psDrive(name, v, p.c) {
		return
	}
	env := strings.HasPrefix(name, "env:")
	old := w.st.vars[name]
	arr := argValues(vals)
	if op == "+=" {
		if before := w.psVariable(name); old.isArray || len(vals) > 1 || before.IsEmpty() && old.arr != nil {
			w.step(len(old.arr) / 4) // all of it is written anew
			arr = append(old.arr[:len(old.arr):len(old.arr)], arr...)
			v = joinValues(arr, " ")
		} else {
			v, arr = concat(before, v), nil
		}
	}
	old.val, old.isArray, old.unset = v, len(arr) > 1 || op == "+=" && len(arr) > 0, false
	old.arr, old.keys = nil, nil
	if old.isArray {
		old.arr = arr
	}
	old.exported = env
	if len(vals) == 1 && op != "+=" {
		if t, ok := v.Exact(); vals[0].psBlock() {
			old.keys = map[string]Value{"\x00block": v}
		} else if ok && strings.HasPrefix(t, "@{") {
			old.keys = map[string]Value{}
			(&ps{w: w, text: t, c: ctx{}}).table(2, len(t)-1, func(key string, vals []Arg) {
				old.keys[lower(key)] = joinValues(argValues(vals), " ")
			})
		} else if ok && t == "" {
			old.arr = []Value{} // @(), maybe
		}
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
}

// psDrive notes what is put on the drives of functions and aliases.
func (w *walker) psDrive(name string, v Value, c ctx) bool {
	if f, ok := strings.CutPrefix(name, "function:"); ok {
		text, known := v.Exact()
		if !known {
			return false
		}
		w.define(strings.TrimLeft(f, `\/`), body{ps: text, src: &source{text: text, dialect: PowerShell, base: c.pos[0], end: c.pos[1]}})
		return true
	}
	if a, ok := strings.CutPrefix(name, "alias:"); ok {
		w.setAlias(strings.TrimLeft(a, `\/`), v)
		return true
	}
	return false
}

func (w *walker) setAlias(name string, v Value) {
	w.step(1 + len(w.st.aliases))
	w.st.aliases = maps.Clone(w.st.aliases)
	if w.st.aliases == nil {
		w.st.aliases = map[string]Value{}
	}
	w.st.aliases[name] = v
}

// property notes $name.key = vals. What a process is told to start counts as started.
func (p *ps) property(name, key string, vals []Arg) {
	w := p.w
	v := w.st.vars[name]
	keys := map[string]Value{key: joinValues(argValues(vals), " ")}
	for k, old := range v.keys {
		if _, ok := keys[k]; !ok && w.step(1) {
			keys[k] = old
		}
	}
	if v.val.IsEmpty() {
		v.val = w.psVariable(name)
	}
	v.keys = keys
	w.st.setVar(name, v)
	if file, ok := keys["filename"]; ok && (key == "filename" || key == "arguments") {
		next := append([]Arg{{Value: file, Offset: p.c.pos[0], End: p.c.pos[1]}}, w.splitWords(Arg{Value: keys["arguments"], Offset: p.c.pos[0], End: p.c.pos[1]})...)
		w.sub(func() { w.run(next, ctx{via: p.c.via, flags: p.c.flags, pos: p.c.pos}) })
	}
}

// table reads the entries of a hash table between two offsets, and walks what their
// values run.
func (p *ps) table(from, to int, each func(key string, vals []Arg)) {
	if !p.w.enter() {
		return
	}
	defer p.w.leave()
	for i := from; i < to && p.w.step(1); {
		q := &ps{w: p.w, text: p.text[:to], i: i, c: p.c}
		for q.space(true); q.i < to && q.text[q.i] == ';'; q.space(true) {
			q.i++
		}
		n := strings.IndexByte(q.text[q.i:], '=')
		if n < 0 {
			return
		}
		key := strings.Trim(strings.TrimSpace(q.text[q.i:q.i+n]), `'"`)
		q.i += n + 1
		start := q.i
		q.space(true) // a value may begin on the next line
		q.skipStage()
		for q.i < to && q.text[q.i] == '|' && q.w.step(1) {
			q.i++
			q.skipStage()
		}
		i = max(q.i, start) + 1
		q = &ps{w: p.w, text: p.text[:min(i-1, to)], i: start, c: p.c}
		q.space(true)
		vals := q.rightSide()
		for k := range vals {
			if vals[k].psBlock() {
				p.w.sub(func() { p.w.nestedPS(vals[k].Text, vals[k], p.c) })
			}
		}
		each(key, vals)
	}
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
		if p.w.enter() {
			defer p.w.leave()
			if p.assignment() { // $a = $b = ...
				return []Arg{{Value: p.w.psVariable(p.assigned)}}
			}
		}
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
		if len(argv) > 0 && p.stopsParsing() {
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
			if !begun && strings.HasPrefix(p.text[p.i:], ".") { // 'x'.Replace('a','b')
				if vals := p.member([]Arg{{Value: p.w.literal(s), Quote: Single}}); len(vals) == 1 {
					b.add(vals[0].Value)
					quote, begun = quote|Single, true
					continue
				}
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
				p.table(p.i+2, end-1, func(string, []Arg) {})
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
				if v.keys != nil {
					return p.w.psSplat(v.keys, p.pos(start), p.pos(j))
				}
				if name == "args" && p.w.st.knows {
					return append([]Arg{}, p.w.st.params...)
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
		case (ch == '(' || ch == '{') && begun:
			goto done // iex(...), New-Object a.b(...): the next argument
		case ch == '(':
			if !begun {
				return append(arr, p.member(p.paren())...)
			}
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
	if strings.ContainsAny(a.Text, "*?[") && !first { // cmdlets look for patterns in quoted words too
		a.Glob = true
	}
	return []Arg{a}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// psTable turns the text of a hash table into parameters: @{Path = 'x'; Force = $true}.
func (w *walker) psTable(text string, from, to int) []Arg {
	var out []Arg
	(&ps{w: w, text: text}).table(2, len(text)-1, func(key string, vals []Arg) {
		out = append(out, Arg{Value: exact("-" + key), Offset: from, End: to, Quote: Bare})
		for _, v := range vals {
			if t, ok := v.Exact(); ok && strings.EqualFold(t, "true") {
				continue
			}
			v.Offset, v.End = from, to
			out = append(out, v)
		}
	})
	return out
}

// psSplat turns the entries of a hash table into parameters, in the order of their names.
func (w *walker) psSplat(keys map[string]Value, from, to int) []Arg {
	var out []Arg
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, Arg{Value: exact("-" + key), Offset: from, End: to, Quote: Bare})
		v := keys[key]
		if t, ok := v.Exact(); ok && strings.EqualFold(t, "true") || !w.step(1) {
			continue
		}
		out = append(out, Arg{Value: v, Offset: from, End: to, Quote: Expanded | Single})
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
	name = withoutScope(lower(name))
	if name == "args" && p.w.st.knows {
		p.w.step(1 + len(p.w.st.params))
		return Value{}, append([]Arg{}, p.w.st.params...)
	}
	v, ok := p.w.st.vars[name]
	if body, block := v.keys["\x00block"]; ok && block {
		return Value{}, []Arg{{Value: body, Offset: p.pos(start), End: p.pos(p.i), Quote: Expanded | blockQuote}}
	}
	if v, many := p.ofTable(name, v); many {
		return v, nil
	}
	if ok && v.isArray {
		p.w.charge(v.arr...)
		out := make([]Arg, len(v.arr))
		for i := range v.arr {
			out[i] = Arg{Value: v.arr[i], Offset: p.pos(start), End: p.pos(p.i), Quote: Expanded}
		}
		return Value{}, out
	}
	return p.w.psVariable(name), nil
}

// ofTable reads the .name or ['name'] behind a variable that holds a hash table, or an
// object some of whose properties are known.
func (p *ps) ofTable(name string, v variable) (Value, bool) {
	if v.keys == nil || p.i >= len(p.text) {
		return Value{}, false
	}
	key, end := p.key(p.i)
	if key == "" {
		return Value{}, false
	}
	if end < len(p.text) && p.text[end] == '(' {
		if key == "add" || key == "set_item" {
			p.i = end
			if args := p.paren(); len(args) == 2 {
				p.property(name, lower(args[0].Text), args[1:])
			}
			return Value{}, true
		}
		return Value{}, false
	}
	val, ok := v.keys[key]
	if !ok {
		return Value{}, false
	}
	p.i = end
	p.w.charge(val)
	return val, true
}

// key reads .name or ['name'] at i, in lower case, and the offset behind it.
func (p *ps) key(i int) (string, int) {
	switch {
	case strings.HasPrefix(p.text[i:], "['") || strings.HasPrefix(p.text[i:], `["`):
		if n := strings.IndexByte(p.text[i+2:min(len(p.text), i+256)], p.text[i+1]); n > 0 && strings.HasPrefix(p.text[i+2+n+1:], "]") {
			return lower(p.text[i+2 : i+2+n]), i + n + 4
		}
	case p.text[i] == '.':
		j := i + 1
		for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_') {
			j++
		}
		return lower(p.text[i+1 : j]), j
	}
	return "", i
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
	case "pwd", "psscriptroot": // a script mostly runs where it lies
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
	case "pshome":
		return exact(`C:\Windows\System32\WindowsPowerShell\v1.0`)
	case "shellid":
		return exact("Microsoft.PowerShell")
	}
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		if v, ok := w.psEnv(env); ok {
			return v
		}
		if v, ok := w.windowsVariable(env); ok && (env != "temp" && env != "tmp" || w.f.Dialect == Cmd) {
			return v
		}
		h := hole(HoleVar, strings.ToUpper(env))
		h.Holes[0].Unset = w.world.Env != nil && !w.st.remote
		return h
	}
	// A shell variable nobody set is empty, unless the profile sets it.
	return Value{Holes: []Hole{{Kind: HoleVar, Name: name, Unset: true}}}
}

// windowsVariable returns what Windows gives a variable unless somebody changed it.
// The name is in lower case.
func (w *walker) windowsVariable(name string) (Value, bool) {
	switch name {
	case "systemroot", "windir":
		return exact(`C:\Windows`), true
	case "systemdrive", "homedrive":
		return exact("C:"), true
	case "comspec":
		return exact(`C:\Windows\System32\cmd.exe`), true
	case "programfiles", "programw6432":
		return exact(`C:\Program Files`), true
	case "programfiles(x86)":
		return exact(`C:\Program Files (x86)`), true
	case "commonprogramfiles":
		return exact(`C:\Program Files\Common Files`), true
	case "programdata", "allusersprofile":
		return exact(`C:\ProgramData`), true
	case "public":
		return exact(`C:\Users\Public`), true
	}
	home := w.world.Home
	if home == "" || w.st.remote {
		return Value{}, false
	}
	switch name {
	case "userprofile", "home":
		return exact(home), true
	case "homepath":
		if onDrive(home) {
			return exact(home[2:]), true
		}
	case "appdata":
		return exact(home + "/AppData/Roaming"), true
	case "localappdata":
		return exact(home + "/AppData/Local"), true
	case "temp", "tmp":
		return exact(home + "/AppData/Local/Temp"), true
	case "onedrive":
		return exact(home + "/OneDrive"), true
	}
	return Value{}, false
}

func (w *walker) psEnv(name string) (Value, bool) {
	if w.world.Env == nil || w.st.remote {
		return Value{}, false
	}
	for _, n := range [...]string{name, strings.ToUpper(name), lower(name)} {
		if v, ok := w.world.Env(n); ok {
			if w.private(n) {
				return Value{Holes: []Hole{{Kind: HoleVar, Name: strings.ToUpper(name), NonEmpty: v != ""}}}, true
			}
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
