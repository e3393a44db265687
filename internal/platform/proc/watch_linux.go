package proc

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fallbackPoll is how often a process is looked at where the kernel has no
// pidfd (before 5.3, or refused by a sandbox).
const fallbackPoll = 2 * time.Second

func (t Table) watch(id ID) (*Watch, error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		return endedWatch(), nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		return t.watchByPolling(id, fallbackPoll), nil
	case err != nil:
		return nil, fmt.Errorf("watching process %d: %w", id.PID, err)
	}
	// Only now: the descriptor stays with the process it was opened for, so an
	// id that still matches afterwards is the right one.
	if !t.Alive(id) {
		unix.Close(fd)
		return endedWatch(), nil
	}
	// Non-blocking, the runtime's poller takes it, and waiting costs no thread.
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("watching process %d: %w", id.PID, err)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("watching process %d: %w", id.PID, err)
	}
	w := newWatch(func() { file.Close() })
	// Ends with the process, or by Close through the closed file.
	go func() {
		err := raw.Read(func(fd uintptr) bool {
			// A pidfd cannot be read; it is readable when the process ended.
			p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(p, 0)
			return err == nil && n > 0
		})
		if err == nil {
			w.finish()
			file.Close()
		}
	}()
	return w, nil
}

func (t Table) watchByPolling(id ID, every time.Duration) *Watch {
	stop := make(chan struct{})
	w := newWatch(func() { close(stop) })
	// Ends with the process, or by Close.
	go func() {
		for t.Alive(id) {
			select {
			case <-stop:
				return
			case <-time.After(every):
			}
		}
		w.finish()
	}()
	return w
}
