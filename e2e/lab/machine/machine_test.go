//go:build linux

package machine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

func TestMain(m *testing.M) { os.Exit(guard.Main(m)) }

func TestBench_environmentIsBare(t *testing.T) {
	t.Setenv("OF_THE_CALLER", "secret")
	m := Bench(t)
	stdout, _, code := Run(t, m, Spec{Args: []string{"env"}, Vars: map[string]string{"OWN": "yes"}})
	if code != 0 || strings.Contains(stdout, "OF_THE_CALLER") || !strings.Contains(stdout, "OWN=yes") {
		t.Errorf("exit %d, environment:\n%s", code, stdout)
	}
	if !strings.Contains(stdout, "HOME="+m.Home()+"\n") || !strings.Contains(stdout, "no-system-bus") {
		t.Errorf("no home or no dead bus in:\n%s", stdout)
	}
}

func TestProcess_exitCodes(t *testing.T) {
	m := Bench(t)
	stdout, stderr, code := Run(t, m, Spec{Args: []string{"sh", "-c", "cat; echo no >&2; exit 7"}, Stdin: "in"})
	if stdout != "in" || stderr != "no\n" || code != 7 {
		t.Errorf("got %q, %q, exit %d; want \"in\", \"no\\n\", exit 7", stdout, stderr, code)
	}
	p := Start(t, m, Spec{Args: []string{"sleep", "100"}})
	p.Signal(t, syscall.SIGTERM)
	if code := p.Wait(t); code != 128+15 {
		t.Errorf("exit %d after SIGTERM, want 143", code)
	}
}

func TestBench_orphansEndWithTheTest(t *testing.T) {
	var pid string
	t.Run("a program leaves a daemon behind", func(t *testing.T) {
		m := Bench(t)
		file := filepath.Join(m.Home(), "pid")
		Run(t, m, Spec{Args: []string{"sh", "-c", "setsid sleep 100 & echo $! > " + file}})
		wait.Until(t, wait.Long, "the daemon's pid", func() (bool, string) {
			pid = strings.TrimSpace(read(file))
			return pid != "", pid
		})
		if _, err := os.Stat("/proc/" + pid); err != nil {
			t.Fatalf("the daemon is gone already: %v", err)
		}
	})
	if _, err := os.Stat("/proc/" + pid); err == nil {
		t.Errorf("process %s outlived its bench", pid)
	}
}
