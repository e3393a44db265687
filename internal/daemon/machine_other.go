//go:build !linux && !darwin && !windows

package daemon

import (
	"context"
	"fmt"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// noMachine is a system that this build cannot keep awake. Sessions are tracked
// and shown all the same; every claim it could make, it does not make.
type noMachine struct{}

func openSystem(func(string) string) (awake.Machine, func()) { return noMachine{}, func() {} }

func unsupported(what string) error { return fmt.Errorf("%s: %w", what, awake.ErrUnsupported) }

func (noMachine) Acquire(_ context.Context, hold awake.Hold, _ string) (awake.Lock, error) {
	return nil, unsupported("taking " + string(hold))
}
func (noMachine) Held(context.Context) ([]awake.Hold, error) { return nil, nil }
func (noMachine) Lid(context.Context) (awake.Lid, error) {
	return awake.LidUnknown, unsupported("reading the lid")
}
func (noMachine) Displays(context.Context) (int, error) {
	return awake.UnknownDisplays, unsupported("counting displays")
}
func (noMachine) Battery(context.Context) (awake.Battery, error) {
	return awake.Battery{}, unsupported("reading the battery")
}
func (noMachine) Heat(context.Context, string) (float64, error) {
	return 0, unsupported("reading the temperature")
}
func (noMachine) CanSuspend(_ context.Context, mode awake.Mode) error {
	return unsupported(string(mode))
}
func (noMachine) Suspend(_ context.Context, mode awake.Mode) error { return unsupported(string(mode)) }
func (noMachine) Watch(ctx context.Context, tell func(awake.Fact)) error {
	tell(awake.Fact{Kind: awake.FactLid, Lid: awake.LidUnknown})
	tell(awake.Fact{Kind: awake.FactDisplays, Displays: awake.UnknownDisplays})
	tell(awake.Fact{Kind: awake.FactBattery})
	<-ctx.Done()
	return nil
}
func (noMachine) Restore(context.Context) error { return nil }

var _ awake.Machine = noMachine{}
