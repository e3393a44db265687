// Package proc looks at processes: who they are, which agent stands above a
// hook, whether they still live, how much processor time their tree has used.
// In comes a process id; out go facts. It starts nothing, signals nothing, and
// reads the system's own tables only, never the output of a program.
//
// A process id alone is never an identity, since ids are used again: ID pairs
// it with the start time.
package proc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrGone is matched when the process does not exist, or is not the one
	// that was meant.
	ErrGone = errors.New("no such process")
	// ErrUnsupported is matched where this system has no such thing, or
	// lidguard cannot do it here.
	ErrUnsupported = errors.New("not supported on this system")
)

// ID is one process, for good.
type ID struct {
	PID int
	// Start is when it began, in the system's own unit: clock ticks since boot
	// (Linux), microseconds since 1970 (macOS), 100 ns since 1601 (Windows).
	// Only equality means anything, and only within one boot.
	Start uint64
}

// IsZero reports whether id names no process.
func (id ID) IsZero() bool { return id.PID == 0 }

// String returns "pid:start", which ParseID reads back.
func (id ID) String() string { return fmt.Sprintf("%d:%d", id.PID, id.Start) }

// ParseID reads what String wrote.
func ParseID(s string) (ID, error) {
	p, q, ok := strings.Cut(s, ":")
	pid, err1 := strconv.Atoi(p)
	start, err2 := strconv.ParseUint(q, 10, 64)
	if !ok || err1 != nil || err2 != nil || pid <= 0 {
		return ID{}, fmt.Errorf("process identity %q is not pid:start", s)
	}
	return ID{pid, start}, nil
}

// A Process is what the system tells about one process.
type Process struct {
	ID
	Parent int
	// Comm is the short name the kernel keeps: at most 15 bytes on Linux, and
	// any thread name a program chose for itself.
	Comm string
	// Exe is the path of the program's file; "" where we may not know.
	Exe string
	// Argv as the process has it now; programs may have overwritten it. Nil
	// for kernel threads and where we may not know.
	Argv []string
	// Dead: it has ended, and its parent has not yet noticed.
	Dead bool
}

// Table is the system's process table.
type Table struct {
	// Root is prefixed to /proc in tests; "" is the real one. Watch always
	// watches real processes. Linux only.
	Root string
}

// Lookup returns one process. Errors match ErrGone or ErrUnsupported.
func (t Table) Lookup(pid int) (Process, error) { return t.lookup(pid) }

// Identify returns the identity of the process that has this id now.
func (t Table) Identify(pid int) (ID, error) {
	p, err := t.lookup(pid)
	return p.ID, err
}

// Alive reports whether exactly this process still runs. A process that has
// ended and waits for its parent does not.
func (t Table) Alive(id ID) bool {
	p, err := t.lookup(id.PID)
	return err == nil && p.ID == id && !p.Dead
}

// maxDepth bounds every walk upwards: deeper trees are loops or attacks.
const maxDepth = 64

// Ancestry returns the parents of pid, nearest first, without the first
// process of the system. It ends early where a parent cannot be read.
func (t Table) Ancestry(pid int) []Process {
	var list []Process
	child, err := t.lookup(pid)
	for err == nil && child.Parent > 1 && len(list) < maxDepth {
		var parent Process
		parent, err = t.lookup(child.Parent)
		// Younger than its child: the id was used again while we looked.
		if err != nil || parent.Start > child.Start {
			break
		}
		list = append(list, parent)
		child = parent
	}
	return list
}
