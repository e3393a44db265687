package confedit

import (
	"errors"
	"os"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/windows"
)

// releaseLock removes the lock's file after releasing it. While others have
// it open Windows refuses that, and the last of them removes it.
func releaseLock(l *flock.Flock, name string) {
	l.Unlock()
	os.Remove(name)
}

// rename tries again for a second while the target is open elsewhere: virus
// scanners and watchers hold files for a few milliseconds after a change.
func rename(from, to string) error {
	for try := 0; ; try++ {
		err := os.Rename(from, to)
		if !busy(err) || try == 20 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// busy reports whether err may pass by itself. Windows says the same for a
// file that is open elsewhere, one that is just being deleted, and one that
// is really forbidden, so callers must give up at some point.
func busy(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// syncDir has nothing to do: NTFS journals renames.
func syncDir(string) {}

// keepOwner has nothing to do: the folder decides about owner and rights.
func keepOwner(*os.File, string) error { return nil }
