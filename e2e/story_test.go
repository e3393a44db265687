//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/laptop"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// ours are the locks that lidguard holds by logind's word.
func ours(l *laptop.Laptop) []laptop.Inhibitor {
	return slices.DeleteFunc(l.Inhibitors(), func(i laptop.Inhibitor) bool { return i.Who != "lidguard" })
}

// waitHeld waits for lidguard's locks and returns the runtime that holds them.
// They are exactly two entries of one kind each: one call per kind, so that
// polkit judges each by itself, and never one that takes away the person's own
// sleep or shutdown.
func waitHeld(t testing.TB, l *laptop.Laptop) (runtime uint32) {
	t.Helper()
	wait.Until(t, wait.Long, "lidguard's two locks", func() (bool, string) {
		list := ours(l)
		return len(list) >= 2, fmt.Sprintf("%+v", list)
	})
	list := ours(l)
	var what []string
	for _, i := range list {
		what = append(what, i.What)
		if i.Mode != "block" || i.UID != uint32(l.UID()) || i.PID != list[0].PID || i.Why == "" {
			t.Errorf("a lock of another kind: %+v", i)
		}
	}
	slices.Sort(what)
	if got := strings.Join(what, " "); got != "handle-lid-switch idle" {
		t.Errorf("held is %q, want handle-lid-switch and idle, one entry each", got)
	}
	return list[0].PID
}

// staysHeld watches for a while that both locks stay.
func staysHeld(t testing.TB, l *laptop.Laptop, during time.Duration) {
	t.Helper()
	wait.Never(t, during, "a lock was given up", func() (bool, string) {
		list := ours(l)
		return len(list) != 2, fmt.Sprintf("held: %+v", list)
	})
}

// waitFree waits until lidguard holds nothing and returns how long that took.
func waitFree(t testing.TB, l *laptop.Laptop, since time.Time) time.Duration {
	t.Helper()
	wait.Until(t, wait.Long, "lidguard to hold nothing", func() (bool, string) {
		list := ours(l)
		return len(list) == 0, fmt.Sprintf("held: %+v", list)
	})
	return time.Since(since)
}

// bar logs a measured time beside the one that was promised. A loaded machine
// gets twice the time before the test fails.
func bar(t testing.TB, what string, took, promised time.Duration) {
	t.Helper()
	t.Logf("%s: %v, promised %v", what, took.Round(time.Millisecond), promised)
	if took > 2*promised {
		t.Errorf("%s took %v, promised %v", what, took, promised)
	}
}

// touch makes the file that a scripted command waits for.
func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// until is a shell command that runs until a file of the project is there.
func until(file string) string {
	return "until [ -e ${PROJECT}/" + file + " ]; do sleep 0.1; done"
}

// exists tells whether a command made its file.
func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return err == nil
}

// status is what a person's program reads of `lidguard status --json`.
type status struct {
	Running bool
	Awake   bool
	Runtime *struct {
		PID       uint32
		Protected bool
		Lid       string
		Sessions  []struct {
			State    string
			Holds    bool
			SoftLock string `json:"soft_lock"`
			Key      struct{ Provider, ID string }
		}
		Held []struct {
			What      string
			Confirmed bool
			Error     string
		}
	}
	Findings []finding
}

type finding struct{ Code, Text, Remedy string }

func statusOf(g *lidguard.Guard) status {
	var s status
	g.JSON(&s, "status")
	return s
}

// waitText waits until a command's answer has the text.
func waitText(t testing.TB, g *lidguard.Guard, text string, args ...string) {
	t.Helper()
	wait.Until(t, wait.Long, fmt.Sprintf("%q in lidguard %s", text, strings.Join(args, " ")), func() (bool, string) {
		stdout, stderr, _ := g.Try(args...)
		return strings.Contains(stdout, text), stdout + stderr
	})
}
