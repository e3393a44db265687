package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

type removeSessionOptions struct {
	session sessionOptions
	all     bool
}

func (a *app) removeSessionCmd() *cobra.Command {
	var o removeSessionOptions
	cmd := &cobra.Command{
		Use:   "remove-session --all | --session ID [--provider P] [--provider-name N]",
		Short: "forget a session, without webhooks or suspend",
		Example: `lidguard remove-session --session 1f0c2a9b
lidguard remove-session --all`,
		Long: "The agent itself is not touched. A suspend that is already on its way stays so.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.removeSession(cmd, o) },
	}
	o.session.add(cmd, "whose session it is (`PROVIDER`); needed only where two have the same id")
	a.completeSessions(cmd, func() event.Provider { return event.Provider(o.session.provider) })
	addSwitch(cmd.Flags(), &o.all, "all", "forget every session")
	return cmd
}

func (a *app) removeSession(cmd *cobra.Command, o removeSessionOptions) error {
	if err := o.session.check(cmd); err != nil {
		return err
	}
	if o.all == (o.session.id != "") {
		return usagef(cmd, "remove-session needs either --all or --session")
	}
	if o.all && (o.session.provider != "" || o.session.name != "") {
		return usagef(cmd, "--all removes the sessions of every provider; leave --provider out")
	}
	req := &ipc.Request{Op: ipc.OpRemove, All: o.all}
	none := hint(fmt.Errorf("no session %q", o.session.id), "`lidguard status` lists the sessions")
	if !o.all {
		reply, err := a.call(cmd.Context(), &ipc.Request{Op: ipc.OpStatus})
		if errors.Is(err, ipc.ErrNotRunning) {
			return none
		}
		if err != nil {
			return err
		}
		keys := o.session.matching(statusOf(reply).Sessions)
		switch len(keys) {
		case 0:
			return none
		case 1:
			req.Session = &keys[0]
		default:
			var names []string
			for _, k := range keys {
				names = append(names, k.String())
			}
			return hint(&usageError{fmt.Errorf("%d sessions have the id %q", len(keys), o.session.id)},
				"add --provider (and --provider-name): "+strings.Join(names, ", "))
		}
	}
	reply, err := a.call(cmd.Context(), req)
	if err != nil && !errors.Is(err, ipc.ErrNotRunning) {
		return err
	}
	var removed int
	if err == nil {
		removed = reply.Removed
	}
	if !o.all && removed == 0 {
		return none // it ended between the two calls
	}
	return a.result(struct {
		Removed int `json:"removed"`
	}{removed}, func() { a.say("%s removed", count(removed, "session")) })
}

// count puts a number before a noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// statusOf is the reply's status, empty when an odd runtime sent none.
func statusOf(reply *ipc.Reply) *ipc.Status {
	if reply.Status == nil {
		return &ipc.Status{}
	}
	return reply.Status
}
