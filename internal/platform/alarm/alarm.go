// Package alarm has the system wake up at a moment of the wall clock. In comes the
// moment, out comes whether the system took it. It never decides when, and never
// asks a person for a right.
package alarm

import (
	"errors"
	"time"
)

// ErrUnsupported: this system has no way to wake up that lidguard knows.
var ErrUnsupported = errors.New("waking up by the clock is not supported on this system")

// Alarm is the one wake-up of this process. It ends with the process, except where
// the system has only the clock chip's own alarm to set.
type Alarm struct {
	root   string
	timer  timer
	onChip string // what this process wrote to the clock chip
}

// New returns an Alarm that is not set. root is prefixed to paths under /sys; where
// it is not empty only files below it are touched (tests).
func New(root string) *Alarm { return &Alarm{root: root, timer: noTimer} }

// Set has the system wake up at the moment at, in the place of what was set before;
// the zero time only takes that back. The error says who refuses.
func (a *Alarm) Set(at time.Time) error { return a.set(at) }
