//go:build unix

package endpoint

import (
	"fmt"
	"os"
	"syscall"
)

// Detached returns the attributes of a process that lives on without us: a
// session of its own, so no terminal and no signal of ours reaches it. Standard
// streams and other inherited descriptors are the caller's matter; Start takes
// care of them.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Start runs the program exe as a process that lives on without us and holds
// nothing of ours: its own session, the null device for its streams, and no
// descriptor that whoever started us let us inherit. An agent that waits for
// the end of a hook's output would else wait for the runtime's. argv includes
// the program's name. It returns the process id.
func Start(exe string, argv, env []string, dir string) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("starting %q: %w", exe, err)
	}
	defer null.Close()
	closeOnExecFrom(3)
	p, err := os.StartProcess(exe, argv, &os.ProcAttr{
		Dir: dir, Env: env, Files: []*os.File{null, null, null}, Sys: Detached(),
	})
	if err != nil {
		return 0, fmt.Errorf("starting %q: %w", exe, err)
	}
	pid := p.Pid
	p.Release()
	return pid, nil
}

// closeOnExecByList marks every descriptor from first on that the system lists
// in dir.
func closeOnExecByList(dir string, first int) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		fd := 0
		for _, c := range e.Name() {
			if c < '0' || c > '9' {
				fd = -1
				break
			}
			fd = fd*10 + int(c-'0')
		}
		if fd >= first {
			syscall.CloseOnExec(fd)
		}
	}
}
