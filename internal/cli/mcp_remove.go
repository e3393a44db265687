package cli

import (
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/spf13/cobra"
)

func (a *app) mcpRemoveCmd() *cobra.Command {
	dryRun := false
	cmd := a.mcpCommand("mcp-remove", "take lidguard's MCP server out of an agent",
		"lidguard mcp-remove claude",
		"An entry that lidguard wrote into a file itself is taken out by itself, byte for byte;\n"+
			"else the client's own command does it. Entries of others are left alone.",
		func(cmd *cobra.Command, use, skipped []mcpClient, in installation) error {
			return a.changeMCP(cmd, use, skipped, in, dryRun, mcpChange{mcpClient.Unregister, install.Missing, "removed"})
		})
	addSwitch(cmd.Flags(), &dryRun, "dry-run", "show what would happen and change nothing")
	return cmd
}
