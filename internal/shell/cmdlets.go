package shell

import (
	"path"
	"slices"
	"strings"
)

// cmdletAlias resolves the aliases PowerShell 7.4 and Windows PowerShell 5.1
// ship with, and the short names of functions that stand in for programs.
func cmdletAlias(name string) string {
	switch name {
	case "rm", "ri", "del", "erase", "rd", "rmdir":
		return "remove-item"
	case "cp", "copy", "cpi":
		return "copy-item"
	case "mv", "move", "mi":
		return "move-item"
	case "ren", "rni":
		return "rename-item"
	case "ls", "dir", "gci":
		return "get-childitem"
	case "cat", "gc", "type":
		return "get-content"
	case "sc":
		return "set-content"
	case "ac":
		return "add-content"
	case "clc":
		return "clear-content"
	case "cli":
		return "clear-item"
	case "ni":
		return "new-item"
	case "md", "mkdir":
		return "mkdir"
	case "cd", "chdir", "sl":
		return "set-location"
	case "pushd":
		return "push-location"
	case "popd":
		return "pop-location"
	case "gl", "pwd":
		return "get-location"
	case "echo", "write":
		return "write-output"
	case "gcm":
		return "get-command"
	case "gal":
		return "get-alias"
	case "iex":
		return "invoke-expression"
	case "iwr", "wget", "curl":
		return "invoke-webrequest"
	case "irm":
		return "invoke-restmethod"
	case "icm":
		return "invoke-command"
	case "saps", "start":
		return "start-process"
	case "spps", "kill":
		return "stop-process"
	case "gps", "ps":
		return "get-process"
	case "sajb":
		return "start-job"
	case "%", "foreach":
		return "foreach-object"
	case "?", "where":
		return "where-object"
	case "sp":
		return "set-itemproperty"
	case "rp":
		return "remove-itemproperty"
	case "gp":
		return "get-itemproperty"
	case "si":
		return "set-item"
	case "gi":
		return "get-item"
	case "sv", "set":
		return "set-variable"
	case "gv":
		return "get-variable"
	case "sal":
		return "set-alias"
	case "nal":
		return "new-alias"
	case "ipmo":
		return "import-module"
	case "sls":
		return "select-string"
	case "select":
		return "select-object"
	case "sort":
		return "sort-object"
	case "measure":
		return "measure-object"
	case "tee":
		return "tee-object"
	case "spsv":
		return "stop-service"
	case "sasv":
		return "start-service"
	case "gsv":
		return "get-service"
	case "rnp":
		return "rename-itemproperty"
	case "iwmi":
		return "invoke-wmimethod"
	case "rwmi":
		return "remove-wmiobject"
	case "gwmi":
		return "get-wmiobject"
	case "swmi":
		return "set-wmiinstance"
	case "icim":
		return "invoke-cimmethod"
	case "rcim":
		return "remove-ciminstance"
	case "gcim":
		return "get-ciminstance"
	case "ii":
		return "invoke-item"
	case "fhx":
		return "format-hex"
	case "epcsv":
		return "export-csv"
	case "ipcsv":
		return "import-csv"
	case "rv":
		return "remove-variable"
	case "nv":
		return "new-variable"
	case "clhy":
		return "clear-history"
	case "rjb":
		return "remove-job"
	case "sbp":
		return "set-psbreakpoint"
	case "group":
		return "group-object"
	case "compare":
		return "compare-object"
	case "ft":
		return "format-table"
	case "fl":
		return "format-list"
	case "scb":
		return "set-clipboard"
	case "nsn":
		return "new-pssession"
	case "etsn":
		return "enter-pssession"
	}
	return name
}

// psParam finds the value of a parameter by name or unambiguous prefix.
func psParam(argv []Arg, full string, least int) *Arg {
	for i := 1; i < len(argv); i++ {
		t := lower(argv[i].Text)
		if len(t) < 2 || t[0] != '-' || len(argv[i].Alts) > 0 {
			continue
		}
		name, _, cut := strings.Cut(t[1:], ":")
		if len(name) < least || !strings.HasPrefix(full, name) {
			continue
		}
		if cut {
			a := argv[i]
			a.Value = a.slice(len(name)+2, len(a.Text))
			if a.Text != "" || len(a.Holes) > 0 {
				return &a
			}
		}
		if i+1 < len(argv) {
			return &argv[i+1]
		}
	}
	return nil
}

// psList returns the values of a parameter that takes several.
func psList(argv []Arg, full string, least int) []Arg {
	first := psParam(argv, full, least)
	if first == nil {
		return nil
	}
	for i := 2; i < len(argv); i++ {
		if &argv[i] == first {
			j := i
			for j < len(argv) && (len(argv[j].Text) < 2 || argv[j].Text[0] != '-' || argv[j].Quote&(Single|Double) != 0) {
				j++
			}
			return argv[i:j]
		}
	}
	return []Arg{*first}
}

// psOperand returns the first word that is neither a parameter nor the value
// of one of the given parameters.
func psOperand(argv []Arg, valued string) *Arg {
	for i := 1; i < len(argv); i++ {
		t := lower(argv[i].Text)
		if len(t) > 1 && t[0] == '-' && len(argv[i].Alts) == 0 {
			if has(valued, strings.TrimSuffix(t, ":")) {
				i++
			}
			continue
		}
		return &argv[i]
	}
	return nil
}

// runCmdlet walks a command of PowerShell.
func (w *walker) runCmdlet(text string, argv []Arg, c ctx) {
	name := lower(programName(text))
	// Module\Cmdlet
	if i := strings.LastIndexByte(name, '\\'); i >= 0 {
		name = name[i+1:]
	}
	if v, ok := w.st.aliases[name]; ok && !w.calling(call{name: "alias " + name}) {
		w.calls = append(w.calls, call{name: "alias " + name})
		next := slices.Clone(argv)
		next[0].Value = v
		w.run(next, c)
		w.calls = w.calls[:len(w.calls)-1]
		return
	}
	if fn, ok := w.st.funcs[name]; ok {
		w.branches(len(fn.bodies), func(i int) { w.callFunction(name, fn.bodies[i], argv, c) }, fn.maybe)
		if !fn.maybe {
			return
		}
	}
	// A variable that holds a block: & $block.
	if argv[0].Quote == Expanded && strings.ContainsAny(text, " \n;|") {
		w.sub(func() { w.nestedPS(text, argv[0], c) })
		return
	}
	full := name
	if !strings.Contains(text, ".exe") && !strings.ContainsAny(text, `/\`) {
		full = cmdletAlias(name)
		// curl and wget are programs of their own outside Windows PowerShell;
		// with options only they know, they are themselves.
		if (name == "curl" || name == "wget") && unixOptions(argv) {
			full = name
		}
		if (name == "rm" || name == "cp" || name == "mv" || name == "ls" || name == "cat") && unixOptions(argv) && !psOptions(argv) {
			full = name
		}
	}
	leaf := func() int {
		l := Leaf{Name: full, Argv: argv, Offset: c.pos[0], End: c.pos[1]}
		if full != name || strings.Contains(full, "-") {
			l.Flags = Builtin
		}
		i := w.add(l, c)
		if c.out != nil {
			c.out.add(w.psOutput(full, argv, i, c))
		}
		return i
	}
	inner := func(link string) ctx {
		cc := c
		cc.via = via(c.via, Wrap{Name: link, Argv: argv[:1]})
		return cc
	}
	blocks := func(cc ctx, extra Flags) {
		cc.flags |= extra
		cc.out = nil
		given := psList(argv, "argumentlist", 2)
		for i := 1; i < len(argv); i++ {
			if argv[i].psBlock() {
				w.branches(1, func(int) { w.callBlock(argv[i], given, cc) }, true)
			}
		}
	}
	switch full {
	case "invoke-expression":
		code := psParam(argv, "command", 1)
		if code == nil {
			code = psOperand(argv, "")
		}
		cc := inner(full)
		if code != nil {
			if !w.code(code.Value, PowerShell, code, full, cc) {
				w.settle(leaf())
			}
			return
		}
		i := leaf()
		if c.in.Text != nil {
			text := *c.in.Text
			cc.in, cc.stream = Input{}, nil
			from := len(w.f.Leaves)
			if !w.code(text, PowerShell, nil, full, cc) {
				if n := len(w.f.Opaque); n > 0 {
					w.f.Opaque[n-1].Leaf = i
				}
			}
			w.runs(i, from)
		} else if c.in.Kind != InputInherit {
			w.opaque(Opaque{Leaf: i, Text: hole(HoleInput, ""), From: c.in.From, Why: full, Offset: c.pos[0]})
		}
	case "set-location", "push-location", "pop-location":
		leaf()
		old := w.st.dir
		var stay *Value
		switch to := psOperand(argv, " -stackname -erroraction -ea "); {
		case full == "pop-location":
			if n := len(w.st.dirs); n > 0 {
				w.st.dir = w.st.dirs[n-1]
				w.st.dirs = w.st.dirs[: n-1 : n-1]
			} else {
				w.st.dir = hole(HolePath, "popd")
			}
		case to == nil && full == "set-location":
			if w.world.Home != "" {
				w.st.dir = exact(w.world.Home)
			}
		case to != nil && full == "set-location" && to.Text == "-":
			w.st.dir = hole(HolePath, "-")
			if w.st.oldDir != nil {
				w.st.dir = *w.st.oldDir
			}
		case to != nil:
			w.st.dir = w.winJoin(w.st.dir, w.ofHome(to.Value))
			if !w.psStops(argv) {
				stay = &old
			}
		}
		if full == "push-location" {
			w.st.pushDir(old)
		}
		w.st.oldDir, w.st.stay = &old, stay
	case "foreach-object", "where-object", "measure-command", "trace-command", "register-objectevent", "register-engineevent", "start-job", "start-threadjob", "invoke-parallel", "use-object":
		leaf()
		flags := PerInput
		if full == "start-job" || full == "start-threadjob" {
			flags = Background
		}
		if full == "foreach-object" && c.in.Text != nil {
			w.st.setVar("_", variable{val: psItems(*c.in.Text)})
		}
		blocks(inner(full), flags)
		delete(w.st.vars, "_")
	case "invoke-command":
		i := leaf()
		cc := inner(full)
		host := psParam(argv, "computername", 2)
		if host == nil {
			host = psParam(argv, "hostname", 2)
		}
		if host == nil {
			host = psParam(argv, "session", 2)
		}
		from := len(w.f.Leaves)
		w.sub(func() {
			extra := Flags(0)
			if host != nil {
				cc.via[len(cc.via)-1].Host = host.String()
				extra = Remote
				w.st = w.elsewhere()
			}
			blocks(cc, extra)
		})
		w.runs(i, from)
	case "start-process":
		i := leaf()
		from := len(w.f.Leaves)
		file := psParam(argv, "filepath", 1)
		if file == nil {
			file = psOperand(argv, " -argumentlist -args -verb -workingdirectory -windowstyle -credential -redirectstandardoutput -redirectstandardinput -redirectstandarderror ")
		}
		if file != nil {
			next := []Arg{*file}
			collect := false
			seenFile := false
			for k := 1; k < len(argv); k++ {
				t := lower(argv[k].Text)
				if strings.HasPrefix(t, "-") && len(t) > 1 && argv[k].Quote&(Single|Double|Expanded) == 0 {
					collect = len(t) > 1 && (strings.HasPrefix("-argumentlist", t) || t == "-args")
					if !collect && !has(" -wait -nonewwindow -passthru -loaduserprofile -usenewenvironment ", t) && !strings.HasPrefix("-filepath", t) {
						k++
					}
					continue
				}
				if argv[k].Offset == file.Offset && argv[k].Text == file.Text && !seenFile {
					seenFile = true
					collect = true
					continue
				}
				if collect {
					next = append(next, w.splitWords(argv[k])...)
				}
			}
			cc := inner(full)
			cc.out = nil
			if v := psParam(argv, "verb", 1); v != nil && strings.EqualFold(v.Text, "runas") {
				cc.flags |= Elevated
			}
			w.sub(func() { w.run(next, cc) })
		}
		w.runs(i, from)
	case "invoke-webrequest", "invoke-restmethod", "start-bitstransfer":
		i := leaf()
		for _, name := range [...]string{"outfile", "destination"} {
			if f := psParam(argv, name, 1); f != nil {
				w.write(slashes(f.Value), outputHole(Span{i, i + 1}), false)
			}
		}
	case "set-content", "add-content", "out-file":
		leaf()
		const valued = " -path -literalpath -filepath -value -encoding -inputobject "
		path, text := psParam(argv, "path", 1), psParam(argv, "value", 1)
		for _, name := range [...]string{"filepath", "literalpath"} {
			if path == nil {
				path = psParam(argv, name, 1)
			}
		}
		var ops []Arg
		for k := 1; k < len(argv); k++ {
			if t := lower(argv[k].Text); len(t) > 1 && t[0] == '-' && argv[k].Quote&(Single|Double) == 0 {
				if has(valued, t) {
					k++
				}
				continue
			}
			ops = append(ops, argv[k])
		}
		if path == nil && len(ops) > 0 {
			path, ops = &ops[0], ops[1:]
		}
		if text == nil && len(ops) > 0 {
			text = joinedArg(ops)
		}
		switch {
		case path == nil:
		case text != nil:
			w.write(slashes(path.Value), text.Value, full == "add-content")
		case c.in.Text != nil:
			w.write(slashes(path.Value), *c.in.Text, full == "add-content")
		}
	case "invoke-wmimethod", "invoke-cimmethod":
		i := leaf()
		from := len(w.f.Leaves)
		for _, a := range argv[1:] {
			if t := a.Text; strings.HasPrefix(t, "@{") {
				for _, v := range w.psTable(t, a.Offset, a.End) {
					w.winCommand(v, full, inner(full))
				}
			} else {
				w.winCommand(a, full, inner(full))
			}
		}
		w.runs(i, from)
	case "set-alias", "new-alias":
		leaf()
		var ops []*Arg
		for k := 1; k < len(argv); k++ {
			if t := argv[k].Text; !strings.HasPrefix(t, "-") {
				ops = append(ops, &argv[k])
			}
		}
		n, v := psParam(argv, "name", 1), psParam(argv, "value", 1)
		for _, a := range ops {
			switch {
			case a == n || a == v:
			case n == nil:
				n = a
			case v == nil:
				v = a
			}
		}
		if n != nil && v != nil {
			w.setAlias(lower(n.Text), v.Value)
		}
	case "set-item", "new-item":
		leaf()
		n, v := psParam(argv, "path", 1), psParam(argv, "value", 1)
		if n == nil && len(argv) > 1 {
			n = psOperand(argv, " -value -itemtype -type -name ")
		}
		if v == nil && full == "set-item" && len(argv) > 2 {
			v = &argv[len(argv)-1]
		}
		if n != nil && v != nil {
			w.psDrive(lower(n.Text), v.Value, c)
		}
	case "set-variable", "new-variable":
		leaf()
		n, v := psParam(argv, "name", 1), psParam(argv, "value", 1)
		if n == nil && len(argv) > 2 && !strings.HasPrefix(argv[1].Text, "-") {
			n, v = &argv[1], &argv[2]
		}
		if n != nil && v != nil {
			w.st.setVar(lower(n.Text), variable{val: v.Value})
		}
	case "sudo", "gsudo":
		if len(argv) > 1 {
			k := 1
			for k < len(argv)-1 && strings.HasPrefix(argv[k].Text, "-") {
				k++
			}
			cc := c
			cc.via = via(c.via, Wrap{Name: full, Argv: argv[:k]})
			cc.flags |= Elevated
			w.run(argv[k:], cc)
			return
		}
		leaf()
	case "import-module", "add-type", "add-appxpackage", "invoke-item":
		i := leaf()
		if !w.runsOperands(argv, i, c) && full == "import-module" {
			if a := psOperand(argv, ""); a != nil && strings.ContainsAny(a.Text, `/\`) && strings.HasSuffix(lower(a.Text), ".ps1") {
				w.sub(func() { w.runFile(slashes(a.Value), PowerShell, nil, i, inner(full)) })
			}
		}
	default:
		if strings.HasSuffix(name, ".ps1") || strings.HasSuffix(name, ".psm1") {
			i := leaf()
			from := len(w.f.Leaves)
			w.sub(func() {
				cc := inner(name)
				w.runFile(exact(strings.ReplaceAll(text, `\`, "/")), PowerShell, nil, i, cc)
			})
			w.runs(i, from)
			return
		}
		switch name {
		case "wmic", "forfiles", "runas", "psexec", "psexec64":
			w.runDOS(text, argv, c)
			return
		}
		if w.runsWritten(text, name, leaf, c) {
			return
		}
		if full == name && !strings.Contains(strings.TrimSuffix(name, ".exe"), "-") || name == "docker-compose" || name == "apt-get" {
			if strings.EqualFold(programName(text), name) {
				w.start(lower(text), argv, c)
				return
			}
			if knownProgram(name) { // .\bin\cmd.exe
				next := slices.Clone(argv)
				next[0].Value = exact(name)
				w.start(name, next, c)
				return
			}
		}
		leaf()
		blocks(inner(full), 0)
	}
}

// runsWritten walks a program that the command itself wrote or fetched.
func (w *walker) runsWritten(text, name string, leaf func() int, c ctx) bool {
	if len(w.files) == 0 {
		return false
	}
	file := slashes(exact(text))
	made, ok := w.written(file)
	for _, ext := range [...]string{".bat", ".cmd", ".exe"} {
		if !ok && !strings.Contains(name, ".") {
			made, ok = w.written(concat(file, exact(ext)))
		}
	}
	if !ok {
		return false
	}
	i := leaf()
	from := len(w.f.Leaves)
	w.sub(func() { w.writtenScript(text, made, Cmd, i, c) })
	w.runs(i, from)
	return true
}

// runsOperands walks the files among the words that the command itself wrote, for
// programs that run or install what they are given. It reports whether there was one.
func (w *walker) runsOperands(argv []Arg, i int, c ctx) bool {
	found := false
	for k := 1; k < len(argv) && len(w.files) > 0; k++ {
		name, _, _ := strings.Cut(argv[k].Text, ",") // rundll32 a.dll,Entry
		if made, ok := w.written(slashes(exact(name))); ok && name != "" {
			from := len(w.f.Leaves)
			w.sub(func() { w.writtenScript(name, made, PowerShell, i, c) })
			w.runs(i, from)
			found = true
		}
	}
	return found
}

// unixOptions reports whether a word is an option PowerShell's own command
// could not take: -rf, --force, -sSL.
func unixOptions(argv []Arg) bool {
	for i := 1; i < len(argv); i++ {
		t := argv[i].Text
		if strings.HasPrefix(t, "--") {
			return true
		}
		switch t {
		case "-rf", "-fr", "-Rf", "-fR", "-rfv", "-sSL", "-fsSL", "-sL", "-X", "-H", "-d", "-la", "-al", "-lah", "-sS", "-k", "-O", "-o", "-fsS", "-L":
			return true
		}
	}
	return false
}

func psOptions(argv []Arg) bool {
	for i := 1; i < len(argv); i++ {
		t := lower(argv[i].Text)
		if len(t) > 3 && t[0] == '-' && (strings.HasPrefix("-recurse", t) || strings.HasPrefix("-force", t) || strings.HasPrefix("-path", t) || strings.HasPrefix("-literalpath", t)) {
			return true
		}
	}
	return false
}

// winCommand walks a word that Windows starts as a command line, if it is one.
func (w *walker) winCommand(a Arg, why string, c ctx) {
	if strings.IndexByte(a.Text, ' ') > 0 {
		c.out = nil
		w.sub(func() { w.code(a.Value, Cmd, &a, why, c) })
	}
}

// psOutput is what is known of what a cmdlet emits.
func (w *walker) psOutput(name string, argv []Arg, i int, c ctx) Value {
	args := argv[1:]
	switch name {
	case "write-output", "write-host":
		var vals []Value
		for _, a := range args {
			if strings.HasPrefix(a.Text, "-") && a.Quote&(Single|Double) == 0 {
				continue
			}
			vals = append(vals, a.Value)
		}
		return joinValues(vals, "\n")
	case "get-location":
		return w.st.dir
	case "get-command", "get-alias": // & (gcm x) runs x
		if p := psOperand(argv, ""); p != nil {
			if t, ok := p.Exact(); ok && strings.ContainsAny(t, "*?") {
				return cmdletsLike(lower(t))
			}
			return p.Value
		}
	case "get-process", "get-service", "get-job":
		return outputHole(Span{i, i + 1})
	case "get-content":
		if p := psOperand(argv, " -totalcount -tail -encoding -delimiter "); p != nil {
			return Value{Holes: []Hole{{Kind: HoleInput, Name: p.exactOrEmpty(), From: Span{i, i + 1}}}}
		}
	case "out-string", "out-default", "tee-object":
		if c.in.Text != nil {
			return *c.in.Text
		}
	case "split-path":
		if p := psOperand(argv, ""); p != nil {
			leaf := slices.ContainsFunc(argv, func(a Arg) bool { return strings.HasPrefix(lower(a.Text), "-le") })
			return p.mapExact(func(s string) Value {
				if leaf {
					return exact(s[strings.LastIndexAny(s, `/\`)+1:])
				}
				return exact(parentOf(s))
			})
		}
	case "select-object", "foreach-object":
		if name == "foreach-object" && slices.ContainsFunc(argv, func(a Arg) bool { return a.psBlock() }) {
			break
		}
		if c.in.Text != nil && !c.in.Text.origin().Empty() {
			return c.in.Text.blur()
		}
	case "join-path":
		var vals []Value
		for _, a := range args {
			if !strings.HasPrefix(a.Text, "-") {
				vals = append(vals, a.Value)
			}
		}
		return joinValues(vals, "/")
	case "remove-item", "set-location", "set-content", "out-null", "mkdir", "new-item":
		return Value{}
	}
	return outputHole(Span{i, i + 1})
}

// cmdletsLike are those of the cmdlets that do harm whose names fit a pattern.
func cmdletsLike(pattern string) Value {
	var out []Value
	for _, name := range [...]string{"remove-item", "invoke-expression", "clear-content", "set-content", "clear-disk", "format-volume", "stop-computer",
		"restart-computer", "stop-process", "start-process", "invoke-restmethod", "invoke-webrequest", "invoke-command", "set-executionpolicy", "set-mppreference"} {
		if ok, _ := path.Match(pattern, name); ok {
			out = append(out, exact(name))
		}
	}
	if len(out) == 0 {
		return hole(HoleMany, pattern)
	}
	return either(out...)
}

// ofHome is a path of PowerShell with the home folder for a ~ in front, which its
// providers expand in quotes as well.
func (w *walker) ofHome(v Value) Value {
	switch p := v.Prefix(); {
	case p == "~" && v.Text == p && len(v.Holes) == 0:
		return w.psVariable("home")
	case strings.HasPrefix(p, "~/"), strings.HasPrefix(p, `~\`):
		if len(v.Alts) == 0 {
			return concat(w.psVariable("home"), v.slice(1, len(v.Text)))
		}
	}
	return v
}

// psStops reports whether an error of a cmdlet ends what runs.
func (w *walker) psStops(argv []Arg) bool {
	for _, name := range [...]string{"erroraction", "ea"} {
		if a := psParam(argv, name, 2); a != nil && strings.EqualFold(a.Text, "stop") {
			return true
		}
	}
	v := w.st.vars["erroractionpreference"]
	return strings.EqualFold(v.val.Text, "stop")
}

// winJoin is joinPath with drives and backslashes.
func (w *walker) winJoin(dir, to Value) Value {
	p := to.Prefix()
	d := dir.Prefix()
	switch colon := strings.IndexByte(p, ':'); {
	case colon == 1, strings.HasPrefix(p, `\\`), colon > 1 && !strings.ContainsAny(p[:colon], `/\`):
		return to // C:\x, HKLM:\x, \\server\x
	case (strings.HasPrefix(p, `\`) || strings.HasPrefix(p, "/")) && onDrive(d):
		return concat(exact(d[:2]), to)
	case strings.HasPrefix(p, `\`):
		return slashes(to)
	}
	if strings.Contains(d, `\`) {
		if p == ".." {
			if t, ok := dir.Exact(); ok {
				if i := strings.LastIndexByte(strings.TrimRight(t, `\`), '\\'); i > 2 {
					return exact(t[:i])
				} else if i > 0 {
					return exact(t[:i+1])
				}
			}
		}
		if tooDeep(dir, to) {
			return hole(HolePath, "")
		}
		return concat(dir, exact(`\`), to)
	}
	return joinPath(dir, slashes(to))
}

// slashes spells a path of Windows as the rest of the world does.
func slashes(v Value) Value {
	return v.mapWhole(func(s string) string { return strings.ReplaceAll(s, `\`, "/") })
}

// mapWhole rewrites the known text of a value byte for byte.
func (v Value) mapWhole(f func(string) string) Value {
	if len(v.Alts) > 0 {
		out := make([]Value, len(v.Alts))
		for i := range v.Alts {
			out[i] = v.Alts[i].mapWhole(f)
		}
		return Value{Alts: out}
	}
	v.Text = f(v.Text)
	return v
}

// runPowerShell walks powershell and pwsh started as programs.
func (w *walker) runPowerShell(argv []Arg, c ctx) {
	name := lower(programName(argv[0].Text))
	child := func(i int, f func(ctx)) {
		w.inChild(func() {
			cc := c
			cc.via = via(c.via, Wrap{Name: name, Argv: argv[:min(i, len(argv))]})
			cc.redirs = inherit(c.redirs)
			f(cc)
		})
	}
	for i := 1; i < len(argv); i++ {
		t := lower(argv[i].Text)
		if len(argv[i].Alts) > 0 || len(t) < 2 || (t[0] != '-' && t[0] != '/') || (t[0] == '/' && strings.Contains(t[1:], "/")) {
			// Windows PowerShell takes a bare word for a command, pwsh for a file.
			if name == "powershell" && !strings.HasSuffix(t, ".ps1") {
				child(i, func(cc ctx) { w.psCommand(argv, argv[i:], cc) })
				return
			}
			w.psFile(argv, i, c, child)
			return
		}
		p := strings.TrimLeft(t, "-/")
		switch {
		case p == "c" || p == "command" || len(p) > 2 && strings.HasPrefix("command", p) || p == "cwa" || p == "commandwithargs":
			if (p == "cwa" || p == "commandwithargs") && i+2 < len(argv) {
				child(i+1, func(cc ctx) {
					w.st.params, w.st.knows = argv[i+2:], true
					w.psCommand(argv, argv[i+1:i+2], cc)
				})
				return
			}
			if i+1 < len(argv) {
				child(i+1, func(cc ctx) { w.psCommand(argv, argv[i+1:], cc) })
				return
			}
		case p == "e" || p == "ec" || p == "enc" || len(p) > 1 && strings.HasPrefix("encodedcommand", p):
			if i+1 < len(argv) {
				child(i+1, func(cc ctx) {
					v := argv[i+1].mapExact(func(s string) Value {
						d, ok := decodeBase64(s)
						if !ok {
							return hole(HoleMany, "base64")
						}
						return exact(fromUTF16(d))
					})
					if !w.code(v, PowerShell, &argv[i+1], name+" -EncodedCommand", cc) {
						cc.via = c.via
						w.settle(w.leaf(argv, cc))
					}
				})
				return
			}
		case p == "f" || p == "file" || len(p) > 1 && strings.HasPrefix("file", p):
			if i+1 < len(argv) {
				w.psFile(argv, i+1, c, child)
				return
			}
		case strings.HasPrefix("executionpolicy", p) && len(p) > 1 || p == "ex" || p == "ep" || strings.HasPrefix("windowstyle", p) || strings.HasPrefix("inputformat", p) || strings.HasPrefix("outputformat", p) || strings.HasPrefix("version", p) || strings.HasPrefix("workingdirectory", p) || p == "wd" || strings.HasPrefix("configurationname", p) || strings.HasPrefix("psconsolefile", p) || strings.HasPrefix("settingsfile", p):
			i++
		}
	}
	i := w.leaf(argv, c)
	if c.in.Kind == InputInherit {
		return
	}
	if c.in.Text == nil {
		w.opaque(Opaque{Leaf: i, Text: hole(HoleInput, ""), From: c.in.From, Why: name + " input", Offset: c.pos[0]})
		return
	}
	from := len(w.f.Leaves)
	text := *c.in.Text
	child(len(argv), func(cc ctx) {
		cc.in, cc.stream = Input{}, nil
		if !w.code(text, PowerShell, hereArg(c), name+" input", cc) {
			if n := len(w.f.Opaque); n > 0 {
				w.f.Opaque[n-1].Leaf = i
			}
		}
	})
	w.runs(i, from)
}

// psCommand walks the words after -Command: a lone dash is standard input.
func (w *walker) psCommand(argv, rest []Arg, c ctx) {
	if len(rest) == 1 && rest[0].Text == "-" {
		if c.in.Text != nil {
			text := *c.in.Text
			c.in, c.stream = Input{}, nil
			if w.code(text, PowerShell, nil, "powershell input", c) {
				return
			}
		} else {
			w.opaque(Opaque{Leaf: -1, Text: hole(HoleInput, ""), From: c.in.From, Why: "powershell input", Offset: c.pos[0]})
		}
		w.settle(w.leaf(argv, c))
		return
	}
	if rest[0].psBlock() {
		w.nestedPS(rest[0].Text, rest[0], c)
		return
	}
	a := joinedArg(rest)
	if w.src.dialect == Cmd && len(rest) > 1 {
		if t, ok := a.Exact(); ok && strings.HasPrefix(t, `"`) && strings.HasSuffix(t, `"`) && strings.Count(t, `"`) == 2 {
			a.Value = exact(t[1 : len(t)-1]) // ^"...^"
		} else if w.src.verbatim && rest[0].Offset != rest[1].Offset && a.End <= len(w.f.Text) && a.Offset < a.End {
			// cmd hands the line on as it is, with what parts its own words.
			if raw := w.f.Text[a.Offset:a.End]; !strings.ContainsAny(raw, "%!^") {
				a.Value = exact(raw)
			}
		}
	}
	if !w.code(a.Value, PowerShell, a, "powershell -Command", c) {
		w.settle(w.leaf(argv, c))
	}
}

func (w *walker) psFile(argv []Arg, n int, c ctx, child func(int, func(ctx))) {
	i := w.leaf(argv, c)
	from := len(w.f.Leaves)
	child(n, func(cc ctx) { w.runFile(argv[n].Value, PowerShell, argv[n:], i, cc) })
	w.runs(i, from)
}
