package endpoint

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxPath is sun_path of unix(7), less the final zero.
const maxPath = 107

// shorten returns a name for path that fits into a socket address: a long one
// is reached through a descriptor of its folder, until done is called.
func shorten(path string) (short string, done func(), err error) {
	if len(path) <= maxPath {
		return path, func() {}, nil
	}
	fd, err := syscall.Open(filepath.Dir(path), unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, fmt.Errorf("opening the socket's folder: %w", err)
	}
	short = "/proc/self/fd/" + strconv.Itoa(fd) + "/" + filepath.Base(path)
	if len(short) > maxPath {
		syscall.Close(fd)
		return "", nil, fmt.Errorf("socket name %q: %w", filepath.Base(path), ErrTooLong)
	}
	return short, func() { syscall.Close(fd) }, nil
}

func credentials(conn net.Conn) (uid, pid int, err error) {
	err = control(conn, func(fd int) error {
		c, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
		if err == nil {
			uid, pid = int(c.Uid), int(c.Pid)
		}
		return err
	})
	if err != nil {
		return -1, 0, fmt.Errorf("asking who is at the other end: %w", err)
	}
	return uid, pid, nil
}
