package thermal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// sudoPath runs powermetrics, which needs root: without a password (-n) or not
// at all.
const sudoPath = "/usr/bin/sudo"

// Powermetrics is the one command that ReadPowermetrics runs as root, word by
// word as the sudoers rule must have it. It samples for a second.
func Powermetrics() []string {
	return []string{"/usr/bin/powermetrics", "--samplers", "smc", "-n", "1", "-i", "1000"}
}

// ReadPowermetrics reads the sensors that macOS tells. Macs with Intel processors
// have them; those with Apple silicon know no sampler "smc" and give
// ErrNoSensor, as does a missing right.
func ReadPowermetrics(ctx context.Context, run command.Runner) (Reading, error) {
	out, err := run.Output(ctx, sudoPath, append([]string{"-n"}, Powermetrics()...)...)
	if err != nil {
		return Reading{}, fmt.Errorf("reading temperatures: %w (%w)", ErrNoSensor, err)
	}
	r := parsePowermetrics(string(out))
	if len(r.Sensors) == 0 {
		return r, fmt.Errorf("reading temperatures: %w (powermetrics tells none)", ErrNoSensor)
	}
	return r, nil
}

// parsePowermetrics reads lines like "CPU die temperature: 76.93 C".
func parsePowermetrics(out string) Reading {
	var r Reading
	for line := range strings.Lines(out) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " temperature: ")
		value, celsius := strings.CutSuffix(value, " C")
		if !ok || !celsius {
			continue
		}
		c, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil:
			r.Skipped = append(r.Skipped, Skipped{Name: name, Path: "powermetrics", Why: fmt.Sprintf("not a number: %q", value)})
		case !(c > lowest && c < highest): // also NaN
			r.Skipped = append(r.Skipped, Skipped{Name: name, Path: "powermetrics", Why: fmt.Sprintf("%g °C is no temperature of a working machine", c)})
		default:
			r.Sensors = append(r.Sensors, Sensor{Name: name, Path: "powermetrics", Celsius: c})
		}
	}
	return r
}
