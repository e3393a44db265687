//go:build !unix

package smallfile

import (
	"io/fs"
	"os"
)

// Open is os.OpenFile for a regular file.
func Open(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
