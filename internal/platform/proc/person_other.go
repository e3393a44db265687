//go:build !linux

package proc

// Getenv cannot be read here.
func (t Table) Getenv(pid int, name string) string { return "" }

// shareTerminal is asked for containers, which are Linux.
func (t Table) shareTerminal(a, b int) bool { return false }

// attached cannot be told here, so somebody may be.
func (t Table) attached(program string, nested int) bool { return true }
