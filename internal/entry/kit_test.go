package entry_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/policy"
)

func kit(t *testing.T) *entry.Kit {
	t.Helper()
	dir := t.TempDir()
	env := func(name string) string {
		return map[string]string{"HOME": dir, "USERPROFILE": dir, "PATH": os.Getenv("PATH")}[name]
	}
	dirs, err := paths.Resolve(runtime.GOOS, env)
	if err != nil {
		t.Fatal(err)
	}
	return &entry.Kit{OS: runtime.GOOS, Getenv: env, Environ: []string{"PATH=" + os.Getenv("PATH")}, Dirs: dirs}
}

func TestKit_lookFindsNoProgramOfTheProject(t *testing.T) {
	k := kit(t)
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "gofmt"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	env := k.Getenv
	k.Getenv = func(name string) string {
		if name == "PATH" {
			return "." + string(filepath.ListSeparator) + "" + string(filepath.ListSeparator) + "bin"
		}
		return env(name)
	}
	for _, program := range []string{"gofmt", "./gofmt", ""} {
		if path, err := k.Look(program); err == nil {
			t.Errorf("Look(%q) found %q", program, path)
		}
	}
	if _, err := k.Look(filepath.Join(project, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

func TestKit_runsScripts(t *testing.T) {
	k := kit(t)
	r, err := k.Run(t.Context(), policy.Command{Script: "echo one&& exit 3"})
	if err != nil || r.Code != 3 || strings.TrimSpace(string(r.Stdout)) != "one" {
		t.Errorf("got %d %q, %v", r.Code, r.Stdout, err)
	}
	if _, err := k.Run(t.Context(), policy.Command{}); err == nil {
		t.Error("no command was run without an error")
	}
}

func TestStore_updatesOneAtATime(t *testing.T) {
	s := kit(t).Store("until")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				if err := s.Update(t.Context(), "session/../1", func(old []byte) ([]byte, error) {
					n, _ := strconv.Atoi(string(old))
					return []byte(strconv.Itoa(n + 1)), nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var got string
	refuse := errors.New("no")
	err := s.Update(t.Context(), "session/../1", func(old []byte) ([]byte, error) { got = string(old); return []byte("x"), refuse })
	if got != "200" || !errors.Is(err, refuse) {
		t.Errorf("got %q and %v, want 200 and the caller's error", got, err)
	}
	remove := func(old []byte) ([]byte, error) { got = string(old); return nil, nil }
	for _, want := range []string{"200", ""} {
		if err := s.Update(t.Context(), "session/../1", remove); err != nil || got != want {
			t.Errorf("got %q and %v, want %q", got, err, want)
		}
	}
}

func TestStore_doesNotWaitForEver(t *testing.T) {
	s := kit(t).Store("until")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := s.Update(t.Context(), "a", func([]byte) ([]byte, error) {
		return nil, s.Update(ctx, "b", func([]byte) ([]byte, error) { return []byte("x"), nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
}

func TestStore_forgets(t *testing.T) {
	k := kit(t)
	s := k.Store("until")
	put := func(key string) {
		if err := s.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte(key), nil }); err != nil {
			t.Fatal(err)
		}
	}
	put("old")
	dir := filepath.Join(k.Dirs.State, "hooks", "until")
	values, err := filepath.Glob(filepath.Join(dir, "*.value"))
	if err != nil || len(values) != 1 {
		t.Fatalf("%v %v", values, err)
	}
	old := time.Now().Add(-8 * 24 * time.Hour)
	if err := os.Chtimes(values[0], old, old); err != nil {
		t.Fatal(err)
	}
	put("new")
	if values, _ = filepath.Glob(filepath.Join(dir, "*.value")); len(values) != 1 {
		t.Errorf("the folder has %v", values)
	}
}
