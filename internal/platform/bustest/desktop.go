//go:build linux

package bustest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Desktop doubles the part of a desktop session that keeps it from suspending
// an idle machine, in one of its two dialects.
type Desktop struct {
	*service

	mu   sync.Mutex
	next uint32
	held map[uint32]DesktopLock
}

// A DesktopLock is one inhibition of a desktop session.
type DesktopLock struct {
	App, Reason string
	Flags       uint32 // GNOME only
}

// NewGnome puts a double of GNOME's session manager on the bus.
func NewGnome(t testing.TB, address string) *Desktop {
	return newDesktop(t, address, "org.gnome.SessionManager")
}

// NewPowerManagement puts a double of the freedesktop interface on the bus, as
// KDE and Xfce have it.
func NewPowerManagement(t testing.TB, address string) *Desktop {
	return newDesktop(t, address, "org.freedesktop.PowerManagement.Inhibit")
}

func newDesktop(t testing.TB, address, name string) *Desktop {
	d := &Desktop{service: newService(t, address, name), held: map[uint32]DesktopLock{}}
	d.service.answer = d.answer
	d.Begin()
	return d
}

// Restart leaves the bus, forgets every inhibition, and comes back.
func (d *Desktop) Restart() {
	d.Stop()
	d.mu.Lock()
	d.held = map[uint32]DesktopLock{}
	d.mu.Unlock()
	d.Begin()
}

// Locks returns what is inhibited now, in no order.
func (d *Desktop) Locks() []DesktopLock {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []DesktopLock
	for _, l := range d.held {
		list = append(list, l)
	}
	return list
}

func (d *Desktop) answer(r Request) ([]any, *dbus.Error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch r.Method {
	case "Inhibit":
		lock := DesktopLock{App: r.Args[0].(string)}
		switch len(r.Args) {
		case 4: // app, toplevel window, reason, flags
			lock.Reason, lock.Flags = r.Args[2].(string), r.Args[3].(uint32)
		default: // app, reason
			lock.Reason = r.Args[1].(string)
		}
		d.next++
		d.held[d.next] = lock
		return []any{d.next}, nil
	case "Uninhibit", "UnInhibit":
		delete(d.held, r.Args[0].(uint32))
		return nil, nil
	case "HasInhibit":
		return []any{len(d.held) > 0}, nil
	case "GetInhibitors":
		list := []dbus.ObjectPath{}
		for id := range d.held {
			list = append(list, dbus.ObjectPath(fmt.Sprintf("/org/gnome/SessionManager/Inhibitor%d", id)))
		}
		return []any{list}, nil
	}
	for id, lock := range d.held {
		if r.Path == dbus.ObjectPath(fmt.Sprintf("/org/gnome/SessionManager/Inhibitor%d", id)) {
			switch r.Method {
			case "GetAppId":
				return []any{lock.App}, nil
			case "GetFlags":
				return []any{lock.Flags}, nil
			}
		}
	}
	return unknown(r)
}

// Witness has names on a bus and answers every call with an error. What counts are
// its Calls.
type Witness struct{ *service }

// NewWitness puts one on the bus under the name.
func NewWitness(t testing.TB, address, name string) *Witness {
	w := &Witness{service: newService(t, address, name)}
	w.service.answer = unknown
	w.Begin()
	return w
}
