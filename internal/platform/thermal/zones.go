package thermal

import "fmt"

// zone is one instance of Windows' performance counter for thermal zones.
type zone struct {
	name   string  // as in `\_TZ.THRM`
	kelvin float64 // NaN-free by the counter's own status
	valid  bool
}

// kelvinZero is 0 °C.
const kelvinZero = 273.15

// ofZones turns the counter's instances into a Reading. Firmware without a real
// sensor reports zones of 0 K, which are left out.
func ofZones(zones []zone) (Reading, error) {
	var r Reading
	for _, z := range zones {
		skip := func(why string) {
			r.Skipped = append(r.Skipped, Skipped{Name: z.name, Path: zonesPath, Why: why})
		}
		c := z.kelvin - kelvinZero
		switch {
		case !z.valid:
			skip("the counter has no value")
		case !(c > lowest && c < highest): // also NaN
			skip(fmt.Sprintf("%g K is no temperature of a working machine", z.kelvin))
		default:
			r.Sensors = append(r.Sensors, Sensor{Name: z.name, Path: zonesPath, Celsius: c})
		}
	}
	if len(r.Sensors) == 0 {
		return r, fmt.Errorf("reading temperatures: %w (Windows shows %d thermal zones, none with a temperature)", ErrNoSensor, len(zones))
	}
	return r, nil
}

// zonesPath is the counter's object.
const zonesPath = `\Thermal Zone Information`
