// Package smallfile opens, reads and replaces regular files in a process that lives for a
// few milliseconds. In comes a name, out comes what os would give; but it never goes
// through Go's poller, whose set-up is dearer than reading a small file and is of no
// use for one. It makes no folders and decides nothing.
package smallfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// ErrTooLarge is returned for a file that has more bytes than may be read.
var ErrTooLarge = errors.New("larger than may be read")

// Read returns the content of a regular file of at most max bytes. The error matches
// fs.ErrNotExist, fs.ErrInvalid for what is no regular file, or ErrTooLarge. What is
// no regular file is not read: a pipe would keep the caller waiting.
func Read(name string, max int) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	if info.Size() > int64(max) {
		return nil, ErrTooLarge
	}
	f, err := Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !now.Mode().IsRegular() { // replaced since
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	// One more than it had, so that the end is found without growing.
	buf := make([]byte, info.Size()+1)
	n := 0
	for {
		got, err := f.Read(buf[n:])
		n += got
		switch {
		case n > max:
			return nil, ErrTooLarge
		case err == io.EOF:
			return buf[:n], nil
		case err != nil:
			return nil, err
		case n == len(buf): // it grows
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}
