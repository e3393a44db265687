package proc

import (
	"fmt"
	"sync"

	"golang.org/x/sys/windows"
)

func (t Table) watch(id ID) (*Watch, error) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE|windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(id.PID))
	if err == windows.ERROR_INVALID_PARAMETER {
		return endedWatch(), nil // no such process
	}
	if err != nil {
		return nil, fmt.Errorf("watching process %d: %w", id.PID, err)
	}
	// The handle stays with its process, so a start time that matches now is
	// proof.
	if start, _, err := times(h); err != nil || start != id.Start || !running(h) {
		windows.CloseHandle(h)
		return endedWatch(), nil
	}
	stop, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		windows.CloseHandle(h)
		return nil, fmt.Errorf("watching process %d: %w", id.PID, err)
	}
	var mu sync.Mutex
	open := true
	w := newWatch(func() {
		mu.Lock()
		defer mu.Unlock()
		if open {
			windows.SetEvent(stop)
		}
	})
	// Ends with the process, or by Close.
	go func() {
		r, err := windows.WaitForMultipleObjects([]windows.Handle{h, stop}, false, windows.INFINITE)
		mu.Lock()
		open = false
		windows.CloseHandle(stop)
		windows.CloseHandle(h)
		mu.Unlock()
		if err == nil && r == windows.WAIT_OBJECT_0 {
			w.finish()
		}
	}()
	return w, nil
}
