package confedit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Draft is what an edit wants the file to become.
type Draft struct {
	Text    []byte
	Delete  bool   // remove the file; Text is ignored
	Created []Path // parents the edit added, for the Undo
}

// Options of a write.
type Options struct {
	// Now dates the backup, in the time zone it carries.
	Now time.Time
	// Previous is what the last write to this file returned, if there was
	// one. With it a second write is known to follow our own and not a
	// person's: no second backup, and the way back still leads to the
	// bytes from before the first.
	Previous *Undo
	// Announce, where set, hears of the Undo of a write before anything is done
	// for it, backup and folders included: whoever keeps it has a way back
	// wherever the writer is killed. It is heard again when another program
	// was quicker. Its error keeps everything as it is.
	Announce func(Undo) error
}

// Result tells what a write did.
type Result struct {
	Changed bool   // false: the file already was what the draft wants
	Backup  string // the backup made now; "" if none was due
	Before  []byte // content when the file was opened
	After   []byte // content now; nil if there is no file
	Undo    Undo   // keep it for the removal; without a change it is Previous
}

// Update opens the file at path, lets edit say what it should become, and
// writes that. When another program was quicker it starts over with the new
// content, so edit may run several times and must not have effects of its
// own. It gives up when ctx ends.
func Update(ctx context.Context, path string, opt Options, edit func(*File) (Draft, error)) (Result, error) {
	for {
		f, err := Open(path)
		if err != nil {
			return Result{}, err
		}
		draft, err := edit(f)
		if err != nil {
			return Result{}, fmt.Errorf("editing %q: %w", path, err)
		}
		res, err := f.Write(ctx, draft, opt)
		if !errors.Is(err, ErrChanged) {
			return res, err
		}
		if err := ctx.Err(); err != nil {
			return Result{}, fmt.Errorf("editing %q: %w", path, err)
		}
	}
}

// Write makes the file what draft says, provided it still is what it was when
// opened; else the error matches [ErrChanged]. It holds the file's advisory
// lock meanwhile and waits for it until ctx ends.
//
// The new content is written beside the file, synced, and renamed into place:
// readers see the old file or the new one, never a part. The mode stays; a
// new file gets 0600 and new folders 0700. Hard links to the old file keep
// the old content. What a person last wrote is copied first to
// "<name>.lidguard-backup-YYYYMMDD-HHMMSS" beside Path, once. If nothing would
// change, nothing is written, backed up or locked.
func (f *File) Write(ctx context.Context, draft Draft, opt Options) (res Result, err error) {
	after := draft.Text
	if draft.Delete {
		after = nil
	}
	res = Result{Before: f.data, After: after}
	if opt.Previous != nil {
		res.Undo = *opt.Previous
	}
	gone := draft.Delete || !f.Exists && len(after) == 0
	if gone && !f.Exists || !gone && f.Exists && bytes.Equal(f.data, after) {
		res.After = f.data
		return res, nil
	}

	dirs := missingDirs(filepath.Dir(f.Target))
	backup, due := "", false
	if f.Exists && !opt.Previous.left(f.digest) {
		if backup, due, err = f.backupName(opt.Now); err != nil {
			return Result{}, err
		}
	}
	undo := nextUndo(f, opt.Previous, draft, backup, dirs)
	if opt.Announce != nil {
		if err := opt.Announce(undo); err != nil {
			return Result{}, err
		}
	}
	undo.Was = ""

	defer func() {
		if !res.Changed {
			removeDirs(dirs)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(f.Target), 0o700); err != nil {
		return Result{}, fmt.Errorf("writing %q: %w", f.Path, err)
	}
	unlock, err := lock(ctx, f.Target)
	if err != nil {
		return Result{}, fmt.Errorf("writing %q: %w", f.Path, err)
	}
	defer unlock()

	if err := f.unchanged(); err != nil {
		return Result{}, fmt.Errorf("writing %q: %w", f.Path, err)
	}
	f.sweep()
	if due {
		if err := f.copyTo(backup); err != nil {
			return Result{}, err
		}
	}
	res.Backup = backup
	if gone {
		if err := os.Remove(f.Target); err != nil {
			return Result{}, fmt.Errorf("removing %q: %w", f.Path, plainCause(err))
		}
	} else if err := f.replace(after); err != nil {
		return Result{}, err
	}
	syncDir(filepath.Dir(f.Target))

	res.Changed = true
	res.Undo = undo
	return res, nil
}

// unchanged returns ErrChanged unless the file is what it was when opened.
func (f *File) unchanged() error {
	now, err := Open(f.Path)
	if err != nil {
		return err
	}
	if now.Target != f.Target || now.Exists != f.Exists || now.digest != f.digest {
		return ErrChanged
	}
	return nil
}

// replace writes data beside the target and renames it into place.
func (f *File) replace(data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(f.Target), tmpPrefix(f.Target)+"*"+tmpSuffix) // 0600
	if err != nil {
		return fmt.Errorf("writing %q: %w", f.Path, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
			err = fmt.Errorf("writing %q: %w", f.Path, err)
		}
	}()
	if f.Exists {
		// Owner first: changing it may clear mode bits.
		if err := keepOwner(tmp, f.Target); err != nil {
			return err
		}
		if err := tmp.Chmod(f.Mode); err != nil {
			return err
		}
	}
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	// Clients do not know our lock. A last look leaves them a window of
	// microseconds instead of a sync's milliseconds.
	if err := f.unchanged(); err != nil {
		return err
	}
	return rename(tmp.Name(), f.Target)
}

const tmpSuffix = ".tmp"

func tmpPrefix(target string) string { return "." + filepath.Base(target) + ".lidguard-" }

// sweep removes what writers left beside the file, and beside the link to it, that
// were killed. Whoever holds the lock is the only one that may be writing.
func (f *File) sweep() {
	path, err := filepath.Abs(f.Path)
	if err != nil {
		path = f.Target
	}
	for _, file := range slices.Compact([]string{f.Target, path}) {
		entries, err := os.ReadDir(filepath.Dir(file))
		if err != nil {
			continue // litter harms nobody
		}
		for _, e := range entries {
			if name := e.Name(); strings.HasPrefix(name, tmpPrefix(file)) && strings.HasSuffix(name, tmpSuffix) {
				_ = os.Remove(filepath.Join(filepath.Dir(file), name)) // as above
			}
		}
	}
}

// Tidy removes the litter of writers of the file at path that were killed: their
// temporary files and their lock.
func Tidy(ctx context.Context, path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(f.Target)); err != nil {
		return nil // no folder, no litter
	}
	unlock, err := lock(ctx, f.Target)
	if err != nil {
		return fmt.Errorf("tidying up beside %q: %w", path, err)
	}
	f.sweep()
	unlock()
	return nil
}

// backupName is the dated file beside Path for a copy of the content as it was opened.
// due is false where a backup there holds the same bytes already: then it is that one.
func (f *File) backupName(now time.Time) (name string, due bool, err error) {
	if now.IsZero() {
		return "", false, fmt.Errorf("backing up %q: no time was given to date the backup", f.Path)
	}
	path, err := filepath.Abs(f.Path) // the Undo may be read from elsewhere
	if err != nil {
		return "", false, fmt.Errorf("backing up %q: %w", f.Path, err)
	}
	existing, err := backupsOf(path)
	if err != nil {
		return "", false, fmt.Errorf("backing up %q: %w", f.Path, err)
	}
	for _, name := range existing {
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(f.data)) {
			continue
		}
		if data, err := readAll(name); err == nil && bytes.Equal(data, f.data) {
			return name, false, nil
		}
	}
	dated := path + backupInfix + now.Format("20060102-150405")
	name = dated
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name, true, nil // writing it tells of an error that is none of absence
		}
		name = fmt.Sprintf("%s-%d", dated, n)
	}
}

// copyTo writes the content as it was opened to the file name, which must not exist
// yet, all or nothing.
func (f *File) copyTo(name string) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("backing up %q: %w", f.Path, ErrChanged) // somebody took the name
	}
	if err := writeBeside(tmpPrefix(f.Path), name, f.data, f.Mode); err != nil {
		return fmt.Errorf("backing up %q: %w", f.Path, err)
	}
	return nil
}

const backupInfix = ".lidguard-backup-"

// backupsOf lists the backups beside path. It reads the folder rather than
// using a glob, as the folder's name may hold characters a glob interprets.
func backupsOf(path string) ([]string, error) {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	prefix := filepath.Base(path) + backupInfix
	for _, e := range entries {
		if len(e.Name()) > len(prefix) && e.Name()[:len(prefix)] == prefix {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	return names, nil
}

// writeBeside writes a file by way of one beside it whose name begins with prefix, so
// that whoever is killed leaves all of it or none.
func writeBeside(prefix, name string, data []byte, mode fs.FileMode) (err error) {
	out, err := os.CreateTemp(filepath.Dir(name), prefix+"*"+tmpSuffix) // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			out.Close()
			os.Remove(out.Name())
		}
	}()
	if _, err := out.Write(data); err != nil {
		return err
	}
	if err := out.Chmod(mode); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return rename(out.Name(), name)
}

// missingDirs lists dir and what is missing above it, innermost first.
func missingDirs(dir string) (missing []string) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = append(missing, at)
		if at == filepath.Dir(at) {
			return missing
		}
	}
}

// removeDirs removes those of the folders that are empty.
func removeDirs(dirs []string) {
	for _, dir := range dirs {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return // not empty: leave those around it, too
		}
	}
}
