package lidguard_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// answersNo are the commands of the documents whose exit code 1 is an answer.
var answersNo = []string{"lidguard can-close", "lidguard doctor", "lidguard why", "lidguard hooks explain"}

// Every command line that README.md, docs/gate.md and docs/prove.md show is run as a stranger
// would, with an empty home in which two agents were used before, no system bus,
// and the made-up laptop. ./run and ./test are run by .ci/run itself.
func TestDocuments_commandsRun(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, ".local", "bin")
	for _, dir := range []string{filepath.Join(home, ".claude"), filepath.Join(home, ".codex"), filepath.Join(home, "bin")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", filepath.Join(home, "bin")+string(filepath.Separator), "./cmd/lidguard", "./cmd/lidguard-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	ran := 0
	for _, doc := range []string{"README.md", "docs/gate.md", "docs/prove.md"} {
		data, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		inside := false
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				inside = line == "```sh"
				continue
			}
			command, _, _ := strings.Cut(line, "  #")
			if command = strings.TrimSpace(command); !inside || command == "" || command == "./run" || command == "./test" {
				continue
			}
			ran++
			run := command
			if command == "lidguard setup" || command == "lidguard uninstall" {
				run += " --yes" // nobody is there to be asked
			}
			cmd := exec.Command("sh", "-c", run)
			cmd.Dir = home
			cmd.Env = []string{"HOME=" + home, "PATH=" + bin + ":/usr/bin:/bin", "LIDGUARD_MACHINE=fake:" + filepath.Join(home, "laptop"),
				"DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent"}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			no := errors.As(err, &exit) && exit.ExitCode() == 1
			for _, a := range answersNo {
				if no && strings.HasPrefix(command, a) {
					err = nil
				}
			}
			if err != nil {
				t.Errorf("%s: %s: %v\n%s", doc, run, err, out)
			}
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands were found in the documents", ran)
	}
}
