package endpoint

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detached returns the attributes of a process that lives on without us: no
// console, and no Ctrl-C of ours reaches it.
func Detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}

// Start runs the program exe as a process that lives on without us and holds
// nothing of ours: no console, the null device for its streams, no inherited
// handle but those. argv includes the program's name. It returns the process
// id.
func Start(exe string, argv, env []string, dir string) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("starting %q: %w", exe, err)
	}
	defer null.Close()
	// Go passes an explicit list of handles, so nothing else is inherited.
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
