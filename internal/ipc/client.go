package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"github.com/lidguard-go/lidguard/internal/deadline"
	"github.com/lidguard-go/lidguard/internal/platform/endpoint"
)

// Default time limits of a Client. A runtime on the same machine answers in well
// under a millisecond; these only bound one that hangs. Guessed, not measured:
// together with reading stdin they must stay below the second that a hook may
// take in all.
const (
	DialTimeout = 150 * time.Millisecond
	CallTimeout = 500 * time.Millisecond
)

// ErrNotRunning is matched by the error of a call when nothing listens on the
// socket.
var ErrNotRunning = errors.New("no runtime answers")

// ErrHungUp is matched by the error of a call whose connection ended before the
// reply: the runtime died or was leaving at that moment. Whether it took the
// request is not known; asking again is harmless for signals.
var ErrHungUp = errors.New("the runtime hung up")

// ErrUnsafe is matched by the error of a call where the socket or its folder is not
// the user's own alone, so that nothing is said there; ErrTheirs where the folder
// is another user's.
var ErrUnsafe, ErrTheirs = endpoint.ErrUnsafe, endpoint.ErrTheirs

// ProtocolError says that the runtime speaks another message format.
type ProtocolError struct {
	Theirs  int
	Version string // the runtime's program version
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the runtime (version %q) speaks protocol %d, this program %d", e.Version, e.Theirs, Protocol)
}

// RefusedError is the runtime's own refusal of a request.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return "the runtime refuses: " + e.Text }

// Client talks to the runtime of one user. It may be used from many goroutines;
// each call has a connection of its own.
type Client struct {
	// Dial connects to the runtime's socket; it must end when its context does.
	Dial func(context.Context) (net.Conn, error)
	// Version is this program's, see Version.
	Version string
	// DialTimeout and CallTimeout bound connecting and one exchange; 0 means
	// the defaults above.
	DialTimeout, CallTimeout time.Duration
}

// Owner is the process id of the runtime at the socket, whether or not it answers; 0
// where nothing listens or the system does not tell.
func (c *Client) Owner(ctx context.Context) int {
	ctx, cancel := deadline.In(ctx, or(c.DialTimeout, DialTimeout))
	defer cancel()
	conn, err := c.Dial(ctx)
	if err != nil {
		return 0
	}
	defer conn.Close()
	owner, err := endpoint.OwnerOf(conn)
	if err != nil {
		return 0
	}
	return owner.PID
}

// Call sends one request and returns the reply to it. Protocol and Version of req
// are filled in. An error matches ErrNotRunning when there is no runtime,
// *ProtocolError when it is of another protocol, *RefusedError when it said no.
func (c *Client) Call(ctx context.Context, req *Request) (*Reply, error) {
	conn, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.Call(ctx, req)
}

// Connect opens a connection for several calls. The caller closes it.
func (c *Client) Connect(ctx context.Context) (*Conn, error) {
	limit := or(c.DialTimeout, DialTimeout)
	dialing, cancel := deadline.In(ctx, limit)
	defer cancel()
	conn, err := c.Dial(dialing)
	if errors.Is(err, endpoint.ErrUnsafe) || errors.Is(err, fs.ErrPermission) || err != nil && dialing.Err() != nil {
		// A folder that is not the user's own or may not be entered, or a runtime
		// too busy to accept: starting another one would help with none of them.
		return nil, fmt.Errorf("reaching the runtime: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	return &Conn{conn: conn, in: NewReader(conn), version: c.Version, limit: or(c.CallTimeout, CallTimeout)}, nil
}

// Conn is one connection to the runtime, for one goroutine.
type Conn struct {
	conn    net.Conn
	in      *Reader
	version string
	limit   time.Duration
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Call is Client.Call on this connection. After an error other than
// *RefusedError the connection is of no further use.
func (c *Conn) Call(ctx context.Context, req *Request) (*Reply, error) {
	deadline := time.Now().Add(c.limit)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, fmt.Errorf("asking the runtime: %w", err)
	}
	req.Protocol, req.Version = Protocol, c.version
	msg := AppendRequest(make([]byte, 0, 1024), req)
	if err := WriteMessage(c.conn, msg); err != nil {
		return nil, fmt.Errorf("asking the runtime: %w", hungUp(err))
	}
	line, err := c.in.Next()
	if err != nil {
		return nil, fmt.Errorf("reading the runtime's reply: %w", hungUp(err))
	}
	reply, err := decodeReply(line, req.Op)
	if err != nil {
		return nil, fmt.Errorf("reading the runtime's reply: %w", err)
	}
	if reply.Protocol != Protocol {
		return reply, &ProtocolError{Theirs: reply.Protocol, Version: reply.Version}
	}
	if !reply.OK {
		return reply, &RefusedError{Text: reply.Error}
	}
	return reply, nil
}

// hungUp makes err match ErrHungUp unless it is our own deadline.
func hungUp(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrHungUp, err)
}

func or(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}
