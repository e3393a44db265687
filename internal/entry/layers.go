package entry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// Books are the rule files that count in one folder: the person's own, what it
// shares with others, and the project's.
type Books struct {
	// Rules is what counts in full: the person's book and, over it, the project's
	// where the person trusts that.
	Rules *Rules
	// Tighten are the rules of books that nobody trusts. They may only make the
	// chain say more; see tightened.
	Tighten []*Rules
	// Project is the project's book; nil where there is none.
	Project *Book
	// Above are the books of the projects around, from the nearest: a book that
	// nobody trusts takes the place of none.
	Above []*Book
	// Shared are the books that the person's includes, as they count.
	Shared []rulebook.File
	// Stale are shared books that changed; their pinned content goes on counting.
	Stale []error
	// Refused says that a shared book is not there as pinned and nothing was kept
	// of it: nobody knows what it would refuse, so every call is.
	Refused error
}

// Book is one rule file.
type Book struct {
	File    rulebook.File
	Rules   *Rules // with what it includes; nil where it is broken
	Trusted bool
	Shared  []rulebook.File // what it includes
	// Before is what was trusted at this place until it changed; "" where nothing.
	Before rulebook.Digest
	// Held is what does not count before the book is trusted.
	Held []string
	// Broken says why it cannot be read.
	Broken error
}

// LoadBooks reads the books that count in the folder cwd; "" is no project's. The
// error is for the person's own book: one of a project that cannot be read is told
// in Project.Broken.
func LoadBooks(dirs paths.Dirs, cwd string) (*Books, error) {
	b, err := ownBook(dirs)
	if err != nil {
		return b, err
	}
	return b.in(dirs, cwd), nil
}

// ownBook reads the person's book and what it includes.
func ownBook(dirs paths.Dirs) (*Books, error) {
	b := &Books{Rules: &Rules{}}
	own, err := rulebook.Read(dirs.Rules())
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	l := loader{dirs: dirs, books: b}
	r, err := l.book(own, "")
	if err == nil {
		b.Rules, b.Shared = r, l.took
	}
	return b, err
}

// in is b with what counts in the folder cwd; b stays as it is.
func (b *Books) in(dirs paths.Dirs, cwd string) *Books {
	path := rulebook.FindProject(cwd, dirs.Home, !isWindows(dirs))
	if path == "" || path == dirs.Rules() {
		return b
	}
	all := *b
	all.Stale = slices.Clone(b.Stale)
	l := loader{dirs: dirs, books: &all, left: rulebook.MaxInside}
	all.Project = l.project(path)
	for p := all.Project; !p.Trusted; all.Above = append(all.Above, p) {
		path = rulebook.FindAbove(path, dirs.Home, !isWindows(dirs))
		if path == "" || path == dirs.Rules() {
			break
		}
		p = l.project(path)
	}
	return &all
}

// projects are the books of projects, the nearest first.
func (b *Books) projects() []*Book {
	if b.Project == nil {
		return nil
	}
	return append([]*Book{b.Project}, b.Above...)
}

// isWindows reports whether dirs were resolved for Windows, where permission bits
// say nothing.
func isWindows(dirs paths.Dirs) bool { return dirs.Join("", "") == `\` }

// loader reads books and what they include.
type loader struct {
	dirs  paths.Dirs
	books *Books
	trust *rulebook.Trust // see trusted
	left  int             // see rulebook.Resolver
	took  []rulebook.File // what books included, so far
}

// trusted is the list of what the person trusts. One that cannot be read trusts
// nothing.
func (l *loader) trusted() *rulebook.Trust {
	if l.trust == nil {
		trust, err := rulebook.LoadTrust(l.dirs)
		if err != nil {
			l.books.Stale = append(l.books.Stale, err)
		}
		l.trust = trust
	}
	return l.trust
}

// book decodes a book over what it includes. inside confines the includes.
func (l *loader) book(f rulebook.File, inside string) (*Rules, error) {
	resolver := rulebook.Resolver{Home: l.dirs.Home, Inside: inside, Kept: func(d rulebook.Digest) ([]byte, bool) { return l.trusted().Kept(d) }, Left: &l.left}
	if err := resolver.Admit(f); err != nil {
		return nil, err
	}
	own, err := decodeBook(f, l.dirs.Home)
	if err != nil {
		return nil, err
	}
	if len(own.Include) == 0 {
		return own, nil
	}
	all, decoded := &Rules{}, map[string]*Rules{}
	err = resolver.Resolve(f, own.Include,
		func(f rulebook.File) ([]rulebook.Include, error) {
			r, err := decodeBook(f, l.dirs.Home)
			if err != nil {
				return nil, err
			}
			decoded[f.Path+" "+string(f.Digest)] = r
			return r.Include, nil
		},
		func(f rulebook.File) error {
			overlay(all, decoded[f.Path+" "+string(f.Digest)])
			l.took = append(l.took, f)
			return nil
		},
		func(problem error) { l.books.Stale = append(l.books.Stale, problem) })
	if pin, refused := errors.AsType[*rulebook.PinError](err); refused {
		l.books.Refused, err = pin, nil
	}
	if err != nil {
		return nil, err
	}
	overlay(all, own)
	return all, nil
}

// project takes a project's book in.
func (l *loader) project(path string) *Book {
	p := &Book{File: rulebook.File{Path: path}}
	inside := rulebook.ProjectOf(path)
	if p.File, p.Broken = rulebook.Read(path); p.Broken != nil {
		if errors.Is(p.Broken, fs.ErrNotExist) { // a link to nowhere, or gone just now
			p.Broken = &rulebook.Error{File: path, Problem: "it leads to no file"}
		}
		p.File.Path = path
		return p
	}
	pin, before := l.trusted().Of(path)
	if p.Trusted = before && pin.SHA256 == p.File.Digest; p.Trusted {
		inside = ""
	}
	if p.Rules, p.Broken = l.book(p.File, inside); p.Broken != nil {
		p.Trusted = false
	}
	p.Shared = slices.Clone(l.took)
	if p.Trusted {
		both := *l.books.Rules
		overlay(&both, p.Rules)
		l.books.Rules = &both
		return p
	}
	if p.Rules != nil {
		p.Held = held(p.Rules)
		l.books.Tighten = append(l.books.Tighten, p.Rules)
	}
	if !before || pin.SHA256 == p.File.Digest {
		return p
	}
	// What was trusted here goes on refusing until its successor is trusted, or an
	// agent could take a rule away by editing the book.
	p.Before = pin.SHA256
	if data, ok := l.trusted().Kept(pin.SHA256); ok {
		if r, err := l.book(rulebook.File{Path: path, Data: data, Digest: pin.SHA256}, ""); err == nil {
			l.books.Tighten = append(l.books.Tighten, r)
		}
	}
	return p
}

// decodeBook reads one book by itself.
func decodeBook(f rulebook.File, home string) (*Rules, error) {
	r := &Rules{}
	if err := rulebook.Decode(f.Path, f.Data, r); err != nil {
		return nil, err
	}
	for name := range r.Packs {
		if err := knownPacks(map[string]Mode{name: On}); err != nil {
			return nil, rulebook.At(f, "packs", -1, name, err.Error())
		}
	}
	for _, p := range packs() {
		if p.check == nil {
			continue
		}
		if fault := p.check(r); fault != nil {
			return nil, rulebook.At(f, fault.Section, fault.Index, fault.Key, fault.Problem)
		}
	}
	r.place(f, home)
	return r, nil
}

// Fault is what a pack finds wrong in its section beyond what the types say.
type Fault struct {
	Section string // "rule" for [[rule]]
	Index   int    // which [[section]], from 0; -1 for a [section]
	Key     string // "" for the whole table
	Problem string
}

// overlay puts the sections of one book over those of another: a table replaces,
// the rows of a list are added, switches replace one by one. What the two hold
// stays as it is, since others may share it.
func overlay(into, from *Rules) {
	dst, src := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for i := range src.NumField() {
		d, s := dst.Field(i), src.Field(i)
		switch s.Kind() {
		case reflect.Slice:
			d.Set(reflect.AppendSlice(d.Slice3(0, d.Len(), d.Len()), s)) // never into the other's array
		case reflect.Map:
			if s.Len() == 0 {
				continue
			}
			both := reflect.MakeMap(d.Type())
			for _, m := range [...]reflect.Value{d, s} {
				for _, key := range m.MapKeys() {
					both.SetMapIndex(key, m.MapIndex(key))
				}
			}
			d.Set(both)
		default:
			if !s.IsZero() {
				d.Set(s)
			}
		}
	}
}

// held is what of a book does not count before it is trusted.
func held(r *Rules) []string {
	var list []string
	for _, p := range packs() {
		mode, switched := r.Packs[p.name]
		switch {
		case switched && mode != On:
			list = append(list, fmt.Sprintf("%s = %q", p.name, mode))
		case p.beside == nil && (switched || p.told(r)):
			list = append(list, p.name)
		}
	}
	return list
}

// tightenedBy are the handlers that a book adds which nobody trusts. What the
// person switched on the command line counts here as well.
func (h *hook) tightenedBy(r *Rules) []policy.Handler {
	var list []policy.Handler
	own := h.packs
	defer func() { h.packs = own }()
	for _, p := range packs() {
		mode, switched := own.Modes[p.name]
		if !switched {
			mode = On
		}
		if p.beside == nil || mode == Off || r.Packs[p.name] != On && !p.told(r) {
			continue
		}
		// The person's words to a pack are for the handler of their own book; this
		// one goes by its own.
		h.packs = Packs{}
		for _, handler := range p.build(h, p.beside(r), mode) {
			handler = tightened(handler)
			if mode == Audit {
				handler = h.auditOnly(handler)
			}
			list = append(list, handler)
		}
	}
	return list
}

// asIs is for packs whose whole section only tightens.
func asIs(r *Rules) *Rules { return r }

// tightened keeps a handler to what can only make the chain say more: it may refuse
// or ask before a call, and withhold or mask a result after one. It never approves,
// rewrites a call, speaks to the model or ends a turn; nor keeps one going, which a
// denial at its end would.
func tightened(handler policy.Handler) policy.Handler {
	wants, handle := handler.Wants, handler.Handle
	// A person's own rewriting comes first, and the first one counts.
	if handler.Band >= policy.BandRewrite {
		handler.Band = policy.BandContext - 1
	}
	handler.IfUndecided = false
	handler.Wants = func(ev *event.Event) bool {
		return (beforeCall(ev) || afterCall(ev)) && (wants == nil || wants(ev))
	}
	handler.Handle = func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
		v, err := handle(ctx, ev)
		if err != nil {
			return event.Verdict{}, err
		}
		out := event.Verdict{Rule: v.Rule, Policy: v.Policy}
		if v.Decision >= event.Ask {
			out.Decision, out.Reason = v.Decision, Printable(v.Reason)
		}
		if afterCall(ev) {
			out.UpdatedOutput = v.UpdatedOutput
		}
		if out.Decision == event.None {
			out.Rule, out.Policy = "", ""
		}
		return out, nil
	}
	return handler
}

func beforeCall(ev *event.Event) bool {
	switch ev.Name {
	case event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand, event.PreMCPToolCall:
		return true
	}
	return false
}

func afterCall(ev *event.Event) bool {
	return ev.Name == event.PostToolUse || ev.Name == event.PostToolUseFailure
}

// bookHandlers speak for the books themselves: what is refused because of them, and
// what the person should know at the start of a session.
func (h *hook) bookHandlers(b *Books) []policy.Handler {
	var list []policy.Handler
	if b.Refused != nil {
		list = append(list, policy.Handler{
			Name: "rulebook", Band: policy.BandSafety, Role: policy.Gate, Wants: beforeCall,
			Handle: func(context.Context, *event.Event) (event.Verdict, error) {
				return event.Verdict{Decision: event.Deny, Rule: "book-pin", Reason: fmt.Sprintf("lidguard [book-pin]: %v, so nobody knows which calls its rules refuse, and all are."+
					" A person has to look at it and pin it anew in the rulebook that includes it. Do not work around this.", b.Refused)}, nil
			}})
	}
	for _, p := range b.projects() {
		if p.Broken == nil {
			continue
		}
		// The project wants rules and nobody can tell which.
		h.complain(p.Broken)
		for _, handler := range gatePack.build(h, &Rules{}, On) {
			list = append(list, tightened(handler))
		}
		break // once is enough
	}
	for _, problem := range b.Stale {
		h.complain(problem)
	}
	if text, key := b.notice(); text != "" {
		list = append(list, policy.Handler{
			Name: "rulebook", Band: policy.BandContext,
			Wants: func(ev *event.Event) bool { return ev.Name == event.SessionStart },
			Handle: func(ctx context.Context, ev *event.Event) (event.Verdict, error) {
				if h.toldBefore(ctx, key) {
					return event.Verdict{}, nil
				}
				return event.Verdict{SystemMessage: text}, nil
			}})
	}
	return list
}

// notice is what the person should know of the books, and the key under which it
// is remembered that they were told; "" is told every time.
func (b *Books) notice() (text, key string) {
	p := b.Project
	switch {
	case b.Refused != nil:
		return "lidguard refuses every call: " + b.Refused.Error() + "; look at it and pin it anew in the rulebook that includes it", ""
	case p != nil && p.Broken != nil:
		return "lidguard cannot read this project's rules, so the gate's standard holds here: " + Printable(p.Broken.Error()), ""
	case len(b.Stale) > 0:
		return "lidguard: " + b.Stale[0].Error() + "; the rules that were pinned go on counting", b.Stale[0].Error()
	case p == nil || p.Trusted:
		return "", ""
	case p.Before != "":
		return fmt.Sprintf("lidguard: %s has changed since you trusted it. It may only tighten, and what you trusted goes on refusing, until you run `lidguard hooks trust`.", p.File.Path),
			p.File.Path + " " + string(p.File.Digest)
	case len(p.Held) > 0:
		return fmt.Sprintf("lidguard: %s is not trusted, so it may only tighten. Held back: %s. `lidguard hooks trust` shows what it would do.", p.File.Path, strings.Join(p.Held, ", ")),
			p.File.Path + " " + string(p.File.Digest)
	}
	return "", ""
}

// toldBefore notes that the person was told something and reports whether they had
// been before.
func (h *hook) toldBefore(ctx context.Context, key string) bool {
	if key == "" {
		return false
	}
	before := false
	err := h.kit().Store("rulebook").Update(ctx, key, func(old []byte) ([]byte, error) {
		before = old != nil
		return []byte("told"), nil
	})
	if err != nil {
		h.complain(err) // told once too often is better than never
	}
	return before
}

// Sections are the names of the sections that a book has, as they are written.
func (r *Rules) Sections() []string {
	var list []string
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			list = append(list, v.Type().Field(i).Tag.Get("toml"))
		}
	}
	return list
}
