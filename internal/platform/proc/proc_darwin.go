package proc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

func (t Table) lookup(pid int) (Process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Process{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	began := k.Proc.P_starttime
	p := Process{
		ID:     ID{pid, uint64(began.Sec)*1e6 + uint64(began.Usec)},
		Parent: int(k.Eproc.Ppid),
		Comm:   unix.ByteSliceToString(k.Proc.P_comm[:]),
		Dead:   k.Proc.P_stat == zombie,
	}
	// Refused for processes of other users.
	if b, err := unix.SysctlRaw("kern.procargs2", pid); err == nil {
		p.Exe, p.Argv = parseArgs(b)
	}
	return p, nil
}

// parseArgs reads KERN_PROCARGS2: the number of arguments, the program's path,
// padding zeros, the arguments, then the environment, which is left alone.
func parseArgs(b []byte) (exe string, argv []string) {
	if len(b) < 4 {
		return "", nil
	}
	n := int(binary.NativeEndian.Uint32(b))
	path, rest, ok := bytes.Cut(b[4:], []byte{0})
	if !ok {
		return "", nil
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for range n {
		arg, more, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			break
		}
		argv = append(argv, string(arg))
		rest = more
	}
	return string(path), argv
}

// TreeCPU cannot be read here without calls that Go has no access to.
func (t Table) TreeCPU(pid int) (time.Duration, error) {
	return 0, fmt.Errorf("processor time of process %d: %w", pid, ErrUnsupported)
}
