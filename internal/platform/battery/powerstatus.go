package battery

import (
	"encoding/binary"
	"fmt"
	"time"
)

// powerStatusSize is the size of SYSTEM_POWER_STATUS (winbase.h), the same on
// every processor.
const powerStatusSize = 12

// parsePowerStatus reads what GetSystemPowerStatus of Windows fills in. An
// uninterruptible power supply at a USB port looks like a battery there.
func parsePowerStatus(b []byte) (Reading, error) {
	if len(b) != powerStatusSize {
		return Reading{State: Unknown}, fmt.Errorf("reading the battery: %w (%d bytes, want %d)", ErrUnknown, len(b), powerStatusSize)
	}
	const (
		onBattery, onMains        = 0, 1
		chargingBit, noBatteryBit = 8, 128
		unknownByte               = 255
	)
	line, flags, percent := b[0], b[1], b[2]
	seconds := int32(binary.LittleEndian.Uint32(b[4:])) // -1: unknown
	r := Reading{State: Unknown, Source: "windows"}
	switch {
	case line != onBattery && line != onMains:
		return Reading{State: Unknown}, fmt.Errorf("reading the battery: %w (Windows does not know what the machine draws from)", ErrUnknown)
	case flags != unknownByte && flags&noBatteryBit != 0:
		return r, nil
	case flags == unknownByte || percent > 100:
		return Reading{State: Unknown}, fmt.Errorf("reading the battery: %w (Windows knows no charge)", ErrUnknown)
	}
	r.Present, r.OnBattery, r.Percent = true, line == onBattery, float64(percent)
	switch {
	case flags&chargingBit != 0 && !r.OnBattery:
		r.State = Charging
	case r.OnBattery && percent == 0:
		r.State = Empty
	case r.OnBattery:
		r.State = Discharging
		if seconds > 0 {
			r.ToEmpty = time.Duration(seconds) * time.Second
		}
	case percent == 100:
		r.State = Full
	default:
		r.State = Idle
	}
	return r, nil
}
