package watch

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

// TestMain lets the test binary be the process that is watched: with this
// variable set it waits for its stdin to end.
func TestMain(m *testing.M) {
	if os.Getenv("LIDGUARD_TEST_SLEEPER") != "" {
		var b [1]byte
		os.Stdin.Read(b[:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// sleeper starts a process that ends when end is called.
func sleeper(t *testing.T) (p event.Process, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LIDGUARD_TEST_SLEEPER=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := proc.Table{}.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			in.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(end)
	return event.Process{PID: id.PID, Start: id.Start}, end
}

func TestProcesses(t *testing.T) {
	exited := make(chan event.Process, 10)
	p := NewProcesses(proc.Table{}, func(e event.Process) { exited <- e })
	defer p.Close()
	a, endA := sleeper(t)
	b, endB := sleeper(t)
	reused := event.Process{PID: b.PID, Start: b.Start + 1} // another process had this pid
	if err := p.Keep([]event.Process{a, b, reused}); err != nil {
		t.Fatal(err)
	}
	expect := func(want event.Process) {
		t.Helper()
		select {
		case got := <-exited:
			if got != want {
				t.Fatalf("exit of %v told, want %v", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("exit of %v never told", want)
		}
	}
	expect(reused)
	if err := p.Keep([]event.Process{b}); err != nil { // a is of no interest any more
		t.Fatal(err)
	}
	endA()
	endB()
	expect(b)
	p.Close()
	select {
	case got := <-exited:
		t.Fatalf("exit of %v told though nobody asked", got)
	default:
	}
}
