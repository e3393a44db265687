package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

func (a *app) stopCmd() *cobra.Command {
	var o sessionOptions
	cmd := &cobra.Command{
		Use:     "stop --session ID [--provider P]",
		Short:   "end a session that start began",
		Example: `lidguard stop --session 1f0c2a9b`,
		Long:    "This is the normal end: webhooks are called and, with the lid closed, the machine\nis suspended as after any agent. Stopping twice, or what is not tracked, is harmless.",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.stop(cmd, o) },
	}
	o.add(cmd, "whose session it is (`PROVIDER`, default custom)")
	a.completeSessions(cmd, func() event.Provider { return event.Provider(cmp.Or(o.provider, string(event.Custom))) })
	return cmd
}

func (a *app) stop(cmd *cobra.Command, o sessionOptions) error {
	key, err := o.key(cmd)
	if err != nil {
		return err
	}
	if key.ID == "" {
		return usagef(cmd, "stop needs --session")
	}
	// The session is looked for first: a typo in an id must not look like an end.
	d, err := a.dirs()
	if err != nil {
		return err
	}
	ask := a.call
	if a.leftLive(d) {
		ask = a.callOrLaunch // a runtime died with sessions, which a new one knows
	}
	reply, err := ask(cmd.Context(), &ipc.Request{Op: ipc.OpStatus})
	running := !errors.Is(err, ipc.ErrNotRunning)
	if running && err != nil {
		return err
	}
	tracked := false
	if running {
		same := o.matching(statusOf(reply).Sessions)
		if tracked = slices.Contains(same, key); !tracked && o.provider == "" && len(same) > 0 {
			return hint(fmt.Errorf("no session %s is tracked, but %s is", key, same[0]),
				"to stop that one add --provider "+string(same[0].Provider))
		}
	}
	if tracked {
		if _, err = a.call(cmd.Context(), &ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{
			Kind: event.Stopped, Session: key, Source: "cli stop", Tasks: []event.Task{}}}}); err != nil {
			return err
		}
	}
	out := struct {
		Session event.SessionKey `json:"session"`
		Running bool             `json:"runtime_running"`
		Tracked bool             `json:"tracked"`
	}{key, running, tracked}
	return a.result(out, func() {
		switch {
		case !running:
			a.note("no runtime is running, so nothing was held for %s", key)
		case !tracked:
			a.note("no session %s is tracked, so nothing was held for it; `lidguard status` lists the sessions", key)
		default:
			a.note("%s stopped", key)
		}
	})
}
