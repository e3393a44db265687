package cli

import (
	"bytes"
	"strings"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
			"bash needs its package bash-completion for that. Where the folder is not there yet,\n" +
			"make it with `mkdir -p`.",
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
			}{args[0], script.String()}, func() { _ = a.raw(script.Bytes()) })
		},
	}
}

// completeRest keeps the shell from offering what lies in the current folder where a
// command takes no file: it does so for everything of which nothing is said.
func completeRest(cmd *cobra.Command) {
	if cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil && !takesFiles(cmd.Use) {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, done := cmd.GetFlagCompletionFunc(f.Name)
		if what, _ := pflag.UnquoteUsage(f); !done && f.NoOptDefVal == "" && !isFile(what) {
			completeWith(cmd, f.Name, nil)
		}
	})
	for _, c := range cmd.Commands() {
		completeRest(c)
	}
}

// takesFiles reports whether a usage line has a file or a command of the system's
// outside its options.
func takesFiles(use string) bool {
	value := false // of an option
	for _, word := range strings.Fields(use) {
		name := strings.Trim(word, "[].…")
		if !value && isFile(name) {
			return true
		}
		value = len(name) > 2 && strings.HasPrefix(name, "--") && !strings.HasSuffix(word, "]")
	}
	return false
}

func isFile(placeholder string) bool {
	return placeholder == "FILE" || placeholder == "DIR" || placeholder == "COMMAND"
}

// completeSessions offers the ids of the sessions that are tracked.
func (a *app) completeSessions(cmd *cobra.Command, provider func() event.Provider) {
	err := cmd.RegisterFlagCompletionFunc("session", func(cmd *cobra.Command, _ []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		reply, err := a.call(cmd.Context(), &ipc.Request{Op: ipc.OpStatus})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, s := range statusOf(reply).Sessions {
			if p := provider(); p == "" || p == s.Key.Provider {
				ids = append(ids, cobra.CompletionWithDesc(clean(string(s.Key.ID)), clean(s.Key.String()+", "+s.State)))
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the option is defined
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
			if len(args) == 1 && entry.Is(args[0]) {
				return a.raw([]byte(entry.Help(args[0])))
			}
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
