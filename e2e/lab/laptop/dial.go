//go:build linux

package laptop

import (
	"context"
	"fmt"
	"net"
	"runtime"

	"golang.org/x/sys/unix"
)

// DialContext connects to a port on the laptop's own 127.0.0.1, from out here.
// It fits [net/http.Transport].
func (l *Laptop) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	ready := make(chan result, 1)
	go func() {
		// Never unlocked, as in Listen: the thread ends with the goroutine.
		runtime.LockOSThread()
		space, err := unix.Open(fmt.Sprintf("/proc/%d/ns/net", l.init), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = unix.Setns(space, unix.CLONE_NEWNET)
			unix.Close(space)
		}
		if err != nil {
			ready <- result{err: fmt.Errorf("entering the laptop's network: %w", err)}
			return
		}
		// An address and not a name, so that no other thread dials for this one.
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		ready <- result{conn, err}
	}()
	r := <-ready
	return r.conn, r.err
}
