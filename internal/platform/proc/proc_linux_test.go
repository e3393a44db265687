package proc

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	tail := " S 77 1 1 34816 -1 4194560 9 9 0 0 1 2 3 4 20 0 1 0 4242 1 1"
	for _, comm := range []string{"bash", "a b", "x) S 1 (y", ")", "(", "", "MainThread", "npm exec @opena"} {
		s, err := parseStat([]byte("5 (" + comm + ")" + tail))
		if err != nil {
			t.Errorf("%q: %v", comm, err)
			continue
		}
		if want := (stat{comm, 'S', 77, 34816, 10, 4242}); s != want {
			t.Errorf("%q: got %+v, want %+v", comm, s, want)
		}
	}
	for _, bad := range []string{"", "5", "5 (x", "5 (x) S 1 2", "5 (x) S y 1 1 0 -1 4194560 9 9 0 0 1 2 3 4 20 0 1 0 4242",
		"5 (x) S 1 1 1 0 -1 4194560 9 9 0 0 1 2 3 4 20 0 1 0 later", "5 (x) S 1 1 1 tty -1 4194560 9 9 0 0 1 2 3 4 20 0 1 0 4242"} {
		if s, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, s)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("5 (x) S 77 1 1 0 -1 4194560 9 9 0 0 1 2 3 4 20 0 1 0 4242 1 1"))
	f.Add([]byte("5 (x) R 1 (y) S"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseStat(b)
		if err == nil && !strings.Contains(string(b), "("+s.comm+")") {
			t.Errorf("name %q is not in %q", s.comm, b)
		}
	})
}

func TestID_roundTrip(t *testing.T) {
	id := ID{PID: 4711, Start: 99}
	if got, err := ParseID(id.String()); got != id || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{"", "1", ":", "1:", ":1", "0:1", "-1:1", "1:-1", "1:2:3", "a:b"} {
		if id, err := ParseID(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, id)
		}
	}
}

func TestLookup_self(t *testing.T) {
	p, err := Table{}.Lookup(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	exe, _ := os.Executable()
	if p.Parent != os.Getppid() || p.Exe != exe || len(p.Argv) != len(os.Args) || p.Start == 0 {
		t.Errorf("got %+v", p)
	}
	if _, err := (Table{}).Lookup(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

// child starts a process that runs until its input is closed.
func child(t *testing.T) (*exec.Cmd, ID, func()) {
	t.Helper()
	cmd := exec.Command("cat")
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

func running(t *testing.T, w *Watch) {
	t.Helper()
	select {
	case <-w.Ended():
		t.Fatal("a running process was taken for ended")
	default:
	}
}

func TestWatch_seesTheEndBeforeTheParentDoes(t *testing.T) {
	cmd, id, stop := child(t)
	w, err := Table{}.Watch(id)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	running(t, w)
	if !(Table{}).Alive(id) {
		t.Error("not alive")
	}
	stop()
	ended(t, w) // nobody has waited for it yet
	if (Table{}).Alive(id) {
		t.Error("a zombie is alive")
	}
	cmd.Wait()
	if (Table{}).Alive(id) {
		t.Error("alive after its end")
	}
}

func TestWatch_killed(t *testing.T) {
	cmd, id, _ := child(t)
	w, err := Table{}.Watch(id)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	ended(t, w)
}

func TestWatch_reusedIdCountsAsEnded(t *testing.T) {
	_, id, _ := child(t)
	id.Start++
	w, err := Table{}.Watch(id)
	if err != nil {
		t.Fatal(err)
	}
	ended(t, w)
	if (Table{}).Alive(id) {
		t.Error("another process is alive in its place")
	}
}

func TestWatch_goneBefore(t *testing.T) {
	w, err := Table{}.Watch(ID{PID: 1 << 22, Start: 1}) // above the kernel's largest id
	if err != nil {
		t.Fatal(err)
	}
	ended(t, w)
}

func TestWatch_closeStopsAndFreesTheDescriptor(t *testing.T) {
	_, id, _ := child(t)
	fds := func() int { l, _ := os.ReadDir("/proc/self/fd"); return len(l) }
	before := fds()
	for range 50 {
		w, err := Table{}.Watch(id)
		if err != nil {
			t.Fatal(err)
		}
		running(t, w)
		w.Close()
		w.Close()
	}
	for deadline := time.Now().Add(time.Minute); fds() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, before %d", fds(), before)
		}
	}
}

func TestWatch_withoutPidfdByPolling(t *testing.T) {
	_, id, stop := child(t)
	w := Table{}.watchByPolling(id, time.Millisecond)
	running(t, w)
	stop()
	ended(t, w)

	_, id, _ = child(t)
	w = Table{}.watchByPolling(id, time.Hour)
	w.Close()
	w.Close()
}

func TestTreeCPU_countsDescendantsAndTheirDead(t *testing.T) {
	table := plant(t, t.TempDir(),
		node{pid: 100, parent: 1, comm: "agent", cpu: [4]int{10, 5, 3, 2}},
		node{pid: 101, parent: 100, comm: "shell", cpu: [4]int{1, 1, 0, 0}},
		node{pid: 102, parent: 101, comm: "compiler", cpu: [4]int{100, 50, 0, 0}},
		node{pid: 200, parent: 1, comm: "stranger", cpu: [4]int{9999, 0, 0, 0}},
		node{pid: 300, parent: 301, comm: "loop", cpu: [4]int{1, 0, 0, 0}},
		node{pid: 301, parent: 300, comm: "loop", cpu: [4]int{1, 0, 0, 0}},
	)
	for pid, want := range map[int]time.Duration{100: 1720 * time.Millisecond, 102: 1500 * time.Millisecond, 300: 20 * time.Millisecond} {
		if got, err := table.TreeCPU(pid); got != want || err != nil {
			t.Errorf("process %d: got %v, %v, want %v", pid, got, err, want)
		}
	}
	if _, err := table.TreeCPU(999); !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
}

func TestTreeCPU_growsWithWorkInAChild(t *testing.T) {
	// The shell counts, its child burns.
	cmd := exec.Command("sh", "-c", "sh -c 'while :; do :; done' & wait")
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { unix.Kill(-cmd.Process.Pid, unix.SIGKILL); cmd.Wait() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		cpu, err := Table{}.TreeCPU(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if cpu >= 50*time.Millisecond {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("only %v used in a minute of burning", cpu)
		}
	}
}

func BenchmarkTreeCPU(b *testing.B) {
	dir := b.TempDir()
	nodes := []node{}
	for i := range 400 {
		nodes = append(nodes, node{pid: 2 + i, parent: 1 + i/4, comm: "p" + strconv.Itoa(i)})
	}
	table := plant(b, dir, nodes...)
	for b.Loop() {
		if _, err := table.TreeCPU(2); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFindOwner(b *testing.B) {
	c := readCases(b)[0]
	table := plant(b, b.TempDir(), c.nodes...)
	for b.Loop() {
		table.FindOwner(900, c.provider, 0)
	}
}
