package confedit

import (
	"context"
	"slices"
)

// Undo is what a later removal needs to know about the writes before it. It
// is plain data for the caller to keep, as JSON if it likes. It names the
// backup but holds no content, since config files hold secrets.
type Undo struct {
	// Existed is false if our write created the file.
	Existed bool `json:"existed"`
	// Pre and Post identify the content before our first write and after
	// our last. Both are "" once somebody else has written in between:
	// then there is no content to go back to.
	Pre  Digest `json:"pre,omitempty"`
	Post Digest `json:"post,omitempty"`
	// Was identifies what our write before had left, in the Undo of a write that
	// is announced: it is what the file has until that write comes.
	Was Digest `json:"was,omitempty"`
	// Backup is the file that holds the content Pre.
	Backup string `json:"backup,omitempty"`
	// Created lists the parents that our edits added.
	Created []Path `json:"created,omitempty"`
	// Dirs are the folders our write created, innermost first.
	Dirs []string `json:"dirs,omitempty"`
}

// left reports whether the content was left by a write of ours, the last one or, while
// it is only announced, the one before.
func (u *Undo) left(content Digest) bool {
	return u != nil && u.Post != "" && content != "" && (content == u.Post || content == u.Was)
}

// nextUndo is the record of a write to f that is about to come.
func nextUndo(f *File, prev *Undo, draft Draft, backup string, dirs []string) Undo {
	if draft.Delete {
		return Undo{}
	}
	u := Undo{Existed: f.Exists, Pre: f.digest, Post: digestOf(draft.Text), Backup: backup, Dirs: dirs}
	if prev != nil {
		switch {
		case prev.Pre != "" && prev.Pre == f.digest:
			// Somebody put the file from before us back: start afresh.
		case prev.left(f.digest):
			u.Existed, u.Pre, u.Backup, u.Was = prev.Existed, prev.Pre, prev.Backup, f.digest
		case f.Exists:
			// What is there now holds entries of ours and edits of
			// others. The file from before our first write is history.
			u.Existed, u.Pre, u.Post = prev.Existed, "", ""
		}
		u.Created = clonePaths(prev.Created)
		u.Dirs = slices.Clone(dirs)
		for _, dir := range prev.Dirs { // around the new ones, or among them
			if !slices.Contains(dirs, dir) {
				u.Dirs = append(u.Dirs, dir)
			}
		}
	}
	u.Created = addPaths(u.Created, draft.Created...)
	return u
}

// Restore returns the draft that brings back the bytes from before our first
// write. ok is false if the file is no longer what we wrote, or the
// backup is gone or altered: then take the entries out one by one.
func (u *Undo) Restore(f *File) (draft Draft, ok bool) {
	if !u.left(f.digest) {
		return Draft{}, false
	}
	if !u.Existed {
		return Draft{Delete: true}, true
	}
	data, err := readAll(u.Backup)
	if err != nil || digestOf(data) != u.Pre {
		return Draft{}, false
	}
	return Draft{Text: data}, true
}

// Revert undoes our writes to the file at path: with [Undo.Restore] if that is
// possible, else with remove, which is given the parents our edits created. It
// must take our entries out one by one, prune those parents and no others,
// and change nothing where there is nothing of ours. A file that our write
// created is deleted when nothing is left in it, and the folders created for
// it are removed if they are empty. u may be nil if the record was lost. On
// success the record is used up; forget it.
func Revert(ctx context.Context, path string, opt Options, u *Undo, remove func(f *File, created []Path) (Draft, error)) (Result, error) {
	opt.Previous = u
	res, err := Update(ctx, path, opt, func(f *File) (Draft, error) {
		if draft, ok := u.Restore(f); ok {
			if draft.Delete {
				return draft, nil
			}
			// If an earlier record was lost, the file from before has
			// entries of ours as well. If not, this changes nothing.
			before := *f
			before.data, before.digest = draft.Text, u.Pre
			return remove(&before, nil)
		}
		var created []Path
		if u != nil {
			created = clonePaths(u.Created)
		}
		draft, err := remove(f, created)
		if err == nil && u != nil && !u.Existed && (isBlank(draft.Text) || string(draft.Text) == bom) {
			draft.Delete = true
		}
		return draft, err
	})
	if err != nil {
		return res, err
	}
	res.Undo = Undo{}
	if u != nil && len(res.After) == 0 {
		removeDirs(u.Dirs)
	}
	return res, nil
}
