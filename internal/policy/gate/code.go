package gate

import (
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// code judges program text of other languages. It does not parse them: it looks
// for calls that delete, run commands, open sockets or read secrets, and judges
// the constants they are given. Text that comes from a script file is day work
// and counts only where a constant strikes something grave.
func (j *judge) code(c *shell.Code) {
	text := c.Text.Text
	from, to := c.Offset, c.Offset
	script := c.Script != ""
	if c.Leaf >= 0 && c.Leaf < len(j.f.Leaves) {
		from, to = j.f.Leaves[c.Leaf].Offset, j.f.Leaves[c.Leaf].End
	}
	switch c.Language {
	case "sql":
		if low := strings.ToLower(text); c.Leaf < 0 || c.Leaf >= len(j.f.Leaves) || strings.Contains(low, "attach") || strings.Contains(low, ".open") ||
			!j.ownDatabase(&call{j: j, i: c.Leaf, l: &j.f.Leaves[c.Leaf]}) {
			j.sql(text, from, to)
		} else {
			j.clientShell(text, from, to)
		}
		if c.Leaf >= 0 && c.Leaf < len(j.f.Leaves) && !script {
			if l := &j.f.Leaves[c.Leaf]; l.Flags&(shell.Remote|shell.Contained) == 0 {
				j.sqlFiles(text, l.Dir, from, to)
			}
		}
		return
	case "make", "just", "json":
		return
	case "cmake":
		j.cmakeScript(text, from, to)
		return
	case "sed":
		if c.Leaf >= 0 && c.Leaf < len(j.f.Leaves) {
			j.sedScript(&call{j: j, i: c.Leaf, l: &j.f.Leaves[c.Leaf]}, text)
		}
		return
	case "vim", "ed":
		if c.Leaf >= 0 && c.Leaf < len(j.f.Leaves) {
			j.editorWrites(&call{j: j, i: c.Leaf, l: &j.f.Leaves[c.Leaf]}, text)
		}
		if c.Language == "ed" {
			return
		}
	case "mongo", "mongosh":
		m := call{j: j, l: &j.f.Leaves[max(c.Leaf, 0)]}
		j.mongo(&m, text)
		if script {
			return
		}
	}
	if c.Leaf >= 0 && c.Leaf < len(j.f.Leaves) {
		if n := j.f.Leaves[c.Leaf].Name; n == "mongo" || n == "mongosh" {
			m := call{j: j, i: c.Leaf, l: &j.f.Leaves[c.Leaf]}
			j.mongo(&m, text)
		}
		if j.f.Leaves[c.Leaf].Flags&(shell.Remote|shell.Contained) != 0 {
			script = true
		}
	}
	for _, v := range c.Text.Each() {
		for _, h := range v.Holes {
			for i := h.From.From; i < h.From.To && i < len(j.f.Leaves); i++ {
				if l := &j.f.Leaves[i]; downloads(l.Name) || hasNetPath(l) {
					j.addAt(RemoteExec, AnyScope, "download-into-interpreter", c.Language, from, to)
				}
			}
		}
	}
	s := scan{j: j, text: text, from: from, to: to, script: script, lang: c.Language, leaf: -1}
	if c.Leaf < len(j.f.Leaves) {
		s.leaf = c.Leaf
	}
	s.run()
}

// cmakeScript judges what a script of CMake's runs and deletes.
func (j *judge) cmakeScript(text string, from, to int) {
	c := &call{j: j, l: &shell.Leaf{Dir: shell.Value{Text: j.w.Dir}, Offset: from, End: to}}
	for part := range strings.SplitSeq(text, ")") {
		if j.late(from, to) {
			return
		}
		name, args, _ := strings.Cut(part, "(")
		words := strings.Fields(args)
		switch strings.TrimSpace(name) {
		case "execute_process":
			var cmd []string
			for _, w := range append(words, "COMMAND") {
				if len(w) < 3 || strings.ToUpper(w) != w || strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
					cmd = append(cmd, w)
					continue
				}
				if len(cmd) > 0 {
					j.inner(strings.Join(cmd, " "), shell.POSIX, from, to)
				}
				cmd = nil
			}
		case "file":
			if len(words) > 1 && strings.HasPrefix(words[0], "REMOVE") {
				for _, w := range words[1:] {
					j.remove(c, &shell.Arg{Value: shell.Value{Text: strings.Trim(w, `"`)}}, words[0] == "REMOVE_RECURSE")
				}
			}
		}
	}
}

// scan is one walk over program text.
type scan struct {
	j        *judge
	text     string
	from, to int
	script   bool
	lang     string
	leaf     int // that runs it, -1 if unknown
	asked    int // how many variables were looked up
}

func (s *scan) add(e Effect, scope Scope, rule, target string) {
	if s.script {
		// A project's own program that deletes its own data is no hazard.
		switch e {
		case Delete, Overwrite, Truncate, MoveAway, Permission:
			if scope < Home || scope == RootUnknown {
				return
			}
		case SecretRead, Opaque, Listen, Exfiltrate, Unjudged, TrustDown, Service, ProcessKill, Power, Elevate, DiscardWork, GlobalInstall:
			return
		}
	}
	s.j.addAt(e, scope, rule, target, s.from, s.to)
}

// pattern is a call to look for: name is what must stand before the parenthesis.
type pattern struct {
	name string
	kind callKind
}

type callKind uint8

const (
	callTree   callKind = iota + 1 // deletes a folder with all in it
	callRemove                     // deletes a file
	callShell                      // runs command text
	callArgv                       // runs a list of words
	callWrite                      // writes a file
	callRead                       // reads a file
	callEval                       // runs program text
	callMove
	callLink // makes its second word
	callChmod
	callPower
	callSQL // gives a statement to a database
)

// calls lists what to look for, for all languages at once: a name of one language
// does no harm in another. Longer names come before their suffixes.
var calls = [...]pattern{
	{"shutil.rmtree", callTree}, {"rmtree", callTree}, {"os.removedirs", callTree}, {"fs.rmSync", callTree}, {"fs.rm", callTree}, {"rmSync", callTree},
	{"fs.rmdirSync", callTree}, {"fs.rmdir", callTree}, {"rmdirSync", callTree}, {"fs.promises.rm", callTree}, {"rimraf.sync", callTree}, {"rimraf", callTree}, {"fse.removeSync", callTree}, {"fs.removeSync", callTree},
	{"fs.emptyDirSync", callTree}, {"removeSync", callTree}, {"del.sync", callTree}, {"remove_tree", callTree}, {"File::Path::rmtree", callTree}, {"FileUtils.rm_rf", callTree}, {"FileUtils.rm_r", callTree}, {"FileUtils.remove_dir", callTree},
	{"FileUtils.remove_entry", callTree}, {"FileUtils.remove_entry_secure", callTree}, {"rm_rf", callTree}, {"rm_r", callTree}, {"os.RemoveAll", callTree}, {"Deno.remove", callTree}, {"Deno.removeSync", callTree}, {"lfs.rmdir", callTree}, {"send2trash", callTree}, {"Directory.Delete", callTree}, {"Dir.delete", callTree},
	{"os.remove", callRemove}, {"os.unlink", callRemove}, {"os.rmdir", callRemove}, {"fs.unlinkSync", callRemove}, {"fs.unlink", callRemove}, {"unlinkSync", callRemove}, {"File.delete", callRemove}, {"File.unlink", callRemove}, {"FileUtils.rm", callRemove}, {"FileUtils.rm_f", callRemove},
	{"unlink", callRemove}, {"rmdir", callRemove}, {"os.Remove", callRemove}, {"Path.unlink", callRemove},
	{"os.system", callShell}, {"os.popen", callShell}, {"subprocess.getoutput", callShell}, {"subprocess.getstatusoutput", callShell}, {"commands.getoutput", callShell},
	{"subprocess.run", callArgv}, {"subprocess.call", callArgv}, {"subprocess.check_call", callArgv}, {"subprocess.check_output", callArgv}, {"subprocess.Popen", callArgv}, {"Popen", callArgv}, {"check_output", callArgv}, {"check_call", callArgv},
	{"os.execvp", callArgv}, {"os.execv", callArgv}, {"os.execl", callArgv}, {"os.execlp", callArgv}, {"os.spawnlp", callArgv}, {"os.spawnvp", callArgv}, {"os.posix_spawn", callArgv}, {"pty.spawn", callArgv}, {"exec.Command", callArgv}, {"posix.exec", callArgv},
	{"child_process.execSync", callShell}, {"child_process.exec", callShell}, {"execSync", callShell}, {"exec", callShell}, {"execFileSync", callArgv}, {"execFile", callArgv}, {"spawnSync", callArgv}, {"spawn", callArgv}, {"Bun.spawn", callArgv}, {"Bun.spawnSync", callArgv},
	{"system", callShell}, {"shell_exec", callShell}, {"passthru", callShell}, {"proc_open", callShell}, {"popen", callShell}, {"IO.popen", callShell}, {"Kernel.system", callShell}, {"Open3.capture2", callShell}, {"Open3.capture3", callShell}, {"os.execute", callShell}, {"io.popen", callShell}, {"qx", callShell}, {"getline", callShell},
	{"shutil.move", callMove}, {"os.rename", callMove}, {"fs.renameSync", callMove}, {"FileUtils.mv", callMove}, {"os.replace", callMove},
	{"os.chmod", callChmod}, {"fs.chmodSync", callChmod}, {"FileUtils.chmod_R", callChmod}, {"os.chown", callChmod}, {"FileUtils.chown_R", callChmod},
	{"fs.writeFileSync", callWrite}, {"writeFileSync", callWrite}, {"fs.writeFile", callWrite}, {"fs.appendFileSync", callWrite}, {"appendFileSync", callWrite}, {"file_put_contents", callWrite}, {"File.write", callWrite}, {"IO.write", callWrite}, {"fs.truncateSync", callWrite}, {"os.truncate", callWrite}, {"Deno.writeTextFile", callWrite}, {"Deno.writeTextFileSync", callWrite}, {"shutil.copy", callWrite}, {"fs.copyFileSync", callWrite}, {"createWriteStream", callWrite}, {"fs.createWriteStream", callWrite}, {"File.binwrite", callWrite},
	{"os.symlink", callLink}, {"os.link", callLink}, {"fs.symlinkSync", callLink}, {"fs.linkSync", callLink}, {"File.symlink", callLink}, {"File.link", callLink}, {"FileUtils.ln_s", callLink}, {"FileUtils.ln_sf", callLink}, {"symlinkSync", callLink}, {"symlink", callLink}, {"File.rename", callMove}, {"FileUtils.cp", callLink}, {"FileUtils.copy", callLink}, {"shutil.copyfile", callWrite}, {"os.WriteFile", callWrite}, {"shutil.copy2", callWrite}, {"renameSync", callMove},
	{"open", callRead}, {"io.open", callRead}, {"File.open", callRead}, {"File.read", callRead}, {"File.readlines", callRead}, {"IO.read", callRead}, {"fs.readFileSync", callRead}, {"readFileSync", callRead}, {"fs.readFile", callRead}, {"readFile", callRead}, {"file_get_contents", callRead}, {"fopen", callRead}, {"readfile", callRead}, {"Path", callRead}, {"pathlib.Path", callRead}, {"Deno.readTextFile", callRead}, {"Deno.readTextFileSync", callRead}, {"np.loadtxt", callRead}, {"dotenv_values", callRead}, {"fs.createReadStream", callRead},
	{"eval", callEval}, {"compile", callEval}, {"execfile", callEval}, {"instance_eval", callEval}, {"loadstring", callEval}, {"vm.runInThisContext", callEval}, {"new Function", callEval}, {"Function", callEval}, {"assert", callEval},
	{"os.kill", callPower},
	{"execute", callSQL}, {"executescript", callSQL}, {"query", callSQL}, {"exec", callSQL}, {"sql", callSQL}, {"raw", callSQL}, {"prepare", callSQL}, {"executeRawUnsafe", callSQL}, {"queryRawUnsafe", callSQL}, {"statement", callSQL},
}

// maxProgram bounds program text as script files are bounded: some sixty searches
// go through all of it.
const maxProgram = 256 << 10

// run looks at every "name(" of the text once.
func (s *scan) run() {
	t := s.text
	if len(t) > maxProgram {
		s.j.addAt(Unjudged, AnyScope, "command-over-limit", "program text longer than 256 KiB", s.from, s.to)
		return
	}
	s.whole()
	if s.lang == "tcl" || s.lang == "expect" {
		s.tcl()
	}
	budget := 4096
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == '(':
			s.call(i)
			budget -= 64 // as much work as that many letters, measured
		case c == '`' && (s.lang == "perl" || s.lang == "ruby" || s.lang == "php"):
			if end := strings.IndexByte(t[i+1:], '`'); end > 0 {
				s.command(t[i+1:i+1+end], true)
				i += end + 1
			}
		case (s.lang == "perl" || s.lang == "ruby" || s.lang == "lua" || s.lang == "osascript" || s.lang == "awk") && (c == '"' || c == '\'' || c == '{' || c == '%' || c == '/'):
			s.bareWord(i)
		case c == '$' && strings.HasPrefix(t[i:], "$`") && s.lang == "node":
		}
		if budget--; budget <= 0 {
			budget = 4096
			if s.j.late(s.from, s.to) {
				return
			}
		}
	}
	if !s.script {
		s.constants()
		if s.lang == "awk" {
			s.awkFiles()
		}
	}
}

// tcl judges what Tcl starts and deletes; its words need no quotes.
func (s *scan) tcl() {
	for line := range strings.FieldsFuncSeq(s.text, func(r rune) bool { return strings.ContainsRune("\n;[]{}", r) }) {
		line = strings.TrimLeft(line, " \t")
		for _, p := range [...]string{"exec ", "spawn ", "system "} {
			if cmd, ok := strings.CutPrefix(line, p); ok {
				s.command(strings.TrimPrefix(strings.TrimLeft(cmd, " "), "-noecho "), true)
			}
		}
		if f := strings.Fields(line); len(f) > 2 && f[0] == "open" && strings.ContainsAny(f[2][:1], "aw") {
			s.writes(f, true, 1)
		}
		if files, ok := strings.CutPrefix(line, "file delete "); ok {
			s.command("rm -r "+strings.ReplaceAll(files, "-force", "-f"), true)
		}
	}
}

// bareWord looks at calls without parentheses: system "…", do shell script "…",
// unlink '…', %x{…}.
func (s *scan) bareWord(i int) {
	t := s.text
	k := i
	for k > 0 && (t[k-1] == ' ' || t[k-1] == '\t') {
		k--
	}
	word := identifierBefore(t, k)
	switch {
	case word == "" && t[i] == '{' && i >= 2 && t[i-2:i] == "%x":
	case word == "":
		return
	case k == i && word != "qx" && word != "x":
		return // no blank between: not a call
	}
	lit, ok := literal(t, i)
	if word == "qx" || i >= 2 && t[i-2:i] == "%x" {
		if end := strings.IndexAny(t[i+1:], "}/)]|!"); end > 0 && !ok {
			lit, ok = t[i+1:i+1+end], true
		}
		if ok {
			s.command(lit, true)
		}
		return
	}
	if !ok {
		return
	}
	if head := strings.TrimRight(t[:k], " "); word == "script" && (strings.HasSuffix(head, "do shell script") || strings.HasSuffix(head, "do script")) {
		s.command(lit, true)
		return
	}
	if p := find(word); p != nil {
		s.judge(p, []string{lit}, true, t[i:])
	}
}

// call looks at one call whose parenthesis stands at i.
func (s *scan) call(i int) {
	word := identifierBefore(s.text, i)
	if word == "" {
		return
	}
	p := find(word)
	if p == nil {
		s.globbed(word, i)
		return
	}
	args, all := arguments(s.text, i)
	s.judge(p, args, all, s.text[i:])
}

// find returns the pattern for a dotted name, or for its last parts.
func find(word string) *pattern {
	for i := range calls {
		n := calls[i].name
		if word == n {
			return &calls[i]
		}
		if len(word) > len(n) && strings.HasSuffix(word, n) {
			if b := word[len(word)-len(n)-1]; b == '.' || b == ':' {
				// cursor.execute, re.compile and regex.exec are something else.
				switch n {
				case "exec", "compile", "open", "eval", "system", "spawn", "unlink", "rmdir", "assert", "Path", "Function", "popen", "readFile":
					owner := word[:len(word)-len(n)-1]
					if !knownOwner(owner) && calls[i].kind != callSQL {
						continue
					}
				}
				return &calls[i]
			}
		}
	}
	return nil
}

func knownOwner(o string) bool {
	if i := strings.LastIndexAny(o, ".:)"); i >= 0 {
		o = o[i+1:]
	}
	switch o {
	case "os", "fs", "child_process", "cp", "subprocess", "Kernel", "io", "Process", "posix", "builtins", "__builtins__", "fsp", "promises", "codecs", "gzip", "File", "IO", "Dir", "proc", "sh", "":
		return true
	}
	return false
}

// globbed looks at patterns that a deleting call is given: unlink glob("/etc/*").
func (s *scan) globbed(word string, i int) {
	if word != "glob" && !strings.HasSuffix(word, ".glob") && !strings.HasSuffix(word, ".iglob") {
		return
	}
	deletes := false
	for _, w := range [...]string{"unlink", "File.delete", "os.remove", "rmtree", "rm_r", "rmSync", "FileUtils.rm"} {
		deletes = deletes || strings.Contains(s.text, w)
	}
	args, _ := arguments(s.text, i)
	if !deletes || len(args) == 0 {
		return
	}
	v := shell.Value{Text: expandHome(args[0])}
	if p := s.j.locateValue(&v, shell.Value{Text: s.j.w.Dir}, true); p.scope >= Outside {
		s.add(Delete, p.scope, ruleDelete(p.scope), args[0])
	}
}

// identifierBefore is the dotted name that ends at i. Call chains such as
// require('fs').rmSync yield .rmSync without the owner, with its last part kept.
func identifierBefore(t string, i int) string {
	k := i
	for k > 0 && i-k < 64 {
		c := t[k-1]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == ':' {
			k--
			continue
		}
		break
	}
	w := strings.Trim(t[k:i], ":")
	if strings.HasPrefix(w, ".") {
		// The owner is a call: require('child_process').exec, Path(x).unlink.
		w = w[1:]
		head := strings.TrimRight(t[:k], " ")
		if strings.HasSuffix(head, ")") {
			inner := head[max(0, len(head)-80):]
			switch {
			case strings.Contains(inner, "child_process"):
				return "child_process." + w
			case strings.Contains(inner, "fs") && strings.Contains(inner, "require"), strings.Contains(inner, "import("):
				return "fs." + w
			case strings.Contains(inner, "'os'") || strings.Contains(inner, `"os"`):
				return "os." + w
			case strings.Contains(inner, "shutil"):
				return "shutil." + w
			case strings.Contains(inner, "subprocess"):
				return "subprocess." + w
			}
		}
	}
	return w
}

// literal reads a string constant at i.
func literal(t string, i int) (string, bool) {
	if i >= len(t) {
		return "", false
	}
	raw := false
	for i < len(t) && (t[i] == 'r' || t[i] == 'b' || t[i] == 'f' || t[i] == 'u') && i+1 < len(t) && (t[i+1] == '"' || t[i+1] == '\'') {
		raw = raw || t[i] == 'r'
		i++
	}
	q := t[i]
	if q != '"' && q != '\'' && q != '`' {
		return "", false
	}
	if strings.HasPrefix(t[i:], `"""`) || strings.HasPrefix(t[i:], `'''`) {
		end := strings.Index(t[i+3:], t[i:i+3])
		if end < 0 {
			return "", false
		}
		return t[i+3 : i+3+end], true
	}
	var b strings.Builder
	for k := i + 1; k < len(t); k++ {
		switch t[k] {
		case '\\':
			if k+1 < len(t) {
				k++
				switch {
				case raw, letter(t[k]) && strings.IndexByte("abfnrtvxuUN01234567", t[k]) < 0:
					b.WriteByte('\\') // C:\Windows: most languages keep it
					b.WriteByte(t[k])
					continue
				}
				switch t[k] {
				case 'n':
					b.WriteByte('\n')
				case 't':
					b.WriteByte('\t')
				case 'x':
					if k+2 < len(t) {
						b.WriteByte(unhex(t[k+1])<<4 | unhex(t[k+2]))
						k += 2
					}
				default:
					b.WriteByte(t[k])
				}
			}
		case q:
			return b.String(), true
		default:
			b.WriteByte(t[k])
		}
	}
	return "", false
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10
	}
	return 0
}

// arguments reads the constants among the words of a call; all reports whether
// the first one is wholly constant.
func arguments(t string, open int) (out []string, all bool) {
	depth := 0
	all = true
	first := true
	after := false // right behind a constant: what follows is joined to it
	for k := open; k < len(t) && k-open < 8192; k++ {
		switch c := t[k]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
			if depth == 0 {
				return out, all && len(out) > 0
			}
		case '"', '\'', '`':
			lit, ok := literal(t, k)
			if !ok {
				return out, false
			}
			if strings.HasPrefix(t[k:], `"""`) || strings.HasPrefix(t[k:], `'''`) {
				k += len(lit) + 5
			} else {
				k = endOfLiteral(t, k)
			}
			// 'rm -rf ' + '/' is one constant.
			if len(out) > 0 && joinedBefore(t, open, k, lit) {
				out[len(out)-1] += lit
			} else {
				out = append(out, lit)
			}
			if c == '`' && strings.Contains(lit, "${") {
				all = false
			}
			first, after = false, true
		case ',':
			after = false
		case '+', '.', '%':
			if c == '%' || c == '+' && !first {
				next := strings.TrimLeft(t[k+1:min(len(t), k+40)], " ")
				if next != "" && next[0] != '"' && next[0] != '\'' && next[0] != '=' {
					all = false
				}
			}
		default:
			if after && (c == '$' || c >= 'a' && c <= 'z') && depth == 1 {
				all, after = false, false // awk joins by writing side by side
			}
			if first && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$') {
				// a variable or a call comes before any constant
				if word := wordAt(t, k); !strings.HasSuffix(word, "r") || len(word) > 1 {
					if k+len(word) < len(t) && (t[k+len(word)] == '"' || t[k+len(word)] == '\'') && len(word) <= 2 {
						continue
					}
					all = false
					k += len(word) - 1
					first = false
				}
			}
		}
	}
	return out, false
}

// variable is the name that a call gets as its first word, empty if that is more
// than a name.
func variable(head string) string {
	t := strings.TrimPrefix(strings.TrimLeft(strings.TrimPrefix(head, "("), " "), "$")
	n := 0
	for n < len(t) && letter(t[n]) {
		n++
	}
	if after := strings.TrimLeft(t[n:], " "); n == 0 || t[0] <= '9' || after == "" || after[0] != ',' && after[0] != ')' {
		return ""
	}
	return t[:n]
}

func wordAt(t string, k int) string {
	e := k
	for e < len(t) && (t[e] >= 'a' && t[e] <= 'z' || t[e] >= 'A' && t[e] <= 'Z' || t[e] == '_' || t[e] >= '0' && t[e] <= '9' || t[e] == '$' || t[e] == '.') {
		e++
	}
	if e == k {
		e = min(k+1, len(t))
	}
	return t[k:e]
}

func endOfLiteral(t string, k int) int {
	q := t[k]
	for k++; k < len(t); k++ {
		if t[k] == '\\' {
			k++
		} else if t[k] == q {
			return k
		}
	}
	return len(t)
}

// joinedBefore reports whether the constant that ends at k follows a + sign.
func joinedBefore(t string, open, end int, lit string) bool {
	k := end
	q := t[min(end, len(t)-1)]
	for k--; k > open && t[k] != q; k-- {
	}
	for k--; k > open && t[k] == ' '; k-- {
	}
	return k > open && (t[k] == '+' || t[k] == '.') && k > 0 && strings.ContainsAny(t[max(open, k-2):k], `"'`)
}

func (s *scan) locate(p string) place {
	v := shell.Value{Text: expandHome(p)}
	return s.j.locateValue(&v, shell.Value{Text: s.j.w.Dir}, false)
}

func expandHome(p string) string {
	for _, v := range [...]string{"$HOME", "${HOME}", "#{ENV['HOME']}", "#{Dir.home}", "%USERPROFILE%", "${process.env.HOME}"} {
		if strings.HasPrefix(p, v) {
			return "~" + p[len(v):]
		}
	}
	return p
}

// judge says what a call means.
func (s *scan) judge(p *pattern, args []string, all bool, rest string) {
	head := rest[:min(len(rest), 400)]
	switch p.kind {
	case callTree, callRemove:
		tree := p.kind == callTree
		if tree && strings.Contains(p.name, "fs.rm") && !strings.Contains(head, "recursive") && strings.Contains(p.name, "rm") && !strings.Contains(p.name, "rmdir") && len(args) > 0 && path.Ext(args[0]) != "" {
			tree = false
		}
		if len(args) == 0 || !all {
			switch {
			case strings.Contains(head, "expanduser(") || strings.Contains(head, "Path.home()") || strings.Contains(head, "homedir()") || strings.Contains(head, "Dir.home") || strings.Contains(head, "environ['HOME']") || strings.Contains(head, `environ["HOME"]`) || strings.Contains(head, "ENV['HOME']") || strings.Contains(head, "env.HOME") || strings.Contains(head, `ENV["HOME"]`):
				scope := Outside
				if wholeHome(head) || len(args) == 0 || args[0] == "~" || args[0] == "HOME" {
					scope = Home
				}
				if len(args) > 0 && args[0] != "~" {
					if pl := s.locate(args[0]); pl.scope >= Home {
						scope = pl.scope
					}
				}
				s.add(Delete, scope, ruleDelete(scope), p.name)
				return
			case len(args) > 0 && strings.HasPrefix(args[0], "/"):
				if pl := s.locate(args[0]); pl.scope >= Home {
					s.add(Delete, pl.scope, ruleDelete(pl.scope), args[0])
					return
				}
			}
			if name := variable(head); tree && name != "" {
				if values, known := s.bound(name); known {
					for _, v := range values {
						s.judge(p, []string{v}, true, rest)
					}
					return
				}
			}
			if own := head[:callEnd(head)]; tree && !strings.Contains(own, "mkdtemp") && !strings.Contains(own, "tmpdir") && len(args) == 0 {
				s.add(Delete, Unknown, "code-delete-unknown", p.name+"(…)")
			}
			return
		}
		for n, a := range args {
			if n > 0 && (strings.Contains(a, "recursive") || a == "force" || !strings.ContainsAny(a, "/~.\\")) {
				continue
			}
			pl := s.locate(a)
			switch {
			case s.j.agentFile(pl.path):
				s.add(AgentConfig, AnyScope, "agent-config", a)
			case pl.scope == Temp || pl.scope == Build || pl.scope == Ignored:
			case strings.HasSuffix(pl.path, "/.git"):
				s.add(RepoDestroy, AnyScope, "delete-git-folder", a)
			case pl.scope >= Outside || pl.scope == ProjectRoot && tree:
				s.add(Delete, pl.scope, ruleDelete(pl.scope), a)
			case tree:
				arg := shell.Arg{Value: shell.Value{Text: a}}
				s.add(Delete, s.j.projectDelete(&arg, pl), "delete-project-folder", a)
			}
			if strings.Contains(p.name, "fs") || p.name == "shutil.rmtree" {
				break
			}
		}
	case callShell:
		if len(args) == 0 || s.lang == "sql" {
			return
		}
		if p.name == "exec" {
			s.statement(args, all)
		}
		if p.name == "exec" && (s.lang == "python" || s.lang == "lua" || s.lang == "vim") {
			s.eval(p, args, head)
			return
		}
		if p.name == "getline" {
			return
		}
		if !all && len(args) > 0 {
			s.command(args[0], false)
			return
		}
		if len(args) > 1 && (s.lang == "perl" || s.lang == "ruby") {
			s.command(quoteJoin(args), true)
			return
		}
		s.command(args[0], true)
	case callArgv:
		if len(args) == 0 {
			return
		}
		if strings.Contains(head, "shell=True") || strings.Contains(head, "shell: true") || len(args) == 1 && strings.ContainsAny(args[0], " ;|&") {
			s.command(args[0], all)
			return
		}
		s.command(quoteJoin(args), all)
	case callWrite, callRead:
		if len(args) == 0 {
			return
		}
		pl := s.locate(args[0])
		writes := p.kind == callWrite
		if p.kind == callRead {
			mode := ""
			if len(args) > 1 {
				mode = args[1]
			}
			if s.lang == "perl" && strings.HasPrefix(args[0], ">") { // open(F, ">>", NAME), open(F, ">>NAME")
				mode = ">"
				if args[0] = strings.TrimLeft(args[0], "> "); args[0] == "" && len(args) > 1 {
					args = args[1:]
				}
				pl = s.locate(args[0])
			}
			writes = strings.ContainsAny(mode, "wa+x>") && len(mode) <= 4 || strings.HasPrefix(mode, ">") || (p.name == "Path" || p.name == "pathlib.Path") && (strings.Contains(head, ".write_") || strings.Contains(head, ".unlink(") || strings.Contains(head, ".rmdir("))
			if strings.HasSuffix(p.name, "Path") {
				s.below(args[0], rest)
			}
			if (p.name == "Path" || p.name == "pathlib.Path") && !strings.Contains(head, ".read_") && !strings.Contains(head, ".open") && !writes {
				return
			}
		}
		if strings.HasPrefix(p.name, "shutil.copy") || p.name == "fs.copyFileSync" {
			if s.j.secret(pl.path) == secretKey {
				s.add(SecretRead, AnyScope, "secret-read", args[0])
			}
			if len(args) < 2 {
				return
			}
			pl = s.locate(args[1])
		}
		if pl.path == "" || !all && p.name != "open" && !strings.Contains(head, "expanduser") {
			return
		}
		if writes {
			leaf := shell.Leaf{Offset: s.from, End: s.to}
			c := call{j: s.j, l: &leaf}
			if s.script {
				return
			}
			if (p.name == "Path" || p.name == "pathlib.Path") && (strings.Contains(head, ".unlink(") || strings.Contains(head, ".rmdir(")) {
				if pl.scope >= Outside && !(lists(rest) && s.locate(args[0]+"/x").scope == Temp) {
					s.add(Delete, pl.scope, ruleDelete(pl.scope), args[0])
				}
				return
			}
			s.j.writePlace(&c, pl, false)
			return
		}
		switch s.j.secret(pl.path) {
		case secretKey, secretCert:
			s.add(SecretRead, AnyScope, "secret-read", args[0])
			if s.network() {
				s.add(Exfiltrate, AnyScope, "exfiltrate", args[0])
			}
		case secretLocal:
			s.add(SecretRead, Private, "env-read", args[0])
			if s.network() {
				s.add(Exfiltrate, AnyScope, "exfiltrate", args[0])
			}
		case notSecret:
			if privateFile(s.j.w.Home, pl.path) && s.network() {
				s.add(Exfiltrate, AnyScope, "exfiltrate", args[0])
			}
		}
	case callEval:
		s.eval(p, args, head)
	case callLink:
		s.writes(args, all, 1)
	case callMove:
		s.writes(args, all, 1)
		if len(args) > 0 && all {
			if pl := s.locate(args[0]); pl.scope >= Home {
				s.add(MoveAway, pl.scope, "move-away", args[0])
			}
		}
	case callChmod:
		if i := strings.IndexByte(head, ','); i > 0 && !s.script { // 0o4755: the constants are strings alone
			if mode := strings.TrimLeft(strings.TrimLeft(head[i+1:min(len(head), i+16)], " "), "0o"); len(mode) > 4 && setsID(mode[:4]) && mode[0] < '8' {
				s.add(Permission, System, "setuid", p.name+head[:i])
			}
		}
		if len(args) > 0 {
			for _, a := range args {
				if !strings.ContainsAny(a, "/~") {
					continue
				}
				if pl := s.locate(a); pl.scope >= Home {
					s.add(Permission, pl.scope, "chmod-system", a)
				}
			}
		}
	case callSQL:
		s.statement(args, all)
	case callPower:
		if strings.HasPrefix(head, "(-1") || strings.HasPrefix(head, "(1,") {
			s.add(KillAll, AnyScope, "kill-all", "os.kill"+head[:min(len(head), 10)])
		}
	}
}

// statement judges what a database is told by a call.
func (s *scan) statement(args []string, all bool) {
	if len(args) == 0 || s.script || strings.Contains(s.text, ":memory:") {
		return
	}
	switch first, _, _ := strings.Cut(strings.TrimLeft(args[0], " \t\r\n"), " "); strings.ToUpper(first) {
	case "DROP", "TRUNCATE":
		s.j.sql(args[0], s.from, s.to)
	case "DELETE", "UPDATE", "ALTER", "WITH", "DO":
		if all { // else the condition may be what is not known
			s.j.sql(args[0], s.from, s.to)
		}
	}
}

// wholeHome reports whether the first word of a call is the home folder itself, as a
// call tells it: (os.homedir(), …).
func wholeHome(head string) bool {
	for _, w := range [...]string{"homedir()", "Path.home()", "Dir.home"} {
		if i := strings.Index(head, w); i >= 0 && i+len(w) < len(head) && !strings.ContainsAny(head[:i], "+,/") && strings.Count(head[:i], "join") == 0 {
			return head[i+len(w)] == ',' || head[i+len(w)] == ')'
		}
	}
	return false
}

// lists reports whether a Path, from its parenthesis on, is asked for what is in it.
func lists(rest string) bool {
	chain := rest[callEnd(rest[:min(len(rest), 400)]):]
	return strings.HasPrefix(chain, ".glob(") || strings.HasPrefix(chain, ".rglob(") || strings.HasPrefix(chain, ".iterdir(")
}

// below judges a line that deletes what is in a folder: [p.unlink() for p in
// Path("x").iterdir()].
func (s *scan) below(dir, rest string) {
	if !lists(rest) {
		return
	}
	at := len(s.text) - len(rest)
	line := s.text[max(0, at-400):at]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if pl := s.locate(dir + "/x"); pl.scope >= Outside && (strings.Contains(line, ".unlink(") || strings.Contains(line, ".rmdir(") || strings.Contains(line, "rmtree(") || strings.Contains(line, "os.remove(")) {
		s.add(Delete, pl.scope, ruleDelete(pl.scope), dir)
	}
}

// writes judges argument n as a file that is made.
func (s *scan) writes(args []string, all bool, n int) {
	if n >= len(args) || !all || s.script || !strings.ContainsAny(args[n], "/~") {
		return
	}
	leaf := shell.Leaf{Offset: s.from, End: s.to}
	s.j.writePlace(&call{j: s.j, l: &leaf}, s.locate(args[n]), false)
}

// eval judges program text that is run: what was downloaded or decoded is refused.
func (s *scan) eval(p *pattern, args []string, head string) {
	if p.name == "assert" || p.name == "Function" || p.name == "compile" {
		if s.lang != "php" && p.name == "assert" || s.lang != "node" && p.name == "Function" || s.lang != "python" && p.name == "compile" {
			return
		}
	}
	end := len(head)
	arg := head[:end]
	switch {
	case strings.Contains(arg, "urlopen") || strings.Contains(arg, "requests.get") || strings.Contains(arg, "fetch(") || strings.Contains(arg, "http.get") || strings.Contains(arg, "Net::HTTP") || strings.Contains(arg, "URI.open") || strings.Contains(arg, "file_get_contents") && strings.Contains(arg, "http") || strings.Contains(arg, "LWP::") || strings.Contains(arg, "open-uri") || strings.Contains(arg, "httpx.get") || strings.Contains(arg, "axios"):
		s.add(RemoteExec, AnyScope, "download-into-interpreter", s.lang)
	case strings.Contains(arg, "b64decode") || strings.Contains(arg, "base64") || strings.Contains(arg, "atob(") || strings.Contains(arg, "fromhex") || strings.Contains(arg, "decode64") || strings.Contains(arg, "unhexlify") || strings.Contains(arg, "zlib.decompress") || strings.Contains(arg, "codecs.decode") || strings.Contains(arg, "unpack") || strings.Contains(arg, "str_rot13") || strings.Contains(arg, "fromCharCode") || strings.Contains(arg, "marshal.loads") || strings.Contains(arg, "chr("):
		s.add(Opaque, AnyScope, "decoded-into-interpreter", s.lang)
	case len(args) > 0 && len(args[0]) > 8 && s.j.depth < 4:
		inner := scan{j: s.j, text: args[0], from: s.from, to: s.to, script: s.script, lang: s.lang}
		s.j.depth++
		if s.j.depth == 1 {
			s.j.at, s.j.end = s.from, s.to
		}
		inner.run()
		s.j.depth--
	}
}

func quoteJoin(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("'" + strings.ReplaceAll(a, "'", `'\''`) + "'")
	}
	return b.String()
}

// command judges command text that a program runs; whole is false when only its
// beginning is known.
func (s *scan) command(text string, whole bool) {
	if s.j.depth >= 6 || len(text) < 2 {
		return
	}
	before := len(s.j.out)
	d := shell.POSIX
	if strings.HasPrefix(text, "powershell") {
		d = shell.Bash
	} else if s.j.windowsText() {
		d = shell.Cmd
	}
	s.j.inner(text, d, s.from, s.to)
	if !whole {
		// The rest may be anything: what begins like a recursive delete is one
		// of something unknown.
		f := strings.Fields(text)
		if len(f) > 0 && (path.Base(f[0]) == "rm" || f[0] == "sudo") && strings.Contains(text, "-r") && len(s.j.out) == before {
			s.add(Delete, Unknown, "code-delete-unknown", text)
		}
	}
	if s.script {
		kept := s.j.out[:before]
		for _, h := range s.j.out[before:] {
			switch {
			case h.Effect == Delete && (h.Scope < Home || h.Scope == RootUnknown):
			case h.Effect == Elevate, h.Effect == Opaque, h.Effect == Unjudged, h.Effect == SecretRead, h.Effect == DiscardWork, h.Effect == Service, h.Effect == Publish, h.Effect == GlobalInstall, h.Effect == Apply, h.Effect == TrustDown, h.Effect == ContainerWipe, h.Effect == Exfiltrate, h.Effect == Listen, h.Effect == ProcessKill:
			default:
				kept = append(kept, h)
			}
		}
		s.j.out = kept
	}
}

// network reports whether the text sends something somewhere.
func (s *scan) network() bool {
	return containsAny(s.text, "requests.post", "requests.get", "requests.put", "urlopen", "urllib", "http.client", "httpx.", "socket", "fetch(", "axios", "http.request", "https.request", "Net::HTTP", "curl_", "LWP::", "IO::Socket", "TCPSocket", "open-uri", "smtplib", "ftplib", "paramiko", "net.connect", "aiohttp", "fsockopen", "WebSocket", "boto3")
}

// whole judges marks that count anywhere in the text.
func (s *scan) whole() {
	t := s.text
	has := func(words ...string) bool {
		for _, w := range words {
			if !strings.Contains(t, w) {
				return false
			}
		}
		return true
	}
	switch {
	case has("socket", "connect", "dup2"), has("socket", "connect", "pty.spawn"), has("socket", "connect", "subprocess") && (has("/bin/sh") || has("/bin/bash") || has("cmd.exe")),
		has("TCPSocket", "exec") && (has("/bin/sh") || has("/bin/bash")), has("IO::Socket", "STDIN", "exec"), has("Socket", "STDIN", "exec", "/bin/sh"), has("fsockopen", "exec", "/bin/sh"), has("fsockopen", "proc_open"), has("fsockopen") && has("/bin/sh"),
		has("net.Socket", "child_process") && has("connect"), has("child_process", "connect(", "/bin/sh"), has("child_process", "connect(", "/bin/bash"), has("net.connect", "/bin/sh"), has("net.createConnection", "child_process"), has("socket.socket", "/bin/sh"), has("socket.tcp", "io.popen"), has("/inet/tcp/"),
		has("TCPSocket", "/bin/sh"), has("TCPSocket.new", "popen"):
		s.add(ReverseShell, AnyScope, "reverse-shell", s.lang)
	case s.lang == "awk" && has("/inet/"), !s.script && shellOnSocket(s.lang, t):
		s.add(ReverseShell, AnyScope, "reverse-shell", s.lang)
	}
	if !s.script && runsFetched(s.lang, t) {
		s.add(RemoteExec, AnyScope, "download-into-interpreter", s.lang)
	}
	if s.lang == "awk" && s.leaf >= 0 && !s.script && has("system($") {
		for from := range s.j.f.Feeders(s.leaf) {
			if l := &s.j.f.Leaves[from]; downloads(l.Name) || hasNetPath(l) {
				s.add(RemoteExec, AnyScope, "download-into-interpreter", s.lang)
				break
			}
		}
	}
	if s.lang != "awk" && !s.script {
		if has("os.fork()", "while True") || has("os.fork", "while 1") || has("fork while") || has("fork()", "while(1)") || has("loop", "fork {") || has("while (true)", "fork(") || has("while(true)", "spawn(process") {
			s.add(ForkBomb, AnyScope, "fork-bomb", s.lang)
		}
		if (has("os.environ") || has("process.env") || has("ENV.to_h") || has("%ENV") || has("getenv()")) && s.network() && (has("post") || has("POST") || has("data=") || has("body:") || has("urlopen(")) {
			if has("dict(os.environ)") || has("str(os.environ)") || has("json.dumps(os.environ") || has("os.environ)") || has("JSON.stringify(process.env") || has("ENV.to_h") || has("%ENV") {
				s.add(Exfiltrate, AnyScope, "exfiltrate", "the environment")
			}
		}
	}
	if w := emptiesStore(t); !s.script && w != "" {
		s.add(DatabaseDestroy, One, "database-delete", w)
	}
	if !s.script && printsEnvironmentText(s.lang, t) && (s.leaf < 0 || s.j.shown(s.leaf, 0)) {
		s.add(SecretRead, Private, "env-print", "the environment")
	}
	if s.lang == "osascript" || s.lang == "applescript" {
		low := strings.ToLower(t)
		if strings.Contains(low, "empty trash") || strings.Contains(low, "empty the trash") {
			s.add(Delete, Outside, "delete-outside", "the trash")
		}
		if strings.Contains(low, "shut down") || strings.Contains(low, "restart") && strings.Contains(low, "system events") {
			s.add(Power, AnyScope, "power", "osascript")
		}
		if strings.Contains(low, "delete") && strings.Contains(low, "finder") && (strings.Contains(low, "home") || strings.Contains(low, "every") || strings.Contains(low, "desktop") || strings.Contains(low, "document")) {
			s.add(Delete, Home, "delete-home", "Finder")
		}
		if strings.Contains(low, "with administrator privileges") {
			s.add(Elevate, AnyScope, "sudo", "with administrator privileges")
		}
		if strings.Contains(low, "display dialog") && strings.Contains(low, "password") || strings.Contains(low, "hidden answer") {
			s.add(SecretRead, AnyScope, "secret-read", "a dialog that asks for a password")
		}
		if strings.Contains(low, "login item") {
			s.add(Persistence, AnyScope, "launch-agent", "login item")
		}
	}
	if s.lang == "python" && has("__import__('os').system") {
		if i := strings.Index(t, "__import__('os').system("); i >= 0 {
			if args, all := arguments(t, i+len("__import__('os').system")); len(args) > 0 {
				s.command(args[0], all)
			}
		}
	}
	// A path that joins on to a Path: Path('/x') and then a deleting method.
	if (has(".unlink(") || has(".rmdir(")) && has("glob(") && !s.script {
		for _, root := range [...]string{"Path('/')", `Path("/")`, "Path.home()", "Path('/etc", "Path('/home", "Path('~')"} {
			if has(root) {
				s.add(Delete, Home, "delete-home", root)
			}
		}
	}
}

// emptiesStore returns the call by which program text deletes all of a table, a
// collection or a store, empty if there is none.
func emptiesStore(t string) string {
	if len(t) < 9 {
		return ""
	}
	low := strings.ToLower(strings.ReplaceAll(t, " ", ""))
	for _, w := range [...]string{".flushall()", ".flushdb()", ".dropdatabase()", ".drop_database(", ".drop_all(", ".drop_collection(", ".deletemany()", ".deletemany({})", ".delete_many({})", ".objects.filter().delete()", "queue.new.clear", "retryset.new.clear", "deadset.new.clear", "drop_table"} {
		if strings.Contains(low, w) {
			return w
		}
	}
	if strings.Contains(low, "where") || strings.Contains(low, "filter") {
		return ""
	}
	for _, w := range [...]string{".delete_all", ".destroy_all", ".objects.all().delete()", "::truncate()", "->truncate()", "query()->delete()"} {
		if strings.Contains(low, w) {
			return w
		}
	}
	if strings.Contains(low, "db::table(") && strings.Contains(low, ")->delete()") {
		return "->delete()"
	}
	if strings.Contains(low, ".query(") && strings.Contains(low, ").delete()") {
		return ".delete()"
	}
	return ""
}

// runsFetched reports whether program text runs what it fetches, however it gets
// from one to the other.
func runsFetched(lang, t string) bool {
	some := func(words ...string) bool { return containsAny(t, words...) }
	switch lang {
	case "python":
		return some("exec(") && some("urlopen(", "requests.get(", "httpx.get(", "requests').get(", `requests").get(`) && !some(".exec(")
	case "node":
		return some("eval(", "(eval)", "new Function(", "vm.runIn") && some("fetch(", "http.get(", "https.get(", "axios", "http').get(", `http").get(`, "https').get(", `https").get(`) ||
			some("import('http", `import("http`)
	case "r":
		return some(`source("http`, "source('http", "source(url(")
	case "julia":
		return some("include(download(")
	case "groovy":
		return some("evaluate(new URL(", "new GroovyShell().evaluate(") && some("URL(")
	case "ruby":
		return some("eval ", "eval(") && some("URI.open", "Net::HTTP.get")
	case "perl":
		return some("eval get", "eval(get", "eval LWP", "eval $ua")
	case "php":
		for _, w := range [...]string{"include", "include_once", "require", "require_once"} {
			if some(w+` "http`, w+" 'http", w+`("http`, w+"('http") {
				return true
			}
		}
	}
	return false
}

// shellOnSocket reports whether program text opens a connection or waits for one,
// and starts a shell or runs what it is sent.
func shellOnSocket(lang, t string) bool {
	some := func(words ...string) bool { return containsAny(t, words...) }
	if !some("socket", "Socket", "AF_INET", "PF_INET", "TCPServer", "fsockopen", "net.connect", "net.createConnection", "createServer(", "Deno.connect", "Deno.listen", "Bun.connect", "Bun.listen", "net.Dial", "net.Listen") {
		return false
	}
	if some("recv", "receive", "socket_read", "gets", "fgets", "<>", "stdin") && (some("shell_exec($", "system($", "exec($", "passthru($", "popen($", "IO.popen($_", "io.popen(r", "system$_", "os.popen(", "exec sh -c $", "eval $") ||
		lang == "lua" && some("os.execute(", "io.popen(")) {
		return true
	}
	if !some("exec", "spawn", "system", "popen", "call(", ".run(", "Command", "ProcessBuilder", "proc_open") {
		return false
	}
	for _, name := range [...]string{"/bin/sh", "/bin/bash", "/bin/zsh", "/bin/dash", "sh", "bash", "zsh", "cmd.exe", "cmd", "powershell"} {
		for _, q := range [...]string{`"`, "'"} {
			for rest := t; ; {
				i := strings.Index(rest, q+name)
				if i < 0 {
					break
				}
				rest = rest[i+1+len(name):]
				if interactive(rest, q) {
					return true
				}
			}
		}
	}
	return false
}

// interactive reports whether a shell whose name ends before rest, in a constant in
// the quote q, is started by itself: with a script behind it, it runs that.
func interactive(rest, q string) bool {
	if strings.HasPrefix(rest, " -i") {
		return true
	}
	rest, ok := strings.CutPrefix(rest, q)
	if !ok {
		return false
	}
	next, more := strings.CutPrefix(strings.TrimLeft(rest, " [,"), q)
	return !more || strings.HasPrefix(next, "-i") || strings.HasPrefix(next, "sh"+q) || strings.HasPrefix(next, "bash"+q)
}

// awkFiles judges the files that print > "name" makes and getline < "name" reads.
func (s *scan) awkFiles() {
	if s.leaf < 0 {
		return
	}
	c := call{j: s.j, i: s.leaf, l: &s.j.f.Leaves[s.leaf]}
	for rest := s.text; ; {
		i := strings.IndexAny(rest, "<>")
		if i < 0 || s.j.late(s.from, s.to) {
			return
		}
		reads := rest[i] == '<'
		rest = rest[i+1:]
		t := strings.TrimLeft(rest[:min(len(rest), maxJoined)], "> \t")
		name, ok := literal(t, 0)
		if v := wordAt(t, 0); !ok && t != "" && letter(t[0]) {
			name, ok = s.awkVariable(v)
		}
		if !ok || !strings.Contains(name, "/") {
			continue
		}
		if p := s.locate(name); reads {
			s.j.readPlace(&c, p)
		} else {
			s.j.writePlace(&c, p, true)
		}
	}
}

// awkVariable is the value that -v gives a variable.
func (s *scan) awkVariable(name string) (string, bool) {
	argv := s.j.f.Leaves[s.leaf].Argv
	for i := 1; i < len(argv); i++ {
		t := argv[i].Text
		if t == "-v" || t == "--assign" {
			continue
		}
		if v, ok := strings.CutPrefix(strings.TrimPrefix(t, "-v"), name+"="); ok {
			return v, true
		}
	}
	return "", false
}
