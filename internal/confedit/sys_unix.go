//go:build unix

package confedit

import (
	"io/fs"
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// releaseLock removes the lock's file while the lock is still held: whoever
// opened it before notices that it is gone, see lock.
func releaseLock(l *flock.Flock, name string) {
	os.Remove(name)
	l.Unlock()
}

func rename(from, to string) error { return os.Rename(from, to) }

// busy reports whether err may pass by itself; here no error does.
func busy(error) bool { return false }

// syncDir makes a rename in dir survive a power cut. Some file systems cannot
// sync folders; the rename is done all the same, so errors say nothing useful.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// keepOwner gives tmp the owner and group of target if they differ, as when
// root edits somebody's file. Not being allowed to change the group is no
// reason to stop: the person's own primary group takes its place.
func keepOwner(tmp *os.File, target string) error {
	want, err := os.Stat(target)
	if err != nil {
		return err
	}
	have, err := tmp.Stat()
	if err != nil {
		return err
	}
	uid, gid := owner(want)
	if haveUID, haveGID := owner(have); uid == haveUID && gid == haveGID {
		return nil
	}
	if err := tmp.Chown(uid, gid); err != nil && os.Geteuid() == 0 {
		return err
	}
	return nil
}

func owner(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return -1, -1
}
