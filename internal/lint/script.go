package lint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// script is the text that an entry runs: the file it names, and the command line
// itself. It is looked at word by word, not understood: every rule on it needs a
// sure sign, and is silent without one.
type script struct {
	name  string // of the file, for people; empty: the command line alone
	parts []part
}

// part is a piece of text in one language, with its comments blanked out.
type part struct {
	lang string // sh, python, js, other
	file bool   // it is in a file, not on the command line
	code string
}

// scriptLimit is the largest script that is looked at.
const scriptLimit = 256 << 10

// scriptOf reads what a command runs.
func (h Host) scriptOf(s *source, cmd *command) *script {
	sc := &script{}
	if cmd.line != "" {
		sc.parts = append(sc.parts, part{"sh", false, blank("sh", cmd.line)})
	}
	for i := range cmd.calls {
		call := &cmd.calls[i]
		if call.code != "" {
			sc.parts = append(sc.parts, part{call.lang, false, blank(call.lang, call.code)})
		}
		if call.target == nil || !call.target.known || sc.name != "" {
			continue
		}
		path := h.resolve(s, call.target.text)
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > scriptLimit {
			continue
		}
		data, err := ReadFile(path)
		if err != nil || binary(string(data[:min(len(data), 8)])) {
			continue
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		lang := language(path, text, call.lang)
		sc.name = filepath.Base(path)
		sc.parts = append(sc.parts, part{lang, true, blank(lang, text)})
	}
	return sc
}

// language tells what a script is written in.
func language(path, text, given string) string {
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "#!") {
		for field := range strings.FieldsSeq(strings.ReplaceAll(first[2:], "/", " ")) {
			if lang, ok := interpreters[strings.TrimRight(field, "0123456789.")]; ok {
				return lang
			}
		}
		return "other"
	}
	switch filepath.Ext(path) {
	case ".py":
		return "python"
	case ".js", ".mjs", ".cjs", ".ts", ".mts":
		return "js"
	case ".sh", ".bash", ".zsh":
		return "sh"
	}
	if given != "" {
		return given
	}
	return "other"
}

// blank replaces comments by blanks, so that offsets and lines stay.
func blank(lang, text string) string {
	out := []byte(text)
	wipe := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' && (quote != '\'' || lang != "sh") {
				i++
			} else if c == quote || c == '\n' && quote != '`' && lang != "sh" {
				quote = 0
			}
		case lang == "python" && (strings.HasPrefix(text[i:], `"""`) || strings.HasPrefix(text[i:], "'''")):
			end := strings.Index(text[i+3:], text[i:i+3])
			if end < 0 {
				return string(out)
			}
			// One that stands by itself is a comment in all but name.
			if strings.TrimSpace(text[strings.LastIndexByte(text[:i], '\n')+1:i]) == "" {
				wipe(i, i+end+6)
			}
			i += end + 5
		case c == '\\':
			i++
		case c == '"' || c == '\'' || c == '`' && lang == "js":
			quote = c
		case c == '#' && lang != "js" && (i == 0 || strings.IndexByte(" \t\n;(", text[i-1]) >= 0),
			lang == "js" && strings.HasPrefix(text[i:], "//") && (i == 0 || text[i-1] != ':'):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i
			}
			wipe(i, i+end)
			i += end - 1
		case lang == "js" && strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				end = len(text) - i - 4
			}
			wipe(i, min(len(text), i+end+4))
			i += end + 3
		}
	}
	return string(out)
}

// find returns where a pattern first matches, for people, and what its group
// matched.
func (sc *script) find(expr *pattern) (where, group string, ok bool) {
	for _, p := range sc.parts {
		m := expr.FindStringSubmatchIndex(p.code)
		if m == nil {
			continue
		}
		if len(m) >= 4 && m[2] >= 0 {
			group = p.code[m[2]:m[3]]
		}
		return sc.place(p, m[0]), group, true
	}
	return "", "", false
}

// each calls f with every match of a pattern.
func (sc *script) each(expr *pattern, f func(where string, groups []string)) {
	for _, p := range sc.parts {
		for _, m := range expr.FindAllStringSubmatchIndex(p.code, 100) {
			var groups []string
			for i := 0; i+1 < len(m); i += 2 {
				text := ""
				if m[i] >= 0 {
					text = p.code[m[i]:m[i+1]]
				}
				groups = append(groups, text)
			}
			f(sc.place(p, m[0]), groups)
		}
	}
}

func (sc *script) place(p part, offset int) string {
	if !p.file {
		return "the command"
	}
	return fmt.Sprintf("%s, line %d,", sc.name, 1+strings.Count(p.code[:offset], "\n"))
}

func (sc *script) has(expr *pattern) bool {
	_, _, ok := sc.find(expr)
	return ok
}

// by returns where the pattern of its own language matches in some part.
func (sc *script) by(exprs map[string]*pattern) (where string, ok bool) {
	for _, p := range sc.parts {
		if expr := exprs[p.lang]; expr != nil {
			if m := expr.FindStringIndex(p.code); m != nil {
				return sc.place(p, m[0]), true
			}
		}
	}
	return "", false
}

func key(name string) *pattern {
	return re(`\b` + name + `\b`)
}

// value matches a member with a literal text: "name": "text" in any of the
// languages, quoted or not, in JSON inside a string or not.
func valueOf(name string) *pattern {
	return re(`\b` + name + `\\?["']?\]?\s*[:=]\s*\\?["']([A-Za-z_]+)`)
}

var (
	exit1 = map[string]*pattern{
		"sh":     re(`\bexit\s+1\b`),
		"python": re(`\bexit\(\s*1\s*\)|SystemExit\(\s*1\s*\)|sys\.exit\(\s*f?["']`),
		"js":     re(`process\.exit\(\s*1\s*\)|process\.exitCode\s*=\s*1\b`),
		"other":  re(`\bexit\s*\(?\s*1\b`),
	}
	exit2 = map[string]*pattern{
		"sh":     re(`\b(?:exit|return)\s+2\b`),
		"python": re(`\bexit\(\s*2\s*\)|SystemExit\(\s*2\s*\)|\breturn\s+2\b`),
		"js":     re(`process\.exit\(\s*2\s*\)|process\.exitCode\s*=\s*2\b|\breturn\s+2\b`),
		"other":  re(`\bexit\s*\(?\s*2\b`),
	}
	// exitAny is an exit whose code is only known when it runs.
	exitAny = map[string]*pattern{
		"sh":     re(`\b(?:exit|return)\s+["']?\$`),
		"python": re(`\bexit\(\s*[A-Za-z_]|SystemExit\(\s*[A-Za-z_]`),
		"js":     re(`process\.exit\(\s*[A-Za-z_]|process\.exitCode\s*=\s*[A-Za-z_]`),
		"other":  re(`\bexit\s*\(?\s*[$A-Za-z_]`),
	}
	stderr = map[string]*pattern{
		"sh":     re(`>&\s*2|/dev/stderr`),
		"python": re(`stderr|logging\.`),
		"js":     re(`stderr|console\.(?:error|warn)`),
		"other":  re(`(?i)stderr|\bwarn\b|\bdie\b`),
	}
	// elsewhere is code of other files, which is not looked at.
	elsewhere = map[string]*pattern{
		"sh":     re(`(?m)^\s*(?:\.|source)\s+\S|(?:^|[|;&]|\bexec)\s*"?\$\{?[A-Za-z_]\w*\}?"?(?:\s|$)|dirname "?\$0|BASH_SOURCE`),
		"python": re(`(?m)^\s*from\s+\.|^\s*(?:import|from)\s+(?:lib|common|utils?|hooks?_\w+)\b`),
		"js":     re(`(?:require\(|from\s+)["']\.`),
	}
	refusing = re(`(?i)\b(?:block|blocked|deny|denied|denying|refus\w*|forbid\w*|not allowed|reject\w*|dangerous|prohibit\w*|never)\b`)
	harmless = re(`(?i)not found|not installed|missing|usage|install|required`)

	permissionDecision = valueOf("permissionDecision")
	eventName          = valueOf("hookEventName")
	oldDecision        = re(`\bdecision\\?["']?\s*:\s*\\?["']([A-Za-z_]+)`)
	behavior           = valueOf("behavior")
	cursor             = re(`["']permission\\?["']\s*:\s*\\?["'](?:allow|deny|ask)\b`)
	anyDecision        = re(`\bpermissionDecision\b|\bbehavior\b|\bdecision\\?["']?\]?\s*[:=]\s*\\?["'](?:block|approve|allow|deny)|\bcontinue\\?["']?\s*:\s*(?:false|False)`)
	blockDecision      = re(`\bdecision\\?["']?\]?\s*[:=]\s*\\?["']block`)
	rewriting          = re(`\b(?:updatedInput|updatedToolOutput|updatedMCPToolOutput|modifiedArgs|modifiedResult)\b`)
	specific           = key("hookSpecificOutput")
	stopActive         = re(`stop_hook_active|stopHookActive|stop_active`)
	camelInput         = re(`\b(?:toolArgs|toolName|toolInput)\b`)
	snakeInput         = re(`\b(?:tool_input|tool_name)\b`)
	payloadEnv         = re(`(?:\$\{?|environ(?:\.get)?[\[(]\s*["']|getenv\(\s*["']|process\.env\.|ENV\[\s*["'])((?:CLAUDE_TOOL_[A-Z_]+|CLAUDE_FILE_PATHS?|CLAUDE_HOOK_EVENT[A-Z_]*|CLAUDE_NOTIFICATION[A-Z_]*|CLAUDE_USER_PROMPT|CODEX_TOOL_[A-Z_]+|TOOL_NAME|TOOL_INPUT))\b`)
	inlineEnv          = re(`\$\{?(COMMAND|TOOL|TOOL_OUTPUT|FILE|FILE_PATH|FILEPATH)\b`)
	sourcesProfile     = re(`(?m)(?:^|[;&|]\s*)\s*(?:\.|source)\s+["']?(?:~|\$HOME|\$\{HOME\})?[^\s;"']*\.(?:bashrc|zshrc|profile|bash_profile|zprofile)\b`)
	loginShebang       = re(`^#!\s*\S*(?:bash|zsh|sh)\s+-\w*[li]`)
)

// rewrites reports whether the entry's text writes one of the rewriting outputs.
func (e *entry) rewrites() bool {
	return e.command != nil && e.command.script != nil && !e.ours() && e.command.script.has(rewriting)
}

// scripts looks at what the entries of a source run, each text once with all the
// events that it runs on.
func (c *checker) scripts(s *source) {
	type body struct {
		first   *entry
		entries []*entry
	}
	bodies := map[string]*body{}
	for i := range s.entries {
		e := &s.entries[i]
		if !e.known || e.command == nil || e.command.script == nil || e.ours() {
			continue
		}
		var id strings.Builder
		for _, p := range e.command.script.parts {
			id.WriteString(p.code + "\x00")
		}
		// One script may run on several events, called with different arguments.
		name := id.String()
		if sc := e.command.script; sc.name != "" {
			name = sc.parts[len(sc.parts)-1].code
		}
		if bodies[name] == nil {
			bodies[name] = &body{first: e}
		}
		bodies[name].entries = append(bodies[name].entries, e)
	}
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		b := bodies[name]
		c.script(s, b.first, b.entries)
	}
}

// script looks at one text. Where it runs on several events, only what is wrong on
// all of them is said, since it may well tell them apart.
func (c *checker) script(s *source, first *entry, on []*entry) {
	sc := first.command.script
	k := "command"
	if first.text("command") == "" {
		for _, other := range []string{"bash", "exec"} {
			if first.text(other) != "" {
				k = other
			}
		}
	}
	say := func(rule, format string, args ...any) *Finding { return c.on(s, rule, first, k, format, args...) }
	all := func(f func(*entry) bool) bool { return !slices.ContainsFunc(on, func(e *entry) bool { return !f(e) }) }
	single := all(func(e *entry) bool { return e.census.Name == first.census.Name })
	_, foreignCode := sc.by(elsewhere)

	c.answers(s, first, on, sc, say, single)

	// Exit codes.
	where2, has2 := sc.by(exit2)
	where1, has1 := sc.by(exit1)
	_, dynamic := sc.by(exitAny)
	_, tells := sc.by(stderr)
	decides := sc.has(anyDecision)
	if has1 && !has2 && !dynamic && !decides && !foreignCode && s.Provider != event.Copilot && all(func(e *entry) bool { return e.census.Blocks.Exit2 }) {
		gate := all(func(e *entry) bool { return e.census.Blocks.Effect == census.Stops })
		if sc.has(refusing) || gate && !sc.has(harmless) {
			say(exit1Misused, "%s exits with 1 on %s, which blocks nothing", where1, first.event)
		}
	}
	if has1 && s.Provider == event.Copilot && !decides && all(func(e *entry) bool { return e.census.Asks() }) {
		say(copilotFailureDenies, "%s exits with 1, which refuses the call", where1)
	}
	if has2 && !tells && !foreignCode && !decides && s.Provider != event.Copilot && all(func(e *entry) bool { return e.census.Blocks.Exit2 }) {
		f := say(exit2Silent, "%s exits with 2 and nothing writes to standard error", where2)
		if s.Provider == event.Codex {
			f.Severity = Error
		}
	}
	if has2 && !decides && all(func(e *entry) bool { return !e.census.Blocks.Exit2 }) {
		f := say(exit2NoEffect, "%s exits with 2, which does nothing on %s", where2, first.event)
		if all(func(e *entry) bool { return e.census.Blocks.Effect == census.Nothing }) {
			f.Severity = Warning
		}
	}
	if all(func(e *entry) bool { return e.census.Blocks.Effect == census.GoesOn }) && !sc.has(stopActive) && !foreignCode &&
		(has2 && first.census.Blocks.Exit2 || sc.has(blockDecision)) {
		say(stopLoop, "it blocks %s and does not look at stop_hook_active", first.event)
	}
	if has2 || decides {
		for _, e := range on {
			if e.fields["async"] == true && e.census.Blocks.Effect != census.Nothing && s.Provider != event.Copilot {
				c.on(s, asyncDecides, e, "async", "its answer on %s comes too late to count", e.event)
			}
		}
	}

	// Input.
	if where, name, ok := sc.find(payloadEnv); ok && !sc.has(re(`\b`+regexp.QuoteMeta(name)+`=`)) {
		say(payloadInEnv, "%s reads $%s, which is never set", where, name)
	}
	for _, p := range sc.parts {
		if p.file || p.lang != "sh" {
			continue
		}
		if m := inlineEnv.FindStringSubmatchIndex(p.code); m != nil && !assigned(p.code, p.code[m[2]:m[3]]) {
			say(payloadInEnv, "the command reads $%s, which is never set", p.code[m[2]:m[3]])
		}
	}
	camel := func(e *entry) bool {
		converted := e.pascal() && e.census.Name != event.PermissionRequest && e.census.Name != event.Notification && e.census.Name != event.SubagentStart
		return s.Provider == event.Copilot && !converted
	}
	if where, _, ok := sc.find(snakeInput); ok && !sc.has(camelInput) && all(camel) {
		say(payloadSpelling, "%s reads tool_input or tool_name, and the payload of %s has toolName and toolArgs", where, first.event)
	}
	if where, _, ok := sc.find(camelInput); ok && !sc.has(snakeInput) && all(func(e *entry) bool { return !camel(e) }) {
		say(payloadSpelling, "%s reads toolName or toolArgs, and the payload of %s has tool_name and tool_input", where, first.event)
	}
	if s.Provider == event.Claude && !slices.ContainsFunc(on, func(e *entry) bool { return slices.Contains(envFileEvents, e.census.Name) }) {
		if where, _, ok := sc.find(key("CLAUDE_ENV_FILE")); ok {
			say(variableUnset, "%s uses CLAUDE_ENV_FILE, which is not set on %s", where, first.event)
		}
	}
	if s.Provider == event.Codex {
		c.codexInput(on, sc, say)
	}
	for _, p := range sc.parts {
		if p.file && s.Provider == event.Codex {
			if m := unsetOnCodex.FindStringSubmatchIndex(p.code); m != nil && !strings.Contains(p.code, p.code[m[2]:m[3]]+"=") {
				say(variableUnset, "%s uses $%s, which Codex does not set", sc.place(p, m[0]), p.code[m[2]:m[3]])
			}
		}
	}

	// The shell.
	if where, _, ok := sc.find(sourcesProfile); ok && sc.name != "" {
		say(profileNoise, "%s reads the person's profile", where)
	}
	for _, p := range sc.parts {
		if p.file && p.lang == "sh" && loginShebang.MatchString(first.command.shebang(c.host, s)) {
			say(profileNoise, "%s asks for a login or interactive shell in its first line", sc.name)
		}
		if p.lang == "sh" {
			c.shell(s, p, sc, say)
		}
	}
	if !decides && !sc.has(specific) {
		return
	}
	ended := s.Provider == event.Codex && all(func(e *entry) bool { return e.census.Blocks.Effect == census.GoesOn })
	if s.Provider != event.Copilot && !ended {
		if where, ok := banner(sc); ok {
			say(bannerBeforeJSON, "%s prints text before the JSON", where)
		}
	}
}

// assigned reports whether a shell text sets the variable itself.
func assigned(code, name string) bool {
	return re(`\b` + regexp.QuoteMeta(name) + `=|\b(?:read|for)\b[^;\n]*\b` + regexp.QuoteMeta(name) + `\b`).MatchString(code)
}

// envFileEvents are the events on which Claude Code sets CLAUDE_ENV_FILE
// (contracts/claude §7).
var envFileEvents = []event.Name{event.SessionStart, event.Setup, event.CwdChanged, event.FileChanged}

// codexInput looks at what a script reads and prints on Codex.
func (c *checker) codexInput(on []*entry, sc *script, say func(string, string, ...any) *Finding) {
	patches := func(e *entry) bool {
		if e.matcher == nil || e.census.Name != event.PreToolUse && e.census.Name != event.PostToolUse {
			return false
		}
		r := e.census.Matcher.Law.Read(*e.matcher)
		return !r.All && slices.ContainsFunc([]string{"apply_patch", "Edit", "Write"}, r.Matches)
	}
	for _, p := range sc.parts {
		at := filePath.FindStringIndex(p.code)
		if at != nil && !patching.MatchString(p.code) && !slices.ContainsFunc(on, func(e *entry) bool { return !patches(e) }) {
			say(codexPatch, "%s reads file_path, which a patch does not have", sc.place(p, at[0]))
			break
		}
	}
	ends := func(e *entry) bool {
		return e.census.Name == event.Stop || e.census.Name == event.SubagentStop || e.census.Name == event.Interrupt
	}
	if where, ok := banner(sc); ok && !slices.ContainsFunc(on, func(e *entry) bool { return !ends(e) }) {
		say(codexText, "%s prints plain text", where)
	}
}

// patching tells a script that knows of patches.
var filePath, patching = key("file_path"), re(`(?i)patch|\*\*\* `)

// unsetOnCodex are variables that Codex's hooks do not have.
var unsetOnCodex = re(`(?:\$\{?|environ\[\s*["']|process\.env\.)(CLAUDE_PROJECT_DIR|CLAUDE_ENV_FILE|CLAUDE_SESSION_ID)\b[^:]`)

// shebang is the first line of the script that a command runs.
func (cmd *command) shebang(h Host, s *source) string {
	for i := range cmd.calls {
		if t := cmd.calls[i].target; t != nil && t.known && cmd.calls[i].direct {
			if path := h.resolve(s, t.text); path != "" {
				line, _, _ := strings.Cut(headOf(path), "\n")
				return line
			}
		}
	}
	return ""
}

// shell looks at the structure of a shell text.
func (c *checker) shell(s *source, p part, sc *script, say func(string, string, ...any) *Finding) {
	tree := parseShell(p.code)
	if tree == nil {
		return
	}
	said := false
	syntax.Walk(tree, func(n syntax.Node) bool {
		stmt, ok := n.(*syntax.Stmt)
		if ok && stmt.Background && !said && !redirected(stmt) {
			said = true
			say(backgroundHolds, "%s starts a job with & that keeps standard output open", sc.place(p, int(stmt.Pos().Offset())))
		}
		return true
	})
}

func parseShell(code string) *syntax.File {
	if nested(code) > 20*maxNested {
		return nil
	}
	tree, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(code), "")
	if err != nil {
		return nil
	}
	return tree
}

// redirected reports whether standard output goes elsewhere.
func redirected(stmt *syntax.Stmt) bool {
	for _, r := range stmt.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.DplOut, syntax.RdrClob:
			if r.N == nil || r.N.Value == "1" {
				return true
			}
		}
	}
	return false
}

// banner finds a text that is printed at the top of a script that answers in JSON.
func banner(sc *script) (where string, ok bool) {
	for _, p := range sc.parts {
		if !p.file {
			continue
		}
		switch p.lang {
		case "python":
			if m := pythonBanner.FindStringIndex(p.code); m != nil {
				line, _, _ := strings.Cut(p.code[m[0]:], "\n")
				if !strings.Contains(line, "file=") {
					return sc.place(p, m[0]), true
				}
			}
		case "sh":
			tree := parseShell(p.code)
			if tree == nil {
				continue
			}
			for _, stmt := range tree.Stmts {
				call, isCall := stmt.Cmd.(*syntax.CallExpr)
				if !isCall || redirected(stmt) || stmt.Background || len(call.Args) < 2 {
					continue
				}
				if name := call.Args[0].Lit(); name != "echo" && name != "printf" {
					continue
				}
				text := shellWord("", call.Args[1], nil)
				if text.text != "" && text.known && !strings.ContainsAny(text.text[:1], "{%-\\") {
					return sc.place(p, int(stmt.Pos().Offset())), true
				}
			}
		}
	}
	return "", false
}

var pythonBanner = re(`(?m)^print\(\s*f?["'][^{"'\\]`)

// codexRejects are members that void an answer of Codex's, by event (contracts/codex
// §4), each with what makes them do so.
var codexRejects = map[event.Name]map[string]*pattern{
	event.PreToolUse: {
		"suppressOutput": key("suppressOutput"), "stopReason": key("stopReason"),
		"continue": re(`\bcontinue\\?["']?\s*:\s*(?:false|False)`),
	},
	event.PermissionRequest: {
		"interrupt":          re(`\binterrupt\\?["']?\]?\s*[:=]\s*(?:true|True)`),
		"updatedInput":       key("updatedInput"),
		"updatedPermissions": key("updatedPermissions"), "suppressOutput": key("suppressOutput"),
	},
	event.PostToolUse:      {"updatedToolOutput": key("updatedToolOutput"), "updatedMCPToolOutput": key("updatedMCPToolOutput"), "suppressOutput": key("suppressOutput")},
	event.SessionStart:     {"watchPaths": key("watchPaths"), "sessionTitle": key("sessionTitle"), "initialUserMessage": key("initialUserMessage")},
	event.UserPromptSubmit: {"sessionTitle": key("sessionTitle"), "suppressOriginalPrompt": key("suppressOriginalPrompt")},
	event.Stop:             {"hookSpecificOutput": specific},
	event.SubagentStop:     {"hookSpecificOutput": specific},
	event.PreCompact:       {"decision": oldDecision},
	event.PostCompact:      {"decision": oldDecision},
}

// answers looks at the JSON that a text writes.
func (c *checker) answers(s *source, first *entry, on []*entry, sc *script, say func(string, string, ...any) *Finding, single bool) {
	all := func(names ...event.Name) bool {
		return !slices.ContainsFunc(on, func(e *entry) bool { return !slices.Contains(names, e.census.Name) })
	}
	where, decision, decided := sc.find(permissionDecision)
	if !decided {
		where, _, decided = sc.find(key("permissionDecision"))
	}
	nested := sc.has(specific)
	whereNested, _, _ := sc.find(specific)
	named := sc.has(key("hookEventName"))
	claudeLike := s.Provider == event.Claude || s.Provider == event.Codex

	if where, _, ok := sc.find(cursor); ok && !decided && !sc.has(behavior) {
		say(decisionForeign, "%s answers with permission, which %s does not read", where, title(s))
	}
	if decided && !nested && claudeLike && !all(event.PermissionRequest) {
		say(decisionFlat, "%s writes permissionDecision without hookSpecificOutput around it", where)
	}
	if nested && !named && claudeLike && !all(event.Stop, event.SubagentStop) {
		say(decisionUnnamed, "%s writes hookSpecificOutput without hookEventName", whereNested)
	}
	if nested && named && s.Provider == event.Claude {
		sc.each(eventName, func(where string, groups []string) {
			row, known := census.Find(event.Claude, groups[1])
			if !known || !slices.ContainsFunc(on, func(e *entry) bool { return e.census.Name == row.Name }) {
				if single || !known {
					say(decisionMisname, "%s names the event %s, and the hook runs on %s", where, groups[1], first.event)
				}
			}
		})
	}
	if decision != "" && !slices.Contains([]string{"allow", "deny", "ask", "defer"}, decision) {
		say(decisionValue, "%s answers with permissionDecision %q", where, decision)
	}
	if claudeLike {
		sc.each(oldDecision, func(where string, groups []string) {
			if value := groups[1]; value != "block" && value != "approve" && slices.Contains([]string{"deny", "allow", "ask", "reject", "denied", "allowed"}, value) {
				say(decisionValue, "%s answers with decision %q", where, value)
			}
		})
	}
	if decided && claudeLike && single && first.census.Name != event.PermissionRequest && !answersWith(first, "permissionDecision") {
		say(decisionShape, "%s answers %s with permissionDecision, which that event does not have", where, first.event)
	}
	if decided && all(event.PermissionRequest) {
		say(decisionShape, "%s answers PermissionRequest with permissionDecision instead of decision {behavior}", where)
	}
	if whereBehavior, _, ok := sc.find(behavior); ok && all(event.PreToolUse) && !decided {
		say(decisionShape, "%s answers PreToolUse with behavior instead of permissionDecision", whereBehavior)
	}

	switch s.Provider {
	case event.Codex:
		c.codexAnswers(on, sc, say, where, single, first)
	case event.Copilot:
		pascalGate := !slices.ContainsFunc(on, func(e *entry) bool { return !e.pascal() || e.census.Name != event.PreToolUse })
		if nested && !pascalGate && !slices.ContainsFunc(on, func(e *entry) bool { return e.pascal() && e.census.Name == event.PreToolUse }) {
			say(decisionShape, "%s writes hookSpecificOutput, which Copilot reads at PascalCase PreToolUse alone", whereNested)
		}
		if where, _, ok := sc.find(key("updatedInput")); ok && all(event.PreToolUse) && !first.pascal() && !sc.has(key("modifiedArgs")) {
			say(outputIgnored, "%s writes updatedInput, which preToolUse ignores; it is modifiedArgs", where)
		}
		if where, _, ok := sc.find(oldDecision); ok && all(event.PreToolUse, event.PermissionRequest) && !decided && !sc.has(behavior) {
			say(outputIgnored, "%s writes decision, which %s ignores", where, first.event)
		}
	case event.Claude:
		if where, _, ok := sc.find(key("updatedToolOutput")); ok && !sc.has(key("tool_response")) && all(event.PostToolUse) {
			say(outputShape, "%s writes updatedToolOutput, and nothing reads tool_response", where)
		}
		if where, _, ok := sc.find(blockDecision); ok && all(event.PermissionRequest) && !sc.has(behavior) {
			say(decisionShape, "%s writes a top-level decision, which PermissionRequest ignores", where)
		}
	}
}

// answersWith reports whether the event has an output of this name.
func answersWith(e *entry, name string) bool {
	return slices.ContainsFunc(e.census.Outputs, func(o census.Output) bool {
		return o.Key == name || strings.HasSuffix(o.Key, "."+name)
	})
}

func (c *checker) codexAnswers(on []*entry, sc *script, say func(string, string, ...any) *Finding, where string, single bool, first *entry) {
	sc.each(permissionDecision, func(where string, groups []string) {
		switch groups[1] {
		case "ask", "defer":
			say(codexAsk, "%s answers with %s, and the call goes on", where, groups[1])
		case "allow":
			if !sc.has(key("updatedInput")) {
				say(codexBareAllow, "%s answers with allow and no updatedInput", where)
			}
		}
	})
	if w, _, ok := sc.find(re(`\bbehavior\\?["']?\]?\s*[:=]\s*\\?["']ask`)); ok {
		say(codexAsk, "%s answers with behavior ask, which voids the answer", w)
	}
	if !single {
		return
	}
	rejects := codexRejects[first.census.Name]
	for _, name := range slices.Sorted(maps.Keys(rejects)) {
		if w, _, ok := sc.find(rejects[name]); ok {
			say(codexRejected, "%s writes %s, for which Codex throws away the answer to %s", w, name, first.event)
		}
	}
}

func title(s *source) string {
	client, _ := census.Of(s.Provider)
	return client.Title
}
