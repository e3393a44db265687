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
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			reply, err := a.call(cmd.Context(), &ipc.Request{Op: ipc.OpOrphans})
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
