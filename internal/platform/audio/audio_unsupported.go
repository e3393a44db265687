//go:build !linux && !darwin && !windows

package audio

import (
	"context"
	"fmt"
)

func (p Player) play(_ context.Context, sound string, _ int) error {
	return fmt.Errorf("playing %q on %s: %w", sound, system, ErrUnsupported)
}
