package setup

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// Status tells how lidguard's hooks stand, and which hooks and settings of others
// get in their way, here in this project. It reads and changes nothing.
func (s Setup) Status(p install.Program) install.Report {
	r := install.Report{Provider: s.Provider(), Root: s.Root, Present: s.Present(), File: s.File}
	f, err := confedit.Open(s.File)
	var d *document
	if err == nil {
		d, err = read(f.Bytes(), confedit.Strict)
	}
	if err != nil {
		r.State = install.Unreadable
		r.Problems = append(r.Problems, broken(s.File, err))
		r.Settle()
		return r
	}
	hooks := s.hooks(d)
	for _, h := range hooks {
		r.Hooks = append(r.Hooks, d.status(h.Event, s.handler(p, h)))
	}
	for _, name := range d.ours() {
		if !used(hooks, name) {
			r.Hooks = append(r.Hooks, install.Hook{Event: name, State: install.NeedsUpdate, Detail: "no longer used"})
		}
	}
	if d.off() {
		r.Problems = append(r.Problems, install.Problem{Code: install.HooksOff, Text: "disableAllHooks is true in " + s.File + ": Copilot CLI runs no hook of it",
			Remedy: "remove disableAllHooks from that file"})
	}
	for _, src := range s.personal() {
		r.Problems = append(r.Problems, s.problems(src, true)...)
		if src.path == s.File || src.err != nil {
			continue
		}
		for _, name := range src.doc.ours() {
			r.Hooks = append(r.Hooks, install.Hook{Event: name, State: install.NeedsUpdate, Detail: "stands in " + src.path + " as well"})
		}
	}
	for _, src := range s.ofProject() {
		r.Problems = append(r.Problems, s.problems(src, false)...)
	}
	r.Problems = append(r.Problems, s.keepAlive()...)
	r.Settle()
	return r
}

func broken(file string, err error) install.Problem {
	p := install.Broken(file, err, "Copilot CLI loads no hook of it")
	p.Voids = false // the hooks of other files run all the same
	return p
}

// off reports whether the file switches hooks off.
func (d *document) off() bool {
	var off bool
	_, err := d.doc.Decode(confedit.Path{"disableAllHooks"}, &off)
	return err == nil && off
}

// status compares the entry under one event with what this version writes.
func (d *document) status(name string, want handler) install.Hook {
	h := install.Hook{Event: name, State: install.Missing}
	places := d.places(name)
	if len(places) == 0 {
		return h
	}
	have := places[0]
	h.State, h.Command = install.Installed, have.handler.line()
	if t := have.handler.TimeoutSec; t != nil {
		h.Timeout = int(*t)
	}
	differs := have.differs(want)
	if len(places) > 1 {
		differs = append(differs, "there more than once")
	}
	if len(differs) > 0 {
		h.State, h.Detail = install.NeedsUpdate, strings.Join(differs, ", ")
	}
	return h
}

// problems finds in one source what gets in the way of our hooks.
func (s Setup) problems(src source, personal bool) []install.Problem {
	var out []install.Problem
	add := func(code, remedy, format string, args ...any) {
		out = append(out, install.Problem{Code: code, Text: fmt.Sprintf(format, args...), Remedy: remedy})
	}
	if src.err != nil {
		if personal && src.path != s.File {
			out = append(out, broken(src.path, src.err))
		}
		return out // a project's broken file is the project's business
	}
	if src.all && src.doc.off() {
		add(install.HooksOff, "remove disableAllHooks from that file, or work in another folder",
			"disableAllHooks is true in %s: Copilot CLI runs no hook at all in this project, yours included", src.path)
	}
	where := "your hooks"
	if !personal {
		where = "the project's hooks, which run where you trust the folder"
	}
	for _, name := range src.doc.events {
		n := src.doc.foreign(name)
		if n == 0 {
			continue
		}
		switch name {
		case "agentStop", "Stop":
			// The last answer wins: one of theirs may cancel ours, and one of
			// theirs may keep a session going that lidguard takes for ended.
			add(install.ForeignStopHooks, "see what that hook answers; lidguard's own needs no other beside it",
				"%s has a hook of others under %s (%s): a continuation that it answers keeps the session going, and of several answers the last counts", src.path, name, where)
		case "permissionRequest", "PermissionRequest":
			if src.late {
				add(install.ForeignPermission, "remove that hook, or move it into a file of "+filepath.Dir(s.File)+" whose name sorts behind "+FileName,
					"%s has a hook of others under %s that runs after lidguard's (%s): its answer replaces lidguard's closed-lid answer", src.path, name, where)
			}
		}
	}
	return out
}

// foreign counts the entries under an event that are not lidguard's, whichever
// client they were written for.
func (d *document) foreign(name string) int {
	n := 0
	for _, p := range d.entries(name) {
		if !p.handler.ours() && !p.handler.calls("claude-hook") {
			n++
		}
	}
	return n
}

// keepAlive finds the client's own keep-awake (contract §1.16).
func (s Setup) keepAlive() []install.Problem {
	for _, name := range []string{"settings.json", "config.json"} {
		path := filepath.Join(s.Root, name)
		f, err := confedit.Open(path)
		if err != nil {
			continue
		}
		doc, err := confedit.ParseJSON(f.Bytes(), confedit.Comments)
		if err != nil {
			continue
		}
		raw, ok := doc.Get(confedit.Path{"keepAlive"})
		if value := strings.Trim(string(raw), `"`); ok && value != "off" && value != "false" && value != "null" {
			return []install.Problem{{Code: install.KeepAwakeTwice,
				Text:   fmt.Sprintf("keepAlive is %q in %s: Copilot CLI keeps the machine awake by itself, and lidguard cannot let it sleep while it does", value, path),
				Remedy: "set keepAlive to off there, or say /keep-alive off in Copilot CLI"}}
		}
	}
	return nil
}
