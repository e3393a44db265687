//go:build linux

// Package guard keeps end-to-end tests away from the machine that runs them.
// In comes the environment of the test process; out goes an empty HOME, one
// scratch folder for the whole run and the tool settings that go and npm need.
// It never reads or writes the real home folder.
package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/prereq"
)

// marker is the file that only a HOME made by [Main] has.
const marker = ".lidguard-e2e-home"

// KeepVariable names the environment variable that, set to anything, keeps
// the scratch folder of a run for inspection.
const KeepVariable = "LIDGUARD_E2E_KEEP"

// run is what Main found out; one per test process.
var run struct {
	scratch, root, realHome string
}

// Main is the body of every TestMain below e2e: it checks the prerequisites,
// replaces HOME by an empty folder, runs the tests and removes what they left.
// It returns the exit code. A missing prerequisite is a failure that names the
// command that installs it; nothing is skipped.
func Main(m *testing.M) int {
	code, err := guarded(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	return code
}

func guarded(tests func() int) (int, error) {
	if err := prereq.Missing(); err != nil {
		return 0, err
	}
	if os.Geteuid() != 0 {
		return 0, errors.New("the laptop boots in namespaces, which needs root: run the tests as root, for example with \"sudo ./test\"")
	}
	home, err := passwdHome()
	if err != nil {
		return 0, err
	}
	run.realHome = home
	if err := keepTools(); err != nil {
		return 0, err
	}
	run.scratch, err = os.MkdirTemp("", "lidguard-e2e-")
	if err != nil {
		return 0, fmt.Errorf("making the scratch folder: %w", err)
	}
	if os.Getenv(KeepVariable) == "" {
		defer os.RemoveAll(run.scratch)
	} else {
		fmt.Fprintln(os.Stderr, "e2e: keeping", run.scratch)
	}
	// The lab's own user must be able to enter, MkdirTemp lets nobody in.
	if err := os.Chmod(run.scratch, 0o755); err != nil {
		return 0, err
	}
	empty := filepath.Join(run.scratch, "no-home")
	if err := os.Mkdir(empty, 0o700); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(empty, marker), nil, 0o600); err != nil {
		return 0, err
	}
	if err := os.Setenv("HOME", empty); err != nil {
		return 0, err
	}
	dropPersonal()
	if err := Check(); err != nil {
		return 0, err
	}
	return tests(), nil
}

// passwdHome is the home folder the machine's user database gives this user.
// user.Current would answer $HOME.
func passwdHome() (string, error) {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		return "", fmt.Errorf("looking up the user that runs the tests: %w", err)
	}
	return u.HomeDir, nil
}

// keepTools writes down where go keeps its caches and where npm's settings
// are, all of which follow HOME otherwise.
func keepTools() error {
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH", "GOENV", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("asking go for its folders: %w", err)
	}
	found := map[string]string{}
	if err := json.Unmarshal(out, &found); err != nil {
		return fmt.Errorf("reading go env: %w", err)
	}
	if filepath.Base(found["GOMOD"]) != "go.mod" {
		return fmt.Errorf("not inside a module: GOMOD is %q", found["GOMOD"])
	}
	run.root = filepath.Dir(found["GOMOD"])
	delete(found, "GOMOD")
	if os.Getenv("NPM_CONFIG_USERCONFIG") == "" {
		// Where npm is told which registry to use; npm reads it, nothing else does.
		found["NPM_CONFIG_USERCONFIG"] = filepath.Join(run.realHome, ".npmrc")
	}
	for name, value := range found {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// dropPersonal unsets what would lead a program back to the person's files or
// accounts. The clients get a bare environment anyway; this is for go, npm and
// the tests' own helpers.
func dropPersonal() {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		for _, prefix := range []string{"XDG_", "CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "COPILOT_", "OPENCODE_", "GH_", "GITHUB_", "LIDGUARD_HOME", "LIDGUARD_ROOT", "DBUS_"} {
			if strings.HasPrefix(name, prefix) {
				os.Unsetenv(name)
			}
		}
	}
}

// Check reports why this process must not start anything: its HOME is a real
// one, or not one that [Main] made.
func Check() error { return check(os.Getenv("HOME"), run.realHome) }

func check(home, realHome string) error {
	if home == "" || realHome == "" {
		return errors.New("HOME was not prepared: the package needs a TestMain that calls guard.Main")
	}
	if same(home, realHome) {
		return fmt.Errorf("HOME is the real home folder %q: end-to-end tests only run in an empty one", home)
	}
	if _, err := os.Stat(filepath.Join(home, marker)); err != nil {
		return fmt.Errorf("HOME %q was not made for end-to-end tests: it has no %s", home, marker)
	}
	return nil
}

func same(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// Require ends the test unless [Check] is content. Everything in the lab that
// starts a program calls it first.
func Require(t testing.TB) {
	t.Helper()
	if err := Check(); err != nil {
		t.Fatal(err)
	}
}

// Scratch is the folder of this test process, readable for everybody, gone
// after the run.
func Scratch() string { return run.scratch }

// Root is the checkout.
func Root() string { return run.root }

// Cache is the folder where installed clients stay between runs: .cache/lab in
// the checkout, or what LIDGUARD_LAB_CACHE says.
func Cache() string {
	if dir := os.Getenv("LIDGUARD_LAB_CACHE"); dir != "" {
		return dir
	}
	return filepath.Join(run.root, ".cache", "lab")
}
