package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// MCP is the registration of MCP servers in Copilot CLI, for one user (contract §7).
type MCP struct {
	File string // mcp-config.json
}

// NewMCP finds the file: mcp-config.json in COPILOT_HOME, else in .copilot of the
// home folder.
func NewMCP(env paths.Env, home string) MCP {
	return MCP{File: filepath.Join(New("", env, home, "").Root, "mcp-config.json")}
}

// Provider is the client's name.
func (m MCP) Provider() event.Provider { return event.Copilot }

// Title is the client's name for people.
func (m MCP) Title() string { return "Copilot CLI" }

// Present reports whether the client has been used here.
func (m MCP) Present() bool {
	info, err := os.Stat(filepath.Dir(m.File))
	return err == nil && info.IsDir()
}

// mcpEntry is what `copilot mcp add` writes, in this order.
type mcpEntry struct {
	Tools   []string `json:"tools"`
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (m MCP) at(name string) confedit.Path { return confedit.Path{"mcpServers", name} }

// read also reports whether the file has comments, which the client reads and,
// when it writes, loses.
func (m MCP) read(name string) (e install.Entry[mcpEntry], comments bool, err error) {
	f, err := confedit.Open(m.File)
	if err != nil {
		return e, false, err
	}
	doc, err := confedit.ParseJSON(f.Bytes(), confedit.Comments)
	if err != nil {
		return e, false, fmt.Errorf("%q: %w", m.File, err)
	}
	_, strict := confedit.ParseJSON(f.Bytes(), confedit.Strict)
	return install.ReadEntry[mcpEntry](doc, m.at(name)), strict != nil, nil
}

// Status tells how the registration stands.
func (m MCP) Status(want install.Server) install.ServerReport {
	r := install.ServerReport{Provider: m.Provider(), File: m.File, Name: want.Name, State: install.Missing}
	e, _, err := m.read(want.Name)
	switch {
	case err != nil:
		return r.Unusable(err)
	case e.Place(m.File) != nil:
		return r.NoPlace(e.Place(m.File))
	case e.There:
		r = r.Compare(append([]string{e.Value.Command}, e.Value.Args...), want)
		switch {
		case r.State != install.Installed:
		case e.Value.Type != "local" && e.Value.Type != "stdio":
			r.State, r.Detail = install.NeedsUpdate, fmt.Sprintf("type %q instead of \"local\"", e.Value.Type)
		case len(e.Value.Tools) == 0:
			r.State, r.Detail = install.NeedsUpdate, "none of its tools is enabled"
		}
	}
	return r
}

// Register plans the registration: by `copilot mcp add`, which refuses a name that
// is taken, so the old entry goes first; by an edit of the file where there is no
// copilot on PATH or something would get lost.
func (m MCP) Register(want install.Server, records install.Records, find install.Finder) (install.Registration, error) {
	e, comments, err := m.read(want.Name)
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
	program := find("copilot")
	switch {
	case program == "":
	case comments:
		r.Why = "the file has comments, which `copilot mcp` would drop"
	case e.Others("tools", "type", "command", "args"):
		r.Why = "the entry has settings of yours, which `copilot mcp` would drop"
	default:
		if e.There {
			r.Commands = append(r.Commands, m.removal(program, want.Name))
		}
		r.Commands = append(r.Commands, install.Command{
			Argv: slices.Concat([]string{program, "mcp", "add", want.Name, "--", want.Command}, want.Args)})
	}
	tools := e.Value.Tools
	if len(tools) == 0 {
		tools = []string{"*"}
	}
	edit := install.SetServer(confedit.Comments, m.at(want.Name), mcpEntry{[]string{"*"}, "local", want.Command, want.Args},
		confedit.Pair{Key: "tools", Value: tools}, confedit.Pair{Key: "type", Value: "local"},
		confedit.Pair{Key: "command", Value: want.Command}, confedit.Pair{Key: "args", Value: want.Args})
	err = r.Plan.AddAs(install.ServerRecord(m.File), m.File, false, records, edit)
	return r, err
}

func (m MCP) removal(program, name string) install.Command {
	return install.Command{Argv: []string{program, "mcp", "remove", name}}
}

// Unregister plans the way back. An entry that lidguard wrote itself it takes out
// itself, so that every byte comes back.
func (m MCP) Unregister(want install.Server, records install.Records, find install.Finder) (install.Registration, error) {
	var r install.Registration
	if now := m.Status(want); now.State == install.Foreign || now.Gone() && records[install.ServerRecord(m.File)] == nil {
		return r, nil
	}
	_, comments, err := m.read(want.Name)
	if err != nil {
		return r, err
	}
	if program := find("copilot"); program != "" && records[install.ServerRecord(m.File)] == nil {
		if comments {
			r.Why = "the file has comments, which `copilot mcp` would drop"
		} else {
			r.Commands = append(r.Commands, m.removal(program, want.Name))
		}
	}
	err = r.Plan.AddAs(install.ServerRecord(m.File), m.File, true, records, install.DropServer(confedit.Comments, m.at(want.Name), func(doc *confedit.JSON) bool {
		e := install.ReadEntry[mcpEntry](doc, m.at(want.Name))
		state, _ := install.Registered(append([]string{e.Value.Command}, e.Value.Args...), want)
		return state != install.Foreign
	}))
	return r, err
}
