//go:build unix

package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// PrepareDir makes the folder of a socket where it is missing, with its
// parents, and checks it as CheckDir does.
func PrepareDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("making the socket's folder: %w", err)
	}
	// Not MkdirAll: an existing one, or a link in its place, is for CheckDir.
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("making the socket's folder: %w", err)
	}
	return CheckDir(dir)
}

// CheckDir returns nil where dir is a real folder of this user that nobody
// else may look into or write to. Errors match ErrUnsafe, or os.ErrNotExist.
func CheckDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("checking the socket's folder: %w", err)
	}
	switch st := info.Sys().(*syscall.Stat_t); {
	case !info.IsDir():
		return fmt.Errorf("%q is a %v, no folder: %w", dir, info.Mode().Type(), ErrUnsafe)
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("folder %q belongs to user %d: %w", dir, st.Uid, ErrTheirs)
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("folder %q has mode %#o instead of 0700: %w", dir, info.Mode().Perm(), ErrUnsafe)
	}
	return nil
}

// Dial connects to the runtime at the socket path. It never waits for long: a
// Unix socket accepts or refuses at once. Errors match ErrNotRunning, ErrUnsafe
// or ErrTooLong. The connection's other end is this user's.
func Dial(ctx context.Context, path string) (net.Conn, error) {
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
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", short)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("dialling %q: %w (%w)", path, ErrNotRunning, err)
	}
	if err != nil {
		return nil, fmt.Errorf("dialling %q: %w", path, err)
	}
	if err := checkPeer(conn, os.Geteuid()); err != nil {
		conn.Close()
		return nil, fmt.Errorf("dialling %q: %w", path, err)
	}
	return conn, nil
}

// PeerOf returns the process at the other end of a connection from Dial or
// Accept.
func PeerOf(conn net.Conn) (Peer, error) {
	uid, pid, err := credentials(conn)
	return Peer{strconv.Itoa(uid), pid}, err
}

// OwnerOf returns the process that listens at the other end of a connection from Dial.
func OwnerOf(conn net.Conn) (Peer, error) { return PeerOf(conn) }

func checkPeer(conn net.Conn, uid int) error {
	p, err := PeerOf(conn)
	if err != nil {
		return err
	}
	if p.User != strconv.Itoa(uid) {
		return &StrangerError{p}
	}
	return nil
}

// control runs f on the connection's descriptor.
func control(conn net.Conn, f func(fd int) error) error {
	if d, ok := conn.(*direct); ok {
		return f(d.fd)
	}
	c, ok := conn.(syscall.Conn)
	if !ok {
		return fmt.Errorf("connection of type %T has no credentials", conn)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// A Listener accepts connections of this user only.
type Listener struct {
	*net.UnixListener
	path string
	file fs.FileInfo // the socket as it was made
	lock *os.File
	uid  int // whose connections are accepted

	// Refused, if set before the first Accept, is told of every other user's
	// attempt.
	Refused func(error)

	once     sync.Once
	closeErr error
}

// Listen makes this process the one that is reached at the socket path. A lock
// beside it decides who that is, so a socket file that a dead runtime left is
// replaced, and a living one's never. Errors match ErrInUse, ErrUnsafe or
// ErrTooLong.
func Listen(path string) (*Listener, error) {
	if err := PrepareDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := acquire(path + ".lock")
	if err != nil {
		return nil, err
	}
	l, err := listenLocked(path)
	if err != nil {
		lock.Close()
		return nil, err
	}
	file, err := os.Lstat(path)
	if err != nil {
		l.Close()
		lock.Close()
		return nil, fmt.Errorf("listening on %q: %w", path, err)
	}
	return &Listener{UnixListener: l, path: path, file: file, lock: lock, uid: os.Geteuid()}, nil
}

// Reached reports whether who dials the path comes here. Somebody may have deleted
// the socket, or its folder; then nobody does.
func (l *Listener) Reached() bool {
	there, err := os.Lstat(l.path)
	// The number of a deleted file is soon another one's.
	return err == nil && os.SameFile(l.file, there) && there.ModTime().Equal(l.file.ModTime())
}

// acquire takes the lock file, which is never deleted: a second process could
// hold the deleted file locked while a third locks a new one.
func acquire(path string) (*os.File, error) {
	// Should somebody delete it all the same, try again on the new file.
	for range 10 {
		fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, fmt.Errorf("opening lock %q: %w", path, err)
		}
		f := os.NewFile(uintptr(fd), path)
		err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("lock %q: %w", path, ErrInUse)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("locking %q: %w", path, err)
		}
		if holds(f, path) {
			return f, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("lock %q is deleted again and again: %w", path, ErrInUse)
}

// holds reports whether the open file is still the one at path.
func holds(f *os.File, path string) bool {
	ours, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(ours, there)
}

func listenLocked(path string) (*net.UnixListener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("looking for an old socket: %w", err)
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("%q is a %v, no socket: %w", path, info.Mode().Type(), ErrUnsafe)
	default:
		// We hold the lock, so its owner is dead.
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("removing an old socket: %w", err)
		}
	}
	short, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", path, err)
	}
	l.SetUnlinkOnClose(false) // Close removes it, while the lock is held
	// The folder alone keeps others out; this is for those who look.
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("listening on %q: %w", path, err)
	}
	return l, nil
}

// Accept waits for the next connection of this user. Those of others are
// closed, told to Refused, and otherwise not seen.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.UnixListener.Accept()
		if err != nil {
			return nil, err
		}
		err = checkPeer(conn, l.uid)
		if err == nil {
			return conn, nil
		}
		conn.Close()
		if l.Refused != nil {
			l.Refused(err)
		}
	}
}

// Close stops listening and removes the socket; the next runtime may begin. A
// second call does nothing.
func (l *Listener) Close() error {
	l.once.Do(func() {
		var err error
		// With the lock file deleted by somebody, another runtime may have taken
		// the name: then the socket there is not ours.
		if holds(l.lock, l.path+".lock") {
			err = os.Remove(l.path)
		}
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		l.closeErr = errors.Join(l.UnixListener.Close(), err, l.lock.Close())
	})
	return l.closeErr
}
