package thermal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// read goes through the kernel's two lists: thermal zones (kernel
// Documentation/driver-api/thermal/sysfs-api.rst) and hardware monitors
// (Documentation/hwmon/sysfs-interface.rst), both in thousandths of a degree.
func read(root string) (r Reading, err error) {
	zones, _ := filepath.Glob(filepath.Join(root, "/sys/class/thermal/thermal_zone*/temp"))
	for _, path := range zones {
		dir := filepath.Dir(path)
		if content(filepath.Join(dir, "mode")) == "disabled" {
			r.Skipped = append(r.Skipped, Skipped{content(filepath.Join(dir, "type")), path, "switched off"})
			continue
		}
		r.add(path, content(filepath.Join(dir, "type")))
	}
	inputs, _ := filepath.Glob(filepath.Join(root, "/sys/class/hwmon/hwmon*/temp*_input"))
	for _, path := range inputs {
		dir := filepath.Dir(path)
		// A zone appears as a monitor, too, and would weigh twice.
		if device, err := filepath.EvalSymlinks(dir); err == nil && strings.Contains(device, "/thermal_zone") {
			continue
		}
		base := strings.TrimSuffix(filepath.Base(path), "_input")
		name := strings.TrimSpace(content(filepath.Join(dir, "name")) + " " + content(filepath.Join(dir, base+"_label")))
		if content(filepath.Join(dir, base+"_fault")) == "1" {
			r.Skipped = append(r.Skipped, Skipped{name, path, "reports a fault"})
			continue
		}
		r.add(path, name)
	}
	if len(r.Sensors) == 0 {
		return r, fmt.Errorf("%w (%d left out)", ErrNoSensor, len(r.Skipped))
	}
	return r, nil
}

// content returns a small file's text, or "" where there is none.
func content(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

func (r *Reading) add(path, name string) {
	skip := func(why string) { r.Skipped = append(r.Skipped, Skipped{name, path, why}) }
	b, err := os.ReadFile(path)
	if err != nil {
		skip(err.Error()) // a radio that is off, a device that sleeps
		return
	}
	text := strings.TrimSpace(string(b))
	milli, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		skip(fmt.Sprintf("says %q", text))
		return
	}
	c := float64(milli) / 1000
	if c <= lowest || c >= highest {
		skip(fmt.Sprintf("says %g °C", c))
		return
	}
	r.Sensors = append(r.Sensors, Sensor{name, path, c})
}
