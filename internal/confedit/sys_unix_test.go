//go:build unix

package confedit

import (
	"os"
	"path/filepath"
	"testing"
)

// Root editing somebody's file must not take it from them. For anybody else
// the owner is the same before and after anyway.
func TestUpdate_keepsTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	write(t, path, "{}", 0o640)
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 4711, 4712); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Update(t.Context(), path, Options{Now: noon}, installing(Strict, ours)); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	wantUID, wantGID := owner(before)
	if uid, gid := owner(after); uid != wantUID || gid != wantGID || after.Mode() != before.Mode() || os.SameFile(before, after) {
		t.Errorf("owner %d:%d, mode %v, want %d:%d, %v in a new file", uid, gid, after.Mode(), wantUID, wantGID, before.Mode())
	}
}
