package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

func TestToolCPU_countsWhatTheAgentStarted(t *testing.T) {
	root := t.TempDir()
	stat := func(pid, parent, user, system, childUser, childSystem int) {
		dir := filepath.Join(root, "proc", fmt.Sprint(pid))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d (a ) b) S %d 1 1 0 -1 0 0 0 0 0 %d %d %d %d 20 0 1 0 %d 0 0\n", pid, parent, user, system, childUser, childSystem, pid)
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stat(100, 1, 500, 500, 20, 10) // the agent: 10 s of its own, 0.3 s of ended children
	stat(101, 100, 30, 20, 0, 0)   // a tool: 0.5 s
	stat(200, 1, 900, 0, 0, 0)     // somebody else
	got, err := ToolCPU(proc.Table{Root: root}, 100)
	if want := 800 * time.Millisecond; err != nil || got != want {
		t.Errorf("ToolCPU = %v, %v, want %v", got, err, want)
	}
	if _, err := ToolCPU(proc.Table{Root: root}, 999); err == nil {
		t.Error("ToolCPU of a process that does not exist gave no error")
	}
}
