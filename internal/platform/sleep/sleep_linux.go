package sleep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/godbus/dbus/v5"

	"github.com/lidguard-go/lidguard/internal/platform/bus"
)

// org.freedesktop.login1(5).
const (
	login1      = "org.freedesktop.login1"
	login1Path  = dbus.ObjectPath("/org/freedesktop/login1")
	login1Iface = "org.freedesktop.login1.Manager"
)

// polkitInhibit maps a lock to the action that login1 checks for it. With
// several kinds in one call systemd 256 checks only one of them, so each kind
// gets a call of its own.
var polkitInhibit = map[What]string{
	Idle:      "org.freedesktop.login1.inhibit-block-idle",
	LidSwitch: "org.freedesktop.login1.inhibit-handle-lid-switch",
	AnySleep:  "org.freedesktop.login1.inhibit-block-sleep",
}

// manager is the login1 backend. taking is locked before mu.
type manager struct {
	who     string
	onEvent func(EventKind)
	link    *bus.Link

	taking sync.Mutex // one Take, Release or Close at a time

	mu       sync.Mutex
	locks    map[What]lock
	closed   bool
	up       bool // login1 is there
	sleeping bool // between GoingToSleep and WokeUp
}

// lock is one granted inhibitor. login1 ends it when the last copy of the
// descriptor is closed, so the kernel ends it with this process.
type lock struct {
	file  *os.File
	why   string
	owner string // the login1 that granted it
}

func open(o Options) backend {
	m := &manager{who: o.Who, onEvent: o.OnEvent, locks: map[What]lock{}}
	// The handler needs m.link, and may run before Open returns.
	ready := make(chan struct{})
	m.link = bus.Open(bus.Options{
		Address: o.SystemBus,
		Matches: []bus.Match{{Service: login1, Path: login1Path, Interface: login1Iface, Member: "PrepareForSleep"}},
		Handle:  func(e bus.Event) { <-ready; m.handle(e) },
	})
	close(ready)
	return m
}

func (m *manager) capabilities() Capabilities {
	return Capabilities{
		System:    "login1",
		Blocks:    []What{Idle, LidSwitch, AnySleep},
		Suspend:   true,
		Hibernate: true,
		ReadBack:  true,
		Events:    true,
	}
}

func (m *manager) handle(e bus.Event) {
	switch e.Kind {
	case bus.Owner:
		if e.Old != "" || e.Owner == "" {
			m.setUp(false)
		}
		if e.Owner != "" {
			m.setUp(true)
			m.catchUp()
		}
	case bus.Down:
		m.setUp(false)
	case bus.Signal:
		var start bool
		if dbus.Store(e.Body, &start) == nil {
			m.setSleeping(start)
		}
	}
}

func (m *manager) setUp(up bool) {
	m.mu.Lock()
	changed := m.up != up
	m.up = up
	m.mu.Unlock()
	if !changed {
		return
	}
	if up {
		m.onEvent(ServiceUp)
	} else {
		m.onEvent(ServiceDown)
	}
}

func (m *manager) setSleeping(v bool) {
	m.mu.Lock()
	changed := m.sleeping != v
	m.sleeping = v
	m.mu.Unlock()
	if !changed {
		return
	}
	if v {
		m.onEvent(GoingToSleep)
	} else {
		m.onEvent(WokeUp)
	}
}

// catchUp reads whether a sleep began or ended while login1 was away: a lost
// wake-up would leave the caller asleep for ever. No answer counts as awake,
// since whoever reads this is.
func (m *manager) catchUp() {
	var now bool
	m.link.Get(context.Background(), login1, login1Path, login1Iface, "PreparingForSleep", &now)
	m.setSleeping(now)
}

func (m *manager) take(ctx context.Context, what What, why string) error {
	doing := "hold " + string(what)
	action, ok := polkitInhibit[what]
	if !ok {
		return fmt.Errorf("%s: %w", doing, ErrUnsupported)
	}
	m.taking.Lock()
	defer m.taking.Unlock()
	// Read before the call: a lock from a login1 that is replaced meanwhile
	// must look old.
	owner := m.link.Owner(login1)
	m.mu.Lock()
	have, held := m.locks[what]
	closed := m.closed
	m.mu.Unlock()
	if closed {
		return fmt.Errorf("%s: %w", doing, ErrClosed)
	}
	if held && owner != "" && have.owner == owner && have.why == why {
		return nil
	}
	var fd dbus.UnixFD
	err := m.link.Call(ctx, bus.Call{
		Service: login1, Path: login1Path, Method: login1Iface + ".Inhibit",
		Args: []any{string(what), m.who, why, "block"},
		Late: closeFDs,
	}, &fd)
	if errors.Is(err, bus.ErrDenied) {
		return &DeniedError{Doing: doing, PolkitAction: action, Err: err}
	}
	if err != nil {
		return translate(doing, err)
	}
	// The descriptor arrived with MSG_CMSG_CLOEXEC; said again because a child
	// that inherited it would hold the machine awake after our death.
	syscall.CloseOnExec(int(fd))
	file := os.NewFile(uintptr(fd), "inhibit "+string(what))
	if owner == "" {
		owner = m.link.Owner(login1) // this very call started it
	}
	m.mu.Lock()
	m.locks[what] = lock{file, why, owner}
	m.mu.Unlock()
	if held {
		have.file.Close()
	}
	return nil
}

// closeFDs gives back what an answer that nobody waits for any more brought.
func closeFDs(body []any) {
	for _, v := range body {
		if fd, ok := v.(dbus.UnixFD); ok {
			syscall.Close(int(fd))
		}
	}
}

func (m *manager) release(what What) error {
	m.taking.Lock()
	defer m.taking.Unlock()
	m.mu.Lock()
	l, held := m.locks[what]
	delete(m.locks, what)
	m.mu.Unlock()
	if !held {
		return nil
	}
	return l.file.Close()
}

func (m *manager) holders(ctx context.Context) ([]Holder, error) {
	var list []struct {
		What, Who, Why, Mode string
		UID, PID             uint32
	}
	err := m.link.Call(ctx, bus.Call{Service: login1, Path: login1Path, Method: login1Iface + ".ListInhibitors"}, &list)
	if err != nil {
		return nil, translate("list locks", err)
	}
	var out []Holder
	for _, l := range list {
		h := Holder{Who: l.Who, Why: l.Why, Mode: l.Mode, UID: l.UID, PID: l.PID}
		for w := range strings.SplitSeq(l.What, ":") {
			h.What = append(h.What, What(w))
		}
		h.Ours = int(l.PID) == os.Getpid() && int(l.UID) == os.Getuid() && l.Who == m.who
		out = append(out, h)
	}
	return out, nil
}

func member(how Mode) string {
	if how == Hibernate {
		return "Hibernate"
	}
	return "Suspend"
}

func (m *manager) can(ctx context.Context, how Mode) (Answer, error) {
	var s string
	err := m.link.Call(ctx, bus.Call{Service: login1, Path: login1Path, Method: login1Iface + ".Can" + member(how)}, &s)
	if err != nil {
		return No, translate("ask whether to "+string(how), err)
	}
	return Answer(s), nil
}

func (m *manager) enter(ctx context.Context, how Mode) error {
	// false: never interactive, nobody is there to type a password.
	err := m.link.Call(ctx, bus.Call{Service: login1, Path: login1Path, Method: login1Iface + "." + member(how), Args: []any{false}})
	switch name := bus.ErrorName(err); {
	case err == nil:
		return nil
	case name == "org.freedesktop.login1.OperationInProgress":
		return fmt.Errorf("%s: %w (%w)", how, ErrInProgress, err)
	case name == "org.freedesktop.login1.SleepVerbNotSupported", name == "org.freedesktop.DBus.Error.NotSupported":
		return fmt.Errorf("%s: %w (%w)", how, ErrUnsupported, err)
	case name == "org.freedesktop.login1.BlockedByInhibitorLock", errors.Is(err, bus.ErrDenied):
		return m.denied(ctx, how, err)
	default:
		return translate(string(how), err)
	}
}

// denied finds out which of logind's three checks refused a sleep.
func (m *manager) denied(ctx context.Context, how Mode, err error) error {
	e := &DeniedError{Doing: string(how), PolkitAction: login1 + "." + string(how), Err: err}
	if all, err := m.holders(ctx); err == nil {
		for _, h := range all {
			if h.Blocks(AnySleep) {
				e.Holders = append(e.Holders, h)
			}
		}
	}
	e.OtherUsers = m.otherUsers(ctx)
	switch {
	case len(e.Holders) > 0:
		e.PolkitAction += "-ignore-inhibit"
	case len(e.OtherUsers) > 0:
		e.PolkitAction += "-multiple-sessions"
	}
	return e
}

// otherUsers returns who else is logged in, in logind's sense: sessions of
// class "user" under another uid. Login screens are none.
func (m *manager) otherUsers(ctx context.Context) []string {
	sessions, err := m.sessions(ctx)
	if err != nil {
		return nil
	}
	var names []string
	seen := map[uint32]bool{uint32(os.Getuid()): true}
	for _, s := range sessions {
		if seen[s.UID] {
			continue
		}
		var class string
		if m.link.Get(ctx, login1, s.Path, "org.freedesktop.login1.Session", "Class", &class) == nil && class == "user" {
			seen[s.UID] = true
			names = append(names, s.User)
		}
	}
	return names
}

// login is one row of ListSessions.
type login struct {
	ID   string
	UID  uint32
	User string
	Seat string
	Path dbus.ObjectPath
}

func (m *manager) sessions(ctx context.Context) (all []login, err error) {
	err = m.link.Call(ctx, bus.Call{Service: login1, Path: login1Path, Method: login1Iface + ".ListSessions"}, &all)
	return all, err
}

// remote lists who is logged in from afar; see Manager.Remote.
func (m *manager) remote(ctx context.Context) ([]string, error) {
	sessions, err := m.sessions(ctx)
	if err != nil {
		return nil, err
	}
	var who []string
	for _, s := range sessions {
		about, err := m.link.GetAll(ctx, login1, s.Path, "org.freedesktop.login1.Session")
		if err != nil {
			continue // it ended meanwhile
		}
		var remote bool
		var class, state, host string
		for name, out := range map[string]any{"Remote": &remote, "Class": &class, "State": &state, "RemoteHost": &host} {
			if v, ok := about[name]; ok {
				_ = v.Store(out) // of another type: not said
			}
		}
		if !remote || class != "user" || state == "closing" {
			continue
		}
		if host != "" {
			s.User += " from " + host
		}
		who = append(who, s.User)
	}
	return who, nil
}

func (m *manager) close() error {
	m.taking.Lock()
	m.mu.Lock()
	locks, closed := m.locks, m.closed
	m.locks, m.closed = map[What]lock{}, true
	m.mu.Unlock()
	// Let go before the link closes: that waits for the event handler, which
	// may be waiting for a Take of its own.
	m.taking.Unlock()
	if closed {
		return nil
	}
	var errs []error
	for _, l := range locks {
		errs = append(errs, l.file.Close())
	}
	m.link.Close()
	return errors.Join(errs...)
}

func translate(doing string, err error) error {
	switch {
	case errors.Is(err, bus.ErrUnavailable):
		return fmt.Errorf("%s: %w (%w)", doing, ErrNoLogin1, err)
	case errors.Is(err, bus.ErrTimeout):
		return fmt.Errorf("%s: %w (%w)", doing, ErrTimeout, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
