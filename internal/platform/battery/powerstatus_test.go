package battery

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"
)

// status lays out SYSTEM_POWER_STATUS.
func status(line, flags, percent byte, seconds int32) []byte {
	b := make([]byte, powerStatusSize)
	b[0], b[1], b[2] = line, flags, percent
	binary.LittleEndian.PutUint32(b[4:], uint32(seconds))
	binary.LittleEndian.PutUint32(b[8:], 1<<32-1)
	return b
}

func TestParsePowerStatus(t *testing.T) {
	for name, c := range map[string]struct {
		b    []byte
		want Reading
	}{
		"on battery":                      {status(0, 1, 85, 7200), Reading{true, true, 85, Discharging, 0, 2 * time.Hour, "windows"}},
		"on battery, just unplugged":      {status(0, 0, 50, -1), Reading{true, true, 50, Discharging, 0, 0, "windows"}},
		"empty":                           {status(0, 4, 0, 0), Reading{true, true, 0, Empty, 0, 0, "windows"}},
		"charging":                        {status(1, 8|2, 20, -1), Reading{true, false, 20, Charging, 0, 0, "windows"}},
		"full":                            {status(1, 1, 100, -1), Reading{true, false, 100, Full, 0, 0, "windows"}},
		"held at a charge limit":          {status(1, 1, 80, -1), Reading{true, false, 80, Idle, 0, 0, "windows"}},
		"no battery":                      {status(1, 128, 255, -1), Reading{State: Unknown, Source: "windows"}},
		"a time that mains has no use of": {status(1, 0, 60, 600), Reading{true, false, 60, Idle, 0, 0, "windows"}},
	} {
		got, err := parsePowerStatus(c.b)
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

func TestParsePowerStatus_unknownIsNeitherMainsNorEmpty(t *testing.T) {
	for name, b := range map[string][]byte{
		"the supply is unknown":  status(255, 1, 50, -1),
		"the battery is unknown": status(0, 255, 50, -1),
		"the charge is unknown":  status(0, 1, 255, -1),
		"cut short":              status(0, 1, 50, -1)[:4],
		"nothing":                nil,
	} {
		if r, err := parsePowerStatus(b); !errors.Is(err, ErrUnknown) || r.Present || r.OnBattery {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}
