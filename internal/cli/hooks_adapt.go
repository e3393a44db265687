package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
	"github.com/spf13/cobra"
)

type hooksAdaptOptions struct {
	provider, event string
	gate            bool
	timeout         time.Duration
}

func (a *app) hooksAdaptCmd() *cobra.Command {
	var o hooksAdaptOptions
	cmd := &cobra.Command{
		Use:   "adapt --provider P [--event E] [--gate] -- COMMAND...",
		Short: "run a hook that was written for Claude Code under another agent",
		Example: `lidguard hooks adapt --provider codex --gate -- ~/.claude/hooks/no-secrets.py
lidguard hooks adapt --provider copilot --event preToolUse -- ./format.sh`,
		Long: "Put this line where the other agent wants its hook. The agent's payload is handed to the\n" +
			"command as Claude Code would send it, tools and arguments by Claude Code's names, and its\n" +
			"answer is given to the agent in the agent's own words. What the agent has no words for\n" +
			"becomes what is safest: an ask on Codex is a refusal. docs/prove.md has the table.\n\n" +
			"Copilot and OpenCode do not name the event in the payload; say it with --event. With --gate a\n" +
			"command that crashes, hangs or answers nonsense before a call refuses the call; without it\n" +
			"such a command has said nothing. The exit code is the one that the agent reads.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			argv, err := behindDashes(cmd, args)
			if err != nil {
				return err
			}
			return a.hooksAdapt(cmd, o, argv)
		},
	}
	addCase(cmd, &o.provider, &o.event)
	addSwitch(cmd.Flags(), &o.gate, "gate", "refuse the call when the command fails")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 20*time.Second, "how long the command may take (`DURATION`)")
	return cmd
}

func (a *app) hooksAdapt(cmd *cobra.Command, o hooksAdaptOptions, argv []string) error {
	if _, ok := census.Of(event.Provider(o.provider)); !ok {
		return usagef(cmd, "--provider cannot be %q: there are %s", o.provider, strings.Join(censusNames(), ", "))
	}
	if len(argv) == 0 {
		return usagef(cmd, "adapt needs a command behind --")
	}
	if o.event != "" {
		_, native, err := nativeEvent(cmd, o.provider, o.event)
		if err != nil {
			return err
		}
		o.event = native
	}
	payload, err := io.ReadAll(io.LimitReader(a.Stdin, entry.MaxPayload+1))
	if err != nil || len(payload) > entry.MaxPayload {
		payload = nil // not judged in part
	}
	ad := replay.Adapter{Provider: event.Provider(o.provider), Event: o.event, Gate: o.gate, Getenv: a.Env}
	body, err := replay.NewForeign(argv, a.WorkDir, a.WorkDir, os.Environ())
	if err != nil {
		ad.Body = missing{err} // a hook that is not there fails as its role says
	} else {
		body.Limit = o.timeout
		ad.Body = body
	}
	out, err := ad.Answer(cmd.Context(), payload)
	if err != nil {
		return err
	}
	// A hook's streams are its client's: not a byte of our own goes there.
	if err := a.raw(out.Stdout); err != nil {
		return err
	}
	if _, err := a.err.Write(out.Stderr); err != nil {
		return err
	}
	if out.Code != 0 {
		return exitCode(out.Code)
	}
	return nil
}

// missing is a hook that cannot be started.
type missing struct{ err error }

func (m missing) Run(context.Context, replay.Case) (replay.Answer, error) {
	return replay.Answer{}, m.err
}
