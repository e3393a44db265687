//go:build unix

package child_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/child"
)

func sh(script string) child.Spec {
	return child.Spec{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, MaxOutput: 100}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, script, stdin string
		want                child.Result
	}{
		{"both streams and the code", "echo out; echo err >&2; exit 3", "", child.Result{Code: 3, Stdout: []byte("out\n"), Stderr: []byte("err\n")}},
		{"stdin", "cat", "hello", child.Result{Stdout: []byte("hello")}},
		{"stdin that nobody reads", "exit 0", strings.Repeat("x", 1<<20), child.Result{}},
		{"more output than is kept", "i=0; while [ $i -lt 50 ]; do echo 123456789; i=$((i+1)); done", "", child.Result{Stdout: []byte(strings.Repeat("123456789\n", 10)), Cut: true}},
		{"killed", "kill -9 $$", "", child.Result{Code: -1, Signal: "signal 9 (killed)"}},
	} {
		s := sh(c.script)
		s.Stdin = []byte(c.stdin)
		got, err := child.Run(t.Context(), s)
		if err != nil || got.Code != c.want.Code || got.Signal != c.want.Signal || string(got.Stdout) != string(c.want.Stdout) || string(got.Stderr) != string(c.want.Stderr) || got.Cut != c.want.Cut || got.Late {
			t.Errorf("%s: got %d %q %q cut=%t late=%t, %v", c.name, got.Code, got.Stdout, got.Stderr, got.Cut, got.Late, err)
		}
	}
}

func TestRun_noSuchProgram(t *testing.T) {
	s := sh("")
	s.Path = filepath.Join(t.TempDir(), "none")
	if _, err := child.Run(t.Context(), s); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// TestRun_leavesNothingBehind: neither when time is up nor when the program ends
// and its children do not.
func TestRun_leavesNothingBehind(t *testing.T) {
	for _, c := range []struct{ name, after string }{{"time is up", "sleep 1000"}, {"it leaves a child", "exit 0"}} {
		file := filepath.Join(t.TempDir(), "pid")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan child.Result, 1)
		go func() {
			r, err := child.Run(ctx, sh("sleep 1000 & echo $! >"+file+"; "+c.after))
			if err != nil {
				t.Error(err)
			}
			done <- r
		}()
		pid := 0
		for end := time.Now().Add(time.Minute); pid == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
			text, _ := os.ReadFile(file)
			pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if c.after != "exit 0" {
			cancel()
		}
		r := <-done
		if r.Late != (c.after != "exit 0") {
			t.Errorf("%s: late is %t", c.name, r.Late)
		}
		// Gone, or a zombie that its new parent has not fetched yet.
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			if syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: process %d lives on", c.name, pid)
			}
		}
		cancel()
	}
}
