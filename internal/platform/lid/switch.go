package lid

import (
	"context"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/notice"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

// switchPatience is how long a first reading waits for Windows to tell the lid,
// which it does right after it is asked to (some milliseconds; chosen).
const switchPatience = time.Second

// Switch is the lid of Windows, which cannot be read, only heard: the last word
// counts. The zero Switch is not usable; see NewSwitch. Its methods are safe from
// several goroutines.
type Switch struct {
	presence Presence

	mu    sync.Mutex
	state State
	mute  bool          // the first reading waited in vain
	told  chan struct{} // closed with the first word
}

// NewSwitch returns a switch of which nothing was heard yet.
func NewSwitch(presence Presence) *Switch {
	return &Switch{presence: presence, told: make(chan struct{})}
}

// Tell is what Windows told. An unknown state changes nothing.
func (s *Switch) Tell(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == Unknown {
		return
	}
	if s.state == Unknown {
		close(s.told)
	}
	s.state = state
}

// Read returns what was told last. The first reading waits a moment for a word.
// Windows may speak of a lid on machines without one, which is not believed.
func (s *Switch) Read(ctx context.Context) Reading {
	if s.presence == Absent {
		return Reading{Presence: Absent, Source: "windows", Why: "this machine has no lid"}
	}
	s.mu.Lock()
	wait := switchPatience
	if s.mute {
		wait = 0
	}
	s.mu.Unlock()
	patience := time.NewTimer(wait)
	defer patience.Stop()
	mute := false
	select {
	case <-s.told:
	case <-ctx.Done():
	case <-patience.C:
		mute = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mute = mute
	if s.state == Unknown {
		return Reading{Presence: s.presence, Source: "windows", Why: "Windows did not tell of the lid"}
	}
	return Reading{State: s.state, Presence: Present, Source: "windows"}
}

// StateOf returns what a notice of Windows says of the lid; Unknown is nothing.
func StateOf(k notice.Kind) State {
	switch k {
	case notice.LidOpen:
		return Open
	case notice.LidClosed:
		return Closed
	}
	return Unknown
}

// PresenceOf asks Windows whether there is a lid.
func PresenceOf(power sleep.Power) Presence {
	a, err := power.Abilities()
	switch {
	case err != nil:
		return PresenceUnknown
	case a.Lid:
		return Present
	}
	return Absent
}
