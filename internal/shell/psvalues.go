package shell

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Expressions of PowerShell: constants, operators, members and method calls, as far as
// they hide text that runs or a path that is worked on.

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
			index := (&ps{w: p.w, text: p.text[:end-1], i: p.i + 1, c: p.c}).expression()
			p.i = end
			vals = p.w.psIndex(vals, index)
		case p.text[p.i] == '.' && p.i+1 < len(p.text) && (digit(p.text[p.i+1]) >= 0 || p.text[p.i+1] == '_'):
			j := p.i + 1
			for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '_') {
				j++
			}
			name := lower(p.text[p.i+1 : j])
			if t, ok := exactOne(vals); ok && name == "length" && (j >= len(p.text) || p.text[j] != '(') && vals[0].Quote&Expanded != 0 {
				p.i = j
				vals = []Arg{{Value: exact(strconv.Itoa(len(t)))}}
				continue
			}
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
			if name == "foreach" || name == "where" {
				p.w.st.setVar("_", variable{val: either(argValues(vals)...)})
			}
			args := p.paren()
			if name == "invoke" || name == "invokereturnasis" {
				if len(vals) == 1 && vals[0].psBlock() {
					p.w.sub(func() { p.w.callBlock(vals[0], args, p.c) })
					vals = []Arg{{Value: hole(HoleMany, "")}}
					continue
				}
			}
			vals = p.w.psMethod(vals, "."+name, args, p.pos(at), p.c)
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
					if rest := strings.TrimLeft(p.text[p.i:], " \t"); strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") {
						// Set for the whole process.
						p.w.add(Leaf{Name: lower(strings.Replace(vals[0].Text, "[system.", "[", 1)) + "=", Argv: vals, Flags: Builtin, Offset: p.pos(at), End: p.c.pos[1]}, ctx{via: p.c.via, flags: p.c.flags})
					}
				}
				continue
			}
			vals = p.w.psMethod(vals, "::"+name, args, p.pos(at), p.c)
		default:
			return vals
		}
	}
	return vals
}

// psIndex is values[index], where a text alone is the list of its letters.
func (w *walker) psIndex(vals, index []Arg) []Arg {
	at := func(i int) (Arg, bool) {
		if i >= 0 && i < len(vals) {
			return vals[i], true
		}
		return Arg{}, false
	}
	n := len(vals)
	if t, ok := exactOne(vals); ok && t != "" {
		n = len(t)
		at = func(i int) (Arg, bool) {
			if i < 0 || i >= len(t) {
				return Arg{}, false
			}
			letter := exact(t[i : i+1])
			if len(index) == 1 && (i == 0 || i == n-1) { // or the only one of a list
				letter = either(letter, exact(t))
			}
			return Arg{Value: letter}, true
		}
	}
	var out []Arg
	for k := range index {
		t, known := index[k].Exact()
		i, ok := w.number(t, 9)
		if !known || !ok || !allDigits(strings.TrimPrefix(t, "-")) || !w.step(1) {
			return []Arg{{Value: blurAll(vals)}}
		}
		if i < 0 {
			i += int64(n)
		}
		a, ok := at(int(i))
		if !ok {
			return []Arg{{Value: blurAll(vals)}}
		}
		out = append(out, a)
	}
	if len(out) == 0 {
		return []Arg{{Value: blurAll(vals)}}
	}
	return out
}

// exactOne is the text of a list of one known value.
func exactOne(vals []Arg) (string, bool) {
	if len(vals) != 1 {
		return "", false
	}
	return vals[0].Exact()
}

func blurAll(vals []Arg) Value {
	v := joinValues(argValues(vals), " ")
	return v.blur()
}

// psMethod notes a method call as a leaf named after type and method, and
// computes the few that hide text.
func (w *walker) psMethod(on []Arg, name string, args []Arg, off int, c ctx) []Arg {
	one := func(v Value) []Arg { return []Arg{{Value: v}} }
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
	number := func(i, otherwise int) int {
		if t, ok := arg(i); ok {
			if n, ok := w.number(t, 9); ok && n >= 0 && n <= int64(len(s)) {
				return int(n)
			}
		}
		return otherwise
	}
	switch name {
	case ".replace":
		a, ok1 := arg(0)
		b, ok2 := arg(1)
		if known && ok1 && ok2 && a != "" && len(s) < 64<<10 && strings.Count(s, a)*len(b) < maxText {
			return one(exact(strings.ReplaceAll(s, a, b)))
		}
		return one(subject.blur())
	case ".tostring", ".trim", ".trimend", ".trimstart", ".getnewclosure":
		if known && !on[0].psBlock() {
			return one(exact(strings.TrimSpace(s)))
		}
		return on
	case ".tolower":
		return one(subject.mapExact(func(s string) Value { return exact(lower(s)) }))
	case ".toupper":
		return one(subject.mapExact(func(s string) Value { return exact(strings.ToUpper(s)) }))
	case ".substring":
		if from := number(0, -1); known && from >= 0 {
			return one(exact(s[from:min(from+number(1, len(s)), len(s))]))
		}
		return one(subject.blur())
	case ".remove":
		if from := number(0, -1); known && from >= 0 {
			return one(exact(s[:from] + s[min(from+number(1, len(s)), len(s)):]))
		}
	case ".insert":
		if t, ok := arg(1); known && ok && number(0, -1) >= 0 {
			return one(exact(s[:number(0, 0)] + t + s[number(0, 0):]))
		}
	case ".tochararray":
		if known && len(s) <= 256 && w.step(len(s)) {
			var out []Arg
			for i := range len(s) {
				out = append(out, Arg{Value: exact(s[i : i+1])})
			}
			return out
		}
		return one(subject.blur())
	case ".split":
		if t, ok := arg(0); known && ok {
			return w.psSplit(s, t)
		}
		return one(subject.blur())
	case ".join", ".contains", ".startswith", ".endswith", ".gettype", ".padleft", ".indexof":
		return one(subject.blur())
	case ".getbytes":
		if t, ok := arg(0); ok {
			if strings.Contains(typ, "unicode") {
				return one(exact(toUTF16(t)))
			}
			return one(exact(t))
		}
	case ".getstring":
		if known && !strings.HasPrefix(typ, "[") && len(args) == 0 {
			return on
		}
		if t, ok := arg(0); ok {
			if strings.Contains(typ, "unicode") {
				return one(exact(fromUTF16(t)))
			}
			return one(exact(t))
		}
	case "::frombase64string":
		if t, ok := arg(0); ok {
			if d, ok := decodeBase64(t); ok {
				return one(exact(d))
			}
		}
	case "::tobase64string":
		if t, ok := arg(0); ok && w.step(1+len(t)/64) {
			return one(exact(base64.StdEncoding.EncodeToString([]byte(t))))
		}
	case "::getstring":
		if t, ok := arg(0); ok {
			return one(exact(t))
		}
	case "::join", "::concat", "::format":
		if !strings.HasSuffix(typ, "string]") || len(args) == 0 {
			break
		}
		if name == "::concat" {
			return one(joinValues(argValues(args), ""))
		}
		if t, ok := arg(0); ok && name == "::join" {
			return one(joinValues(argValues(args[1:]), t))
		} else if ok {
			return one(psFormat(t, args[1:]))
		}
	case "::reverse":
		// It changes the list that a variable holds.
		for n, v := range w.st.vars {
			if v.isArray && len(args) > 1 && slices.EqualFunc(v.arr, args, func(x Value, a Arg) bool { return x.equal(&a.Value) }) && w.step(1+len(args)) {
				v.arr = slices.Clone(v.arr)
				slices.Reverse(v.arr)
				v.val = joinValues(v.arr, " ")
				w.st.setVar(n, v)
				return nil
			}
		}
	case "::getdirectoryname", "::getpathroot", "::getfullpath", "::getfilename":
		if t, ok := arg(0); ok && strings.HasSuffix(typ, "path]") {
			switch name {
			case "::getdirectoryname":
				return one(exact(parentOf(t)))
			case "::getpathroot":
				if onDrive(t) {
					return one(exact(t[:3]))
				}
				return one(exact("/"))
			case "::getfullpath":
				return one(w.winJoin(w.st.dir, args[0].Value))
			}
			return one(exact(t[strings.LastIndexAny(t, `/\`)+1:]))
		}
	case "::combine":
		if len(args) > 0 {
			return one(joinValues(argValues(args), "/"))
		}
	case "::getfolderpath":
		if t, ok := arg(0); ok {
			if v, ok := w.specialFolder(lower(t)); ok {
				return one(v)
			}
		}
	case "::gettemppath":
		if v, ok := w.psEnv("TEMP"); ok {
			return one(v)
		}
	case "::getenvironmentvariable":
		if t, ok := arg(0); ok {
			return one(w.psVariable("env:" + lower(t)))
		}
	case ".addcommand", ".addargument", ".addparameter":
		// A command put together word by word runs when it is invoked.
		text, building := strings.CutPrefix(s, built)
		if t, ok := arg(0); ok && (building && known || name == ".addcommand") && len(text) < 4096 {
			switch name {
			case ".addcommand":
				text = "& " + psQuoted(t)
			case ".addargument":
				text += " " + psQuoted(t)
			default:
				text += " -" + t
				if v, ok := arg(1); ok {
					text += " " + psQuoted(v)
				}
			}
			return one(exact(built + text))
		}
	case ".invoke", ".begininvoke":
		if text, ok := strings.CutPrefix(s, built); ok && known {
			w.sub(func() { w.code(exact(text), PowerShell, nil, name, ctx{via: c.via, flags: c.flags}) })
			return one(hole(HoleMany, ""))
		}
	}
	head := subject
	if !static {
		head = Value{}
	}
	argv := append([]Arg{{Value: concat(head, exact(name)), Offset: off, End: off}}, args...)
	l := Leaf{Name: name, Argv: argv, Flags: Builtin, Offset: off, End: c.pos[1]}
	if static {
		l.Name = "[" + strings.TrimPrefix(strings.TrimPrefix(typ, "["), "system.") + name
	} else { // what it is of says what is deleted, moved or started
		l.Argv = append(argv[:len(argv):len(argv)], Arg{Value: subject, Offset: off, End: off})
	}
	i := w.add(l, ctx{via: c.via, flags: c.flags, in: c.in, out: c.out, outKind: c.outKind})
	inner := ctx{via: c.via, flags: c.flags, pos: c.pos}
	run := func(v Value, at *Arg, d Dialect, why string) {
		w.sub(func() { w.code(v, d, at, why, inner) })
	}
	switch name {
	case ".downloadfile":
		if len(args) > 1 {
			w.write(slashes(args[1].Value), outputHole(Span{i, i + 1}), false)
		}
	case "::writealltext", "::appendalltext", "::writealllines", "::appendalllines":
		if len(args) > 1 {
			w.write(slashes(args[0].Value), joinValues(argValues(args[1:2]), "\n"), strings.HasPrefix(name, "::append"))
		}
	case "::create":
		// ScriptBlock.Create, Invoke and InvokeScript run their text.
		if strings.Contains(typ, "scriptblock") && len(args) > 0 {
			run(args[0].Value, &args[0], PowerShell, "scriptblock")
		}
	case ".invokescript", ".invokeexpression", ".addscript", ".createpipeline", ".createnestedpipeline":
		if len(args) > 0 {
			run(args[0].Value, &args[0], PowerShell, name)
		}
	case ".expandstring":
		if t, ok := arg(0); ok {
			q := &ps{w: w, text: t, c: inner}
			return one(q.expandString(0, len(t)))
		}
	case "::start", ".shellexecute":
		if (static && strings.Contains(typ, "process") || !static) && len(args) > 0 {
			w.sub(func() {
				next := []Arg{args[0]}
				for _, a := range args[1:min(len(args), 2)] {
					next = append(next, w.splitWords(a)...)
				}
				w.run(next, inner)
			})
		}
	case ".run", ".exec", ".create": // of WScript.Shell and of WMI's Win32_Process
		if len(args) > 0 {
			w.winCommand(args[0], name, inner)
		}
	case "::new":
		if strings.HasSuffix(typ, "processstartinfo]") && len(args) > 0 {
			w.sub(func() { w.run(append(args[:1:1], w.splitWords(args[len(args)-1])...), inner) })
		}
	}
	return one(outputHole(Span{i, i + 1}))
}

// parentOf is the folder of a path, with the sign behind a drive.
func parentOf(p string) string {
	p = strings.TrimRight(p, `/\`)
	cut := strings.LastIndexAny(p, `/\`)
	if cut <= 0 || cut == 2 && p[1] == ':' {
		return p[:cut+1]
	}
	return p[:cut]
}

// built marks the text of a command that AddCommand and its like put together.
const built = "\x00"

// psQuoted is t as a string of PowerShell.
func psQuoted(t string) string { return "'" + strings.ReplaceAll(t, "'", "''") + "'" }

// specialFolder is what GetFolderPath gives for a name in lower case.
func (w *walker) specialFolder(name string) (Value, bool) {
	switch name {
	case "windows":
		return exact(`C:\Windows`), true
	case "system":
		return exact(`C:\Windows\System32`), true
	case "programfiles":
		return exact(`C:\Program Files`), true
	case "commonapplicationdata":
		return w.windowsVariable("programdata")
	case "applicationdata":
		return w.windowsVariable("appdata")
	case "localapplicationdata":
		return w.windowsVariable("localappdata")
	}
	home, ok := w.windowsVariable("userprofile")
	if !ok {
		return home, false
	}
	switch name {
	case "userprofile":
		return home, true
	case "mydocuments", "personal":
		return concat(home, exact("/Documents")), true
	case "desktop", "desktopdirectory":
		return concat(home, exact("/Desktop")), true
	case "mypictures":
		return concat(home, exact("/Pictures")), true
	case "startup":
		return concat(home, exact("/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup")), true
	}
	return Value{}, false
}

// psSplit is the parts of s between those of sep.
func (w *walker) psSplit(s, sep string) []Arg {
	if sep == "" || strings.Count(s, sep) > 256 || !w.step(1+len(s)/16) {
		return []Arg{{Value: hole(HoleMany, "")}}
	}
	var out []Arg
	for part := range strings.SplitSeq(s, sep) {
		out = append(out, Arg{Value: exact(part)})
	}
	return out
}

// psReplace is v -replace pattern, with, for patterns that mean themselves.
func (w *walker) psReplace(v Value, pattern, with string, folds bool) Value {
	var literal strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) && digit(pattern[i+1]) < 0 {
			i++
		} else if strings.IndexByte(`\.^$|?*+()[]{}`, pattern[i]) >= 0 {
			return v.blur()
		}
		literal.WriteByte(pattern[i])
	}
	key := literal.String()
	if folds {
		key = lower(key)
	}
	if key == "" || strings.IndexByte(with, '$') >= 0 {
		return v.blur()
	}
	return v.mapExact(func(s string) Value {
		low := s
		if folds {
			low = lower(s)
		}
		if len(s) > 64<<10 || strings.Count(low, key)*len(with) > maxText || !w.step(1+len(s)/32) {
			return hole(HoleMany, "")
		}
		var out strings.Builder
		for {
			i := strings.Index(low, key)
			if i < 0 {
				return exact(out.String() + s)
			}
			out.WriteString(s[:i] + with)
			s, low = s[i+len(key):], low[i+len(key):]
		}
	})
}

func fromUTF16(s string) string {
	u := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		u = append(u, uint16(s[i])|uint16(s[i+1])<<8)
	}
	return string(utf16.Decode(u))
}

func toUTF16(s string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

// expression evaluates what is written in expression mode until the end of the
// text: constants, variables, +, -join, -f, -replace, casts and method calls.
func (p *ps) expression() (result []Arg) {
	if !p.w.enter() {
		return nil
	}
	defer p.w.leave()
	var out []Arg
	op, cast := "", false
	var format *Value  // the left side of -f, until all operands are read
	var replaced []Arg // the left side of -replace, with its pattern
	var pattern string
	folds := true
	push := func(vals []Arg) {
		if cast {
			cast = false
			for i := range vals {
				vals[i].Value = p.w.char(vals[i].Value)
			}
		}
		switch {
		case op == "-replace" && len(vals) > 0:
			replaced = out
			t, ok := vals[0].Exact()
			if !ok || len(vals) > 2 {
				replaced, out = nil, []Arg{{Value: blurAll(out)}}
				break
			}
			pattern = t
			with := ""
			if len(vals) == 2 {
				with = vals[1].Text
			}
			out = p.w.replaceAll(replaced, pattern, with, folds)
			op = "-replaced"
			return
		case op == "-with" && len(vals) == 1:
			if t, ok := vals[0].Exact(); ok {
				out = p.w.replaceAll(replaced, pattern, t, folds)
			} else {
				out = []Arg{{Value: blurAll(out)}}
			}
		case op == "-split" && len(vals) == 1:
			if s, ok := exactOne(out); ok && vals[0].Text != "" && !strings.ContainsAny(vals[0].Text, `\.^$|?*+()[]{}`) {
				out = p.w.psSplit(s, vals[0].Text)
			} else if len(out) > 0 {
				out = []Arg{{Value: blurAll(out)}}
			}
		case op == "-f":
			if len(out) > 0 {
				f := out[len(out)-1].Value
				format = &f
			}
			out = append([]Arg(nil), vals...)
		case op == "+" && len(out) > 0 && len(vals) == 1:
			p.w.step(len(out[len(out)-1].Text)/256 + len(out[len(out)-1].Holes)/4) // all of it is written anew
			out[len(out)-1].Value = concat(out[len(out)-1].Value, vals[0].Value)
		case op == "-join" && len(vals) == 1:
			sep, ok := vals[0].Exact()
			if ok {
				out = []Arg{{Value: joinValues(argValues(out), sep)}}
			}
		case op == "prejoin":
			out = append(out, Arg{Value: joinValues(argValues(vals), "")})
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
			if len(args) == 1 && args[0].psBlock() {
				// {...}.Invoke(), -replace 'a', {...}, Replace('a', 'b', {...})
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
			cast = cast || strings.EqualFold(typ, "[char]") || strings.EqualFold(typ, "[char[]]")
		case ch == '+':
			op = "+"
			p.i++
		case ch == '=': // $x.y.z = ..., $x[0] = ...
			p.i++
			p.space(true)
			out, op = nil, ""
			push(p.rightSide())
		case ch == ',':
			if op == "-replaced" {
				op = "-with"
			} else {
				op = ""
			}
			p.i++
		case (ch >= '0' && ch <= '9') || ch == '-' && p.i+1 < len(p.text) && p.text[p.i+1] >= '0' && p.text[p.i+1] <= '9':
			push(p.numbers())
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
			case "-replace", "-creplace", "-ireplace":
				op, folds = "-replace", name != "-creplace"
			case "-split":
				op = name
			}
		case digit(ch) >= 0 || ch == '_':
			j := p.i
			for j < len(p.text) && (digit(p.text[j]) >= 0 || p.text[j] == '.' || p.text[j] == '_') {
				j++
			}
			v := exact(p.text[p.i:j])
			p.i = j
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

// numbers reads a number at the offset, or all those from one to another: 1..9.
func (p *ps) numbers() []Arg {
	start := p.i
	word := func() string {
		from := p.i
		if p.text[p.i] == '-' {
			p.i++
		}
		for p.i < len(p.text) && digit(p.text[p.i]) >= 0 || p.i+1 < len(p.text) && p.text[p.i] == '.' && p.text[p.i+1] != '.' && digit(p.text[p.i+1]) >= 0 {
			p.i++
		}
		return p.text[from:p.i]
	}
	first := word()
	a := Arg{Value: exact(first), Offset: p.pos(start), End: p.pos(p.i)}
	if !strings.HasPrefix(p.text[p.i:], "..") {
		return []Arg{a}
	}
	if p.i += 2; p.i >= len(p.text) {
		return []Arg{a}
	}
	last := ""
	switch sign := p.text[p.i:]; {
	case strings.HasPrefix(sign, "-("), strings.HasPrefix(sign, "-$"), sign[0] == '(', sign[0] == '$':
		if sign[0] == '-' {
			last = "-"
			p.i++
		}
		var vals []Arg
		if p.text[p.i] == '(' {
			vals = p.paren()
		} else {
			v, _ := p.dollar()
			vals = p.member([]Arg{{Value: v, Quote: Expanded}})
		}
		t, _ := exactOne(vals)
		last += t
	default:
		last = word()
	}
	from, ok1 := p.w.number(first, 9)
	to, ok2 := p.w.number(last, 9)
	if !ok1 || !ok2 || max(from, to)-min(from, to) > 64 || last == "" {
		a.Value = hole(HoleNumber, "")
		return []Arg{a}
	}
	var out []Arg
	for n := from; ; n++ {
		b := a
		b.Value = exact(strconv.FormatInt(n, 10))
		if out = append(out, b); n == to || !p.w.step(1) {
			return out
		}
		if to < from {
			n -= 2
		}
	}
}

// char is [char]v.
func (w *walker) char(v Value) Value {
	return v.mapExact(func(s string) Value {
		n, ok := w.number(s, 9)
		if !ok || n < 0 || n > 0x10ffff {
			return exact(s)
		}
		return exact(string(rune(n)))
	})
}

func (w *walker) replaceAll(vals []Arg, pattern, with string, folds bool) []Arg {
	out := make([]Arg, len(vals))
	for i := range vals {
		out[i] = Arg{Value: w.psReplace(vals[i].Value, pattern, with, folds)}
	}
	return out
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
