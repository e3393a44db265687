package command

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExec(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs run here are those of Unix systems")
	}
	ctx := t.Context()
	sh := tool(t, "sh")
	x := Exec{Env: []string{"WORD=seen"}}
	t.Run("output and environment", func(t *testing.T) {
		out, err := x.Output(ctx, sh, "-c", "echo $WORD; pwd")
		if err != nil || string(out) != "seen\n/\n" {
			t.Errorf("Output = %q, %v", out, err)
		}
	})
	t.Run("a refusal carries the code and the complaint", func(t *testing.T) {
		out, err := x.Output(ctx, sh, "-c", "echo half; echo no >&2; echo more >&2; exit 3")
		var exit *ExitError
		if !errors.As(err, &exit) || exit.Code != 3 || exit.Stderr != "no" || string(out) != "half\n" {
			t.Errorf("Output = %q, %v", out, err)
		}
	})
	t.Run("a program that is not there is no refusal", func(t *testing.T) {
		_, err := x.Output(ctx, "/no/such/program")
		var exit *ExitError
		if err == nil || errors.As(err, &exit) {
			t.Errorf("Output = %v", err)
		}
		if _, err := x.Start("/no/such/program"); err == nil {
			t.Error("Start worked")
		}
	})
	t.Run("an ended context ends the program", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if _, err := x.Output(ctx, tool(t, "sleep"), "60"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Output = %v", err)
		}
	})
	t.Run("a process is stopped, or seen to end", func(t *testing.T) {
		for _, args := range [][]string{{"-c", "exec sleep 60"}, {"-c", "trap '' TERM; while :; do sleep 0.1; done"}, {"-c", "exit 1"}} {
			p, err := x.Start(sh, args...)
			if err != nil {
				t.Fatal(err)
			}
			if p.PID() <= 0 {
				t.Errorf("pid %d", p.PID())
			}
			p.Stop()
			p.Stop()
			select {
			case <-p.Done():
			default:
				t.Errorf("%q runs on after Stop", args)
			}
		}
	})
}
