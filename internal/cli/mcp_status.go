package cli

import "github.com/spf13/cobra"

func (a *app) mcpStatusCmd() *cobra.Command {
	return a.mcpCommand("mcp-status", "is lidguard's MCP server registered in an agent",
		"lidguard mcp-status all\nlidguard mcp-status codex --json",
		"Reads the client's file; nothing is started. Exit code 0 only when the server is\nregistered for this program.",
		func(_ *cobra.Command, use, skipped []mcpClient, _ installation) error {
			return a.mcpStatus(use, skipped)
		})
}

func (a *app) mcpStatus(use, skipped []mcpClient) error {
	want, err := a.mcpServer()
	if err != nil {
		return err
	}
	reports := []serverReport{}
	for _, c := range use {
		reports = append(reports, withRemedy(c.Status(want), "lidguard mcp-install "+string(c.Provider())))
	}
	for _, c := range skipped {
		r := serverReport{ServerReport: c.Status(want), Skipped: c.Title() + " has not been used here"}
		reports = append(reports, r)
	}
	return a.showServerReports(reports)
}
