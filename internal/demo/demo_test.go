package demo_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/demo"
)

// build makes both programs once per test run.
func build(t *testing.T) (lidguard, hook string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../../cmd/lidguard", "../../cmd/lidguard-hook")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return filepath.Join(dir, "lidguard"), filepath.Join(dir, "lidguard-hook")
}

func play(t *testing.T, lidguard, hook string) (string, error) {
	t.Helper()
	var told strings.Builder
	err := demo.Run(t.Context(), demo.Options{
		Lidguard: lidguard, Hook: hook, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Now: time.Now,
		Say: func(format string, args ...any) { fmt.Fprintf(&told, format+"\n", args...) },
	})
	return told.String(), err
}

func TestRun_playsWithBothHookPrograms(t *testing.T) {
	lidguard, hook := build(t)
	for _, program := range []string{hook, lidguard} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			t.Parallel()
			told, err := play(t, lidguard, program)
			if err != nil {
				t.Fatalf("%v\n%s", err, told)
			}
			for _, want := range []string{"lidguard denied it", "the machine is asleep. Once.", "no process is left"} {
				if !strings.Contains(told, want) {
					t.Errorf("the narration lacks %q:\n%s", want, told)
				}
			}
		})
	}
}

func TestRun_noticesWhatDeviates(t *testing.T) {
	lidguard, hook := build(t)
	script := func(body string) string {
		file := filepath.Join(t.TempDir(), "hook")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct{ name, hook, want string }{
		{"a hook that talks", script("cat >/dev/null; echo hello"), "want nothing"},
		{"a hook that fails", script("cat >/dev/null; echo broken >&2; exit 3"), "broken"},
		{"a hook that answers nothing while nobody is there", script(`in=$(cat)
case $in in *PermissionRequest*) exit 0 ;; esac
printf %s "$in" | exec "` + hook + `" "$@"`), "want a denial"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			told, err := play(t, lidguard, c.hook)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q\n%s", err, c.want, told)
			}
		})
	}
}
