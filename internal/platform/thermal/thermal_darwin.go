package thermal

import (
	"context"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// readLimit bounds one run of powermetrics, which samples for a second.
const readLimit = 5 * time.Second

func read(string) (Reading, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readLimit)
	defer cancel()
	return ReadPowermetrics(ctx, command.System())
}
