package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// macSudoers answers for sudo and visudo: rights are there once the file is.
type macSudoers struct{ rule func() daemon.SudoRule }

func (m macSudoers) Output(_ context.Context, path string, args ...string) ([]byte, error) {
	if path == "/usr/sbin/visudo" {
		return nil, nil
	}
	text, err := os.ReadFile(m.rule().Path())
	if err != nil {
		return nil, &command.ExitError{Path: path, Code: 1, Stderr: "sudo: a password is required"}
	}
	list := "User lab may run the following commands on mac:\n"
	for line := range strings.Lines(string(text)) {
		if _, c, ok := strings.Cut(line, " ALL=(root) "); ok {
			list += "    (root) " + c
		}
	}
	return []byte(list), nil
}

func (macSudoers) Start(string, ...string) (command.Process, error) {
	return nil, errors.New("nothing is started")
}

// macWorld runs command lines on a Mac whose files lie in a folder of the test.
type macWorld struct {
	t       *testing.T
	home    string
	goos    string
	mac     *MacPower
	sudoRan [][]string
}

func newMacWorld(t *testing.T) *macWorld {
	w := &macWorld{t: t, home: t.TempDir(), goos: "darwin"}
	rule := daemon.SudoRule{Root: filepath.Join(w.home, "root")}
	rule.Run = macSudoers{func() daemon.SudoRule { return rule }}
	w.mac = &MacPower{Rule: rule, Person: Person{User: "lab", Sudo: func(_ context.Context, argv []string) error {
		w.sudoRan = append(w.sudoRan, argv)
		root := *w
		root.mac = &MacPower{Rule: rule, Person: Person{User: "lab", Root: true}}
		if code, _, stderr := root.run(argv[slices.Index(argv, "--")+2:]...); code != ExitDone {
			return errors.New(stderr)
		}
		return nil
	}}}
	return w
}

func (w *macWorld) run(args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, errs bytes.Buffer
	code = run(w.t.Context(), Options{Args: args, Env: func(name string) string { return map[string]string{"HOME": w.home, "USERPROFILE": w.home}[name] },
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: func() time.Time { return now }, GOOS: w.goos, WorkDir: w.home,
		Executable: "/opt/lidguard", Version: "v1.2.3", MacPower: w.mac}, func(*app) {})
	return code, out.String(), errs.String()
}

func TestMacOSPermission(t *testing.T) {
	w := newMacWorld(t)
	step := func(want int, words string, args ...string) {
		t.Helper()
		code, out, errs := w.run(append([]string{"macos-permission"}, args...)...)
		if code != want || !strings.Contains(out+errs, words) {
			t.Errorf("%q exits with %d, want %d and %q:\n%s%s", args, code, want, words, out, errs)
		}
	}
	step(ExitFailed, "missing", "status")
	step(ExitFailed, "a password is required", "check")
	step(ExitDone, "lab ALL=(root) NOPASSWD: /usr/bin/pmset -a disablesleep 0", "install", "--dry-run")
	step(ExitFailed, "missing", "status")
	step(ExitDone, "yes  /usr/bin/pmset -a hibernatemode 25", "install")
	want := []string{"/usr/bin/sudo", "-n", "--", "/opt/lidguard", "macos-permission", "install", "--user", "lab"}
	if len(w.sudoRan) != 1 || !slices.Equal(w.sudoRan[0], want) {
		t.Errorf("sudo ran %q, want %q once", w.sudoRan, want)
	}
	step(ExitDone, "installed for lab", "status")
	step(ExitDone, "", "check")
	code, out, _ := w.run("macos-permission", "check", "--json")
	var report macReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != ExitDone || !report.OK || len(report.Rights) != 6 {
		t.Errorf("check --json: %d, %v\n%s", code, err, out)
	}
	step(ExitDone, "", "remove")
	step(ExitFailed, "missing", "status")
	step(ExitDone, "nothing to change", "remove")
	step(ExitUsage, "no user name", "install", "--user", "%admin")
	step(ExitUsage, "followed by")
}

func TestMacOSPermission_foreignFileStays(t *testing.T) {
	w := newMacWorld(t)
	path := w.mac.Rule.Path()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("lab ALL=(ALL) ALL\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"install", "remove"} {
		if code, _, errs := w.run("macos-permission", verb); code != ExitFailed || !strings.Contains(errs, "left alone") {
			t.Errorf("%s: %d, %s", verb, code, errs)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "lab ALL=(ALL) ALL\n" {
		t.Errorf("the file is now %q, %v", data, err)
	}
}

func TestMacOSPermission_otherSystems(t *testing.T) {
	for goos, words := range map[string]string{"linux": "linux-permission", "windows": "nothing needs to be permitted", "freebsd": "lidguard doctor"} {
		w := newMacWorld(t)
		w.goos, w.mac = goos, nil
		for _, verb := range []string{"status", "check", "install", "remove"} {
			if code, _, errs := w.run("macos-permission", verb); code != ExitFailed || !strings.Contains(errs, "only macOS has") || !strings.Contains(errs, words) {
				t.Errorf("%s on %s: %d, %s", verb, goos, code, errs)
			}
		}
	}
}

// A command of any kind puts back what a dead runtime left, before it does its own.
func TestMain_restoresFirst(t *testing.T) {
	for _, args := range [][]string{{"status"}, {"doctor"}, {"version"}, {"settings"}, {"--help"}, {"nonsense"}, nil} {
		w, restored := newWorld(t), 0
		var out bytes.Buffer
		run(t.Context(), Options{Args: args, Env: func(name string) string { return w.env[name] },
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Now: func() time.Time { return now }, GOOS: "linux", WorkDir: w.home,
			Executable: "/opt/lidguard", Version: "v1.2.3", Dial: w.dial,
			Restore: func(context.Context, paths.Dirs) error {
				if out.Len() > 0 {
					t.Errorf("%q has printed before: %s", args, &out)
				}
				restored++
				return nil
			}}, func(*app) {})
		if restored != 1 {
			t.Errorf("%q restored %d times:\n%s", args, restored, &out)
		}
	}
}
