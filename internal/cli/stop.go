package cli

import (
	"errors"

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
		Long:    "This is the normal end: webhooks are called and, with the lid closed, the machine\nis suspended as after any agent. Stopping twice is harmless.",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.stop(cmd, o) },
	}
	o.add(cmd, "whose session it is (`PROVIDER`, default custom)")
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
	_, err = a.call(cmd.Context(), &ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{
		Kind: event.Stopped, Session: key, Source: "cli stop", Tasks: []event.Task{}}}})
	running := !errors.Is(err, ipc.ErrNotRunning)
	if running && err != nil {
		return err
	}
	out := struct {
		Session event.SessionKey `json:"session"`
		Running bool             `json:"runtime_running"`
	}{key, running}
	return a.result(out, func() {
		if !running {
			a.note("no runtime is running, so nothing was held for %s", key)
			return
		}
		a.note("%s stopped", key)
	})
}
