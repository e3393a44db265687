package sleep

import (
	"os"
	"path/filepath"
	"testing"
)

func TestInContainer(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"},
		{"/run/systemd/container", "wsl\n", ""},
		{"/run/.containerenv", "", "podman"},
		{"/.dockerenv", "", "docker"},
		{"/etc/hostname", "laptop\n", ""},
	} {
		root := t.TempDir()
		path := filepath.Join(root, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := InContainer(root); got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.file, c.text, got, c.want)
		}
	}
}
