//go:build linux && lidvm

package s3

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

const (
	program  = "/tmp/lidguard-s3/lidguard"
	sleepLog = "/run/lidlab/sleep.log"
	// patience is for an emulated machine on a busy host.
	patience = 3 * time.Minute
)

// box is lidguard inside the virtual machine.
type box struct {
	t   *testing.T
	env []string
}

// open puts lidguard there, on a machine whose one display is built in: the
// virtual one has none, and what cannot be read is never away.
func open(t *testing.T) *box {
	t.Helper()
	if os.Getenv("LIDLAB") != "vm" {
		t.Fatal("these tests run inside the virtual machine of e2e/lab/platform/vm.sh only")
	}
	root := t.TempDir()
	for _, dir := range []string{"sys/class/drm/card0-eDP-1", "sys/class/power_supply"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(filepath.Join(root, "sys/class/drm/card0-eDP-1/status"), []byte("connected\n"), 0o600),
		os.Symlink("/proc", filepath.Join(root, "proc"))); err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, env: append(os.Environ(), "LIDGUARD_ROOT="+root, "LIDGUARD_HOME="+t.TempDir())}
	t.Cleanup(func() {
		if t.Failed() {
			for _, args := range [][]string{{"status"}, {"why"}, {"suspend-history"}} {
				t.Logf("%v:\n%s", args, b.try(args...))
			}
		}
		b.try("remove-session", "--all")
	})
	return b
}

func (b *box) try(args ...string) string {
	cmd := exec.Command(program, args...)
	cmd.Env = b.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}

func (b *box) run(args ...string) {
	b.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("lidguard %v: %v\n%s", args, err, out)
	}
}

// start begins a session. An emulated machine may be too slow for the patience
// that the command has with a runtime it starts.
func (b *box) start(session string) {
	b.t.Helper()
	wait.Until(b.t, patience, "the session "+session+" to start", func() (bool, string) {
		cmd := exec.Command(program, "start", "--session", session)
		cmd.Env = b.env
		out, err := cmd.CombinedOutput()
		return err == nil, string(out)
	})
}

type status struct {
	Awake   bool
	Runtime struct {
		Lid      string
		Away     bool
		Sessions []struct {
			State, SoftLock string `json:",omitempty"`
			Holds           bool
		}
		Held []struct {
			What      string
			Confirmed bool
		}
	}
}

func (b *box) status() (s status) {
	b.t.Helper()
	cmd := exec.Command(program, "status", "--json")
	cmd.Env = b.env
	out, err := cmd.Output()
	if err := errors.Join(err, json.Unmarshal(out, &s)); err != nil {
		b.t.Fatalf("status: %v\n%s", err, out)
	}
	return s
}

func (b *box) until(what string, done func(status) bool) {
	b.t.Helper()
	wait.Until(b.t, patience, what, func() (bool, string) {
		s := b.status()
		return done(s), fmt.Sprintf("%+v", s)
	})
}

// held: one session works, both locks stand by logind's own word.
func held(s status) bool {
	if !s.Awake {
		return false
	}
	lid, idle, works := false, false, false
	for _, session := range s.Runtime.Sessions {
		works = works || session.Holds
	}
	for _, h := range s.Runtime.Held {
		lid = lid || h.What == "handle-lid-switch" && h.Confirmed
		idle = idle || h.What == "idle" && h.Confirmed
	}
	return lid && idle && works
}

func (b *box) lid(word string) {
	b.t.Helper()
	if err := os.WriteFile("/run/lidctl", []byte(word+"\n"), 0); err != nil {
		b.t.Fatal(err)
	}
	b.until("the lid to be "+word, func(s status) bool { return s.Runtime.Lid == word })
}

// slept counts the sleeps that are over.
func slept(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(sleepLog)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), " post ")
}

// clocks are the one that stands still asleep, and the one that goes on.
func clocks(t *testing.T) (awake, boot time.Duration) {
	t.Helper()
	read := func(id int32) time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(id, &ts); err != nil {
			t.Fatal(err)
		}
		return time.Duration(ts.Nano())
	}
	return read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_BOOTTIME)
}

// The person suspends the machine under an agent's work. The session goes on after
// the wake-up, held again, and its deadline has stood still with the machine.
func TestVM_aSessionOutlivesTheSleep(t *testing.T) {
	b := open(t)
	b.run("settings", "--session-timeout-minutes", "2")
	before := slept(t)
	b.start("long")
	started, startedBoot := clocks(t)
	b.until("both locks", held)

	if out, err := exec.Command("systemctl", "suspend").CombinedOutput(); err != nil {
		t.Fatalf("systemctl suspend: %v\n%s", err, out)
	}
	wait.Until(t, patience, "the sleep to be over", func() (bool, string) { return slept(t) > before, sleepText(t) })
	awake, boot := clocks(t)
	asleep := boot - startedBoot - (awake - started)
	t.Logf("asleep for %v of %v", asleep.Round(time.Millisecond), (boot - startedBoot).Round(time.Millisecond))
	if asleep < 4*time.Second {
		t.Fatalf("the clocks are only %v apart: the machine did not sleep", asleep)
	}
	b.until("both locks after the wake-up", held)

	b.until("the session's timeout", func(s status) bool {
		return len(s.Runtime.Sessions) == 1 && !s.Runtime.Sessions[0].Holds
	})
	awake, boot = clocks(t)
	t.Logf("timed out %v after its start awake, %v with the sleep", (awake - started).Round(time.Second), (boot - startedBoot).Round(time.Second))
	if awake-started < 2*time.Minute {
		t.Errorf("timed out after %v awake, promised are 2 min: the sleep was counted in", awake-started)
	}
}

// The last agent stops with the lid shut: the machine really sleeps, once, and
// tells of it afterwards; the next session is held as the one before.
func TestVM_sleepsAfterTheLastSession(t *testing.T) {
	b := open(t)
	b.run("settings", "--post-stop-suspend-delay-seconds", "1")
	before := slept(t)
	b.start("one")
	b.until("both locks", held)
	b.lid("closed")
	wait.Never(t, 3*time.Second, "slept under an agent's work", func() (bool, string) { return slept(t) != before, sleepText(t) })
	_, boot := clocks(t)
	b.run("stop", "--session", "one")
	wait.Until(t, patience, "the sleep to be over", func() (bool, string) { return slept(t) > before, sleepText(t) })
	b.lid("open")
	_, after := clocks(t)
	t.Logf("from the stop to awake again: %v", (after - boot).Round(time.Millisecond))

	var history []struct {
		Time, Woke           time.Time
		Mode, Reason, Result string
	}
	wait.Until(t, patience, "one sleep in the history", func() (bool, string) {
		text := b.try("suspend-history", "--json")
		return json.Unmarshal([]byte(text), &history) == nil && len(history) == 1 && !history[0].Woke.IsZero(), text
	})
	h := history[0]
	if h.Mode != "sleep" || h.Reason != "Completed" || h.Result != "slept" || h.Woke.Sub(h.Time) < 4*time.Second {
		t.Errorf("history: %+v", h)
	}
	b.start("two")
	b.until("both locks of the next session", held)
	if n := slept(t); n != before+1 {
		t.Errorf("slept %d times, want once: %s", n-before, sleepText(t))
	}
}

func sleepText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(sleepLog)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
