package daemon

import (
	"fmt"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
)

// HoldSessionBus is the lock that a desktop session gives beside login1's.
const HoldSessionBus = "session-bus"

// More is what a machine may know beyond awake.Machine, for people only: no
// decision depends on it.
type More struct {
	BatteryLeft time.Duration // at the current drain; 0 unknown
	LidHandlers []string      // other programs that handle the lid
	Desktop     *ipc.Hold     // the desktop session's own lock; nil: no such session
}

// into adds m to a status.
func (m More) into(st *ipc.Status) {
	if m.BatteryLeft > 0 && st.OnBattery != nil && *st.OnBattery {
		minutes := int(m.BatteryLeft.Minutes())
		st.BatteryMinutes = &minutes
	}
	if st.LidHandlers = m.LidHandlers; len(m.LidHandlers) > 0 {
		st.Findings = append(st.Findings, ipc.Finding{Code: "desktop-handles-lid",
			Text:   fmt.Sprintf("%s handles the lid here, so what closing it does is up to that program", strings.Join(m.LidHandlers, ", ")),
			Remedy: "set its lid action to \"do nothing\""})
	}
	if m.Desktop != nil {
		st.Held = append(st.Held, *m.Desktop)
	}
}
