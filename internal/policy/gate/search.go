package gate

import (
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// This file judges programs that look for files and say which: find, fd, git
// ls-files, grep -l, ls. What they find is judged by where they look and by what
// the names are narrowed to, since nothing is looked for beforehand.

// find judges -delete; -exec is a leaf of its own.
func (j *judge) find(c *call) {
	has := false
	for i, t := range c.argv() {
		switch t {
		case "-delete":
			has = true
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(c.l.Argv) {
				j.write(c, &c.l.Argv[i+1], false)
			}
		}
	}
	if !has {
		return
	}
	q := j.findQuery(c)
	for _, p := range q.roots {
		if gitInside(p.path) && j.inProject(p.path) {
			j.add(c, RepoDestroy, AnyScope, "delete-git-folder", p.text)
			return
		}
	}
	switch s := j.queryScope(&q); s {
	case Temp, Build, Ignored, Project:
	default:
		j.add(c, Delete, s, ruleDelete(s), strings.Join(c.argv(), " "))
	}
}

// query is what a search is narrowed to.
type query struct {
	roots []place
	// names are patterns for the last part of a name, paths those for all of it.
	// With either set one of them is enough, else all have to fit.
	names, paths []string
	either       bool
	// trifles: only what is empty or leads nowhere.
	trifles bool
	// narrowed by something that says nothing about what is found.
	narrowed bool
	// workOnly: what git ignores is not found.
	workOnly bool
}

// queryScope is the gravest scope of what a search may find.
func (j *judge) queryScope(q *query) Scope {
	build, plain := j.queryNames(q)
	worst := Temp
	for _, p := range q.roots {
		s := p.scope
		switch s {
		case ProjectRoot, Project, Tracked:
			switch {
			case build:
				s = Build
			case q.trifles, plain && !j.tracksAny(p, q):
				s = Project
			case len(q.names)+len(q.paths) > 0 || q.workOnly && q.narrowed, s != ProjectRoot:
				s = Tracked
			}
		case Home:
			if len(q.names)+len(q.paths) > 0 || q.narrowed || q.trifles {
				s = Outside
			}
		case System:
			if (len(q.names)+len(q.paths) > 0 || q.narrowed || q.trifles) && (under(p.path, "/var/log") || under(p.path, "/var/cache")) {
				s = Outside
			}
		}
		worst = max(worst, s)
	}
	return worst
}

// queryNames reports whether all that fits is made again by a build, and whether
// no name is one that work has.
func (j *judge) queryNames(q *query) (build, plain bool) {
	if len(q.names)+len(q.paths) == 0 {
		return false, false
	}
	all, any := true, false
	plain = len(q.names) > 0
	for _, n := range q.names {
		b := buildPattern(n)
		all, any = all && b, any || b
		plain = plain && !workPattern(n)
	}
	for _, n := range q.paths {
		b := buildPattern(path.Base(n)) || buildPath("/"+strings.Trim(n, "*/."))
		all, any = all && b, any || b
	}
	if q.either {
		return all, plain
	}
	return any, plain
}

// buildPattern tells patterns for what a build, an editor or a system makes.
func buildPattern(p string) bool {
	name := strings.Trim(p, "*/.")
	if name == "" {
		return false
	}
	low := strings.ToLower(p)
	return buildName(p, true) || buildName(name, true) || buildName("x."+name, true) || buildPath("/"+name) ||
		strings.HasSuffix(low, "~") || strings.HasPrefix(low, "._") || generated(low)
}

// generated tells names that programs give to the sources they write.
func generated(low string) bool {
	for _, part := range [...]string{".generated.", "_generated.", ".gen.", "_gen.", ".pb.", "_pb2.", "_pb2_grpc.", ".min.js", ".min.css", ".chunk.", ".bundle.js", ".d.ts.map"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	return false
}

// workPattern tells patterns that fit what people write. A name without an ending
// may be anything.
func workPattern(p string) bool {
	ext := path.Ext(p)
	if i := strings.LastIndexByte(ext, '['); i >= 0 { // *.[ch]
		return true
	}
	switch strings.ToLower(strings.TrimPrefix(ext, ".")) {
	case "", "*", "?", "go", "py", "js", "ts", "tsx", "jsx", "mjs", "cjs", "rs", "c", "h", "cc", "cpp", "hpp", "m", "mm", "java", "kt", "kts", "scala", "rb", "php", "cs", "fs", "swift", "vue", "svelte",
		"html", "htm", "css", "scss", "less", "sh", "bash", "zsh", "fish", "ps1", "bat", "sql", "proto", "graphql", "lua", "pl", "pm", "r", "jl", "ex", "exs", "erl", "hs", "ml", "clj", "dart", "zig", "nim", "sol",
		"md", "rst", "txt", "adoc", "tex", "org", "json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf", "xml", "csv", "tsv", "ipynb", "tf", "tfvars", "tfstate", "hcl", "env", "mod", "sum", "lock", "gradle", "cmake", "mk",
		"doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "pdf", "png", "jpg", "jpeg", "gif", "svg", "webp", "psd", "mp3", "mp4", "mov", "wav", "ttf", "otf", "woff", "db", "sqlite", "sqlite3", "key", "pem", "crt", "p12", "kdbx", "bin", "dat", "parquet", "pkl", "npy", "pt", "safetensors":
		return true
	}
	return false
}

// tracksAny reports whether git may track something that fits.
func (j *judge) tracksAny(p place, q *query) bool {
	if j.w.Tracks == nil || p.path == "" {
		return true
	}
	for _, n := range q.names {
		if tracked, known := j.w.Tracks(p.path, n); tracked || !known {
			return true
		}
	}
	return false
}

// findQuery reads where a find starts and what it is narrowed to.
func (j *judge) findQuery(c *call) (q query) {
	argv := c.argv()
	n := 1
	for n < len(argv) && (argv[n] == "-H" || argv[n] == "-L" || argv[n] == "-P" || strings.HasPrefix(argv[n], "-O")) {
		n++
	}
	for n < len(argv) && argv[n] != "" && (argv[n][0] != '-' || c.l.Argv[n].Prefix() == "") && argv[n] != "(" && argv[n] != "!" {
		q.roots = append(q.roots, j.locate(&c.l.Argv[n], c.l.Dir))
		n++
	}
	if len(q.roots) == 0 {
		q.roots = append(q.roots, j.here(c))
	}
	negated := false
	for ; n < len(argv); n++ {
		t := argv[n]
		switch t {
		case "-o", "-or", ",":
			q.either = true
		case "!", "-not":
			negated = true
			continue
		case "(":
			continue // what is negated may be a group
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex":
			if n+1 >= len(argv) {
				break
			}
			n++
			switch pattern := argv[n]; {
			case negated:
				q.narrowed = true
			case strings.Trim(pattern, "*/.") == "":
			case t == "-name" || t == "-iname":
				q.names = append(q.names, pattern)
			case strings.HasSuffix(t, "regex"):
				q.paths = append(q.paths, strings.NewReplacer(`\.`, ".", ".*", "*", "$", "", "^", "").Replace(pattern))
			default:
				q.paths = append(q.paths, pattern)
			}
		case "-empty":
			q.trifles = q.trifles || !negated
		case "-xtype":
			q.trifles = q.trifles || !negated && n+1 < len(argv) && argv[n+1] == "l"
		case "-size":
			q.trifles = q.trifles || !negated && n+1 < len(argv) && argv[n+1] == "0"
			q.narrowed = true
		case "-newer", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-user", "-group", "-perm", "-inum", "-samefile", "-links":
			q.narrowed = true
		}
		negated = false
	}
	q.trifles = q.trifles && !q.either
	return q
}

func (j *judge) here(c *call) place {
	dot := shell.Arg{Value: shell.Value{Text: "."}}
	return j.locate(&dot, c.l.Dir)
}

// fdValued are the options of fd 10 that take the next word.
const fdValued = " -d --max-depth --min-depth --exact-depth -E --exclude -t --type -e --extension -S --size --changed-within --changed-before --newer --older -o --owner --format -c --color -j --threads --and --search-path --base-directory --path-separator --ignore-file --ignore-contain --max-results --batch-size --gen-completions "

// fdQuery reads the same of fd, which leaves out what git ignores unless told.
func (j *judge) fdQuery(c *call) (q query) {
	q.workOnly = true
	q.either = true // of several endings each is enough
	argv := c.argv()
	var words []*shell.Arg
	literal := false
	for n := 1; n < len(argv); n++ {
		t := argv[n]
		if t == "-x" || t == "-X" || t == "--exec" || t == "--exec-batch" {
			break
		}
		name, value, joined := strings.Cut(t, "=")
		switch {
		case literal || len(t) < 2 || t[0] != '-' || c.l.Argv[n].Prefix() == "":
			words = append(words, &c.l.Argv[n])
			continue
		case t == "--":
			literal = true
			continue
		}
		if !joined && strings.Contains(fdValued, " "+name+" ") && n+1 < len(argv) {
			n++
			value = argv[n]
		} else if !joined && len(t) > 2 && t[1] != '-' && strings.Contains(fdValued, " "+t[:2]+" ") {
			name, value = t[:2], t[2:]
		}
		switch name {
		case "-I", "--no-ignore", "-u", "--unrestricted", "-HI", "-IH", "--no-ignore-vcs", "-uu":
			q.workOnly = false
		case "-e", "--extension":
			q.names = append(q.names, "*."+strings.TrimPrefix(value, "."))
		case "-t", "--type":
			q.trifles = q.trifles || value == "e" || value == "empty"
		case "--search-path":
			p := shell.Arg{Value: shell.Value{Text: value}}
			q.roots = append(q.roots, j.locate(&p, c.l.Dir))
		case "-S", "--size", "--changed-within", "--changed-before", "--newer", "--older", "-o", "--owner":
			q.narrowed = true
		}
	}
	if len(words) > 0 {
		// The pattern is a regular expression, or with -g one of the shell.
		pattern := strings.NewReplacer(`\.`, ".", ".*", "*", "$", "", "^", "").Replace(words[0].String())
		if strings.Trim(pattern, "*/.") != "" {
			if len(q.names) > 0 {
				q.narrowed = true // beside the ending, which says more
			} else {
				q.names = append(q.names, pattern)
			}
		}
		for _, a := range words[1:] {
			q.roots = append(q.roots, j.locate(a, c.l.Dir))
		}
	}
	if len(q.roots) == 0 {
		q.roots = append(q.roots, j.here(c))
	}
	return q
}

// fromFind looks for the search that a word with holes gets its names from.
func (j *judge) fromFind(c *call, a *shell.Arg) (Scope, bool) {
	for k := len(c.l.Via) - 1; k >= 0; k-- {
		if v := &c.l.Via[k]; v.Name != "find" && v.Name != "fd" {
			continue
		}
		// It stands before what it runs, and mostly right before it.
		for i := c.i - 1; i >= 0; i-- {
			if l := &j.f.Leaves[i]; l.Runs.Contains(c.i) && searches(l.Name) {
				return j.listed(i)
			}
		}
	}
	for _, v := range a.Each() {
		for _, h := range v.Holes {
			if h.At == 0 && !h.From.Empty() {
				if s, ok := j.holeScope(&shell.Value{Holes: []shell.Hole{h}}, c.l.Dir); ok {
					return s, true
				}
			}
		}
	}
	return 0, false
}

func searches(name string) bool {
	switch name {
	case "find", "gfind", "bfs", "fd", "fdfind":
		return true
	}
	return false
}

// listed is the scope of the names that leaf i prints.
func (j *judge) listed(i int) (Scope, bool) {
	l := &j.f.Leaves[i]
	c := call{j: j, i: i, l: l}
	switch l.Name {
	case "find", "gfind", "bfs":
		q := j.findQuery(&c)
		return j.queryScope(&q), true
	case "fd", "fdfind":
		q := j.fdQuery(&c)
		return j.queryScope(&q), true
	case "git":
		switch sub, rest := c.git(); {
		case sub == "ls-files":
			for _, r := range rest {
				if r == "-i" || r == "--ignored" || strings.HasPrefix(r, "-o") && strings.Contains(r, "i") {
					return Ignored, true
				}
			}
			return Tracked, true // or, with -o, work that was never added
		case sub == "rev-parse":
			return ProjectRoot, true
		case sub == "diff" || sub == "status" || sub == "grep" || sub == "show":
			return Tracked, true
		}
	case "dir":
		var q query
		for _, a := range c.operands("") {
			if !strings.HasPrefix(a.Text, "/") {
				q.roots = append(q.roots, j.locate(a, l.Dir))
			}
		}
		if len(q.roots) == 0 {
			q.roots = append(q.roots, j.here(&c))
		}
		return j.queryScope(&q), true
	case "rg", "grep", "egrep", "fgrep", "ag", "ack", "ls":
		// Where they look, as far as it is said; a pattern of grep's is no place.
		ops := c.operands(readerValued(l.Name))
		if l.Name != "ls" && len(ops) > 0 && !c.has("-e", "-f", "--regexp", "--file", "--files") {
			ops = ops[1:]
		}
		q := query{narrowed: l.Name != "ls", workOnly: true}
		for _, a := range ops {
			q.roots = append(q.roots, j.locate(a, l.Dir))
		}
		if len(q.roots) == 0 {
			q.roots = append(q.roots, j.here(&c))
		}
		return j.queryScope(&q), true
	}
	return 0, false
}
