package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// MaxBodies is how many bodies a resident hook runs at once, those that overran
// their deadline and have not ended yet included. With that many under way a
// request waits until its deadline for one to end.
const MaxBodies = 16

// Serve is a resident hook program: it answers one request after another, a line
// of JSON each, until standard input ends, and then ends the process. The
// protocol is in docs/resident.md. The roles are those of Main; bodies run beside
// each other, so body must be safe for that.
//
// What is said of os.Stdout and panics at Main holds here as well, except that a
// panic outside of body ends the helper, and the runtime starts it again.
func Serve(body Body, opts ...Option) {
	stdout := seam()
	if err := ServeOn(context.Background(), os.Stdin, stdout, body, append(named(opts), within(os.Getenv))...); err != nil {
		fmt.Fprintln(os.Stderr, "serving:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// ServeOn is Serve on streams of the caller's. It returns nil when stdin ends and
// every answer is written, ctx's error when ctx ends first, and an error when
// stdin or stdout breaks. A Read that is under way when ctx ends is left behind.
func ServeOn(ctx context.Context, stdin io.Reader, stdout io.Writer, body Body, opts ...Option) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{config: configure(body, opts), out: stdout, fail: cancel, slots: make(chan struct{}, MaxBodies)}
	ended := make(chan error, 1)
	go func() { // ends with stdin, or with the process
		err := s.read(ctx, stdin)
		s.running.Wait() // each has a deadline
		ended <- err
	}()
	select {
	case err := <-ended:
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type server struct {
	*config
	fail    context.CancelCauseFunc
	running sync.WaitGroup
	slots   chan struct{} // one for each body that runs

	mu  sync.Mutex // guards out: one line is one write
	out io.Writer
}

// read takes requests until stdin ends.
func (s *server) read(ctx context.Context, stdin io.Reader) error {
	in := bufio.NewReaderSize(stdin, 64<<10)
	for ctx.Err() == nil {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errLong):
			s.say(reply{err: err})
			continue
		case len(line) > 0:
			s.request(ctx, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading requests: %w", err)
		}
	}
	return nil
}

// errLong: the rest of such a line was skipped.
var errLong = fmt.Errorf("a request longer than %d bytes", MaxPayload)

// readLine returns the next line without its end. A last line without one counts.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		long := len(line)+len(part) > MaxPayload+1
		if !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && !long:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			return nil, errLong
		case long:
			return nil, errLong
		}
		for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		return line, err
	}
}

// reply is one line of ours.
type reply struct {
	id      []byte // as the request spelled it; nil is said as null
	verdict Verdict
	err     error
}

func (s *server) say(r reply) {
	var w jsontext.Writer
	if r.id == nil {
		r.id = []byte("null")
	}
	w.Raw("id", r.id)
	if r.err != nil {
		w.Text("error", r.err.Error())
	} else {
		text, err := json.Marshal(r.verdict)
		if err != nil {
			w.Text("error", err.Error())
		} else {
			w.Raw("verdict", text)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(append(w.Bytes(), '\n')); err != nil {
		s.fail(fmt.Errorf("writing an answer: %w", err))
	}
}

// request reads one line and answers it, at once or later.
func (s *server) request(ctx context.Context, line []byte) {
	var id, payload []byte
	provider, native, after := s.provider, s.event, int64(0)
	err := jsontext.Object(line, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			if kind := jsontext.Kind(value); kind == "number" || kind == "string" {
				id = value
			}
		case "provider":
			text, _ := jsontext.String(value)
			provider = Provider(text)
		case "native":
			if text, _ := jsontext.String(value); text != "" {
				native = text
			}
		case "event":
			payload = value
		case "deadline_ms":
			after, _ = jsontext.Int(value)
		}
		return true
	})
	switch {
	case err != nil:
		err = fmt.Errorf("a request that is no JSON object: %w", err)
	case id == nil:
		err = errors.New(`a request without an "id"`)
	case payload == nil || jsontext.Kind(payload) == "null": // OpenCode's events with keys are not kept
		err = errors.New(`a request without an "event"`)
	}
	if provider == "" {
		provider, _ = guess(payload)
	}
	codec := codecOf(provider)
	if err == nil && codec == nil {
		err = fmt.Errorf("no provider %q; known are %s", provider, known())
	}
	if err != nil {
		s.report(err)
		s.say(reply{id: id, err: err})
		return
	}
	ev, err := decode(codec, payload, native, s.env)
	if err != nil {
		s.report(err)
		v := s.closed(&ev, err)
		if s.role == Gate && ev.Name == "" { // what it would let through nobody knows
			v = Verdict{Decision: Denied, Reason: s.refusal(err), Rule: failedRule}
		}
		s.say(reply{id: id, verdict: v})
		return
	}
	limit := s.limit(ev.Name)
	if after > 0 && (s.deadline <= 0 || time.Duration(after)*time.Millisecond < limit) {
		limit = time.Duration(min(after, int64(time.Hour/time.Millisecond))) * time.Millisecond
	}
	s.run(ctx, id, &ev, limit)
}

// run answers one request in a goroutine of its own, which ends at the limit. It
// returns when a body could be started, so that requests cannot pile up.
func (s *server) run(ctx context.Context, id []byte, ev *event.Event, limit time.Duration) {
	began := time.Now()
	if !s.slot(ctx, limit) {
		if ctx.Err() == nil {
			err := fmt.Errorf("%d bodies are under way", MaxBodies)
			s.report(err)
			s.say(reply{id: id, verdict: s.closed(ev, err)})
		}
		return
	}
	bound := *s.config
	body := s.body
	bound.body = func(ctx context.Context, e Event) Verdict {
		defer func() { <-s.slots }() // also behind the deadline
		return body(ctx, e)
	}
	s.running.Go(func() {
		v := bound.answer(ctx, ev, max(limit-time.Since(began), time.Millisecond))
		if s.role == Observer {
			v = Verdict{}
		}
		s.say(reply{id: id, verdict: v})
	})
}

// slot waits until a body may run, and tells whether one may.
func (s *server) slot(ctx context.Context, limit time.Duration) bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
