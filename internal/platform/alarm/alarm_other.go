//go:build !linux

package alarm

import "time"

// timer is nothing here. macOS sets a wake-up with `pmset schedule`, which is root's
// alone and not among the calls of the sudoers rule; Windows' wake timers are off
// by default on battery and with modern standby.
type timer struct{}

var noTimer timer

func (a *Alarm) set(time.Time) error { return ErrUnsupported }
