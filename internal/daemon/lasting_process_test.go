//go:build unix

package daemon_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lidguard-go/lidguard/internal/daemon"
)

// lastingLid gives the lab's laptop a lid setting that outlives the runtime.
func (l *lab) lastingLid(value string) {
	l.t.Helper()
	dir := filepath.Join(l.control, "values")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lid"), []byte(value+"\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) lid() string {
	data, err := os.ReadFile(filepath.Join(l.control, "values", "lid"))
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func (l *lab) nothingPending() bool {
	_, err := os.Stat(l.dirs.Pending())
	return errors.Is(err, os.ErrNotExist)
}

func (l *lab) keeper(args ...string) error {
	cmd := exec.Command(filepath.Join(bins, l.version, "lidguard"), append([]string{daemon.KeeperWord}, args...)...)
	cmd.Env = l.environ()
	return cmd.Run()
}

// Nobody runs a command and no session goes on: the keeper alone sees that the
// runtime is dead.
func TestLasting_runtimeIsKilled(t *testing.T) {
	l := newLab(t)
	l.lastingLid("hibernate")
	l.hook("UserPromptSubmit", "a")
	l.until("the lid does nothing", func() bool { return l.lid() == "nothing" })
	pid := l.status().PID
	if err := l.keeper("--login"); err != nil || l.lid() != "nothing" {
		t.Errorf("a login while the runtime lives: %v, lid %q", err, l.lid())
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	l.until("the lid does what it did before", func() bool { return l.lid() == "hibernate" && l.nothingPending() })
}

func TestLasting_runtimeEnds(t *testing.T) {
	l := newLab(t)
	l.lastingLid("hibernate")
	l.hook("UserPromptSubmit", "a")
	l.until("the lid does nothing", func() bool { return l.lid() == "nothing" })
	pid := l.status().PID
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	l.until("the runtime is gone", func() bool { return !l.alive(pid) })
	if l.lid() != "hibernate" || !l.nothingPending() {
		t.Errorf("lid %q, pending %v", l.lid(), !l.nothingPending())
	}
}

// A power failure takes the keeper as well; what is left is the file.
func TestLasting_afterPowerFailure(t *testing.T) {
	left := `{"schema":1,"values":[{"name":"lid","original":"hibernate","set":"nothing","owner":"gone","confirmed":true,"changed":"2026-06-01T08:00:00Z"}]}`
	for name, next := range map[string]func(*lab){
		"at the next login": func(l *lab) {
			for range 2 {
				if err := l.keeper("--login"); err != nil {
					l.t.Error(err)
				}
			}
		},
		"by the next runtime": func(l *lab) { l.hook("UserPromptSubmit", "a"); l.hook("Stop", "a") },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.lastingLid("nothing")
			if err := os.MkdirAll(filepath.Dir(l.dirs.Pending()), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(l.dirs.Pending(), []byte(left), 0o600); err != nil {
				t.Fatal(err)
			}
			next(l)
			l.until("the lid does what it did before", func() bool { return l.lid() == "hibernate" && l.nothingPending() })
		})
	}
}

func TestKeeper_usage(t *testing.T) {
	l := newLab(t)
	for _, args := range [][]string{{}, {"--owner", "a", "--pending", ""}, {"--no-such-option"}} {
		if err := l.keeper(args...); err == nil {
			t.Errorf("keeper %q exits with 0", args)
		}
	}
}
