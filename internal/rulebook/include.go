package rulebook

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Include names another book whose rules count as well. It is pinned: it counts
// only with exactly this content.
type Include struct {
	// Path is absolute, below ~/, or relative to the folder of the book that
	// names it.
	Path   string `toml:"path"`
	SHA256 Digest `toml:"sha256"`
}

// Bounds of a chain of books.
const (
	MaxIncludes = 32 // in all
	maxDepth    = 4  // books that include books
	// MaxInside bounds confined books and what they include, in bytes together:
	// every hook reads them, and whoever wrote them is not trusted with its time.
	MaxInside = 256 << 10
)

// PinError says that a pinned book is not there as it was pinned.
type PinError struct {
	Path string
	Want Digest
	Got  Digest // "" where there is no such file
}

func (e *PinError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("the shared book %s, pinned as %s, is not there", e.Path, e.Want.Short())
	}
	return fmt.Sprintf("the shared book %s is pinned as %s and is now %s", e.Path, e.Want.Short(), e.Got.Short())
}

// A Resolver finds the books that a book includes.
type Resolver struct {
	Home string
	// Inside confines paths to a folder, with links resolved; "" does not.
	Inside string
	// Kept returns the content that was kept under a digest, and false where none
	// was. nil: nothing was kept.
	Kept func(Digest) ([]byte, bool)
	// Left is how many bytes confined books may still have, MaxInside at first.
	Left *int

	count, depth int
}

// Resolve calls take with every book that includes name, in the order given, those
// that they include first. decode reads the includes of a book that was found. What
// is not there as pinned but was kept is taken from there and told to stale; else
// the error matches *PinError.
func (r *Resolver) Resolve(book File, includes []Include, decode func(File) ([]Include, error), take func(File) error, stale func(error)) error {
	if r.depth >= maxDepth {
		return &Error{File: book.Path, Key: "include", Problem: fmt.Sprintf("books include each other more than %d deep", maxDepth)}
	}
	r.depth++
	defer func() { r.depth-- }()
	for i := range includes {
		in := &includes[i]
		fault := func(problem string) error {
			return At(book, "include", i, "path", problem)
		}
		if r.count++; r.count > MaxIncludes {
			return fault(fmt.Sprintf("these are more than %d books", MaxIncludes))
		}
		if in.Path == "" || in.SHA256 == "" {
			return fault("an include has a path and a sha256")
		}
		path, err := r.path(book.Path, in.Path)
		if err != nil {
			return fault(err.Error())
		}
		file, err := r.pinned(path, in.SHA256, stale)
		if err != nil {
			return err
		}
		if err := r.Admit(file); err != nil {
			return err
		}
		more, err := decode(file)
		if err != nil {
			return err
		}
		if err := r.Resolve(file, more, decode, take, stale); err != nil {
			return err
		}
		if err := take(file); err != nil {
			return err
		}
	}
	return nil
}

// Admit counts a book, the first one as well, and refuses one that is too much. It
// is for before a book is decoded.
func (r *Resolver) Admit(f File) error {
	if r.Inside == "" {
		return nil
	}
	if *r.Left -= len(f.Data); *r.Left >= 0 {
		return nil
	}
	return &Error{File: f.Path, Problem: fmt.Sprintf("a project's book and what it includes may have %d bytes before you trust it", MaxInside)}
}

// path is where an include is.
func (r *Resolver) path(book, path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(r.Home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(book), filepath.FromSlash(path))
	}
	path = filepath.Clean(path)
	if r.Inside == "" {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path // pinned tells that it is not there
	}
	inside, err := filepath.EvalSymlinks(r.Inside)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(inside, real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is outside of %s", path, r.Inside)
	}
	return path, nil
}

func (r *Resolver) pinned(path string, want Digest, stale func(error)) (File, error) {
	file, err := Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return File{}, err
	}
	if err == nil && file.Digest == want {
		return file, nil
	}
	problem := &PinError{Path: path, Want: want, Got: file.Digest}
	if r.Kept != nil {
		if data, ok := r.Kept(want); ok && DigestOf(data) == want {
			stale(problem)
			return File{Path: path, Data: data, Digest: want}, nil
		}
	}
	return File{}, problem
}
