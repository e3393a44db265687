// Package notice hears what Windows tells of lid, power and sleep. In comes a
// function to tell; out go events, in order, from a window that nobody sees.
// It reads nothing by itself, decides nothing and writes nothing.
package notice

import (
	"encoding/binary"
	"strings"
)

// Kind tells events apart.
type Kind string

const (
	// LidOpen and LidClosed come once right after Open where there is a lid, then
	// with each change.
	LidOpen   Kind = "lid open"
	LidClosed Kind = "lid closed"
	// Power: the supply, the charge or a screen changed; look again.
	Power Kind = "power"
	// Scheme: another power scheme, or another value in it, counts now.
	Scheme Kind = "scheme"
	// Sleeping: the machine sleeps in at most two seconds. Woke: it is back,
	// perhaps without anybody before it.
	Sleeping Kind = "sleeping"
	Woke     Kind = "woke"
)

// The messages and their details (winuser.h; WM_POWERBROADCAST of the Windows
// documentation).
const (
	wmPowerBroadcast = 0x0218

	pbtSuspend         = 0x0004
	pbtResumeSuspend   = 0x0007 // a person is there, after resumeAutomatic
	pbtStatusChange    = 0x000a
	pbtResumeAutomatic = 0x0012 // every wake-up
	pbtSettingChange   = 0x8013
)

// The settings whose changes are told (winnt.h).
const (
	lidSwitch        = "ba3e0f4d-b817-4094-a2d1-d56379e6a0f3" // GUID_LIDSWITCH_STATE_CHANGE
	powerSource      = "5d3e9a59-e9d5-4b00-a6bd-ff34ff516548" // GUID_ACDC_POWER_SOURCE
	batteryRemaining = "a7ad8041-b45a-4cae-87a3-eecbb468a9e1" // GUID_BATTERY_PERCENTAGE_REMAINING
	displayState     = "6fe69556-704a-47a0-8f24-c28d936fda47" // GUID_CONSOLE_DISPLAY_STATE
	personality      = "245d8541-3943-4422-b025-13a784f679b7" // GUID_POWERSCHEME_PERSONALITY
)

func settings() []string {
	return []string{lidSwitch, powerSource, batteryRemaining, displayState, personality}
}

// decode turns a message into a Kind; "" is none that matters. setting and data
// are those of a POWERBROADCAST_SETTING, empty for other details.
func decode(message uint32, detail uintptr, setting string, data []byte) Kind {
	if message != wmPowerBroadcast {
		return ""
	}
	switch detail {
	case pbtSuspend:
		return Sleeping
	case pbtResumeAutomatic:
		return Woke
	case pbtResumeSuspend, pbtStatusChange:
		return Power
	case pbtSettingChange:
	default:
		return ""
	}
	switch strings.ToLower(setting) {
	case lidSwitch:
		if len(data) < 4 {
			return ""
		}
		switch binary.LittleEndian.Uint32(data) {
		case 0:
			return LidClosed
		case 1:
			return LidOpen
		}
	case powerSource, batteryRemaining, displayState:
		return Power
	case personality:
		return Scheme
	}
	return ""
}
