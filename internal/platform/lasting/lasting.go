// Package lasting changes values of the system that outlive the process that
// changed them, so that they are always put back. In come a way to read and
// write such values and a file for what they were; out go changes that were read
// back, and the user's own values again: by the runtime itself, by the keeper
// process that notices the runtime's death, or by the next command. It never
// claims a change that the system does not show, and never forgets an original
// before it is back.
package lasting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// Values is how the lasting values of one system are read and written. Names and
// values are the system's own words; the same name is always the same value.
// Implementations must be safe for use from several processes, and must return
// soon after ctx ends.
type Values interface {
	// Read returns the value that counts now.
	Read(ctx context.Context, name string) (string, error)
	// Write asks the system to change a value. That it returns nil is no proof
	// that the value changed, nor an error that it did not.
	Write(ctx context.Context, name, value string) error
}

// ErrNotKept is matched when the system took a write and does not show it.
var ErrNotKept = errors.New("the system did not keep the value")

// How long a written value may take to show before the write counts as ignored,
// and how often it is looked for. Chosen: pmset's writes show in milliseconds.
const (
	patience = 2 * time.Second
	pace     = 100 * time.Millisecond
)

// lockPace is how often a process waits for another that has the file.
const lockPace = 20 * time.Millisecond

// An Entry is one changed value in the backup file.
type Entry struct {
	Name     string `json:"name"`
	Original string `json:"original"` // the user's own, to be put back
	Set      string `json:"set"`      // what lidguard makes of it
	// Earlier are values that lidguard made of it before Set. Where a write was
	// ignored, one of them may still stand, and it is not the user's.
	Earlier []string `json:"earlier,omitempty"`
	// Owner is the Store that changed it last. Its keeper puts back no other's.
	Owner string `json:"owner"`
	// Confirmed: Set was read back. Without it the write may still be under way.
	Confirmed bool `json:"confirmed"`
	// Changed is when, for people.
	Changed time.Time `json:"changed"`
}

// backup is the file. A missing file means that nothing is changed.
type backup struct {
	Schema int     `json:"schema"`
	Values []Entry `json:"values"`
}

const schema = 1

// Store is one process's hand on the lasting values. Its methods are safe from
// several goroutines, and from several processes with the same file.
type Store struct {
	// Path of the backup file. It is mode 0600, and is written before a value is
	// changed and removed once all are back.
	Path   string
	Values Values
	// Owner tells this process from others, the keeper excepted, which shares
	// its runtime's. Empty for a command that only restores.
	Owner string
	// Now stamps entries for people.
	Now func() time.Time
	// Patience bounds how long a write may take to show; 0 is 2 s.
	Patience time.Duration
}

// Change sets a value and returns once the system shows it. The original goes to
// the backup file first, unless that has one for this name already: the value
// found then is not the user's. A value that is as wanted already is left alone
// and not noted, since there is nothing to put back.
//
// After an error the entry stays, whatever the value is now: PutBack and Restore
// see to it. Errors match ErrNotKept where the write was ignored.
func (s *Store) Change(ctx context.Context, name, value string) error {
	return s.locked(ctx, func(b *backup) error {
		i := b.find(name)
		if i < 0 {
			now, err := s.Values.Read(ctx, name)
			if err != nil {
				return fmt.Errorf("reading %s before a change: %w", name, err)
			}
			if now == value {
				return nil
			}
			b.Values = append(b.Values, Entry{Name: name, Original: now})
			i = len(b.Values) - 1
		}
		e := &b.Values[i]
		if e.Original == value {
			return s.put(ctx, b, i)
		}
		adopted := e.Confirmed && e.Set == value
		if e.Set != "" && e.Set != value && !slices.Contains(e.Earlier, e.Set) {
			e.Earlier = append(e.Earlier, e.Set)
		}
		e.Set, e.Owner, e.Confirmed, e.Changed = value, s.Owner, false, s.Now().UTC()
		if err := s.save(b); err != nil {
			return err
		}
		// One that a runtime before us set is not written again, only looked at.
		if now, err := s.Values.Read(ctx, name); !adopted || err != nil || now != value {
			if err := s.write(ctx, name, value); err != nil {
				return err
			}
		}
		e.Confirmed = true
		return s.save(b)
	})
}

// PutBack puts back what this Store's owner changed: these names, or without any
// all. What another owner has taken over since is left to that one. Doing it
// again is harmless.
func (s *Store) PutBack(ctx context.Context, names ...string) error {
	return s.restore(ctx, func(e Entry) bool {
		return e.Owner == s.Owner && (len(names) == 0 || slices.Contains(names, e.Name))
	})
}

// Restore puts back what other owners left changed. It is for the time when none
// of them runs any more.
func (s *Store) Restore(ctx context.Context) error {
	return s.restore(ctx, func(e Entry) bool { return e.Owner != s.Owner })
}

// Pending returns what is changed now, by whomever. A missing file is none.
func (s *Store) Pending() ([]Entry, error) {
	b, err := s.load()
	if err != nil {
		return nil, err
	}
	return b.Values, nil
}

func (s *Store) restore(ctx context.Context, which func(Entry) bool) error {
	// Mostly there is nothing, and then nothing is created either.
	if _, err := os.Lstat(s.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.locked(ctx, func(b *backup) error {
		var errs []error
		for i := len(b.Values) - 1; i >= 0; i-- { // the last change goes first
			if which(b.Values[i]) {
				errs = append(errs, s.put(ctx, b, i))
			}
		}
		return errors.Join(errs...)
	})
}

// put puts entry i back and takes it out of the file once the system shows it.
func (s *Store) put(ctx context.Context, b *backup, i int) error {
	e := b.Values[i]
	now, err := s.Values.Read(ctx, e.Name)
	if err != nil {
		return fmt.Errorf("reading %s to put back %q: %w", e.Name, e.Original, err)
	}
	// A value that is neither ours nor the original is what the user made of it
	// meanwhile: theirs. Before our write was seen, the original is written even
	// where it is found, so that it comes after a write that is only late.
	ours := now == e.Set || slices.Contains(e.Earlier, now)
	if now != e.Original && ours || now == e.Original && !e.Confirmed {
		if err := s.write(ctx, e.Name, e.Original); err != nil {
			return fmt.Errorf("putting back %s: %w", e.Name, err)
		}
	}
	b.Values = slices.Delete(b.Values, i, i+1)
	return s.save(b)
}

// write writes a value and waits until the system shows it.
func (s *Store) write(ctx context.Context, name, value string) error {
	written := s.Values.Write(ctx, name, value)
	wait := s.Patience
	if wait == 0 {
		wait = patience
	}
	if written != nil {
		wait = 0 // one look: programs fail after the work as well
	}
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		now, err := s.Values.Read(ctx, name)
		switch {
		case err == nil && now == value:
			return nil
		case written != nil:
			return fmt.Errorf("writing %s = %q: %w", name, value, written)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s to show %q: %w", name, value, ctx.Err())
		case <-deadline.C:
			if err != nil {
				return fmt.Errorf("reading %s back: %w", name, err)
			}
			return fmt.Errorf("%s reads %q after writing %q: %w", name, now, value, ErrNotKept)
		case <-time.After(pace):
		}
	}
}

func (b *backup) find(name string) int {
	return slices.IndexFunc(b.Values, func(e Entry) bool { return e.Name == name })
}

// locked runs f with the file's content, alone among all processes.
func (s *Store) locked(ctx context.Context, f func(*backup) error) error {
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o700); err != nil {
		return fmt.Errorf("backup of system values: %w", err)
	}
	lock := flock.New(s.Path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPace); err != nil {
		return fmt.Errorf("waiting for another process at the backup of system values: %w", err)
	}
	defer lock.Close()
	b, err := s.load()
	if err != nil {
		return err
	}
	return f(b)
}

func (s *Store) load() (*backup, error) {
	data, err := readFile(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return &backup{Schema: schema}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the backup of system values: %w", err)
	}
	b := new(backup)
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("reading the backup of system values in %q: %w; set them by hand as you want them, then delete the file", s.Path, err)
	}
	if b.Schema != schema {
		return nil, fmt.Errorf("the backup of system values in %q has schema %d, this program reads %d", s.Path, b.Schema, schema)
	}
	return b, nil
}

// save writes the file so that it survives a power failure, or removes it when
// nothing is changed any more.
func (s *Store) save(b *backup) error {
	if len(b.Values) == 0 {
		if err := patiently(func() error { return os.Remove(s.Path) }); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the backup of system values: %w", err)
		}
		return syncDir(filepath.Dir(s.Path))
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(s.Path, append(data, '\n')); err != nil {
		return fmt.Errorf("saving the backup of system values: %w", err)
	}
	return nil
}

// readFile reads a file that somebody may be replacing.
func readFile(path string) (data []byte, err error) {
	err = patiently(func() error {
		data, err = os.ReadFile(path)
		return err
	})
	return data, err
}

// replace puts data at path at once or not at all, and on the disk before it
// returns.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = patiently(func() error { return os.Rename(f.Name(), path) })
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(path))
}
