package endpoint

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// maxPath is sun_path of unix(4), less the final zero.
const maxPath = 103

func shorten(path string) (short string, done func(), err error) {
	if len(path) > maxPath {
		return "", nil, fmt.Errorf("socket %q has more than %d bytes: %w", path, maxPath, ErrTooLong)
	}
	return path, func() {}, nil
}

func credentials(conn net.Conn) (uid, pid int, err error) {
	err = control(conn, func(fd int) error {
		c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		uid = int(c.Uid)
		// For people only: the process may be gone by now.
		pid, _ = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return nil
	})
	if err != nil {
		return -1, 0, fmt.Errorf("asking who is at the other end: %w", err)
	}
	return uid, pid, nil
}
