//go:build linux

package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestCheck(t *testing.T) {
	realHome, made, foreign := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{realHome, made} {
		if err := os.WriteFile(filepath.Join(dir, marker), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(realHome, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, home, want string }{
		{"a home made by Main is accepted", made, ""},
		{"the real home is refused even with a marker", realHome, "is the real home folder"},
		{"a symlink to the real home is refused", link, "is the real home folder"},
		{"a home without the marker is refused", foreign, "was not made for end-to-end tests"},
		{"no home is refused", "", "was not prepared"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := check(c.home, realHome)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("check(%q) = %v, want %q", c.home, err, c.want)
			}
		})
	}
}

func TestMain_leavesAnEmptyHome(t *testing.T) {
	home, err := passwdHome()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("HOME") == home {
		t.Fatalf("HOME is still %q", home)
	}
	entries, err := os.ReadDir(os.Getenv("HOME"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() != marker {
			t.Errorf("HOME holds %q", entry.Name())
		}
	}
	if _, err := os.Stat(filepath.Join(Root(), "go.mod")); err != nil {
		t.Errorf("Root is not the checkout: %v", err)
	}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR"} {
		if value, set := os.LookupEnv(name); set {
			t.Errorf("%s is still %q", name, value)
		}
	}
}
