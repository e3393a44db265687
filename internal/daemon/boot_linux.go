package daemon

import (
	"os"
	"path/filepath"
	"strings"
)

// BootID names the present boot of the machine; root is prefixed to /proc.
// Without an answer every boot looks the same, and a process is recognised by pid
// and start time alone.
func BootID(root string) string {
	id, _ := os.ReadFile(filepath.Join(root, "/proc/sys/kernel/random/boot_id"))
	return strings.TrimSpace(string(id))
}
