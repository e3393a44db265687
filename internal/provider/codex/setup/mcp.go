package setup

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// MCP is the registration of MCP servers in Codex, for one user (contract §8).
type MCP struct {
	File string // config.toml
}

// NewMCP finds the file: config.toml in CODEX_HOME, else in .codex of the home folder.
func NewMCP(env paths.Env, home string) MCP { return MCP{New("", env, home).Config} }

// Provider is the client's name.
func (m MCP) Provider() event.Provider { return event.Codex }

// Title is the client's name for people.
func (m MCP) Title() string { return "Codex" }

// Present reports whether the client has been used here.
func (m MCP) Present() bool {
	info, err := os.Stat(filepath.Dir(m.File))
	return err == nil && info.IsDir()
}

func (m MCP) at(name string) confedit.Path { return confedit.Path{"mcp_servers", name} }

// mcpState is what config.toml says about a server.
type mcpState struct {
	there   bool
	command []string
	off     bool
	others  bool  // it has settings beside command and args
	fragile bool  // `codex mcp` would drop comments
	nowhere error // something else stands where the servers belong
}

func (m MCP) read(name string) (mcpState, error) {
	var s mcpState
	f, err := confedit.Open(m.File)
	if err != nil {
		return s, err
	}
	doc, err := confedit.ParseTOML(f.Bytes())
	if err != nil {
		return s, fmt.Errorf("%q: %w", m.File, err)
	}
	s = m.state(doc, name)
	servers := m.at(name)[:1]
	if value, ok := doc.Get(servers); ok {
		if _, table := value.(map[string]any); !table {
			at, _ := doc.Locate(servers)
			s.nowhere = fmt.Errorf("%q: %w", m.File, &confedit.SyntaxError{Position: at, Message: servers.String() + " is no table"})
		}
	}
	s.fragile = losesComments(f.Bytes())
	return s, nil
}

func (m MCP) state(doc *confedit.TOML, name string) mcpState {
	value, there := doc.Get(m.at(name))
	s := mcpState{there: there}
	entry, ok := value.(map[string]any)
	if !ok {
		return s
	}
	if program, ok := entry["command"].(string); ok {
		s.command = []string{program}
		args, _ := entry["args"].([]any)
		for _, arg := range args {
			s.command = append(s.command, fmt.Sprint(arg))
		}
	}
	enabled, is := entry["enabled"].(bool)
	s.off = is && !enabled
	for _, key := range slices.Collect(maps.Keys(entry)) {
		s.others = s.others || key != "command" && key != "args"
	}
	return s
}

// losesComments reports whether the client's own command would drop comments: it
// writes every [mcp_servers.*] table anew and keeps only comments that have a line
// to themselves (contract §8). A # inside a text counts as well, which does no
// harm: the file is then edited here instead.
func losesComments(data []byte) bool {
	inside := false
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		servers := bytes.Contains(line, []byte("mcp_servers"))
		if line[0] == '[' {
			inside = servers
		}
		if (inside || servers) && bytes.IndexByte(line, '#') >= 0 {
			return true
		}
	}
	return false
}

// Status tells how the registration stands.
func (m MCP) Status(want install.Server) install.ServerReport {
	r := install.ServerReport{Provider: m.Provider(), File: m.File, Name: want.Name, State: install.Missing}
	s, err := m.read(want.Name)
	switch {
	case err != nil:
		return r.Unusable(err)
	case s.nowhere != nil:
		return r.NoPlace(s.nowhere)
	case s.there:
		if r = r.Compare(s.command, want); r.State == install.Installed && s.off {
			r.State, r.Detail = install.Off, "enabled is false"
		}
	}
	return r
}

// Register plans the registration: by `codex mcp add`, which replaces an entry of
// that name; by an edit of the file where there is no codex on PATH or something
// would get lost. Who has switched the server off keeps it so.
func (m MCP) Register(want install.Server, records install.Records, find install.Finder) (install.Registration, error) {
	var r install.Registration
	s, err := m.read(want.Name)
	if err == nil {
		err = s.nowhere
	}
	if err != nil {
		return r, err
	}
	switch m.Status(want).State {
	case install.Installed, install.Off:
		return r, nil
	case install.Foreign:
		return r, fmt.Errorf("%q: %v: %w", m.File, m.at(want.Name), install.ErrForeignServer)
	}
	program := find("codex")
	switch {
	case program == "":
	case s.fragile:
		r.Why = "an MCP server in the file has a comment behind a value, which `codex mcp` would drop"
	case s.others:
		r.Why = "the entry has settings of yours, which `codex mcp` would drop"
	default:
		r.Commands = []install.Command{{Argv: slices.Concat([]string{program, "mcp", "add", want.Name, "--", want.Command}, want.Args)}}
	}
	err = r.Plan.AddAs(install.ServerRecord(m.File), m.File, false, records, func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		doc, err := confedit.ParseTOML(data)
		if err != nil {
			return confedit.Draft{}, err
		}
		if m.state(doc, want.Name).there {
			if err := doc.Set(m.at(want.Name).With("command"), want.Command); err != nil {
				return confedit.Draft{}, err
			}
			err = doc.Set(m.at(want.Name).With("args"), want.Args)
		} else {
			err = doc.AppendTables(confedit.Table{Key: []string{"mcp_servers", want.Name},
				Pairs: []confedit.Pair{{Key: "command", Value: want.Command}, {Key: "args", Value: want.Args}}})
		}
		return doc.Draft(), err
	})
	return r, err
}

// Unregister plans the way back. An entry that lidguard wrote itself it takes out
// itself, so that every byte comes back.
func (m MCP) Unregister(want install.Server, records install.Records, find install.Finder) (install.Registration, error) {
	var r install.Registration
	if now := m.Status(want); now.State == install.Foreign || now.Gone() && records[install.ServerRecord(m.File)] == nil {
		return r, nil
	}
	s, err := m.read(want.Name)
	if err != nil {
		return r, err
	}
	if program := find("codex"); program != "" && records[install.ServerRecord(m.File)] == nil {
		if s.fragile {
			r.Why = "an MCP server in the file has a comment behind a value, which `codex mcp` would drop"
		} else {
			r.Commands = []install.Command{{Argv: []string{program, "mcp", "remove", want.Name}}}
		}
	}
	err = r.Plan.AddAs(install.ServerRecord(m.File), m.File, true, records, func(data []byte, created []confedit.Path) (confedit.Draft, error) {
		doc, err := confedit.ParseTOML(data)
		if err != nil {
			return confedit.Draft{}, err
		}
		s := m.state(doc, want.Name)
		if state, _ := install.Registered(s.command, want); !s.there || state == install.Foreign {
			return confedit.Draft{Text: data}, nil
		}
		if err := doc.Remove(m.at(want.Name)); err != nil {
			return confedit.Draft{}, err
		}
		err = doc.Prune(created...)
		return doc.Draft(), err
	})
	return r, err
}
