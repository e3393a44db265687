package rule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/shell"
)

// call is one event with what was learned about it, each thing once.
type call struct {
	ctx context.Context // of the one judgement
	ev  *event.Event
	w   *World

	read  bool
	value any // the input, decoded
	in    fields
	err   error // why it cannot be read

	inspected bool
	shell     *shell.Facts
	unread    error // why the command cannot be
}

// fields are the parts of an input that rules look at.
type fields struct {
	command string
	paths   []string
}

func (c *call) dir() string {
	if c.w.Shell.Dir != "" {
		return c.w.Shell.Dir
	}
	return c.ev.Cwd
}

// fields reads the input. The names are those of Claude Code 2.1, Codex 0.14x,
// Copilot CLI 1.0 and OpenCode 1.x; see docs/contracts.
func (c *call) fields() (fields, error) {
	if c.read || c.ev.Tool == nil {
		return c.in, c.err
	}
	c.read = true
	if len(c.ev.Tool.Input) == 0 {
		return c.in, nil
	}
	if err := json.Unmarshal(c.ev.Tool.Input, &c.value); err != nil {
		c.err = fmt.Errorf("the call's input cannot be read: %w", err)
		return c.in, c.err
	}
	object, ok := c.value.(map[string]any)
	if !ok {
		if s, is := c.value.(string); is { // a patch, as Codex' custom tools take it
			c.in.paths = patched(s)
		}
		return c.in, nil
	}
	c.in.paths = append(c.in.paths, pathsIn(object)...)
	if edits, ok := object["edits"].([]any); ok {
		for _, e := range edits {
			if o, ok := e.(map[string]any); ok {
				c.in.paths = append(c.in.paths, pathsIn(o)...)
			}
		}
	}
	patch := canonical(c.ev.Tool.Name) == "apply_patch"
	for _, key := range [...]string{"command", "cmd", "script", "input", "patch", "patchText"} {
		text := wordsOf(object[key])
		switch {
		case text == "":
		case patch || strings.HasPrefix(key, "patch"):
			c.in.paths = append(c.in.paths, patched(text)...)
		case c.in.command == "" && key != "input":
			c.in.command = text
		}
	}
	return c.in, nil
}

func pathsIn(object map[string]any) []string {
	var list []string
	for _, key := range [...]string{"file_path", "path", "filePath", "notebook_path", "target_file", "directory"} {
		if s, ok := object[key].(string); ok && s != "" {
			list = append(list, s)
		}
	}
	return list
}

// wordsOf is a command as text, which some clients give as a list of words.
func wordsOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for i, w := range v {
			s, ok := w.(string)
			if !ok {
				return ""
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
		}
		return b.String()
	}
	return ""
}

// patched are the files that a patch in apply_patch's envelope touches.
func patched(patch string) []string {
	var list []string
	for line := range strings.Lines(patch) {
		for _, head := range [...]string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if name, ok := strings.CutPrefix(line, head); ok {
				list = append(list, strings.TrimSpace(name))
			}
		}
	}
	return list
}

// errOver: no rule can be sure of such a command.
var errOver = errors.New("the command cannot be read")

// facts are the programs of the call's command; nil where the call is none.
func (c *call) facts() (*shell.Facts, error) {
	if c.inspected || c.ev.Tool == nil {
		return c.shell, c.unread
	}
	in, err := c.fields()
	if err != nil {
		return nil, err
	}
	c.inspected = true
	d, ok := shell.Bash, c.ev.Name == event.PreSkillShellCommand
	if !ok && c.w.Dialect != nil {
		d, ok = c.w.Dialect(c.ev.Tool.Name)
	}
	if !ok || in.command == "" {
		return nil, nil
	}
	c.shell = shell.Inspect(in.command, d, c.w.Shell)
	if over := c.shell.Over; over != nil {
		c.unread = fmt.Errorf("%w: %s", errOver, over)
	}
	for _, p := range c.shell.Problems {
		if p.Kind == shell.Unparsable && c.unread == nil {
			c.unread = fmt.Errorf("%w: %s", errOver, p.Detail)
		}
	}
	return c.shell, c.unread
}

// input reports whether fits holds for a text in the call's input, or for the
// prompt.
func (c *call) input(fits func(string) bool) (bool, error) {
	if c.ev.Name == event.UserPromptSubmit {
		return fits(c.ev.Prompt), nil
	}
	if _, err := c.fields(); err != nil {
		return false, err
	}
	return texts(c.value, fits), nil
}

func texts(v any, fits func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return fits(v)
	case []any:
		for _, e := range v {
			if texts(e, fits) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if texts(e, fits) {
				return true
			}
		}
	case nil:
	default:
		return fits(fmt.Sprint(v))
	}
	return false
}

// canonical is Claude Code's name for what a tool does, so that one rule holds for
// every client; the tool's own name where there is none. See docs/contracts.
func canonical(tool string) string {
	switch tool {
	case "bash", "shell", "exec_command", "shell_command", "local_shell", "container.exec", "unified_exec", "run_in_terminal", "run_shell_command":
		return "Bash"
	case "powershell", "pwsh":
		return "PowerShell"
	case "write", "create", "create_file", "write_file":
		return "Write"
	case "edit", "str_replace", "str_replace_editor", "insert", "edit_file", "multiedit", "replace":
		return "Edit"
	case "read", "view", "read_file":
		return "Read"
	case "patch", "ApplyPatch":
		return "apply_patch"
	case "grep", "rg":
		return "Grep"
	case "glob":
		return "Glob"
	case "webfetch", "web_fetch", "fetch":
		return "WebFetch"
	case "websearch", "web_search":
		return "WebSearch"
	case "task":
		return "Task"
	}
	return tool
}
