package sleep

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// LidNothing is the value under which the lid may close. The others are 1 sleep, 2
// hibernate and 3 shut down (`powercfg /query`).
const LidNothing = "0"

// LidAction is the lasting.Values of Windows. A value's name says scheme and
// power source, since another scheme may be active when it is put back:
//
//	LIDACTION mains 381b4222-f694-41f0-9685-ff5bb260df2e
type LidAction struct{ Schemes Schemes }

const (
	lidActionMains   = "LIDACTION mains "
	lidActionBattery = "LIDACTION battery "
)

// Names returns the two values of the scheme that counts now.
func (l LidAction) Names() ([]string, error) {
	scheme, err := l.Schemes.ActiveScheme()
	if err != nil {
		return nil, fmt.Errorf("asking for the power scheme: %w", err)
	}
	return []string{lidActionMains + scheme, lidActionBattery + scheme}, nil
}

// Shut reports whether the lid may close now: the active scheme does nothing
// then, whatever the machine runs on.
func (l LidAction) Shut(ctx context.Context) (bool, error) {
	names, err := l.Names()
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if value, err := l.Read(ctx, name); err != nil || value != LidNothing {
			return false, err
		}
	}
	return true, nil
}

func parseLidName(name string) (scheme string, mains bool, err error) {
	scheme, mains = strings.CutPrefix(name, lidActionMains)
	battery := false
	if !mains {
		scheme, battery = strings.CutPrefix(name, lidActionBattery)
	}
	if !mains && !battery || !isGUID(scheme) {
		return "", false, fmt.Errorf("%q is no lid setting: %w", name, ErrUnsupported)
	}
	return scheme, mains, nil
}

// isGUID: 8-4-4-4-12 digits in lower case. The name comes from a file.
func isGUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range s {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdef", r) {
			return false
		}
	}
	return true
}

// Read returns a value, or "" where its scheme is not there (any more): there is
// nothing to put back then.
func (l LidAction) Read(ctx context.Context, name string) (string, error) {
	scheme, mains, err := parseLidName(name)
	if err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	action, err := l.Schemes.LidAction(scheme, mains)
	switch {
	case errors.Is(err, ErrNoSetting):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return strconv.FormatUint(uint64(action), 10), nil
}

// Write sets a value. Errors match *BarredError where a policy has it.
func (l LidAction) Write(ctx context.Context, name, value string) error {
	scheme, mains, err := parseLidName(name)
	if err != nil {
		return err
	}
	action, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return fmt.Errorf("%s %q is no action", name, value)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.Schemes.SetLidAction(scheme, mains, uint32(action)); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
