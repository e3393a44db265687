package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// Getenv is what a process was started with under a name; "" where there is nothing
// or we may not know. A program cannot change it for those that look.
func (t Table) Getenv(pid int, name string) string {
	b, _ := os.ReadFile(t.path(pid, "environ"))
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// shareTerminal reports whether two processes have the same controlling terminal.
func (t Table) shareTerminal(a, b int) bool {
	x, err1 := t.stat(a)
	y, err2 := t.stat(b)
	return err1 == nil && err2 == nil && x.tty != 0 && x.tty == y.tty
}

// attached reports whether a person looks at a tmux or screen of ours: a client of it
// that is below no agent and that somebody can have started by hand.
func (t Table) attached(program string, nested int) bool {
	entries, err := os.ReadDir(filepath.Join(t.Root, "/proc"))
	if err != nil {
		return true
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, err := t.lookup(pid)
		if err != nil || multiplexer(p) != "" || p.Comm != program+": client" && base(p.Exe) != program {
			continue
		}
		if s, err := t.stat(pid); err != nil || s.tty == 0 {
			continue
		}
		if _, agent := t.FindOwner(pid, "", 0); !agent && t.detached(pid, nested) == "" {
			return true
		}
	}
	return false
}
