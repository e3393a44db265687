//go:build unix

package child

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// family is the process group that a program leads.
type family int

func start(cmd *exec.Cmd, _ string) (family, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	return family(cmd.Process.Pid), nil
}

// signalOf is the signal that ended a program.
func signalOf(p *os.ProcessState) string {
	w, ok := p.Sys().(syscall.WaitStatus)
	if !ok || !w.Signaled() {
		return ""
	}
	return fmt.Sprintf("signal %d (%s)", int(w.Signal()), w.Signal())
}

// kill ends all that are left of it. The group's number stays taken while one is
// left, and where none is there is nobody to be hit but by a group that was
// numbered anew in this very moment.
func (f family) kill() { _ = syscall.Kill(-int(f), syscall.SIGKILL) }
