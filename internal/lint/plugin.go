package lint

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// The code of a plugin is looked at as text, with strings told from code: the
// rules here need a sure sign and are silent without one.

var (
	exportValue    = re(`(?m)^export\s+(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]*)?=\s*(["'\x60\d\[{]|true\b|false\b|null\b|new\s)`)
	exportClass    = re(`(?m)^export\s+(?:class|enum)\s+([A-Za-z_$][\w$]*)`)
	exportList     = re(`(?m)^export\s+default\s+(["'\x60\d\[]|true\b|false\b)`)
	hookKey        = re(`["']([a-z]+(?:\.[a-z_]+)+)["']\s*(?::\s*(?:async\b|\(|function\b)|\()`)
	eventType      = re(`\btype\s*={2,3}\s*["']([a-z0-9.]+)["']|\bcase\s+["']([a-z]+\.[a-z.]+)["']\s*:`)
	serverAddress  = re(`\b(?:fetch|axios|request)\s*\([^)\n]*\bserverUrl\b|new\s+URL\([^)\n]*\bserverUrl\b`)
	clientMethod   = re(`\bclient\.(permission|question|permissions|questions)\.`)
	alwaysAnswer   = re(`\b(?:response|reply)\s*:\s*["']always["']`)
	keyHook        = re(`["']chat\.(?:headers|params)["']\s*(?::|\()`)
	leak           = re(`\b(?:console\.\w+|fetch|appendFile(?:Sync)?|writeFile(?:Sync)?|client\.app\.log)\s*\(`)
	idle           = re(`["']session\.idle["']`)
	prompts        = re(`\bsession\.(?:prompt|promptAsync)\s*\(`)
	counts         = re(`(?i)\b\w*(?:count|continued|attempts?|tries|retries|max|limit|iterations?|rounds?|done|seen)\w*\b`)
	chatMessage    = re(`["']chat\.message["']\s*(?::|\()`)
	throwStatement = re(`\bthrow\b`)
)

func (c *checker) code(s *source, rule, name string, offset int, format string, args ...any) {
	f := newFinding(rule, s.File, fmt.Sprintf(format, args...))
	f.Event = name
	f.Line, f.Column = place(s.body, offset)
	*c.found = append(*c.found, f)
}

func place(text string, offset int) (line, column int) {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// plugin looks at the code of an OpenCode plugin.
func (c *checker) plugin(s *source) {
	if strings.HasPrefix(s.body, "// lidguard plugin for OpenCode") {
		return // its own tests look at it
	}
	code := blank("js", s.body)
	for _, m := range exportValue.FindAllStringSubmatchIndex(code, -1) {
		c.code(s, openCodeExport, "", m[0], "%s is exported and is no function", code[m[2]:m[3]])
	}
	for _, m := range exportClass.FindAllStringSubmatchIndex(code, -1) {
		c.code(s, openCodeExport, "", m[0], "%s is exported and is no plain function", code[m[2]:m[3]])
	}
	for _, m := range exportList.FindAllStringIndex(code, -1) {
		c.code(s, openCodeExport, "", m[0], "the default export is no function")
	}
	c.hookNames(s, code)
	for _, m := range eventType.FindAllStringSubmatchIndex(code, -1) {
		from := 2
		if m[2] < 0 {
			from = 4
		}
		name := code[m[from]:m[from+1]]
		if _, known := census.Find(event.OpenCode, name); known || !familiar(name) || next(name) {
			continue
		}
		hint := ""
		if name == "permission.updated" {
			hint = "; it is permission.asked"
		} else if near := nearest(name, eventNames(event.OpenCode)); near != "" {
			hint = "; is " + near + " meant?"
		}
		c.code(s, openCodeEventGone, name, m[0], "there is no event %q%s", name, hint)
	}
	for _, r := range []struct {
		expr *pattern
		rule string
		text string
	}{
		{serverAddress, openCodeServer, "serverUrl is asked, where mostly nobody listens"},
		{alwaysAnswer, openCodeAlways, "the answer is always, which holds for all sessions"},
	} {
		if m := r.expr.FindStringIndex(code); m != nil {
			c.code(s, r.rule, "", m[0], "%s", r.text)
		}
	}
	if m := clientMethod.FindStringSubmatchIndex(code); m != nil {
		c.code(s, openCodeClient, "", m[0], "the client has no %s", code[m[2]:m[3]])
	}
	for _, m := range keyHook.FindAllStringIndex(code, -1) {
		body, at := block(code, m[1])
		if l := leak.FindStringIndex(body); l != nil {
			c.code(s, openCodeSecrets, "", at+l[0], "this hook's input holds the provider's key, and it is logged or sent")
		}
	}
	if m := chatMessage.FindStringIndex(code); m != nil {
		body, at := block(code, m[1])
		if t := throwStatement.FindStringIndex(body); t != nil && !strings.Contains(body[:t[0]], "try {") {
			c.code(s, openCodeThrows, "chat.message", at+t[0], "this exception kills the person's prompt")
		}
	}
	if m := idle.FindStringIndex(code); m != nil && prompts.MatchString(code) && !counts.MatchString(withoutStrings(code)) {
		c.code(s, openCodeIdleLoop, "session.idle", m[0], "it prompts when a session is idle and counts nothing")
	}
}

// hookNames looks at the keys of the hooks object.
func (c *checker) hookNames(s *source, code string) {
	for _, m := range hookKey.FindAllStringSubmatchIndex(code, -1) {
		name := code[m[2]:m[3]]
		row, known := census.Find(event.OpenCode, name)
		switch {
		case name == "permission.ask":
			c.code(s, openCodeNeverCalled, name, m[0], "permission.ask is never called")
		case known && (row.Name == event.PermissionRequest || bus(name)):
			c.code(s, openCodeEventGone, name, m[0], "%s is an event of the bus: it comes to the hook named event, with this type", name)
		case !known && familiar(name):
			hint := ""
			if near := nearest(name, eventNames(event.OpenCode)); near != "" {
				hint = "; is " + near + " meant?"
			}
			c.code(s, openCodeEventGone, name, m[0], "there is no hook %q%s", name, hint)
		}
	}
}

// bus reports whether a name is one of the events that come to the hook event.
func bus(name string) bool {
	for _, prefix := range []string{"session.", "message.", "permission.", "question.", "todo.", "file.", "vcs.", "server.", "command.executed"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// familiar reports whether a name looks like one of the client's own, so that a
// plugin's own dotted names are left alone.
func familiar(name string) bool {
	family, _, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"session", "message", "permission", "question", "chat", "tool"}, family)
}

// next reports whether a name is of the coming second API, or one of those parts of
// the first that are only known by their family.
func next(name string) bool {
	return strings.Contains(name, ".v2.") || strings.HasPrefix(name, "session.next.") || strings.HasPrefix(name, "message.")
}

// block returns the text between the first brace behind offset and the one that
// closes it, and where it begins.
func block(code string, offset int) (string, int) {
	// The parameters may have braces of their own.
	depth := 0
	start := -1
	for i := offset; i < len(code); i++ {
		switch code[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '{':
			if depth <= 0 {
				start = i
			}
		}
		if start >= 0 || depth < -1 {
			break
		}
	}
	if start < 0 {
		return "", offset
	}
	depth = 0
	for i := start; i < len(code); i++ {
		switch code[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return code[start : i+1], start
			}
		}
	}
	return code[start:], start
}

// withoutStrings blanks the contents of literals.
func withoutStrings(code string) string {
	out := []byte(code)
	var quote byte
	for i := 0; i < len(code); i++ {
		c := code[i]
		switch {
		case quote == 0 && (c == '"' || c == '\'' || c == '`'):
			quote = c
		case quote != 0 && c == '\\':
			out[i] = ' '
			i++
			if i < len(out) && out[i] != '\n' {
				out[i] = ' '
			}
		case quote != 0 && (c == quote || c == '\n' && quote != '`'):
			quote = 0
		case quote != 0 && c != '\n':
			out[i] = ' '
		}
	}
	return string(out)
}

// openCodeConfig looks at OpenCode's own config.
func (c *checker) openCodeConfig(s *source) {
	if value, path, has := s.lookup([]string{"plugin"}); has {
		list, ok := value.([]any)
		if !ok {
			c.add(s, openCodePlugin, "", path, "plugin is %s, not a list", kindOf(value))
		}
		for i, item := range list {
			text, ok := item.(string)
			if pair, isPair := item.([]any); isPair && len(pair) > 0 {
				text, ok = pair[0].(string)
			}
			at := path.With(i)
			if !ok {
				c.add(s, openCodePlugin, "", at, "this entry is %s", kindOf(item))
				continue
			}
			if file, isFile := strings.CutPrefix(text, "file://"); isFile {
				if _, err := os.Stat(file); err != nil && !strings.Contains(file, "{") {
					c.add(s, openCodePlugin, "", at, "%s does not exist", file)
				}
			}
		}
	}
	if value, path, has := s.lookup([]string{"hooks"}); has {
		c.add(s, openCodePlugin, "", path, "OpenCode's config has no hooks (%s): hooks are functions of a plugin", kindOf(value))
	}
	c.twice(s)
}
