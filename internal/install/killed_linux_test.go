package install_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/install"
)

// killedEnv names what the test binary, started again, does and is watched at.
const killedEnv = "LIDGUARD_TEST_KILLED"

// killedWorks are an installation of one version, that of the next over it, and the
// removal, each in the folder dir.
var killedWorks = map[string]func(dir string) error{
	"install": func(dir string) error { return putIn(dir, 0, "1") },
	// The first entries stay as they are: whoever changes them below the second ones
	// leaves backups, killed or not.
	"update": func(dir string) error { return putIn(dir, 1, "2") },
	"remove": takeAllOut,
}

// killedFiles are an agent's hooks and its server in one file behind a link, and a
// file in folders that are made for it.
var killedFiles = []struct{ record, file string }{
	{"agent/config.json", "agent/config.json"},
	{install.ServerRecord("agent/config.json"), "agent/config.json"},
	{"other/deep/hooks.json", "other/deep/hooks.json"},
}

// killedPlan plans one file's part in dir; text is empty for a removal.
func killedPlan(dir string, i int, text string, records install.Records) (install.Plan, error) {
	f := killedFiles[i]
	path := filepath.Join(dir, filepath.FromSlash(f.file))
	at := confedit.Path{"made", string(rune('a' + i))}
	var plan install.Plan
	err := plan.AddAs(strings.Replace(f.record, f.file, path, 1), path, text == "", records, func(data []byte, created []confedit.Path) (confedit.Draft, error) {
		doc, err := confedit.ParseJSON(data, confedit.Comments)
		switch {
		case err != nil:
		case text != "":
			err = doc.Set(at, text)
		default:
			if _, there := doc.Get(at); there {
				err = doc.Remove(at)
			}
			err = errors.Join(err, doc.Prune(created...))
		}
		return doc.Draft(), err
	})
	return plan, err
}

func killedStore(dir string) install.Store {
	return install.Store{Path: filepath.Join(dir, "state", "installed.json")}
}

func applyKilled(dir string, i int, text string) error {
	records, err := killedStore(dir).Load()
	if err != nil {
		return err
	}
	plan, err := killedPlan(dir, i, text, records)
	if err != nil {
		return err
	}
	_, err = plan.Apply(context.Background(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), killedStore(dir))
	return err
}

func putIn(dir string, from int, text string) error {
	for i := from; i < len(killedFiles); i++ {
		if err := applyKilled(dir, i, text); err != nil {
			return err
		}
	}
	return nil
}

// takeAllOut is what uninstall does: what was written last goes first.
func takeAllOut(dir string) error {
	for i := range slices.Backward(killedFiles) {
		if err := applyKilled(dir, i, ""); err != nil {
			return err
		}
	}
	for _, f := range killedFiles {
		if err := confedit.Tidy(context.Background(), filepath.Join(dir, filepath.FromSlash(f.file))); err != nil {
			return err
		}
	}
	return killedStore(dir).Tidy()
}

// What TestPlan_killedAtEveryStep watches runs here, since nothing but the first thread
// of a program runs this.
func init() {
	name, dir, ok := strings.Cut(os.Getenv(killedEnv), ":")
	if !ok {
		return
	}
	if err := killedWorks[name](dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestPlan_killedAtEveryStep: whoever is killed at any system call of an installation,
// an update or a removal has lost nothing. A removal then brings back every byte and
// leaves nothing behind; so does one after the installation was done again.
func TestPlan_killedAtEveryStep(t *testing.T) {
	for _, work := range []struct {
		name  string
		first []string // done before
	}{
		{"install", nil},
		{"update", []string{"install"}},
		{"remove", []string{"install"}},
		{"remove", []string{"install", "update"}},
	} {
		t.Run(strings.Join(append(slices.Clone(work.first), work.name), "+"), func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "real", "config.json"), "// mine\n{\"a\": [1, 2.50],\n}", 0o640)
			if err := os.Symlink("real", filepath.Join(dir, "agent")); err != nil {
				t.Fatal(err)
			}
			before := treeOf(t, dir)
			for _, name := range work.first {
				if err := killedWorks[name](dir); err != nil {
					t.Fatal(err)
				}
			}
			states := watched(t, work.name, dir)
			if work.name == "remove" {
				same(t, "after the removal", treeOf(t, dir), before)
			}
			if len(states) < 20 {
				t.Errorf("only %d states were seen", len(states))
			}
			for n, state := range states {
				for _, then := range [][]string{{"remove"}, {"install", "remove"}, {"update", "remove"}} {
					plant(t, dir, state)
					for _, name := range then {
						if err := killedWorks[name](dir); err != nil {
							t.Fatalf("state %d of %d, then %s: %v", n, len(states), name, err)
						}
						if file := filepath.Join(dir, "other", "deep", "hooks.json"); name != "remove" {
							want := map[string]string{"install": `"1"`, "update": `"2"`}[name]
							if data, err := os.ReadFile(file); !strings.Contains(string(data), want) {
								t.Errorf("killed in state %d, %s writes %q (%v)", n, name, data, err)
							}
						}
					}
					if !same(t, strings.Join(then, "+"), treeOf(t, dir), before) {
						t.Fatalf("killed in state %d of %d: %v", n, len(states), cmp.Diff(before, state))
					}
				}
			}
			t.Logf("%d states", len(states))
		})
	}
}

// tree is what is in a folder, by path below it: the type and mode, and the content.
type tree map[string]string

func same(t *testing.T, when string, got, want tree) bool {
	t.Helper()
	diff := cmp.Diff(want, got)
	if diff != "" {
		t.Errorf("%s: %s", when, diff)
	}
	return diff == ""
}

func treeOf(t *testing.T, dir string) tree {
	t.Helper()
	out := tree{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		info, err := e.Info()
		if err != nil {
			return err
		}
		var content []byte
		switch {
		case info.Mode().IsRegular():
			content, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			content = []byte(to)
		}
		out[name] = info.Mode().String() + " " + string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// plant makes dir what state says.
func plant(t *testing.T, dir string, state tree) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	for _, name := range slices.Sorted(maps.Keys(state)) { // folders before what is in them
		path := filepath.Join(dir, name)
		mode, content, _ := strings.Cut(state[name], " ")
		switch mode[0] {
		case 'd':
			perm := fs.FileMode(0o700)
			if mode == "drwxr-xr-x" {
				perm = 0o755
			}
			err = errors.Join(err, os.Mkdir(path, perm), os.Chmod(path, perm))
		case 'L':
			err = errors.Join(err, os.Symlink(content, path))
		default:
			perm := fs.FileMode(0o600)
			if mode == "-rw-r-----" {
				perm = 0o640
			}
			err = errors.Join(err, os.WriteFile(path, []byte(content), perm), os.Chmod(path, perm))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	same(t, "planted", treeOf(t, dir), state)
}

// watched runs a work in a process of its own, stops it at the beginning and the end of
// every system call, and returns the states that the folder was in, in order. Whoever is
// killed leaves one of them: a process that is gone changes nothing and holds no lock.
func watched(t *testing.T, work, dir string) (states []tree) {
	t.Helper()
	runtime.LockOSThread() // only the thread that began to trace may go on
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := syscall.ForkExec(self, []string{self}, &syscall.ProcAttr{
		Env:   append(os.Environ(), killedEnv+"="+work+":"+dir),
		Files: []uintptr{null.Fd(), os.Stderr.Fd(), os.Stderr.Fd()},
		Sys:   &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	look := func() {
		now := treeOf(t, dir)
		if len(states) == 0 || !maps.Equal(states[len(states)-1], now) {
			states = append(states, now)
		}
	}
	const exitKill = 0x100000 // PTRACE_O_EXITKILL: a test that fails leaves no process behind
	for known := map[int]bool{}; ; {
		var status syscall.WaitStatus
		thread, err := syscall.Wait4(-pid, &status, syscall.WALL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if status.Exited() || status.Signaled() {
			if thread != pid {
				continue
			}
			look()
			if status.ExitStatus() != 0 {
				t.Fatalf("%s ended with %v", work, status)
			}
			return states
		}
		signal := 0
		switch stop := status.StopSignal(); {
		case !known[thread]: // its first stop
			known[thread] = true
			if thread == pid {
				if err := syscall.PtraceSetOptions(pid, syscall.PTRACE_O_TRACESYSGOOD|syscall.PTRACE_O_TRACECLONE|exitKill); err != nil {
					t.Fatal(err)
				}
			}
		case stop == syscall.SIGTRAP|0x80:
			if thread == pid { // the others are the runtime's, and do not stop the work
				look()
			}
		case stop != syscall.SIGTRAP:
			signal = int(stop) // its own, such as the runtime's SIGURG
		}
		if err := syscall.PtraceSyscall(thread, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}
