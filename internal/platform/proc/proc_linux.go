package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func (t Table) path(pid int, name string) string {
	return filepath.Join(t.Root, "/proc", strconv.Itoa(pid), name)
}

// stat is the part of /proc/<pid>/stat that is used here (proc(5)).
type stat struct {
	comm   string
	state  byte
	parent int
	tty    int    // number of the controlling terminal, 0: none
	cpu    uint64 // clock ticks: own and of children waited for
	start  uint64 // clock ticks since boot
}

// parseStat reads the line of /proc/<pid>/stat. The second field is a name in
// brackets that may hold brackets and blanks itself, so the last bracket ends
// it.
func parseStat(b []byte) (s stat, err error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return s, fmt.Errorf("process status %q has no name", b)
	}
	s.comm = string(b[open+1 : end])
	f := strings.Fields(string(b[end+1:])) // f[0] is field 3
	if len(f) < 20 {
		return s, fmt.Errorf("process status of %q has %d fields", s.comm, len(f)+2)
	}
	s.state = f[0][0]
	if s.parent, err = strconv.Atoi(f[1]); err != nil {
		return s, fmt.Errorf("parent of process %q: %w", s.comm, err)
	}
	if s.tty, err = strconv.Atoi(f[4]); err != nil {
		return s, fmt.Errorf("terminal of process %q: %w", s.comm, err)
	}
	for _, field := range f[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return s, fmt.Errorf("processor time of process %q: %w", s.comm, err)
		}
		s.cpu += uint64(max(n, 0))
	}
	if s.start, err = strconv.ParseUint(f[19], 10, 64); err != nil {
		return s, fmt.Errorf("start time of process %q: %w", s.comm, err)
	}
	return s, nil
}

// stat reads one process. Plain system calls and one read: TreeCPU does this
// for every process there is, and the kernel makes up the file in one piece.
func (t Table) stat(pid int) (stat, error) {
	fd, err := syscall.Open(t.path(pid, "stat"), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return stat{}, fmt.Errorf("process %d: %w (%w)", pid, ErrGone, err)
	}
	defer syscall.Close(fd)
	var buf [1024]byte // 52 numbers and a name make some 350
	n, err := syscall.Read(fd, buf[:])
	if err != nil {
		return stat{}, fmt.Errorf("process %d: %w (%w)", pid, ErrGone, err)
	}
	return parseStat(buf[:n])
}

func (t Table) lookup(pid int) (Process, error) {
	s, err := t.stat(pid)
	if err != nil {
		return Process{}, err
	}
	p := Process{ID: ID{pid, s.start}, Parent: s.parent, Comm: s.comm, Dead: s.state == 'Z' || s.state == 'X'}
	// A program replaced on disk while it runs, as updates do.
	exe, _ := os.Readlink(t.path(pid, "exe"))
	p.Exe = strings.TrimSuffix(exe, " (deleted)")
	if b, _ := os.ReadFile(t.path(pid, "cmdline")); len(b) > 0 {
		p.Argv = strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	}
	return p, nil
}

// userHZ is the unit of times in /proc on every Linux that Go runs on
// (USER_HZ, fixed at 100 by the kernel's interface).
const userHZ = 100

// TreeCPU returns the processor time that a process, its descendants, and
// those of their children that ended, have used so far. Two calls tell whether
// a tool works; the difference can be negative once, when a child ended that
// nobody waited for. One look over the whole table, some milliseconds.
func (t Table) TreeCPU(pid int) (time.Duration, error) {
	if _, err := t.stat(pid); err != nil {
		return 0, err
	}
	dir, err := os.Open(filepath.Join(t.Root, "/proc"))
	if err != nil {
		return 0, fmt.Errorf("listing processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, fmt.Errorf("listing processes: %w", err)
	}
	all := make(map[int]stat, len(names))
	children := make(map[int][]int, len(names))
	for _, name := range names {
		p, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		s, err := t.stat(p)
		if err != nil {
			continue // ended since
		}
		all[p] = s
		children[s.parent] = append(children[s.parent], p)
	}
	var ticks uint64
	seen := map[int]bool{}
	for todo := []int{pid}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[p] {
			continue
		}
		seen[p] = true
		ticks += all[p].cpu
		todo = append(todo, children[p]...)
	}
	return time.Duration(ticks) * (time.Second / userHZ), nil
}
