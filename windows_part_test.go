//go:build unix

package lidguard_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What ./test proves of Windows it proves wherever wine can be installed: only a
// machine that has no way to is let pass, and it says so.
func TestWindowsPart_failsWhereItCouldRun(t *testing.T) {
	script, err := os.ReadFile("e2e/lab/platform/windows-part.sh")
	if err != nil {
		t.Fatal(err)
	}
	const why = "no mirror can be reached"
	for _, c := range []struct {
		name, ci string
		install  string // what windows.sh install does
		barred   string // what stands against it
		tests    string // what windows.sh test does
		code     int
		says     string
		ran      bool // the tests
	}{
		{"all is well", "", "exit 0", "exit 1", "exit 0", 0, "", true},
		{"a test fails", "", "exit 0", "exit 1", "exit 1", 1, "once more", true},
		{"a tree that is not there, though it could be", "", "exit 1", "exit 1", "exit 0", 1, "could not be installed", false},
		{"it is there the second time", "", "[ -e once ] || { touch once; exit 1; }", "exit 1", "exit 0", 0, "", true},
		{"there is no way", "", "exit 1", "echo " + why, "exit 0", 3, why, false},
		{"there is no way, in CI", "true", "exit 1", "echo " + why, "exit 0", 1, "could not be installed", false},
	} {
		dir := t.TempDir()
		stub := "#!/bin/bash\ncase $1 in\ninstall) " + c.install + " ;;\nbarred) " + c.barred + " ;;\ntest) touch ran; " + c.tests + " ;;\nesac\n"
		err := errors.Join(os.WriteFile(filepath.Join(dir, "windows-part.sh"), script, 0o700), os.WriteFile(filepath.Join(dir, "windows.sh"), []byte(stub), 0o700))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "windows-part.sh", "why")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "CI=" + c.ci}
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: ends with %d (%v) and says %q, want %d and %q", c.name, code, err, out, c.code, c.says)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "why")); (err == nil) != (c.code == 3) || err == nil && string(data) != "Windows' own calls, since "+why+"\n" {
			t.Errorf("%s: it leaves word %q", c.name, data)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); (err == nil) != c.ran {
			t.Errorf("%s: the tests ran: %t", c.name, err == nil)
		}
	}
}
