package install

import (
	"fmt"
	"slices"

	"github.com/lidguard-go/lidguard/internal/confedit"
)

// ProviderServerName is the name of the entry in the config of a client that
// reports its sessions itself.
const ProviderServerName = "lidguard-provider"

// providerArg is followed by the provider's name.
const providerArg = "--provider-name"

// ProviderServer is `lidguard provider-mcp-server` for the program at path.
func ProviderServer(path, provider string) Server {
	return Server{Name: ProviderServerName, Command: path, Args: []string{"provider-mcp-server", providerArg, provider}}
}

// ServerFile is the JSON config of any MCP client, with or without comments, that
// keeps its servers under "mcpServers". It is always edited directly.
type ServerFile struct{ Path string }

// fileEntry is what is written, in this order.
type fileEntry struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (fileEntry) at() confedit.Path { return confedit.Path{"mcpServers", ProviderServerName} }

func (e fileEntry) line() []string { return append([]string{e.Command}, e.Args...) }

func (f ServerFile) read() (Entry[fileEntry], error) {
	file, err := confedit.Open(f.Path)
	if err != nil {
		return Entry[fileEntry]{}, err
	}
	doc, err := confedit.ParseJSON(file.Bytes(), confedit.Comments)
	if err != nil {
		return Entry[fileEntry]{}, fmt.Errorf("%q: %w", f.Path, err)
	}
	return ReadEntry[fileEntry](doc, fileEntry{}.at()), nil
}

// ProviderOf returns the provider's name in a registered command line, or "".
func ProviderOf(command []string) string {
	if i := slices.Index(command, providerArg); i >= 0 && i+1 < len(command) {
		return command[i+1]
	}
	return ""
}

// Status tells how the registration stands. Without a provider's name in want any
// name will do.
func (f ServerFile) Status(want Server) ServerReport {
	r := ServerReport{File: f.Path, Name: want.Name, State: Missing}
	e, err := f.read()
	if err != nil {
		return r.Unusable(err)
	}
	if !e.There {
		return r
	}
	have := e.Value.line()
	if name := ProviderOf(have); ProviderOf(want.Args) == "" && name != "" {
		want = ProviderServer(want.Command, name)
	}
	return r.Compare(have, want)
}

// Register plans the registration.
func (f ServerFile) Register(want Server, records Records) (Plan, error) {
	var plan Plan
	switch r := f.Status(want); r.State {
	case Installed:
		return plan, nil
	case Foreign:
		return plan, fmt.Errorf("%q: %v: %w", f.Path, fileEntry{}.at(), ErrForeignServer)
	}
	err := plan.AddAs(ServerRecord(f.Path), f.Path, false, records, SetServer(confedit.Comments, fileEntry{}.at(),
		fileEntry{"stdio", want.Command, want.Args}, confedit.Pair{Key: "command", Value: want.Command}, confedit.Pair{Key: "args", Value: want.Args}))
	return plan, err
}

// Unregister plans the way back. With a provider's name in want, an entry of
// another one stays.
func (f ServerFile) Unregister(want Server, records Records) (Plan, error) {
	var plan Plan
	e, err := f.read()
	if err != nil {
		return plan, err
	}
	if name := ProviderOf(want.Args); name != "" && e.There && name != ProviderOf(e.Value.line()) {
		return plan, nil
	}
	err = plan.AddAs(ServerRecord(f.Path), f.Path, true, records, DropServer(confedit.Comments, fileEntry{}.at(), func(doc *confedit.JSON) bool {
		e := ReadEntry[fileEntry](doc, fileEntry{}.at())
		state, _ := Registered(e.Value.line(), want)
		return e.There && state != Foreign
	}))
	return plan, err
}
