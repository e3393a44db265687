package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
)

// Bounds of the socket. A hook needs one connection for a millisecond; a status
// screen keeps one open.
const (
	maxConns = 64
	// requestLimit is how long a client may take to send its first request,
	// and to take each reply.
	requestLimit = 2 * time.Second
	// idleLimit is how long later requests of a connection may take to come.
	idleLimit = 2 * time.Minute
)

// server takes requests off the socket. Each connection has one goroutine, which
// ends with the connection or with Close.
type server struct {
	listener net.Listener
	version  string
	// handle answers one request; it may be called from many goroutines. nil is
	// no answer: the connection is closed, and the client asks whoever serves next.
	handle func(context.Context, *ipc.Request) *ipc.Reply

	wg sync.WaitGroup

	mu     sync.Mutex // guards conns and closed
	conns  map[net.Conn]struct{}
	closed bool
}

func newServer(l net.Listener, version string, handle func(context.Context, *ipc.Request) *ipc.Reply) *server {
	return &server{listener: l, version: version, handle: handle, conns: map[net.Conn]struct{}{}}
}

// serve accepts connections until the listener is closed. The error says why it
// ended otherwise.
func (s *server) serve(ctx context.Context) error {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			// Out of descriptors, or a peer that went away between connect and
			// accept: neither ends the service.
			if s.isClosed() {
				return nil
			}
			select {
			case <-time.After(50 * time.Millisecond):
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if !s.add(conn) {
			conn.Close() // too many, or closing: the client sees "no answer" and goes on
			continue
		}
		s.wg.Add(1)
		go func() { // waited for by close
			defer s.wg.Done()
			defer s.remove(conn)
			s.talk(ctx, conn)
		}()
	}
}

// talk answers the requests of one connection, one after the other.
func (s *server) talk(ctx context.Context, conn net.Conn) {
	in := ipc.NewReader(conn)
	out := make([]byte, 0, 512)
	for limit := requestLimit; ; limit = idleLimit {
		conn.SetDeadline(time.Now().Add(limit))
		if s.isClosed() {
			return // close may have set its deadline before this one
		}
		line, err := in.Next()
		conn.SetDeadline(time.Now().Add(requestLimit))
		if err != nil {
			if errors.Is(err, ipc.ErrTooLarge) {
				s.reply(conn, out, &ipc.Reply{Error: err.Error()})
				// Closing with unread input resets the connection, and the
				// client would lose the reply that says why.
				io.CopyN(io.Discard, conn, 4*ipc.MaxMessage)
			}
			return
		}
		req := new(ipc.Request)
		if err := json.Unmarshal(line, req); err != nil {
			s.reply(conn, out, &ipc.Reply{Error: "the request is no valid message"})
			return
		}
		var reply *ipc.Reply
		if req.Protocol != ipc.Protocol {
			reply = &ipc.Reply{Error: fmt.Sprintf("this runtime (version %s) speaks protocol %d, the request protocol %d", s.version, ipc.Protocol, req.Protocol)}
		} else {
			reply = s.handle(ctx, req)
		}
		if reply == nil || s.reply(conn, out, reply) != nil || ctx.Err() != nil {
			return
		}
	}
}

func (s *server) reply(conn net.Conn, buf []byte, r *ipc.Reply) error {
	r.Protocol, r.Version = ipc.Protocol, s.version
	conn.SetWriteDeadline(time.Now().Add(requestLimit)) // a helper may have taken long
	msg, err := ipc.AppendReply(buf[:0], r)
	if err != nil {
		return err
	}
	if len(msg) > ipc.MaxMessage {
		msg, err = ipc.AppendReply(buf[:0], &ipc.Reply{Protocol: ipc.Protocol, Version: s.version,
			Error: fmt.Sprintf("the reply has %d bytes, more than a message may have", len(msg))})
		if err != nil {
			return err
		}
	}
	return ipc.WriteMessage(conn, msg)
}

// add takes conn in, unless there are too many already or the server closes.
func (s *server) add(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= maxConns {
		return false
	}
	s.conns[conn] = struct{}{}
	return true
}

func (s *server) remove(conn net.Conn) {
	conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

func (s *server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// stop stops listening; connections go on.
func (s *server) stop() { s.listener.Close() }

// close stops listening, lets requests that were already read get their reply,
// and ends every connection. It may be called twice.
func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	for conn := range s.conns {
		// Wakes a reader that waits for a next request; a reply being written
		// has a deadline of its own.
		conn.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	s.listener.Close()
	s.wg.Wait()
}
