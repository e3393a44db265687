package cli

import (
	"errors"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

func (a *app) cleanupOrphansCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "cleanup-orphans",
		Short:   "forget the sessions whose agent is gone",
		Example: `lidguard cleanup-orphans`,
		Long: "Where the runtime died with sessions under way, a new one is started, which holds the\n" +
			"machine again for those whose agent lives.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.dirs()
			if err != nil {
				return err
			}
			req := &ipc.Request{Op: ipc.OpOrphans}
			reply, err := a.call(cmd.Context(), req)
			if errors.Is(err, ipc.ErrNotRunning) && a.leftLive(d) {
				// One starts, takes the sessions up again and holds for those
				// whose agent lives.
				reply, err = a.callOrLaunch(cmd.Context(), req)
			}
			if err != nil && !errors.Is(err, ipc.ErrNotRunning) {
				return err
			}
			var removed int
			if err == nil {
				removed = reply.Removed
			}
			return a.result(struct {
				Removed int `json:"removed"`
			}{removed}, func() { a.say("%s removed", count(removed, "session")) })
		},
	}
}
