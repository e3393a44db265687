//go:build unix

package entry

import (
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// bounded reads f until end and fails with errSlowPayload from then on. It asks the
// system whether there is something to read, which costs a call for each read and
// spares a second thread with a timer.
func bounded(f *os.File, end time.Time) (io.Reader, bool) {
	fd := int(f.Fd())
	if fd < 0 {
		return f, true // closed, and says so
	}
	return &patient{f, fd, end}, true
}

type patient struct {
	f   *os.File
	fd  int
	end time.Time
}

func (r *patient) Read(p []byte) (int, error) {
	for {
		left := time.Until(r.end)
		if left <= 0 {
			return 0, errSlowPayload
		}
		ready := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int((left+time.Millisecond-1)/time.Millisecond))
		if n > 0 || err != nil && err != unix.EINTR {
			// What cannot be waited for can be read all the same, or says why not.
			return r.f.Read(p)
		}
	}
}
