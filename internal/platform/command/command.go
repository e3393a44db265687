// Package command runs the programs that a system offers for what it has no
// call for. In come absolute paths and arguments; out goes what a program
// printed, or how it ended. It runs no shell, searches no path, and hands no
// terminal on: what would ask a person a question fails instead.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A Runner runs programs; tests replace it. It must be safe for use from several
// goroutines.
type Runner interface {
	// Output runs the program at path to its end and returns its standard
	// output. It must end the program when ctx ends. A program that ran and did
	// not exit with 0 is an *ExitError, and its output is returned all the same.
	Output(ctx context.Context, path string, args ...string) ([]byte, error)
	// Start starts a program that goes on by itself.
	Start(path string, args ...string) (Process, error)
}

// A Process is a program that was started.
type Process interface {
	PID() int
	// Done is closed when the process has ended, for whatever reason.
	Done() <-chan struct{}
	// Stop ends the process and returns when it is gone. A second call, or one
	// after its end, does nothing.
	Stop()
}

// An ExitError is a program that ran and said no.
type ExitError struct {
	Path string
	Code int // -1 where a signal ended it
	// Stderr is the first line of what it complained about.
	Stderr string
}

// Error says which program ended how.
func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("%s exits with %d", e.Path, e.Code)
	}
	return fmt.Sprintf("%s exits with %d: %q", e.Path, e.Code, e.Stderr)
}

// Exec is the Runner of the real system.
type Exec struct {
	// Env is the whole environment of the programs; nil is an empty one.
	Env []string
}

// System runs a system's own programs with what they need and no more: no
// variable of a person or an agent changes what they do, and they speak English.
func System() Exec { return Exec{Env: []string{"LC_ALL=C", "PATH=/usr/bin:/bin:/usr/sbin:/sbin"}} }

// stopTime is how long a process may take to end by itself before it is killed.
const stopTime = time.Second

// Output runs a program; see Runner.
func (x Exec) Output(ctx context.Context, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Dir = append([]string{}, x.Env...), "/"
	cmd.WaitDelay = stopTime // a child of its own may keep its output open
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if ctx.Err() != nil {
		return out.Bytes(), fmt.Errorf("running %s: %w", path, ctx.Err())
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.Bytes(), &ExitError{Path: path, Code: exit.ExitCode(), Stderr: firstLine(complaint.String())}
	}
	if err != nil {
		return out.Bytes(), fmt.Errorf("running %s: %w", path, err)
	}
	return out.Bytes(), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line[:min(len(line), 300)]
}

// Start starts a program; see Runner.
func (x Exec) Start(path string, args ...string) (Process, error) {
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = append([]string{}, x.Env...), "/"
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() { // ends with the process
		_ = cmd.Wait() // how it ended does not matter, that it did does
		close(p.done)
	}()
	return p, nil
}

type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func (p *process) PID() int              { return p.cmd.Process.Pid }
func (p *process) Done() <-chan struct{} { return p.done }

func (p *process) Stop() {
	// Windows knows no such signal; there the kill below ends it.
	if p.cmd.Process.Signal(syscall.SIGTERM) == nil {
		select {
		case <-p.done:
			return
		case <-time.After(stopTime):
		}
	}
	_ = p.cmd.Process.Kill() // an error says that it has ended
	<-p.done
}
