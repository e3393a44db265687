package entry

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// Launch starts a runtime for the command line and returns once it answers, or
// when ctx ends.
func Launch(ctx context.Context, env Env, dirs paths.Dirs) error {
	h := &hook{env: env, dirs: dirs, deadline: env.Now().Add(Limit)}
	if err := h.startRuntime(); err != nil {
		return err
	}
	// A person can wait a little longer than a hook.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		_, err := h.callPatiently(ctx, &ipc.Request{Op: ipc.OpAway})
		slow := errors.Is(err, errSlowStart) || errors.Is(err, os.ErrDeadlineExceeded)
		if err == nil || ctx.Err() != nil || !slow {
			return err
		}
	}
}
