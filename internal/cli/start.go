package cli

import (
	"github.com/google/uuid"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

type startOptions struct {
	session sessionOptions
	prompt  string
}

func (a *app) startCmd() *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use:   "start [--session ID] [--provider P]",
		Short: "track a session: keep the machine awake for it",
		Example: `id=$(lidguard start)            begin, and remember the id it prints
make world
lidguard stop --session "$id"`,
		Long: "Without --session a new id is made up and printed. Starting a session again is a\n" +
			"sign of life of it. A session that is never stopped stops counting after\n" +
			"session-timeout-minutes without a sign of life.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.start(cmd, o) },
	}
	o.session.add(cmd, "whose session it is (`PROVIDER`, default custom)")
	cmd.Flags().StringVar(&o.prompt, "prompt", "", "what the session is about (`TEXT`); the first words are shown in status")
	return cmd
}

func (a *app) start(cmd *cobra.Command, o startOptions) error {
	key, err := o.session.key(cmd)
	if err != nil {
		return err
	}
	if key.ID == "" {
		key.ID = event.SessionID(mintID())
	}
	reply, err := a.callOrLaunch(cmd.Context(), &ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{{
		Kind: event.Began, Session: key, Source: "cli start", Cwd: a.WorkDir, Prompt: event.Preview(o.prompt)}}})
	if err != nil {
		return err
	}
	out := struct {
		Session event.SessionKey `json:"session"`
		Version string           `json:"runtime_version"`
	}{key, reply.Version}
	return a.result(out, func() { a.say("%s", key.ID) })
}

// mintID makes a session id that a model can repeat without a slip: the first 8
// lower-case hex characters of a new UUID.
func mintID() string { return uuid.NewString()[:8] }
