package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

type hookEventsOptions struct {
	provider string
	count    int
}

func (a *app) hookEventsCmd() *cobra.Command {
	o := hookEventsOptions{count: 20}
	cmd := &cobra.Command{
		Use:     "hook-events --provider P [--count N]",
		Short:   "the last hook calls, newest last",
		Example: `lidguard hook-events --provider claude --count 5`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, err := a.hookProviders(cmd, o.provider)
			if err != nil {
				return err
			}
			if o.count < 1 {
				return usagef(cmd, "--count cannot be %d: allowed is a whole number from 1", o.count)
			}
			return a.hookEvents(names, o.count)
		},
	}
	a.addProvider(cmd, &o.provider)
	cmd.Flags().IntVar(&o.count, "count", o.count, "how many (default 20)")
	return cmd
}

func (a *app) hookEvents(providers []string, count int) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	events := []ipc.HookEvent{}
	for _, p := range providers {
		for _, path := range []string{d.HookEvents(p) + ".1", d.HookEvents(p)} {
			more, err := readHookEvents(path)
			if err != nil {
				return err
			}
			events = append(events, more...)
		}
	}
	slices.SortStableFunc(events, func(a, b ipc.HookEvent) int { return a.Time.Compare(b.Time) })
	events = events[max(0, len(events)-count):]
	return a.result(events, func() {
		if len(events) == 0 {
			a.note("no hook has been called yet")
		}
		var rows [][]string
		for _, e := range events {
			answer := e.Answer
			if e.Error != "" {
				answer = "error: " + e.Error
			}
			rows = append(rows, []string{when(e.Time, a.Now()), string(e.Provider), e.Event, string(e.Session), e.Tool, answer, e.Prompt})
		}
		a.table("", rows)
	})
}

// readHookEvents reads one log file. Lines that do not parse are left out: the
// last one may be half written.
func readHookEvents(path string) ([]ipc.HookEvent, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the hook log: %w", err)
	}
	defer f.Close()
	var out []ipc.HookEvent
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, ipc.MaxMessage)
	for lines.Scan() {
		var e ipc.HookEvent
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			out = append(out, e)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the hook log: %w", err)
	}
	return out, nil
}
