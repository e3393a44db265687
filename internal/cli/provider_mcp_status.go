package cli

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/spf13/cobra"
)

// providerMCPOptions name an MCP client's config, and the provider in it.
type providerMCPOptions struct {
	config string
	name   string
	dryRun bool
}

func (o *providerMCPOptions) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.config, "config", "", "the client's config, JSON with or without comments (`FILE`)")
	addProviderName(cmd, &o.name)
}

func addProviderName(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "provider-name", "", "what the agent is called here (`N`)")
}

// checkProviderName refuses what no provider can be called.
func checkProviderName(cmd *cobra.Command, name string, needed bool) error {
	switch {
	case name == "" && needed:
		return usagef(cmd, "%s needs --provider-name", cmd.Name())
	case clean(name) != name || strings.TrimSpace(name) != name || len(name) > maxID || strings.HasPrefix(name, "-"):
		return usagef(cmd, "%q cannot be a provider's name: it is one line of at most %d bytes, not beginning with a dash", name, maxID)
	}
	return nil
}

// file checks the options and returns the config and the entry that is wanted.
func (a *app) providerFile(cmd *cobra.Command, o providerMCPOptions, nameNeeded bool) (install.ServerFile, install.Server, installation, error) {
	none := func(err error) (install.ServerFile, install.Server, installation, error) {
		return install.ServerFile{}, install.Server{}, installation{}, err
	}
	if o.config == "" {
		return none(usagef(cmd, "%s needs --config", cmd.Name()))
	}
	if err := checkProviderName(cmd, o.name, nameNeeded); err != nil {
		return none(err)
	}
	in, err := a.mcpInstallation()
	if err != nil {
		return none(err)
	}
	path, err := install.FindMain(a.GOOS, a.Env, a.Executable)
	if err != nil {
		return none(err)
	}
	return install.ServerFile{Path: a.absolute(o.config)}, install.ProviderServer(path, o.name), in, nil
}

func (a *app) providerMCPStatusCmd() *cobra.Command {
	var o providerMCPOptions
	cmd := &cobra.Command{
		Use:     "provider-mcp-status --config FILE [--provider-name N]",
		Short:   "is lidguard's provider server registered in an MCP client",
		Example: `lidguard provider-mcp-status --config ~/agent/mcp.json`,
		Long:    "Exit code 0 only when the server is registered for this program.",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.providerMCPStatus(cmd, o) },
	}
	o.add(cmd)
	return cmd
}

func (a *app) providerMCPStatus(cmd *cobra.Command, o providerMCPOptions) error {
	file, want, _, err := a.providerFile(cmd, o, false)
	if err != nil {
		return err
	}
	r := file.Status(want)
	name := o.name
	if name == "" {
		name = install.ProviderOf(r.Command)
	}
	if name == "" {
		name = "N"
	}
	return a.showServerReports([]serverReport{withRemedy(r, "lidguard provider-mcp-install --config "+o.config+" --provider-name "+name)})
}
