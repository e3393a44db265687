//go:build unix

package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// DialDirect is Dial for a process that asks one thing and is gone: its connection
// blocks in the system's own calls, bounded by the system's own clock, and so spares
// the set-up of Go's poller and the threads that look after it. Of ctx only the
// deadline counts. The connection is for one goroutine, and Close wakes no call that
// is under way.
func DialDirect(ctx context.Context, path string) (net.Conn, error) {
	if err := CheckDir(filepath.Dir(path)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("dialling %q: %w", path, ErrNotRunning)
		}
		return nil, err
	}
	short, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("dialling %q: %w", path, os.NewSyscallError("socket", err))
	}
	c := &direct{fd: fd, path: path}
	c.end, _ = ctx.Deadline()
	_, err = c.again(syscall.SO_SNDTIMEO, func() (int, error) {
		err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: short})
		if err == syscall.EISCONN { // an interrupted one went through
			err = nil
		}
		return 0, err
	})
	if err == nil {
		err = checkPeer(c, os.Geteuid())
	}
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w (%w)", ErrNotRunning, err)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("dialling %q: %w", path, err)
	}
	return c, nil
}

// direct is a connection on a blocking descriptor.
type direct struct {
	fd   int // -1 once closed
	path string
	end  time.Time // zero: no limit
}

// again makes a call that the system bounds by option, SO_RCVTIMEO or SO_SNDTIMEO,
// until no signal interrupts it.
func (c *direct) again(option int, call func() (int, error)) (int, error) {
	if c.fd < 0 {
		return 0, net.ErrClosed
	}
	for {
		var left time.Duration // 0: no limit
		if !c.end.IsZero() {
			if left = time.Until(c.end); left <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			left = max(left, time.Microsecond)
		}
		limit := syscall.NsecToTimeval(int64(left))
		if err := syscall.SetsockoptTimeval(c.fd, syscall.SOL_SOCKET, option, &limit); err != nil {
			return 0, os.NewSyscallError("setsockopt", err)
		}
		n, err := call()
		switch err {
		case syscall.EINTR, syscall.EAGAIN: // EAGAIN: the limit is over, or nearly
			continue
		case nil:
			return n, nil
		}
		return 0, err
	}
}

func (c *direct) Read(p []byte) (int, error) {
	n, err := c.again(syscall.SO_RCVTIMEO, func() (int, error) { return syscall.Read(c.fd, p) })
	if err == nil && n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

func (c *direct) Write(p []byte) (done int, err error) {
	for done < len(p) && err == nil {
		var n int
		n, err = c.again(syscall.SO_SNDTIMEO, func() (int, error) { return syscall.Write(c.fd, p[done:]) })
		done += n
	}
	return done, err
}

func (c *direct) Close() error {
	if c.fd < 0 {
		return net.ErrClosed
	}
	fd := c.fd
	c.fd = -1
	return syscall.Close(fd)
}

func (c *direct) LocalAddr() net.Addr                { return &net.UnixAddr{Net: "unix"} }
func (c *direct) RemoteAddr() net.Addr               { return &net.UnixAddr{Name: c.path, Net: "unix"} }
func (c *direct) SetDeadline(t time.Time) error      { c.end = t; return nil }
func (c *direct) SetReadDeadline(t time.Time) error  { return c.SetDeadline(t) }
func (c *direct) SetWriteDeadline(t time.Time) error { return c.SetDeadline(t) }
