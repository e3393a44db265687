package cli

import (
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/spf13/cobra"
)

func (a *app) providerMCPInstallCmd() *cobra.Command {
	var o providerMCPOptions
	cmd := &cobra.Command{
		Use:     "provider-mcp-install --config FILE --provider-name N",
		Short:   "register lidguard's provider server in an MCP client",
		Example: `lidguard provider-mcp-install --config ~/agent/mcp.json --provider-name acme`,
		Long: "For agents without hooks: the model itself reports its sessions by tool calls. Only the\n" +
			"entry mcpServers." + install.ProviderServerName + " changes; comments and every other byte stay.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.providerMCPInstall(cmd, o) },
	}
	o.add(cmd)
	addSwitch(cmd.Flags(), &o.dryRun, "dry-run", "show the change and write nothing")
	return cmd
}

func (a *app) providerMCPInstall(cmd *cobra.Command, o providerMCPOptions) error {
	file, want, in, err := a.providerFile(cmd, o, true)
	if err == nil {
		err = checkProgram(want.Command)
	}
	if err != nil {
		return err
	}
	r := mcpResult{File: file.Path, Changed: []install.Done{}}
	plan, err := file.Register(want, in.records)
	r.fail(err)
	if err == nil {
		a.carryOutMCP(cmd.Context(), in, install.Registration{Plan: plan}, nil, o.dryRun, &r)
	}
	r.State = file.Status(want).State
	return a.showMCPResults([]mcpResult{r}, nil, "registered")
}
