package shell

import (
	"path"
	"slices"
	"strings"
)

// run walks a command of known words: functions and aliases of the command,
// builtins, wrappers, programs that start programs, scripts; what remains is a
// leaf.
func (w *walker) run(argv []Arg, c ctx) {
	// A wrapper looks through all the words for its options, and so does the next.
	if len(argv) == 0 || !w.step(len(argv)/64) || !w.enter() {
		return
	}
	defer w.leave()
	if c.pos[1] == 0 {
		c.pos[1] = argv[len(argv)-1].End
	}
	head := &argv[0]
	if len(head.Alts) > 0 {
		alts := head.Alts
		w.branches(len(alts), func(i int) {
			next := slices.Clone(argv)
			next[0].Value = alts[i]
			if alts[i].IsEmpty() && head.Splits {
				next = next[1:]
			}
			w.run(next, c)
		}, false)
		return
	}
	text, known := head.Exact()
	if !known {
		i := w.leaf(argv, c)
		if made, ok := w.written(slashes(head.Value)); ok && !w.over {
			from := len(w.f.Leaves)
			w.sub(func() { w.writtenScript(head.String(), made, w.src.dialect, i, c) })
			w.runs(i, from)
			return
		}
		if head.Prefix() == "" && (len(w.src.holes) > 0 || !head.origin().Empty()) {
			// Unknown text of an eval or sh -c, or what another program printed, stands
			// where a program would.
			why := "program"
			if len(w.src.holes) == 0 {
				why = "printed program"
			} else if h := head.Value.Holes; len(h) > 0 && h[0].Name == "_" && h[0].From.Empty() {
				return // "{ $_.x }": outside a pipeline it is nothing
			}
			w.opaque(Opaque{Leaf: i, Text: head.Value, From: head.origin(), Why: why, Offset: c.pos[0]})
		}
		return
	}
	switch w.src.dialect {
	case PowerShell:
		w.runCmdlet(text, argv, c)
		return
	case Cmd:
		w.runDOS(text, argv, c)
		return
	}
	if v, ok := w.st.aliases[text]; ok && !c.bare && !c.quoted && !w.calling(call{name: "alias " + text}) {
		// A shell that is not interactive has to be told to know aliases.
		w.branches(1, func(int) {
			w.calls = append(w.calls, call{name: "alias " + text})
			w.code(concat(append([]Value{v}, joinArgs(argv[1:]))...), w.src.dialect, head, "alias", c)
			w.calls = w.calls[:len(w.calls)-1]
		}, true)
	}
	if fn, ok := w.st.funcs[text]; ok && (!c.bare || fn.exported) {
		w.branches(len(fn.bodies), func(i int) { w.callFunction(text, fn.bodies[i], argv, c) }, fn.maybe || c.bare)
		if !fn.maybe && !c.bare {
			return
		}
	}
	c.bare, c.quoted = false, false
	if !strings.Contains(text, "/") && w.builtin(text, argv, c) {
		return
	}
	w.start(text, argv, c)
}

// launch walks a command that another program starts, which knows no functions but
// those that were exported.
func (w *walker) launch(argv []Arg, c ctx) {
	c.bare = true
	w.run(argv, c)
}

// start runs a program that is no builtin of the shell.
func (w *walker) start(text string, argv []Arg, c ctx) {
	name := programName(text)
	if w.wrapper(name, argv, c) || w.interpreter(name, argv, c) || w.program(name, argv, c) {
		return
	}
	i := w.leaf(argv, c)
	if runsFiles(lower(name)) && !w.over {
		w.runsOperands(argv, i, c)
	}
	if strings.ContainsAny(text, "/.") && !w.over {
		w.executable(text, argv, i, c)
	}
}

// joinArgs returns the words with a space in front of each, quoted so that they
// read back as they are.
func joinArgs(argv []Arg) Value {
	var b builder
	for _, a := range argv {
		b.addText(" ")
		b.add(quoteValue(a.Value))
	}
	return b.take()
}

// quoteValue quotes text for the shell where it needs it.
func quoteValue(v Value) Value {
	if len(v.Alts) > 0 {
		out := make([]Value, len(v.Alts))
		for i := range v.Alts {
			out[i] = quoteValue(v.Alts[i])
		}
		return either(out...)
	}
	safe := v.Text != "" || len(v.Holes) > 0
	for i := 0; i < len(v.Text) && safe; i++ {
		c := v.Text[i]
		safe = digit(c) >= 0 || strings.IndexByte("_-./:=,+@%", c) >= 0
	}
	if safe {
		return v
	}
	var b builder
	b.addText("'")
	last := 0
	for _, h := range v.Holes {
		b.addText(strings.ReplaceAll(v.Text[last:h.At], "'", `'\''`))
		last = h.At
		h.At = 0
		b.add(Value{Holes: []Hole{h}})
	}
	b.addText(strings.ReplaceAll(v.Text[last:], "'", `'\''`))
	b.addText("'")
	return b.take()
}

// programName is the base name of a program path.
func programName(text string) string {
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		text = text[i+1:]
	}
	if len(text) > 3 && (text[1] == ':' || text[0] == '\\') {
		text = text[strings.LastIndexByte(text, '\\')+1:] // C:\dir\prog.exe
	}
	if n := len(text); n > 4 && strings.EqualFold(text[n-4:], ".exe") {
		text = text[:n-4]
	}
	return text
}

// leaf adds a program with its output and returns its index.
func (w *walker) leaf(argv []Arg, c ctx) int {
	l := Leaf{Argv: argv, Offset: c.pos[0], End: c.pos[1]}
	head := &argv[0]
	if t, ok := head.Exact(); ok {
		l.Name = programName(t)
	} else if s := head.Suffix(); strings.Contains(s, "/") {
		l.Name = programName(s) // $BIN/rm
	}
	i := w.add(l, c)
	if w.over {
		return i
	}
	if c.out != nil {
		c.out.add(w.output(i, c))
	}
	w.writes(i, c)
	return i
}

// writes follows the programs that put text into the files they name.
func (w *walker) writes(i int, c ctx) {
	l := &w.f.Leaves[i]
	args := l.Argv[1:]
	if w.src.dialect == Cmd || w.src.dialect == PowerShell {
		args = slices.Clone(args)
		for k := range args {
			args[k].Value = slashes(args[k].Value)
		}
		l = &Leaf{Name: l.Name, Argv: append(l.Argv[:1:1], args...)}
	}
	switch l.Name {
	case "tee", "sponge":
		text := outputHole(Span{i, i + 1})
		if c.in.Text != nil {
			text = *c.in.Text
		}
		appends := false
		for k := range args {
			if t := args[k].Text; strings.HasPrefix(t, "-") {
				appends = appends || t == "-a" || t == "--append"
				continue
			}
			w.write(args[k].Value, text, appends)
		}
	case "curl", "wget", "aria2c":
		opts, _ := options(l.Argv, 1, "", "")
		for k := range l.Argv {
			t := l.Argv[k].Text
			if (t == "--output" || t == "-O" && l.Name == "wget" || t == "--output-document" || t == "--out" || t[:min(1, len(t))] == "-" && !strings.HasPrefix(t, "--") && strings.HasSuffix(t, "o") && l.Name != "wget") && k+1 < len(l.Argv) {
				w.write(l.Argv[k+1].Value, outputHole(Span{i, i + 1}), false)
			}
			for _, p := range [...]string{"--output=", "--output-document=", "--out="} {
				if strings.HasPrefix(t, p) && len(l.Argv[k].Alts) == 0 {
					w.write(l.Argv[k].slice(len(p), len(t)), outputHole(Span{i, i + 1}), false)
				}
			}
			// Without a name the last part of the address is the file.
			remote := given(opts, " --remote-name ") || l.Name == "wget" || l.Name == "aria2c" || (l.Name == "curl" && strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--") && strings.Contains(t, "O"))
			if u := l.Argv[len(l.Argv)-1].Text; remote && (strings.Contains(u, "://") || strings.Contains(u, "/") && !strings.HasPrefix(u, "-")) {
				if b := basename(u); b != "" && !strings.Contains(b, ":") {
					w.write(exact(b), outputHole(Span{i, i + 1}), false)
				}
			}
		}
	case "scp", "rsync":
		if n := len(args); n > 1 && !strings.Contains(args[n-1].Text, ":") {
			to := args[n-1].Value
			for k := range args[:n-1] {
				host, file, _ := strings.Cut(args[k].Text, ":")
				if host == "" || file == "" || strings.Contains(host, "/") {
					continue
				}
				w.write(to, outputHole(Span{i, i + 1}), false)
				w.write(joinPath(to, exact(basename(file))), outputHole(Span{i, i + 1}), false)
			}
		}
	case "java":
		for k := 1; k+1 < len(l.Argv); k++ {
			if l.Argv[k].Text == "-jar" {
				if made, ok := w.written(l.Argv[k+1].Value); ok {
					w.opaque(Opaque{Leaf: i, Text: made, From: made.origin(), Why: "written script", Offset: l.Offset})
				}
				break
			}
		}
	case "certutil", "bitsadmin":
		for k := 1; k < len(args); k++ { // the file stands behind the address
			if strings.Contains(args[k-1].Text, "://") {
				w.write(slashes(args[k].Value), outputHole(Span{i, i + 1}), false)
			}
		}
		if n := len(args); n > 2 && (strings.HasPrefix(lower(args[0].Text), "-decode") || strings.HasPrefix(lower(args[0].Text), "/decode")) {
			w.write(slashes(args[n-1].Value), outputHole(Span{i, i + 1}), false)
		}
	case "cp", "mv", "ln", "install":
		if len(args) >= 2 {
			from, to := args[len(args)-2].Value, args[len(args)-1].Value
			if v, ok := w.written(from); ok {
				w.write(to, v, false)
			} else if at, ok := w.absolute(to); ok && len(w.copied) < 64 {
				if w.copied == nil {
					w.copied = map[string]Value{}
				}
				w.copied[at] = joinPath(w.st.dir, from)
			}
		}
	case "dd":
		for k := range args {
			if t := args[k].Text; strings.HasPrefix(t, "of=") && len(args[k].Alts) == 0 {
				text := outputHole(Span{i, i + 1})
				if c.in.Text != nil {
					text = *c.in.Text
				}
				w.write(args[k].slice(3, len(t)), text, false)
			}
		}
	}
}

// builtinLeaf adds a builtin.
func (w *walker) builtinLeaf(argv []Arg, c ctx) {
	c.flags |= Builtin
	w.leaf(argv, c)
}

func (w *walker) callFunction(name string, fn body, argv []Arg, c ctx) {
	if w.calling(call{name, fn.stmt}) {
		w.recursion(Recursion{Name: name, Offset: c.pos[0],
			Forks: c.flags&Background != 0 || c.in.Kind == InputPipe || c.outKind == OutputPipe || c.flags&Substitution != 0})
		return
	}
	old, oldSrc := w.st, w.src
	inner := *w.st
	inner.params, inner.knows = argv[1:], true
	w.st = &inner
	w.src = fn.src
	w.calls = append(w.calls, call{name, fn.stmt})
	c.flags |= Function
	if fn.stmt != nil {
		w.stmt(fn.stmt, c)
	} else {
		w.psBody(fn.params, fn.ps, argv[1:], c)
	}
	w.calls = w.calls[:len(w.calls)-1]
	after := w.st
	after.params, after.knows, after.dead = old.params, old.knows, old.dead
	w.st, w.src = after, oldSrc
}

func (w *walker) recursion(r Recursion) {
	if len(w.f.Recursions) < 64 {
		w.f.Recursions = append(w.f.Recursions, r)
	}
}

// builtin runs the shell's own commands that change its state or take code. It
// reports whether name was one of those it handles whole.
func (w *walker) builtin(name string, argv []Arg, c ctx) bool {
	switch name {
	case "cd", "chdir":
		w.builtinLeaf(argv, c)
		start := w.st.dir
		w.cd(argv, "")
		w.searched(argv, start, c)
	case "pushd", "popd":
		w.builtinLeaf(argv, c)
		w.cd(argv, name)
	case "eval":
		rest := argv[1:]
		if len(rest) > 0 && rest[0].Text == "--" {
			rest = rest[1:]
		}
		vals := make([]Value, len(rest))
		for i := range rest {
			vals[i] = rest[i].Value
		}
		if len(rest) == 0 {
			w.builtinLeaf(argv, c)
			break
		}
		v := joinValues(vals, " ")
		before := len(w.f.Leaves)
		at := &rest[0]
		if len(rest) > 1 {
			at = &Arg{Offset: rest[0].Offset, End: rest[len(rest)-1].End}
		}
		c.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
		ok := w.code(v, w.src.dialect, at, "eval", c)
		if !ok || len(w.f.Leaves) == before {
			i := w.leaf(argv, c)
			w.settle(i)
		}
	case "source", ".":
		w.source(argv, c)
	case "exec":
		w.exec(argv, c)
	case "exit", "return", "logout":
		w.builtinLeaf(argv, c)
		w.st.dead = true
	case "export", "declare", "typeset", "local", "readonly", "integer", "float":
		w.declareWords(name, argv, c)
	case "unset":
		w.builtinLeaf(argv, c)
		for i := range argv[1:] {
			if t, ok := argv[i+1].Exact(); ok && isName(t) {
				w.st.setVar(t, variable{unset: true})
				if i > 0 || !strings.HasPrefix(argv[1].Text, "-v") {
					delete(w.st.funcs, t)
				}
			}
		}
	case "set":
		w.builtinLeaf(argv, c)
		for i := 1; i < len(argv); i++ {
			t, ok := argv[i].Exact()
			if !ok || t == "--" || t == "-" || !strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "+") {
				if t == "--" || t == "-" {
					i++
				}
				w.st.params, w.st.knows = argv[i:], true
				break
			}
			on := t[0] == '-'
			if strings.Contains(t, "a") {
				w.st.allexp = on
			}
			if strings.Contains(t, "e") {
				w.st.errexit = on
			}
			if strings.HasSuffix(t, "o") && i+1 < len(argv) {
				i++
				switch argv[i].Text {
				case "allexport":
					w.st.allexp = on
				case "errexit":
					w.st.errexit = on
				}
			}
		}
	case "shift":
		w.builtinLeaf(argv, c)
		n := 1
		if len(argv) > 1 {
			if m, ok := w.number(argv[1].Text, 0); ok && m >= 0 && m < 1000 {
				n = int(m)
			}
		}
		w.st.params = w.st.params[min(n, len(w.st.params)):]
	case "read":
		w.builtinLeaf(argv, c)
		w.read(argv, c)
	case "mapfile", "readarray":
		w.builtinLeaf(argv, c)
		w.mapfile(argv, c)
	case "printf":
		if len(argv) > 3 && argv[1].Text == "-v" {
			if t, ok := argv[2].Exact(); ok {
				w.builtinLeaf(argv, c)
				v := printf(w, argv[3:])
				if base, _, isElem := strings.Cut(t, "["); isElem {
					old := w.st.vars[base]
					old.isArray = true
					old.arr = append(slices.Clone(old.arr), v)
					w.st.setVar(base, old)
				} else {
					w.assign(t, v)
				}
				break
			}
		}
		w.builtinLeaf(argv, c)
	case "trap":
		w.builtinLeaf(argv, c)
		rest := argv[1:]
		if len(rest) > 0 && rest[0].Text == "--" {
			rest = rest[1:]
		}
		if len(rest) > 1 && !strings.HasPrefix(rest[0].Text, "-") {
			c.flags |= Trap
			c.out, c.in, c.stream = nil, Input{}, nil
			c.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
			if len(w.traps) < 64 {
				w.traps = append(w.traps, trapped{code: rest[0], c: c, src: w.src})
			}
		}
	case "alias":
		w.builtinLeaf(argv, c)
		for i := range argv[1:] {
			a := &argv[i+1]
			n, _, ok := strings.Cut(a.Text, "=")
			if ok && len(a.Alts) == 0 && n != "" && !strings.HasPrefix(n, "-") {
				if w.st.aliases == nil {
					w.st.aliases = map[string]Value{}
				}
				w.st.aliases[n] = a.slice(len(n)+1, len(a.Text))
			}
		}
	case "unalias":
		w.builtinLeaf(argv, c)
		for i := range argv[1:] {
			delete(w.st.aliases, argv[i+1].Text)
		}
	case "let":
		w.builtinLeaf(argv, c)
		for i := range argv[1:] {
			if n, _, ok := strings.Cut(argv[i+1].Text, "="); ok && isName(strings.TrimRight(n, "+-*/%")) {
				w.assign(strings.TrimRight(n, "+-*/%"), hole(HoleNumber, n))
			}
		}
	case "getopts":
		w.builtinLeaf(argv, c)
		if len(argv) > 2 && isName(argv[2].Text) {
			w.assign(argv[2].Text, hole(HoleName, argv[2].Text))
			w.assign("OPTARG", hole(HoleParam, "OPTARG"))
			w.assign("OPTIND", hole(HoleNumber, "OPTIND"))
		}
	case "enable":
		w.builtinLeaf(argv, c)
	case "test", "[", "true", ":", "false", "break", "continue", "wait", "shopt", "setopt", "unsetopt", "hash", "type", "umask",
		"ulimit", "jobs", "fg", "bg", "disown", "dirs", "echo", "pwd", "bind", "complete", "compgen", "autoload", "zmodload", "print", "times", "suspend", "history", "fc", "caller", "help", "kill":
		w.builtinLeaf(argv, c)
	default:
		return false
	}
	return true
}

// trapped is the code of a trap, kept until its shell ends: what it refers to is
// usually set after it.
type trapped struct {
	code Arg
	c    ctx
	src  *source
}

// ending runs f as a shell or subshell and then the traps set in it.
func (w *walker) ending(f func()) {
	outer := w.traps
	w.traps = nil
	f()
	for i := 0; i < len(w.traps) && !w.over; i++ {
		t := w.traps[i]
		old, src := w.st, w.src
		w.st, w.src = w.fork(), t.src
		w.code(t.code.Value, t.src.dialect, &t.code, "trap", t.c)
		w.st, w.src = old, src
	}
	w.traps = outer
}

// settle gives an opaque note just made without a leaf the leaf that belongs to
// it.
func (w *walker) settle(i int) {
	if n := len(w.f.Opaque); n > 0 && i >= 0 && w.f.Opaque[n-1].Leaf < i {
		w.f.Opaque[n-1].Leaf = i
	}
}

func via(chain []Wrap, link Wrap) []Wrap {
	return append(chain[:len(chain):len(chain)], link)
}

// declareWords is declare and friends reached through command, builtin or an
// expansion, with assignments as plain words.
func (w *walker) declareWords(name string, argv []Arg, c ctx) {
	leaf := Leaf{Name: name, Argv: argv, Flags: Builtin, Offset: c.pos[0], End: c.pos[1]}
	export := name == "export"
	for i := range argv[1:] {
		a := &argv[i+1]
		if t, ok := a.Exact(); ok && strings.HasPrefix(t, "-") {
			export = export || strings.Contains(t, "x")
			continue
		}
		n, _, ok := strings.Cut(a.Text, "=")
		if !isName(n) || len(a.Alts) > 0 {
			continue
		}
		val := w.variable(n)
		if ok {
			val = a.slice(len(n)+1, len(a.Text))
			w.assign(n, val)
		}
		if export {
			v := w.st.vars[n]
			v.exported = true
			w.st.setVar(n, v)
			w.export(n, val)
		}
		leaf.Assigns = append(leaf.Assigns, Assign{Name: n, Value: val, Exported: export, Offset: a.Offset})
	}
	w.add(leaf, c)
}

// cd follows a change of directory. stack is pushd or popd for those.
func (w *walker) cd(argv []Arg, stack string) {
	args := argv[1:]
	for len(args) > 0 {
		t, ok := args[0].Exact()
		if !ok || len(t) < 2 || t[0] != '-' {
			break
		}
		args = args[1:]
		if t == "--" {
			break
		}
	}
	old := w.st.dir
	w.st.stay = nil
	switch {
	case stack == "popd":
		if n := len(w.st.dirs); n > 0 {
			w.st.dir = w.st.dirs[n-1]
			w.st.dirs = w.st.dirs[: n-1 : n-1]
		} else {
			w.st.dir = hole(HolePath, "popd")
		}
	case len(args) == 0:
		if stack == "pushd" {
			if n := len(w.st.dirs); n > 0 {
				w.st.dir = w.st.dirs[n-1]
				w.st.dirs = append(w.st.dirs[:n-1:n-1], old)
			}
			break
		}
		w.st.dir = w.variable("HOME")
	case args[0].Text == "-" && stack == "" && len(args[0].Holes) == 0:
		w.st.dir = w.variable("OLDPWD")
	default:
		w.st.dir = joinPath(w.st.dir, args[0].Value)
		if args[0].Glob {
			w.st.dir = joinPath(old, w.item(args[0]))
		}
		if stack == "pushd" {
			w.st.pushDir(old)
		}
		w.st.stay = &old
	}
	w.st.oldDir = &old
	if _, set := w.st.vars["PWD"]; set {
		w.assign("PWD", w.st.dir)
	}
}

// stayed takes the folder of a cd for one of two where what follows runs whether it
// succeeded or not and the folder is not there.
func (w *walker) stayed() {
	if stay := w.st.stay; stay != nil {
		if w.st.stay = nil; !w.st.errexit && w.missing(w.st.dir) {
			w.st.dir = either(w.st.dir, *stay)
		}
	}
}

// stayedOr is stayed for the shells of Windows, in front of the command that rest
// begins with. Behind && the cd succeeded, and behind one that leaves as well.
func (w *walker) stayedOr(and bool, rest string) {
	if w.st.stay == nil {
		return
	}
	switch word := lower(strings.TrimLeft(rest[:min(len(rest), 64)], " \t({@")); {
	case and, strings.HasPrefix(word, "exit"), strings.HasPrefix(word, "goto"), strings.HasPrefix(word, "return"), strings.HasPrefix(word, "throw"):
		w.st.stay = nil
	}
	w.stayed()
}

// plainPattern makes a name a pattern that matches it alone.
var plainPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// missing reports whether a folder is known not to be there, nor named by what ran
// before and may have made it.
func (w *walker) missing(dir Value) bool {
	p, known := dir.Exact()
	if p = cleanPath(p); !known || w.world.Glob == nil || w.st.remote || !onDrive(p) && !strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") || !w.step(16+len(w.f.Leaves)) {
		return false
	}
	parent, name := path.Split(p)
	if names, ok := w.world.Glob(path.Clean(parent), plainPattern.Replace(name)); !ok || len(names) > 0 {
		return false
	}
	for i := range w.f.Leaves {
		if has(" cd pushd chdir sl set-location push-location ", lower(w.f.Leaves[i].Name)) {
			continue
		}
		for k, a := range w.f.Leaves[i].Argv {
			if k > 0 && strings.Contains(a.Text, name) {
				return false
			}
		}
	}
	return true
}

// searched adds the folders below those of CDPATH to where cd may have led.
func (w *walker) searched(argv []Arg, start Value, c ctx) {
	last := &argv[len(argv)-1]
	if t := last.Text; len(argv) == 1 || t == "" || strings.HasPrefix(t, "-") || strings.HasPrefix(t, "/") || t == "." || t == ".." || strings.HasPrefix(t, "./") || strings.HasPrefix(t, "../") {
		return
	}
	v, _ := w.lookup("CDPATH")
	list := v.val
	for i := range c.assigns {
		if c.assigns[i].Name == "CDPATH" {
			list = c.assigns[i].Value
		}
	}
	if len(list.Holes)+len(list.Alts) > 0 || list.Text == "" {
		return
	}
	to := []Value{w.st.dir}
	for folder := range strings.SplitSeq(list.Text, ":") {
		if len(to) == maxAlts {
			break
		}
		if folder != "" && folder != "." {
			to = append(to, joinPath(joinPath(start, exact(folder)), last.Value))
		}
	}
	w.st.dir = either(to...)
}

// joinPath resolves a path against a directory, as text: links are not known.
func joinPath(dir, path Value) Value {
	var out []Value
	for _, d := range dir.Each() {
		for _, p := range path.Each() {
			if len(out) == maxAlts {
				return Value{Alts: append(out[:maxAlts-1], hole(HoleMany, ""))}
			}
			out = append(out, joinOne(d, p))
		}
	}
	return either(out...)
}

// maxPath is how long a folder's path may grow, Linux's PATH_MAX. Beyond it the
// folder counts as unknown: every leaf carries its folder, and cd a; cd a; … would
// make the facts grow with the square of the text.
const maxPath = 4096

func tooDeep(d, p Value) bool {
	return len(d.Text)+len(p.Text) > maxPath || len(d.Holes)+len(p.Holes) > 64
}

func joinOne(d, p Value) Value {
	if p.IsEmpty() {
		return d
	}
	abs := strings.HasPrefix(p.Prefix(), "/") || onDrive(p.Prefix())
	if !abs && tooDeep(d, p) {
		return hole(HolePath, "")
	}
	if pt, ok := p.Exact(); ok {
		if abs {
			return exact(cleanPath(pt))
		}
		if dt, ok := d.Exact(); ok {
			return exact(cleanPath(dt + "/" + pt))
		}
		if pt == "." {
			return d
		}
	}
	if abs || (p.Prefix() == "" && len(p.Holes) > 0 && p.Holes[0].Kind != HoleName && p.Holes[0].Kind != HoleNumber) {
		return p
	}
	return join(join(d, exact("/")), p)
}

// onDrive tells an absolute path of Windows.
func onDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && letter(p[0]) && (p[2] == '/' || p[2] == '\\')
}

// cleanPath resolves . and .. in an absolute path, as text.
func cleanPath(p string) string {
	if onDrive(p) {
		return p[:2] + cleanPath(strings.ReplaceAll(p[2:], `\`, "/"))
	}
	if !strings.HasPrefix(p, "/") {
		return p
	}
	var parts []string
	for s := range strings.SplitSeq(p, "/") {
		switch s {
		case "", ".":
		case "..":
			if len(parts) > 0 {
				parts = parts[:len(parts)-1]
			}
		default:
			parts = append(parts, s)
		}
	}
	return "/" + strings.Join(parts, "/")
}

// exec replaces the shell: its redirections stay, its command is the last.
func (w *walker) exec(argv []Arg, c ctx) {
	n := 1
	for n < len(argv) {
		t, ok := argv[n].Exact()
		if !ok || len(t) < 2 || t[0] != '-' {
			break
		}
		n++
		if t == "--" {
			break
		}
		if strings.HasSuffix(t, "a") {
			n++
		}
	}
	if n >= len(argv) {
		w.builtinLeaf(argv, c)
		w.step(len(w.st.open))
		w.st.open = append(w.st.open[:len(w.st.open):len(w.st.open)], c.redirs...)
		return
	}
	c.via = via(c.via, Wrap{Name: "exec", Argv: argv[:n]})
	w.launch(argv[n:], c)
	w.st.dead = true
}

// read gives variables the next line of standard input.
func (w *walker) read(argv []Arg, c ctx) {
	var names []string
	array := ""
	delim := "\n"
	for i := 1; i < len(argv); i++ {
		t, ok := argv[i].Exact()
		if !ok {
			continue
		}
		if len(names) == 0 && len(t) > 1 && t[0] == '-' {
			for j := 1; j < len(t); j++ {
				if strings.IndexByte("adinNptu", t[j]) < 0 {
					continue
				}
				val := t[j+1:]
				if val == "" && i+1 < len(argv) {
					i++
					val, _ = argv[i].Exact()
				}
				switch t[j] {
				case 'a':
					array = val
				case 'd':
					delim = val
					if delim == "" {
						delim = "\x00"
					}
				}
				break
			}
			continue
		}
		if n, _, ok := strings.Cut(t, "?"); ok {
			t = n // zsh: name?prompt
		}
		if isName(t) {
			names = append(names, t)
		}
	}
	line := hole(HoleInput, "")
	if c.in.Kind == InputPipe {
		line = Value{Holes: []Hole{{Kind: HoleInput, From: c.in.From}}}
	}
	if c.stream != nil {
		line = w.nextLine(c, delim)
	} else if c.in.Text != nil {
		line = c.in.Text.blur() // of a file, whose name the hole has
	}
	ifs := w.ifs()
	for _, a := range c.assigns {
		if t, ok := a.Value.Exact(); ok && a.Name == "IFS" {
			ifs = t
		}
	}
	if array != "" {
		v := variable{isArray: true}
		for _, one := range line.Each() {
			if t, ok := one.Exact(); ok {
				for _, f := range splitFields(t, ifs, 0) {
					v.arr = append(v.arr, exact(f))
				}
			} else {
				v.arr = append(v.arr, one)
			}
		}
		w.st.setVar(array, v)
		return
	}
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	for i, n := range names {
		v := line.mapExact(func(s string) Value {
			fields := splitFields(s, ifs, len(names))
			if i < len(fields) {
				return exact(fields[i])
			}
			return Value{}
		})
		if len(names) == 1 && len(line.Alts) == 0 && len(line.Holes) > 0 {
			v = line
		}
		w.assign(n, v)
	}
}

// nextLine takes a line from the known standard input. In a loop it returns
// every line there is as an alternative and leaves the stream as it is.
func (w *walker) nextLine(c ctx, delim string) Value {
	v := c.stream.text
	if len(v.Alts) > 0 {
		return v
	}
	w.step(len(v.Text) / 64)
	if c.flags&Loop != 0 {
		var lines []Value
		start := 0
		for start < len(v.Text) || (start == 0 && len(v.Holes) > 0) {
			end := strings.Index(v.Text[start:], delim)
			if end < 0 {
				end = len(v.Text)
			} else {
				end += start
			}
			lines = append(lines, v.slice(start, end))
			start = end + len(delim)
			if len(lines) > maxAlts || len(v.Holes) > 64 {
				break
			}
		}
		if len(lines) == 0 {
			return Value{}
		}
		return either(lines...)
	}
	end := strings.Index(v.Text, delim)
	if end < 0 {
		c.stream.text = Value{}
		return v
	}
	line := v.slice(0, end)
	rest := end + len(delim)
	next := v.slice(rest, len(v.Text))
	c.stream.text = next
	return line
}

// splitFields splits text by IFS into at most n fields (0: any number), the
// last taking the rest, as read does.
func splitFields(s, ifs string, n int) []string {
	var out []string
	isSpace := func(c byte) bool {
		return (c == ' ' || c == '\t' || c == '\n') && strings.IndexByte(ifs, c) >= 0
	}
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for s != "" {
		if n > 0 && len(out) == n-1 {
			for len(s) > 0 && isSpace(s[len(s)-1]) {
				s = s[:len(s)-1]
			}
			return append(out, s)
		}
		i := strings.IndexAny(s, ifs)
		if ifs == "" || i < 0 {
			return append(out, s)
		}
		out = append(out, s[:i])
		hard := !isSpace(s[i])
		s = s[i+1:]
		for len(s) > 0 && (isSpace(s[0]) || (!hard && strings.IndexByte(ifs, s[0]) >= 0)) {
			hard = hard || !isSpace(s[0])
			s = s[1:]
		}
	}
	return out
}

func (w *walker) mapfile(argv []Arg, c ctx) {
	name := "MAPFILE"
	if n := len(argv); n > 1 && isName(argv[n-1].Text) {
		name = argv[n-1].Text
	}
	v := variable{isArray: true}
	if c.stream == nil {
		v.arr = []Value{{Holes: []Hole{{Kind: HoleInput, From: c.in.From}}}}
	} else {
		text := c.stream.text
		if t, ok := text.Exact(); ok && len(t) < 64<<10 {
			for l := range strings.SplitSeq(strings.TrimSuffix(t, "\n"), "\n") {
				v.arr = append(v.arr, exact(l))
				w.step(1)
			}
		} else {
			v.arr = []Value{text.blur()}
		}
	}
	w.st.setVar(name, v)
}
