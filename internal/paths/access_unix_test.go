//go:build linux || darwin

package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestMayWrite(t *testing.T) {
	dir := t.TempDir()
	if err := MayWrite(dir); err != nil {
		t.Errorf("a folder of one's own: %v", err)
	}
	if err := MayWrite(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	file := filepath.Join(dir, "file") // root, too, may not enter it
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := MayWrite(file); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("what may not be entered: %v", err)
	}
}
