//go:build linux

package machine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
)

// bench is this machine, with a person who owns nothing yet.
type bench struct{ *Person }

var benches atomic.Int64

// Bench starts the plainest machine: this one, with an empty home and bus
// addresses that lead nowhere. It costs nothing and has no lid. Whatever still
// runs with its home when the test ends is ended.
func Bench(t testing.TB) Machine {
	t.Helper()
	guard.Require(t)
	folder := filepath.Join(guard.Scratch(), fmt.Sprintf("bench-%d", benches.Add(1)))
	b := &bench{NewPerson(t, folder, os.Getuid(), map[string]string{
		"XDG_RUNTIME_DIR":          filepath.Join(folder, "run"),
		"DBUS_SYSTEM_BUS_ADDRESS":  "unix:path=" + filepath.Join(folder, "run", "no-system-bus"),
		"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + filepath.Join(folder, "run", "no-session-bus"),
	})}
	if err := os.Mkdir(filepath.Join(folder, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Orphans become children of this process instead of vanishing to init,
	// so that they can be told from other people's processes and ended.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatalf("becoming the reaper of orphans: %v", err)
	}
	t.Cleanup(b.sweep)
	return b
}

// Command implements [Machine].
func (b *bench) Command(dir string, vars map[string]string, args ...string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, Environ(vars)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// PID implements [Machine].
func (b *bench) PID(cmd *exec.Cmd) int { return cmd.Process.Pid }

// Listen implements [Machine].
func (b *bench) Listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// sweep ends the descendants of this process that have the bench's home.
func (b *bench) sweep() {
	home := "HOME=" + b.Home()
	for range 50 { // what is ended may have children that then come to us
		var ours []int
		starting := false
		for _, pid := range descendants(os.Getpid()) {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			if err == nil && strings.Contains("\x00"+string(text), "\x00"+home+"\x00") {
				ours = append(ours, pid)
			}
			starting = starting || err == nil && len(text) == 0 && !zombie(pid)
		}
		if len(ours) == 0 && !starting {
			return
		}
		if len(ours) == 0 { // in the middle of execve(2) a process has no environment
			time.Sleep(10 * time.Millisecond)
		}
		for _, pid := range ours {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, pid := range ours {
			var status syscall.WaitStatus
			syscall.Wait4(pid, &status, 0, nil) // an error if it is not our child: its parent reaps it
		}
	}
}

// zombie reports whether a process has ended and waits for its parent.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.HasPrefix(string(text[strings.LastIndexByte(string(text), ')')+1:]), " Z")
}

func descendants(pid int) []int {
	var all []int
	for _, child := range Children(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}
