//go:build unix

package endpoint

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHelperStranger connects as another user would, and waits for the answer.
func TestHelperStranger(t *testing.T) {
	path := os.Getenv("ENDPOINT_TEST_CONNECT")
	if path == "" {
		return // run by TestAccept_realStranger only, as another user
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println("no connection:", err)
		return
	}
	conn.SetDeadline(time.Now().Add(time.Minute))
	n, err := conn.Read(make([]byte, 1))
	fmt.Println("read", n, err == io.EOF || errors.Is(err, syscall.ECONNRESET))
}

func TestAccept_realStranger(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user; TestAccept_refusesAnotherUser covers the rest")
	}
	path := socket(t)
	l := listen(t, path)
	refused := make(chan error, 1)
	l.Refused = func(err error) { refused <- err }
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			accepted <- conn
		}
	}()
	// Open every door but the last: the check of credentials alone must hold.
	for _, p := range []string{path, filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(filepath.Dir(filepath.Dir(path)), "test")
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, b, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestHelperStranger$")
	cmd.Dir = "/"
	cmd.Env = []string{"ENDPOINT_TEST_CONNECT=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "read 0 true") {
		t.Fatalf("stranger: %v\n%s", err, out)
	}
	var stranger *StrangerError
	if err := <-refused; !errors.As(err, &stranger) || stranger.Peer.User != "65534" || stranger.Peer.PID != cmd.Process.Pid {
		t.Errorf("got %v, want user 65534, process %d", err, cmd.Process.Pid)
	}
	select {
	case <-accepted:
		t.Error("a stranger was accepted")
	default:
	}
	os.Chmod(filepath.Dir(path), 0o700)
	conn, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	<-accepted // the listener still serves its own user
}
