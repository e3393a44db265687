//go:build !linux && !darwin && !windows

package thermal

import "fmt"

func read(string) (Reading, error) {
	return Reading{}, fmt.Errorf("reading temperatures on %s: %w (%w)", system, ErrNoSensor, ErrUnsupported)
}
