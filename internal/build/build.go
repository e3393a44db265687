// Package build compiles a rulebook into what each client has to call, and says
// what of it a client cannot carry. In come the rulebooks that count, the switches
// of the packs and a client's setup; out come the setup that listens to all that
// they need, and the losses, from tables that tests hold against the codecs. It
// writes nothing: plans are carried out by whoever asked for them.
package build

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/paths"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
	codex "github.com/lidguard-go/lidguard/internal/provider/codex/setup"
	copilot "github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// Client is a client's setup.
type Client interface {
	Provider() event.Provider
	Install(install.Program, install.Records) (install.Plan, error)
	Status(install.Program) install.Report
}

// Source is what is built from.
type Source struct {
	// Items are what is on by the books that the report is for.
	Items []Item
	// needed are those of every book that may count some day in some folder, so
	// that an installation is the same wherever it is made.
	needed []Item
}

// Load reads the person's rulebook and the books of projects that the person
// trusts. With project the report is for the folder cwd, with its project's book as
// far as it counts; else for the person's own book.
func Load(dirs paths.Dirs, cwd string, project bool) (Source, error) {
	var s Source
	sw, err := entry.LoadPacks(dirs)
	if err != nil {
		return s, err
	}
	own, err := entry.LoadBooks(dirs, "")
	if err == nil {
		err = own.Refused
	}
	if err != nil {
		return s, err
	}
	s.Items = Items(own.Rules, entry.Modes(&sw, own.Rules))
	s.needed = slices.Clone(s.Items)
	trust, err := rulebook.LoadTrust(dirs)
	if err != nil {
		return s, err
	}
	for _, pin := range trust.Pins() {
		if !strings.HasSuffix(filepath.ToSlash(pin.Path), "/"+rulebook.ProjectBook) {
			continue
		}
		books, err := entry.LoadBooks(dirs, rulebook.ProjectOf(pin.Path))
		if err == nil && books.Project != nil && books.Project.Trusted {
			s.needed = append(s.needed, Items(books.Rules, entry.Modes(&sw, books.Rules))...)
		}
	}
	if !project {
		return s, nil
	}
	books, err := entry.LoadBooks(dirs, cwd)
	if err != nil {
		return s, err
	}
	if books.Project != nil && books.Project.Broken != nil {
		return s, books.Project.Broken
	}
	s.Items = Items(books.Rules, entry.Modes(&sw, books.Rules))
	for _, r := range books.Tighten {
		modes := entry.Modes(&sw, r)
		for _, item := range Items(r, modes) {
			if slices.Contains([]string{"gate", "rule", "sandbox"}, item.Pack) { // the rest does not count before it is trusted
				item.Name += " (project)"
				s.Items = append(s.Items, item)
			}
		}
	}
	return s, nil
}

// Listening returns a client's setup that listens to all that is needed.
func (s Source) Listening(c Client) Client {
	named := Named(c.Provider(), s.needed)
	switch c := c.(type) {
	case claude.Setup:
		if c = c.Listen(named); s.Checks() {
			c = c.Wake()
		}
		return c
	case codex.Setup:
		return c.Listen(named)
	case copilot.Setup:
		var natives []string
		for _, name := range named {
			natives = append(natives, nativeOf(event.Copilot, name))
		}
		return c.Listen(natives)
	}
	return c // OpenCode's plugin passes on what it can, always
}

// Checks reports whether any book that may count has checks, whose findings wake the
// client that can be woken.
func (s Source) Checks() bool {
	return slices.ContainsFunc(s.needed, func(i Item) bool { return i.Pack == "check" && !i.Silent })
}

// Lost is one line of the report.
type Lost struct {
	Provider event.Provider `json:"provider"`
	Who      []string       `json:"who"`             // "gate", "rule no-push"
	Event    string         `json:"event,omitempty"` // lidguard's word
	What     string         `json:"what,omitempty"`  // the field that is lost; empty for other limits
	Instead  string         `json:"instead"`
}

// String is the line for people, without the client.
func (l Lost) String() string {
	who := strings.Join(l.Who, ", ")
	if l.What == "" {
		return who + ": " + l.Instead
	}
	return fmt.Sprintf("%s: %s at %s: %s", who, l.What, l.Event, l.Instead)
}

// Report is what a client cannot carry of the items, in the order of the items.
func Report(p event.Provider, items []Item) []Lost {
	var list []Lost
	add := func(who string, l Lost) {
		for i := range list {
			if list[i].Event == l.Event && list[i].What == l.What && list[i].Instead == l.Instead {
				if !slices.Contains(list[i].Who, who) {
					list[i].Who = append(list[i].Who, who)
				}
				return
			}
		}
		l.Provider, l.Who = p, []string{who}
		list = append(list, l)
	}
	tells := Tells(p)
	for i := range items {
		item := &items[i]
		for _, name := range item.Names {
			if _, ok := told(p, name); !ok {
				add(item.Name, Lost{Event: string(name), What: "being called", Instead: "the client does not tell it"})
			}
		}
		for _, s := range item.Says {
			if !slices.Contains(tells, s.Event) {
				continue
			}
			for _, f := range s.Fields {
				if instead, ok := lost(p, s.Event, f); ok {
					add(item.Name, Lost{Event: string(s.Event), What: string(f), Instead: instead})
				}
			}
		}
		for _, l := range Limits() {
			if l.Provider == p && !item.Silent && slices.Contains(l.Packs, item.Pack) && item.has(l.Trait) {
				add(item.Name, Lost{Instead: l.Text})
			}
		}
	}
	return list
}
