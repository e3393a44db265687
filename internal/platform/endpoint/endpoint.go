// Package endpoint is where lidguard's runtime is reached: a Unix socket in a
// folder of the user's own, or a named pipe that only the user may open. In
// comes an address; out comes a connection whose other end is proven to be the
// same user. It knows nothing of what is said over it.
//
// The dialling half is linked into every hook process: keep its imports to the
// standard library's net and what the system needs.
package endpoint

import (
	"errors"
	"fmt"
)

var (
	// ErrNotRunning is matched by Dial where nobody listens.
	ErrNotRunning = errors.New("nobody listens")
	// ErrInUse is matched by Listen where another process listens already.
	ErrInUse = errors.New("already listened on")
	// ErrUnsafe is matched where the folder or the other end is not the user's
	// own, so that somebody else could read along or answer in our place.
	ErrUnsafe = errors.New("not safe to use")
	// ErrTheirs is an ErrUnsafe where the folder is another user's, so that this one
	// cannot put it right.
	ErrTheirs error = theirs{}
	// ErrTooLong is matched where the path does not fit into a socket address.
	ErrTooLong = errors.New("path too long for a socket")
)

// theirs is ErrTheirs. It is no fmt.Errorf, since every hook process would pay for
// that before its first line.
type theirs struct{}

func (theirs) Error() string { return ErrUnsafe.Error() }
func (theirs) Unwrap() error { return ErrUnsafe }

// A Peer is the process at the other end of a connection, as the system tells
// and not as it says itself.
type Peer struct {
	// User is a decimal user id, or a SID on Windows.
	User string
	// PID is 0 where the system does not tell.
	PID int
}

// StrangerError says that a process of another user tried to connect, or
// answered. It matches ErrUnsafe.
type StrangerError struct{ Peer Peer }

func (e *StrangerError) Error() string {
	return fmt.Sprintf("process %d of user %q at the other end: %v", e.Peer.PID, e.Peer.User, ErrUnsafe)
}

func (e *StrangerError) Unwrap() error { return ErrUnsafe }
