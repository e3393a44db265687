// Package resident keeps the helper programs that stay in the runtime and answer
// many events, over lines of JSON (docs/resident.md). In come a helper's Spec and a
// question, out comes the helper's verdict as it wrote it, or an error. It starts a
// helper with its first question and stops it when nobody asks any more; it bounds
// how many there are, how much they may use and write, and how long an answer may
// take; it restarts those that die, at growing intervals. It judges nothing, reads
// no rulebook, and at rest it has one timer for each helper that lives.
package resident

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of helpers.
const (
	// MaxHelpers is how many live at once.
	MaxHelpers = 16
	// MaxUnderWay is how many questions one helper is asked at once.
	MaxUnderWay = 16
	// MaxLine bounds a line, either way, in bytes.
	MaxLine = 8 << 20
	// MaxMemory is what one helper may use, where the system can bound it.
	MaxMemory = 1 << 30
	// IdleLife is how long a helper stays that nobody asks.
	IdleLife = 10 * time.Minute
	// MaxLate is how many answers in a row may be late before a helper is restarted.
	MaxLate = 3
)

// Times of restarting and leaving. firstPause doubles with every end that no good
// answer came before, up to maxPause.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = time.Minute
	// grace is how long a helper may take to leave by itself.
	grace = time.Second
	// drain is how long the last answers of a process that ended may take to read.
	drain = 100 * time.Millisecond
)

// ErrRefused is matched by errors of questions that no helper was asked: there are
// too many helpers or questions, the helper could not be started or has just died.
// Whoever asked can run the program once instead.
var ErrRefused = errors.New("not asked")

// Spec is a helper. Equal ones are the same helper.
type Spec struct {
	Name string
	Path string // absolute
	Args []string
	Dir  string // absolute
	// Raw is the command line as Windows hands it over, where quoting by the usual
	// rules would be wrong; see child.Spec.
	Raw string
}

// key is what makes two specs equal.
func (s *Spec) key() string {
	return strings.Join(slices.Concat([]string{s.Name, s.Dir, s.Raw, s.Path}, s.Args), "\x00")
}

// Question is one event for a helper.
type Question struct {
	Provider string
	Native   string
	Event    json.RawMessage // the client's payload
}

// Process is a program that was started; see child.Helper.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.ReadCloser
	// Kill ends it with all it started. It is not called after Wait returned.
	Kill()
	// Wait returns when it has ended; told is the end of what it wrote to stderr.
	Wait() (told string, err error)
}

// run is one life of a helper.
type run struct {
	Process
	queue chan []byte // lines for it; nil asks it to leave
	read  chan struct{}
	gone  chan struct{}

	mu    sync.Mutex // guards what is below; taken after Pool.mu
	ended bool
	grace *time.Timer
}

// kill ends it, unless it has ended: its number may be another's by then.
func (r *run) kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.Kill()
	}
}

// wait waits for the process and then for its reader, which a stranger that holds
// the pipe cannot keep.
func (r *run) wait() (told string, err error) {
	told, err = r.Wait()
	r.mu.Lock()
	r.ended = true
	if r.grace != nil {
		r.grace.Stop()
	}
	r.mu.Unlock()
	late := time.AfterFunc(drain, func() { r.Stdout().Close() })
	<-r.read
	late.Stop()
	r.Stdout().Close()
	close(r.gone)
	return told, err
}

// Pool is all helpers. It may be used from many goroutines.
type Pool struct {
	// Start starts a helper's program.
	Start func(Spec) (Process, error)
	// Log is told of starts and ends; nil: nobody is.
	Log func(text string, args ...any)

	running sync.WaitGroup // goroutines of helpers, which end with them

	mu      sync.Mutex // guards what is below and all of helper
	helpers map[string]*helper
	closed  bool
}

// helper is one Spec with its process, if it has one.
type helper struct {
	spec    Spec
	run     *run // nil: it does not run
	waiting map[int64]chan reply
	id      int64
	late    int // answers in a row that came too late or not at all
	idle    *time.Timer
	used    time.Time

	pause time.Duration // before the next start; 0 after a good answer
	rest  time.Time     // no start before
}

type reply struct {
	verdict []byte
	err     error
}

// Ask asks a helper and returns its verdict as JSON. It ends with ctx, whose
// deadline the helper is told. The error matches ErrRefused where the helper was
// not asked; any other is the helper's failure.
func (p *Pool) Ask(ctx context.Context, s Spec, q Question) (verdict []byte, err error) {
	left := time.Hour
	if d, ok := ctx.Deadline(); ok {
		left = time.Until(d)
	}
	if left <= 0 {
		return nil, context.DeadlineExceeded
	}
	h, answer, id, err := p.put(s, q, left)
	if err != nil {
		return nil, err
	}
	select {
	case r := <-answer:
		return r.verdict, r.err
	case <-ctx.Done():
		p.missed(h, id)
		return nil, fmt.Errorf("helper %q gave no answer in time", s.Name)
	}
}

// put hands a question to the helper's process, which it starts if need be.
func (p *Pool) put(s Spec, q Question, left time.Duration) (*helper, chan reply, int64, error) {
	var payload bytes.Buffer
	if err := json.Compact(&payload, q.Event); err != nil { // a line feed in it would be two lines
		return nil, nil, 0, fmt.Errorf("the event is no JSON: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	h, err := p.helperLocked(s)
	if err != nil {
		return nil, nil, 0, err
	}
	if len(h.waiting) >= MaxUnderWay {
		return nil, nil, 0, fmt.Errorf("%w: helper %q has %d questions under way", ErrRefused, s.Name, MaxUnderWay)
	}
	h.id++
	line, err := json.Marshal(struct {
		ID       int64           `json:"id"`
		Provider string          `json:"provider"`
		Native   string          `json:"native"`
		Event    json.RawMessage `json:"event"`
		Deadline int64           `json:"deadline_ms"`
	}{h.id, q.Provider, q.Native, payload.Bytes(), max(left.Milliseconds(), 1)})
	if err != nil {
		return nil, nil, 0, fmt.Errorf("the event is no JSON: %w", err)
	}
	if len(line) >= MaxLine {
		return nil, nil, 0, fmt.Errorf("%w: the event has %d bytes", ErrRefused, len(line))
	}
	answer := make(chan reply, 1)
	select {
	case h.run.queue <- append(line, '\n'):
	default: // it reads nothing, and those who asked before gave up
		return nil, nil, 0, fmt.Errorf("%w: helper %q does not read", ErrRefused, s.Name)
	}
	h.waiting[h.id] = answer
	h.used = time.Now()
	h.idle.Stop()
	return h, answer, h.id, nil
}

// helperLocked returns a helper that runs.
func (p *Pool) helperLocked(s Spec) (*helper, error) {
	if p.closed {
		return nil, fmt.Errorf("%w: the runtime leaves", ErrRefused)
	}
	h := p.helpers[s.key()]
	if h == nil {
		if err := p.roomLocked(); err != nil {
			return nil, err
		}
		if p.helpers == nil {
			p.helpers = map[string]*helper{}
		}
		h = &helper{spec: s}
		p.helpers[s.key()] = h
	}
	if h.run != nil {
		return h, nil
	}
	if wait := time.Until(h.rest); wait > 0 {
		return nil, fmt.Errorf("%w: helper %q has died and rests for %s", ErrRefused, s.Name, wait.Round(time.Millisecond))
	}
	process, err := p.Start(s)
	if err != nil {
		h.failedLocked()
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	p.log("helper started", "helper", s.Name)
	r := &run{Process: process, queue: make(chan []byte, MaxUnderWay), read: make(chan struct{}), gone: make(chan struct{})}
	h.run, h.late, h.waiting = r, 0, map[int64]chan reply{}
	h.idle = time.AfterFunc(IdleLife, func() { p.dismiss(h, r) })
	p.running.Go(r.write) // all three end with the process
	p.running.Go(func() {
		defer close(r.read)
		p.read(h, r)
	})
	p.running.Go(func() {
		told, err := r.wait()
		p.log("helper ended", "helper", s.Name, "err", err, "told", told)
	})
	return h, nil
}

// roomLocked makes room for one more helper: the one that was idle longest leaves.
func (p *Pool) roomLocked() error {
	var oldest *helper
	live := 0
	for key, h := range p.helpers {
		switch {
		case h.run == nil && time.Since(h.rest) > maxPause:
			delete(p.helpers, key) // forgotten
		case h.run != nil:
			live++
			if len(h.waiting) == 0 && (oldest == nil || h.used.Before(oldest.used)) {
				oldest = h
			}
		}
	}
	switch {
	case live < MaxHelpers && len(p.helpers) < 4*MaxHelpers:
		return nil
	case oldest == nil:
		return fmt.Errorf("%w: there are %d helpers, and none is idle", ErrRefused, live)
	}
	h := oldest
	h.leaveLocked()
	delete(p.helpers, h.spec.key())
	return nil
}

// write hands lines to a process until it is gone. One that reads nothing keeps it
// waiting until it is killed.
func (r *run) write() {
	for {
		select {
		case line := <-r.queue:
			if line == nil {
				r.Stdin().Close()
			} else if _, err := r.Stdin().Write(line); err != nil {
				r.kill()
			}
		case <-r.gone:
			r.Stdin().Close()
			return
		}
	}
}

// read takes answers until the process ends or breaks the protocol.
func (p *Pool) read(h *helper, r *run) {
	in := bufio.NewReaderSize(r.Stdout(), 4<<10)
	for {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 {
			p.answered(h, r, line)
		}
		if err != nil {
			if errors.Is(err, errLong) {
				p.log("helper wrote too long a line", "helper", h.spec.Name)
			}
			break
		}
	}
	p.mu.Lock()
	h.lostLocked(r, "has ended")
	p.mu.Unlock()
	r.kill() // it may have closed its output only
}

var errLong = fmt.Errorf("a line longer than %d bytes", MaxLine)

// readLine returns the next line; a last one without its end is half a line, and
// is dropped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, errLong
		}
		switch {
		case err == nil && line == nil:
			return part, nil
		case err == nil:
			return append(line, part...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
		default:
			return nil, err
		}
	}
}

// answered hands a line to whoever waits for it. Late answers nobody waits for.
func (p *Pool) answered(h *helper, r *run, line []byte) {
	var a struct {
		ID      json.RawMessage `json:"id"`
		Verdict json.RawMessage `json:"verdict"`
		Error   *string         `json:"error"`
	}
	if err := json.Unmarshal(line, &a); err != nil {
		p.log("helper wrote a line that is no answer", "helper", h.spec.Name)
		return
	}
	id, err := strconv.ParseInt(string(a.ID), 10, 64)
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := h.waiting[id]
	if err != nil || answer == nil || h.run != r {
		return
	}
	delete(h.waiting, id)
	h.late, h.pause = 0, 0
	h.restLocked()
	switch {
	case a.Error != nil:
		answer <- reply{err: fmt.Errorf("helper %q says: %s", h.spec.Name, *a.Error)}
	case len(a.Verdict) == 0 || string(a.Verdict) == "null":
		answer <- reply{err: fmt.Errorf("helper %q gave an answer without a verdict", h.spec.Name)}
	default:
		answer <- reply{verdict: bytes.Clone(a.Verdict)}
	}
}

// missed notes that a question had no answer in time.
func (p *Pool) missed(h *helper, id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.waiting[id] == nil {
		return // it ended, or answered just now
	}
	delete(h.waiting, id)
	if h.late++; h.late >= MaxLate {
		p.log("helper is too slow and is restarted", "helper", h.spec.Name, "late", h.late)
		r := h.run
		h.lostLocked(r, "was too slow")
		r.kill()
		return
	}
	h.restLocked()
}

// restLocked starts the idle time when nothing is under way.
func (h *helper) restLocked() {
	if len(h.waiting) == 0 && h.idle != nil {
		h.idle.Reset(IdleLife)
	}
}

// failedLocked makes the next start wait, twice as long as the last.
func (h *helper) failedLocked() {
	h.pause = min(max(2*h.pause, firstPause), maxPause)
	h.rest = time.Now().Add(h.pause)
}

// dismiss asks an idle helper to leave.
func (p *Pool) dismiss(h *helper, r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.run != r || len(h.waiting) > 0 {
		return
	}
	h.leaveLocked()
	delete(p.helpers, h.spec.key())
}

// leaveLocked ends the input of a helper, which asks it to leave, and ends it when
// it does not.
func (h *helper) leaveLocked() {
	r := h.run
	h.run = nil
	h.idle.Stop()
	select {
	case r.queue <- nil:
	default:
		r.kill()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.grace = time.AfterFunc(grace, r.kill)
	}
}

// lostLocked forgets a helper's process that has failed, if it still is this one:
// those who wait are told, and the next start has to wait.
func (h *helper) lostLocked(r *run, why string) {
	if h.run != r {
		return
	}
	h.run = nil
	h.idle.Stop()
	h.failedLocked()
	for id, answer := range h.waiting {
		delete(h.waiting, id)
		answer <- reply{err: fmt.Errorf("helper %q %s", h.spec.Name, why)}
	}
}

// Live is how many helpers run.
func (p *Pool) Live() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, h := range p.helpers {
		if h.run != nil {
			n++
		}
	}
	return n
}

// Close asks all helpers to leave, ends those that do not within a second, and
// returns when none is left. Questions under way fail. It may be called twice.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	for _, h := range p.helpers {
		for id, answer := range h.waiting {
			delete(h.waiting, id)
			answer <- reply{err: fmt.Errorf("%w: the runtime leaves", ErrRefused)}
		}
		if h.run != nil {
			h.leaveLocked()
		}
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Pool) log(text string, args ...any) {
	if p.Log != nil {
		p.Log(text, args...)
	}
}
