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

// MCP is the registration of MCP servers in OpenCode, for one user (contract §5).
// The file is always edited: the client has a command to add a server and none to
// remove it.
type MCP struct {
	root string
}

// NewMCP finds the client's config folder as New does.
func NewMCP(env paths.Env, home string) MCP { return MCP{New("", env, home, "").Root} }

// Provider is the client's name.
func (m MCP) Provider() event.Provider { return event.OpenCode }

// Title is the client's name for people.
func (m MCP) Title() string { return "OpenCode" }

// Present reports whether the client has been used here.
func (m MCP) Present() bool {
	info, err := os.Stat(m.root)
	return err == nil && info.IsDir()
}

// mcpEntry is what `opencode mcp add` writes, in this order.
type mcpEntry struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled *bool    `json:"enabled,omitempty"`
}

func (m MCP) at(name string) confedit.Path { return confedit.Path{"mcp", name} }

// file chooses among the client's config files: the one with the entry, else the
// one that is there, else the one the client would make. All of them are read by
// the client, the later ones last.
func (m MCP) file(name string) (path string, e install.Entry[mcpEntry], err error) {
	path = filepath.Join(m.root, "opencode.jsonc")
	found := false
	for _, base := range []string{"opencode.jsonc", "opencode.json", "config.json"} {
		candidate := filepath.Join(m.root, base)
		f, err := confedit.Open(candidate)
		if err != nil {
			return candidate, e, err
		}
		if !f.Exists {
			continue
		}
		doc, err := confedit.ParseJSON(f.Bytes(), confedit.Comments)
		if err != nil {
			return candidate, e, fmt.Errorf("%q: %w", candidate, err)
		}
		entry := install.ReadEntry[mcpEntry](doc, m.at(name))
		if entry.There {
			return candidate, entry, nil
		}
		if !found && base != "config.json" {
			path, e, found = candidate, entry, true
		}
	}
	return path, e, nil
}

// Status tells how the registration stands.
func (m MCP) Status(want install.Server) install.ServerReport {
	path, e, err := m.file(want.Name)
	r := install.ServerReport{Provider: m.Provider(), File: path, Name: want.Name, State: install.Missing}
	switch {
	case err != nil:
		return r.Unusable(err)
	case e.Place(path) != nil:
		return r.NoPlace(e.Place(path))
	case e.There:
		r = r.Compare(e.Value.Command, want)
		switch {
		case r.State != install.Installed:
		case e.Value.Type != "local":
			r.State, r.Detail = install.NeedsUpdate, fmt.Sprintf("type %q instead of \"local\"", e.Value.Type)
		case e.Value.Enabled != nil && !*e.Value.Enabled:
			r.State, r.Detail = install.Off, "enabled is false"
		}
	}
	return r
}

// Register plans the registration. Who has switched the server off keeps it so.
func (m MCP) Register(want install.Server, records install.Records, _ install.Finder) (install.Registration, error) {
	var r install.Registration
	path, e, err := m.file(want.Name)
	if err == nil {
		err = e.Place(path)
	}
	if err != nil {
		return r, err
	}
	switch m.Status(want).State {
	case install.Installed, install.Off:
		return r, nil
	case install.Foreign:
		return r, fmt.Errorf("%q: %v: %w", path, m.at(want.Name), install.ErrForeignServer)
	}
	command := slices.Concat([]string{want.Command}, want.Args)
	err = r.Plan.AddAs(install.ServerRecord(path), path, false, records, install.SetServer(confedit.Comments, m.at(want.Name),
		mcpEntry{Type: "local", Command: command}, confedit.Pair{Key: "type", Value: "local"}, confedit.Pair{Key: "command", Value: command}))
	return r, err
}

// Unregister plans the way back.
func (m MCP) Unregister(want install.Server, records install.Records, _ install.Finder) (install.Registration, error) {
	var r install.Registration
	path, _, err := m.file(want.Name)
	if err != nil {
		return r, err
	}
	if now := m.Status(want); now.State == install.Foreign || now.Gone() && records[install.ServerRecord(path)] == nil {
		return r, nil
	}
	err = r.Plan.AddAs(install.ServerRecord(path), path, true, records, install.DropServer(confedit.Comments, m.at(want.Name), func(doc *confedit.JSON) bool {
		state, _ := install.Registered(install.ReadEntry[mcpEntry](doc, m.at(want.Name)).Value.Command, want)
		return state != install.Foreign
	}))
	return r, err
}
