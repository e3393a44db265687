package thermal

import "testing"

// A hot processor among cool drives, radios and batteries is a hot machine.
func TestCelsius_averageLeavesPartsAsideThatStayCool(t *testing.T) {
	cool := []Sensor{{Name: "nvme Composite", Celsius: 38}, {Name: "nvme Sensor 1", Celsius: 38}, {Name: "iwlwifi_1", Celsius: 41},
		{Name: "BAT0", Celsius: 30}, {Name: "drivetemp", Celsius: 35}, {Name: "spd5118", Celsius: 40}}
	for _, c := range []struct {
		name    string
		sensors []Sensor
		want    float64
	}{
		{"only what follows the heat counts", append([]Sensor{{Name: "x86_pkg_temp", Celsius: 97}, {Name: "acpitz", Celsius: 95}}, cool...), 96},
		{"a name that is not known counts", append([]Sensor{{Name: "k10temp Tctl", Celsius: 90}, {Name: "thing", Celsius: 80}}, cool...), 85},
		{"nothing else is there", []Sensor{{Name: "nvme Composite", Celsius: 40}, {Name: "BAT0", Celsius: 30}}, 35},
	} {
		r := Reading{Sensors: c.sensors}
		if got, err := r.Celsius(Average); err != nil || got != c.want {
			t.Errorf("%s: %g °C, %v, want %g", c.name, got, err, c.want)
		}
		if low, err := r.Celsius(Low); err != nil || low > 40 {
			t.Errorf("%s: the lowest is %g °C, %v: no sensor is left out of it", c.name, low, err)
		}
	}
}
