package install

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofrs/flock"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// Records are what removals need to know about the files we wrote to, by path.
type Records map[string]*confedit.Undo

// put keeps a record; nil, that there is none.
func (r Records) put(name string, u *confedit.Undo) {
	if u == nil {
		delete(r, name)
		return
	}
	r[name] = u
}

// inherit hands the folders that were made for a file that is gone, and that are
// still there, to another file of ours in them: whoever is removed last removes
// them as well.
func (r Records) inherit(dirs []string) {
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); err != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(r)) {
			u := r[name]
			path, _ := RecordOf(name)
			if target, err := filepath.EvalSymlinks(path); err == nil {
				path = target
			}
			if u != nil && strings.HasPrefix(path, dir+string(filepath.Separator)) {
				if !slices.Contains(u.Dirs, dir) {
					u.Dirs = append(u.Dirs, dir)
				}
				break
			}
		}
	}
}

// Store keeps the records in a file of lidguard's own.
type Store struct{ Path string }

// Load reads the records. No file means no records; so does a broken one: then
// entries are taken out one by one, which loses nothing but the layout of parents
// that had been created.
func (s Store) Load() (Records, error) {
	data, err := os.ReadFile(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Records{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of changed files: %w", err)
	}
	var records Records
	if json.Unmarshal(data, &records) != nil || records == nil {
		return Records{}, nil
	}
	return records.spelled(unspell), nil
}

// rawPath begins a path that is no UTF-8, which JSON cannot hold, as base64. No path
// of a record begins so: they are absolute.
const rawPath = "base64:"

func spell(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return rawPath + base64.StdEncoding.EncodeToString([]byte(path))
}

func unspell(text string) string {
	if rest, ok := strings.CutPrefix(text, rawPath); ok {
		if path, err := base64.StdEncoding.DecodeString(rest); err == nil {
			return string(path)
		}
	}
	return text
}

// spelled is a copy of the records with other spellings of their paths.
func (r Records) spelled(as func(string) string) Records {
	out := make(Records, len(r))
	for name, undo := range r {
		if undo != nil {
			u := *undo
			u.Backup, u.Dirs = as(u.Backup), slices.Clone(u.Dirs)
			for i, dir := range u.Dirs {
				u.Dirs[i] = as(dir)
			}
			undo = &u
		}
		out[as(name)] = undo
	}
	return out
}

// update reads the records, lets change work with them and writes them, while no
// other lidguard does the same. They are written also when change fails.
func (s Store) update(change func(Records) error) error {
	unlock, err := s.lock()
	if err != nil {
		return fmt.Errorf("locking the record of changed files: %w", err)
	}
	defer unlock()
	s.sweep()
	records, err := s.Load()
	if err != nil {
		return err
	}
	return errors.Join(change(records), s.save(records))
}

// lock waits for the record's lock. Whoever gives it back removes the lock file
// too, so that after the last removal nothing is left; hence the look whether the
// file that is locked is still the one that others will find.
func (s Store) lock() (unlock func(), err error) {
	name := s.Path + ".lock"
	for {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		l := flock.New(name)
		err := l.Lock()
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody removed the empty folder just now
		}
		if err != nil {
			return nil, err
		}
		held, err1 := l.Stat()
		there, err2 := os.Lstat(name)
		if err1 == nil && err2 == nil && os.SameFile(held, there) {
			return func() {
				_ = os.Remove(name)                 // while it is still locked
				_ = l.Close()                       // on Windows only this lets it go
				_ = os.Remove(filepath.Dir(s.Path)) // only if it is empty
			}, nil
		}
		_ = l.Close()
	}
}

// tmpPattern names the files that become the record.
const tmpPattern = ".installed-*.tmp"

// sweep removes those of writers that were killed. Whoever holds the lock is the only
// one that may be writing.
func (s Store) sweep() {
	entries, err := os.ReadDir(filepath.Dir(s.Path))
	if err != nil {
		return // litter harms nobody
	}
	for _, e := range entries {
		if left, _ := filepath.Match(tmpPattern, e.Name()); left {
			_ = os.Remove(filepath.Join(filepath.Dir(s.Path), e.Name())) // as above
		}
	}
}

// Tidy removes the litter of installers that were killed: their lock, their temporary
// files, and the folder where nothing else is in it.
func (s Store) Tidy() error {
	if _, err := os.Stat(filepath.Dir(s.Path)); err != nil {
		return nil // no folder, no litter
	}
	return s.update(func(Records) error { return nil })
}

func (s Store) save(records Records) (err error) {
	if len(records) == 0 {
		if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the record of changed files: %w", err)
		}
		return nil
	}
	data, err := json.MarshalIndent(records.spelled(spell), "", "  ")
	if err != nil {
		return fmt.Errorf("writing the record of changed files: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(s.Path), tmpPattern)
	if err != nil {
		return fmt.Errorf("writing the record of changed files: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
			err = fmt.Errorf("writing the record of changed files: %w", err)
		}
	}()
	if _, err = tmp.Write(append(data, '\n')); err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return smallfile.Rename(tmp.Name(), s.Path)
}
