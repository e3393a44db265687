package lasting

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
)

// ready is the line by which a keeper says that it watches.
const ready = "keeper ready\n"

// How a keeper goes on when it cannot put a value back: a doubling pause, and an
// end after some ten minutes. The next command, or the next login, tries again.
const (
	retryFirst = time.Second
	retries    = 9
)

// Keep is the keeper's whole life: it says on out that it watches, waits until
// pipe ends, which happens the moment the other side dies however it dies, and
// then puts back what store's owner left changed. Whatever comes through pipe
// means nothing. The error is that of the last try.
func Keep(ctx context.Context, store *Store, pipe io.Reader, out io.Writer) error {
	if _, err := io.WriteString(out, ready); err != nil {
		return fmt.Errorf("keeper: %w", err)
	}
	// An error of the pipe is its end as well.
	_, _ = io.Copy(io.Discard, pipe)
	pause := retryFirst
	for try := 1; ; try++ {
		err := store.PutBack(ctx)
		if err == nil || try == retries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
			pause *= 2
		}
	}
}

// startLimit bounds the start of a keeper.
const startLimit = 5 * time.Second

// Keeper is a runtime's side of its keeper process.
type Keeper struct {
	// Program and Args are the command that runs Keep on its standard input and
	// output; Env is its whole environment.
	Program string
	Args    []string
	Env     []string

	mu   sync.Mutex
	pipe io.Closer     // the end whose closing starts the restore
	done chan struct{} // closed when the process ended; nil before the first
}

// Ensure starts the process where none runs, and returns once it watches. It must
// be called before a lasting value is changed, and may be called any time.
func (k *Keeper) Ensure(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.done != nil {
		select {
		case <-k.done:
			k.pipe.Close()
		default:
			return nil
		}
	}
	cmd := exec.Command(k.Program, k.Args...)
	cmd.Env, cmd.SysProcAttr = k.Env, endpoint.Detached()
	cmd.Dir = "/"
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the keeper: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting the keeper: %w", err)
	}
	if err := cmd.Start(); err != nil {
		pipe.Close()
		return fmt.Errorf("starting the keeper: %w", err)
	}
	said := make(chan string, 1)
	done := make(chan struct{})
	go func() { // ends with the process
		line, _ := bufio.NewReader(out).ReadString('\n') // "" when it ended without a word
		said <- line
		_ = cmd.Wait() // how it ended does not matter: Ensure starts another
		close(done)
	}()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	select {
	case line := <-said:
		if line == ready {
			k.pipe, k.done = pipe, done
			return nil
		}
		err = errors.New("it does not say that it watches")
	case <-ctx.Done():
		err = ctx.Err()
	}
	pipe.Close()
	_ = cmd.Process.Kill() // it has nothing to put back
	return fmt.Errorf("starting the keeper: %w", err)
}

// Close lets the keeper go and waits for its end, at most until ctx ends. A
// second call does nothing.
func (k *Keeper) Close(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.done == nil {
		return nil
	}
	k.pipe.Close() // twice is harmless
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the keeper to end: %w", ctx.Err())
	}
}
