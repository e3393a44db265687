package hook

import (
	"encoding/json"
	"strings"

	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Command is a command that a shell tool would run.
type Command struct {
	Text        string // as the model wrote it; never parse it with a regexp alone
	Description string // what the model says it is for
	Dir         string // the folder it asks for; "" means Event.Cwd
	Background  bool   // asked to run on after the call
	PowerShell  bool   // PowerShell, not a POSIX shell
}

// Bash returns the shell command that the event is about, whichever client's
// shell tool it is: Bash, bash, PowerShell, shell, exec_command, a command in a
// skill's text. Codex sends patches as "command" too; those are Edit's.
func (e Event) Bash() (Command, bool) {
	t, ok := e.Tool()
	if !ok || e.serverOf() != "" {
		return Command{}, false
	}
	power := false
	switch t.Name {
	case "Bash", "bash", "shell", "sh", "exec_command", "shell_command", "local_shell", "container.exec", "Monitor", "write_bash":
	case "PowerShell", "powershell", "pwsh", "write_powershell":
		power = true
	default:
		if e.Name != PreSkillShellCommand {
			return Command{}, false
		}
	}
	c := Command{PowerShell: power, Text: commandText(preferred(t.Input, "command", "cmd", "input"))}
	_ = jsontext.Object(t.Input, func(key, value []byte) bool {
		switch string(key) {
		case "description":
			c.Description, _ = jsontext.String(value)
		case "workdir", "cwd":
			c.Dir, _ = jsontext.String(value)
		case "run_in_background", "detach":
			c.Background = c.Background || jsontext.True(value)
		case "mode":
			mode, _ := jsontext.String(value)
			c.Background = c.Background || mode == "async"
		}
		return true
	})
	return c, true
}

// preferred returns the value of the first of keys that the object has. The order
// matters: a model may add a member that the client does not look at, so the one
// that the client uses must come first. Of a member given twice the last counts,
// as in the clients.
func preferred(object []byte, keys ...string) []byte {
	found := make([][]byte, len(keys))
	_ = jsontext.Object(object, func(key, value []byte) bool {
		for i, k := range keys {
			if string(key) == k {
				found[i] = value
			}
		}
		return true
	})
	for _, value := range found {
		if value != nil {
			return value
		}
	}
	return nil
}

// byClient sorts names of one member so that the client's own comes first.
func (e Event) byClient(claude, copilot, openCode string) []string {
	switch e.Provider {
	case Copilot:
		return []string{copilot, claude, openCode}
	case OpenCode:
		return []string{openCode, claude, copilot}
	}
	return []string{claude, openCode, copilot}
}

// commandText reads a command that is a text or a list of words.
func commandText(value []byte) string {
	if text, ok := jsontext.String(value); ok {
		return text
	}
	var words []string
	_ = jsontext.Array(value, func(item []byte) bool {
		word, _ := jsontext.String(item)
		words = append(words, word)
		return true
	})
	if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2] // ["bash", "-lc", "…"]
	}
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()*?[]{}~#!") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Change says what happens to a file.
type Change string

// The kinds of change.
const (
	Written Change = "written" // made, or replaced as a whole
	Edited  Change = "edited"  // changed in part
	Deleted Change = "deleted"
	Moved   Change = "moved" // to FileChange.To, perhaps changed on the way
)

// FileChange is what a call does to one file.
type FileChange struct {
	Path   string // as the client has it: absolute, or relative to Event.Cwd
	Change Change
	To     string // Moved: where to
	Added  string // the text that comes in: the content, the replacement, the added lines
}

// Edit is a call of a file tool.
type Edit struct{ Files []FileChange }

// Paths lists every file that is touched, new names included.
func (e Edit) Paths() []string {
	var all []string
	for _, f := range e.Files {
		all = append(all, f.Path)
		if f.To != "" {
			all = append(all, f.To)
		}
	}
	return all
}

// Edit returns what a file tool would change or has changed: Write, Edit,
// MultiEdit and NotebookEdit of Claude Code, apply_patch of Codex, create and
// edit of Copilot, write, edit and patch of OpenCode. A patch may touch many
// files. Files that a shell command writes are not here.
func (e Event) Edit() (Edit, bool) {
	t, ok := e.Tool()
	if !ok || e.serverOf() != "" {
		return Edit{}, false
	}
	var f FileChange
	switch t.Name {
	case "Write", "write", "create", "create_file", "write_file":
		f.Change = Written
	case "Edit", "MultiEdit", "NotebookEdit", "edit", "multiedit", "str_replace", "str_replace_editor", "insert", "replace", "edit_file":
		f.Change = Edited
	case "apply_patch", "ApplyPatch", "patch":
		return Edit{Files: patched(patchText(preferred(t.Input, e.byClient("command", "patch", "patchText")...)))}, true
	default:
		return Edit{}, false
	}
	var added, paths []string
	var diff string
	add := func(list *[]string, value []byte) {
		if text, ok := jsontext.String(value); ok && text != "" {
			*list = append(*list, text)
		}
	}
	member := func(key, value []byte) {
		switch string(key) {
		case "file_path", "filePath", "path", "notebook_path":
			add(&paths, value)
		case "content", "new_string", "newString", "new_str", "file_text", "new_source", "insert_text":
			add(&added, value)
		case "diff":
			diff, _ = jsontext.String(value)
		}
	}
	_ = jsontext.Object(t.Input, func(key, value []byte) bool {
		if string(key) == "edits" {
			_ = jsontext.Array(value, func(item []byte) bool {
				_ = jsontext.Object(item, func(k, v []byte) bool { member(k, v); return true })
				return true
			})
			return true
		}
		member(key, value)
		return true
	})
	if diff != "" {
		added = append(added, addedLines(diff))
	}
	f.Added = strings.Join(added, "\n")
	edit := Edit{}
	for _, p := range unique(paths) {
		f.Path = p
		edit.Files = append(edit.Files, f)
	}
	return edit, true
}

func unique(list []string) []string {
	var out []string
	for _, s := range list {
		seen := false
		for _, o := range out {
			seen = seen || o == s
		}
		if !seen {
			out = append(out, s)
		}
	}
	return out
}

// patchText reads a patch that is a text or the last word of a call.
func patchText(value []byte) string {
	if text, ok := jsontext.String(value); ok {
		return text
	}
	text := ""
	_ = jsontext.Array(value, func(item []byte) bool { // ["apply_patch", "*** Begin Patch…"]
		text, _ = jsontext.String(item)
		return true
	})
	return text
}

// patched reads the files out of an apply_patch envelope. The client allows
// blanks before a header, so a header is looked for behind them; a context line
// that looks like one then counts as a file too many, never as one too few.
func patched(patch string) []FileChange {
	var files []FileChange
	var added []string
	flush := func() {
		if len(files) > 0 && len(added) > 0 {
			files[len(files)-1].Added = strings.Join(added, "\n")
		}
		added = nil
	}
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if text, ok := strings.CutPrefix(line, "+"); ok {
			added = append(added, text)
			continue
		}
		verb, path, ok := strings.Cut(strings.TrimSpace(line), ":")
		path = strings.TrimSpace(path)
		if !ok || path == "" {
			continue
		}
		switch verb {
		case "*** Add File":
			flush()
			files = append(files, FileChange{Path: path, Change: Written})
		case "*** Update File":
			flush()
			files = append(files, FileChange{Path: path, Change: Edited})
		case "*** Delete File":
			flush()
			files = append(files, FileChange{Path: path, Change: Deleted})
		case "*** Move to":
			if len(files) > 0 {
				files[len(files)-1].Change, files[len(files)-1].To = Moved, path
			}
		}
	}
	flush()
	if files != nil {
		return files
	}
	for line := range strings.Lines(patch) { // a unified diff
		if path, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "+++ "); ok {
			path, _, _ = strings.Cut(path, "\t")
			path = strings.TrimPrefix(strings.TrimSpace(path), "b/")
			if path != "/dev/null" {
				files = append(files, FileChange{Path: path, Change: Edited, Added: addedLines(patch)})
			}
		}
	}
	return files
}

// addedLines returns the lines that a unified diff adds.
func addedLines(diff string) string {
	var out []string
	for line := range strings.Lines(diff) {
		if text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "+"); ok && !strings.HasPrefix(text, "++ ") {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}

// Read returns the file that a read tool looks at. Files that a shell command
// reads are not here.
func (e Event) Read() (path string, ok bool) {
	t, ok := e.Tool()
	if !ok || e.serverOf() != "" {
		return "", false
	}
	switch t.Name {
	case "Read", "read", "view", "read_file", "NotebookRead", "view_image":
	default:
		return "", false
	}
	path, _ = jsontext.String(preferred(t.Input, append(e.byClient("file_path", "path", "filePath"), "notebook_path")...))
	return path, true
}

// MCPCall is a call to a tool of an MCP server.
type MCPCall struct {
	Server, Tool string
	Input        json.RawMessage
}

// MCP returns the call to an MCP server. Copilot spells such a tool server-tool
// before a call, which cannot be told from a name with a dash; there it is found
// at PermissionRequest and PreMCPToolCall alone. OpenCode does not tell at all.
func (e Event) MCP() (MCPCall, bool) {
	server := e.serverOf()
	if server == "" {
		return MCPCall{}, false
	}
	t := e.in.Tool
	name := strings.TrimPrefix(strings.TrimPrefix(t.Name, "mcp__"+server+"__"), server+"/")
	return MCPCall{Server: server, Tool: name, Input: t.Input}, true
}

func (e Event) serverOf() string {
	if e.in == nil || e.in.Tool == nil {
		return ""
	}
	return e.in.Tool.MCPServer
}

// Result is what a call gave.
type Result struct {
	// Text is what the model reads of it, as far as this package knows the
	// tool's shape; Raw has everything.
	Text        string
	Raw         json.RawMessage // in the tool's own shape
	Failed      bool            // PostToolUseFailure
	Interrupted bool            // the person ended the call
}

// Result returns what a call gave; PostToolUse and PostToolUseFailure only.
func (e Event) Result() (Result, bool) {
	if e.in == nil || e.in.Tool == nil || e.Name != PostToolUse && e.Name != PostToolUseFailure {
		return Result{}, false
	}
	t := e.in.Tool
	r := Result{Raw: t.Response, Failed: e.Name == PostToolUseFailure, Interrupted: t.Interrupted}
	if r.Failed {
		r.Text = e.in.Error
		return r, true
	}
	r.Text = resultText(t.Response)
	return r, true
}

// resultText finds the model's part in the shapes that were seen: a bare text
// (Codex), stdout and stderr (Claude Code's shell), file.content (its Read),
// textResultForLlm (Copilot), output (OpenCode), content[].text (MCP).
func resultText(response []byte) string {
	if text, ok := jsontext.String(response); ok {
		return text
	}
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, text)
		}
	}
	blocks := func(value []byte) {
		_ = jsontext.Array(value, func(item []byte) bool { add(jsontext.Text(item, "text")); return true })
	}
	blocks(response)
	_ = jsontext.Object(response, func(key, value []byte) bool {
		switch string(key) {
		case "stdout", "stderr", "output", "textResultForLlm", "text_result_for_llm":
			text, _ := jsontext.String(value)
			add(text)
		case "content":
			if text, ok := jsontext.String(value); ok {
				add(text)
			} else {
				blocks(value)
			}
		case "file":
			add(jsontext.Text(value, "content"))
		}
		return true
	})
	return strings.Join(out, "\n")
}

// MapStrings returns Raw with f applied to every text in it, keys left alone,
// and whether anything changed. Everything else stays byte for byte, which is
// what makes it safe: a client takes a rewritten result only in the tool's own
// shape and lets the original pass otherwise. Hand the value to RewriteOutput.
func (r Result) MapStrings(f func(string) string) (json.RawMessage, bool) {
	return mapStrings(r.Raw, func(_, text string) string { return f(text) })
}

// mapStrings walks the strings of a JSON text. A string in front of a colon is a
// key, nothing else can be. f gets the nearest key before the value.
func mapStrings(raw []byte, f func(key, text string) string) (json.RawMessage, bool) {
	if !jsontext.Valid(raw) {
		return raw, false
	}
	var out []byte
	key, last := "", 0 // raw[:last] is in out
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := i + 1
		for raw[end] != '"' { // valid, so it ends
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		end++
		text, _ := jsontext.String(raw[i:end])
		next := end
		for next < len(raw) && (raw[next] == ' ' || raw[next] == '\n' || raw[next] == '\r' || raw[next] == '\t') {
			next++
		}
		if next < len(raw) && raw[next] == ':' {
			key = text
		} else if changed := f(key, text); changed != text {
			out = append(out, raw[last:i]...)
			out = jsontext.AppendString(out, changed)
			last = end
		}
		i = end - 1
	}
	if out == nil {
		return raw, false
	}
	return append(out, raw[last:]...), true
}
