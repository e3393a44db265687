//go:build !linux

package sleep

import (
	"context"
	"fmt"
)

// unsupported is the backend of a system without login1. macOS is held awake by
// Caffeinate and Pmset, Windows by Power, which a Manager has no part in.
type unsupported struct{ system string }

func (u unsupported) err(doing string) error {
	return fmt.Errorf("%s on %s: %w", doing, u.system, ErrUnsupported)
}
func (u unsupported) capabilities() Capabilities { return Capabilities{System: u.system} }
func (u unsupported) take(_ context.Context, what What, _ string) error {
	return u.err("hold " + string(what))
}
func (u unsupported) release(What) error { return nil }
func (u unsupported) holders(context.Context) ([]Holder, error) {
	return nil, u.err("list locks")
}
func (u unsupported) can(_ context.Context, how Mode) (Answer, error) {
	return No, u.err(string(how))
}
func (u unsupported) enter(_ context.Context, how Mode) error { return u.err(string(how)) }
func (u unsupported) close() error                            { return nil }

// noDesktop is the same for the desktop session.
type noDesktop struct{ u unsupported }

func (noDesktop) dialect() string                      { return "" }
func (n noDesktop) take(context.Context, string) error { return n.u.err("hold the desktop's suspend") }
func (noDesktop) release(context.Context) error        { return nil }
func (noDesktop) held(context.Context) (bool, error)   { return false, nil }
func (noDesktop) close() error                         { return nil }
