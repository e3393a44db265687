//go:build unix

package smallfile

import (
	"io/fs"
	"os"
	"syscall"
)

// Rename is os.Rename for a regular file that others may be reading.
func Rename(from, to string) error { return os.Rename(from, to) }

// Open is os.OpenFile for a regular file.
func Open(name string, flag int, mode fs.FileMode) (*os.File, error) {
	for {
		fd, err := syscall.Open(name, flag|syscall.O_CLOEXEC, uint32(mode.Perm()))
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), name), nil
		case syscall.EINTR:
			continue
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
}
