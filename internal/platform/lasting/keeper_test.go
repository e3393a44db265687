package lasting

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// This test binary also plays the two processes: a runtime that changes a value,
// and its keeper. The roles get everything by arguments.
func TestMain(m *testing.M) {
	switch os.Getenv("LASTING_ROLE") {
	case "runtime":
		if err := playRuntime(os.Args[1], os.Args[2]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	case "keeper":
		s := roleStore(os.Args[1], os.Args[2])
		mark := filepath.Join(os.Args[1], fmt.Sprint(keeperMark, os.Getpid()))
		err := os.WriteFile(mark, nil, 0o600)
		if err == nil {
			err = Keep(context.Background(), s, os.Stdin, os.Stdout)
		}
		if errors.Join(err, os.Remove(mark)) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case "mute": // anything but a keeper
		fmt.Println("hello")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// keeperMark begins the names of files that are there while a keeper lives.
const keeperMark = "keeper-"

func roleStore(dir, owner string) *Store {
	return &Store{Path: filepath.Join(dir, "pending-backup.json"), Values: Files{filepath.Join(dir, "values")}, Owner: owner, Now: time.Now}
}

func keeperOf(t testing.TB, role, dir, owner string) *Keeper {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Keeper{Program: program, Args: []string{dir, owner}, Env: []string{"LASTING_ROLE=" + role}}
}

// playRuntime changes a value behind a keeper, says so, and waits to be killed; a
// line on its standard input makes it leave in order.
func playRuntime(dir, owner string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	k := &Keeper{Program: program, Args: []string{dir, owner}, Env: []string{"LASTING_ROLE=keeper"}}
	if err := k.Ensure(context.Background()); err != nil {
		return err
	}
	s := roleStore(dir, owner)
	if err := s.Change(context.Background(), "disablesleep", "1"); err != nil {
		return err
	}
	fmt.Println("changed")
	bufio.NewReader(os.Stdin).ReadString('\n')
	if err := s.PutBack(context.Background()); err != nil {
		return err
	}
	return k.Close(context.Background())
}

func valuesDir(t *testing.T) string {
	dir := t.TempDir()
	t.Cleanup(func() { // Windows removes no folder that somebody works in
		waitFor(t, "the keepers have ended", func() bool {
			left, err := filepath.Glob(filepath.Join(dir, keeperMark+"*"))
			return err == nil && len(left) == 0
		})
	})
	if err := os.Mkdir(filepath.Join(dir, "values"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "values", "disablesleep"), []byte("the user's own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func startRuntime(t *testing.T, dir, owner string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, dir, owner)
	cmd.Env = []string{"LASTING_ROLE=runtime"}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "changed\n" {
		t.Fatalf("the runtime says %q, %v", line, err)
	}
	return cmd, in
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// restored reports whether the value is the user's own and nothing is pending.
func restored(t *testing.T, dir string) bool {
	t.Helper()
	v, err := Files{filepath.Join(dir, "values")}.Read(t.Context(), "disablesleep")
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(dir, "pending-backup.json"))
	return v == "the user's own" && errors.Is(err, os.ErrNotExist)
}

func TestKeeper_restoresAfterKill(t *testing.T) {
	dir := valuesDir(t)
	cmd, _ := startRuntime(t, dir, "one")
	if restored(t, dir) {
		t.Fatal("the value is not changed while the runtime lives")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	waitFor(t, "the user's value is back and the backup gone", func() bool { return restored(t, dir) })
}

func TestKeeper_orderlyEnd(t *testing.T) {
	dir := valuesDir(t)
	cmd, in := startRuntime(t, dir, "one")
	if _, err := io.WriteString(in, "leave\n"); err != nil {
		t.Fatal(err)
	}
	// It returns only when its keeper is gone.
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !restored(t, dir) {
		t.Error("the value is not back")
	}
}

func TestKeeper_leavesTheSuccessorAlone(t *testing.T) {
	dir := valuesDir(t)
	first, _ := startRuntime(t, dir, "one")
	second, _ := startRuntime(t, dir, "two") // takes the entry over
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	// The first keeper has looked when its lock was taken and given back; what
	// can be seen is that a third hand gets the lock and finds all as it was.
	list, err := roleStore(dir, "test").Pending()
	if err != nil || len(list) != 1 || list[0].Owner != "two" || list[0].Original != "the user's own" {
		t.Fatalf("pending %+v, %v", list, err)
	}
	if err := second.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = second.Wait() // killed
	waitFor(t, "the user's value is back", func() bool { return restored(t, dir) })
}

func TestKeep_ownersAndEnd(t *testing.T) {
	y := newSystem(map[string]string{"sleep": "0"})
	s := testStore(t, y, "one")
	if err := s.Change(t.Context(), "sleep", "1"); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Keep(t.Context(), s.as("other"), strings.NewReader("noise"), &out); err != nil || y.get("sleep") != "1" {
		t.Errorf("a stranger's keeper: %v, value %q", err, y.get("sleep"))
	}
	if out.String() != ready {
		t.Errorf("it said %q", out.String())
	}
	for range 2 {
		if err := Keep(t.Context(), s, strings.NewReader(""), io.Discard); err != nil || y.get("sleep") != "0" {
			t.Errorf("its own: %v, value %q", err, y.get("sleep"))
		}
	}
}

func TestKeeper_ensure(t *testing.T) {
	ctx := t.Context()
	t.Run("one process, and another when it died", func(t *testing.T) {
		k := keeperOf(t, "keeper", valuesDir(t), "one")
		for range 3 {
			if err := k.Ensure(ctx); err != nil {
				t.Fatal(err)
			}
		}
		first := k.done
		k.pipe.Close() // as its death looks from here, without a pid to kill
		<-first
		if err := k.Ensure(ctx); err != nil {
			t.Fatal(err)
		}
		if k.done == first {
			t.Error("no new keeper was started")
		}
		for range 2 {
			if err := k.Close(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a program that is no keeper is not believed", func(t *testing.T) {
		if err := keeperOf(t, "mute", valuesDir(t), "one").Ensure(ctx); err == nil {
			t.Error("Ensure = nil")
		}
		if err := (&Keeper{Program: "/no/such/program"}).Ensure(ctx); err == nil {
			t.Error("Ensure without a program = nil")
		}
		if err := (&Keeper{}).Close(ctx); err != nil {
			t.Errorf("Close of one never started: %v", err)
		}
	})
}
