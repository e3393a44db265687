package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds one message of a client, in bytes.
const maxLine = 8 << 20

// lastCalls bounds how long calls may still take once the client has closed its end.
const lastCalls = 10 * time.Second

// stdio is the SDK's transport of one message a line, but for two things. A line that
// is no message is answered with an error, where the SDK ends the server, and with it
// every session that was reported by it. And what a client asked for right before it
// closed its end is carried out and answered, where the SDK drops it.
type stdio struct {
	in  io.ReadCloser
	out io.WriteCloser
}

// Connect implements mcp.Transport.
func (t stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	out := &lineWriter{out: t.out}
	in := &sieve{Closer: t.in, in: bufio.NewReader(t.in), out: out}
	c, err := (&mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: -1}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patient{Connection: c, open: map[any]bool{}, answered: make(chan struct{}, 1)}, nil
}

// lineWriter keeps the lines of several writers apart.
type lineWriter struct {
	mu  sync.Mutex
	out io.WriteCloser
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Write(p)
}

func (w *lineWriter) Close() error { return w.out.Close() }

// sieve hands on the lines that are messages and answers the others. A batch, which
// only protocol 2025-03-26 knows, becomes its messages.
type sieve struct {
	io.Closer
	in   *bufio.Reader
	out  io.Writer
	rest []byte // checked and not handed on yet
}

func (s *sieve) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		line, whole, err := s.line()
		switch {
		case err != nil:
			return 0, err
		case !whole:
			err = s.refuse(nil, jsonrpc.CodeParseError, fmt.Errorf("the line is longer than %d bytes", maxLine))
		case len(line) > 0:
			err = s.check(line)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// line reads one line, without blanks around it. One that is too long is read to its
// end and thrown away. An error comes alone.
func (s *sieve) line() (line []byte, whole bool, err error) {
	for whole, read := true, 0; ; {
		part, err := s.in.ReadSlice('\n')
		read += len(part)
		if whole = whole && read <= maxLine; whole {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && read == 0:
			return nil, false, err
		default: // the last line may have no end
			return bytes.TrimSpace(line), whole, nil
		}
	}
}

// check puts what is good of a line into rest.
func (s *sieve) check(line []byte) error {
	if !json.Valid(line) {
		var v any
		return s.refuse(nil, jsonrpc.CodeParseError, json.Unmarshal(line, &v))
	}
	batch := []json.RawMessage{line}
	if line[0] == '[' {
		_ = json.Unmarshal(line, &batch) // it is valid
		if len(batch) == 0 {
			return s.refuse(nil, jsonrpc.CodeInvalidRequest, errors.New("an empty batch"))
		}
	}
	for _, m := range batch {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			if err := s.refuse(m, jsonrpc.CodeInvalidRequest, err); err != nil {
				return err
			}
			continue
		}
		s.rest = append(append(s.rest, m...), '\n')
	}
	return nil
}

// refuse answers message, which may be none, with an error.
func (s *sieve) refuse(message []byte, code int, why error) error {
	var m struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(message, &m) // without an id the answer has none
	switch m.ID.(type) {
	case string, float64:
	default:
		m.ID = nil
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": code, "message": why.Error()}})
	if err == nil {
		_, err = s.out.Write(append(answer, '\n'))
	}
	return err
}

// patient lets the client's last calls end before the server hears that the client
// has closed its end.
type patient struct {
	mcp.Connection
	answered chan struct{} // has something when a call was answered

	mu   sync.Mutex
	open map[any]bool // calls without an answer, by id
}

func (p *patient) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := p.Connection.Read(ctx)
	if err != nil {
		p.wait(ctx)
		return msg, err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		p.set(req.ID, true)
	}
	return msg, nil
}

func (p *patient) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := p.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		p.set(res.ID, false)
		select {
		case p.answered <- struct{}{}:
		default: // one is in there
		}
	}
	return err
}

func (p *patient) set(id jsonrpc.ID, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open {
		p.open[id.Raw()] = true
	} else {
		delete(p.open, id.Raw())
	}
}

func (p *patient) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open) == 0
}

func (p *patient) wait(ctx context.Context) {
	late := time.NewTimer(lastCalls)
	defer late.Stop()
	for !p.idle() {
		select {
		case <-p.answered:
		case <-ctx.Done():
			return
		case <-late.C:
			return
		}
	}
}
