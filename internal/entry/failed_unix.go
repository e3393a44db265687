//go:build unix

package entry

import "syscall"

// failed reports whether our child pid has ended with an error. One that ended
// well lost a race against another runtime, which will answer.
func failed(pid int) bool {
	var status syscall.WaitStatus
	ended, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
	return err == nil && ended == pid && (!status.Exited() || status.ExitStatus() != 0)
}
