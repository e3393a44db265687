package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// MCP is the registration of MCP servers in Claude Code, for all projects of one
// user (contract §9). The state is read from the file: the client's own list and
// get start every server.
type MCP struct {
	File string // .claude.json
	root string
}

// NewMCP finds the file: .claude.json in CLAUDE_CONFIG_DIR, else in the home folder.
func NewMCP(env paths.Env, home string) MCP {
	if root := env("CLAUDE_CONFIG_DIR"); root != "" {
		return MCP{File: filepath.Join(root, ".claude.json"), root: root}
	}
	return MCP{File: filepath.Join(home, ".claude.json"), root: filepath.Join(home, ".claude")}
}

// Provider is the client's name.
func (m MCP) Provider() event.Provider { return event.Claude }

// Title is the client's name for people.
func (m MCP) Title() string { return "Claude Code" }

// Present reports whether the client has been used here.
func (m MCP) Present() bool {
	info, err := os.Stat(m.root)
	return err == nil && info.IsDir()
}

// mcpEntry is what `claude mcp add` writes, in this order.
type mcpEntry struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

func (m MCP) at(name string) confedit.Path { return confedit.Path{"mcpServers", name} }

func (m MCP) read(name string) (install.Entry[mcpEntry], error) {
	f, err := confedit.Open(m.File)
	if err != nil {
		return install.Entry[mcpEntry]{}, err
	}
	doc, err := confedit.ParseJSON(f.Bytes(), confedit.Strict)
	if err != nil {
		return install.Entry[mcpEntry]{}, fmt.Errorf("%q: %w", m.File, err)
	}
	return install.ReadEntry[mcpEntry](doc, m.at(name)), nil
}

// Status tells how the registration stands.
func (m MCP) Status(want install.Server) install.ServerReport {
	r := install.ServerReport{Provider: m.Provider(), File: m.File, Name: want.Name, State: install.Missing}
	e, err := m.read(want.Name)
	switch {
	case err != nil:
		return r.Unusable(err)
	case e.Place(m.File) != nil:
		return r.NoPlace(e.Place(m.File))
	case e.There:
		r = r.Compare(append([]string{e.Value.Command}, e.Value.Args...), want)
		if r.State == install.Installed && e.Value.Type != "" && e.Value.Type != "stdio" {
			r.State, r.Detail = install.NeedsUpdate, fmt.Sprintf("type %q instead of \"stdio\"", e.Value.Type)
		}
	}
	return r
}

// Register plans the registration: by `claude mcp add`, which refuses a name that
// is taken, so the old entry goes first; by an edit of the file where there is no
// claude on PATH.
func (m MCP) Register(want install.Server, records install.Records, find install.Finder) (install.Registration, error) {
	e, err := m.read(want.Name)
	if err == nil {
		err = e.Place(m.File)
	}
	if err != nil {
		return install.Registration{}, err
	}
	switch m.Status(want).State {
	case install.Installed:
		return install.Registration{}, nil
	case install.Foreign:
		return install.Registration{}, fmt.Errorf("%q: %v: %w", m.File, m.at(want.Name), install.ErrForeignServer)
	}
	r := install.Registration{}
	program := find("claude")
	if program != "" && (e.Others("type", "command", "args", "env") || len(e.Value.Env) > 0) {
		r.Why = "the entry has settings of yours, which `claude mcp` would drop"
		program = ""
	}
	if program != "" {
		if e.There {
			r.Commands = append(r.Commands, m.removal(program, want.Name))
		}
		r.Commands = append(r.Commands, install.Command{
			Argv: slices.Concat([]string{program, "mcp", "add", "--scope", "user", want.Name, "--", want.Command}, want.Args)})
	}
	edit := install.SetServer(confedit.Strict, m.at(want.Name), mcpEntry{"stdio", want.Command, want.Args, map[string]string{}},
		confedit.Pair{Key: "type", Value: "stdio"}, confedit.Pair{Key: "command", Value: want.Command}, confedit.Pair{Key: "args", Value: want.Args})
	err = r.Plan.AddAs(install.ServerRecord(m.File), m.File, false, records, edit)
	return r, err
}

func (m MCP) removal(program, name string) install.Command {
	return install.Command{Argv: []string{program, "mcp", "remove", "--scope", "user", name}}
}

// Unregister plans the way back. An entry that lidguard wrote itself it takes out
// itself, so that every byte comes back.
func (m MCP) Unregister(want install.Server, records install.Records, find install.Finder) (install.Registration, error) {
	var r install.Registration
	if now := m.Status(want); now.State == install.Foreign || now.Gone() && records[install.ServerRecord(m.File)] == nil {
		return r, nil
	}
	if program := find("claude"); program != "" && records[install.ServerRecord(m.File)] == nil {
		r.Commands = append(r.Commands, m.removal(program, want.Name))
	}
	err := r.Plan.AddAs(install.ServerRecord(m.File), m.File, true, records, install.DropServer(confedit.Strict, m.at(want.Name), func(doc *confedit.JSON) bool {
		e := install.ReadEntry[mcpEntry](doc, m.at(want.Name))
		state, _ := install.Registered(append([]string{e.Value.Command}, e.Value.Args...), want)
		return state != install.Foreign
	}))
	if _, ok := errors.AsType[*confedit.SyntaxError](err); ok {
		err = fmt.Errorf("%w (lidguard does not touch a file it cannot read)", err)
	}
	return r, err
}
