package settings

import (
	"os"
	"path/filepath"

	"github.com/lidguard-go/lidguard/internal/smallfile"
)

// writeFile replaces path by data: written beside it, synced, renamed into place
// (on Windows that replaces too). The mode is that of a file that may hold
// webhook addresses with tokens in them. By hand rather than with renameio, which
// does not build on Windows and has no place in a hook, which links this package.
func writeFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return smallfile.Rename(f.Name(), path)
}
