package lidguard_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stubCheckout is a git checkout with the script of that name and two programs
// that only tell how they were called, in a folder with a space in its name.
func stubCheckout(t *testing.T, script string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a checkout")
	data, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	program := "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n" +
		"func main() { fmt.Println(\"called:\", os.Args[1:], \"safe:\", os.Getenv(\"GIT_CONFIG_COUNT\")) }\n"
	for name, text := range map[string]string{script: string(data), "go.mod": "module stub\n\ngo 1.26\n",
		"cmd/lidguard/main.go": program, "cmd/lidguard-hook/main.go": program} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// foreign is the environment of a git that takes every checkout for somebody
// else's and has no configuration that trusts one.
func foreign() []string {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GIT_") || strings.HasPrefix(s, "GOFLAGS=") })
	return append(env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
}

// callScript runs a script of a checkout without a terminal, from another folder,
// in a checkout that git takes for somebody else's. It returns what came out, and
// the exit code.
func callScript(t *testing.T, dir, script string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, script), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = foreign()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// A checkout that is mounted into a container belongs to somebody else there, and
// git refuses to speak of it.
func TestRun_inACheckoutOfAnotherOwner(t *testing.T) {
	dir := stubCheckout(t, "run")
	refused := exec.Command("git", "-C", dir, "status")
	refused.Env = foreign()
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "safe.directory") {
		t.Fatalf("git does not refuse this checkout: %v\n%s", err, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "called: [version] safe: \n== setup\nno terminal and no --yes: nothing on this machine was changed"},
		{[]string{"--yes"}, "== setup\ncalled: [setup --yes] safe: \n== demo\ncalled: [demo] safe: \n"},
	} {
		if out, code := callScript(t, dir, "run", c.args...); code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("run %v: exit %d\n%s\nwithout %q", c.args, code, out, c.want)
		}
	}
}

// A word that the scripts do not know does nothing, however near it is to one
// that they do.
func TestScripts_refuseOtherWords(t *testing.T) {
	for script, calls := range map[string][][]string{
		"run":  {{"--help"}, {"-yes"}, {"--yes", "x"}, {""}},
		"test": {{"--help"}, {"units"}, {"unit", "x"}},
	} {
		dir := stubCheckout(t, script)
		for _, args := range calls {
			if out, code := callScript(t, dir, script, args...); code != 2 || !strings.HasPrefix(out, "usage: ./"+script) {
				t.Errorf("%s %q: exit %d\n%s", script, args, code, out)
			}
		}
	}
}
