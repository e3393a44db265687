package shell

import (
	"maps"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (w *walker) stmts(list []*syntax.Stmt, c ctx) {
	for i, s := range list {
		if w.over {
			return
		}
		if i > 0 {
			w.stayed()
		}
		w.stmt(s, c)
	}
}

// stmt walks one statement with its redirections.
func (w *walker) stmt(s *syntax.Stmt, c ctx) {
	if !w.step(1) {
		return
	}
	if s.Background || s.Coprocess || s.Disown {
		s2 := *s
		s2.Background, s2.Coprocess, s2.Disown = false, false, false
		c.flags |= Background
		w.sub(func() { w.stmt(&s2, c) })
		return
	}
	c.pos = [2]int{w.offset(s.Pos()), 0}
	inherited := len(c.redirs)
	if len(s.Redirs) > 0 {
		w.redirects(s.Redirs, &c)
		if r := stdoutFile(c.redirs[inherited:]); r != nil {
			var out builder
			c.out = &out
			defer func() { w.write(r.Target.Value, out.take(), r.Op == ">>" || r.Op == "&>>") }()
		}
	}
	if s.Cmd == nil {
		if len(c.redirs) > inherited {
			w.add(Leaf{Flags: RedirectOnly, Offset: c.pos[0], End: w.endOffset(s.End())}, c)
			// < file alone, in a substitution: the file's text.
			if c.out != nil && c.in.File != nil {
				c.out.add(w.fileHole(*c.in.File))
			}
		}
		return
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		w.call(call, c)
		return
	}
	if len(c.redirs) > inherited {
		before := len(w.f.Leaves)
		c.redirs = inherit(c.redirs)
		w.command(s.Cmd, c)
		if len(w.f.Leaves) == before {
			w.add(Leaf{Flags: RedirectOnly, Offset: c.pos[0], End: w.endOffset(s.End())}, c)
		}
		return
	}
	w.command(s.Cmd, c)
}

// redirects applies redirections to the surroundings, left to right.
func (w *walker) redirects(rs []*syntax.Redirect, c *ctx) {
	redirs := append(make([]Redirect, 0, len(c.redirs)+len(rs)), c.redirs...)
	for _, r := range rs {
		if !w.step(1 + len(redirs)/16) {
			return
		}
		out := Redirect{Op: r.Op.String(), FD: -1, Offset: w.offset(r.OpPos)}
		if r.N != nil {
			if n, err := strconv.Atoi(r.N.Value); err == nil {
				out.FD = n
			} else {
				out.FD = 10 // {name}>: a descriptor the shell picks from 10 on
				w.assign(strings.Trim(r.N.Value, "{}"), hole(HoleNumber, "fd"))
			}
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body, quoted := w.heredoc(r)
			out.Here, out.Quoted = &body, quoted
			out.Target = Arg{Value: exact(r.Word.Lit()), Offset: w.offset(r.Word.Pos()), End: w.endOffset(r.Word.End())}
			if r.Hdoc != nil {
				out.Target.Offset, out.Target.End = w.offset(r.Hdoc.Pos()), w.endOffset(r.Hdoc.End())
			}
			if out.FD <= 0 {
				c.in = Input{Kind: InputHere, Text: &body}
				c.stream = &stream{text: body}
			}
		case syntax.WordHdoc:
			body := concat(w.one(r.Word), exact("\n"))
			out.Here = &body
			out.Target = w.oneArg(r.Word)
			if out.FD <= 0 {
				c.in = Input{Kind: InputHere, Text: &body}
				c.stream = &stream{text: body}
			}
		default:
			if args := w.wordFields(nil, r.Word); len(args) == 1 {
				out.Target = args[0]
			} else {
				out.Target = w.oneArg(r.Word)
			}
			target, _ := out.Target.Exact()
			switch {
			case r.Op == syntax.RdrIn && out.FD <= 0:
				file := out.Target.Value
				c.in = Input{Kind: InputFile, File: &file}
				c.stream = nil
				if len(file.Holes) > 0 {
					// < <(cmd): what the process wrote is what is read.
					if from := file.origin(); !from.Empty() && file.Holes[0].Kind == HolePath {
						c.in = Input{Kind: InputPipe, From: from}
						for i := from.From; i < from.To; i++ {
							if w.f.Leaves[i].Stdout.Kind == OutputCaptured {
								w.f.Leaves[i].Stdout.Kind = OutputPipe
								w.f.Leaves[i].Stdout.To = Span{len(w.f.Leaves), len(w.f.Leaves) + 1}
							}
						}
						if text, ok := w.procText(file.Holes[0].Name); ok {
							c.in.Text = &text
							c.stream = &stream{text: text}
						}
					}
				} else if c.in.Text == nil {
					text := w.fileHole(file)
					c.in.Text = &text
				}
			case r.Op == syntax.DplIn && out.FD <= 0 && target != "-" && target != "0":
				c.redirs = redirs
				c.in = Input{Kind: InputFile, File: &out.Target.Value}
				if in, ok := w.descriptor("/dev/fd/"+target, *c); ok && (in.Text != nil || !in.From.Empty()) {
					c.in = in
				}
				c.stream = nil
			case out.Writes() && (out.FD == 1 || out.FD == -1):
				// The text goes to the file; what reads on sees nothing.
				c.outKind = OutputFile
				c.out = nil
			}
		}
		redirs = append(redirs, out)
	}
	c.redirs = redirs
}

// stdoutFile returns the redirection that sends standard output to a file.
func stdoutFile(rs []Redirect) *Redirect {
	for i := len(rs) - 1; i >= 0; i-- {
		if r := &rs[i]; r.Writes() && r.FD <= 1 && r.FD != 0 {
			return r
		}
	}
	return nil
}

// write remembers what the command puts into a file, for when it runs the file
// later on.
func (w *walker) write(path, text Value, appends bool) {
	p, ok := w.absolute(path)
	if !ok || strings.HasPrefix(p, "/dev/") || !w.step(1+len(text.Text)/64) {
		return
	}
	if appends {
		old, ok := w.files[p]
		if !ok {
			// What was there before is read only if it gets executed.
			old = concat(w.fileHole(exact(p)), exact("\n"))
		}
		text = concat(old, text)
		w.charge(text)
	}
	if w.files == nil {
		w.files = map[string]Value{}
	}
	w.files[p] = text
}

// written returns what the command put into a file.
func (w *walker) written(path Value) (Value, bool) {
	p, ok := w.absolute(path)
	if !ok {
		return Value{}, false
	}
	v, ok := w.files[p]
	return v, ok
}

// absolute is a path's key in the written files.
func (w *walker) absolute(path Value) (string, bool) {
	if w.st.remote {
		return "", false
	}
	if _, ok := path.Exact(); !ok {
		// $TMP/x is the same file twice, whatever $TMP is.
		if len(path.Alts) > 0 || path.Suffix() == "" {
			return "", false
		}
		for _, h := range path.Holes {
			if h.Kind != HoleVar {
				return "", false
			}
		}
		return path.String(), true
	}
	full := joinPath(w.st.dir, path)
	if p, ok := full.Exact(); ok {
		return p, true
	}
	return path.Text, true // folder unknown: the name is all there is
}

// fileHole stands for the content of a file, read only if it gets executed.
func (w *walker) fileHole(path Value) Value {
	name, _ := path.Exact()
	return hole(HoleInput, name)
}

func (w *walker) heredoc(r *syntax.Redirect) (Value, bool) {
	quoted := false
	for _, p := range r.Word.Parts {
		switch l := p.(type) {
		case *syntax.Lit:
			quoted = quoted || strings.Contains(l.Value, "\\")
		default:
			quoted = true
		}
	}
	if r.Hdoc == nil {
		return Value{}, quoted
	}
	var v Value
	if quoted {
		var b builder
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				b.add(w.literal(l.Value))
			} else {
				b.add(w.quotedPart(p, true))
			}
		}
		v = b.take()
	} else {
		v = w.quotedParts(r.Hdoc.Parts, true)
	}
	if r.Op == syntax.DashHdoc && len(v.Alts) == 0 && len(v.Holes) == 0 {
		lines := strings.SplitAfter(v.Text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		v = exact(strings.Join(lines, ""))
	}
	return v, quoted
}

func (w *walker) command(cmd syntax.Command, c ctx) {
	switch cmd := cmd.(type) {
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			w.pipe(cmd, c)
		} else {
			w.list(cmd, c)
		}
		return
	case *syntax.CallExpr:
		w.call(cmd, c)
		return
	}
	if !w.enter() {
		return
	}
	defer w.leave()
	switch cmd := cmd.(type) {
	case *syntax.Block:
		w.stmts(cmd.Stmts, c)
	case *syntax.Subshell:
		w.sub(func() { w.stmts(cmd.Stmts, c) })
	case *syntax.IfClause:
		w.ifClause(cmd, c)
	case *syntax.WhileClause:
		w.while(cmd, c)
	case *syntax.ForClause:
		w.forClause(cmd, c)
	case *syntax.CaseClause:
		w.one(cmd.Word)
		inner := c
		inner.flags |= Conditional
		w.branches(len(cmd.Items), func(i int) {
			for _, p := range cmd.Items[i].Patterns {
				w.pattern(p)
			}
			w.stmts(cmd.Items[i].Stmts, inner)
		}, true)
	case *syntax.FuncDecl:
		if cmd.Name != nil {
			w.define(cmd.Name.Value, body{stmt: cmd.Body, src: w.src})
		}
		for _, n := range cmd.Names {
			w.define(n.Value, body{stmt: cmd.Body, src: w.src})
		}
		if cmd.Name == nil && len(cmd.Names) == 0 {
			w.stmt(cmd.Body, c) // zsh: an anonymous function runs at once
		}
	case *syntax.TestDecl:
		w.stmt(cmd.Body, c)
	case *syntax.ArithmCmd:
		w.arithm(cmd.X)
	case *syntax.LetClause:
		for _, x := range cmd.Exprs {
			w.arithm(x)
		}
	case *syntax.TestClause:
		w.test(cmd.X)
	case *syntax.DeclClause:
		w.declare(cmd, c)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			w.stmt(cmd.Stmt, c)
		}
	case *syntax.CoprocClause:
		c.flags |= Background
		w.sub(func() { w.stmt(cmd.Stmt, c) })
	}
}

// list walks a chain of && and ||, which nests to the left.
func (w *walker) list(cmd *syntax.BinaryCmd, c ctx) {
	type link struct {
		op syntax.BinCmdOperator
		s  *syntax.Stmt
	}
	var chain []link
	first := cmd.X
	chain = append(chain, link{cmd.Op, cmd.Y})
	for {
		b, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || len(first.Redirs) > 0 || first.Negated || b.Op == syntax.Pipe || b.Op == syntax.PipeAll || !w.step(1) {
			break
		}
		chain = append(chain, link{b.Op, b.Y})
		first = b.X
	}
	w.stmt(first, c)
	prev := first
	inner := c
	inner.flags |= Conditional
	for i := len(chain) - 1; i >= 0; i-- {
		l := chain[i]
		if l.op == syntax.AndStmt && succeeds(prev) {
			w.stmt(l.s, inner)
		} else {
			stay := w.st.stay
			if l.op == syntax.OrStmt {
				w.st.stay = nil
			} else {
				stay = nil
			}
			w.branches(1, func(int) {
				if stay != nil && w.missing(w.st.dir) {
					w.st.dir = *stay
				}
				w.stmt(l.s, inner)
			}, true)
		}
		prev = l.s
		if w.over {
			return
		}
	}
}

// succeeds reports whether a statement is taken to succeed, so that what comes
// after && is not one of two ways: changing directory, assigning, making
// folders. Were it to fail nothing after it would run.
func succeeds(s *syntax.Stmt) bool {
	if s.Negated {
		return false
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.DeclClause:
		return true
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			return true
		}
		switch cmd.Args[0].Lit() {
		case "cd", "pushd", "popd", "mkdir", "echo", "printf", "true", ":", "export", "set", "source", ".", "shopt", "unset", "touch", "read":
			return true
		}
	}
	return false
}

// pipe walks a pipeline, which may nest on either side.
func (w *walker) pipe(cmd *syntax.BinaryCmd, c ctx) {
	var stages []*syntax.Stmt
	type item struct{ s *syntax.Stmt }
	stack := []item{{cmd.Y}, {cmd.X}}
	for len(stack) > 0 {
		s := stack[len(stack)-1].s
		stack = stack[:len(stack)-1]
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) && len(s.Redirs) == 0 {
			stack = append(stack, item{b.Y}, item{b.X})
			continue
		}
		stages = append(stages, s)
		if !w.step(1) {
			return
		}
	}
	w.pipeline(len(stages), c, w.src.dialect == Zsh, func(i int, c ctx) { w.stmt(stages[i], c) })
}

// pipeline joins n stages; the last may run in the shell itself.
func (w *walker) pipeline(n int, c ctx, lastInShell bool, walk func(int, ctx)) {
	var prev Span
	var flowing Value
	for i := range n {
		sc := c
		if i > 0 {
			text := flowing
			sc.in = Input{Kind: InputPipe, From: prev, Text: &text}
			sc.stream = &stream{text: text}
		}
		var out builder
		if i < n-1 {
			sc.out, sc.outKind = &out, OutputPipe
			sc.redirs = onlyErrors(c.redirs)
		}
		from := len(w.f.Leaves)
		if lastInShell && i == n-1 {
			walk(i, sc)
		} else {
			w.sub(func() { walk(i, sc) })
		}
		span := Span{from, len(w.f.Leaves)}
		for j := prev.From; i > 0 && j < prev.To; j++ {
			if out := &w.f.Leaves[j].Stdout; out.Kind == OutputPipe && out.To.Empty() {
				out.To = span
			}
		}
		w.step((prev.To - prev.From) / 8)
		prev = span
		flowing = out.take()
		if w.over {
			return
		}
	}
}

// onlyErrors drops the inherited redirections of standard output, which a pipe
// replaces for all stages but the last.
func onlyErrors(rs []Redirect) []Redirect {
	if len(rs) == 0 {
		return rs
	}
	var out []Redirect
	for _, r := range rs {
		if r.FD > 1 || r.FD == 0 || strings.HasPrefix(r.Op, "&>") || strings.HasPrefix(r.Op, "<") {
			out = append(out, r)
		}
	}
	return out
}

func (w *walker) ifClause(cmd *syntax.IfClause, c ctx) {
	inner := c
	inner.flags |= Conditional
	var clauses []*syntax.IfClause
	for e := cmd; e != nil; e = e.Else {
		clauses = append(clauses, e)
	}
	// The first condition always runs; later ones only on their way.
	w.stmts(cmd.Cond, c)
	hasElse := len(clauses[len(clauses)-1].Cond) == 0
	w.branches(len(clauses), func(i int) {
		if i > 0 {
			w.stmts(clauses[i].Cond, inner)
		}
		w.stmts(clauses[i].Then, inner)
	}, !hasElse)
}

func (w *walker) while(cmd *syntax.WhileClause, c ctx) {
	inner := c
	inner.flags |= Conditional | Loop
	w.loosen(cmd.Do)
	w.loosen(cmd.Cond)
	cond := c
	cond.flags |= Loop
	w.stmts(cmd.Cond, cond)
	w.branches(1, func(int) { w.stmts(cmd.Do, inner) }, true)
}

// loosen makes what a loop body assigns one of: as before, or unknown, for the
// rounds after the first.
func (w *walker) loosen(body []*syntax.Stmt) {
	seen := map[string]bool{}
	loosen := func(name string, number bool) {
		if seen[name] || !isName(name) {
			return
		}
		seen[name] = true
		v := w.variable(name)
		k := HoleMany
		if number {
			k = HoleNumber
		}
		if len(v.Holes) == 0 {
			old := w.st.vars[name]
			if !old.isArray {
				w.assign(name, either(v, hole(k, name)))
			}
		}
	}
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if !w.step(1) {
				return false
			}
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil && !n.Naked {
					number := false
					if n.Value != nil && len(n.Value.Parts) == 1 {
						_, number = n.Value.Parts[0].(*syntax.ArithmExp)
					}
					// A plain constant is the same in every round.
					if n.Append || n.Value == nil || n.Value.Lit() == "" {
						loosen(n.Name.Value, number)
					}
				}
			case *syntax.UnaryArithm:
				if n.Op == syntax.Inc || n.Op == syntax.Dec {
					loosen(arithmName(n.X), true)
				}
			case *syntax.BinaryArithm:
				if assigns(n.Op) {
					loosen(arithmName(n.X), true)
				}
			}
			return true
		})
	}
}

// maxRounds is how many rounds of a loop over constants are walked one by one;
// longer loops see one round with alternatives or a hole.
const maxRounds = 16

func (w *walker) forClause(cmd *syntax.ForClause, c ctx) {
	inner := c
	inner.flags |= Loop
	iter, ok := cmd.Loop.(*syntax.WordIter)
	if !ok {
		loop := cmd.Loop.(*syntax.CStyleLoop)
		if loop.Init != nil {
			w.arithm(loop.Init)
		}
		name := ""
		if b, ok := loop.Init.(*syntax.BinaryArithm); ok {
			name = arithmName(b.X)
		}
		w.loosen(cmd.Do)
		if name != "" {
			w.assign(name, hole(HoleNumber, name))
		}
		inner.flags |= Conditional
		w.branches(1, func(int) { w.stmts(cmd.Do, inner) }, true)
		return
	}
	items := w.words(iter.Items)
	if !iter.InPos.IsValid() {
		items = w.st.params
		if !w.st.knows {
			items = append(items[:len(items):len(items)], Arg{Value: hole(HoleParam, "@"), Splits: true})
		}
	}
	w.rounds(iter.Name.Value, items, func() { w.stmts(cmd.Do, inner) }, func() { w.loosen(cmd.Do) })
}

// rounds runs body for each item.
func (w *walker) rounds(name string, items []Arg, body func(), loosen func()) {
	if len(items) == 0 {
		return
	}
	if len(items) <= maxRounds {
		for _, it := range items {
			if w.over {
				return
			}
			if it.Glob || (it.Splits && len(it.Holes) > 0) {
				if len(items) == 1 {
					loosen()
				}
			}
			w.assign(name, w.item(it))
			body()
		}
		return
	}
	loosen()
	vals := make([]Value, 0, len(items))
	for _, it := range items {
		vals = append(vals, w.item(it))
		if len(vals) > 4*maxAlts {
			break
		}
	}
	// The roots and parents among many names are worth more than the first few.
	worst := vals[:0:0]
	for i := range items {
		if t, ok := items[i].Exact(); ok && (len(t) < 3 || strings.HasPrefix(t, "/") || strings.HasPrefix(t, "..")) && len(worst) < maxAlts/2 {
			worst = append(worst, items[i].Value)
		}
	}
	w.assign(name, either(append(worst, vals...)...))
	body()
}

// item is the value a loop variable takes from a word.
func (w *walker) item(a Arg) Value {
	if !a.Glob || len(a.Alts) > 0 {
		return a.Value
	}
	// A pattern nobody resolved: the part before the first pattern character is
	// known, the name is not.
	i := strings.IndexAny(a.Text, "*?[")
	if i < 0 || len(a.Holes) > 0 {
		return a.Value
	}
	v := exact(a.Text[:i])
	v.Holes = []Hole{{At: i, Kind: HoleName, Name: a.Text, NonEmpty: true}}
	if j := strings.LastIndexAny(a.Text, "*?]"); j >= i && j+1 < len(a.Text) {
		v.Text += a.Text[j+1:]
	}
	return v
}

func (w *walker) test(x syntax.TestExpr) {
	if x == nil || !w.enter() {
		return
	}
	defer w.leave()
	switch x := x.(type) {
	case *syntax.Word:
		w.one(x)
	case *syntax.BinaryTest:
		w.test(x.X)
		if word, ok := x.Y.(*syntax.Word); ok && x.Op != syntax.AndTest && x.Op != syntax.OrTest {
			w.pattern(word)
		} else {
			w.test(x.Y)
		}
	case *syntax.UnaryTest:
		w.test(x.X)
	case *syntax.ParenTest:
		w.test(x.X)
	}
}

// capture walks a command substitution and returns what is known of its output.
func (w *walker) capture(p *syntax.CmdSubst) Value {
	if !w.enter() {
		return hole(HoleMany, "")
	}
	defer w.leave()
	return w.captured(func(c ctx) { w.stmts(p.Stmts, c) })
}

// captured runs walk in a subshell whose output is collected.
func (w *walker) captured(walk func(ctx)) Value {
	var out builder
	from := len(w.f.Leaves)
	w.sub(func() { walk(ctx{out: &out, outKind: OutputCaptured, flags: Substitution}) })
	v := trimNewlines(out.take())
	for i := range v.Holes {
		if v.Holes[i].Kind == HoleOutput && v.Holes[i].From.Empty() {
			v.Holes[i].From = Span{from, len(w.f.Leaves)}
		}
	}
	return v
}

func trimNewlines(v Value) Value {
	if len(v.Alts) > 0 {
		out := make([]Value, len(v.Alts))
		for i := range v.Alts {
			out[i] = trimNewlines(v.Alts[i])
		}
		return either(out...)
	}
	end := len(v.Text)
	low := 0
	if n := len(v.Holes); n > 0 {
		low = v.Holes[n-1].At
	}
	for end > low && v.Text[end-1] == '\n' {
		end--
	}
	v.Text = v.Text[:end]
	return v
}

// procSubst walks a process substitution and returns the path that stands for
// it; what it prints is kept under that path.
func (w *walker) procSubst(p *syntax.ProcSubst) Value {
	if !w.enter() {
		return hole(HoleMany, "")
	}
	defer w.leave()
	from := len(w.f.Leaves)
	c := ctx{flags: Substitution}
	var out builder
	if p.Op == syntax.CmdOut {
		c.in = Input{Kind: InputPipe}
	} else {
		c.out, c.outKind = &out, OutputCaptured
	}
	w.sub(func() { w.stmts(p.Stmts, c) })
	name := ""
	if p.Op == syntax.CmdIn || p.Op == syntax.CmdInTemp {
		name = "/dev/fd/" + strconv.Itoa(63+len(w.procs))
		w.procs = append(w.procs, out.take())
	} else {
		name = ">"
	}
	return Value{Holes: []Hole{{Kind: HolePath, Name: name, From: Span{from, len(w.f.Leaves)}, NonEmpty: true}}}
}

// procText returns what is known of the text behind a process substitution.
func (w *walker) procText(name string) (Value, bool) {
	s, ok := strings.CutPrefix(name, "/dev/fd/")
	if !ok {
		return Value{}, false
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 63 || n-63 >= len(w.procs) {
		return Value{}, false
	}
	return w.procs[n-63], true
}

// call walks a simple command.
func (w *walker) call(cmd *syntax.CallExpr, c ctx) {
	c.pos = [2]int{w.offset(cmd.Pos()), w.endOffset(cmd.End())}
	if len(cmd.Args) == 0 {
		leaf := Leaf{Flags: AssignOnly, Offset: c.pos[0], End: c.pos[1]}
		leaf.Assigns = make([]Assign, 0, len(cmd.Assigns))
		for _, a := range cmd.Assigns {
			if as, ok := w.assignment(a, false); ok {
				leaf.Assigns = append(leaf.Assigns, as)
			}
		}
		w.add(leaf, c)
		return
	}
	before := len(w.f.Leaves)
	argv := w.words(cmd.Args)
	if w.over {
		return
	}
	if len(cmd.Assigns) > 0 {
		own := make([]Assign, 0, len(c.assigns)+len(cmd.Assigns))
		own = append(own, c.assigns...)
		for _, a := range cmd.Assigns {
			as, ok := w.prefixAssignment(a)
			if ok {
				own = append(own, as)
			}
		}
		c.assigns = own
	}
	if len(argv) == 0 {
		// $(cmd) that prints nothing known to us, or an empty variable.
		if len(w.f.Leaves) == before {
			w.add(Leaf{Flags: AssignOnly, Offset: c.pos[0], End: c.pos[1]}, c)
		}
		return
	}
	if cmd.Args[0].Parts[0] != nil {
		if l, ok := cmd.Args[0].Parts[0].(*syntax.Lit); !ok || strings.HasPrefix(l.Value, "\\") {
			c.quoted = true
		}
	}
	w.run(argv, c)
}

// prefixAssignment evaluates an assignment in front of a program, which does
// not change the shell.
func (w *walker) prefixAssignment(a *syntax.Assign) (Assign, bool) {
	if a.Name == nil {
		return Assign{}, false
	}
	v := w.one(a.Value)
	if a.Append {
		v = concat(w.variable(a.Name.Value), v)
	}
	return Assign{Name: a.Name.Value, Value: v, Append: a.Append, Exported: true, Offset: w.offset(a.Name.Pos())}, true
}

// assignment makes an assignment in the shell.
func (w *walker) assignment(a *syntax.Assign, export bool) (Assign, bool) {
	if a.Name == nil || !w.step(1) {
		return Assign{}, false
	}
	name := a.Name.Value
	out := Assign{Name: name, Append: a.Append, Offset: w.offset(a.Name.Pos())}
	old, had := w.lookup(name)
	switch {
	case a.Array != nil:
		v := variable{isArray: true, exported: old.exported}
		if a.Append && had {
			v.arr = append([]Value(nil), old.arr...)
			v.keys = maps.Clone(old.keys)
			if !old.isArray {
				v.arr = []Value{old.val}
			}
			w.step(len(v.arr))
		}
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				if word, ok := e.Index.(*syntax.Word); ok {
					if k, ok := exactOf(w.one(word)); ok && !allDigits(k) {
						if v.keys == nil {
							v.keys = map[string]Value{}
						}
						v.keys[k] = w.one(e.Value)
						continue
					}
				}
				w.arithm(e.Index)
			}
			if e.Value == nil {
				continue
			}
			for _, f := range w.wordFields(nil, e.Value) {
				v.arr = append(v.arr, f.Value)
			}
		}
		w.st.setVar(name, v)
		if len(v.arr) > 0 {
			out.Value = joinValues(v.arr[:min(len(v.arr), 256)], " ")
		}
	case a.Index != nil:
		val := w.one(a.Value)
		out.Value = val
		v := old
		v.arr = append([]Value(nil), old.arr...)
		w.step(len(v.arr))
		if !v.isArray && had {
			v.arr = []Value{old.val}
		}
		v.isArray = true
		word, isWord := a.Index.(*syntax.Word)
		if isWord && (v.keys != nil || (!isName(word.Lit()) && !allDigits(word.Lit()) && word.Lit() != "")) {
			k, _ := exactOf(w.one(word))
			keys := map[string]Value{}
			for kk, vv := range v.keys {
				keys[kk] = vv
			}
			w.step(len(keys))
			keys[k] = val
			v.keys = keys
		} else if n, ok := w.arithm(a.Index); ok && n >= 0 && n < 4096 {
			for int64(len(v.arr)) <= n {
				v.arr = append(v.arr, Value{})
			}
			if a.Append {
				val = concat(v.arr[n], val)
			}
			v.arr[n] = val
		} else {
			v.arr = append(v.arr, val)
		}
		w.st.setVar(name, v)
	case a.Naked:
		if export && had {
			out.Value = old.val
		}
	default:
		val := w.one(a.Value)
		if a.Append {
			if had && old.isArray {
				v := old
				v.arr = append([]Value(nil), old.arr...)
				if len(v.arr) == 0 {
					v.arr = []Value{{}}
				}
				v.arr[0] = concat(v.arr[0], val)
				w.st.setVar(name, v)
				out.Value = val
				break
			}
			val = concat(w.variable(name), val)
		}
		w.step(len(val.Text) / 64)
		w.assign(name, val)
		out.Value = val
	}
	if export {
		out.Exported = true
		v := w.st.vars[name]
		v.exported = true
		if _, ok := w.st.vars[name]; ok || !a.Naked {
			w.st.setVar(name, v)
			w.export(name, w.variable(name))
		}
	} else if old.exported || w.st.allexp {
		out.Exported = true
	}
	return out, true
}

func exactOf(v Value) (string, bool) { return v.Exact() }

// declare walks export, declare, local, readonly, typeset, nameref.
func (w *walker) declare(cmd *syntax.DeclClause, c ctx) {
	name := cmd.Variant.Value
	off, end := w.offset(cmd.Pos()), w.endOffset(cmd.End())
	leaf := Leaf{Name: name, Flags: Builtin, Offset: off, End: end}
	leaf.Argv = append(leaf.Argv, Arg{Value: exact(name), Offset: off, End: off + len(name), Quote: Bare})
	export := name == "export"
	ref := name == "nameref"
	drop, functions := false, false
	for _, a := range cmd.Args {
		if !w.step(1) {
			return
		}
		if a.Name == nil {
			for _, f := range w.wordFields(nil, a.Value) {
				leaf.Argv = append(leaf.Argv, f)
				if t, ok := f.Exact(); ok && strings.HasPrefix(t, "-") {
					export = export || (strings.Contains(t, "x") && name != "export")
					ref = ref || strings.Contains(t, "n") && name != "export"
					drop = drop || (name == "export" && strings.Contains(t, "n"))
					functions = functions || strings.Contains(t, "f")
					if name == "declare" || name == "typeset" {
						ref = strings.Contains(t, "n")
					}
				} else if n, _, ok := strings.Cut(f.Text, "="); ok && isName(n) && len(f.Alts) == 0 {
					// export "$x": an assignment by expansion.
					val := f.slice(len(n)+1, len(f.Text))
					w.assign(n, val)
					as := Assign{Name: n, Value: val, Exported: export, Offset: f.Offset}
					if export {
						vv := w.st.vars[n]
						vv.exported = true
						w.st.setVar(n, vv)
						w.export(n, val)
					}
					leaf.Assigns = append(leaf.Assigns, as)
				}
			}
			continue
		}
		if fn, ok := w.st.funcs[a.Name.Value]; ok && functions && a.Naked && export {
			fn.exported = !drop
			w.st.funcs[a.Name.Value] = fn
		}
		as, ok := w.assignment(a, export && !drop)
		if !ok {
			continue
		}
		if ref {
			if t, ok := as.Value.Exact(); ok && isName(t) && t != as.Name {
				w.st.setVar(as.Name, variable{ref: t})
			}
		}
		word := exact(as.Name)
		if !a.Naked {
			word = concat(exact(as.Name+"="), as.Value)
		}
		leaf.Argv = append(leaf.Argv, Arg{Value: word, Offset: as.Offset, End: w.endOffset(a.End())})
		leaf.Assigns = append(leaf.Assigns, as)
	}
	if i := w.add(leaf, c); c.out != nil && !w.over {
		c.out.add(w.output(i, c))
	}
}

// add appends a leaf with its surroundings and returns its index.
func (w *walker) add(l Leaf, c ctx) int {
	if len(w.f.Leaves) >= w.lim.Leaves {
		w.fail("leaves", w.lim.Leaves)
		return len(w.f.Leaves) - 1
	}
	w.step(1 + len(l.Argv)/4)
	for i := range l.Argv {
		w.charge(l.Argv[i].Value)
	}
	if len(c.assigns) > 0 {
		l.Assigns = append(c.assigns[:len(c.assigns):len(c.assigns)], l.Assigns...)
	}
	l.Exported = w.st.exported
	l.Redirects = c.redirs
	l.Dir = w.st.dir
	l.Stdin = c.in
	l.Stdout.Kind = c.outKind
	l.Via = c.via
	l.Flags |= c.flags
	w.f.Leaves = append(w.f.Leaves, l)
	return len(w.f.Leaves) - 1
}
