package endpoint

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHelperDetached reports what it was born with, and stays.
func TestHelperDetached(t *testing.T) {
	report := os.Getenv("ENDPOINT_TEST_REPORT")
	if report == "" {
		return // run by TestStart only, as a detached process
	}
	sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	var lines []string
	lines = append(lines, fmt.Sprint("leader ", int(sid) == os.Getpid()))
	for fd := range 64 {
		if link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && !strings.HasPrefix(link, "anon_inode:") {
			lines = append(lines, fmt.Sprint("fd ", fd, " ", link))
		}
	}
	if err := os.WriteFile(report+".new", []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Rename(report+".new", report)
	time.Sleep(5 * time.Minute) // ended by TestStart
}

// TestHelperStarter stands for a hook whose caller left it a pipe.
func TestHelperStarter(t *testing.T) {
	report := os.Getenv("ENDPOINT_TEST_START")
	if report == "" {
		return // run by TestStart only, in a process of its own
	}
	pid, err := Start(os.Args[0], []string{"runtime", "-test.run=^TestHelperDetached$"},
		append(os.Environ(), "ENDPOINT_TEST_REPORT="+report, "ENDPOINT_TEST_START="), "/")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("started", pid)
}

func TestStart_holdsNothingOfItsStarter(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report")
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperStarter$")
	cmd.Env = append(os.Environ(), "ENDPOINT_TEST_START="+report)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{write} // descriptor 3, open across exec
	// Output ends only when every holder of it has gone: with a runtime that
	// inherited it, at that one's end.
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var pid int
	if _, err := fmt.Sscanf(string(out), "started %d", &pid); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(stat), ") Z ") {
		t.Errorf("the starter's output ended only with the detached process: %s, %v", stat, err)
	}
	write.Close()
	read.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := read.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("descriptor 3 is still open somewhere: %v", err)
	}
	var b []byte
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if b, err = os.ReadFile(report); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no report of the detached process")
		}
	}
	want := []string{"leader true", "fd 0 /dev/null", "fd 1 /dev/null", "fd 2 /dev/null"}
	lines := strings.Split(string(b), "\n")
	for i, w := range want {
		if i >= len(lines) || lines[i] != w {
			t.Fatalf("got %q, want it to begin with %q", lines, want)
		}
	}
	for _, l := range lines[len(want):] {
		if strings.Contains(l, "pipe:") {
			t.Errorf("inherited %q", l)
		}
	}
}
