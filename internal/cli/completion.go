package cli

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) completionCmd() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "print a script that completes lidguard's words in a shell",
		Example: `lidguard completion bash > ~/.local/share/bash-completion/completions/lidguard
lidguard completion zsh > "${fpath[1]}/_lidguard"
lidguard completion fish > ~/.config/fish/completions/lidguard.fish
lidguard completion powershell >> $PROFILE`,
		Long: "SHELL is one of " + strings.Join(shells, ", ") + ". A new shell knows the words;\n" +
			"bash needs its package bash-completion for that.",
		Args:      oneOf(shells...),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(cmd, "completion needs a shell (%s)", strings.Join(shells, ", "))
			}
			var script bytes.Buffer
			root := cmd.Root()
			var err error
			switch args[0] {
			case "bash":
				err = root.GenBashCompletionV2(&script, true)
			case "zsh":
				err = root.GenZshCompletion(&script)
			case "fish":
				err = root.GenFishCompletion(&script, true)
			case "powershell":
				err = root.GenPowerShellCompletionWithDesc(&script)
			}
			if err != nil {
				return err
			}
			return a.result(struct {
				Shell string `json:"shell"`
				Text  string `json:"text"`
			}{args[0], script.String()}, func() { err = a.raw(script.Bytes()) })
		},
	}
}

// helpCmd is `lidguard help`, which may be followed by a command.
func (a *app) helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "list all commands, or explain one",
		Example: "lidguard help settings",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if at, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				names = commandNames(at)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at := cmd.Root()
			for _, word := range args {
				next := child(at, word)
				if next == nil {
					return unknownCommand(at, word)
				}
				at = next
			}
			a.help(at)
			return nil
		},
	}
}

func child(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}
