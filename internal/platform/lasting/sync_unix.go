//go:build unix

package lasting

import (
	"fmt"
	"os"
)

// syncDir puts a folder's entries on the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing %q: %w", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("syncing %q: %w", dir, err)
	}
	return nil
}

// patiently has nothing to wait for: here a file can be replaced while it is read.
func patiently(do func() error) error { return do() }
