package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
)

// checker collects findings.
type checker struct {
	host  Host
	found *[]Finding
}

// add notes a finding at a place of a source.
func (c *checker) add(s *source, rule, name string, path confedit.Path, format string, args ...any) *Finding {
	f := newFinding(rule, s.File, fmt.Sprintf(format, args...))
	f.Event = name
	f.Line, f.Column = s.at(path)
	if len(path) > 0 {
		f.Path = path.String()
	}
	*c.found = append(*c.found, f)
	return &(*c.found)[len(*c.found)-1]
}

// on notes a finding about an entry, at one of its keys if it has that.
func (c *checker) on(s *source, rule string, e *entry, key string, format string, args ...any) *Finding {
	at := e.path
	if _, has := e.fields[key]; has && key != "" {
		at = at.With(key)
	}
	if key == "matcher" && e.matcher != nil {
		at = e.group.With(key)
	}
	return c.add(s, rule, e.event, at, format, args...)
}

// check looks at one source by itself.
func (c *checker) check(s *source) {
	switch s.Kind {
	case OpenCodePlugin:
		c.plugin(s)
		return
	case OpenCodeConfig:
		c.openCodeConfig(s)
		return
	}
	c.twice(s)
	c.shape(s)
	switch s.Provider {
	case event.Claude:
		c.claudeFile(s)
	case event.Codex:
		c.codexFile(s)
	case event.Copilot:
		c.copilotFile(s)
	}
	for i := range s.entries {
		e := &s.entries[i]
		if !e.known {
			continue // said by shape
		}
		c.matcher(s, e)
		c.handler(s, e)
		if !e.ours() {
			c.program(s, e)
		}
	}
	c.scripts(s)
}

// twice finds keys that an object of the hooks has more than once.
func (c *checker) twice(s *source) {
	if s.Kind == CodexConfig || s.Kind == ClaudeFront {
		return // TOML and YAML refuse them
	}
	doc, err := confedit.ParseJSON(s.text, confedit.Comments)
	if err != nil {
		return
	}
	raw, ok := doc.Get(nil)
	if !ok {
		return
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var walk func(path confedit.Path) bool
	walk = func(path confedit.Path) bool {
		t, err := dec.Token()
		if err != nil {
			return false
		}
		switch t {
		case json.Delim('{'):
			seen := map[string]bool{}
			for dec.More() {
				k, err := dec.Token()
				if err != nil {
					return false
				}
				key, _ := k.(string)
				at := path.With(key)
				if seen[key] && (len(path) == 0 || path[0] == "hooks") {
					name := ""
					if len(at) > 1 && at[0] == "hooks" {
						name, _ = at[1].(string)
					}
					c.add(s, keyTwice, name, at, "%q is there twice, and only the last one counts", key)
				}
				seen[key] = true
				if !walk(at) {
					return false
				}
			}
			_, err = dec.Token()
		case json.Delim('['):
			for i := 0; dec.More(); i++ {
				if !walk(path.With(i)) {
					return false
				}
			}
			_, err = dec.Token()
		}
		return err == nil
	}
	walk(nil)
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "something else"
}

// shape finds what the client drops because of its form.
func (c *checker) shape(s *source) {
	value, has := s.root["hooks"]
	if !has || value == nil {
		c.misplaced(s)
		return
	}
	hooks, ok := value.(map[string]any)
	if !ok {
		c.add(s, c.dropRule(s), "", confedit.Path{"hooks"}, "hooks is %s, not an object with events", kindOf(value))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		if s.Kind == CodexConfig && name == "state" {
			continue
		}
		at := confedit.Path{"hooks", name}
		if _, known := s.find(name); !known {
			c.unknownEvent(s, name, at)
		}
		list, ok := hooks[name].([]any)
		if !ok {
			c.add(s, c.dropRule(s), name, at, "the value of %s is %s, not a list of groups", name, kindOf(hooks[name]))
			continue
		}
		for i, item := range list {
			c.group(s, name, at.With(i), item)
		}
	}
}

// dropRule is the rule for a value whose type loses more than itself.
func (c *checker) dropRule(s *source) string {
	if s.Kind == ClaudeSettings {
		return settingsLost
	}
	return groupDropped
}

func (c *checker) misplaced(s *source) {
	if s.Kind == ClaudeFront {
		return
	}
	var names []string
	for name := range s.root {
		_, isList := s.root[name].([]any)
		if _, known := s.find(name); known && isList {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c.add(s, hooksMisplaced, name, confedit.Path{name}, "%s stands at the top of the file", name)
	}
}

func (c *checker) unknownEvent(s *source, name string, at confedit.Path) {
	hint := ""
	for _, row := range census.Events(s.Provider) {
		for _, known := range []string{row.Native, row.Pascal} {
			if known != "" && (strings.EqualFold(known, name) || strings.EqualFold(string(row.Name), name)) {
				hint = fmt.Sprintf("; it is spelled %s here", known)
			}
		}
	}
	if hint == "" {
		client, _ := census.Of(s.Provider)
		for _, p := range census.Providers() {
			if other, ok := census.Find(p, name); ok && p != s.Provider {
				theirs, _ := census.Of(p)
				hint = fmt.Sprintf("; %s is an event of %s", other.Native, theirs.Title)
				break
			}
		}
		if hint == "" {
			if near := nearest(name, eventNames(s.Provider)); near != "" {
				hint = "; is " + near + " meant?"
			}
		}
		c.add(s, eventUnknown, name, at, "%s has no event %q%s", client.Title, name, hint)
		return
	}
	c.add(s, eventUnknown, name, at, "there is no event %q%s", name, hint)
}

func eventNames(p event.Provider) []string {
	var out []string
	for _, e := range census.Events(p) {
		out = append(out, e.Native)
		if e.Pascal != "" {
			out = append(out, e.Pascal)
		}
	}
	return out
}

func (c *checker) group(s *source, name string, at confedit.Path, item any) {
	group, ok := item.(map[string]any)
	if !ok {
		c.add(s, groupDropped, name, at, "this is %s, not an object with a list of hooks", kindOf(item))
		return
	}
	if m, has := group["matcher"]; has {
		if _, isText := m.(string); !isText {
			c.add(s, groupDropped, name, at.With("matcher"), "the matcher is %s, not a text", kindOf(m))
		}
	}
	inner, has := group["hooks"]
	if !has && s.Provider == event.Copilot {
		c.keys(s, name, at, group, copilotKeys)
		return
	}
	list, isList := inner.([]any)
	if !isList {
		what := "no list of hooks"
		if _, flat := group["command"]; flat && !has {
			what = "a handler without the group around it"
		}
		c.add(s, groupDropped, name, at, "this is %s", what)
		return
	}
	c.keys(s, name, at, group, groupKeys)
	if len(list) == 0 && s.Provider != event.Codex {
		c.add(s, groupDropped, name, at, "the list of hooks is empty")
	}
	for j, item := range list {
		if fields, ok := item.(map[string]any); ok {
			c.keys(s, name, at.With("hooks", j), fields, handlerKeys(s, fields))
			continue
		}
		c.add(s, handlerDropped, name, at.With("hooks", j), "this is %s, not a handler", kindOf(item))
	}
}

// The keys that clients know, and those that only other clients know.
var (
	groupKeys   = []string{"matcher", "hooks", "description"}
	copilotKeys = []string{"type", "command", "bash", "powershell", "exec", "args", "cwd", "env", "timeoutSec", "timeout", "matcher", "url", "headers",
		"prompt", "description", "comment", "hooks",
		"windows", "linux", "osx"} // VS Code's, which reads the files of projects as well
	claudeKeys = map[census.Kind][]string{
		census.Command: {"command", "args", "async", "asyncRewake", "shell"},
		census.HTTP:    {"url", "headers", "allowedEnvVars"},
		census.MCPTool: {"server", "tool", "input"},
		census.Prompt:  {"prompt", "model", "continueOnBlock"},
		census.Agent:   {"prompt", "model"},
	}
	claudeShared = []string{"type", "if", "timeout", "statusMessage", "once", "description"}
	codexKeys    = []string{"type", "command", "commandWindows", "timeout", "async", "statusMessage", "additionalContextLimit", "server", "tool", "input", "description"}
)

func handlerKeys(s *source, fields map[string]any) []string {
	switch s.Provider {
	case event.Codex:
		return codexKeys
	case event.Copilot:
		return append([]string{"if", "statusMessage"}, copilotKeys...)
	}
	kind, _ := fields["type"].(string)
	own, known := claudeKeys[census.Kind(kind)]
	if !known || kind == "" {
		return nil // said elsewhere
	}
	return append(slices.Clone(own), claudeShared...)
}

// codexLost are keys of others that change what a hook does.
var codexLost = map[string]string{
	"args":        "the command runs without them",
	"if":          "the hook runs on every call that the matcher matches",
	"env":         "the variables are not set",
	"shell":       "the shell is the client's own",
	"once":        "the hook runs every time",
	"asyncRewake": "the client waits for the hook as for any other",
	"id":          "",
	"model":       "",
	"prompt":      "",
	"url":         "",
	"headers":     "",
}

func (c *checker) keys(s *source, name string, at confedit.Path, fields map[string]any, known []string) {
	if known == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(known, key) || strings.HasPrefix(key, "//") || strings.HasPrefix(key, "_") || strings.HasPrefix(key, "$") {
			continue // people write comments as keys, which every client lets pass
		}
		if lost, is := codexLost[key]; is && s.Provider == event.Codex {
			if lost == "" {
				continue
			}
			f := c.add(s, keyIgnored, name, at.With(key), "Codex ignores %s: %s", key, lost)
			if key == "args" {
				f.Severity = Error
			}
			continue
		}
		hint := ""
		if near := nearest(key, known); near != "" {
			hint = "; is " + near + " meant?"
		}
		if strings.HasPrefix(strings.ToLower(key), "timeout") || strings.EqualFold(key, "timeout_ms") {
			unit := "timeout, in seconds"
			if s.Provider == event.Copilot {
				unit = "timeoutSec, in seconds"
			}
			hint = "; the key is " + unit
		}
		c.add(s, keyUnknown, name, at.With(key), "%q is no key that counts here%s", key, hint)
	}
}

// handler looks at what a handler is, apart from what it runs.
func (c *checker) handler(s *source, e *entry) {
	kind := e.kind()
	raw, has := e.fields["type"]
	if !has {
		if s.Provider != event.Copilot {
			c.on(s, handlerDropped, e, "", "the handler has no type")
			return
		}
		kind = census.Command
		if _, url := e.fields["url"]; url {
			kind = census.HTTP
		}
	} else if _, text := raw.(string); !text {
		c.on(s, handlerDropped, e, "type", "the type is %s, not a text", kindOf(raw))
		return
	}
	if !c.complete(s, e, kind) {
		return
	}
	unknown := e.census.Name == event.PreSkillShellCommand // what it runs besides commands was not found out
	if !e.census.Runs(kind) && !unknown && !(s.Provider == event.Codex && kind == census.HTTP) {
		client, _ := census.Of(s.Provider)
		var may []string
		for _, k := range e.census.Kinds {
			may = append(may, string(k))
		}
		c.on(s, handlerKind, e, "type", "%s runs no %s handler on %s, only %s", client.Title, kind, e.event, strings.Join(may, ", "))
	}
	c.timeout(s, e)
	switch s.Provider {
	case event.Claude:
		c.claudeHandler(s, e)
	case event.Codex:
		c.codexHandler(s, e)
	case event.Copilot:
		c.copilotHandler(s, e, kind)
	}
}

// complete reports whether a handler has what its kind needs.
func (c *checker) complete(s *source, e *entry, kind census.Kind) bool {
	needs := map[census.Kind][]string{
		census.Command: {"command"}, census.HTTP: {"url"}, census.MCPTool: {"server", "tool"}, census.Prompt: {"prompt"}, census.Agent: {"prompt"},
	}
	keys, known := needs[kind]
	if !known {
		if s.Provider == event.Codex {
			c.on(s, codexVoid, e, "type", "the type %q is unknown to Codex, which rejects the whole file for it", kind)
			return false
		}
		c.on(s, handlerDropped, e, "type", "there is no type %q", kind)
		return false
	}
	if s.Provider == event.Codex && (kind == census.Prompt || kind == census.Agent) {
		return true // skipped whatever they hold
	}
	if s.Provider == event.Copilot && kind == census.Command {
		for _, key := range []string{"command", "bash", "powershell", "exec"} {
			if e.text(key) != "" {
				return true
			}
		}
		c.on(s, handlerDropped, e, "", "the entry has neither command nor bash, powershell or exec")
		return false
	}
	for _, key := range keys {
		if e.text(key) == "" {
			c.on(s, handlerDropped, e, key, "a %s handler needs %s", kind, key)
			return false
		}
	}
	return true
}

func (c *checker) timeout(s *source, e *entry) {
	key := "timeout"
	if s.Provider == event.Copilot {
		key = "timeoutSec"
		if _, has := e.fields[key]; !has {
			key = "timeout"
		}
	}
	value, has := e.fields[key]
	if !has || value == nil {
		return
	}
	number, ok := value.(json.Number)
	if !ok {
		rule := handlerDropped
		if s.Provider == event.Codex {
			rule = codexVoid
		}
		c.on(s, rule, e, key, "%s is %s, not a number of seconds", key, kindOf(value))
		return
	}
	n, err := strconv.ParseFloat(number.String(), 64)
	if err != nil {
		return
	}
	if s.Provider == event.Codex && n != float64(int64(n)) || s.Provider == event.Codex && strings.ContainsAny(number.String(), ".eE") {
		c.on(s, codexVoid, e, key, "the timeout %s has a fraction, for which Codex rejects the whole file", number)
		return
	}
	limit := e.census.Timeout.Max
	switch {
	case n >= 1000 && n == float64(int64(n)) && int64(n)%1000 == 0:
		c.on(s, timeoutUnit, e, key, "%s s are %s", number, long(n))
	case limit != 0 && n > limit && s.Provider != event.Copilot:
		c.on(s, timeoutCut, e, key, "%s s are cut to %v s", number, limit)
	}
}

func long(seconds float64) string {
	if seconds < 2*3600 {
		return fmt.Sprintf("%.0f minutes", seconds/60)
	}
	return fmt.Sprintf("%.0f hours", seconds/3600)
}

// duplicates finds handlers that the client takes for one, in one file or in
// several (contracts/claude §7).
func (c *checker) duplicates(all []*source) {
	type key struct{ event, id string }
	type place struct {
		s *source
		e *entry
	}
	first := map[key]place{}
	for _, s := range all {
		if s.Kind != ClaudeSettings && s.Kind != ClaudePlugin {
			continue
		}
		for i := range s.entries {
			e := &s.entries[i]
			if e.kind() != census.Command {
				continue
			}
			args, _ := json.Marshal(e.fields["args"])
			k := key{e.event, e.text("command") + "\x00" + string(args) + "\x00" + e.text("if")}
			if strings.Contains(k.id, "CLAUDE_PLUGIN_ROOT") {
				k.id += "\x00" + s.Path // another one in every plugin
			}
			before, seen := first[k]
			if !seen {
				first[k] = place{s, e}
				continue
			}
			why, same := differs(before.e, e)
			if where := filepath.Base(before.s.Path); why != "" && before.s == s {
				c.on(s, handlerTwice, e, "command", "the same command stands under %s already, %s", e.event, why)
			} else if why != "" && !same {
				c.on(s, handlerTwice, e, "command", "the same command stands under %s in %s, %s", e.event, where, why)
			}
		}
	}
}

// differs says what is wrong with two handlers that run as one, "" if nothing is;
// same is set where they are alike in everything.
func differs(a, b *entry) (why string, same bool) {
	for _, key := range []string{"timeout", "async", "asyncRewake", "shell"} {
		x, _ := json.Marshal(a.fields[key])
		y, _ := json.Marshal(b.fields[key])
		if !bytes.Equal(x, y) {
			return "with another " + key + ", and only one of them counts", false
		}
	}
	matcher := func(m *string) string {
		if m == nil || *m == "*" {
			return ""
		}
		return *m
	}
	if matcher(a.matcher) == matcher(b.matcher) {
		return "with the same matcher: it runs once", true
	}
	return "", false
}

// nearest returns the word that word was probably meant to be, or "".
func nearest(word string, words []string) string {
	best, bestCost := "", len(word)/3+1
	for _, w := range words {
		if strings.EqualFold(w, word) {
			return w
		}
		if cost := distance(word, w); cost < bestCost {
			best, bestCost = w, cost
		}
	}
	return best
}

// distance is the number of letters to change, add or remove, without regard to case.
func distance(a, b string) int {
	const most = 64
	if len(a) > most || len(b) > most {
		return most
	}
	lower := func(c byte) byte {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	var row [most + 1]int
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if lower(a[i-1]) != lower(b[j-1]) {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
