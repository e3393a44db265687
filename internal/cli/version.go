package cli

import (
	"runtime"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "show the version of this program",
		Example: `lidguard version --json`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			out := struct {
				Version  string `json:"version"`
				Protocol int    `json:"protocol"`
				Go       string `json:"go"`
				System   string `json:"system"`
			}{a.Version, ipc.Protocol, runtime.Version(), a.GOOS + "/" + runtime.GOARCH}
			return a.result(out, func() { a.say("lidguard %s (protocol %d, %s, %s)", out.Version, out.Protocol, out.System, out.Go) })
		},
	}
}
