//go:build !unix

package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Windows refuses to replace a file that somebody reads, and to open one that is being
// replaced. Both pass in milliseconds; but it says the same of a file that is really
// forbidden, so a hook tries to read for a fifth of a second and no longer. Who writes
// has more time, and may meet one reader after the other.
const (
	pause      = 20 * time.Millisecond
	readTries  = 10
	writeTries = 50

	sharingViolation = syscall.Errno(32) // ERROR_SHARING_VIOLATION
	accessDenied     = syscall.Errno(5)  // ERROR_ACCESS_DENIED
)

// Open is os.OpenFile for a regular file.
func Open(name string, flag int, mode fs.FileMode) (f *os.File, err error) {
	err = patiently(readTries, func() error {
		f, err = os.OpenFile(name, flag, mode)
		return err
	})
	return f, err
}

// OpenDir is os.Open for a folder. It does not wait for one that is forbidden.
func OpenDir(name string) (*os.File, error) { return os.Open(name) }

// Rename is os.Rename for a regular file that others may be reading.
func Rename(from, to string) error {
	return patiently(writeTries, func() error { return os.Rename(from, to) })
}

func patiently(tries int, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if try == tries || !errors.Is(err, sharingViolation) && !errors.Is(err, accessDenied) {
			return err
		}
		time.Sleep(pause)
	}
}
