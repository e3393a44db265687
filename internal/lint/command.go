package lint

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// command is what an entry runs.
type command struct {
	line   string   // a shell's text; empty in the exec form
	argv   []string // the exec form
	calls  []call   // the simple commands of line, in order
	script *script  // what is known of the text that runs
	cd     bool     // the line changes its folder
}

// call is one simple command.
type call struct {
	words  []word
	target *word // the script or program file that it runs, if it names one
	direct bool  // target is started itself, not by an interpreter
	lang   string
	code   string // text given on the command line (-c, -e)
	login  bool   // a login or interactive shell
}

// word is one word of a command line, expanded as far as that is possible here.
type word struct {
	raw   string
	text  string
	known bool // text is what the program will see
	// tilde: a ~ at the front that quotes keep from being expanded.
	tilde bool
	// bare are variables outside of quotes, all are those that may be unset.
	bare, all []string
}

// commandOf reads what an entry runs; nil for other kinds of handlers.
func (h Host) commandOf(s *source, e *entry) *command {
	kind := e.kind()
	if kind != census.Command && !(kind == "" && s.Provider == event.Copilot) {
		return nil
	}
	line := e.text("command")
	for _, key := range []string{"bash", "exec"} {
		if line == "" && s.Provider == event.Copilot {
			line = e.text(key)
		}
	}
	if line == "" || e.text("shell") == "powershell" || len(line) > maxLine || nested(line) > maxNested {
		return nil
	}
	vars := h.variables(s)
	args, exec := e.fields["args"].([]any)
	if s.Provider == event.Codex {
		exec = false
	}
	cmd := &command{line: line}
	if exec || s.Provider == event.Copilot && e.text("exec") != "" {
		cmd.line, cmd.argv = "", []string{line}
		for _, a := range args {
			text, _ := a.(string)
			cmd.argv = append(cmd.argv, text)
		}
		var words []word
		for _, a := range cmd.argv {
			words = append(words, execWord(a, vars))
		}
		cmd.calls = []call{newCall(words)}
	} else {
		cmd.parse(vars)
	}
	cmd.script = h.scriptOf(s, cmd)
	return cmd
}

// Longer or deeper lines are nobody's command, and cost the shell's parser time
// that grows with their square.
const (
	maxLine   = 16 << 10
	maxNested = 200
)

// nested counts what can open a level in a shell's text.
func nested(line string) int {
	return strings.Count(line, "(") + strings.Count(line, "{") + strings.Count(line, "`") + strings.Count(line, "<<")
}

// variables are those that a path in a command may be made of.
func (h Host) variables(s *source) map[string]string {
	project := h.project()
	if project == "" {
		project = h.WorkDir
	}
	switch {
	case s.Scope == Project && s.Kind == CopilotHooks:
		if before, _, ok := strings.Cut(filepath.ToSlash(s.Path), "/.github/"); ok {
			project = filepath.FromSlash(before)
		}
	case s.Scope == Project:
		for dir := filepath.Dir(s.Path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if strings.HasPrefix(filepath.Base(dir), ".") {
				project = filepath.Dir(dir)
				break
			}
		}
	}
	r := h.roots()
	vars := map[string]string{
		"HOME": h.Home, "USERPROFILE": h.Home, "PWD": project, "CLAUDE_PROJECT_DIR": project, "COPILOT_PROJECT_DIR": project,
		"CODEX_HOME": r.codex, "CLAUDE_CONFIG_DIR": r.claude, "COPILOT_HOME": r.copilot, "COPILOT_HOOK_DIR": filepath.Dir(s.Path),
	}
	if s.Kind == ClaudePlugin {
		vars["CLAUDE_PLUGIN_ROOT"] = filepath.Dir(filepath.Dir(s.Path))
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "USER"} {
		if v := h.env(name); v != "" {
			vars[name] = v
		}
	}
	return vars
}

// projectVar is what the client puts in for itself in the exec form.
var projectVar = re(`\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)\}`)

// execWord is a word that no shell sees.
func execWord(raw string, vars map[string]string) word {
	w := word{raw: raw, known: true}
	w.text = projectVar.ReplaceAllStringFunc(raw, func(m string) string {
		v, ok := vars[strings.Trim(m, "${}")]
		w.known = w.known && ok
		return v
	})
	return w
}

// parse reads the line as a POSIX shell does; one that does not parse has no calls.
func (cmd *command) parse(vars map[string]string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd.line), "")
	if err != nil {
		return
	}
	vars = withAssigned(vars, file)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.FuncDecl:
			return false
		case *syntax.CallExpr:
			var words []word
			for _, a := range n.Args {
				words = append(words, shellWord(cmd.line, a, vars))
			}
			if len(words) > 0 {
				c := newCall(words)
				cmd.cd = cmd.cd || words[0].text == "cd"
				cmd.calls = append(cmd.calls, c)
			}
		}
		return true
	})
}

// withAssigned adds what the line assigns itself, as far as it is known.
func withAssigned(vars map[string]string, file *syntax.File) map[string]string {
	out := map[string]string{}
	for k, v := range vars {
		out[k] = v
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok && a.Name != nil {
			delete(out, a.Name.Value)
			if a.Value != nil {
				if w := shellWord("", a.Value, vars); w.known {
					out[a.Name.Value] = w.text
				}
			}
		}
		return true
	})
	return out
}

func shellWord(line string, a *syntax.Word, vars map[string]string) word {
	w := word{known: true}
	if start, end := int(a.Pos().Offset()), int(a.End().Offset()); 0 <= start && start <= end && end <= len(line) {
		w.raw = line[start:end]
	}
	var b strings.Builder
	var part func(p syntax.WordPart, quoted bool)
	part = func(p syntax.WordPart, quoted bool) {
		switch p := p.(type) {
		case *syntax.Lit:
			text := p.Value
			if b.Len() == 0 && w.known {
				if text == "~" || strings.HasPrefix(text, "~/") {
					if quoted {
						w.tilde = true
					} else {
						text = vars["HOME"] + text[1:]
					}
				}
			}
			b.WriteString(unescape(text))
		case *syntax.SglQuoted:
			if b.Len() == 0 && (p.Value == "~" || strings.HasPrefix(p.Value, "~/")) {
				w.tilde = true
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				part(inner, true)
			}
		case *syntax.ParamExp:
			if p.Param == nil {
				w.known = false
				return
			}
			name := p.Param.Value
			value, ok := vars[name]
			w.known = w.known && ok && value != "" && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Length && p.Index == nil
			b.WriteString(value)
			if p.Exp == nil {
				w.all = append(w.all, name)
				if !quoted {
					w.bare = append(w.bare, name)
				}
			}
		case *syntax.CmdSubst:
			// The usual way to the root of a project.
			if start, end := int(p.Pos().Offset()), int(p.End().Offset()); start <= end && end <= len(line) &&
				strings.Contains(line[start:end], "git rev-parse --show-toplevel") && vars["PWD"] != "" {
				b.WriteString(vars["PWD"])
				return
			}
			w.known = false
		default:
			w.known = false
		}
	}
	for _, p := range a.Parts {
		part(p, false)
	}
	w.text = b.String()
	return w
}

// unescape takes the backslashes out of a literal outside of quotes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// interpreters run a file given to them: name, language.
var interpreters = map[string]string{
	"sh": "sh", "bash": "sh", "zsh": "sh", "dash": "sh", "ksh": "sh", "python": "python", "python3": "python", "py": "python", "uv": "python", "node": "js", "bun": "js",
	"deno": "js", "tsx": "js", "ruby": "other", "perl": "other", "php": "other",
}

// newCall finds what a simple command runs, behind wrappers.
func newCall(words []word) call {
	c := call{words: words}
	at := 0
wrappers:
	for at < len(words) && words[at].known {
		switch filepath.Base(words[at].text) {
		case "command", "nice":
			if at+1 < len(words) && strings.HasPrefix(words[at+1].text, "-") {
				break wrappers // command -v only looks
			}
			at++
		case "exec", "nohup", "time", "builtin":
			at++
		case "env":
			for at++; at < len(words) && (strings.HasPrefix(words[at].text, "-") || strings.Contains(words[at].text, "=")); at++ {
			}
		case "timeout":
			for at++; at < len(words) && strings.HasPrefix(words[at].text, "-"); at++ {
			}
			at++
		default:
			break wrappers
		}
	}
	if at >= len(words) {
		return c
	}
	c.words = words[at:]
	program := &c.words[0]
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(program.text)), ".exe")
	lang, interprets := interpreters[name]
	if !interprets {
		if strings.Contains(program.text, "/") || !program.known {
			c.target, c.direct = program, true
		}
		return c
	}
	c.lang = lang
	for i := 1; i < len(c.words); i++ {
		w := &c.words[i]
		switch {
		case lang == "sh" && strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--"):
			c.login = c.login || strings.ContainsAny(w.text[1:], "li")
			if strings.Contains(w.text, "c") && i+1 < len(c.words) {
				c.code = c.words[i+1].text
				return c
			}
		case lang == "sh" && (w.text == "--login" || w.text == "--interactive"):
			c.login = true
		case slices.Contains([]string{"-c", "-e", "--eval", "-pe"}, w.text) && i+1 < len(c.words):
			c.code = c.words[i+1].text
			return c
		case w.text == "-m", name == "uv" && w.text == "tool":
			return c
		case slices.Contains([]string{"--with", "--python", "-p", "--project", "--directory", "-W", "-X", "-r", "--require", "--import"}, w.text):
			i++ // takes a value
		case strings.HasPrefix(w.text, "-"):
		case (name == "uv" || name == "bun" || name == "deno") && w.text == "run":
		case name == "uv" && interpreters[filepath.Base(w.text)] != "": // uv run python x.py
		case name == "bun" && !strings.Contains(w.text, "."), name == "uv" && !strings.Contains(w.text, "."): // a script of package.json, a tool
			return c
		default:
			c.target = w
			return c
		}
	}
	return c
}

// program is the name of what the call starts.
func (c *call) program() string {
	if len(c.words) == 0 {
		return ""
	}
	return c.words[0].text
}

// builtins are the commands that the shell has in itself.
const builtins = `. : [ [[ alias bg break case cd command continue declare echo eval exec exit export false fg for function
		getopts hash if jobs kill let local printf pwd read readonly return set shift shopt source test then time times trap true type typeset
		ulimit umask unalias unset until wait while`

func builtin(name string) bool {
	for b := range strings.FieldsSeq(builtins) {
		if b == name {
			return true
		}
	}
	return false
}

// main is the call that does the hook's work: the first one that is no guard.
func (cmd *command) main() *call {
	for i := range cmd.calls {
		c := &cmd.calls[i]
		if name := c.program(); !builtin(name) && name != "" {
			return c
		}
	}
	return nil
}

// onPath finds a program by its name.
func (h Host) onPath(name string) (path string, found, asked bool) {
	list := h.env("PATH")
	if list == "" {
		return "", false, false
	}
	for _, dir := range filepath.SplitList(list) {
		for _, ext := range []string{"", ".exe", ".cmd"} {
			if ext != "" && h.GOOS != "windows" {
				continue
			}
			path := filepath.Join(dir, name+ext)
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return path, true, true
			}
		}
	}
	return "", false, true
}

// resolve makes the path of a target absolute, as the client would find it.
func (h Host) resolve(s *source, text string) string {
	if filepath.IsAbs(text) {
		return filepath.Clean(text)
	}
	dir := h.variables(s)["PWD"]
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, text)
}

// program looks at whether what a command names can be started.
func (c *checker) program(s *source, e *entry) {
	if line := e.text("command"); s.Provider == event.Claude && e.text("shell") != "powershell" && backslashPath.MatchString(line) {
		c.on(s, pathBackslash, e, "command", "%s is a path with backslashes", backslashPath.FindString(line))
		return
	}
	cmd := e.command
	if cmd == nil {
		return
	}
	key := "command"
	for _, k := range []string{"bash", "exec"} {
		if e.text("command") == "" && e.text(k) != "" {
			key = k
		}
	}
	c.words(s, e, cmd, key)
	for i := range cmd.calls {
		call := &cmd.calls[i]
		if call.login {
			c.on(s, profileNoise, e, key, "%s is started as a login or interactive shell", call.program())
		}
		if call.target != nil {
			c.target(s, e, cmd, call, key)
		}
	}
	for _, call := range cmd.calls {
		if name := call.program(); (name == "." || name == "source") && len(call.words) > 1 && profile.MatchString(call.words[1].raw) {
			c.on(s, profileNoise, e, key, "the command reads %s", call.words[1].raw)
		}
	}
	if m := cmd.main(); m != nil && m.words[0].known && !strings.ContainsAny(m.program(), `/\`) {
		if _, found, asked := c.host.onPath(m.program()); asked && !found && !guarded(cmd, &m.words[0]) {
			c.on(s, programMissing, e, key, "%q is not on PATH%s", m.program(), c.consequence(s, e))
		}
	}
}

// consequence says what a missing program does to this event.
func (c *checker) consequence(s *source, e *entry) string {
	if s.Provider == event.Copilot && e.census.Asks() {
		return ": Copilot refuses every call for that"
	}
	return ""
}

var (
	backslashPath = re(`[A-Za-z]:\\[\w.-]+(?:\\[\w.-]+)+`)
	profile       = re(`\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|bash_login)\b`)
)

// words looks at how the words of a command are written.
func (c *checker) words(s *source, e *entry, cmd *command, key string) {
	vars := c.host.variables(s)
	seen := map[string]bool{}
	unset := func(name string) bool {
		switch name {
		case "CLAUDE_PROJECT_DIR":
			return s.Provider == event.Codex
		case "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA":
			// Codex sets it for the hooks of plugins (read), which lie elsewhere.
			return s.Provider == event.Copilot || s.Kind == ClaudeSettings || s.Provider == event.Codex && s.Scope != Other
		case "COPILOT_PROJECT_DIR", "COPILOT_HOOK_DIR":
			return s.Provider != event.Copilot
		case "CODEX_PROJECT_DIR", "CODEX_SESSION_ID", "CODEX_CWD":
			return true
		}
		return false
	}
	for _, call := range cmd.calls {
		for i, w := range call.words {
			for _, name := range w.all {
				if unset(name) && !seen[name] && !strings.Contains(cmd.line, name+"=") {
					seen[name] = true
					client, _ := census.Of(s.Provider)
					c.on(s, variableUnset, e, key, "%s does not set %s for this hook", client.Title, name)
				}
			}
			target := call.target != nil && call.target.raw == w.raw
			if w.tilde && (i == 0 || target) {
				c.on(s, pathNotExpanded, e, key, "the ~ in %s stands between quotes and is not expanded", w.raw)
			}
			if cmd.argv != nil && (i == 0 || target) && literal.MatchString(w.text) {
				c.on(s, pathNotExpanded, e, key, "%s is passed on as it is written: there is no shell", w.raw)
			}
			if i > 0 && !target {
				continue
			}
			for _, name := range w.bare {
				if strings.ContainsAny(vars[name], " \t") && (strings.HasSuffix(name, "_DIR") || strings.HasSuffix(name, "_ROOT") || name == "HOME" || name == "PWD") {
					c.on(s, pathSplits, e, key, "$%s has a blank in it (%q) and is not quoted", name, vars[name])
				}
			}
		}
	}
}

// literal is what a shell would have expanded.
var literal = re("^~/|\\$[A-Za-z{]|`")

// target looks at the file that a call runs.
func (c *checker) target(s *source, e *entry, cmd *command, call *call, key string) {
	w := call.target
	if !w.known || w.text == "" || w.tilde || cmd.argv != nil && literal.MatchString(w.text) || strings.ContainsAny(w.text, "*?") {
		return
	}
	relative := !filepath.IsAbs(w.text)
	if relative && (cmd.cd || e.text("cwd") != "" || strings.HasPrefix(w.text, "http")) {
		return
	}
	path := c.host.resolve(s, w.text)
	if path == "" || c.host.GOOS == "windows" && !filepath.IsAbs(path) {
		return
	}
	info, err := os.Stat(path)
	elsewhere := s.Scope == User || s.Scope == Managed || s.Kind == ClaudePlugin // the project may be another one
	ofProject := relative || slices.ContainsFunc(w.all, func(name string) bool { return strings.HasSuffix(name, "_PROJECT_DIR") || name == "PWD" }) ||
		strings.Contains(w.raw, "git rev-parse")
	switch {
	case err != nil && elsewhere && relative:
		c.on(s, pathRelative, e, key, "%s is looked for in whatever folder the session is in", w.text)
		return
	case err != nil && elsewhere && ofProject:
		return
	case err != nil:
		if guarded(cmd, w) {
			return
		}
		c.on(s, programMissing, e, key, "%s does not exist%s", w.text, c.consequence(s, e))
		return
	case info.IsDir():
		c.on(s, programMissing, e, key, "%s is a folder", w.text)
		return
	case !info.Mode().IsRegular():
		c.on(s, programMissing, e, key, "%s is no regular file", w.text) // nor opened: it may never end
		return
	}
	if relative && (s.Provider != event.Copilot || s.Scope == User) {
		c.on(s, pathRelative, e, key, "%s is looked for in whatever folder the session is in", w.text)
	}
	head := headOf(path)
	if call.direct && c.host.GOOS != "windows" {
		if info.Mode()&0o111 == 0 {
			c.on(s, programNoExec, e, key, "%s has mode %v", w.text, info.Mode().Perm())
		}
		if !strings.HasPrefix(head, "#!") && !binary(head) {
			c.on(s, programNoShebang, e, key, "%s begins with no #! line", w.text)
		}
	}
	if line, _, _ := strings.Cut(head, "\n"); strings.HasPrefix(head, "#!") && strings.HasSuffix(line, "\r") && (call.direct || call.lang == "sh") {
		c.on(s, programCRLF, e, key, "the first line of %s ends in a carriage return", w.text)
	}
}

// guarded reports whether the line looks for the program before it runs it.
func guarded(cmd *command, w *word) bool {
	for _, call := range cmd.calls {
		if name := call.program(); name != "[" && name != "test" && name != "command" {
			continue
		}
		for _, other := range call.words[1:] {
			if other.text == w.text {
				return true
			}
		}
	}
	return false
}

func headOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "#!" // not ours to read
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 512))
	if err != nil {
		return "#!"
	}
	return string(data)
}

// binary reports whether a file begins like a program for some system.
func binary(head string) bool {
	for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xfe\xed\xfa"} {
		if strings.HasPrefix(head, magic) {
			return true
		}
	}
	return false
}
