//go:build linux

package machine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/guard"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// Spec says what to start.
type Spec struct {
	Args  []string          // the program, found in the person's PATH, and its arguments
	Dir   string            // working folder; default the person's home
	Vars  map[string]string // added to the bare environment
	Stdin string            // handed to the program; it reads end of file then
}

// Process is a program that runs on a machine. It is ended with the test.
type Process struct {
	// Stdout and Stderr are the files with its output.
	Stdout, Stderr string

	name string
	cmd  *exec.Cmd
	pid  int
	done chan struct{}
	code int
}

var started atomic.Int64

// Start runs a program in the background.
func Start(t testing.TB, m Machine, spec Spec) *Process {
	t.Helper()
	guard.Require(t)
	name := filepath.Base(spec.Args[0])
	out := filepath.Join(Mkdir(t, m, filepath.Join(m.Folder(), "out")), fmt.Sprintf("%03d-%s", started.Add(1), name))
	p := &Process{name: name, Stdout: out + ".stdout", Stderr: out + ".stderr"}
	cmd := Prepare(m, spec)
	files := []*os.File{create(t, p.Stdout), create(t, p.Stderr), create(t, out+".stdin")}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if _, err := files[2].WriteAt([]byte(spec.Stdin), 0); err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr, cmd.Stdin = files[0], files[1], files[2]
	p.run(t, m, cmd)
	return p
}

// Prepare fills in the defaults of spec; the caller sets the streams.
func Prepare(m Machine, spec Spec) *exec.Cmd {
	vars := m.Vars()
	maps.Copy(vars, spec.Vars)
	dir := spec.Dir
	if dir == "" {
		dir = m.Home()
	}
	return m.Command(dir, vars, append([]string{lookup(vars["PATH"], spec.Args[0])}, spec.Args[1:]...)...)
}

// Adopt starts a prepared command whose streams the caller holds.
func Adopt(t testing.TB, m Machine, cmd *exec.Cmd) *Process {
	t.Helper()
	guard.Require(t)
	p := &Process{name: filepath.Base(cmd.Args[0])}
	p.run(t, m, cmd)
	return p
}

func (p *Process) run(t testing.TB, m Machine, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", p.name, err)
	}
	p.cmd, p.done = cmd, make(chan struct{})
	go func() { // ends with the program; Wait and Kill wait for it
		defer close(p.done)
		err := cmd.Wait()
		var exit *exec.ExitError
		switch {
		case err == nil:
		case errors.As(err, &exit) && exit.ExitCode() >= 0:
			p.code = exit.ExitCode()
		case errors.As(err, &exit):
			p.code = 128 + int(exit.Sys().(syscall.WaitStatus).Signal())
		default:
			p.code = -1
		}
	}()
	t.Cleanup(p.Kill)
	p.pid = m.PID(cmd)
}

// PID is the program's process as this machine counts.
func (p *Process) PID() int { return p.pid }

// Running tells whether the program has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Wait waits for the end of the program and returns its exit code, 128 and the
// number for one ended by a signal. The test ends if it takes too long.
func (p *Process) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(wait.Long):
		t.Fatalf("%s has not ended after %v; stderr: %s", p.name, wait.Long, tail(p.Stderr))
	}
	return p.code
}

// Signal sends a signal to the program alone.
func (p *Process) Signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.pid, signal); err != nil {
		t.Fatalf("signal %v to %s: %v", signal, p.name, err)
	}
}

// Kill ends the program and its process group: first by request, after two
// seconds by force. Calling it for an ended program does nothing.
func (p *Process) Kill() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !p.Running() {
			return
		}
		syscall.Kill(p.pid, signal)
		select {
		case <-p.done:
		case <-time.After(2 * time.Second):
		}
	}
	// What stays is not the program itself but what stands for it.
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// Run starts a program, waits for it and returns what it printed.
func Run(t testing.TB, m Machine, spec Spec) (stdout, stderr string, code int) {
	t.Helper()
	p := Start(t, m, spec)
	code = p.Wait(t)
	return read(p.Stdout), read(p.Stderr), code
}

func create(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func tail(path string) string {
	text := read(path)
	return text[max(0, len(text)-2000):]
}

// lookup finds a program as execvp would, but in the person's PATH.
func lookup(path, name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for dir := range strings.SplitSeq(path, ":") {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode()&0o111 != 0 && !info.IsDir() {
			return filepath.Join(dir, name)
		}
	}
	return name
}

// Environ turns variables into what exec.Cmd wants, sorted.
func Environ(vars map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		list = append(list, name+"="+vars[name])
	}
	return list
}

// Children are the processes that pid started and that still run.
func Children(pid int) []int {
	entries, _ := os.ReadDir("/proc")
	var found []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue // it ended in between
		}
		// pid (name) state ppid …; the name may hold spaces and brackets
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			found = append(found, child)
		}
	}
	return found
}
