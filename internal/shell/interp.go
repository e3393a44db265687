package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wordsOf returns the words of a text that is one simple command.
func wordsOf(f *syntax.File) []*syntax.Word {
	if len(f.Stmts) != 1 || len(f.Stmts[0].Redirs) > 0 {
		return nil
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	if len(call.Assigns) > 0 {
		return nil
	}
	return call.Args
}

// shellDialect returns the dialect of a shell program.
func shellDialect(name string) (Dialect, bool) {
	switch name {
	case "bash", "rbash", "gbash", "git-bash":
		return Bash, true
	case "sh", "dash", "ash", "posh", "yash", "hush":
		return POSIX, true
	case "zsh", "rzsh":
		return Zsh, true
	case "ksh", "ksh93", "mksh", "lksh", "oksh", "loksh", "fish", "osh", "csh", "tcsh":
		// Near enough to bash for finding commands; what does not parse is
		// reported as such.
		return Bash, true
	case "pwsh", "powershell", "pwsh-preview", "powershell_ise":
		return PowerShell, true
	case "cmd":
		return Cmd, true
	}
	return 0, false
}

// language returns the language that an interpreter runs, and the options that
// take code, with spaces around each; empty code means a file or nothing.
func language(name string) (lang, code string) {
	base := strings.TrimRight(name, "0123456789.")
	switch base {
	case "python", "pypy", "ipython", "micropython", "pythonw", "py":
		return "python", " -c "
	case "node", "nodejs", "tsx", "ts-node", "esr":
		return "node", " -e --eval -p --print -pe "
	case "bun", "deno":
		return "node", " -e --eval -p --print "
	case "perl", "raku":
		return "perl", " -e -E "
	case "jrunscript", "jjs":
		return "node", " -e "
	case "pry":
		return "ruby", " -e "
	case "knife":
		return "ruby", " -E "
	case "bpython", "ptpython":
		return "python", " -c "
	case "bpftrace", "slsh":
		return base, " -e "
	case "ruby", "jruby", "irb", "truffleruby":
		return "ruby", " -e "
	case "php":
		return "php", " -r -R -B -E --run "
	case "lua", "luajit", "texlua":
		return "lua", " -e "
	case "osascript":
		return "osascript", " -e "
	case "Rscript", "R":
		return "r", " -e "
	case "julia":
		return "julia", " -e --eval -E --print "
	case "elixir", "iex":
		return "elixir", " -e --eval "
	case "groovy", "groovysh":
		return "groovy", " -e "
	case "scala", "scala-cli":
		return "scala", " -e "
	case "kotlin", "swift", "ghc", "ghci", "runghc", "gnuplot", "rake":
		return base, " -e "
	case "jshell":
		return "java", ""
	case "erl":
		return "erlang", " -eval "
	case "octave", "matlab", "octave-cli":
		return "octave", " --eval -batch -r "
	case "tclsh", "wish":
		return "tcl", ""
	case "expect":
		return "expect", " -c "
	case "guile", "racket", "sbcl", "clojure", "clj", "bb":
		return "lisp", " -c -e --eval "
	case "emacs", "emacsclient":
		return "emacs", " --eval --execute -e -eval "
	case "psql":
		return "sql", " -c --command "
	case "mysql", "mariadb":
		return "sql", " -e --execute "
	case "sqlite", "duckdb":
		return "sql", " -cmd -c "
	case "clickhouse-client", "clickhouse":
		return "sql", " -q --query "
	case "sqlcmd":
		return "sql", " -Q -q "
	case "mongo", "mongosh":
		return "mongo", " --eval "
	case "cypher-shell", "redis-cli":
		return "", ""
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return "awk", ""
	}
	return "", ""
}

// interpreter walks shells and notes the code of other interpreters.
func (w *walker) interpreter(name string, argv []Arg, c ctx) bool {
	if d, ok := shellDialect(name); ok {
		switch d {
		case PowerShell:
			w.runPowerShell(argv, c)
		case Cmd:
			w.runCmd(argv, c)
		default:
			w.shell(name, d, argv, c)
		}
		return true
	}
	lang, flags := language(name)
	if lang == "" {
		return false
	}
	if lang == "awk" {
		w.awk(argv, c)
		return true
	}
	w.foreign(lang, flags, argv, c)
	return true
}

// shell walks sh, bash, zsh and their like.
func (w *walker) shell(name string, d Dialect, argv []Arg, c ctx) {
	n := 1
	isCode, stdin, noExec, errExit := false, false, false, false
	var rc []Arg
	for n < len(argv) {
		a := &argv[n]
		t := a.Text
		if len(a.Alts) > 0 || len(t) < 2 || (t[0] != '-' && t[0] != '+') || (len(a.Holes) > 0 && a.Holes[0].At == 0) {
			if t == "-" && len(a.Holes) == 0 {
				n++
			}
			break
		}
		n++
		if t == "--" {
			break
		}
		if strings.HasPrefix(t, "--") {
			switch {
			case t == "--rcfile" || t == "--init-file":
				if n < len(argv) {
					rc = append(rc, argv[n])
					n++
				}
			case t == "--emulate":
				n++
			case t == "--command":
				isCode = true // fish
			case t == "--version" || t == "--help":
				noExec = true
			}
			continue
		}
		for j := 1; j < len(t); j++ {
			switch t[j] {
			case 'c':
				isCode = isCode || t[0] == '-'
			case 's':
				stdin = stdin || t[0] == '-'
			case 'n':
				noExec = t[0] == '-' // only checks the grammar
			case 'e':
				errExit = t[0] == '-'
			case 'o', 'O':
				if j == len(t)-1 && n < len(argv) {
					n++
				}
			}
		}
	}
	own := argv[:min(n, len(argv))]
	rest := argv[min(n, len(argv)):]
	if noExec {
		w.leaf(argv, c)
		return
	}
	wrap := Wrap{Name: name, Argv: own}
	for i := range rc {
		w.inChild(func() {
			cc := c
			cc.via = via(c.via, wrap)
			w.runFile(rc[i].Value, d, nil, -1, cc)
		})
	}
	// What the assignments in front put into the environment of the shell.
	child := func(args []Arg, f func(ctx)) {
		w.inChild(func() {
			for _, a := range c.assigns {
				w.st.setVar(a.Name, variable{val: a.Value, exported: true})
			}
			w.st.errexit = errExit
			if len(args) > 0 {
				w.st.name0 = &args[0]
				w.st.params = args[1:]
			}
			cc := c
			cc.via = via(c.via, wrap)
			cc.redirs = inherit(c.redirs)
			f(cc)
		})
	}
	switch {
	case isCode && len(rest) > 0:
		before := len(w.f.Leaves)
		child(rest[1:], func(cc ctx) {
			if w.code(rest[0].Value, d, &rest[0], name+" -c", cc) {
				return
			}
			cc.via = c.via
			w.settle(w.leaf(argv, cc))
		})
		if len(w.f.Leaves) == before && len(c.assigns)+len(c.redirs) > 0 {
			w.leaf(argv, c)
		}
	case len(rest) > 0 && !stdin && !isCode:
		i := w.leaf(argv, c)
		from := len(w.f.Leaves)
		child(rest, func(cc ctx) { w.runFile(rest[0].Value, d, rest, i, cc) })
		w.runs(i, from)
	default:
		w.shellInput(name, d, argv, rest, c, child)
	}
}

// inherit returns redirections as what runs inside sees them.
func inherit(rs []Redirect) []Redirect {
	if len(rs) == 0 {
		return nil
	}
	out := slices.Clone(rs)
	for i := range out {
		out[i].Inherited = true
	}
	return out
}

// runs notes that leaf i started the leaves from from on.
func (w *walker) runs(i, from int) {
	if i >= 0 && i < len(w.f.Leaves) && len(w.f.Leaves) > from {
		w.f.Leaves[i].Runs = Span{from, len(w.f.Leaves)}
	}
}

// shellInput walks a shell that reads its commands from standard input.
func (w *walker) shellInput(name string, d Dialect, argv, rest []Arg, c ctx, child func([]Arg, func(ctx))) {
	args := append([]Arg{argv[0]}, rest...)
	in := w.stdin(c)
	if in.Kind == InputInherit {
		w.leaf(argv, c) // an interactive shell, or one fed by the caller
		return
	}
	if in.Text == nil {
		i := w.leaf(argv, c)
		var v Value
		if in.File != nil {
			v = w.fileHole(*in.File)
		} else {
			v = Value{Holes: []Hole{{Kind: HoleInput, From: in.From}}}
		}
		w.opaque(Opaque{Leaf: i, Text: v, From: in.From, Why: name + " input", Offset: c.pos[0]})
		return
	}
	// A leaf as well: who feeds a shell wants to be seen.
	i := w.leaf(argv, c)
	from := len(w.f.Leaves)
	text := *in.Text
	child(args, func(cc ctx) {
		cc.in, cc.stream = Input{}, nil
		cc.redirs = slices.DeleteFunc(cc.redirs, func(r Redirect) bool { return r.Op[0] == '<' })
		var at *Arg
		if in.Kind == InputHere && len(c.redirs) > 0 {
			at = &c.redirs[len(c.redirs)-1].Target
			for j := range c.redirs {
				if c.redirs[j].Here == in.Text {
					at = &c.redirs[j].Target
				}
			}
		}
		if !w.code(text, d, at, name+" input", cc) && !w.over {
			if n := len(w.f.Opaque); n > 0 {
				w.f.Opaque[n-1].Leaf = i
				if w.f.Opaque[n-1].From.Empty() {
					w.f.Opaque[n-1].From = in.From
				}
			} else {
				w.opaque(Opaque{Leaf: i, Text: text, From: in.From, Why: name + " input", Offset: c.pos[0]})
			}
		}
	})
	w.runs(i, from)
}

// readScript reads a file that would be executed.
func (w *walker) readScript(path Value, off int) (string, bool) {
	p, ok := path.Exact()
	if !ok || w.st.remote || p == "" {
		return "", false
	}
	if v, ok := w.written(path); ok {
		// The command writes it before it is read.
		if text, exact := v.Exact(); exact {
			return text, true
		}
	}
	if w.world.ReadFile == nil {
		return "", false
	}
	full := joinPath(w.st.dir, path)
	if f, ok := full.Exact(); ok {
		p = f
	}
	if from, ok := w.copied[p]; ok { // the command puts it there
		if f, ok := from.Exact(); ok {
			p = f
		}
	}
	if !w.ask() {
		return "", false
	}
	content, ok := w.world.ReadFile(p, w.lim.Script)
	if !ok {
		if content != "" {
			w.problem(Problem{Kind: TooLarge, Path: p, Detail: "larger than the limit for scripts", Leaf: -1, Offset: off})
		}
		return "", false
	}
	if len(content) > w.lim.Script {
		w.problem(Problem{Kind: TooLarge, Path: p, Detail: "larger than the limit for scripts", Leaf: -1, Offset: off})
		return "", false
	}
	w.step(1 + len(content)/64)
	return content, true
}

// runFile walks a script file given to a shell, args being its name and
// arguments. leaf is the program that runs it.
func (w *walker) runFile(path Value, d Dialect, args []Arg, leaf int, c ctx) {
	off := c.pos[0]
	for _, p := range path.Each() {
		name, ok := p.Exact()
		if !ok {
			if len(p.Holes) > 0 && p.Holes[0].Kind == HolePath {
				if text, ok := w.procText(p.Holes[0].Name); ok {
					n := len(w.f.Opaque)
					if !w.code(text, d, nil, "process substitution", c) && len(w.f.Opaque) > n {
						w.f.Opaque[n].Leaf = leaf
					}
					continue
				}
			}
			w.opaque(Opaque{Leaf: leaf, Text: p, From: p.origin(), Why: "script", Offset: off})
			continue
		}
		if in, ok := w.descriptor(name, c); ok {
			if in.Text != nil {
				cc := c
				cc.in, cc.stream = Input{}, nil
				if w.code(*in.Text, d, nil, "standard input", cc) {
					continue
				}
			}
			w.opaque(Opaque{Leaf: leaf, Text: hole(HoleInput, ""), From: in.From, Why: "standard input", Offset: off})
			continue
		}
		if slices.Contains(w.scripts, name) {
			w.recursion(Recursion{Name: name, Offset: off, Forks: c.flags&Background != 0 || c.in.Kind == InputPipe})
			continue
		}
		if v, ok := w.written(p); ok {
			w.writtenScript(name, v, d, leaf, c)
			continue
		}
		content, ok := w.readScript(p, off)
		if !ok {
			w.problem(Problem{Kind: Unread, Path: name, Leaf: leaf, Offset: off})
			continue
		}
		w.scriptText(name, content, d, leaf, c)
	}
}

// scriptText walks the content of a script file; its first line may name
// another interpreter when it was run as a program.
func (w *walker) scriptText(name, content string, d Dialect, leaf int, c ctx) {
	if strings.IndexByte(content, 0) >= 0 {
		return // a binary
	}
	w.scripts = append(w.scripts, name)
	if n := len(c.via); n > 0 && c.via[n-1].Script == name {
		// The caller named it already.
	} else if n > 0 && c.via[n-1].Script == "" {
		c.via = append(c.via[:n-1:n-1], c.via[n-1])
		c.via[n-1].Script = name
	} else {
		c.via = via(c.via, Wrap{Name: programName(name), Script: name})
	}
	w.nested(content, nil, d, c.pos[0], c.pos[1], false, true, c)
	w.scripts = w.scripts[:len(w.scripts)-1]
}

// writtenScript walks a script that the command wrote before running it.
func (w *walker) writtenScript(name string, v Value, d Dialect, leaf int, c ctx) {
	if n := len(c.via); n > 0 && c.via[n-1].Script == "" {
		c.via = append(c.via[:n-1:n-1], c.via[n-1])
		c.via[n-1].Script = name
	}
	w.scripts = append(w.scripts, name)
	n := len(w.f.Opaque)
	if !w.code(v, d, nil, "written script", c) && len(w.f.Opaque) > n {
		w.f.Opaque[n].Leaf = leaf
	}
	w.scripts = w.scripts[:len(w.scripts)-1]
}

// descriptor returns what is read from a path that names an open descriptor:
// -, /dev/stdin, /dev/fd/N. Of a descriptor that the command did not open nothing
// is known.
func (w *walker) descriptor(name string, c ctx) (Input, bool) {
	n := "0"
	if name != "-" && name != "/dev/stdin" {
		var ok bool
		if n, ok = strings.CutPrefix(name, "/dev/fd/"); !ok {
			if n, ok = strings.CutPrefix(name, "/proc/self/fd/"); !ok {
				return Input{}, false
			}
		}
	}
	if n == "0" {
		return w.stdin(c), true
	}
	if fd, err := strconv.Atoi(n); err == nil {
		for _, rs := range [...][]Redirect{c.redirs, w.st.open} {
			for i := len(rs) - 1; i >= 0; i-- {
				if rs[i].FD == fd {
					return w.opened(&rs[i]), true
				}
			}
		}
	}
	return Input{Kind: InputPipe}, true
}

// stdin is what a program reads: its own input, or that which exec gave the shell.
func (w *walker) stdin(c ctx) Input {
	if c.in.Kind == InputInherit {
		for i := len(w.st.open) - 1; i >= 0; i-- {
			if r := &w.st.open[i]; r.FD <= 0 && r.Op[0] == '<' && r.Op != "<&" {
				return w.opened(r)
			}
		}
	}
	return c.in
}

// opened returns what is read through a redirection.
func (w *walker) opened(r *Redirect) Input {
	if r.Here != nil {
		return Input{Kind: InputHere, Text: r.Here}
	}
	file := r.Target.Value
	if r.Op != "<" && r.Op != "<>" {
		return Input{Kind: InputPipe, From: file.origin()}
	}
	if len(file.Holes) > 0 {
		in := Input{Kind: InputPipe, From: file.origin()}
		if file.Holes[0].Kind == HolePath {
			if text, ok := w.procText(file.Holes[0].Name); ok {
				in.Text = &text
			}
		}
		return in
	}
	text := w.fileHole(file)
	return Input{Kind: InputFile, File: &file, Text: &text}
}

// fed returns the program text that a word names when it is no file to read:
// a process substitution or an open descriptor. Of text that is not known the
// leaf is noted as running it unseen.
func (w *walker) fed(a *Arg, why string, leaf int, c ctx) (Value, bool) {
	in := Input{}
	if name, ok := a.Exact(); ok {
		if in, ok = w.descriptor(name, c); !ok {
			return Value{}, false
		}
	} else if len(a.Holes) > 0 && a.Holes[0].Kind == HolePath {
		in = w.opened(&Redirect{Op: "<", Target: *a})
		if in.Text == nil {
			return Value{}, false
		}
	} else {
		return Value{}, false
	}
	v := hole(HoleInput, "")
	if in.Text != nil {
		v, _ = w.contents(*in.Text, a.Offset)
	}
	if len(v.Holes)+len(v.Alts) > 0 && in.Kind != InputInherit {
		w.opaque(Opaque{Leaf: leaf, Text: v, From: in.From, Why: why + " input", Offset: a.Offset})
	}
	return v, true
}

// source walks . and source.
func (w *walker) source(argv []Arg, c ctx) {
	rest := argv[1:]
	if len(rest) > 0 && rest[0].Text == "--" {
		rest = rest[1:]
	}
	i := -1
	cc := c
	cc.flags |= Builtin
	i = w.leaf(argv, cc)
	if len(rest) == 0 {
		return
	}
	from := len(w.f.Leaves)
	old, oldKnows := w.st.params, w.st.knows
	if len(rest) > 1 {
		w.st.params, w.st.knows = rest[1:], true
	}
	c.via = via(c.via, Wrap{Name: "source", Argv: argv[:1]})
	w.runFile(rest[0].Value, w.src.dialect, rest, i, c)
	w.st.params, w.st.knows = old, oldKnows
	w.st.dead = false
	w.runs(i, from)
}

// executable looks into a program that was named by a path and may be a script.
func (w *walker) executable(path string, argv []Arg, leaf int, c ctx) {
	if (w.world.ReadFile == nil && len(w.files) == 0) || strings.HasPrefix(path, "/bin/") || strings.HasPrefix(path, "/usr/") || strings.HasPrefix(path, "/sbin/") || strings.HasPrefix(path, "/opt/") {
		return
	}
	if !strings.Contains(path, "/") {
		return
	}
	if slices.Contains(w.scripts, path) {
		w.recursion(Recursion{Name: path, Offset: c.pos[0], Forks: c.flags&Background != 0 || c.in.Kind == InputPipe || c.outKind == OutputPipe})
		return
	}
	made, isMade := w.written(exact(path))
	content := made.Text
	if !isMade {
		var ok bool
		if content, ok = w.readScript(exact(path), c.pos[0]); !ok {
			w.problem(Problem{Kind: Unread, Path: path, Leaf: leaf, Offset: c.pos[0]})
			return
		}
	}
	from := len(w.f.Leaves)
	w.inChild(func() {
		for _, a := range c.assigns {
			w.st.setVar(a.Name, variable{val: a.Value, exported: true})
		}
		w.st.name0, w.st.params = &argv[0], argv[1:]
		lang, d, isShell := shebang(content)
		c.via = via(c.via, Wrap{Name: programName(path), Argv: argv[:1], Script: path})
		switch {
		case isShell && isMade:
			w.writtenScript(path, made, d, leaf, c)
		case isMade && lang != "":
			w.f.Code = append(w.f.Code, Code{Language: lang, Text: made, Leaf: leaf, Script: path, Offset: c.pos[0]})
		case isShell:
			w.scriptText(path, content, d, leaf, c)
		case lang != "":
			w.f.Code = append(w.f.Code, Code{Language: lang, Text: exact(content), Leaf: leaf, Script: path, Offset: c.pos[0]})
		}
	})
	w.runs(leaf, from)
}

// shebang returns what the first line of a script names. A text without one is
// run by the shell.
func shebang(content string) (lang string, d Dialect, isShell bool) {
	if strings.HasPrefix(content, "\x7fELF") || strings.HasPrefix(content, "MZ") || strings.IndexByte(content[:min(len(content), 512)], 0) >= 0 {
		return "", 0, false
	}
	line, ok := strings.CutPrefix(content, "#!")
	if !ok {
		return "", POSIX, true
	}
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	for f := range strings.FieldsSeq(line) {
		name := programName(f)
		if name == "env" || strings.HasPrefix(f, "-") || strings.Contains(f, "=") {
			continue
		}
		if d, ok := shellDialect(name); ok {
			return "", d, true
		}
		if l, _ := language(name); l != "" {
			return l, 0, false
		}
		return name, 0, false
	}
	return "", POSIX, true
}

// foreign notes the code that another interpreter is given.
func (w *walker) foreign(lang, flags string, argv []Arg, c ctx) {
	i := w.leaf(argv, c)
	note := func(v Value, script string, off int) {
		v, _ = w.contents(v, off)
		if len(w.f.Code) < 256 {
			w.f.Code = append(w.f.Code, Code{Language: lang, Text: v, Leaf: i, Script: script, Offset: off})
		}
	}
	file := -1
	found := false
	for n := 1; n < len(argv); n++ {
		a := &argv[n]
		t := a.Text
		if len(a.Alts) > 0 || len(t) < 2 || t[0] != '-' {
			if file < 0 {
				file = n
			}
			if lang != "sql" && lang != "emacs" && lang != "mongo" {
				break
			}
			continue
		}
		name, _, cut := strings.Cut(t, "=")
		switch {
		case has(flags, t) && n+1 < len(argv):
			n++
			note(argv[n].Value, "", argv[n].Offset)
			found = true
		case cut && has(flags, name):
			note(a.slice(len(name)+1, len(t)), "", a.Offset)
			found = true
		case t[1] != '-' && len(t) > 2:
			// Clustered: python -Bc CODE, perl -pie, -eCODE.
			for j := 1; j < len(t); j++ {
				if !has(flags, "-"+t[j:j+1]) {
					if lang == "perl" && (t[j] == 'i' || t[j] == 'I' || t[j] == 'M' || t[j] == 'm' || t[j] == 'F' || t[j] == 'x') {
						break // the rest is its value
					}
					continue
				}
				if j+1 < len(t) && (lang == "python" || lang == "perl" || lang == "ruby" || lang == "php" || lang == "sql") {
					note(a.slice(j+1, len(t)), "", a.Offset)
				} else if n+1 < len(argv) {
					n++
					note(argv[n].Value, "", argv[n].Offset)
				}
				found = true
				break
			}
		case lang == "python" && t == "-m":
			if n+1 < len(argv) && argv[n+1].Text == "timeit" {
				// Statements and their set-up; a word that is an option does no harm.
				for _, a := range argv[n+2:] {
					note(a.Value, "", a.Offset)
				}
			}
			return
		case lang == "osascript" && t == "-l":
			n++
		case lang == "node" && (t == "-r" || t == "--require" || t == "--import" || t == "--loader") && n+1 < len(argv):
			n++
		case (lang == "sql" || lang == "mongo") && (t == "-f" || t == "--file") && n+1 < len(argv):
			n++
			found = true
			if v, ok := w.fed(&argv[n], lang, i, c); ok {
				note(v, "", argv[n].Offset)
				continue
			}
			w.codeFile(lang, argv[n].Value, i, argv[n].Offset)
		case (lang == "python" && (t == "-W" || t == "-X")) || (lang == "perl" && (t == "-I" || t == "-M")) || (lang == "ruby" && (t == "-I" || t == "-r" || t == "-C")):
			n++
		case lang == "sql" && len(t) == 2 && strings.Contains("hUdpPuDSHTLvRFo", t[1:]):
			n++
		}
	}
	if found && lang != "emacs" {
		return
	}
	if lang == "sql" {
		base := l0(w.f.Leaves[i].Name)
		if (base == "sqlite" || base == "duckdb") && file > 0 && file+1 < len(argv) {
			note(argv[file+1].Value, "", argv[file+1].Offset)
			return
		}
		file = -1
	}
	if file > 0 {
		name := argv[file].Text
		if lang == "node" && (w.f.Leaves[i].Name == "bun" || w.f.Leaves[i].Name == "deno") {
			w.bunDeno(argv, file, i, c)
			return
		}
		if len(argv[file].Holes) > 0 && argv[file].Holes[0].Kind == HolePath {
			if text, ok := w.procText(argv[file].Holes[0].Name); ok {
				note(text, "", argv[file].Offset)
				return
			}
		}
		if in, ok := w.descriptor(name, c); ok {
			c.in, file = in, -1
		} else {
			w.codeFile(lang, argv[file].Value, i, argv[file].Offset)
			return
		}
	}
	if c.in.Kind != InputInherit {
		switch {
		case c.in.Text != nil:
			note(*c.in.Text, "", c.pos[0])
			if len(c.in.Text.Holes) > 0 {
				w.opaque(Opaque{Leaf: i, Text: *c.in.Text, From: c.in.From, Why: lang + " input", Offset: c.pos[0]})
			}
		case c.in.File != nil:
			w.codeFile(lang, *c.in.File, i, c.pos[0])
		default:
			w.opaque(Opaque{Leaf: i, Text: hole(HoleInput, ""), From: c.in.From, Why: lang + " input", Offset: c.pos[0]})
		}
	}
}

func l0(name string) string { return strings.TrimRight(name, "0123456789.") }

// codeFile notes the code in a file, if it can be read.
func (w *walker) codeFile(lang string, path Value, leaf, off int) {
	name, ok := path.Exact()
	if !ok {
		w.opaque(Opaque{Leaf: leaf, Text: path, From: path.origin(), Why: lang + " script", Offset: off})
		return
	}
	if v, ok := w.written(path); ok {
		v, _ = w.contents(v, off)
		if len(w.f.Code) < 256 {
			w.f.Code = append(w.f.Code, Code{Language: lang, Text: v, Leaf: leaf, Script: name, Offset: off})
		}
		return
	}
	content, ok := w.readScript(path, off)
	if !ok {
		w.problem(Problem{Kind: Unread, Path: name, Leaf: leaf, Offset: off})
		return
	}
	if len(w.f.Code) < 256 {
		w.f.Code = append(w.f.Code, Code{Language: lang, Text: exact(content), Leaf: leaf, Script: name, Offset: off})
	}
}
