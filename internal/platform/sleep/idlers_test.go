package sleep

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Reports stasis#98 and hypridle#43: some idle daemons ask login1, others never.
func TestIdleDaemons(t *testing.T) {
	root := t.TempDir()
	if got := IdleDaemons(root); len(got) != 0 {
		t.Errorf("without a process table: %+v", got)
	}
	for pid, comm := range map[string]string{"1": "systemd", "20": "swayidle", "21": "swayidle", "30": "hypridle", "40": "vim swayidle", "self": "xautolock"} {
		dir := filepath.Join(root, "proc", pid)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "comm"), []byte(comm+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "proc", "50"), 0o755); err != nil { // ended meanwhile
		t.Fatal(err)
	}
	want := []IdleDaemon{{"hypridle", true}, {"swayidle", false}}
	if got := IdleDaemons(root); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
