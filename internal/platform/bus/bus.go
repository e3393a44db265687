// Package bus is the D-Bus plumbing that the sleep, lid and battery packages
// share: one private connection to an address that is passed in, calls that
// always end, and signals that really come from the service they claim to.
// It knows no service, starts no program, and never lets a service ask the
// person for a password.
package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// SystemBus is where the system bus listens unless DBUS_SYSTEM_BUS_ADDRESS
// says otherwise (D-Bus specification, "Well-known Message Bus Instances").
// Whoever opens a Link decides; this package never reads the environment.
const SystemBus = "unix:path=/var/run/dbus/system_bus_socket"

// CallTimeout bounds connecting and every call. A healthy login1 answers in
// single milliseconds and polkit's first answer after boot takes some hundred;
// a stuck one never answers. Longer would be felt by whoever waits for a hook.
const CallTimeout = 2 * time.Second

// Reconnecting starts fast, because a restarted bus is back within a moment,
// and gets slow, because a container without a bus never has one.
const (
	firstRetry = 200 * time.Millisecond
	lastRetry  = 30 * time.Second
)

var (
	// ErrUnavailable is matched by errors of a bus or service that is not
	// there: no socket, connection lost, name without an owner.
	ErrUnavailable = errors.New("service not available")
	// ErrTimeout is matched by errors of a call that got no answer in time.
	// The service may still carry it out.
	ErrTimeout = errors.New("no answer in time")
	// ErrDenied is matched by errors of a call that was refused for want of a
	// right, also when a password could have bought it.
	ErrDenied = errors.New("not permitted")
)

// Kind tells the events of a Link apart.
type Kind int

const (
	// Up follows every successful connect, before any other event of it.
	Up Kind = iota + 1
	// Down says that the connection is lost. A new one is being tried.
	Down
	// Owner says that a followed service appeared (Owner set), went away
	// (Owner empty) or was replaced (both set). It follows Up for each
	// service that is there already.
	Owner
	// Signal is a matched signal, sent by the owner of its service.
	Signal
)

// An Event is something that happened on the bus.
type Event struct {
	Kind    Kind
	Service string          // Owner, Signal: the well-known name
	Old     string          // Owner: unique name before, empty for none
	Owner   string          // Owner: unique name now, empty for none
	Path    dbus.ObjectPath // Signal
	Member  string          // Signal: interface and member, dotted
	Body    []any           // Signal
}

// A Match selects signals of one service. Empty fields match everything.
type Match struct {
	Service   string // well-known name, required; its owner is followed too
	Path      dbus.ObjectPath
	Interface string
	Member    string
	Arg0      string
}

// Options configure a Link.
type Options struct {
	// Address of the bus, "unix:path=…" or "unix:abstract=…". Other
	// transports are refused: some of them start programs.
	Address string
	// Follow lists services whose coming and going is reported.
	Follow []string
	// Matches lists the signals to report.
	Matches []Match
	// Handle receives the events one at a time, in order. It may call the
	// Link, and must not block for long. Nil drops them.
	Handle func(Event)
	// Timeout replaces CallTimeout where not zero.
	Timeout time.Duration
}

// A Link is a connection that comes back by itself. Safe for use from several
// goroutines.
type Link struct {
	o      Options
	cancel context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	conn   *dbus.Conn        // nil while disconnected
	cause  error             // why conn is nil
	owners map[string]string // service to unique name, of the current conn
}

// Open tries once to connect, so that calls work as soon as it returns where
// there is a bus at all, and goes on trying in the background until Close.
// It blocks for at most a few timeouts and never fails: without a bus, calls
// return errors that match ErrUnavailable.
func Open(o Options) *Link {
	if o.Timeout == 0 {
		o.Timeout = CallTimeout
	}
	if o.Handle == nil {
		o.Handle = func(Event) {}
	}
	for _, m := range o.Matches {
		o.Follow = addOnce(o.Follow, m.Service)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &Link{o: o, cancel: cancel, done: make(chan struct{})}
	first, err := l.connect(ctx)
	l.set(first, err)
	// Ended by Close, which waits for it.
	go l.run(ctx, first)
	return l
}

func addOnce(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	// A copy: the slice is the caller's.
	return append(append([]string(nil), list...), s)
}

// Close disconnects and waits until no event is being handled any more. It
// must not be called from Handle. A second call does nothing.
func (l *Link) Close() {
	l.cancel()
	<-l.done
}

// session is one connection with its signal queue.
type session struct {
	conn    *dbus.Conn
	signals chan *dbus.Signal
	owners  map[string]string
}

func (l *Link) run(ctx context.Context, s *session) {
	defer close(l.done)
	retry := firstRetry
	for {
		if s != nil {
			retry = firstRetry
			l.serve(ctx, s)
			s.conn.Close()
			l.set(nil, fmt.Errorf("bus connection lost: %w", ErrUnavailable))
			if ctx.Err() == nil {
				l.o.Handle(Event{Kind: Down})
			}
		}
		select {
		case <-ctx.Done():
			l.set(nil, fmt.Errorf("link closed: %w", ErrUnavailable))
			return
		case <-time.After(retry):
		}
		retry = min(2*retry, lastRetry)
		var err error
		s, err = l.connect(ctx)
		l.set(s, err)
	}
}

func (l *Link) set(s *session, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.cause, l.owners = nil, err, nil
	if s != nil {
		l.conn, l.owners = s.conn, s.owners
	}
}

// connect returns a connection with its matches in place and the owners known.
func (l *Link) connect(ctx context.Context) (*session, error) {
	for _, a := range strings.Split(l.o.Address, ";") {
		if !strings.HasPrefix(a, "unix:") {
			return nil, fmt.Errorf("bus address %q: only unix sockets are used: %w", a, ErrUnavailable)
		}
	}
	// godbus closes the connection when its context ends, which is the only
	// way to end a handshake with a bus that accepts and then says nothing.
	connCtx, giveUp := context.WithCancel(ctx)
	guard := time.AfterFunc(l.o.Timeout, giveUp)
	conn, err := dbus.Connect(l.o.Address, dbus.WithContext(connCtx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if !guard.Stop() || err != nil {
		giveUp()
		if err == nil {
			conn.Close()
			err = ErrTimeout
		}
		return nil, fmt.Errorf("connecting to bus %q: %w (%w)", l.o.Address, err, ErrUnavailable)
	}
	s := &session{conn: conn, signals: make(chan *dbus.Signal, 16), owners: map[string]string{}}
	conn.Signal(s.signals)
	if err := l.subscribe(ctx, s); err != nil {
		giveUp()
		conn.Close()
		return nil, fmt.Errorf("subscribing on bus %q: %w (%w)", l.o.Address, err, ErrUnavailable)
	}
	return s, nil
}

func (l *Link) subscribe(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	for _, service := range l.o.Follow {
		if err := s.conn.AddMatchSignalContext(ctx, dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName),
			dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, service)); err != nil {
			return err
		}
	}
	for _, m := range l.o.Matches {
		if err := s.conn.AddMatchSignalContext(ctx, m.options()...); err != nil {
			return err
		}
	}
	// Asked after the matches stand, so that no change falls between; a change
	// reported twice settles on the same owner.
	for _, service := range l.o.Follow {
		var owner string
		err := s.conn.BusObject().CallWithContext(ctx, busName+".GetNameOwner", 0, service).Store(&owner)
		if err != nil && errorName(err) != busName+".Error.NameHasNoOwner" {
			return err
		}
		s.owners[service] = owner
	}
	return nil
}

const busName = "org.freedesktop.DBus"

func (m Match) options() []dbus.MatchOption {
	o := []dbus.MatchOption{dbus.WithMatchSender(m.Service)}
	if m.Path != "" {
		o = append(o, dbus.WithMatchObjectPath(m.Path))
	}
	if m.Interface != "" {
		o = append(o, dbus.WithMatchInterface(m.Interface))
	}
	if m.Member != "" {
		o = append(o, dbus.WithMatchMember(m.Member))
	}
	if m.Arg0 != "" {
		o = append(o, dbus.WithMatchArg(0, m.Arg0))
	}
	return o
}

// serve hands out events until the connection or the context ends.
func (l *Link) serve(ctx context.Context, s *session) {
	l.o.Handle(Event{Kind: Up})
	for _, service := range l.o.Follow {
		if owner := l.Owner(service); owner != "" {
			l.o.Handle(Event{Kind: Owner, Service: service, Owner: owner})
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case sig, ok := <-s.signals:
			if !ok {
				return
			}
			l.dispatch(sig)
		}
	}
}

func (l *Link) dispatch(sig *dbus.Signal) {
	if sig.Sender == busName && sig.Name == busName+".NameOwnerChanged" {
		var service, old, owner string
		if dbus.Store(sig.Body, &service, &old, &owner) != nil {
			return
		}
		l.mu.Lock()
		if _, followed := l.owners[service]; followed {
			l.owners[service] = owner
		}
		l.mu.Unlock()
		l.o.Handle(Event{Kind: Owner, Service: service, Old: old, Owner: owner})
		return
	}
	// Match rules only choose what the bus sends on; anyone may send a signal
	// straight to us. Only the owner's word counts.
	for _, m := range l.o.Matches {
		if l.Owner(m.Service) == sig.Sender && m.fits(sig) {
			l.o.Handle(Event{Kind: Signal, Service: m.Service, Path: sig.Path, Member: sig.Name, Body: sig.Body})
			return
		}
	}
}

func (m Match) fits(sig *dbus.Signal) bool {
	dot := strings.LastIndexByte(sig.Name, '.')
	return (m.Path == "" || m.Path == sig.Path) &&
		(m.Interface == "" || m.Interface == sig.Name[:max(dot, 0)]) &&
		(m.Member == "" || m.Member == sig.Name[dot+1:])
}

// Owner returns the unique name that a followed service has now, or "".
func (l *Link) Owner(service string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owners[service]
}

// Err returns why there is no connection, or nil while there is one.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// A Call names a method to call.
type Call struct {
	Service string
	Path    dbus.ObjectPath
	Method  string // interface and member, dotted
	Args    []any
	// NoStart keeps the bus from starting the service for this call.
	NoStart bool
	// Late, if set, receives the body of an answer that came after the call
	// had timed out: what it holds (a file descriptor) must still be let go.
	Late func(body []any)
}

// Call calls a method and stores the answer's values in out, or drops them
// where out is empty. It returns within
// the timeout, or earlier when ctx ends; errors match ErrUnavailable,
// ErrTimeout or ErrDenied where they are one of these, and the D-Bus error can
// always be had with ErrorName.
func (l *Link) Call(ctx context.Context, c Call, out ...any) error {
	l.mu.Lock()
	conn, cause := l.conn, l.cause
	l.mu.Unlock()
	if conn == nil {
		return fmt.Errorf("%s: %w", c.Method, cause)
	}
	var flags dbus.Flags
	if c.NoStart {
		flags |= dbus.FlagNoAutoStart
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	// Not bound to ctx: godbus forgets a call whose context ends and then
	// drops a late answer together with the descriptor in it, still open.
	pending := conn.Object(c.Service, c.Path).Go(c.Method, flags, make(chan *dbus.Call, 1), c.Args...)
	select {
	case done := <-pending.Done:
		if done.Err != nil {
			return classify(c, done.Err)
		}
		if len(out) == 0 {
			return nil
		}
		if err := done.Store(out...); err != nil {
			return fmt.Errorf("%s: unexpected answer: %w", c.Method, err)
		}
		return nil
	case <-ctx.Done():
		// Ends with the answer, or with the connection.
		go func() {
			if done := <-pending.Done; done.Err == nil && c.Late != nil {
				c.Late(done.Body)
			}
		}()
		if context.Cause(ctx) == context.DeadlineExceeded {
			return fmt.Errorf("%s: %w", c.Method, ErrTimeout)
		}
		return fmt.Errorf("%s: %w", c.Method, ctx.Err())
	}
}

// Get stores the value of one property in out.
func (l *Link) Get(ctx context.Context, service string, path dbus.ObjectPath, iface, property string, out any) error {
	var v dbus.Variant
	if err := l.Call(ctx, Call{Service: service, Path: path, Method: busName + ".Properties.Get", Args: []any{iface, property}}, &v); err != nil {
		return fmt.Errorf("property %s: %w", property, err)
	}
	if err := v.Store(out); err != nil {
		return fmt.Errorf("property %s.%s: %w", iface, property, err)
	}
	return nil
}

// GetAll returns all properties of one interface.
func (l *Link) GetAll(ctx context.Context, service string, path dbus.ObjectPath, iface string) (map[string]dbus.Variant, error) {
	var all map[string]dbus.Variant
	err := l.Call(ctx, Call{Service: service, Path: path, Method: busName + ".Properties.GetAll", Args: []any{iface}}, &all)
	return all, err
}

// ErrorName returns the D-Bus error name in err's chain, or "".
func ErrorName(err error) string { return errorName(err) }

func errorName(err error) string {
	var e dbus.Error
	if errors.As(err, &e) {
		return e.Name
	}
	return ""
}

func classify(c Call, err error) error {
	name := errorName(err)
	switch strings.TrimPrefix(name, busName+".Error.") {
	case "AccessDenied", "InteractiveAuthorizationRequired", "AuthFailed":
		return fmt.Errorf("%s: %w (%w)", c.Method, ErrDenied, err)
	case "ServiceUnknown", "NameHasNoOwner", "Disconnected",
		// UnknownObject and UnknownMethod are how a service that is just
		// starting or stopping, or an older one, says the same.
		"UnknownObject", "UnknownInterface", "UnknownMethod", "UnknownProperty":
		return fmt.Errorf("%s: %w (%w)", c.Method, ErrUnavailable, err)
	case "NoReply", "Timeout", "TimedOut":
		// The bus's own NoReply also means that the service died over the call.
		return fmt.Errorf("%s: %w (%w)", c.Method, ErrTimeout, err)
	}
	if errors.Is(err, dbus.ErrClosed) || name == "" || strings.HasPrefix(name, busName+".Error.Spawn.") {
		return fmt.Errorf("%s: %w (%w)", c.Method, ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", c.Method, err)
}
