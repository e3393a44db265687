package cli

import (
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/spf13/cobra"
)

func (a *app) providerMCPRemoveCmd() *cobra.Command {
	var o providerMCPOptions
	cmd := &cobra.Command{
		Use:     "provider-mcp-remove --config FILE [--provider-name N]",
		Short:   "take lidguard's provider server out of an MCP client",
		Example: `lidguard provider-mcp-remove --config ~/agent/mcp.json`,
		Long:    "With --provider-name only an entry of that provider goes.",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.providerMCPRemove(cmd, o) },
	}
	o.add(cmd)
	addSwitch(cmd.Flags(), &o.dryRun, "dry-run", "show the change and write nothing")
	return cmd
}

func (a *app) providerMCPRemove(cmd *cobra.Command, o providerMCPOptions) error {
	file, want, in, err := a.providerFile(cmd, o, false)
	if err != nil {
		return err
	}
	r := mcpResult{File: file.Path, Changed: []install.Done{}}
	plan, err := file.Unregister(want, in.records)
	r.fail(err)
	if err == nil {
		a.carryOutMCP(cmd.Context(), in, install.Registration{Plan: plan}, nil, o.dryRun, &r)
	}
	r.State = file.Status(want).State
	return a.showMCPResults([]mcpResult{r}, nil, "removed")
}
