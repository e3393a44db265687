package proc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// stopIdent is the EVFILT_USER event by which Close ends the wait.
const stopIdent = 1

func (t Table) watch(id ID) (*Watch, error) {
	kq, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("watching process %d: %w", id.PID, err)
	}
	unix.CloseOnExec(kq)
	var stop, exit unix.Kevent_t
	unix.SetKevent(&stop, stopIdent, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR)
	unix.SetKevent(&exit, id.PID, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	exit.Fflags = unix.NOTE_EXIT
	_, err = unix.Kevent(kq, []unix.Kevent_t{stop, exit}, nil, nil)
	// Only after the note is placed does a matching start time mean that it was
	// placed on the right process.
	if errors.Is(err, unix.ESRCH) || err == nil && !t.Alive(id) {
		unix.Close(kq)
		return endedWatch(), nil
	}
	if err != nil {
		unix.Close(kq)
		return nil, fmt.Errorf("watching process %d: %w", id.PID, err)
	}
	trigger := stop
	trigger.Flags, trigger.Fflags = 0, unix.NOTE_TRIGGER
	gone := make(chan struct{}) // closed before kq is, so that a Close never hits a new file
	w := newWatch(nil)
	w.stop = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		select {
		case <-gone:
		default:
			unix.Kevent(kq, []unix.Kevent_t{trigger}, nil, nil)
		}
	}
	// Ends with the process, or by Close.
	go func() {
		events := make([]unix.Kevent_t, 1)
		n, err := unix.Kevent(kq, nil, events, nil)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Kevent(kq, nil, events, nil)
		}
		w.mu.Lock()
		close(gone)
		unix.Close(kq)
		w.mu.Unlock()
		if n == 1 && events[0].Filter == unix.EVFILT_PROC {
			w.finish()
		}
	}()
	return w, nil
}
