package cli

import (
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/spf13/cobra"
)

// removeWebhookCmd makes the command that switches one webhook off; it exists
// beside `settings --…-url off` since scripts rely on its name.
func (a *app) removeWebhookCmd(name, key string) *cobra.Command {
	return &cobra.Command{
		Use:     name,
		Short:   "switch " + key + " off",
		Example: "lidguard " + name,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.settings(cmd.Context(), []settings.Change{{Key: key, Value: "off"}})
		},
	}
}
