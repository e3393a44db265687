//go:build linux

// Package machine is where agents and lidguard run in end-to-end tests: a
// place with one person's home, a bare environment and a loopback network. In
// come programs to start, out come their exit codes and output files. Nothing
// of the caller's environment reaches a program started here.
//
// [Bench] is this machine with an empty home and no system bus; package laptop
// has the one with a lid. Paths are the same inside and outside of both, so a
// test reads what a program wrote where the program wrote it.
package machine

import (
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Machine is what clients and lidguard need to run on. Implementations may
// assume one test at a time.
type Machine interface {
	// Home is the person's home folder.
	Home() string
	// Folder is the machine's own scratch folder; Home is in it.
	Folder() string
	// UID owns Home and everything below Folder.
	UID() int
	// Vars is a fresh copy of the person's bare environment.
	Vars() map[string]string
	// PrependPath puts a folder first in the person's PATH.
	PrependPath(dir string)
	// Command prepares args to run in dir, as the person, with exactly vars
	// as environment, in a session of its own (Setsid).
	Command(dir string, vars map[string]string, args ...string) *exec.Cmd
	// PID is the process, as this machine counts, that the started cmd
	// stands for: signals meant for the program go there.
	PID(cmd *exec.Cmd) int
	// Listen opens a port on the machine's own 127.0.0.1, served from here.
	Listen(t testing.TB) net.Listener
}

// Person is what all machines have in common; they embed it.
type Person struct {
	folder string
	uid    int
	path   []string
	extra  map[string]string
}

// NewPerson makes folder and the home in it for the user uid. extra is added
// to the bare environment.
func NewPerson(t testing.TB, folder string, uid int, extra map[string]string) *Person {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	p := &Person{folder: folder, uid: uid, extra: extra}
	p.path = []string{filepath.Dir(node), "/usr/local/bin", "/usr/bin", "/bin"}
	for _, dir := range []string{folder, p.Home(), filepath.Join(folder, "tmp")} {
		mkdir(t, dir, uid)
	}
	return p
}

// Home implements [Machine].
func (p *Person) Home() string { return filepath.Join(p.folder, "home") }

// Folder implements [Machine].
func (p *Person) Folder() string { return p.folder }

// UID implements [Machine].
func (p *Person) UID() int { return p.uid }

// PrependPath implements [Machine].
func (p *Person) PrependPath(dir string) {
	if !slices.Contains(p.path, dir) {
		p.path = append([]string{dir}, p.path...)
	}
}

// Vars implements [Machine].
func (p *Person) Vars() map[string]string {
	vars := map[string]string{
		"HOME": p.Home(), "PATH": strings.Join(p.path, ":"), "LANG": "C.UTF-8", "TERM": "xterm-256color",
		"SHELL": "/bin/bash", "TMPDIR": filepath.Join(p.folder, "tmp"),
	}
	maps.Copy(vars, p.extra)
	return vars
}

// Mkdir makes a folder, with those above it, for the machine's person.
func Mkdir(t testing.TB, m Machine, path string) string {
	t.Helper()
	mkdir(t, path, m.UID())
	return path
}

func mkdir(t testing.TB, path string, uid int) {
	t.Helper()
	if _, err := os.Stat(path); err == nil {
		return
	}
	if parent := filepath.Dir(path); parent != path {
		mkdir(t, parent, uid)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, uid, uid); err != nil {
		t.Fatal(err)
	}
}

// Write puts a file, with the folders above it, into the machine for its
// person.
func Write(t testing.TB, m Machine, path, content string) {
	t.Helper()
	Mkdir(t, m, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, m.UID(), m.UID()); err != nil {
		t.Fatal(err)
	}
}

// Project makes a folder for agents to work in, in the person's home, a git
// repository when git is true.
func Project(t testing.TB, m Machine, name string, git bool) string {
	t.Helper()
	dir := Mkdir(t, m, filepath.Join(m.Home(), name))
	if git {
		if _, stderr, code := Run(t, m, Spec{Args: []string{"git", "init", "--quiet", dir}}); code != 0 {
			t.Fatalf("git init: exit %d, %s", code, stderr)
		}
	}
	return dir
}
