package sleep

import "context"

// DesktopOptions configure a Desktop.
type DesktopOptions struct {
	// SessionBus is the address of the D-Bus session bus. Linux only.
	SessionBus string
	// Who is shown to people as the holder; "lidguard" if empty.
	Who string
	// OnEvent receives ServiceUp and ServiceDown as for Options.
	OnEvent func(EventKind)
}

type desktopBackend interface {
	dialect() string
	take(ctx context.Context, why string) error
	release(ctx context.Context) error
	held(ctx context.Context) (bool, error)
	close() error
}

// Desktop holds off the suspend that a desktop session starts by itself when
// idle: its timer need not ask login1. The screen still blanks and locks. It is
// an addition to Manager, never a substitute.
type Desktop struct{ b desktopBackend }

// OpenDesktop touches the session bus and never fails, as Open.
func OpenDesktop(o DesktopOptions) *Desktop {
	if o.Who == "" {
		o.Who = "lidguard"
	}
	if o.OnEvent == nil {
		o.OnEvent = func(EventKind) {}
	}
	return &Desktop{openDesktop(o)}
}

// Dialect names the interface in use: "gnome" (org.gnome.SessionManager),
// "freedesktop" (org.freedesktop.PowerManagement.Inhibit), or "" for none.
func (d *Desktop) Dialect() string { return d.b.dialect() }

// Take is Manager.Take for the desktop's own suspend. Errors match
// ErrUnsupported where no session manager with such a call is running.
func (d *Desktop) Take(ctx context.Context, why string) error { return d.b.take(ctx, why) }

// Release lets go. It does nothing where nothing is held.
func (d *Desktop) Release(ctx context.Context) error { return d.b.release(ctx) }

// Held returns what the desktop says. The freedesktop interface tells only
// whether anybody inhibits; there, true is claimed only while we do.
func (d *Desktop) Held(ctx context.Context) (bool, error) { return d.b.held(ctx) }

// Close lets go and disconnects. A second call does nothing.
func (d *Desktop) Close() error { return d.b.close() }
