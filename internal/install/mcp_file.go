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
// keeps its servers under "mcpServers" or, as VS Code's mcp.json, under "servers". It
// is always edited directly.
type ServerFile struct{ Path string }

// fileEntry is what is written, in this order.
type fileEntry struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// at is where the entry stands in a config, or would.
func (fileEntry) at(doc *confedit.JSON) confedit.Path {
	usual, other := confedit.Path{"mcpServers", ProviderServerName}, confedit.Path{"servers", ProviderServerName}
	_, here := doc.Get(usual[:1])
	servers, there := doc.Get(other[:1])
	if _, ours := doc.Get(usual); !ours && there && servers[0] == '{' {
		if _, ours = doc.Get(other); ours || !here {
			return other
		}
	}
	return usual
}

func (e fileEntry) line() []string { return append([]string{e.Command}, e.Args...) }

// read finds the entry, and says whether lidguard's other server is in the file too.
func (f ServerFile) read() (e Entry[fileEntry], beside bool, err error) {
	file, err := confedit.Open(f.Path)
	if err != nil {
		return e, false, err
	}
	doc, err := confedit.ParseJSON(file.Bytes(), confedit.Comments)
	if err != nil {
		return e, false, fmt.Errorf("%q: %w", f.Path, err)
	}
	at := fileEntry{}.at(doc)
	_, beside = doc.Get(confedit.Path{at[0], ServerName})
	return ReadEntry[fileEntry](doc, at), beside, nil
}

// record is the name of the entry's record. Where the file is an agent's, that one's
// server has a record of its own, and taking out one must not take the other along.
// Both had the same name once: such a record counts where it can be of no other entry.
func (f ServerFile) record(records Records, beside bool) string {
	own, old := ProviderRecord(f.Path), ServerRecord(f.Path)
	if records[own] == nil && records[old] != nil && !beside {
		return old
	}
	return own
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
	e, _, err := f.read()
	switch {
	case err != nil:
		return r.Unusable(err)
	case e.Place(f.Path) != nil:
		return r.NoPlace(e.Place(f.Path))
	case !e.There:
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
	e, beside, err := f.read()
	if err == nil {
		err = e.Place(f.Path)
	}
	if err != nil {
		return plan, err
	}
	switch f.Status(want).State {
	case Installed:
		return plan, nil
	case Foreign:
		return plan, fmt.Errorf("%q: %s: %w", f.Path, want.Name, ErrForeignServer)
	}
	err = plan.AddAs(f.record(records, beside), f.Path, false, records, placed(func(at confedit.Path) Change {
		return SetServer(confedit.Comments, at, fileEntry{"stdio", want.Command, want.Args},
			confedit.Pair{Key: "command", Value: want.Command}, confedit.Pair{Key: "args", Value: want.Args})
	}))
	return plan, err
}

// Unregister plans the way back. With a provider's name in want, an entry of
// another one stays. A file with no entry of lidguard's stays as it is, also where
// something else than an object stands in the servers' place.
func (f ServerFile) Unregister(want Server, records Records) (Plan, error) {
	var plan Plan
	e, beside, err := f.read()
	if err != nil {
		return plan, err
	}
	if name := ProviderOf(want.Args); name != "" && e.There && name != ProviderOf(e.Value.line()) {
		return plan, nil
	}
	err = plan.AddAs(f.record(records, beside), f.Path, true, records, placed(func(at confedit.Path) Change {
		return DropServer(confedit.Comments, at, func(doc *confedit.JSON) bool {
			e := ReadEntry[fileEntry](doc, at)
			state, _ := Registered(e.Value.line(), want)
			return e.There && state != Foreign
		})
	}))
	return plan, err
}

// placed is a change of the entry where it stands in the text that is changed.
func placed(change func(at confedit.Path) Change) Change {
	return func(data []byte, created []confedit.Path) (confedit.Draft, error) {
		doc, err := confedit.ParseJSON(data, confedit.Comments)
		if err != nil {
			return confedit.Draft{}, err
		}
		return change(fileEntry{}.at(doc))(data, created)
	}
}
