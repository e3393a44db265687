// Package child runs a program to its end together with everything that it
// starts. In come an absolute path, arguments, a folder, an environment and a
// bound on time and output; out go the exit code and both streams. It searches no
// path and decides nothing. When time is up nothing of the program's is left
// running: a process group on Unix (setpgid(2)), a job object on Windows.
package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Spec is what to run.
type Spec struct {
	Path  string   // absolute
	Args  []string // without the program itself
	Dir   string   // absolute
	Env   []string // the whole environment
	Stdin []byte
	// Open leaves standard input open behind Stdin until the program has ended.
	Open      bool
	MaxOutput int // bytes of each stream that are kept
	// Raw is the command line as Windows hands it over, where quoting by the usual
	// rules would be wrong (cmd /c); empty elsewhere.
	Raw string
}

// Result is how it ended.
type Result struct {
	Code           int    // -1 where a signal ended it
	Signal         string // that signal by number and name, "" where none did
	Stdout, Stderr []byte
	Cut            bool // output was dropped
	Late           bool // ctx ended first, and it was killed
}

// drain is how long output may still come after the program itself has ended: what
// it left running may hold the pipe open.
const drain = 100 * time.Millisecond

// Run starts the program and returns when it has ended or ctx has. The error is
// for programs that could not be started; fs.ErrNotExist where there is none.
func Run(ctx context.Context, s Spec) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{Code: -1, Late: true}, nil
	}
	var stdout, stderr keep
	stdout.left, stderr.left = s.MaxOutput, s.MaxOutput
	cmd := exec.Command(s.Path, s.Args...)
	cmd.Dir, cmd.Env = s.Dir, append([]string{}, s.Env...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, drain
	switch {
	case s.Open:
		r, w, err := os.Pipe()
		if err != nil {
			return Result{}, fmt.Errorf("starting %s: %w", s.Path, err)
		}
		defer r.Close()
		defer w.Close()
		cmd.Stdin = r
		go func() { _, _ = w.Write(s.Stdin) }() // ends with the pipe at the latest
	case s.Stdin != nil:
		cmd.Stdin = bytes.NewReader(s.Stdin)
	}
	family, err := start(cmd, s.Raw)
	if err != nil {
		return Result{}, fmt.Errorf("starting %s: %w", s.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the program, which ends with ctx
	late := false
	select {
	case err = <-ended:
	case <-ctx.Done():
		late = true
		family.kill()
		err = <-ended
	}
	family.kill() // what it left running
	r := Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.data, Stderr: stderr.data, Cut: stdout.cut || stderr.cut, Late: late}
	if !late {
		r.Signal = signalOf(cmd.ProcessState)
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && !errors.Is(err, exec.ErrWaitDelay) && !late {
		return r, fmt.Errorf("running %s: %w", s.Path, err)
	}
	return r, nil
}

// keep is a writer that keeps the first bytes and takes all.
type keep struct {
	data []byte
	left int
	cut  bool
}

func (k *keep) Write(p []byte) (int, error) {
	n := min(len(p), k.left)
	k.data, k.left = append(k.data, p[:n]...), k.left-n
	k.cut = k.cut || n < len(p)
	return len(p), nil
}
