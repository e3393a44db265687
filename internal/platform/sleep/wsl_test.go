package sleep

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInWSL(t *testing.T) {
	for version, want := range map[string]bool{
		"Linux version 5.15.90.1-microsoft-standard-WSL2 (oe-user@oe-host) #1 SMP": true,
		"Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)":            true,
		"Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)":            false,
	} {
		root := t.TempDir()
		if err := os.Mkdir(filepath.Join(root, "proc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "proc/version"), []byte(version), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := InWSL(root); got != want {
			t.Errorf("%q: got %v, want %v", version, got, want)
		}
	}
	if InWSL(t.TempDir()) {
		t.Error("a system without /proc/version is taken for WSL")
	}
}
