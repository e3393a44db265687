package sleep

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/godbus/dbus/v5"

	"github.com/lidguard-go/lidguard/internal/platform/bus"
)

const (
	gnome     = "org.gnome.SessionManager"
	gnomePath = dbus.ObjectPath("/org/gnome/SessionManager")
	// gsm-inhibitor-flag.h of gnome-session: 4 is "suspending the session or
	// computer". 8, "the session being marked as idle", would keep the screen
	// on and unlocked, so it is not used.
	gnomeSuspend = uint32(4)

	freedesktop     = "org.freedesktop.PowerManagement.Inhibit"
	freedesktopPath = dbus.ObjectPath("/org/freedesktop/PowerManagement/Inhibit")
)

// desktop is the session bus backend. busy is locked before mu.
type desktop struct {
	who  string
	link *bus.Link

	busy sync.Mutex // one Take, Release or Close at a time

	mu     sync.Mutex
	lock   *desktopLock
	closed bool
}

type desktopLock struct {
	service string
	owner   string
	cookie  uint32
	why     string
}

func openDesktop(o DesktopOptions) desktopBackend {
	return &desktop{who: o.Who, link: bus.Open(bus.Options{
		Address: o.SessionBus,
		Follow:  []string{gnome, freedesktop},
		Handle: func(e bus.Event) {
			switch {
			case e.Kind == bus.Owner && e.Owner != "":
				o.OnEvent(ServiceUp)
			case e.Kind == bus.Owner, e.Kind == bus.Down:
				o.OnEvent(ServiceDown)
			}
		},
	})}
}

// service returns the interface to talk to. Nothing is ever started for it: a
// session without a manager has none to hold off.
func (d *desktop) service() (name, owner string) {
	for _, name := range []string{gnome, freedesktop} {
		if owner := d.link.Owner(name); owner != "" {
			return name, owner
		}
	}
	return "", ""
}

func (d *desktop) dialect() string {
	switch name, _ := d.service(); name {
	case gnome:
		return "gnome"
	case freedesktop:
		return "freedesktop"
	}
	return ""
}

func (d *desktop) take(ctx context.Context, why string) error {
	const doing = "hold the desktop's suspend"
	d.busy.Lock()
	defer d.busy.Unlock()
	service, owner := d.service()
	d.mu.Lock()
	old, closed := d.lock, d.closed
	d.mu.Unlock()
	switch {
	case closed:
		return fmt.Errorf("%s: %w", doing, ErrClosed)
	case service == "":
		return fmt.Errorf("%s: no session manager: %w", doing, ErrUnsupported)
	case old != nil && old.owner == owner && old.why == why:
		return nil
	}
	l := &desktopLock{service: service, owner: owner, why: why}
	c := bus.Call{Service: service, Path: freedesktopPath, Method: freedesktop + ".Inhibit", Args: []any{d.who, why}, NoStart: true}
	if service == gnome {
		c.Path, c.Method, c.Args = gnomePath, gnome+".Inhibit", []any{d.who, uint32(0), why, gnomeSuspend}
	}
	c.Late = func(body []any) {
		late := *l
		if dbus.Store(body, &late.cookie) == nil {
			d.drop(context.Background(), &late)
		}
	}
	if err := d.link.Call(ctx, c, &l.cookie); err != nil {
		if errors.Is(err, bus.ErrDenied) {
			return &DeniedError{Doing: doing, Err: err}
		}
		return translateDesktop(doing, err)
	}
	d.mu.Lock()
	d.lock = l
	d.mu.Unlock()
	if old != nil {
		d.drop(ctx, old)
	}
	return nil
}

// drop gives a cookie back to the service that issued it; with that gone, so
// is the lock.
func (d *desktop) drop(ctx context.Context, l *desktopLock) error {
	if d.link.Owner(l.service) != l.owner {
		return nil
	}
	c := bus.Call{Service: l.service, Path: freedesktopPath, Method: freedesktop + ".UnInhibit", Args: []any{l.cookie}, NoStart: true}
	if l.service == gnome {
		c.Path, c.Method = gnomePath, gnome+".Uninhibit"
	}
	if err := d.link.Call(ctx, c); err != nil {
		return translateDesktop("release the desktop's suspend", err)
	}
	return nil
}

func (d *desktop) release(ctx context.Context) error {
	d.busy.Lock()
	defer d.busy.Unlock()
	d.mu.Lock()
	l := d.lock
	d.lock = nil
	d.mu.Unlock()
	if l == nil {
		return nil
	}
	return d.drop(ctx, l)
}

func (d *desktop) held(ctx context.Context) (bool, error) {
	d.mu.Lock()
	l := d.lock
	d.mu.Unlock()
	if l == nil || d.link.Owner(l.service) != l.owner {
		return false, nil
	}
	if l.service == freedesktop {
		var any bool
		err := d.link.Call(ctx, bus.Call{Service: freedesktop, Path: freedesktopPath, Method: freedesktop + ".HasInhibit", NoStart: true}, &any)
		if err != nil {
			return false, translateDesktop("read the desktop's locks", err)
		}
		return any, nil
	}
	var list []dbus.ObjectPath
	err := d.link.Call(ctx, bus.Call{Service: gnome, Path: gnomePath, Method: gnome + ".GetInhibitors", NoStart: true}, &list)
	if err != nil {
		return false, translateDesktop("read the desktop's locks", err)
	}
	for _, path := range list {
		var app string
		var flags uint32
		// An inhibitor may end between the list and the question.
		if d.link.Call(ctx, bus.Call{Service: gnome, Path: path, Method: gnome + ".Inhibitor.GetAppId", NoStart: true}, &app) != nil ||
			d.link.Call(ctx, bus.Call{Service: gnome, Path: path, Method: gnome + ".Inhibitor.GetFlags", NoStart: true}, &flags) != nil {
			continue
		}
		if app == d.who && flags&gnomeSuspend != 0 {
			return true, nil
		}
	}
	return false, nil
}

func (d *desktop) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), bus.CallTimeout)
	defer cancel()
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	d.mu.Unlock()
	err := d.release(ctx)
	if closed {
		return nil
	}
	d.link.Close() // the services drop the locks of a client that leaves
	return err
}

func translateDesktop(doing string, err error) error {
	switch {
	case errors.Is(err, bus.ErrUnavailable):
		return fmt.Errorf("%s: %w (%w)", doing, ErrUnsupported, err)
	case errors.Is(err, bus.ErrTimeout):
		return fmt.Errorf("%s: %w (%w)", doing, ErrTimeout, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
