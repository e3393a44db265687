package proc

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestHelperSleeper is a process that runs until its input is closed.
func TestHelperSleeper(t *testing.T) {
	if os.Getenv("TEST_PROC_SLEEPER") == "" {
		return // run by the tests below only, in a process of its own
	}
	os.Stdin.Read(make([]byte, 1))
}

func child(t *testing.T) (*exec.Cmd, ID, func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperSleeper$")
	cmd.Env = append(os.Environ(), "TEST_PROC_SLEEPER=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	id, err := Table{}.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, id, func() { in.Close() }
}

func ended(t *testing.T, w *Watch) {
	t.Helper()
	select {
	case <-w.Ended():
	case <-time.After(time.Minute):
		t.Fatal("the end was not seen")
	}
}

func TestLookup_childAndItsParent(t *testing.T) {
	cmd, id, _ := child(t)
	p, err := Table{}.Lookup(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if p.ID != id || p.Parent != os.Getpid() || p.Exe == "" || p.Dead || len(p.Argv) != 2 {
		t.Errorf("got %v, parent %d of %d, exe %q, argv %q, dead %v", p.ID, p.Parent, os.Getpid(), p.Exe, p.Argv, p.Dead)
	}
	if a := (Table{}).Ancestry(cmd.Process.Pid); len(a) == 0 || a[0].PID != os.Getpid() {
		t.Errorf("ancestors %+v, want this test first", a)
	}
	if _, err := (Table{}).Lookup(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

func TestWatch_endCloseAndReuse(t *testing.T) {
	_, id, stop := child(t)
	w, err := Table{}.Watch(id)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.Ended():
		t.Fatal("a running process was taken for ended")
	default:
	}
	if !(Table{}).Alive(id) {
		t.Error("not alive")
	}
	other := id
	other.Start++
	reused, err := Table{}.Watch(other)
	if err != nil {
		t.Fatal(err)
	}
	ended(t, reused)
	closed, err := Table{}.Watch(id)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	closed.Close()
	stop()
	ended(t, w)
	w.Close()
	if (Table{}).Alive(id) {
		t.Error("alive after its end")
	}
}

func TestTreeCPU_ofThisTest(t *testing.T) {
	before, err := Table{}.TreeCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		now, err := Table{}.TreeCPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if now > before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("burning did not show")
		}
	}
}
