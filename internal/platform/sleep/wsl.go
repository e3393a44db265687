package sleep

import (
	"os"
	"path/filepath"
	"strings"
)

// InWSL reports whether this Linux is a guest of Windows Subsystem for Linux:
// then it is the Windows host that sleeps, and nothing held here keeps it
// awake. root is prefixed to /proc; "" is the real one.
func InWSL(root string) bool {
	// "Linux version 5.15.90.1-microsoft-standard-WSL2 (…", in WSL 1
	// "4.4.0-19041-Microsoft".
	b, err := os.ReadFile(filepath.Join(root, "/proc/version"))
	return err == nil && strings.Contains(strings.ToLower(string(b)), "microsoft")
}
