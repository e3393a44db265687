// Package telemetry is the runtime's half of the telemetry pack. In come records
// that hooks hand over, or left in the inbox while no runtime answered; out they go,
// masked and in order, to one HTTP sink. Until a sink has said that it took them
// they are on disk, within bounds, and survive crashes: each comes at least once,
// with the same id. A sink that is down, slow or lying costs nobody but this package
// anything, and while nothing waits nothing runs here.
package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"sync"
	"time"

	policy "github.com/lidguard-go/lidguard/internal/policy/telemetry"
	"github.com/lidguard-go/lidguard/internal/telemetry/inbox"
)

// Times of the sender.
const (
	// linger is how long the first of several events waits for the others.
	linger = 200 * time.Millisecond
	// requestLimit bounds one request, its answer included.
	requestLimit = 10 * time.Second
	// backoffBase and backoffMax bound the pause after a failure, which doubles with
	// each one. maxRetryAfter bounds what a sink may ask for.
	backoffBase   = time.Second
	backoffMax    = 5 * time.Minute
	maxRetryAfter = time.Hour
	// planLook is how often a pause looks whether the rulebook names another sink by
	// now; it costs a look at three files' times, and only while something waits for a
	// sink that failed.
	planLook = 2 * time.Second
	// openLimit is how long another runtime's hold of the spool is waited for.
	openLimit = 200 * time.Millisecond
)

// maxRequest bounds a request's records in bytes, but for a single one.
const maxRequest = 512 << 10

// maxUnwanted is how many events in a row may be refused before each costs a pause.
const maxUnwanted = 10

// recentIDs is how many ids are remembered, to drop what a hook handed over twice.
const recentIDs = 512

// Options are what an Outbox is made of. Dir, Plan, Getenv and Version must be set.
type Options struct {
	// Dir is the folder of the spool and the inbox.
	Dir string
	// Plan reads the rulebook; it is asked often and should be quick where nothing
	// changed. nil without an error: the pack is off.
	Plan    func() (*policy.Plan, error)
	Getenv  func(string) string // for headers
	Version string              // this program's
	Log     func(text string, args ...any)
	// Transport is for tests; nil is one of the package's own.
	Transport http.RoundTripper
}

// Status is what there is to tell about an Outbox.
type Status struct {
	Waiting  int64     `json:"waiting"` // events on disk
	Bytes    int64     `json:"bytes"`
	Sent     int64     `json:"sent"` // ever
	Dropped  int64     `json:"dropped"`
	Refused  int64     `json:"refused"`
	LastLoss time.Time `json:"last_loss,omitzero"`
	Failures int       `json:"failures,omitempty"` // in a row
	Error    string    `json:"error,omitempty"`    // of the last one
	NextTry  time.Time `json:"next_try,omitzero"`
}

// Outbox keeps and sends. Its methods may be called from any goroutine, and wait for
// no sink.
type Outbox struct {
	o      Options
	client *http.Client

	mu      sync.Mutex // guards what follows; never held over a request
	spool   *spool     // nil: not open
	plan    *policy.Plan
	ended   bool
	cancel  context.CancelFunc // of the sender; nil: none runs
	done    chan struct{}      // closed when the last sender ended
	recent  map[string]bool
	ring    [recentIDs]string
	ringAt  int
	unheard int64 // lost while the spool could not be opened

	failures int
	failure  string
	nextTry  time.Time
}

// New returns an Outbox. It touches nothing before the first Add or Start.
func New(o Options) *Outbox {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	transport := o.Transport
	if transport == nil {
		// Idle connections are closed when the sender ends.
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, ResponseHeaderTimeout: requestLimit,
			TLSHandshakeTimeout: requestLimit, MaxResponseHeaderBytes: 64 << 10}
	}
	return &Outbox{o: o, recent: map[string]bool{},
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // where the events go the rulebook says
		}}}
}

// Start sends what earlier runtimes and hooks have left, if the pack is on.
func (b *Outbox) Start() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || !b.readPlan() {
		return
	}
	if err := b.open(); err != nil {
		b.o.Log("telemetry waits", "err", err)
		return
	}
	b.takeInbox()
	b.wake()
}

// Add takes a record that a hook handed over. When it returns the record is on disk;
// one that cannot be kept is counted as dropped.
func (b *Outbox) Add(line json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || !b.readPlan() {
		return
	}
	if err := b.open(); err != nil {
		// Another runtime takes over just now, or the disk is full.
		if line, ok := b.mask(line); !ok || inbox.Append(context.Background(), b.o.Dir, line) != nil {
			b.unheard++
		}
		return
	}
	if inbox.Waiting(b.o.Dir) {
		b.takeInbox() // it came before this one
	}
	if err := b.keep(line); err != nil {
		b.spool.lost(1, time.Now())
		b.o.Log("telemetry not kept", "err", err)
	}
	b.wake()
}

// readPlan reports whether the pack is on. A rulebook that cannot be read leaves the
// last plan.
func (b *Outbox) readPlan() bool {
	plan, err := b.o.Plan()
	if err == nil {
		b.plan = plan
	}
	return b.plan != nil
}

// open opens the spool unless it is.
func (b *Outbox) open() error {
	if b.spool == nil {
		ctx, cancel := context.WithTimeout(context.Background(), openLimit)
		defer cancel()
		s, err := openSpool(ctx, b.o.Dir)
		if err != nil {
			return err
		}
		b.spool = s
	}
	b.spool.lost(b.unheard, time.Now())
	b.unheard = 0
	c := &b.plan.Config
	b.spool.bound(or(c.MaxEvents, policy.DefaultMaxEvents), or(c.MaxBytes, policy.DefaultMaxBytes))
	return nil
}

func or(n, standard int64) int64 {
	if n == 0 {
		return standard
	}
	return n
}

// takeInbox puts what hooks left into the spool.
func (b *Outbox) takeInbox() {
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	lost, err := inbox.Take(ctx, b.o.Dir, b.keep)
	b.spool.lost(lost, time.Now())
	if err != nil {
		b.o.Log("telemetry inbox", "err", err)
	}
}

// keep masks a record and appends it to the spool. What is no record is dropped.
func (b *Outbox) keep(line []byte) error {
	masked, ok := b.mask(line)
	if !ok {
		b.spool.lost(1, time.Now())
		return nil
	}
	if masked == nil {
		return nil // it is here already
	}
	return b.spool.append(masked, time.Now())
}

// mask makes the line that may be kept of a record; nil for one that came before.
func (b *Outbox) mask(line []byte) (masked []byte, ok bool) {
	var r policy.Record
	if json.Unmarshal(line, &r) != nil || r.ID == "" || r.Event == "" {
		return nil, false
	}
	if b.recent[r.ID] {
		return nil, true
	}
	delete(b.recent, b.ring[b.ringAt])
	b.ring[b.ringAt], b.recent[r.ID] = r.ID, true
	b.ringAt = (b.ringAt + 1) % recentIDs
	r.Mask(b.plan.Mask)
	return r.AppendJSON(nil), true
}

// wake has a sender run if something waits.
func (b *Outbox) wake() {
	if events, _ := b.spool.waiting(); events == 0 || b.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel, b.done = cancel, make(chan struct{})
	go b.send(ctx, b.done) // ends when nothing waits, or with Pause
}

// Pause stops sending and gives up the spool, for another runtime to take it. The
// next Add or Start takes it back.
func (b *Outbox) Pause() {
	b.mu.Lock()
	cancel, done := b.cancel, b.done
	b.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spool != nil && b.cancel == nil {
		if err := b.spool.close(); err != nil {
			b.o.Log("telemetry spool", "err", err)
		}
		b.spool = nil
	}
}

// Close is Pause for good. What waits stays on disk.
func (b *Outbox) Close() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.Pause()
}

// Status tells about it; nil while it was never used.
func (b *Outbox) Status() *Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.spool == nil {
		return nil
	}
	s := &b.spool.state
	st := &Status{Sent: s.Sent, Dropped: s.Dropped, Refused: s.Refused, LastLoss: s.LastLoss,
		Failures: b.failures, Error: b.failure, NextTry: b.nextTry}
	st.Waiting, st.Bytes = b.spool.waiting()
	return st
}

// send delivers until nothing waits.
func (b *Outbox) send(ctx context.Context, done chan struct{}) {
	defer close(done)
	defer b.client.CloseIdleConnections()
	if !pause(ctx, linger) {
		b.idle()
		return
	}
	limit := 0       // fewer events than the rulebook says, up to the line bad
	bad := uint64(0) // where a batch ends that was refused
	unwanted := 0    // single events that were refused in a row
	for {
		plan, next, ok := b.next(ctx, limit)
		if !ok {
			return
		}
		if len(next.lines) == 0 {
			continue // something unreadable was given up
		}
		err := post(ctx, b.client, &b.o, plan, next)
		var refused *refusedError
		switch {
		case ctx.Err() != nil:
			b.idle()
			return
		case err == nil:
			unwanted = 0
			if next.first+uint64(len(next.lines)) >= bad {
				limit = 0
			}
			b.took(next, false)
		case errors.As(err, &refused) && len(next.lines) > 1:
			// Until it is known which one it is.
			limit, bad = len(next.lines)/2, next.first+uint64(len(next.lines))
		case errors.As(err, &refused):
			limit, unwanted = 1, unwanted+1
			b.took(next, true)
			// A sink that wants nothing at all is not what was meant: what is lost
			// to it is lost slowly.
			if wait := b.failed(err); unwanted > maxUnwanted && !b.rest(ctx, plan, wait) {
				b.idle()
				return
			}
		default:
			if !b.rest(ctx, plan, b.failed(err)) {
				b.idle()
				return
			}
		}
	}
}

// next is what to send now; false where the sender ends, since nothing waits, the
// pack is off, or it was told to.
func (b *Outbox) next(ctx context.Context, limit int) (*policy.Plan, batch, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	on := b.readPlan()
	if ctx.Err() != nil || !on || b.spool == nil {
		b.cancel = nil
		return nil, batch{}, false
	}
	n := int(or(int64(b.plan.Config.Batch), policy.DefaultBatch))
	if limit > 0 {
		n = min(n, limit)
	}
	next, err := b.spool.peek(n, maxRequest)
	if err != nil {
		b.o.Log("telemetry spool", "err", err)
		if err := b.spool.abandon(time.Now()); err != nil {
			b.o.Log("telemetry spool", "err", err)
			b.cancel = nil
			return nil, batch{}, false
		}
		return b.plan, batch{}, true
	}
	if len(next.lines) == 0 {
		b.cancel = nil
		return nil, batch{}, false
	}
	return b.plan, next, true
}

// idle notes that the sender ended before its work.
func (b *Outbox) idle() {
	b.mu.Lock()
	b.cancel = nil
	b.mu.Unlock()
}

func (b *Outbox) took(x batch, refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !refused {
		b.failures, b.failure, b.nextTry = 0, "", time.Time{}
	}
	if err := b.spool.taken(x, refused, time.Now()); err != nil {
		b.o.Log("telemetry spool", "err", err)
	}
}

// failed notes a failure and returns how long to wait.
func (b *Outbox) failed(err error) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	b.failure = err.Error()
	wait := backoff(b.failures)
	var later *laterError
	if errors.As(err, &later) {
		wait = max(later.after, backoffBase) + rand.N(backoffBase)
	}
	b.nextTry = time.Now().Add(wait).UTC()
	if b.failures == 1 {
		b.o.Log("telemetry sink", "err", err)
	}
	return wait
}

// rest waits before the next try, which is due at once where the rulebook says
// something else about telemetry than it did at the last. It is false when ctx ended.
func (b *Outbox) rest(ctx context.Context, tried *policy.Plan, d time.Duration) bool {
	for until := time.Now().Add(d); ; {
		left := time.Until(until)
		if left <= 0 {
			return true
		}
		if !pause(ctx, min(left, planLook)) {
			return false
		}
		if b.changed(tried) {
			return true
		}
	}
}

// changed reports whether the plan is another than the one tried, and then forgets
// that the old one failed.
func (b *Outbox) changed(tried *policy.Plan) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readPlan() && reflect.DeepEqual(b.plan.Config, tried.Config) {
		return false
	}
	b.failures, b.failure, b.nextTry = 0, "", time.Time{}
	return true
}

// backoff is the pause after so many failures in a row: it doubles, and a half of it
// is chance, so that many laptops do not come back to a sink all at once.
func backoff(failures int) time.Duration {
	d := backoffMax
	if shift := failures - 1; shift < 16 {
		d = min(backoffBase<<shift, backoffMax)
	}
	return d/2 + rand.N(d/2+1)
}

// pause waits; false when ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// refusedError: the sink will never take this, whenever it is asked.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

// laterError: the sink says when to come again.
type laterError struct {
	text  string
	after time.Duration
}

func (e *laterError) Error() string { return fmt.Sprintf("%s; it asks to wait %v", e.text, e.after) }
