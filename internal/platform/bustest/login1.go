//go:build linux

package bustest

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

const (
	login1Name  = "org.freedesktop.login1"
	login1Path  = dbus.ObjectPath("/org/freedesktop/login1")
	login1Iface = "org.freedesktop.login1.Manager"
)

// A Lock is an inhibitor as login1 lists it.
type Lock struct {
	What, Who, Why, Mode string
	UID, PID             uint32
}

// Login1 doubles systemd-logind. A lock it granted ends, as the real one's
// does, when the last copy of its descriptor is closed.
type Login1 struct {
	*service

	mu       sync.Mutex
	props    map[string]any
	can      map[string]string
	deny     map[string]bool
	locks    []*Lock
	foreign  []Lock
	sessions []session
	about    map[dbus.ObjectPath]map[string]any
}

type session struct {
	ID   string
	UID  uint32
	User string
	Seat string
	Path dbus.ObjectPath
}

// NewLogin1 puts a double of logind on the bus: lid open, sleep allowed,
// nothing held, nobody logged in.
func NewLogin1(t testing.TB, address string) *Login1 {
	l := &Login1{
		service: newService(t, address, login1Name),
		props:   map[string]any{"LidClosed": false, "PreparingForSleep": false, "Docked": false, "OnExternalPower": true},
		can:     map[string]string{"CanSuspend": "yes", "CanHibernate": "na"},
		deny:    map[string]bool{},
		about:   map[dbus.ObjectPath]map[string]any{},
	}
	l.service.answer = l.answer
	l.Begin()
	return l
}

// Restart leaves the bus, forgets every lock, and comes back.
func (l *Login1) Restart() {
	l.Stop()
	l.mu.Lock()
	l.locks = nil
	l.mu.Unlock()
	l.Begin()
}

// Deny refuses locks of this kind, the way polkit does without asking, until
// Allow.
func (l *Login1) Deny(what ...string) { l.setDeny(what, true) }

// Allow grants locks of this kind again.
func (l *Login1) Allow(what ...string) { l.setDeny(what, false) }

func (l *Login1) setDeny(what []string, v bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range what {
		l.deny[w] = v
	}
}

// Can sets the answer of CanSuspend or CanHibernate.
func (l *Login1) Can(method, answer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.can[method] = answer
}

// Set changes a property without a signal, as systemd 252 does for LidClosed.
func (l *Login1) Set(property string, v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.props[property] = v
}

// Signal changes a property and says so, as systemd 257 does for LidClosed.
func (l *Login1) Signal(property string, v any) {
	l.Set(property, v)
	l.emit(login1Path, "org.freedesktop.DBus.Properties.PropertiesChanged",
		login1Iface, map[string]dbus.Variant{property: dbus.MakeVariant(v)}, []string{})
}

// PrepareForSleep tells everybody that the machine goes to sleep, or woke up.
func (l *Login1) PrepareForSleep(start bool) {
	l.Set("PreparingForSleep", start)
	l.emit(login1Path, login1Iface+".PrepareForSleep", start)
}

// AddForeign lists a lock of somebody else.
func (l *Login1) AddForeign(lock Lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.foreign = append(l.foreign, lock)
}

// AddSession lists a login session; class is "user", "greeter" and so on.
func (l *Login1) AddSession(id string, uid uint32, user, class string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	path := login1Path + dbus.ObjectPath("/session/"+id)
	l.sessions = append(l.sessions, session{id, uid, user, "seat0", path})
	l.about[path] = map[string]any{"Class": class, "Remote": false, "RemoteHost": "", "State": "active"}
}

// AddRemote lists a login of a person over the network, from host.
func (l *Login1) AddRemote(id string, uid uint32, user, host string) {
	l.AddSession(id, uid, user, "user")
	l.mu.Lock()
	defer l.mu.Unlock()
	about := l.about[login1Path+dbus.ObjectPath("/session/"+id)]
	about["Remote"], about["RemoteHost"] = true, host
}

// EndSession has a login end; for a moment login1 still lists it as closing.
func (l *Login1) EndSession(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.about[login1Path+dbus.ObjectPath("/session/"+id)]["State"] = "closing"
}

// Locks returns the locks granted and still held, oldest first.
func (l *Login1) Locks() []Lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []Lock
	for _, k := range l.locks {
		list = append(list, *k)
	}
	return list
}

func (l *Login1) answer(r Request) ([]any, *dbus.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r.Method {
	case "Inhibit":
		return l.inhibitLocked(r)
	case "ListInhibitors":
		list := []Lock{}
		for _, k := range l.locks {
			list = append(list, *k)
		}
		return []any{append(list, l.foreign...)}, nil
	case "ListSessions":
		return []any{append([]session{}, l.sessions...)}, nil
	case "CanSuspend", "CanHibernate":
		return []any{l.can[r.Method]}, nil
	case "Suspend", "Hibernate":
		return nil, nil
	}
	if about, ok := l.about[r.Path]; ok {
		return properties(r, about)
	}
	return properties(r, l.props)
}

func (l *Login1) inhibitLocked(r Request) ([]any, *dbus.Error) {
	lock := &Lock{What: r.Args[0].(string), Who: r.Args[1].(string), Why: r.Args[2].(string), Mode: r.Args[3].(string), UID: r.UID, PID: r.PID}
	if l.deny[lock.What] {
		return nil, dbus.NewError("org.freedesktop.DBus.Error.AccessDenied", []any{"Permission denied"})
	}
	mine, theirs, err := os.Pipe()
	if err != nil {
		return nil, dbus.MakeFailedError(err)
	}
	l.locks = append(l.locks, lock)
	// Ends with the last copy of the caller's descriptor.
	go func() {
		mine.Read(make([]byte, 1))
		mine.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.locks = slices.DeleteFunc(l.locks, func(k *Lock) bool { return k == lock })
	}()
	return []any{theirs}, nil
}
