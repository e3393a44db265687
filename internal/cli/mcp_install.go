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
			return a.mcpInstall(cmd, use, skipped, in, dryRun)
		})
	addSwitch(cmd.Flags(), &dryRun, "dry-run", "show what would happen and change nothing")
	return cmd
}

func (a *app) mcpInstall(cmd *cobra.Command, use, skipped []mcpClient, in installation, dryRun bool) error {
	want, err := a.mcpServer()
	if err != nil {
		return err
	}
	var results []mcpResult
	for _, c := range use {
		r := mcpResult{Provider: c.Provider(), Changed: []install.Done{}}
		reg, err := c.Register(want, in.records, a.find)
		r.fail(err)
		if err == nil {
			a.carryOutMCP(cmd.Context(), in, reg, func() bool { return c.Status(want).State == install.Installed }, dryRun, &r)
		}
		status := c.Status(want)
		r.File, r.State = status.File, status.State
		results = append(results, r)
	}
	return a.showMCPResults(results, skipped, "registered")
}
