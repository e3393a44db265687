package cli

import (
	"context"
	"errors"
	"time"

	"github.com/lidguard-go/lidguard/internal/mcpserver"
	"github.com/spf13/cobra"
)

func (a *app) providerMCPServerCmd() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "provider-mcp-server --provider-name N",
		Short:   "let an agent without hooks report its sessions (MCP on stdin and stdout)",
		Example: `lidguard provider-mcp-install --config ~/agent/mcp.json --provider-name acme`,
		Long: "Agents start it; see provider-mcp-install. All of it depends on the model doing what the\n" +
			"tools' descriptions ask, so it is best effort and guarantees nothing.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkProviderName(cmd, name, true); err != nil {
				return err
			}
			return a.serveProviderMCP(cmd.Context(), name)
		},
	}
	addProviderName(cmd, &name)
	return cmd
}

// farewell bounds what is said to the runtime after the client has gone.
const farewell = 2 * time.Second

func (a *app) serveProviderMCP(ctx context.Context, name string) error {
	p := mcpserver.NewProvider(a.serverConfig(ctx), name)
	err := a.serveMCP(ctx, p.Server)
	// The client is gone, or this process is told to end: either way the sessions
	// it began here are over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return errors.Join(err, p.Close(ctx))
}
