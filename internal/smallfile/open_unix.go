//go:build unix

package smallfile

import (
	"io/fs"
	"os"
	"syscall"
)

// OpenDir is os.Open for a folder, and an error for anything else.
func OpenDir(name string) (*os.File, error) { return Open(name, os.O_RDONLY|syscall.O_DIRECTORY, 0) }

// Rename is os.Rename for a regular file that others may be reading.
func Rename(from, to string) error { return os.Rename(from, to) }

// Open is os.OpenFile for a regular file. A pipe, which may have taken the place of
// one, does not keep it waiting for somebody at the other end.
func Open(name string, flag int, mode fs.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(name, flag|syscall.O_CLOEXEC|syscall.O_NONBLOCK, uint32(mode.Perm()))
		switch err {
		case nil:
			if err := syscall.SetNonblock(fd, false); err != nil { // or os would set the poller up
				syscall.Close(fd)
				return nil, &fs.PathError{Op: "open", Path: name, Err: err}
			}
			return os.NewFile(uintptr(fd), name), nil
		case syscall.EINTR:
			continue
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
}
