package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Helper is a program that stays and is spoken to over its streams.
type Helper struct {
	// Stdin and Stdout are its ends of the pipes. Closing Stdin asks it to leave.
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd    *exec.Cmd
	family familyOf
	tail   *tail
}

// Serve starts a program that stays. memory bounds what it may use, in bytes, where
// the system can (Linux: setrlimit(2), RLIMIT_DATA of it and what it starts;
// Windows: the job's memory); 0 does not. Spec's Stdin and MaxOutput mean nothing
// here.
func Serve(s Spec, memory uint64) (*Helper, error) {
	h := &Helper{cmd: exec.Command(s.Path, s.Args...), tail: &tail{}}
	h.cmd.Dir, h.cmd.Env, h.cmd.Stderr, h.cmd.WaitDelay = s.Dir, append([]string{}, s.Env...), h.tail, drain
	var err error
	if h.Stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", s.Path, err)
	}
	// Not StdoutPipe, which Wait closes: the last answers may not be read by then.
	r, w, err := os.Pipe()
	if err != nil {
		h.Stdin.Close()
		return nil, fmt.Errorf("starting %s: %w", s.Path, err)
	}
	defer w.Close()
	h.Stdout, h.cmd.Stdout = r, w
	if h.family, err = start(h.cmd, s.Raw); err != nil {
		h.Stdin.Close()
		r.Close()
		return nil, fmt.Errorf("starting %s: %w", s.Path, err)
	}
	h.family.bound(memory)
	return h, nil
}

// Kill ends it and all it started; Wait still has to be called.
func (h *Helper) Kill() { h.family.kill() }

// Wait waits for its end, once. What it left running is ended too. Stdout stays to
// be read and closed. The text is the end of what it wrote to stderr.
func (h *Helper) Wait() (told string, err error) {
	err = h.cmd.Wait()
	h.family.kill()
	return h.tail.String(), err
}

// tail is a writer that keeps the last bytes.
type tail struct{ data []byte }

// tailSize is how many.
const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p[max(0, len(p)-tailSize):]...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.data) }
