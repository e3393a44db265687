package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
)

// source is a file as understood: one tree, whatever language it is written in.
// Numbers are json.Number, so that 5 and 5.0 stay different.
type source struct {
	File
	text    []byte
	root    map[string]any
	at      func(confedit.Path) (line, column int)
	strict  bool // the client takes nothing but plain JSON
	entries []entry
	body    string // OpenCode plugins: the code
}

// entry is one handler of one event.
type entry struct {
	event  string // as written
	known  bool   // census has it
	census census.Event
	group  confedit.Path // the group, or the entry itself where there is none
	path   confedit.Path
	index  int // of the group under the event
	inner  int // of the handler in the group
	// matcher is nil where there is none.
	matcher *string
	fields  map[string]any
	nested  bool // inside a group's list of hooks

	command *command // what it runs, if it is a command
}

func (e *entry) text(key string) string { s, _ := e.fields[key].(string); return s }

// kind is the type of handler as written; Copilot's default is command.
func (e *entry) kind() census.Kind {
	if k, ok := e.fields["type"].(string); ok {
		return census.Kind(k)
	}
	return ""
}

// ours reports whether the entry is lidguard's, of whatever version and client.
func (e *entry) ours() bool {
	args, _ := e.fields["args"].([]any)
	for _, name := range []string{"claude-hook", "codex-hook", "copilot-hook", "opencode-hook"} {
		for _, key := range []string{"command", "bash", "powershell", "exec"} {
			line := e.text(key)
			if line != "" && (install.Calls(line, name) || install.IsProgram(line) && slices.Contains(args, any(name))) {
				return true
			}
		}
	}
	return false
}

// read understands a file. The source is nil where nothing can be made of it.
func read(host Host, f File, data []byte) (*source, []Finding) {
	src := &source{File: f, text: data, at: func(confedit.Path) (int, int) { return 0, 0 }}
	var found []Finding
	fail := func(rule string, err error) []Finding {
		finding := newFinding(rule, f, err.Error())
		if syntax, ok := errors.AsType[*confedit.SyntaxError](err); ok {
			finding.Line, finding.Column, finding.Message = syntax.Line, syntax.Column, syntax.Message
		}
		return append(found, finding)
	}
	switch f.Kind {
	case OpenCodePlugin:
		src.body = string(data)
		return src, nil
	case CodexConfig:
		doc, err := confedit.ParseTOML(data)
		if err != nil {
			return nil, fail(fileBroken, err)
		}
		root, _ := doc.Get(nil)
		src.root, _ = plainTree(root).(map[string]any)
		src.at = locate(doc.Locate)
	case ClaudeFront:
		root, at, err := frontMatter(data)
		if err != nil {
			return nil, fail(fileBroken, err)
		}
		if root == nil {
			return nil, nil // a plain document
		}
		src.root, src.at = root, at
	default:
		src.strict = f.Kind != OpenCodeConfig && f.Kind != CopilotSettings && f.Kind != CopilotConfig
		mode := confedit.Strict
		if !src.strict {
			mode = confedit.Comments
		}
		doc, err := confedit.ParseJSON(data, mode)
		if err != nil && src.strict {
			// What would be right but for comments is read on, for the rest of
			// what is to be said about it.
			loose, looseErr := confedit.ParseJSON(data, confedit.Comments)
			if looseErr != nil {
				return nil, fail(fileBroken, looseErr)
			}
			found = fail(jsonComment, err)
			doc, err = loose, nil
		}
		if err != nil {
			return nil, fail(fileBroken, err)
		}
		root := map[string]any{}
		if raw, ok := doc.Get(nil); ok {
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.UseNumber()
			if err := dec.Decode(&root); err != nil {
				return nil, fail(fileBroken, fmt.Errorf("the file holds no object that can be read: %w", err))
			}
		}
		src.root = root
		src.at = locate(doc.Locate)
	}
	src.collect()
	for i := range src.entries {
		src.entries[i].command = host.commandOf(src, &src.entries[i])
	}
	return src, found
}

func locate(find func(confedit.Path) (confedit.Position, bool)) func(confedit.Path) (int, int) {
	return func(p confedit.Path) (int, int) {
		for n := len(p); n >= 0; n-- { // the nearest that is written
			if at, ok := find(p[:n]); ok {
				return at.Line, at.Column
			}
		}
		return 0, 0
	}
}

// plainTree turns what go-toml and yaml make of numbers and times into what
// encoding/json makes of them.
func plainTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = plainTree(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plainTree(x)
		}
		return out
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		s := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.ContainsAny(s, ".nN") {
			s += ".0"
		}
		return json.Number(s)
	case time.Time:
		return v.String()
	case string, bool, nil:
		return v
	}
	return fmt.Sprint(v)
}

// frontMatter reads the YAML between the --- lines a Markdown file begins with;
// root is nil where there is none.
func frontMatter(data []byte) (root map[string]any, at func(confedit.Path) (int, int), err error) {
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, nil, nil
	}
	body, _, ok := strings.Cut("\n"+rest, "\n---")
	if !ok {
		return nil, nil, nil // a rule, not front matter
	}
	positions := map[string][2]int{}
	defer func() {
		// The YAML package answers some broken texts with a panic.
		if r := recover(); r != nil {
			root, at, err = nil, nil, fmt.Errorf("the front matter is no YAML")
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(body, "\n")), &doc); err != nil {
		return nil, nil, yamlError(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil, nil
	}
	budget := 20000 // nodes: aliases can multiply without end
	tree, ok := yamlTree(doc.Content[0], nil, positions, &budget).(map[string]any)
	if budget <= 0 {
		return nil, nil, fmt.Errorf("the front matter is too large")
	}
	if !ok {
		return nil, nil, nil
	}
	return tree, func(p confedit.Path) (int, int) {
		for n := len(p); n > 0; n-- {
			if pos, ok := positions[p[:n].String()]; ok {
				return pos[0] + 1, pos[1] // the line of --- comes before
			}
		}
		return 1, 1
	}, nil
}

// yamlError turns "yaml: line 3: …" into a place and a sentence.
func yamlError(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if _, scan := fmt.Sscanf(message, "line %d:", &line); scan == nil {
		_, message, _ = strings.Cut(message, ": ")
		return &confedit.SyntaxError{Position: confedit.Position{Line: line + 1, Column: 1}, Message: "the front matter is no YAML: " + message}
	}
	return errors.New("the front matter is no YAML: " + message)
}

func yamlTree(n *yaml.Node, path confedit.Path, positions map[string][2]int, budget *int) any {
	if *budget--; *budget <= 0 {
		return nil
	}
	if _, seen := positions[path.String()]; !seen {
		positions[path.String()] = [2]int{n.Line, n.Column}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return yamlTree(n.Alias, path, positions, budget)
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			at := path.With(key)
			positions[at.String()] = [2]int{n.Content[i].Line, n.Content[i].Column}
			out[key] = yamlTree(n.Content[i+1], at, positions, budget)
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for i, c := range n.Content {
			out = append(out, yamlTree(c, path.With(i), positions, budget))
		}
		return out
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		_ = n.Decode(&b)
		return b
	case "!!int", "!!float":
		return json.Number(n.Value)
	}
	return n.Value
}

// collect finds the entries of a source. What is not of the right shape is left
// out here and told by checkShape.
func (s *source) collect() {
	hooks, _ := s.root["hooks"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		if s.Kind == CodexConfig && name == "state" {
			continue
		}
		row, known := s.find(name)
		list, _ := hooks[name].([]any)
		for i, item := range list {
			group, ok := item.(map[string]any)
			if !ok {
				continue
			}
			at := confedit.Path{"hooks", name, i}
			e := entry{event: name, known: known, census: row, group: at, index: i}
			if m, ok := group["matcher"].(string); ok {
				e.matcher = &m
			}
			inner, nested := group["hooks"].([]any)
			if !nested {
				if s.Provider == event.Copilot { // its own form: the entry itself
					e.path, e.fields = at, group
					s.entries = append(s.entries, e)
				}
				continue
			}
			for j, item := range inner {
				if fields, ok := item.(map[string]any); ok {
					e := e
					e.path, e.fields, e.inner, e.nested = at.With("hooks", j), fields, j, true
					s.entries = append(s.entries, e)
				}
			}
		}
	}
}

// find is the census row of an event of this source; the front matter of an agent
// calls the end of the agent Stop.
func (s *source) find(name string) (census.Event, bool) {
	return census.Find(s.Provider, name)
}

// pascal reports whether the event is spelled in Copilot's PascalCase, which has
// Claude Code's payload and matchers.
func (e *entry) pascal() bool {
	return e.known && e.census.Pascal == e.event && e.census.Native != e.event
}
