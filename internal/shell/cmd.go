package shell

import (
	"strconv"
	"strings"
)

// The cmd.exe reader follows the order of cmd's own phases: percent expansion
// of a line, then carets, quotes and operators, then words. Batch files and the
// command line differ in %% and %i; both spellings of loop variables are read.

// dos reads one text for cmd.exe.
type dos struct {
	w    *walker
	text string
	i    int
	c    ctx
	// left is set behind goto and exit: what follows only runs from a label.
	left bool
	and  bool // the command under way stands behind &&
}

func (w *walker) cmdText(text string, c ctx) {
	d := &dos{w: w, text: text, c: c}
	d.block(false)
}

func (d *dos) pos(i int) int {
	if d.w.src.verbatim {
		return min(d.w.src.base+i, len(d.w.f.Text))
	}
	return d.w.src.base
}

// block walks commands until the end, or until the closing bracket.
func (d *dos) block(inner bool) {
	w := d.w
	if !w.enter() {
		return
	}
	defer w.leave()
	for d.i < len(d.text) && w.step(1) {
		switch ch := d.text[d.i]; {
		case ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n' || ch == '@' || ch == ';' || ch == ',' || ch == '=':
			d.i++
			continue
		case ch == '&' || ch == '|':
			d.i++
			continue
		case ch == ')':
			if inner {
				d.i++
				return
			}
			d.i++ // a stray bracket is ignored in front of a command
			continue
		case ch == ':' && !inner:
			if d.left && d.walked() {
				continue
			}
			d.left = false
		}
		w.stayedOr(d.and, d.text[d.i:])
		d.pipeline(d.c)
	}
	if inner && !w.over {
		w.problem(Problem{Kind: Unparsable, Detail: "bracket without an end", Leaf: -1, Offset: d.pos(d.i)})
	}
}

// walked moves to the next label if the one at the offset was called, and so walked
// with what it is given, and nothing jumps to it.
func (d *dos) walked() bool {
	line, _, _ := strings.Cut(d.text[d.i:], "\n")
	label := lower(strings.TrimSpace(line[1:]))
	if !d.w.labels[label] || !d.w.step(1+len(d.text)/8) {
		return false
	}
	low := lower(d.text)
	if strings.Contains(low, "goto "+label) || strings.Contains(low, "goto :"+label) {
		return false
	}
	if next := strings.Index(d.text[d.i:], "\n:"); next >= 0 {
		d.i += next + 1
	} else {
		d.i = len(d.text)
	}
	return true
}

// pipeline walks commands joined by |. The first pass finds their ends, so that
// each stage can be walked with the output of the one before.
func (d *dos) pipeline(c ctx) {
	var stages []stage
	for {
		from := d.i
		d.skip()
		stages = append(stages, stage{from, d.i})
		if d.i < len(d.text) && d.text[d.i] == '|' && !strings.HasPrefix(d.text[d.i:], "||") && d.w.step(1) {
			d.i++
			continue
		}
		break
	}
	d.and = strings.HasPrefix(d.text[d.i:], "&&")
	if d.and || strings.HasPrefix(d.text[d.i:], "||") {
		d.i += 2
		d.c.flags |= Conditional
	} else if d.i < len(d.text) && (d.text[d.i] == '&' || d.text[d.i] == '\n') {
		d.i++
	}
	run := func(k int, c ctx) {
		q := &dos{w: d.w, text: d.text[:stages[k].to], i: stages[k].from, c: c}
		if word := q.peek(); c.flags&(Conditional|Loop) == 0 && (word == "goto" || word == "exit") {
			d.left = true
		}
		q.command()
		if q.i < len(q.text) && (q.text[q.i] == '&' || q.text[q.i] == '|') && !q.w.over {
			q.block(false)
		}
	}
	if len(stages) == 1 {
		run(0, c)
		return
	}
	if last := stages[len(stages)-1]; itself(d.text[stages[0].from:stages[0].to]) && itself(d.text[last.from:last.to]) {
		d.w.recursion(Recursion{Name: "%0", Offset: d.pos(stages[0].from), Forks: true})
	}
	d.w.pipeline(len(stages), c, false, run)
}

// itself reports whether a command is the batch file that it stands in.
func itself(s string) bool {
	switch strings.Trim(s, " \t\"@\r\n") {
	case "%0", "%~0", "%~f0", "%~dpnx0":
		return true
	}
	return false
}

// skip moves to the next operator outside quotes and brackets.
func (d *dos) skip() {
	depth := 0
	quoted := false
	start := true
	// Groups within groups are looked through once at every level.
	defer func(from int) { d.w.step((d.i - from) / 32) }(d.i)
	for d.i < len(d.text) {
		if d.w.over {
			d.i = len(d.text)
			return
		}
		ch := d.text[d.i]
		switch {
		case ch == '"':
			quoted = !quoted
		case ch == '\n' && depth == 0:
			return
		case ch == '\n':
			quoted = false
			start = true
		case quoted:
		case ch == '^':
			d.i++
			if d.i < len(d.text) && d.text[d.i] == '\r' {
				d.i++
			}
		case ch == '(' && (start || depth > 0 || d.opens()):
			depth++
		case ch == ')':
			if depth == 0 {
				return
			}
			depth--
		case (ch == '&' || ch == '|') && depth == 0:
			// 2>&1 is a redirection.
			if ch == '&' && d.i > 0 && (d.text[d.i-1] == '>' || d.text[d.i-1] == '<') {
				break
			}
			return
		}
		if ch != ' ' && ch != '\t' && ch != '@' {
			start = false
		}
		d.i++
	}
	d.i = min(d.i, len(d.text)) // a caret at the very end
}

// opens reports whether the bracket at the offset opens a group: after if,
// else, for ... in and do it does, within other words it is text.
func (d *dos) opens() bool {
	d.w.step(8) // some of the 256 bytes each
	before := lower(strings.TrimRight(d.text[max(0, d.i-256):d.i], " \t"))
	line := before[strings.LastIndexAny(before, "\n&|")+1:]
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return true
	}
	last := fields[len(fields)-1]
	first := strings.TrimLeft(fields[0], "@()")
	return last == "in" || last == "do" || last == "else" || first == "if" || first == "for" || first == "else" || strings.HasSuffix(before, ")")
}

// expand replaces %VAR%, %VAR:a=b%, %VAR:~n,m% and !VAR! by what is known.
func (d *dos) expand(s string) Value {
	if !strings.ContainsAny(s, "%!") {
		return d.w.literal(s)
	}
	var b builder
	last := 0
	i := 0
	loop := func(at int) bool { // a loop variable's name stands there
		v, end, ok := d.loopVariable(s, at)
		if ok {
			b.addText(s[last:i])
			b.add(v)
			i, last = end-1, end
		}
		return ok
	}
	for ; i < len(s); i++ {
		ch := s[i]
		if ch != '%' && ch != '!' {
			continue
		}
		if !d.w.step(1) {
			break
		}
		if ch == '%' && i+1 < len(s) {
			next := s[i+1]
			switch {
			case next == '%':
				// %%i of a batch file.
				if loop(i + 2) {
					continue
				}
				b.addText(s[last:i])
				last = i + 1
				i++
				continue
			case next >= '0' && next <= '9' || next == '*':
				b.addText(s[last:i])
				n := int(next - '0')
				switch {
				case next != '*' && d.w.st.knows && n >= 1 && n <= len(d.w.st.params):
					b.add(d.w.st.params[n-1].Value)
				case next != '*' && d.w.st.knows && n > 0:
				default:
					b.add(hole(HoleParam, s[i:i+2]))
				}
				i++
				last = i + 1
				continue
			case next == '~':
				if loop(i + 1) {
					continue
				}
				j := i + 2
				for j < len(s) && strings.IndexByte("fdpnxsatz", s[j]|0x20) >= 0 {
					j++
				}
				if j < len(s) && digit(s[j]) >= 0 {
					b.addText(s[last:i])
					b.add(d.param(s[i:j+1], s[i+2:j], s[j]))
					i = j
					last = i + 1
					continue
				}
			}
			if loop(i + 1) {
				continue
			}
		}
		end := strings.IndexByte(s[i+1:], ch)
		if end <= 0 || strings.ContainsAny(s[i+1:i+1+end], " \t\"\n&|") && !modified(s[i+1:i+1+end]) {
			continue
		}
		name, mod, _ := strings.Cut(s[i+1:i+1+end], ":")
		if ch == '!' && !d.w.knowsDOS(name) {
			continue
		}
		b.addText(s[last:i])
		b.add(dosModify(d.w.dosVariable(name), mod))
		i += end + 1
		last = i + 1
	}
	b.addText(s[min(last, len(s)):])
	return d.w.restore(b.take())
}

// param is %~1 and its like: an argument, and what the letters ask of it.
func (d *dos) param(text, letters string, n byte) Value {
	switch k := int(n - '0'); {
	case n == '0' && letters == "d":
		if dir, ok := d.w.st.dir.Exact(); ok && onDrive(dir) {
			return exact(dir[:2])
		}
		return exact("C:")
	case n == '0' && strings.ContainsAny(letters, "dp") && !strings.ContainsAny(letters, "nxf"):
		// The folder of the batch file, mostly where it is run.
		return concat(d.w.st.dir, exact("/"))
	case d.w.st.knows && k >= 1 && k <= len(d.w.st.params):
		return dosParts(d.w.st.params[k-1].Value, letters)
	case d.w.st.knows && n != '0':
		return Value{}
	}
	return hole(HoleParam, text)
}

// loopVariable reads the name of a loop's variable at i, with modifiers before it, and
// returns what it holds and the offset behind it.
func (d *dos) loopVariable(s string, i int) (Value, int, bool) {
	if i < len(s) && s[i] == '~' {
		j := i + 1
		for j < len(s) && strings.IndexByte("fdpnxsatz", s[j]|0x20) >= 0 {
			j++
		}
		for ; j > i; j-- { // the last letter may be the name itself
			if j < len(s) {
				if v, ok := d.w.st.vars["%"+lower(s[j:j+1])]; ok {
					return dosParts(v.val, s[i+1:j]), j + 1, true
				}
			}
		}
		return Value{}, i, false
	}
	if i < len(s) {
		if v, ok := d.w.st.vars["%"+lower(s[i:i+1])]; ok {
			return v.val, i + 1, true
		}
	}
	return Value{}, i, false
}

// dosParts takes the quotes off, and the parts of a path that letters ask for.
func dosParts(v Value, letters string) Value {
	v = v.mapWhole(func(s string) string { return s })
	if t, ok := v.Exact(); ok {
		v = exact(strings.Trim(t, `"`))
	}
	letters = lower(letters)
	if letters == "" || strings.ContainsAny(letters, "fs") || strings.Contains(letters, "p") && strings.ContainsAny(letters, "nx") {
		return v
	}
	return v.mapExact(func(s string) Value {
		cut := strings.LastIndexAny(s, `/\`) + 1
		switch {
		case strings.Contains(letters, "p"):
			return exact(s[:cut])
		case letters == "d" && len(s) > 1:
			return exact(s[:2])
		case letters == "n":
			if dot := strings.LastIndexByte(s, '.'); dot > cut {
				return exact(s[cut:dot])
			}
			return exact(s[cut:])
		case letters == "nx":
			return exact(s[cut:])
		}
		return hole(HoleName, s)
	})
}

// modified tells NAME:~1,2 and NAME:a=b: what stands between percents.
func modified(s string) bool {
	name, mod, ok := strings.Cut(s, ":")
	return ok && name != "" && mod != "" && (mod[0] == '~' || strings.IndexByte(mod, '=') >= 0) && !strings.ContainsAny(name, ` ()\/<>"`)
}

func (w *walker) knowsDOS(name string) bool {
	_, ok := w.st.vars[lower(name)]
	return ok
}

func (w *walker) dosVariable(name string) Value {
	key := lower(name)
	if v, ok := w.st.vars[key]; ok {
		w.charge(v.val)
		return v.val
	}
	switch key {
	case "cd":
		return w.st.dir
	case "random", "errorlevel":
		return hole(HoleNumber, key)
	case "date", "time":
		return hole(HoleName, key)
	}
	if v, ok := w.psEnv(name); ok {
		return v
	}
	if v, ok := w.windowsVariable(key); ok {
		return v
	}
	h := hole(HoleVar, name)
	h.Holes[0].Unset = w.world.Env != nil
	return h
}

// dosModify applies :~n,m and :a=b.
func dosModify(v Value, mod string) Value {
	switch {
	case mod == "":
		return v
	case mod[0] == '~':
		from, length, has := strings.Cut(mod[1:], ",")
		n, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil {
			return v.blur()
		}
		m, err2 := strconv.Atoi(strings.TrimSpace(length))
		return v.mapExact(func(s string) Value {
			lo := n
			if lo < 0 {
				lo += len(s)
			}
			lo = min(max(lo, 0), len(s))
			hi := len(s)
			if has && err2 == nil {
				if m < 0 {
					hi = max(len(s)+m, lo)
				} else {
					hi = min(lo+m, len(s))
				}
			}
			return exact(s[lo:hi])
		})
	}
	a, b, ok := strings.Cut(mod, "=")
	if !ok || a == "" {
		return v.blur()
	}
	return v.mapExact(func(s string) Value {
		if len(s) > 4096 || len(b) > 4096 {
			return hole(HoleMany, "")
		}
		var out strings.Builder
		low, key := lower(s), lower(a)
		if len(low) != len(s) {
			return exact(strings.ReplaceAll(s, a, b))
		}
		for {
			j := strings.Index(low, key)
			if j < 0 {
				return exact(out.String() + s)
			}
			out.WriteString(s[:j] + b)
			s, low = s[j+len(key):], low[j+len(key):]
		}
	})
}

// command walks one command, the rest of the text.
func (d *dos) command() {
	w := d.w
	d.blank()
	for d.i < len(d.text) && d.text[d.i] == '@' {
		d.i++
		d.blank()
	}
	if d.i >= len(d.text) || !w.enter() {
		return
	}
	defer w.leave()
	c := d.c
	c.pos = [2]int{d.pos(d.i), d.pos(len(d.text))}
	var front []Redirect // >nul 2>&1 (...)
	for q := (&dos{w: w, text: d.text, i: d.i, c: c}); q.i < len(q.text) && w.step(1); {
		if r, ok := q.redirect(); ok {
			front = append(front, r)
			q.blank()
			continue
		}
		if q.text[q.i] == '(' && len(front) > 0 {
			c.redirs = append(front, c.redirs...)
			d.i, d.c = q.i, c
		}
		break
	}
	if d.text[d.i] == '(' {
		q := &dos{w: w, text: d.text, i: d.i + 1, c: c}
		from := len(w.f.Leaves)
		var out builder
		if c.out == nil {
			q.c.out = &out
		}
		q.block(true)
		d.i = q.i
		// Redirections behind the bracket hold for all of it.
		rest := &dos{w: w, text: d.text, i: q.i, c: c}
		if _, redirs := rest.words(); len(redirs) > 0 {
			for k := from; k < len(w.f.Leaves); k++ {
				w.f.Leaves[k].Redirects = append(inherit(redirs), w.f.Leaves[k].Redirects...)
				w.step(1)
			}
			text := out.take()
			for k := range redirs {
				if r := redirs[k]; r.Writes() && r.FD != 2 {
					w.write(slashes(r.Target.Value), text, r.Op == ">>")
				}
			}
		}
		tail := strings.TrimSpace(d.text[min(d.i, len(d.text)):])
		if len(tail) > 4 && strings.EqualFold(tail[:4], "else") {
			d.i += strings.Index(lower(d.text[d.i:]), "else") + 4
			d.c.flags |= Conditional
			d.command()
		}
		return
	}
	word := d.peek()
	switch word {
	case "rem", ":", "::":
		return
	case "if":
		d.ifCommand(c)
		return
	case "for":
		d.forCommand(c)
		return
	case "else":
		d.i += 4
		d.c.flags |= Conditional
		d.command()
		return
	case "set":
		d.set(c)
		return
	}
	if d.text[d.i] == ':' {
		return // a label
	}
	argv, redirs := d.words()
	if w.over {
		return
	}
	if len(redirs) > 0 {
		c.redirs = append(append([]Redirect(nil), c.redirs...), redirs...)
		for k := range redirs {
			if r := redirs[k]; r.Writes() && r.FD != 2 {
				var out builder
				c.out, c.outKind = &out, OutputFile
				defer func() { w.write(slashes(r.Target.Value), out.take(), r.Op == ">>") }()
			} else if redirs[k].Op == "<" {
				file := redirs[k].Target.Value
				text := w.fileHole(file)
				c.in = Input{Kind: InputFile, File: &file, Text: &text}
			}
		}
	}
	if len(argv) == 0 {
		if len(redirs) > 0 {
			w.add(Leaf{Flags: RedirectOnly, Offset: c.pos[0], End: c.pos[1]}, c)
		}
		return
	}
	w.run(dosSwitches(dosHead(argv)), c)
}

func (d *dos) blank() {
	for d.i < len(d.text) && strings.IndexByte(" \t\r\n,;=", d.text[d.i]) >= 0 {
		d.i++
	}
}

// peek returns the first word in lower case, carets taken out.
func (d *dos) peek() string {
	var b strings.Builder
	for i := d.i; i < len(d.text) && b.Len() < 16; i++ {
		ch := d.text[i]
		if ch == '^' {
			continue
		}
		if strings.IndexByte(" \t\r\n,;=(\"/", ch) >= 0 {
			break
		}
		b.WriteByte(ch)
	}
	return lower(b.String())
}

// words reads the words and redirections of a command.
func (d *dos) words() ([]Arg, []Redirect) {
	var argv []Arg
	var redirs []Redirect
	for d.w.step(1) {
		for d.i < len(d.text) && strings.IndexByte(" \t\r,;", d.text[d.i]) >= 0 {
			d.i++
		}
		if d.i >= len(d.text) {
			break
		}
		if r, ok := d.redirect(); ok {
			redirs = append(redirs, r)
			continue
		}
		if d.text[d.i] == '\n' {
			d.i++
			continue
		}
		before := d.i
		a := d.wordArg()
		if d.i == before {
			if ch := d.text[d.i]; ch == '&' || ch == '|' {
				break // a command of its own, which a bracket in text hid
			}
			d.i++
			continue
		}
		if a.Quote&Expanded != 0 && a.Quote&Double == 0 && len(a.Alts) == 0 && len(a.Holes) == 0 {
			a.Text = strings.TrimRight(a.Text, " \t")
		}
		if t, ok := a.Exact(); ok && a.Quote&Expanded != 0 && a.Quote&Double == 0 && (strings.Contains(t, " /") || strings.Contains(t, " -")) {
			for f := range strings.FieldsSeq(t) { // percents come before words
				one := a
				one.Value = exact(f)
				argv = append(argv, one)
			}
			continue
		}
		argv = append(argv, a)
	}
	return argv, redirs
}

// redirect reads a redirection, if one stands at the offset.
func (d *dos) redirect() (Redirect, bool) {
	ch := d.text[d.i]
	fd := -1
	j := d.i
	if ch >= '0' && ch <= '9' && j+1 < len(d.text) && (d.text[j+1] == '>' || d.text[j+1] == '<') {
		fd = int(ch - '0')
		j++
		ch = d.text[j]
	}
	if ch != '>' && ch != '<' {
		return Redirect{}, false
	}
	r := Redirect{Op: string(ch), FD: fd, Offset: d.pos(j)}
	j++
	if j < len(d.text) && d.text[j] == '>' {
		r.Op, j = ">>", j+1
	}
	if j < len(d.text) && d.text[j] == '&' {
		r.Op, j = r.Op[:1]+"&", j+1
	}
	for j < len(d.text) && (d.text[j] == ' ' || d.text[j] == '\t') {
		j++
	}
	d.i = j
	r.Target = d.wordArg()
	return r, true
}

// wordArg reads one word: quotes group, carets escape, percents expand.
func (d *dos) wordArg() Arg {
	start := d.i
	var raw strings.Builder
	var quote Quote
	quoted, opened := false, 0
	for d.i < len(d.text) {
		ch := d.text[d.i]
		switch {
		case ch == '"' && quoted && strings.HasPrefix(d.text[d.i+1:], `"`) && raw.Len() > opened:
			// Programs read two quotes in a quoted word as one of its text.
			raw.WriteByte('"')
			d.i += 2
			continue
		case ch == '"':
			quoted = !quoted
			opened = raw.Len()
			quote |= Double
			d.i++
			continue
		case quoted:
		case ch == '%':
			// %X:~1,1% and %X:a=b% are expanded before words are told apart.
			window := d.text[d.i+1 : min(d.i+256, len(d.text))]
			if end := strings.IndexByte(window, '%'); end > 0 && modified(window[:end]) && !strings.ContainsAny(window[:end], "\n\"&|") {
				raw.WriteString(d.text[d.i : d.i+end+2])
				d.i += end + 2
				quote |= Bare
				continue
			}
		case ch == '^':
			d.i++
			if d.i < len(d.text) && d.text[d.i] == '\r' {
				d.i++
			}
			if d.i < len(d.text) && d.text[d.i] == '\n' {
				d.i++
				continue
			}
			if d.i < len(d.text) {
				raw.WriteByte(d.text[d.i])
				d.i++
				quote |= Escaped
			}
			continue
		case strings.IndexByte(" \t\r\n,;<>&|", ch) >= 0:
			goto done
		default:
			quote |= Bare
		}
		raw.WriteByte(ch)
		d.i++
	}
done:
	s := raw.String()
	a := Arg{Value: d.expand(s), Offset: d.pos(start), End: d.pos(d.i), Quote: quote}
	if strings.ContainsAny(s, "%!") {
		a.Quote |= Expanded
		a.Splits = len(a.Holes) > 0 && quote&Double == 0
	}
	a.Glob = strings.ContainsAny(a.Text, "*?")
	return a
}

// dosHead parts the name of a command from what a sign behind it begins: rd=/s.
func dosHead(argv []Arg) []Arg {
	t, ok := argv[0].Exact()
	if !ok || argv[0].Quote&(Double|Escaped) != 0 {
		return argv
	}
	k := strings.IndexByte(t, '=')
	if k <= 0 {
		return argv
	}
	head, rest := argv[0], argv[0]
	head.Value = exact(t[:k])
	out := []Arg{head}
	for f := range strings.FieldsFuncSeq(t[k:], func(r rune) bool { return r == '=' }) {
		rest.Value = exact(f)
		out = append(out, rest)
	}
	return append(out, argv[1:]...)
}

// dosSwitches takes words such as del/f/s or cd.. apart, and splits a command
// that an unquoted variable brought with its arguments.
func dosSwitches(argv []Arg) []Arg {
	head := argv[0]
	t, ok := head.Exact()
	if !ok {
		return argv
	}
	low := lower(t)
	for _, name := range [...]string{"del", "erase", "rd", "rmdir", "format", "cd", "chdir", "md", "cmd", "copy", "move", "echo", "cmd.exe", "reg", "shutdown", "taskkill", "start", "call", "dir", "type", "attrib", "cipher"} {
		rest, ok := strings.CutPrefix(low, name)
		if !ok || rest == "" || (rest[0] != '/' && !((name == "cd" || name == "chdir" || name == "echo") && (rest[0] == '.' || rest[0] == '\\'))) {
			continue
		}
		out := []Arg{head}
		out[0].Text = t[:len(name)]
		if rest[0] != '/' {
			tail := head
			tail.Text = t[len(name):]
			return append(append(out, tail), argv[1:]...)
		}
		for sw := range strings.SplitSeq(t[len(name)+1:], "/") {
			tail := head
			tail.Text = "/" + sw
			out = append(out, tail)
		}
		return append(out, argv[1:]...)
	}
	if head.Quote&Expanded != 0 && head.Quote&Double == 0 && strings.ContainsAny(t, " \t") {
		var out []Arg
		for f := range strings.FieldsSeq(t) {
			a := head
			a.Value = exact(f)
			out = append(out, a)
		}
		return append(out, argv[1:]...)
	}
	return argv
}

// ifCommand walks if [/i] [not] condition command [else command].
func (d *dos) ifCommand(c ctx) {
	w := d.w
	d.i += 2
	next := func() string { d.blank(); a := d.wordArg(); return lower(a.Text) }
	for {
		from := d.i
		if word := next(); word != "/i" && word != "not" {
			d.i = from
			break
		}
	}
	d.blank()
	// What is compared need not parse as a word once %1 is put in: the text is
	// looked through as it stands.
	if n := d.equals(); n > 0 {
		d.i = n
		d.blankEquals()
		d.side()
	} else {
		switch word := next(); word {
		case "exist", "defined", "errorlevel", "cmdextversion":
			next()
		default:
			if op := next(); has(" equ neq lss leq gtr geq ", op) {
				next()
			}
		}
	}
	d.blankEquals()
	c.flags |= Conditional
	d.c = c
	w.branches(1, func(int) { d.command() }, true)
}

// equals is the offset of the == that follows the word at the offset, 0 if none does.
func (d *dos) equals() int {
	q := *d
	q.side()
	for q.i < len(q.text) && (q.text[q.i] == ' ' || q.text[q.i] == '\t') {
		q.i++
	}
	if strings.HasPrefix(q.text[q.i:], "==") {
		return q.i
	}
	return 0
}

// side moves behind one side of a comparison.
func (d *dos) side() {
	quoted := false
	for d.i < len(d.text) {
		switch ch := d.text[d.i]; {
		case ch == '"':
			quoted = !quoted
		case quoted && ch != '\n':
		case strings.IndexByte(" \t\r\n(&|", ch) >= 0, ch == '=' && strings.HasPrefix(d.text[d.i:], "=="):
			return
		case ch == '^':
			d.i++
		}
		d.i++
	}
	d.i = min(d.i, len(d.text))
}

func (d *dos) blankEquals() {
	for d.i < len(d.text) && strings.IndexByte(" \t=", d.text[d.i]) >= 0 {
		d.i++
	}
}

// forCommand walks for [/f|/r|/d|/l] %i in (set) do command.
func (d *dos) forCommand(c ctx) {
	w := d.w
	if !w.step(1 + (len(d.text)-d.i)/32) { // all that follows is looked through
		return
	}
	low := lower(d.text[d.i:])
	in := strings.Index(low, " in ")
	if j := strings.Index(low, " in("); j >= 0 && (in < 0 || j < in) {
		in = j
	}
	if in < 0 {
		w.problem(Problem{Kind: Unparsable, Detail: "for without in", Leaf: -1, Offset: c.pos[0]})
		return
	}
	head := low[:in]
	open := strings.IndexByte(d.text[d.i+in:], '(')
	if open < 0 {
		return
	}
	from := d.i + in + open + 1
	to, depth, quoted := from, 1, false
	for to < len(d.text) && depth > 0 {
		switch ch := d.text[to]; {
		case ch == '"' || ch == '\'' && strings.Contains(head, "/f"):
			quoted = !quoted
		case quoted:
		case ch == '(':
			depth++
		case ch == ')':
			depth--
		}
		to++
	}
	if depth > 0 {
		w.problem(Problem{Kind: Unparsable, Detail: "bracket without an end", Leaf: -1, Offset: c.pos[0]})
		return
	}
	set := strings.TrimSpace(d.text[from : to-1])
	do := strings.Index(lower(d.text[to:]), "do")
	if do < 0 {
		return
	}
	name := ""
	if j := strings.LastIndexByte(head, '%'); j >= 0 && j+1 < len(head) {
		name = "%" + head[j+1:j+2]
	}
	var items []Value
	switch {
	case strings.Contains(head, "/f"):
		if n := len(set); n > 1 && (set[0] == '\'' || set[0] == '`') {
			v := w.captured(func(cc ctx) {
				cc.flags |= c.flags
				cc.via = c.via
				cmd := (&dos{w: w}).expand(uncaret(set[1 : n-1]))
				a := Arg{Offset: d.pos(from), End: d.pos(to)}
				w.code(cmd, Cmd, &a, "for /f", cc)
			})
			for _, one := range v.Each() {
				if t, ok := one.Exact(); ok {
					for l := range strings.SplitSeq(t, "\n") {
						items = append(items, exact(strings.TrimSpace(l)))
						if len(items) > maxAlts {
							break
						}
					}
				} else {
					items = append(items, one)
				}
			}
		} else if len(set) > 1 && set[0] == '"' {
			items = append(items, d.expand(strings.Trim(set, `"`)))
		} else {
			items = append(items, hole(HoleInput, set))
			file := Arg{Value: d.expand(strings.Trim(set, `"`)), Offset: d.pos(from), End: d.pos(to)}
			w.add(Leaf{Name: "type", Argv: []Arg{{Value: exact("type"), Offset: d.pos(from), End: d.pos(from)}, file}, Flags: Builtin, Offset: c.pos[0], End: c.pos[1]}, c)
		}
	case strings.Contains(head, "/l"):
		items = append(items, hole(HoleNumber, name))
	default:
		q := &dos{w: w, text: set}
		words, _ := q.words()
		for _, a := range words {
			items = append(items, a.Value) // a pattern stands for all that fits it
			if len(items) > 4*maxAlts {
				break
			}
		}
		if at := strings.Index(head, "/r"); at >= 0 {
			folder := d.text[d.i+at+2 : d.i+in]
			if k := strings.LastIndexByte(folder, '%'); k >= 0 {
				folder = strings.TrimRight(folder[:k], "%")
			}
			q := &dos{w: w, text: strings.TrimSpace(folder)}
			if words, _ := q.words(); len(words) > 0 {
				root := concat(slashes(words[0].Value), exact("/"))
				for k := range items {
					items[k] = concat(root, items[k])
				}
			}
		}
	}
	if len(items) == 0 {
		return
	}
	c.flags |= Loop
	if name != "" {
		w.st.setVar(name, variable{val: either(items...)})
	}
	if strings.Contains(head, "/f") && name != "" {
		w.tokens(head, name[1], items)
	}
	d.i = to + do + 2
	d.c = c
	w.branches(1, func(int) { d.command() }, true)
}

// tokens gives the variables of for /f, from the named one on, the parts of the lines.
func (w *walker) tokens(head string, first byte, items []Value) {
	delims, which := " \t", "1"
	if _, rest, ok := strings.Cut(head, "delims="); ok {
		delims, _, _ = strings.Cut(rest, `"`)
		if k := strings.Index(delims, " "); k > 0 && strings.Contains(delims[k:], "=") {
			delims = delims[:k]
		}
	}
	if _, rest, ok := strings.Cut(head, "tokens="); ok {
		which = rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789,-*"))]
	}
	if len(items) > maxAlts {
		return
	}
	all := strings.HasSuffix(which, "*")
	var numbers []int
	for part := range strings.SplitSeq(strings.TrimSuffix(which, "*"), ",") {
		from, to, ranged := strings.Cut(part, "-")
		lo, err := strconv.Atoi(from)
		hi := lo
		if ranged {
			hi, _ = strconv.Atoi(to)
		}
		for k := lo; err == nil && k <= hi && len(numbers) < 26; k++ {
			numbers = append(numbers, k)
		}
	}
	last := 0
	for k := 0; k < len(numbers) || all && k == len(numbers); k++ {
		var vals []Value
		for _, it := range items {
			t, ok := it.Exact()
			if !ok || !w.step(1+len(t)/32) {
				vals = append(vals, it)
				continue
			}
			n := last + 1
			if k < len(numbers) {
				n = numbers[k]
			}
			field, rest := dosField(strings.Trim(t, `"`), delims, n)
			if k == len(numbers) {
				field = rest
			}
			vals = append(vals, exact(field))
		}
		if k < len(numbers) {
			last = numbers[k]
		}
		if c := first + byte(k); len(vals) > 0 && c|0x20 <= 'z' {
			w.st.setVar("%"+lower(string(rune(c))), variable{val: either(vals...)})
		}
	}
}

// dosField is the nth part of a line, and all from there on.
func dosField(line, delims string, n int) (string, string) {
	if delims == "" {
		return line, line
	}
	for {
		line = strings.TrimLeft(line, delims)
		end := strings.IndexAny(line, delims)
		if n--; n <= 0 || end < 0 {
			if end < 0 || n > 0 {
				if n > 0 {
					return "", ""
				}
				return line, line
			}
			return line[:end], line
		}
		line = line[end:]
	}
}

// uncaret takes out the carets outside quotes.
func uncaret(s string) string {
	if strings.IndexByte(s, '^') < 0 {
		return s
	}
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			quoted = !quoted
		}
		if s[i] == '^' && !quoted && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// set walks set NAME=value, set /a and set /p.
func (d *dos) set(c ctx) {
	w := d.w
	rest := strings.TrimLeft(d.text[min(d.i+3, len(d.text)):], " \t")
	off := d.pos(len(d.text) - len(rest))
	low := lower(rest)
	name, val, ok := "", "", false
	leaf := Leaf{Name: "set", Flags: Builtin, Offset: c.pos[0], End: c.pos[1],
		Argv: []Arg{{Value: exact("set"), Offset: c.pos[0], End: c.pos[0] + 3}, {Value: exact(rest), Offset: off, End: d.pos(len(d.text))}}}
	switch {
	case strings.HasPrefix(low, "/a"), strings.HasPrefix(low, "/p"):
		name, _, ok = strings.Cut(strings.Trim(strings.TrimSpace(rest[2:]), `"`), "=")
		if ok {
			k := HoleNumber
			if low[1] == 'p' {
				k = HoleInput
			}
			w.st.setVar(lower(strings.TrimSpace(name)), variable{val: hole(k, name), exported: true})
		}
		w.add(leaf, c)
		return
	}
	if strings.HasPrefix(rest, `"`) {
		if j := strings.LastIndexByte(rest, '"'); j > 0 {
			rest = rest[1:j]
		}
	} else {
		rest = strings.ReplaceAll(rest, "^", "")
	}
	name, val, ok = strings.Cut(rest, "=")
	if ok {
		v := d.expand(val)
		w.charge(v)
		w.st.setVar(lower(name), variable{val: v, exported: true})
		w.export(name, v)
		leaf.Assigns = append(leaf.Assigns, Assign{Name: name, Value: v, Exported: true, Offset: off})
	}
	w.add(leaf, c)
}

// runDOS walks a command of cmd.exe.
func (w *walker) runDOS(text string, argv []Arg, c ctx) {
	name := lower(programName(text))
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".com"), ".cmd"), ".bat")
	if i := strings.LastIndexByte(name, '\\'); i >= 0 {
		name = name[i+1:]
	}
	leaf := func() int {
		l := Leaf{Name: name, Argv: argv, Offset: c.pos[0], End: c.pos[1]}
		if has(" del erase rd rmdir copy move ren rename type echo cd chdir pushd popd md mkdir assoc ftype call start exit goto setlocal endlocal title cls dir vol ver path prompt pause mklink ", name) {
			l.Flags = Builtin
		}
		i := w.add(l, c)
		if c.out != nil {
			switch name {
			case "echo":
				c.out.add(concat(joinValues(argValues(argv[1:]), " "), exact("\n")))
			case "type":
				if len(argv) > 1 {
					c.out.add(Value{Holes: []Hole{{Kind: HoleInput, Name: argv[1].exactOrEmpty(), From: Span{i, i + 1}}}})
				}
			case "cd", "chdir":
				if len(argv) == 1 {
					c.out.add(w.st.dir)
				}
			case "del", "erase", "rd", "rmdir", "md", "mkdir", "set":
			default:
				c.out.add(outputHole(Span{i, i + 1}))
			}
		}
		return i
	}
	switch name {
	case "cd", "chdir", "pushd":
		leaf()
		old, drive := w.st.dir, name == "pushd"
		w.st.stay = nil
		for _, a := range argv[1:] {
			if strings.EqualFold(a.Text, "/d") {
				drive = true
				continue
			}
			to := w.winJoin(w.st.dir, a.Value)
			if p, d := to.Prefix(), old.Prefix(); !drive && onDrive(p) && onDrive(d) && p[0]|0x20 != d[0]|0x20 {
				break // without /d the shell stays on its drive
			}
			w.st.dir, w.st.stay = to, &old
			break
		}
		if name == "pushd" {
			w.st.pushDir(old)
		}
	case "popd":
		leaf()
		if n := len(w.st.dirs); n > 0 {
			w.st.dir = w.st.dirs[n-1]
			w.st.dirs = w.st.dirs[: n-1 : n-1]
		}
	case "call":
		if len(argv) < 2 {
			leaf()
			return
		}
		if label, ok := strings.CutPrefix(lower(argv[1].Text), ":"); ok {
			leaf()
			w.callLabel(label, argv[2:], c)
			return
		}
		for i := range argv { // call looks at percents once more
			if t, ok := argv[i].Exact(); ok && strings.IndexByte(t, '%') >= 0 {
				argv[i].Value = (&dos{w: w}).expand(t)
			}
		}
		c.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
		w.run(dosSwitches(argv[1:]), c)
	case "start":
		n, titled := 1, false
		var dir *Arg
		for n < len(argv) {
			a := &argv[n]
			t := lower(a.Text)
			if a.Quote&Double != 0 && !titled {
				titled = true
				n++ // the window's title
				continue
			}
			if !strings.HasPrefix(t, "/") {
				break
			}
			if t == "/node" || t == "/affinity" || t == "/d" {
				n++
				if t == "/d" && n < len(argv) {
					dir = &argv[n]
				}
			} else if strings.HasPrefix(t, "/d") {
				v := *a
				v.Value = a.slice(2, len(a.Text))
				dir = &v
			}
			n++
		}
		if n >= len(argv) {
			leaf()
			return
		}
		c.via = via(c.via, Wrap{Name: name, Argv: argv[:n]})
		c.flags |= Background
		w.sub(func() {
			if dir != nil {
				w.st.dir = w.winJoin(w.st.dir, dir.Value)
			}
			w.run(dosSwitches(argv[n:]), c)
		})
	case "runas", "psexec", "psexec64", "wmic":
		i := leaf()
		from := len(w.f.Leaves)
		cc := c
		cc.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
		cc.flags |= Elevated
		switch {
		case name == "wmic":
			for k := 1; k+2 < len(argv); k++ {
				if strings.EqualFold(argv[k].Text, "call") && strings.EqualFold(argv[k+1].Text, "create") {
					w.sub(func() { w.code(argv[k+2].Value, Cmd, &argv[k+2], "wmic", cc) })
				}
			}
		default:
			for k := 1; k < len(argv); k++ {
				if t := argv[k].Text; !strings.HasPrefix(t, "/") && !strings.HasPrefix(t, "-") && !strings.HasPrefix(t, `\\`) {
					a := joinedArg(argv[k:])
					w.sub(func() { w.code(a.Value, Cmd, a, name, cc) })
					break
				}
			}
		}
		w.runs(i, from)
	case "forfiles":
		i := leaf()
		from := len(w.f.Leaves)
		cc := c
		cc.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
		cc.flags |= PerInput
		where := exact("./")
		for k := 1; k+1 < len(argv); k++ {
			if strings.EqualFold(argv[k].Text, "/p") {
				where = concat(argv[k+1].mapWhole(func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, `\`, "/"), "/") }), exact("/"))
			}
		}
		for k := 1; k+1 < len(argv); k++ {
			if strings.EqualFold(argv[k].Text, "/c") {
				a := argv[k+1]
				var b builder
				rest := a.Text
				for {
					j := strings.IndexByte(rest, '@')
					if j < 0 || len(a.Alts) > 0 {
						break
					}
					b.addText(rest[:j])
					e := j + 1
					for e < len(rest) && rest[e]|0x20 >= 'a' && rest[e]|0x20 <= 'z' {
						e++
					}
					if what := lower(rest[j:e]); what == "@path" || what == "@file" {
						b.add(where)
					}
					b.add(hole(HolePath, rest[j:e]))
					rest = rest[e:]
				}
				b.addText(rest)
				a.Value = b.take()
				w.sub(func() { w.code(a.Value, Cmd, &a, name, cc) })
			}
		}
		w.runs(i, from)
	case "conhost", "pcalua":
		next := argv[1:]
		if a := psParam(argv, "a", 1); a != nil && name == "pcalua" {
			next = []Arg{*a}
			if args := psParam(argv, "c", 1); args != nil {
				next = append(next, w.splitWords(*args)...)
			}
		}
		i := leaf()
		from := len(w.f.Leaves)
		c.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
		w.run(next, c)
		w.runs(i, from)
	case "certutil", "bitsadmin", "curl":
		w.writes(leaf(), c)
	default:
		if strings.HasSuffix(lower(text), ".bat") || (strings.HasSuffix(lower(text), ".cmd") && name != "npm" && name != "npx") {
			i := leaf()
			from := len(w.f.Leaves)
			w.sub(func() {
				w.st.params, w.st.knows = argv[1:], true
				cc := c
				cc.via = via(c.via, Wrap{Name: name, Argv: argv[:1]})
				w.runFile(exact(strings.ReplaceAll(text, `\`, "/")), Cmd, argv, i, cc)
			})
			w.runs(i, from)
			return
		}
		if name == "sudo" {
			c.flags |= Elevated
		}
		if w.runsWritten(text, name, leaf, c) {
			return
		}
		if knownProgram(name) {
			next := argv
			if lower(text) != text || strings.ContainsAny(text, `\`) {
				next = append([]Arg{argv[0]}, argv[1:]...)
				next[0].Value = exact(name)
			}
			w.start(next[0].Text, next, c)
			return
		}
		if i := leaf(); runsFiles(name) {
			w.runsOperands(argv, i, c)
		}
	}
}

// runsFiles tells programs of Windows that run or install the file they are given.
func runsFiles(name string) bool {
	switch name {
	case "mshta", "wscript", "cscript", "rundll32", "regsvr32", "msiexec", "explorer", "installutil", "regasm", "regsvcs", "odbcconf", "hh", "control", "pcalua":
		return true
	}
	return false
}

// callLabel walks what stands behind a label, up to where it ends.
func (w *walker) callLabel(label string, args []Arg, c ctx) {
	text := w.src.text
	if label == "" || w.calling(call{name: "label " + label}) || !w.step(1+len(text)/8) {
		return
	}
	low := "\n" + lower(text)
	at := strings.Index(low, "\n:"+label+"\n")
	if at < 0 {
		at = strings.Index(low, "\n:"+label+"\r\n")
	}
	if at < 0 {
		return
	}
	w.calls = append(w.calls, call{name: "label " + label})
	params, knows := w.st.params, w.st.knows
	w.st.params, w.st.knows = args, true
	c.flags |= Function
	d := &dos{w: w, text: text, i: min(at+len(label)+2, len(text)), c: c}
	if end := strings.Index(lower(text[d.i:]), "\ngoto :eof"); end >= 0 {
		d.text = text[:d.i+end]
	}
	if w.enter() {
		d.block(false)
		w.leave()
	}
	w.st.params, w.st.knows = params, knows
	w.calls = w.calls[:len(w.calls)-1]
	if w.labels == nil {
		w.labels = map[string]bool{}
	}
	w.labels[label] = true
}

// knownProgram reports whether a program of that name starts others or takes
// code, and so needs more than a leaf.
func knownProgram(name string) bool {
	if _, ok := shellDialect(name); ok {
		return true
	}
	if lang, _ := language(name); lang != "" {
		return true
	}
	switch name {
	case "git", "ssh", "docker", "podman", "kubectl", "npm", "npx", "pnpm", "yarn", "bun", "bunx", "uvx", "pipx", "wsl", "vagrant", "adb", "tar", "rsync", "make", "go", "nc", "ncat", "xargs", "busybox", "vim", "nvim":
		return true
	}
	_, ok := grammarOf(name)
	return ok && name != "time" && name != "-" && name != "arch"
}

// runCmd walks cmd.exe started as a program: what follows /c or /k is its text,
// as written.
func (w *walker) runCmd(argv []Arg, c ctx) {
	for i := 1; i < len(argv); i++ {
		t := lower(argv[i].Text)
		if len(t) < 2 || (t[0] != '/' && t[0] != '-') {
			break
		}
		sw := t[1:]
		if strings.HasPrefix(t, "//") {
			sw = t[2:] // Git for Windows shells need //c
		}
		if sw == "" || (sw[0] != 'c' && sw[0] != 'k' && sw[0] != 'r') {
			continue
		}
		rest := argv[i+1:]
		if len(sw) > 1 {
			a := argv[i]
			a.Value = a.slice(len(t)-len(sw)+1, len(a.Text))
			if a.Quote&(Single|Double|Expanded|Escaped) == 0 {
				a.Offset += len(t) - len(sw) + 1
			}
			rest = append([]Arg{a}, rest...)
		}
		if len(rest) == 0 {
			break
		}
		a := joinedArg(rest)
		if t, ok := a.Exact(); ok && w.src.dialect == Cmd && strings.HasPrefix(t, `"`) && strings.HasSuffix(t, `"`) && strings.Count(t, `"`) == 2 {
			a.Value = exact(t[1 : len(t)-1]) // ^"...^"
		}
		if w.src.dialect == Cmd && w.src.verbatim && len(rest) > 1 && rest[0].Offset != rest[1].Offset && a.End <= len(w.f.Text) && a.Offset < a.End {
			// Keep the quotes that grouped the words.
			if raw := w.f.Text[a.Offset:a.End]; !strings.ContainsAny(raw, "%!^") {
				a.Value = exact(raw)
			}
		}
		w.inChild(func() {
			cc := c
			cc.via = via(c.via, Wrap{Name: "cmd", Argv: argv[:i+1]})
			cc.redirs = inherit(c.redirs)
			if !w.code(a.Value, Cmd, a, "cmd /c", cc) {
				cc.via = c.via
				w.settle(w.leaf(argv, cc))
			}
		})
		return
	}
	i := w.leaf(argv, c)
	if c.in.Kind != InputInherit {
		if c.in.Text != nil {
			text := *c.in.Text
			from := len(w.f.Leaves)
			w.inChild(func() {
				cc := c
				cc.in, cc.stream = Input{}, nil
				cc.via = via(c.via, Wrap{Name: "cmd", Argv: argv})
				if !w.code(text, Cmd, hereArg(c), "cmd input", cc) {
					if n := len(w.f.Opaque); n > 0 {
						w.f.Opaque[n-1].Leaf = i
					}
				}
			})
			w.runs(i, from)
			return
		}
		w.opaque(Opaque{Leaf: i, Text: hole(HoleInput, ""), From: c.in.From, Why: "cmd input", Offset: c.pos[0]})
	}
}
