package policy

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
)

// args are the members of a call's input that name files; the clients' names differ
// (docs/contracts, tables of tools).
type args struct {
	Command  any    `json:"command"`
	Input    any    `json:"input"`
	Patch    any    `json:"patchText"`
	FilePath string `json:"file_path"`
	Camel    string `json:"filePath"`
	Path     string `json:"path"`
	Notebook string `json:"notebook_path"`
}

// Named is the file that a call's input names; "" where it names none.
func Named(input json.RawMessage) string {
	var a args
	if json.Unmarshal(input, &a) != nil {
		return ""
	}
	for _, p := range [...]string{a.FilePath, a.Camel, a.Path, a.Notebook} {
		if p != "" {
			return path.Clean(p)
		}
	}
	return ""
}

// Patched are the files of a patch that a call's input is or holds, in order;
// ok is false where there is no patch. Codex sends the patch as its shell's command
// and logs it as a bare text, OpenCode names it patchText.
func Patched(input json.RawMessage) (files []string, ok bool) {
	var a args
	candidates := []any{string(input)}
	if json.Unmarshal(input, &a) == nil {
		candidates = []any{a.Command, a.Input, a.Patch}
	} else {
		var text string
		if json.Unmarshal(input, &text) == nil {
			candidates = []any{text}
		}
	}
	for _, c := range candidates {
		text, _ := c.(string)
		if !strings.HasPrefix(strings.TrimSpace(text), "*** Begin Patch") {
			continue
		}
		for line := range strings.Lines(text) {
			for _, mark := range [...]string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
				if file, found := strings.CutPrefix(strings.TrimSpace(line), mark); found {
					files = append(files, path.Clean(file))
				}
			}
		}
		return files, true
	}
	return nil, false
}

// Asked reports whether a person asks something of a session's own agent: a prompt
// that the client wrote itself begins nothing new.
func Asked(ev *event.Event) bool {
	return ev.Name == event.UserPromptSubmit && ev.AgentID == "" && ev.Source != event.Notified
}

// Writes reports whether a tool changes the file that its input names.
func Writes(tool string) bool {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit", "edit", "write", "create", "str_replace", "insert", "patch", "multiedit":
		return true
	}
	return false
}
