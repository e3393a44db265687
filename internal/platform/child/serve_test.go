//go:build unix

package child_test

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/child"
)

func TestServe(t *testing.T) {
	h, err := child.Serve(sh("while read line; do echo got $line; done; echo bye >&2; exit 3"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(h.Stdout)
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(h.Stdin, word+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := out.ReadString('\n'); line != "got "+word+"\n" {
			t.Errorf("got %q, %v", line, err)
		}
	}
	h.Stdin.Close()
	if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil {
		t.Errorf("the rest is %q, %v", rest, err)
	}
	if told, err := h.Wait(); told != "bye\n" || err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("Wait: %q, %v", told, err)
	}
}

func TestServe_killTakesAllAlong(t *testing.T) {
	h, err := child.Serve(sh("sleep 1000 & echo $!; wait"), 0)
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(h.Stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	h.Kill()
	io.Copy(io.Discard, h.Stdout)
	h.Wait()
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") {
			break // gone, or not fetched by its new parent yet
		}
		if time.Now().After(end) {
			t.Fatalf("process %d lives on", pid)
		}
	}
}

func TestServe_tellsOnlyTheEnd(t *testing.T) {
	h, err := child.Serve(sh("i=0; while [ $i -lt 1000 ]; do echo line $i >&2; i=$((i+1)); done"), 0)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, h.Stdout)
	told, err := h.Wait()
	if err != nil || len(told) > 2048 || !strings.HasSuffix(told, "line 999\n") {
		t.Errorf("%d bytes, %v", len(told), err)
	}
}
