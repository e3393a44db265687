package rulebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// Pin is a book that a person has looked at and trusts.
type Pin struct {
	Path   string    `json:"path"` // absolute, see canonical
	SHA256 Digest    `json:"sha256"`
	At     time.Time `json:"at"`
}

// Trust is what the person trusts: which books, with which content. The place
// counts as well as the content, since a book names programs by where they are.
type Trust struct {
	dirs paths.Dirs
	pins []Pin
}

// maxPins bounds the list.
const maxPins = 1000

// LoadTrust reads the list. No list is no error: nothing is trusted then.
func LoadTrust(dirs paths.Dirs) (*Trust, error) {
	t := &Trust{dirs: dirs}
	data, err := os.ReadFile(dirs.TrustedBooks())
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("reading which books are trusted: %w", err)
	}
	var list struct {
		Books []Pin `json:"books"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&list); err != nil {
		return t, fmt.Errorf("reading %q: %w", dirs.TrustedBooks(), err)
	}
	t.pins = list.Books
	return t, nil
}

// Pins are the trusted books by path.
func (t *Trust) Pins() []Pin { return slices.Clone(t.pins) }

// Of returns the pin of the book at path, and false where none was ever trusted
// there.
func (t *Trust) Of(path string) (Pin, bool) {
	path = canonical(path)
	for _, p := range t.pins {
		if p.Path == path {
			return p, true
		}
	}
	return Pin{}, false
}

// Trusted reports whether exactly this content is trusted at this place.
func (t *Trust) Trusted(f File) bool {
	p, ok := t.Of(f.Path)
	return ok && p.SHA256 == f.Digest
}

// Add trusts a book, instead of what was trusted there before, and keeps a copy of
// it, so that a later change can be shown and the old rules go on holding.
func (t *Trust) Add(f File, at time.Time) error {
	if err := t.Keep(f); err != nil {
		return err
	}
	path := canonical(f.Path)
	pins := slices.DeleteFunc(slices.Clone(t.pins), func(p Pin) bool { return p.Path == path })
	if len(pins) >= maxPins {
		return fmt.Errorf("%d books are trusted already; revoke some", len(pins))
	}
	return t.save(append(pins, Pin{path, f.Digest, at.UTC()}))
}

// Remove ends the trust in the book at path and reports whether there was any.
func (t *Trust) Remove(path string) (bool, error) {
	path = canonical(path)
	pins := slices.DeleteFunc(slices.Clone(t.pins), func(p Pin) bool { return p.Path == path })
	if len(pins) == len(t.pins) {
		return false, nil
	}
	return true, t.save(pins)
}

func (t *Trust) save(pins []Pin) error {
	slices.SortFunc(pins, func(a, b Pin) int { return strings.Compare(a.Path, b.Path) })
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"books": pins}); err != nil {
		return fmt.Errorf("noting the trust: %w", err)
	}
	if err := replace(t.dirs.TrustedBooks(), b.Bytes()); err != nil {
		return fmt.Errorf("noting the trust: %w", err)
	}
	t.pins = pins
	return nil
}

// Keep stores a copy of a book under its digest.
func (t *Trust) Keep(f File) error {
	if err := replace(t.copyOf(f.Digest), f.Data); err != nil {
		return fmt.Errorf("keeping a copy of %s: %w", f.Path, err)
	}
	return nil
}

// Kept is the copy that was stored under a digest, and false where there is none
// or somebody changed it.
func (t *Trust) Kept(d Digest) ([]byte, bool) {
	f, err := Read(t.copyOf(d))
	return f.Data, err == nil && f.Digest == d
}

func (t *Trust) copyOf(d Digest) string {
	return t.dirs.Join(t.dirs.State, "books", d.hex()+".toml")
}

// canonical is the path by which a book is known: two ways to one file are one
// book. A project's book is known by the project's folder and never by where a link
// in it leads: else a repository that links to a book that is trusted elsewhere had
// that trust for programs of its own.
func canonical(path string) string {
	path, below := filepath.Clean(path), ""
	if own := filepath.FromSlash(ProjectBook); strings.HasSuffix(path, string(filepath.Separator)+own) {
		path, below = ProjectOf(path), own
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Join(path, below)
}

// replace writes beside name and renames, so that nobody reads half a file.
func replace(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = smallfile.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error that matters is the first
	}
	return err
}
