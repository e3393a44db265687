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
			return a.mcpRemove(cmd, use, skipped, in, dryRun)
		})
	addSwitch(cmd.Flags(), &dryRun, "dry-run", "show what would happen and change nothing")
	return cmd
}

func (a *app) mcpRemove(cmd *cobra.Command, use, skipped []mcpClient, in installation, dryRun bool) error {
	want, err := a.mcpServer()
	if err != nil {
		return err
	}
	var results []mcpResult
	for _, c := range use {
		r := mcpResult{Provider: c.Provider(), Changed: []install.Done{}}
		r.File = c.Status(want).File // the file may be gone afterwards
		reg, err := c.Unregister(want, in.records, a.find)
		r.fail(err)
		if err == nil {
			a.carryOutMCP(cmd.Context(), in, reg, func() bool { return c.Status(want).State == install.Missing }, dryRun, &r)
		}
		r.State = c.Status(want).State
		results = append(results, r)
	}
	return a.showMCPResults(results, skipped, "removed")
}
