package install_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lidguard-go/lidguard/internal/install"
)

// TestMain is also the program that the hook's line names: this file, copied.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "lidguard-hook") {
		payload, err := io.ReadAll(os.Stdin)
		fmt.Printf("got %s %s, %v", strings.Join(os.Args[1:], " "), payload, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// cmd is asked as Node.js asks it, and as Rust does, which escapes quotes in a way
// that cmd does not know: then nothing may happen and nothing be said.
func TestCommand_windowsInCmd(t *testing.T) {
	me, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "Program Files", "it's", "R&D (x86)", "50% off", "a^b", "a;b, c", "#1", "[a]{b}", "a=b+c@d"} {
		dir := filepath.Join(t.TempDir(), name)
		program := filepath.Join(dir, "lidguard-hook.exe")
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(program, me, 0o755)); err != nil {
			t.Fatal(err)
		}
		p, err := install.FindProgram("windows", env(), program)
		if err != nil {
			t.Fatal(err)
		}
		line := p.Command("claude-hook", "--event", "Stop")
		run := func(cmd *exec.Cmd) (string, int) {
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("payload"), &out, &out
			err := cmd.Run()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return out.String(), exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			return out.String(), 0
		}
		comspec := os.Getenv("COMSPEC")
		node := func() *exec.Cmd {
			cmd := exec.Command(comspec)
			cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + line + `"`}
			return cmd
		}
		if out, code := run(node()); out != "got claude-hook --event Stop payload, <nil>" || code != 2 {
			t.Errorf("%q: got %q and %d from %s", name, out, code, line)
		}
		if out, code := run(exec.Command(comspec, "/C", line)); out != "" || code != 0 {
			t.Errorf("%q: with quotes escaped for other programs: %q and %d", name, out, code)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if out, code := run(node()); out != "" || code != 0 {
			t.Errorf("%q: after the program was deleted: %q and %d", name, out, code)
		}
	}
}
