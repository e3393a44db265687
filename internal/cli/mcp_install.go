package cli

import (
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/spf13/cobra"
)

func (a *app) mcpInstallCmd() *cobra.Command {
	dryRun := false
	cmd := a.mcpCommand("mcp-install", "register lidguard's MCP server in an agent",
		"lidguard mcp-install claude\nlidguard mcp-install all --dry-run",
		"Runs the client's own command (codex mcp add, claude mcp add --scope user, copilot mcp\n"+
			"add) where it is on PATH and nothing of yours gets lost by it; else edits the client's\n"+
			"file and keeps every other byte. Running it again changes nothing.",
		func(cmd *cobra.Command, use, skipped []mcpClient, in installation) error {
			return a.changeMCP(cmd, use, skipped, in, dryRun, mcpChange{mcpClient.Register, install.Installed, "registered"})
		})
	addSwitch(cmd.Flags(), &dryRun, "dry-run", "show what would happen and change nothing")
	return cmd
}
