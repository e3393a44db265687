//go:build !linux && !darwin && !windows

package display

import "fmt"

// Read counts the displays; here it cannot.
func Read(string) (Reading, error) {
	return Reading{}, fmt.Errorf("counting displays on %s: %w (%w)", system, ErrUnknown, ErrUnsupported)
}

type silent struct{}

func listen(func()) notifier { return silent{} }

func (silent) pushes() bool { return false }
func (silent) close()       {}
