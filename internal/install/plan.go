package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/confedit"
)

// Change says what a file with content data should become. created is nil for an
// installation. For a removal it lists the parents that our installation
// created, and is nil when the record of that was lost. It must have no effects of
// its own, as it may run several times.
type Change func(data []byte, created []confedit.Path) (confedit.Draft, error)

// Edit is the planned change of one file.
type Edit struct {
	Path    string // as the client names it; symlinks are followed when writing
	Before  []byte // nil: no file
	After   []byte // nil: the file goes
	Removes bool   // takes entries out

	record string // the name under which its Undo is kept
	change Change
}

// Diff shows the edit as a unified diff.
func (e Edit) Diff() string { return confedit.Diff(e.Before, e.After, e.Path) }

// Plan is a list of edits, computed and not yet carried out.
type Plan struct {
	Edits []Edit

	// settled are removals from files that have nothing of ours any more, since
	// somebody else took it out: only the record of them goes.
	settled []Edit
}

// ErrReadOnly is matched when a file's owner has made it read-only: it could be
// replaced all the same, but that was not meant.
var ErrReadOnly = errors.New("the file is read-only")

// Add computes what change would do to the file at path and plans it, unless it
// would do nothing. A removal goes back to the bytes from before the installation
// where nobody has edited the file since.
func (p *Plan) Add(path string, removes bool, records Records, change Change) error {
	return p.AddAs(path, path, removes, records, change)
}

// AddAs is Add with a record of its own, for a second kind of entries in a file:
// undoing one kind must not bring back the bytes from before the other.
func (p *Plan) AddAs(record, path string, removes bool, records Records, change Change) error {
	f, err := confedit.Open(path)
	if err != nil {
		return err
	}
	e := Edit{Path: path, Removes: removes, record: record, change: change, Before: f.Bytes()}
	if f.Exists {
		e.Before = append([]byte{}, e.Before...)
	} else {
		e.Before = nil
	}
	draft, err := e.preview(f, records[record])
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	e.After = append([]byte{}, draft.Text...) // an empty file is not none
	if draft.Delete || !f.Exists && len(draft.Text) == 0 {
		e.After = nil
	}
	if bytes.Equal(e.Before, e.After) && (e.Before == nil) == (e.After == nil) {
		if removes && records[record] != nil {
			p.settled = append(p.settled, e)
		}
		return nil
	}
	if f.Exists && f.Mode&0o200 == 0 {
		return fmt.Errorf("%q: %w", path, ErrReadOnly)
	}
	p.Edits = append(p.Edits, e)
	return nil
}

// preview is what confedit.Update or confedit.Revert will come to.
func (e *Edit) preview(f *confedit.File, undo *confedit.Undo) (confedit.Draft, error) {
	if !e.Removes {
		return e.change(f.Bytes(), nil)
	}
	if draft, ok := undo.Restore(f); ok {
		if draft.Delete {
			return draft, nil
		}
		return e.change(draft.Text, nil)
	}
	var created []confedit.Path
	if undo != nil {
		created = undo.Created
	}
	draft, err := e.change(f.Bytes(), created)
	if err == nil && undo != nil && !undo.Existed && len(bytes.TrimSpace(draft.Text)) == 0 {
		draft.Delete = true
	}
	return draft, err
}

// Done is one file that was changed.
type Done struct {
	Path   string `json:"path"`
	Backup string `json:"backup,omitempty"` // the copy from before, if one was made
}

// Apply carries the plan out, file by file, and keeps the records that a removal
// needs: each is written before its file and again after it, so that wherever the
// program is killed a removal brings back every byte. On an error the files before it
// stay changed; running again goes on.
func (p Plan) Apply(ctx context.Context, now time.Time, store Store) ([]Done, error) {
	var done []Done
	for _, e := range slices.Concat(p.Edits, p.settled) {
		err := store.update(func(records Records) error {
			undo := records[e.record]
			opt := confedit.Options{Now: now, Previous: undo}
			opt.Announce = func(u confedit.Undo) error {
				records[e.record] = &u
				return store.save(records)
			}
			var res confedit.Result
			var err error
			if e.Removes {
				opt.Announce = nil
				// An installer that was killed may have left litter. Where that
				// cannot be seen to, the removal itself says so.
				_ = confedit.Tidy(ctx, e.Path)
				res, err = confedit.Revert(ctx, e.Path, opt, undo, func(f *confedit.File, created []confedit.Path) (confedit.Draft, error) {
					return e.change(f.Bytes(), created)
				})
			} else {
				res, err = confedit.Update(ctx, e.Path, opt, func(f *confedit.File) (confedit.Draft, error) {
					return e.change(f.Bytes(), nil)
				})
			}
			if err != nil {
				records.put(e.record, undo) // what was announced did not come
				return err
			}
			if res.Changed {
				done = append(done, Done{Path: e.Path, Backup: res.Backup})
			}
			if e.Removes {
				dropBackup(undo, res.After)
				delete(records, e.record)
				if undo != nil && len(res.After) == 0 {
					records.inherit(undo.Dirs)
				}
			} else if res.Changed {
				records[e.record] = &res.Undo
			} else {
				records.put(e.record, undo)
			}
			return nil
		})
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// dropBackup deletes the backup that an installation made once the file has the
// same bytes again: it would only be litter then.
func dropBackup(undo *confedit.Undo, content []byte) {
	if undo == nil || undo.Backup == "" {
		return
	}
	if data, err := os.ReadFile(undo.Backup); err == nil && bytes.Equal(data, content) {
		_ = os.Remove(undo.Backup) // staying is no harm
	}
}
