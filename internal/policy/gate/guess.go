package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// A program that nobody here knows may start what it is given: perf stat CMD,
// tool exec -- CMD, tool --command 'CMD'. Likewise a constant in program text may
// become a command by ways that a scan does not follow: another name for a
// module, a list of words, a sum of letters. Both are guesses, so only what is a
// catastrophe counts, and only where the words are plainly a command.

// talkers are programs whose words are text to show, to look for or to store.
func talker(name string) bool {
	switch name {
	case "echo", "printf", "print", "true", "false", ":", "test", "[", "expr", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "sed", "gsed",
		"jq", "yq", "git", "gh", "glab", "hub", "jj", "svn", "hg", "man", "info", "apropos", "whatis", "tldr", "cheat", "which", "whereis", "type", "help", "logger", "wall", "write",
		"cowsay", "figlet", "toilet", "lolcat", "say", "espeak", "banner", "notify-send", "zenity", "set", "alias", "export", "lidguard", "explainshell",
		"shellcheck", "bat", "less", "more", "cat", "diff", "history", "fc", "basename", "dirname", "tee", "curl", "wget", "http", "write-host", "write-output":
		return true
	}
	return false
}

// commandOption tells options whose value most programs take for a command.
func commandOption(t string) bool {
	switch t {
	case "-c", "-C", "-e", "-x", "-ex", "-E", "--command", "--exec", "--run", "--cmd", "--eval", "--call", "-command", "-exec", "-eval", "--script", "--scripts", "--execute", "--commands":
		return true
	}
	return false
}

// runsElsewhere tells programs that give a word to a shell of another machine.
func runsElsewhere(name string, argv []string) bool {
	switch name {
	case "pssh", "parallel-ssh", "pdsh", "dsh", "clush", "salt", "salt-ssh", "bolt":
		return true
	case "heroku", "dokku", "scalingo", "railway", "eb", "platform", "upsun":
		return argv[1] == "run" || argv[1] == "run:detached" || argv[1] == "ssh"
	}
	return false
}

// grave reports whether words begin a command that could be a catastrophe.
func grave(words []string) bool {
	if len(words) > 1 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) < 2 {
		return false
	}
	name := words[0]
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	some := func(ok func(string) bool) bool {
		for _, w := range words[1:min(len(words), 16)] {
			if ok(w) {
				return true
			}
		}
		return false
	}
	short := func(letters string) func(string) bool {
		return func(w string) bool {
			return len(w) > 1 && w[0] == '-' && (w[1] != '-' && strings.ContainsAny(w, letters) || w == "--recursive")
		}
	}
	switch name {
	case "rm", "chmod", "chown", "chgrp":
		return some(short("rR"))
	case "sh", "bash", "zsh", "dash", "ksh", "ash":
		return some(short("c"))
	case "cmd", "cmd.exe":
		return some(func(w string) bool { return strings.EqualFold(strings.TrimLeft(w, "/"), "c") && w[0] == '/' })
	case "powershell", "powershell.exe", "pwsh":
		return some(func(w string) bool { return len(w) > 1 && w[0] == '-' && strings.ContainsAny(w[1:2], "cCeE") })
	case "dd":
		return some(func(w string) bool { return strings.HasPrefix(w, "of=") })
	case "shred", "wipefs", "mke2fs", "mkswap", "blkdiscard":
		return some(func(w string) bool { return strings.HasPrefix(w, "/") })
	case "find":
		return some(func(w string) bool { return w == "-delete" || w == "-exec" })
	}
	return strings.HasPrefix(name, "mkfs") && some(func(w string) bool { return strings.HasPrefix(w, "/") })
}

// guess judges the words of a program that nobody knows.
func (j *judge) guess(c *call, name string) {
	for i := range c.l.Assigns {
		if a := &c.l.Assigns[i]; a.Value.Text != "" && strings.IndexByte(a.Value.Text, ' ') > 0 && c.l.Flags&shell.AssignOnly == 0 {
			if !j.settingText(c, a.Value.Text) {
				return
			}
		}
	}
	if c.l.Flags&shell.Builtin != 0 || talker(name) {
		return
	}
	if len(c.l.Argv) > 0 && c.l.Runs.Empty() {
		j.typedEscapes(c)
	}
	if len(c.l.Argv) < 2 || grave(c.argv()) {
		return
	}
	argv := c.argv()
	for _, t := range argv[1:] {
		if key, v, ok := strings.Cut(t, "="); ok && strings.IndexByte(v, ' ') > 0 && !prose(key) {
			if !j.settingText(c, v) {
				return
			}
		}
	}
	if c.l.Runs.To > c.l.Runs.From {
		return
	}
	remote := runsElsewhere(name, argv)
	tries := 0
	for k := 1; k < len(argv) && tries < 4; k++ {
		switch t := argv[k]; {
		case len(t) > 4 && strings.IndexByte(t, ' ') > 0 && (remote || commandOption(argv[k-1])):
			if f := strings.Fields(strings.TrimLeft(t, "!: ")); grave(f) {
				tries++
				j.catastrophe(strings.TrimLeft(t, "!: "), c.l.Offset, c.l.End)
			}
		case grave(argv[k:]):
			tries++
			j.catastrophe(quoteJoin(argv[k:]), c.l.Offset, c.l.End)
		}
	}
}

// typedEscapes judges what many programs that read commands take for a shell's:
// !CMD, shell CMD.
func (j *judge) typedEscapes(c *call) {
	in := c.l.Stdin.Text
	if in == nil || len(in.Text) > maxJoined {
		return
	}
	for line := range strings.SplitSeq(in.Text, "\n") {
		line = strings.TrimSpace(line)
		for _, p := range [...]string{"!", "shell ", "sh "} {
			if cmd, ok := strings.CutPrefix(line, p); ok && grave(strings.Fields(cmd)) {
				j.catastrophe(strings.TrimSpace(cmd), c.l.Offset, c.l.End)
			}
		}
	}
}

// settingText judges the value of a variable or an option that some program reads:
// LESSOPEN, make's CC=, --rsync-path=, a runner of cargo. It reports false when the time is used up.
func (j *judge) settingText(c *call, v string) bool {
	if v = strings.TrimLeft(v, "|!`$([\"' "); grave(strings.Fields(v)) {
		j.catastrophe(strings.TrimRight(v, "`)]\"' "), c.l.Offset, c.l.End)
		return !j.late(c.l.Offset, c.l.End)
	}
	return true
}

// prose tells options that take text for people.
func prose(key string) bool {
	switch strings.TrimLeft(key, "-") {
	case "m", "message", "msg", "title", "summary", "description", "desc", "body", "note", "notes", "comment", "subject", "text", "name", "label", "prompt", "reason", "query", "search", "grep", "pattern", "data":
		return true
	}
	return false
}

// catastrophe judges text as a command and keeps what even the relaxed profile
// refuses.
func (j *judge) catastrophe(text string, from, to int) {
	if j.depth >= 4 || j.late(from, to) {
		return
	}
	if j.depth == 0 {
		j.at, j.end = from, to
	}
	g := judge{cfg: j.cfg, w: j.w, depth: j.depth + 1, at: j.at, end: j.end}
	g.command(text, shell.POSIX)
	for _, h := range g.out {
		if worst(h.Effect, h.Scope) || h.Rule == "command-over-limit" {
			j.addAt(h.Effect, h.Scope, h.Rule, h.Target, from, to)
		}
	}
}

// worst reports whether the shipped table calls an effect on a scope a catastrophe.
func worst(e Effect, s Scope) bool {
	var hit Row
	for _, r := range table {
		if r.Effect == e && (r.Scope == AnyScope || r.Scope == s) {
			hit = r
		}
	}
	return hit.Catastrophe
}

// constants judges what the constants of inline program text spell: one after the
// other in a list they are words of a command, joined they are its text.
func (s *scan) constants() {
	groups, code := s.read()
	runs, reads, writes := runsThings(code, s.lang), readsFiles(code), writesFiles(code, groups)
	if low := strings.ToLower(s.text); !strings.Contains(low, "home") && !strings.Contains(low, "expanduser") && !strings.Contains(low, ">/") && !strings.Contains(low, "> /") {
		writes = false // in no home folder
	}
	for n, g := range groups {
		if n&63 == 63 && s.j.late(s.from, s.to) {
			return
		}
		if g.gone {
			if pl := s.locate(g.words[0]); pl.scope >= Home {
				s.add(Delete, pl.scope, ruleDelete(pl.scope), g.words[0])
			}
		}
		if reads {
			s.secretIn(g)
		}
		if writes {
			s.startUpIn(g)
		}
		if !runs {
			continue
		}
		if len(g.words) == 1 {
			text := strings.Trim(g.words[0], " |!")
			if !g.shown && grave(strings.Fields(strings.TrimPrefix(text, "sudo "))) {
				s.j.catastrophe(text, s.from, s.to)
			}
		} else if grave(g.words) {
			s.j.catastrophe(quoteJoin(g.words), s.from, s.to)
		}
	}
}

// secretIn looks for a key's name among constants: joined to a home folder that is
// not known, as in Path.home() / '.ssh' / 'id_rsa'.
func (s *scan) secretIn(g constantGroup) {
	if g.shown || len(g.words) > 8 {
		return
	}
	p := strings.Join(g.words, "/")
	if len(p) > 256 || strings.ContainsAny(p, " \n") {
		return
	}
	for _, dir := range [...]string{".ssh/", ".aws/", ".gnupg/", ".kube/", ".docker/", ".config/gh/", ".netrc", ".pgpass", ".git-credentials"} {
		if i := strings.Index(p, dir); i == 0 || i > 0 && p[i-1] == '/' {
			if secretPath(s.j.w.Home, s.j.w.Home+"/"+p[i:]) == secretKey {
				s.add(SecretRead, AnyScope, "secret-read", p)
				if s.network() {
					s.add(Exfiltrate, AnyScope, "exfiltrate", p)
				}
			}
			return
		}
	}
}

// startUpIn looks for a start-up file's name among constants, likewise joined to a
// home folder. What follows it is text to write.
func (s *scan) startUpIn(g constantGroup) {
	if g.shown || s.j.w.Home == "" {
		return
	}
	for n := range g.words[:min(len(g.words), 4)] {
		p, opened := strings.Join(g.words[:n+1], "/"), false
		if i := strings.LastIndexByte(p, '>'); i >= 0 { // Perl's ">>NAME"
			p, opened = strings.TrimLeft(p[i+1:], " "), true
		}
		i := strings.IndexByte(p, '.')
		if len(p) > 256 || strings.ContainsAny(p, " \n") || i < 0 || i > 0 && p[i-1] != '/' || i > 1 && !strings.ContainsAny(p[:1], "/~$#") {
			continue
		}
		at := s.j.w.Home + "/" + p[i:]
		if i > 1 && p[0] == '/' { // a whole path, which the call that it is given to is judged by
			if at = p; !opened {
				return
			}
		}
		if rule := persistent(s.j.w.Home, at); rule != "" {
			s.add(Persistence, AnyScope, rule, p)
			return
		}
	}
}

// writesFiles reports whether program text writes a file, by its calls or by a
// constant that says how one is opened.
func writesFiles(code string, groups []constantGroup) bool {
	low := strings.ToLower(code)
	if containsAny(low, "write", "append", "symlink", "rename", "spew", "file_put_contents") {
		return true
	}
	for _, g := range groups {
		for _, w := range g.words {
			if strings.HasPrefix(w, ">") || w != "" && len(w) < 4 && strings.ContainsAny(w[:1], "aw") && strings.Trim(w[1:], "b+t") == "" {
				return true
			}
		}
	}
	return false
}

// readsFiles reports whether program text, its constants left out, reads a file.
func readsFiles(code string) bool {
	low := strings.ToLower(code)
	return containsAny(low, "read", "open", "slurp", "load", "file(", "cat(", "file-contents")
}

// constantGroup are constants with nothing but joints between them.
type constantGroup struct {
	words []string
	shown bool // what is called with them prints
	gone  bool // what is called with them deletes a folder
}

// maxJoined bounds a constant put together from parts: no command is longer.
const maxJoined = 4096

// read reads the constants of program text, and the text without them.
func (s *scan) read() (groups []constantGroup, code string) {
	t, lang := s.text, s.lang
	var open [256]bool // quotes that nothing closes from here on
	var rest strings.Builder
	var g constantGroup
	joined, listed := false, false // how the next constant would follow the last one
	end := func() {
		if len(g.words) > 0 {
			groups = append(groups, g)
		}
		g, joined, listed = constantGroup{}, false, false
	}
	word := func(lit string) {
		switch {
		case len(g.words) == 0:
			head := strings.TrimRight(rest.String()[max(0, rest.Len()-40):], " ([{,'\"`")
			g.shown = prints(identifierBefore(head, len(head)))
			g.gone = strings.HasSuffix(head, "delete-directory") || strings.HasSuffix(head, "delete-file") || strings.HasSuffix(head, "rm_rf!") || lang == "julia" && (head == "rm" || strings.HasSuffix(head, " rm") || strings.HasSuffix(head, ";rm"))
			g.words = append(g.words, lit)
		case listed:
			g.words = append(g.words, lit)
		case len(g.words[len(g.words)-1]) < maxJoined: // joined, or side by side
			g.words[len(g.words)-1] += lit
		}
		joined, listed = false, false
	}
	lisp := lang == "emacs" || lang == "lisp"
	look := 4096
	for i := 0; i < len(t); {
		if n := keyAt(t, i, lisp); n > 0 && listed { // args: of an object, nil of Lisp
			rest.WriteString(t[i : i+n])
			i += n
			continue
		}
		if i >= look {
			look = i + 4096
			if s.j.late(s.from, s.to) {
				return nil, ""
			}
		}
		if lit, n := constantAt(t, i, lang, &open); n > 0 {
			if strings.HasPrefix(t[i:], "qw") || strings.HasPrefix(t[i:], "%w") {
				for _, f := range strings.Fields(lit) {
					word(f)
					listed = true
				}
			} else {
				word(lit)
			}
			i += n
			continue
		}
		switch c := t[i]; c {
		case ' ', '\t', '\n', '[', ']', '(', ')', '{', '}':
			listed = listed || lisp && c == ' '
			if c == ')' && !joined && !listed && len(g.words) > 0 && !strings.ContainsAny(t[i:min(len(t), i+3)], "+.") {
				end()
			}
		case ',', '/':
			listed = true
		case '+', '.', '<', '>', '&':
			joined = true
		default:
			end()
		}
		rest.WriteByte(t[i])
		i++
	}
	end()
	return groups, rest.String()
}

// keyAt returns the length of a key before a constant of a list; 0 if there is none.
func keyAt(t string, i int, lisp bool) int {
	k := i
	for k < len(t) && k < i+32 && letter(t[k]) {
		k++
	}
	switch {
	case k == i || k >= len(t):
		return 0
	case t[k] == ':':
		return k + 1 - i
	case lisp && (t[i:k] == "nil" || t[i:k] == "t"):
		return k - i
	}
	return 0
}

// constantAt reads the constant at i, and how long it is; 0 if there is none.
func constantAt(t string, i int, lang string, open *[256]bool) (string, int) {
	switch c := t[i]; {
	case c == '"' || c == '\'' || c == '`':
		if open[c] {
			return "", 0
		}
		lit, ok := literal(t, i)
		if !ok {
			open[c] = true
			return "", 0
		}
		if strings.HasPrefix(t[i:], `"""`) || strings.HasPrefix(t[i:], `'''`) {
			return lit, min(len(t)-i, len(lit)+6)
		}
		return lit, min(len(t), endOfLiteral(t, i)+1) - i
	case c == 'c' && strings.HasPrefix(t[i:], "chr("), c == 'f' && strings.HasPrefix(t[i:], "fromCharCode("):
		from := i + strings.IndexByte(t[i:], '(')
		n := strings.IndexByte(t[from:min(len(t), from+400)], ')')
		if n < 0 {
			return "", 0
		}
		var b strings.Builder
		for f := range strings.SplitSeq(t[from+1:from+n], ",") {
			v := 0
			for _, d := range strings.TrimSpace(f) {
				if d < '0' || d > '9' || v > 1<<20 {
					return "", 0
				}
				v = v*10 + int(d-'0')
			}
			b.WriteRune(rune(v))
		}
		return b.String(), from + n + 1 - i
	case (lang == "perl" && c == 'q' || lang == "ruby" && c == '%') && (i == 0 || !letter(t[i-1])):
		k := i + 1
		for k < len(t) && k < i+2 && letter(t[k]) {
			k++
		}
		if k >= len(t) || letter(t[k]) || t[k] <= ' ' || t[k] == '=' || t[k] == ',' {
			return "", 0
		}
		shut := t[k]
		if p := strings.IndexByte("([{<", shut); p >= 0 {
			shut = ")]}>"[p]
		}
		n := strings.IndexByte(t[k+1:min(len(t), k+4096)], shut)
		if n < 0 {
			return "", 0
		}
		return t[k+1 : k+1+n], k + n + 2 - i
	}
	return "", 0
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' }

// prints tells calls that show what they are given.
func prints(word string) bool {
	word = strings.ToLower(word[strings.LastIndexAny(word, ".:")+1:])
	switch word {
	case "print", "println", "puts", "log", "echo", "say", "info", "warn", "error", "debug", "write", "printf", "message", "display", "p", "pp", "inspect", "io", "cat":
		return true
	}
	return false
}

// runsThings reports whether program text, its constants left out, has a way to
// start something.
func runsThings(code, lang string) bool {
	low := strings.ToLower(code)
	if containsAny(low, "system", "exec", "spawn", "popen", "process", "shell", "command", "cmd", "run", "qx", "open", "eval", "getattr", "__import__", "pty") {
		return true
	}
	switch lang {
	case "perl", "ruby", "php", "julia", "scala", "groovy":
		return true // quotes of their own run commands
	case "awk":
		return strings.IndexByte(code, '|') >= 0
	case "node":
		return strings.Contains(code, "Bun.$") || strings.Contains(code, "zx")
	}
	return false
}
