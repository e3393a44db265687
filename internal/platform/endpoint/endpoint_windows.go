package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// dialTime bounds a dial without a deadline: while every instance of a pipe is
// busy, dialling waits.
const dialTime = 2 * time.Second

// PrepareDir makes the folder, which holds other files of the runtime; the
// pipe itself lives elsewhere and carries its own guard.
func PrepareDir(dir string) error { return os.MkdirAll(dir, 0o700) }

// CheckDir returns nil where the folder exists.
func CheckDir(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// pipe returns the pipe that stands for a socket path. Pipes share one flat
// name space, so the whole path goes into the name.
func pipe(path string) string {
	if strings.HasPrefix(path, `\\.\pipe\`) {
		return path
	}
	sum := sha256.Sum256([]byte(strings.ToLower(filepath.Clean(path))))
	return `\\.\pipe\lidguard-` + hex.EncodeToString(sum[:12])
}

// Dial connects to the runtime at path. Errors match ErrNotRunning or
// ErrUnsafe. The connection's other end is this user's.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	// Anonymous level by default: the server cannot act in our name.
	conn, err := winio.DialPipeContext(ctx, pipe(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("dialling %q: %w (%w)", path, ErrNotRunning, err)
	}
	if err != nil {
		return nil, fmt.Errorf("dialling %q: %w", path, err)
	}
	// Any user may create a pipe of that name before the runtime does.
	if err := checkPeer(conn, windows.GetNamedPipeServerProcessId); err != nil {
		conn.Close()
		return nil, fmt.Errorf("dialling %q: %w", path, err)
	}
	return conn, nil
}

// PeerOf returns the process at the other end of a connection from Accept.
func PeerOf(conn net.Conn) (Peer, error) { return peer(conn, windows.GetNamedPipeClientProcessId) }

// OwnerOf returns the process that listens at the other end of a connection from Dial.
func OwnerOf(conn net.Conn) (Peer, error) { return peer(conn, windows.GetNamedPipeServerProcessId) }

func peer(conn net.Conn, whose func(windows.Handle, *uint32) error) (Peer, error) {
	f, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return Peer{}, fmt.Errorf("connection of type %T has no credentials", conn)
	}
	var pid uint32
	if err := whose(windows.Handle(f.Fd()), &pid); err != nil {
		return Peer{}, fmt.Errorf("asking who is at the other end: %w", err)
	}
	p := Peer{PID: int(pid)}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return p, fmt.Errorf("asking who process %d at the other end is: %w", pid, err)
	}
	defer windows.CloseHandle(h)
	var token windows.Token
	if err := windows.OpenProcessToken(h, windows.TOKEN_QUERY, &token); err != nil {
		return p, fmt.Errorf("asking who process %d at the other end is: %w", pid, err)
	}
	defer token.Close()
	user, err := token.GetTokenUser()
	if err != nil {
		return p, fmt.Errorf("asking who process %d at the other end is: %w", pid, err)
	}
	p.User = user.User.Sid.String()
	return p, nil
}

func self() (string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", fmt.Errorf("asking who we are: %w", err)
	}
	return user.User.Sid.String(), nil
}

func checkPeer(conn net.Conn, whose func(windows.Handle, *uint32) error) error {
	p, err := peer(conn, whose)
	if err != nil {
		return err
	}
	me, err := self()
	if err != nil {
		return err
	}
	if p.User != me {
		return &StrangerError{p}
	}
	return nil
}

// A Listener accepts connections of this user only.
type Listener struct {
	net.Listener

	// Refused, if set before the first Accept, is told of every other user's
	// attempt.
	Refused func(error)
}

// Reached is true: a named pipe cannot be deleted.
func (l *Listener) Reached() bool { return true }

// Listen makes this process the one that is reached at path. Errors match
// ErrInUse.
func Listen(path string) (*Listener, error) {
	me, err := self()
	if err != nil {
		return nil, err
	}
	// Protected, and all rights for this user alone: nobody inherits any. The
	// first instance is created exclusively, which is the lock.
	l, err := winio.ListenPipe(pipe(path), &winio.PipeConfig{SecurityDescriptor: "D:P(A;;GA;;;" + me + ")"})
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("listening on %q: %w (%w)", path, ErrInUse, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", path, err)
	}
	return &Listener{Listener: l}, nil
}

// Accept waits for the next connection of this user. Those of others are
// closed, told to Refused, and otherwise not seen.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		err = checkPeer(conn, windows.GetNamedPipeClientProcessId)
		if err == nil {
			return conn, nil
		}
		conn.Close()
		if l.Refused != nil {
			l.Refused(err)
		}
	}
}
