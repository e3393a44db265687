package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// homeFiles lists the files and folders in a home, without what lidguard keeps for
// itself.
func homeFiles(t *testing.T, home string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(home, path); rel != "." && !strings.HasPrefix(rel, ".local") {
			out = append(out, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// noText gives the world a home whose name is no UTF-8, with every client in it.
func noText(t *testing.T, w *world) {
	t.Helper()
	w.home = filepath.Join(w.home, "h\xff\xfe")
	w.env["HOME"] = w.home
	for _, dir := range []string{".codex", ".claude", ".copilot", ".config/opencode"} {
		if err := os.MkdirAll(filepath.Join(w.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInstall_programPathIsNoText: no config file can carry such a path, so nothing is
// written and the person is told.
func TestInstall_programPathIsNoText(t *testing.T) {
	w := newWorld(t)
	noText(t, w) // the program is in the home
	before := homeFiles(t, w.home)
	for _, args := range [][]string{
		{"hook-install", "--provider", "all"},
		{"hook-install", "--provider", "claude", "--dry-run"},
		{"setup", "--yes"},
		{"mcp-install", "all"},
		{"provider-mcp-install", "--config", filepath.Join(w.home, "mcp.json"), "--provider-name", "acme"},
		{"hooks", "build", "--provider", "all"},
		{"claude-hooks", "settings-json"},
	} {
		code, out, errs := w.run(args...)
		if code != ExitFailed || !strings.Contains(errs, `h\xff\xfe/bin/lidguard`) || !strings.Contains(errs, "no UTF-8") || !strings.Contains(errs, "move lidguard") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
		if after := homeFiles(t, w.home); after != before {
			t.Errorf("%v wrote something:\n%s", args, after)
		}
	}
	if code, out, errs := w.run("hook-remove", "--provider", "all"); code != ExitDone {
		t.Errorf("removing is refused too: exit %d\n%s%s", code, out, errs)
	}
}

// TestRemove_homeIsNoText: the program is elsewhere, so the hooks work, and what was
// made for them goes with them.
func TestRemove_homeIsNoText(t *testing.T) {
	w := newWorld(t)
	program := filepath.Join(w.home, "bin", "lidguard")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	noText(t, w)
	if err := os.MkdirAll(filepath.Join(w.home, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	// The running program is a link to the one that PATH finds.
	if err := os.Symlink(program, filepath.Join(w.home, "bin", "lidguard")); err != nil {
		t.Fatal(err)
	}
	w.env["PATH"] = filepath.Dir(program)
	before := homeFiles(t, w.home)
	for _, step := range [][2][]string{
		{{"hook-install", "--provider", "all"}, {"hook-remove", "--provider", "all"}},
		{{"mcp-install", "all"}, {"mcp-remove", "all"}},
	} {
		if code, out, errs := w.run(step[0]...); code != ExitDone || homeFiles(t, w.home) == before {
			t.Errorf("%v: exit %d\n%s%s", step[0], code, out, errs)
		}
		if code, out, errs := w.run(step[1]...); code != ExitDone {
			t.Errorf("%v: exit %d\n%s%s", step[1], code, out, errs)
		}
		if after := homeFiles(t, w.home); after != before {
			t.Errorf("%v left\n%s\nbefore\n%s", step[1], after, before)
		}
	}
}
