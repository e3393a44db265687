//go:build linux || darwin

package paths

import (
	"os"
	"syscall"
)

// MayWrite reports why this user cannot make a file in the folder dir: it is
// another user's, say, or its file system is read-only. It changes nothing there.
func MayWrite(dir string) error {
	const write, enter = 2, 1 // W_OK and X_OK of access(2)
	if err := syscall.Access(dir, write|enter); err != nil {
		return &os.PathError{Op: "access", Path: dir, Err: err}
	}
	return nil
}
