package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/event"
)

// ServerName is the name under which clients know lidguard's MCP server.
const ServerName = "lidguard"

// Server is an MCP server that a client starts and speaks to over its standard
// input and output.
type Server struct {
	Name    string
	Command string // absolute path
	Args    []string
}

// MainServer is `lidguard mcp-server` for the program at path.
func MainServer(path string) Server {
	return Server{Name: ServerName, Command: path, Args: []string{"mcp-server"}}
}

// ServerReport is the state of an MCP registration.
type ServerReport struct {
	Provider event.Provider `json:"provider,omitempty"`
	File     string         `json:"file"`
	Name     string         `json:"name"`
	State    State          `json:"state"`            // installed, missing, needs-update, off, foreign or unreadable
	Detail   string         `json:"detail,omitempty"` // what is different, in words
	Command  []string       `json:"command,omitempty"`
	Remedy   string         `json:"-"` // where the state is unreadable
	Nowhere  bool           `json:"-"` // unreadable, and certainly without an entry; see NoPlace
}

// NoPlace is the report about a file with something else where its servers belong: an
// entry cannot be put there, and none is there.
func (r ServerReport) NoPlace(err error) ServerReport {
	r = r.Unusable(err)
	r.Nowhere = true
	return r
}

// Gone reports that there is certainly no entry.
func (r ServerReport) Gone() bool { return r.State == Missing || r.Nowhere }

// Unusable is the report about a file that cannot be used.
func (r ServerReport) Unusable(err error) ServerReport {
	r.State, r.Detail, r.Remedy = Unreadable, err.Error(), Remedy(err)
	return r
}

// Compare fills in what an entry with this command line is worth.
func (r ServerReport) Compare(command []string, want Server) ServerReport {
	r.Command = command
	r.State, r.Detail = Registered(command, want)
	return r
}

// Registered compares an entry's command line with the one that is wanted.
// detail says what is different.
func Registered(command []string, want Server) (state State, detail string) {
	switch {
	case len(command) < 2 || !IsProgram(command[0]) && command[0] != want.Command || command[1] != want.Args[0]:
		return Foreign, fmt.Sprintf("the entry %q is not lidguard's", want.Name)
	case command[0] != want.Command:
		return NeedsUpdate, "another program: " + command[0]
	case !slices.Equal(command[1:], want.Args):
		return NeedsUpdate, "other arguments: " + strings.Join(command[1:], " ")
	}
	return Installed, ""
}

// ServerRecord is the name under which the record of an MCP entry in a file is
// kept. Hooks in the same file have another.
func ServerRecord(path string) string { return agentServer + path }

// ProviderRecord is that of the entry for providers, see [ServerFile].
func ProviderRecord(path string) string { return providerServer + path }

// What the names of records begin with where they are not of hooks.
const (
	agentServer    = "mcp:"          // lidguard's server in an agent's file
	providerServer = "provider-mcp:" // that for providers, in any file
)

// RecordOf tells of which file the record of that name is, and whether it is of an
// MCP entry there.
func RecordOf(name string) (path string, server bool) {
	for _, kind := range []string{providerServer, agentServer} {
		if path, server = strings.CutPrefix(name, kind); server {
			return path, true
		}
	}
	return name, false
}

// Finder returns the path of a program on PATH, or "".
type Finder func(program string) string

// Registration is how a client's registration changes: by running the client's
// own commands, one after another, or, where there are none, by a plan.
type Registration struct {
	Commands []Command
	Plan     Plan
	Why      string // why the file is edited although the client has a command
}

// Command is one run of a client's program.
type Command struct {
	Argv []string
	// MayFail marks a step whose failure means nothing: removing what may
	// not be there.
	MayFail bool
}

// Runner runs a program and returns what it printed, and an error that says how it
// ended when that was not exit code 0.
type Runner func(ctx context.Context, argv []string) (output string, err error)

// Exec is the Runner of the real program: no standard input, everything printed
// comes back.
func Exec(ctx context.Context, argv []string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

// Run runs the commands in order. The error names the command and quotes what it
// printed.
func (r Registration) Run(ctx context.Context, run Runner) error {
	for _, c := range r.Commands {
		out, err := run(ctx, c.Argv)
		if err != nil && !c.MayFail {
			return fmt.Errorf("`%s` ended with %w: %.300q", strings.Join(c.Argv, " "), err, out)
		}
	}
	return nil
}

// ErrForeignServer is matched when somebody else's entry stands under the name.
var ErrForeignServer = errors.New("the entry is not lidguard's")

// Entry is an MCP entry of a JSON document, decoded as T.
type Entry[T any] struct {
	There   bool     // there is one, readable or not
	Value   T        // zero where it is not readable
	Members []string // the names of its members, in no order

	nowhere error // there is no object that it could stand in
}

// Place is nil where the entry stands in file or could, and else says what is in its way.
func (e Entry[T]) Place(file string) error {
	if e.nowhere == nil {
		return nil
	}
	return fmt.Errorf("%q: %w", file, e.nowhere)
}

// ReadEntry finds the entry at p.
func ReadEntry[T any](doc *confedit.JSON, p confedit.Path) Entry[T] {
	var e Entry[T]
	if _, e.There = doc.Get(p); !e.There {
		parent := p[:len(p)-1]
		if value, ok := doc.Get(parent); ok && value[0] != '{' {
			at, _ := doc.Locate(parent)
			e.nowhere = &confedit.SyntaxError{Position: at, Message: parent.String() + " is no object"}
		}
		return e
	}
	// What cannot be decoded is nothing lidguard wrote.
	_, _ = doc.Decode(p, &e.Value)
	var members map[string]json.RawMessage
	_, _ = doc.Decode(p, &members)
	for name := range members {
		e.Members = append(e.Members, name)
	}
	return e
}

// Others reports whether the entry has members beside the given ones, which the
// client's own commands would drop.
func (e Entry[T]) Others(known ...string) bool {
	return slices.ContainsFunc(e.Members, func(name string) bool { return !slices.Contains(known, name) })
}

// SetServer returns the change that writes the members of an entry: a new entry
// becomes want, an old one keeps members that want does not have. Both must be
// JSON objects.
func SetServer(mode confedit.Mode, p confedit.Path, want any, members ...confedit.Pair) Change {
	return func(data []byte, _ []confedit.Path) (confedit.Draft, error) {
		doc, err := confedit.ParseJSON(data, mode)
		if err != nil {
			return confedit.Draft{}, err
		}
		if raw, ok := doc.Get(p); !ok || raw[0] != '{' {
			err = doc.Set(p, want)
		} else {
			for _, m := range members {
				if err = doc.Set(p.With(m.Key), m.Value); err != nil {
					break
				}
			}
		}
		return doc.Draft(), err
	}
}

// DropServer returns the change that takes an entry out, with the parents that
// were created for it, provided mine says it is lidguard's.
func DropServer(mode confedit.Mode, p confedit.Path, mine func(*confedit.JSON) bool) Change {
	return func(data []byte, created []confedit.Path) (confedit.Draft, error) {
		doc, err := confedit.ParseJSON(data, mode)
		if err != nil || !mine(doc) {
			return confedit.Draft{Text: data}, err
		}
		if err := doc.Remove(p); err != nil {
			return confedit.Draft{}, err
		}
		err = doc.Prune(created...)
		return doc.Draft(), err
	}
}
