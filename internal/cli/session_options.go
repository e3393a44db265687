package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

// sessionOptions name a session on the command line.
type sessionOptions struct {
	provider string
	name     string
	id       string
}

func (o *sessionOptions) add(cmd *cobra.Command, providerHelp string) {
	f := cmd.Flags()
	f.StringVar(&o.id, "session", "", "the session's `ID`")
	f.StringVar(&o.provider, "provider", "", providerHelp)
	f.StringVar(&o.name, "provider-name", "", "the provider's `NAME`, for --provider mcp")
	completeWith(cmd, "provider", providerNames())
}

func providerNames() []string {
	var names []string
	for _, p := range event.Providers() {
		names = append(names, string(p))
	}
	return names
}

func completeWith(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the option was defined a line above
	}
}

// maxID bounds a session id in bytes. Clients use UUIDs; people write names.
const maxID = 200

// check refuses what no session can be called. An empty provider or id is fine
// here; commands that need one say so.
func (o *sessionOptions) check(cmd *cobra.Command) error {
	provider, ok := event.ParseProvider(o.provider)
	if o.provider != "" && !ok {
		return hint(&usageError{fmt.Errorf("no provider %q", o.provider)},
			didYouMean(o.provider, providerNames(), "--provider ", "the providers are "+strings.Join(providerNames(), ", ")))
	}
	if o.name != "" && provider != event.MCP {
		return usagef(cmd, "--provider-name is only for --provider mcp")
	}
	for _, text := range []string{o.id, o.name} {
		if clean(text) != text || strings.TrimSpace(text) != text || len(text) > maxID {
			return usagef(cmd, "%q cannot be an id or a name: they are one line of at most %d bytes", text, maxID)
		}
	}
	return nil
}

// key is the session's key; the provider is custom when none was given.
func (o *sessionOptions) key(cmd *cobra.Command) (event.SessionKey, error) {
	if err := o.check(cmd); err != nil {
		return event.SessionKey{}, err
	}
	provider := event.Custom
	if o.provider != "" {
		provider = event.Provider(o.provider)
	}
	if provider == event.MCP && o.name == "" {
		return event.SessionKey{}, usagef(cmd, "--provider mcp needs --provider-name")
	}
	return event.SessionKey{Provider: provider, ID: event.SessionID(o.id), Name: o.name}, nil
}

// matching returns the sessions that the options name.
func (o *sessionOptions) matching(sessions []ipc.Session) []event.SessionKey {
	var out []event.SessionKey
	for _, s := range sessions {
		if string(s.Key.ID) == o.id && (o.provider == "" || string(s.Key.Provider) == o.provider) &&
			(o.name == "" || s.Key.Name == o.name) {
			out = append(out, s.Key)
		}
	}
	slices.SortFunc(out, func(a, b event.SessionKey) int { return strings.Compare(a.String(), b.String()) })
	return out
}
