//go:build unix

package demo_test

import (
	"bufio"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// However a demo is stopped, no process and no file of it stays.
func TestDemo_leavesNothingWhenStopped(t *testing.T) {
	lidguard, _ := build(t)
	// A program that was started below nohup would ignore the signal as we do.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	for _, c := range []struct {
		name string
		stop func(demo *exec.Cmd, stdout *os.File)
	}{
		{"Ctrl-C", func(demo *exec.Cmd, _ *os.File) { demo.Process.Signal(os.Interrupt) }},
		{"the terminal was closed", func(demo *exec.Cmd, _ *os.File) { demo.Process.Signal(syscall.SIGHUP) }},
		{"nobody reads on", func(_ *exec.Cmd, stdout *os.File) { stdout.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			demo := exec.Command(lidguard, "demo", "--quick")
			demo.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + temp, "TMPDIR=" + temp}
			demo.Stdout = write
			if err := demo.Start(); err != nil {
				t.Fatal(err)
			}
			write.Close()
			lines := bufio.NewScanner(read)
			for range 3 { // the runtime is up and holds by then
				lines.Scan()
			}
			c.stop(demo, read)
			ended := make(chan error, 1)
			go func() { ended <- demo.Wait() }()
			select {
			case err := <-ended:
				if code := demo.ProcessState.ExitCode(); code != 1 {
					t.Errorf("%v, want exit code 1", err)
				}
			case <-time.After(time.Minute):
				demo.Process.Kill()
				t.Fatal("still plays a minute after it was stopped")
			}
			// The demo waits for its runtime, whose folder goes with it.
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("it left %v (%v)", left, err)
			}
		})
	}
}
