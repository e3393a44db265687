package replay

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
)

// What the real clients sent, one file for each event; names, paths and times are
// neutral. docs/contracts tells the versions.
//
//go:embed fixtures
var fixtures embed.FS

// project is the folder that the fixtures were taken in.
const project = "/home/dev/project"

// Fixture is a real payload of an event, taken in dir.
func Fixture(p event.Provider, native, dir string) ([]byte, error) {
	row, ok := find(p, native)
	if !ok {
		return nil, fmt.Errorf("%s has no event %q", p, native)
	}
	data, err := fixtures.ReadFile("fixtures/" + string(p) + "/" + row.Native + ".json")
	if err != nil {
		return nil, fmt.Errorf("no payload of %s %q is kept here; give one", p, row.Native)
	}
	data = bytes.TrimSpace(data)
	if p == event.OpenCode { // what the plugin adds
		data = append([]byte(`{"directory":"`+project+`","pid":1,`), data[1:]...)
	}
	quoted, err := json.Marshal(dir)
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(data, []byte(project), quoted[1:len(quoted)-1]), nil
}

// Natives are the events of a client that lidguard's word name stands for. Copilot's
// other spelling is left out.
func Natives(p event.Provider, name event.Name) []string {
	return natives()[[2]string{string(p), string(name)}]
}

var natives = sync.OnceValue(func() map[[2]string][]string {
	m := map[[2]string][]string{}
	for _, e := range census.All() {
		key := [2]string{string(e.Provider), string(e.Name)}
		m[key] = append(m[key], e.Native)
	}
	return m
})

// Make says what is to be put into a payload. Empty fields leave the fixture's.
type Make struct {
	Session string
	Tool    string // the client's own name, where none below says it

	Command string // a shell command
	Write   string // a file that is written, with Content
	Edit    string // a file that is edited, with Content as the new text
	Read    string // a file that is read
	Content string
	Input   json.RawMessage // arguments of Tool

	Output string // what the call gave
	Prompt string
	Last   string // the last words of the assistant
	Active bool   // the turn was kept going before
	Source string // of a session's start
	Extra  map[string]json.RawMessage
}

// object is a JSON object that is being put together.
type members map[string]any

// Payload builds a payload from the event's fixture.
func (m Make) Payload(p event.Provider, native, dir string) ([]byte, error) {
	data, err := Fixture(p, native, dir)
	if err != nil {
		return nil, err
	}
	var top members
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, fmt.Errorf("the fixture of %s %q: %w", p, native, err)
	}
	switch p {
	case event.OpenCode:
		m.openCode(top, native)
	case event.Copilot:
		m.copilot(top)
	default:
		m.claude(p, top)
	}
	for key, value := range m.Extra {
		top[key] = value
	}
	return plain(top)
}

// plain is json.Marshal that leaves < and & as they are, as the clients do.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func (o members) set(key, value string) {
	if value != "" {
		o[key] = value
	}
}

// call is the tool and the arguments of a call, in a client's words.
func (m Make) call(p event.Provider) (tool string, input any) {
	pick := func(claude, copilot, openCode string) string {
		switch p {
		case event.Copilot:
			return copilot
		case event.OpenCode:
			return openCode
		}
		return claude
	}
	path := pick("file_path", "path", "filePath")
	switch {
	case m.Input != nil:
		return m.Tool, m.Input
	case m.Command != "":
		tool, input = pick("Bash", "bash", "bash"), members{"command": m.Command}
	case p == event.Codex && (m.Write != "" || m.Edit != ""):
		tool, input = "apply_patch", members{"command": m.patch()}
	case m.Write != "":
		tool, input = pick("Write", "create", "write"), members{path: m.Write, pick("content", "file_text", "content"): m.Content}
	case m.Edit != "":
		tool, input = pick("Edit", "edit", "edit"), members{path: m.Edit, pick("old_string", "old_str", "oldString"): "before",
			pick("new_string", "new_str", "newString"): m.Content}
	case m.Read != "" && p == event.Codex:
		tool, input = "Bash", members{"command": "cat " + quote(m.Read)}
	case m.Read != "":
		tool, input = pick("Read", "view", "read"), members{path: m.Read}
	}
	if m.Tool != "" {
		tool = m.Tool
	}
	return tool, input
}

// patch is what Codex sends for a file tool.
func (m Make) patch() string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	if m.Write != "" {
		b.WriteString("*** Add File: " + m.Write + "\n")
	} else {
		b.WriteString("*** Update File: " + m.Edit + "\n@@\n-before\n")
	}
	for line := range strings.SplitSeq(m.Content, "\n") {
		b.WriteString("+" + line + "\n")
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// claude fills in a payload of Claude Code or Codex.
func (m Make) claude(p event.Provider, top members) {
	top.set("session_id", m.Session)
	tool, input := m.call(p)
	top.set("tool_name", tool)
	if input != nil {
		top["tool_input"] = input
	}
	if m.Output != "" {
		if _, failed := top["error"]; failed {
			top["error"] = m.Output
		} else if p == event.Claude && (tool == "" || tool == "Bash") {
			top["tool_response"] = members{"stdout": m.Output, "stderr": "", "interrupted": false, "isImage": false}
		} else {
			top["tool_response"] = m.Output
		}
	}
	top.set("prompt", m.Prompt)
	top.set("last_assistant_message", m.Last)
	top.set("source", m.Source)
	if m.Active {
		top["stop_hook_active"] = true
	}
}

func (m Make) copilot(top members) {
	top.set("sessionId", m.Session)
	tool, input := m.call(event.Copilot)
	top.set("toolName", tool)
	if input != nil {
		key := "toolArgs"
		if _, permission := top["toolInput"]; permission {
			key = "toolInput"
		}
		top[key] = input
	}
	if m.Output != "" {
		if _, failed := top["error"]; failed {
			top["error"] = m.Output
		} else {
			top["toolResult"] = members{"resultType": "success", "textResultForLlm": m.Output}
		}
	}
	top.set("prompt", m.Prompt)
	top.set("response", m.Last)
	top.set("source", m.Source)
	if m.Active {
		top["stop_hook_active"] = true
	}
}

func (m Make) openCode(top members, native string) {
	inside := func(key string) members {
		o, ok := top[key].(map[string]any)
		if !ok {
			o = map[string]any{}
			top[key] = o
		}
		return o
	}
	tool, input := m.call(event.OpenCode)
	if _, bus := top["type"]; bus {
		properties := inside("properties")
		properties.set("sessionID", m.Session)
		if native == "permission.asked" {
			properties.set("permission", tool)
			if input != nil {
				properties["metadata"] = input
			}
		}
		if m.Active {
			top["continued"] = 1
		}
		return
	}
	in := inside("input")
	in.set("sessionID", m.Session)
	in.set("tool", tool)
	switch native {
	case "tool.execute.before":
		if input != nil {
			inside("output")["args"] = input
		}
	case "tool.execute.after":
		if input != nil {
			in["args"] = input
		}
		if m.Output != "" {
			inside("output")["output"] = m.Output
		}
	case "chat.message":
		if m.Prompt != "" {
			inside("output")["parts"] = []members{{"type": "text", "text": m.Prompt}}
		}
	}
}
