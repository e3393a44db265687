// Package thermal reads how hot the machine is. In comes a way to combine the
// sensors; out goes one temperature, with every sensor that was left out and
// why. It decides nothing and writes nothing.
package thermal

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoSensor is matched where no sensor gave a temperature. Nobody may
	// take that for cool, nor for hot.
	ErrNoSensor = errors.New("no readable temperature sensor")
	// ErrUnsupported is matched, besides ErrNoSensor, on a system where
	// lidguard cannot read them yet.
	ErrUnsupported = errors.New("not supported on this system")
)

// Mode is how several sensors become one temperature.
type Mode string

const (
	Low     Mode = "low"     // the coolest
	Average Mode = "average" // the mean of processor, board and case
	High    Mode = "high"    // the hottest
)

// What lies outside is a broken or unconnected sensor: zones that are switched
// off say 0 °C or -273 °C, and silicon does not live at 150 °C. Guessed, not
// measured; a machine in deep frost shows no sensor, which is harmless.
const (
	lowest  = 0.0   // °C, exclusive
	highest = 150.0 // °C, exclusive
)

// A Sensor is one temperature.
type Sensor struct {
	Name    string  // what it measures, as far as the system knows: "x86_pkg_temp"
	Path    string  // where it was read
	Celsius float64 // °C
}

// Skipped is a sensor that was left out.
type Skipped struct{ Name, Path, Why string }

// A Reading is all sensors at one moment.
type Reading struct {
	Sensors []Sensor
	Skipped []Skipped
}

// Celsius combines the sensors, in °C. Errors match ErrNoSensor.
func (r Reading) Celsius(mode Mode) (float64, error) {
	if len(r.Sensors) == 0 {
		return 0, fmt.Errorf("%w (%d left out)", ErrNoSensor, len(r.Skipped))
	}
	low, high := r.Sensors[0].Celsius, r.Sensors[0].Celsius
	for _, s := range r.Sensors {
		low, high = min(low, s.Celsius), max(high, s.Celsius)
	}
	switch mode {
	case Low:
		return low, nil
	case High:
		return high, nil
	case Average:
		return r.average(), nil
	}
	return 0, fmt.Errorf("temperature mode %q is none of %q, %q, %q", string(mode), Low, Average, High)
}

// average is the mean without the sensors of drives, radios, memory and
// batteries: they stay near 40 °C whatever the processor does, and a handful of
// them would hold the mean of a machine at 100 °C below any threshold. Where there
// are no others, they are what is known.
func (r Reading) average() float64 {
	sum, n := 0.0, 0
	for _, s := range r.Sensors {
		if !aside(s.Name) {
			sum, n = sum+s.Celsius, n+1
		}
	}
	if n > 0 {
		return sum / float64(n)
	}
	for _, s := range r.Sensors {
		sum += s.Celsius
	}
	return sum / float64(len(r.Sensors))
}

// aside reports whether a sensor is that of a part which does not follow the
// machine's heat, by the names of the kernel's drivers (drivers/hwmon, drivers/nvme,
// drivers/net, drivers/power). A name that is not known counts.
func aside(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"nvme", "drivetemp", "iwlwifi", "ath1", "mt7", "rtw8", "r8169", "bat", "sbs", "spd5118", "jc42", "ucsi"} {
		if strings.HasPrefix(name, part) {
			return true
		}
	}
	return false
}

// Read reads every sensor under root ("" is the real one). A reading without
// sensors is an error that matches ErrNoSensor; Skipped is filled even then.
func Read(root string) (Reading, error) { return read(root) }
