//go:build !linux && !darwin && !windows

package battery

import (
	"context"
	"fmt"
)

type nothing struct{}

func open(Options, func()) backend { return nothing{} }

func (nothing) read(context.Context) (Reading, error) {
	return Reading{State: Unknown}, fmt.Errorf("reading the battery on %s: %w (%w)", system, ErrUnknown, ErrUnsupported)
}
func (nothing) pushes() bool { return true } // polling would find nothing new
func (nothing) close()       {}
