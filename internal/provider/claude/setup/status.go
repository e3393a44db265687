package setup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// Status tells how lidguard's hooks stand, and what else in the settings keeps
// them from working. It reads and changes nothing.
func (s Setup) Status(p install.Program) install.Report {
	r := install.Report{Provider: s.Provider(), Root: s.Root, Present: s.Present(), File: s.File}
	f, err := confedit.Open(s.File)
	var d *document
	if err == nil {
		d, err = read(f.Bytes())
	}
	if err != nil {
		r.State = install.Unreadable
		r.Problems = append(r.Problems, broken(s.File, err))
		r.Settle()
		return r
	}
	entries := s.entries(p, d)
	for _, e := range entries {
		r.Hooks = append(r.Hooks, d.status(e))
	}
	for _, gone := range d.others(entries) {
		r.Hooks = append(r.Hooks, install.Hook{Event: gone.event, State: install.NeedsUpdate, Detail: "no longer used"})
	}
	r.Problems = append(r.Problems, d.problems(s.File)...)
	r.Settle()
	return r
}

func broken(file string, err error) install.Problem {
	then := ""
	if _, ok := errors.AsType[*confedit.SyntaxError](err); ok {
		then = "Claude Code ignores the whole file for that, with all hooks and permissions in it"
	}
	return install.Broken(file, err, then)
}

// status compares an entry with what this version writes.
func (d *document) status(e entry) install.Hook {
	h, want := install.Hook{Event: e.event, State: install.Missing}, e.handler
	places := d.places(e.event, e.name)
	if len(places) == 0 {
		return h
	}
	have := places[0].handler
	h.State, h.Command, h.Timeout = install.Installed, have.Command, int(have.Timeout)
	var differs []string
	add := func(is bool, text string) {
		if is {
			differs = append(differs, text)
		}
	}
	add(have.Command != want.Command || len(have.Args) > 0, "another command line")
	add(have.Timeout != float64(want.Timeout), fmt.Sprintf("timeout %v instead of %d s", have.Timeout, want.Timeout))
	add(want.Shell != have.Shell && (want.Shell != "" || have.Shell != "bash"), "another shell")
	add(have.Async || have.AsyncRewake && !want.AsyncRewake, "async, so its answers come too late")
	add(want.AsyncRewake && !have.AsyncRewake, "not asyncRewake, so every change waits for it")
	add(!places[0].sees(e.matcher) || have.If != "", "sees only some of the events")
	add(len(places) > 1, "there more than once")
	if len(differs) > 0 {
		h.State, h.Detail = install.NeedsUpdate, strings.Join(differs, ", ")
	}
	return h
}

// problems finds what is in the way of hooks in general.
func (d *document) problems(file string) []install.Problem {
	var out []install.Problem
	var off bool
	if _, err := d.doc.Decode(confedit.Path{"disableAllHooks"}, &off); err == nil && off {
		out = append(out, install.Problem{Code: install.HooksOff, Text: "disableAllHooks is true in " + file + ": Claude Code runs no hook at all",
			Remedy: "remove disableAllHooks from that file"})
	}
	// One badly typed value makes the client drop the whole file (§1, fact 16).
	for _, key := range []string{"allow", "deny", "ask"} {
		p := confedit.Path{"permissions", key}
		if raw, ok := d.doc.Get(p); ok && raw[0] != '[' {
			at, _ := d.doc.Locate(p)
			out = append(out, install.Problem{Code: install.HookFileBroken,
				Text:   fmt.Sprintf("%s: %v: %v is no array, so Claude Code ignores the whole file, hooks included", file, at, p),
				Remedy: "make it an array of rules", Voids: true})
		}
	}
	for _, name := range d.events {
		for _, g := range d.groups(name) {
			for _, h := range g.Hooks {
				if h.Type == "prompt" || h.Type == "agent" {
					out = append(out, install.Problem{Code: install.PromptHooks,
						Text: fmt.Sprintf("%s has a hook of type %q under %s. Do not use prompt-style hooks of other tools beside lidguard: "+
							"they ask or decide on their own, and lidguard can answer only its own closed-lid paths, never for them", file, h.Type, name),
						Remedy: "remove that hook, or turn it into a command hook"})
				}
			}
		}
	}
	return out
}
