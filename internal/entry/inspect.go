package entry

import (
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/rulebook"
)

// BookPart is one thing that a book would do.
type BookPart struct {
	Pack   string `json:"pack"`
	Detail string `json:"detail,omitempty"`
	// Held is set for what counts only once the book is trusted: it may run
	// programs, speak to the model, approve, or loosen.
	Held bool `json:"held"`
}

// InspectBook reads a book as it would count and tells what it would do. It runs
// nothing.
func InspectBook(dirs paths.Dirs, f rulebook.File) ([]BookPart, error) {
	l := loader{dirs: dirs, books: &Books{}}
	r, err := l.book(f, "")
	if err == nil {
		err = l.books.Refused
	}
	if err != nil {
		return nil, err
	}
	parts := []BookPart{}
	for _, p := range packs() {
		mode, switched := r.Packs[p.name]
		if !switched && !p.told(r) {
			continue
		}
		part := BookPart{Pack: p.name, Held: p.beside == nil || switched && mode != On}
		switch {
		case switched && mode != On:
			part.Detail = "switched " + string(mode)
		case p.detail != nil:
			part.Detail = p.detail(r, &Packs{})
		}
		parts = append(parts, part)
	}
	return parts, nil
}
