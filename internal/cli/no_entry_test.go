package cli

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/paths"
)

// A runtime that may not be reached, as behind a folder that sudo made, is none that
// does not run: whether it holds the machine nobody here can know.
func TestCommands_mayNotReachTheRuntime(t *testing.T) {
	w := newWorld(t)
	launched := false
	do := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := run(t.Context(), Options{Args: args, Env: func(name string) string { return w.env[name] }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			Now: func() time.Time { return now }, GOOS: "linux", WorkDir: w.home, Version: "v1.2.3",
			Dial:   func(context.Context, string) (net.Conn, error) { return nil, os.ErrPermission },
			Launch: func(context.Context, paths.Dirs) error { launched = true; return nil },
		}, func(*app) {})
		return code, out.String()
	}
	for _, c := range []struct {
		command string
		code    int
		want    string
	}{
		{"status", ExitDone, "cannot be asked"},
		{"can-close", ExitFailed, "permission denied"},
		{"why", ExitFailed, "permission denied"},
		{"start --session x", ExitFailed, "permission denied"},
		{"stop --session x", ExitFailed, "permission denied"},
		{"cleanup-orphans", ExitFailed, "permission denied"},
		{"remove-session --all", ExitFailed, "permission denied"},
	} {
		code, out := do(strings.Fields(c.command)...)
		if code != c.code || !strings.Contains(out, c.want) || strings.Contains(out, "no runtime is running") {
			t.Errorf("%s: exit %d, want %d and %q:\n%s", c.command, code, c.code, c.want, out)
		}
		if code == ExitFailed && !strings.Contains(out, "hint: `lidguard doctor`") {
			t.Errorf("%s gives no hint:\n%s", c.command, out)
		}
	}
	if launched {
		t.Error("another runtime was started")
	}
}

func TestShutFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file") // a folder that may not be entered does not stop root
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(file, "lidguard", "run"): file, filepath.Join(file, "run"): file, file: "", dir: ""} {
		if got := shutFolder(path); got != want {
			t.Errorf("shutFolder(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestStuckFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file") // root writes to every folder, and to no folder that is none
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(file, "lidguard", "run"): file, file: file, dir: "", filepath.Join(dir, "a", "b"): ""} {
		got, err := stuckFolder(path)
		if runtime.GOOS == "windows" {
			want = "" // there only trying tells
		}
		if got != want || (err != nil) != (want != "") {
			t.Errorf("stuckFolder(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
}

// A home that cannot be written is why nothing ever keeps the machine awake, and
// the hooks do not say so: status and doctor do.
func TestStatus_homeThatCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	if code, out, _ := w.run("status"); code != ExitDone || strings.Contains(out, "runtime-folder") {
		t.Fatalf("a home that can be written: exit %d\n%s", code, out)
	}
	file := filepath.Join(w.home, "file") // root, too, can make nothing in it
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.env["HOME"] = file
	for _, command := range []string{"status", "doctor"} {
		if _, out, errs := w.run(command); strings.Contains(out, "runtime-folder: ") != (runtime.GOOS != "windows") {
			t.Errorf("%s:\n%s%s", command, out, errs)
		}
	}
	if code, out, _ := w.run("can-close"); code != ExitFailed && runtime.GOOS != "windows" {
		t.Errorf("can-close: exit %d\n%s", code, out)
	}
}

// Doctor goes on where the record of what setup changed is broken, and says so.
func TestDoctor_unreadableRecord(t *testing.T) {
	w := newWorld(t)
	d := hookLogDirs(t, w)
	if err := os.MkdirAll(d.Installed(), 0o700); err != nil { // a folder cannot be read as a file
		t.Fatal(err)
	}
	code, out, errs := w.run("doctor")
	if code != ExitFailed || !strings.Contains(out, "record-unreadable: ") || !strings.Contains(out, "no-agents: ") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if code, _, errs := w.run("hook-install", "--provider", "claude"); code != ExitFailed || !strings.Contains(errs, "record") {
		t.Errorf("hook-install: exit %d, %s", code, errs)
	}
}

func TestFailure_hintsOfTheSystem(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "open", Path: "/x", Err: os.ErrPermission}, "shows whose it is"},
		{hintBroken(&os.PathError{Op: "open", Path: "/x", Err: os.ErrPermission}, "move it away"), "shows whose it is"},
		{hintBroken(errors.New("line 3"), "move it away"), "move it away"},
		{hint(os.ErrPermission, "ask root"), "ask root"},
		{&os.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}, "disk is full"},
		{&os.PathError{Op: "mkdir", Path: "/x", Err: syscall.EROFS}, "can only be read"},
	} {
		var errs bytes.Buffer
		(&printer{err: &errs}).failure(c.err)
		if _, got, _ := strings.Cut(errs.String(), "hint: "); !strings.Contains(got, c.want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%v: %q, want one hint with %q", c.err, errs.String(), c.want)
		}
	}
}
