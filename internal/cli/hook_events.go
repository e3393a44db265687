package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/spf13/cobra"
)

type hookEventsOptions struct {
	provider string
	count    int
	follow   bool
}

// followPace is how often --follow looks for new lines. A person reads along, so
// sooner gains nothing, and a log is turned over far less often.
const followPace = 250 * time.Millisecond

func (a *app) hookEventsCmd() *cobra.Command {
	o := hookEventsOptions{count: 20}
	cmd := &cobra.Command{
		Use:   "hook-events --provider P [--count N] [--follow]",
		Short: "the last hook calls, newest last",
		Example: `lidguard hook-events --provider claude --count 5
lidguard hook-events --provider all --follow`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			names, err := a.hookProviders(cmd, o.provider)
			if err != nil {
				return err
			}
			if o.count < 1 {
				return usagef(cmd, "--count cannot be %d: allowed is a whole number from 1", o.count)
			}
			tick := time.NewTicker(followPace)
			defer tick.Stop()
			return a.hookEvents(cmd.Context(), names, o, tick.C)
		},
	}
	a.addProvider(cmd, &o.provider)
	cmd.Flags().IntVar(&o.count, "count", o.count, "how many (default 20)")
	cmd.Flags().BoolVar(&o.follow, "follow", false, "then show each call as it comes, until Ctrl-C; with --json one object a line")
	return cmd
}

// hookEvents shows the last calls and, to follow, those that each tick finds, until
// ctx ends.
func (a *app) hookEvents(ctx context.Context, providers []string, o hookEventsOptions, tick <-chan time.Time) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	logs := make([]*hookLog, len(providers))
	for i, p := range providers {
		logs[i] = &hookLog{path: d.HookEvents(p)}
	}
	events, err := readHookLogs(d, logs)
	if err != nil {
		return err
	}
	events = events[max(0, len(events)-o.count):]
	if !o.follow {
		return a.result(events, func() {
			if len(events) == 0 {
				a.note("no hook has been called yet")
			}
			a.showHookEvents(events)
		})
	}
	for {
		if err := a.followed(events); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is how one leaves
		case <-tick:
		}
		if events, err = readHookLogs(d, logs); err != nil {
			return err
		}
	}
}

// followed shows events that came together.
func (a *app) followed(events []ipc.HookEvent) error {
	if !a.json {
		a.showHookEvents(events)
		return a.out.failed // nobody looks any more
	}
	var lines []byte
	for i := range events {
		lines = append(ipc.AppendHookEvent(lines, &events[i]), '\n')
	}
	return a.raw(lines)
}

func (a *app) showHookEvents(events []ipc.HookEvent) {
	var rows [][]string
	for _, e := range events {
		answer := e.Answer
		if e.Error != "" {
			answer = "error: " + e.Error
		}
		rows = append(rows, []string{when(e.Time, a.Now()), string(e.Provider), e.Event, string(e.Session), e.Tool, answer, e.Prompt})
	}
	a.table("", rows)
}

// readHookLogs returns what is new in the logs, in the order of time. Prompts from
// before previews were switched off are not shown.
func readHookLogs(d paths.Dirs, logs []*hookLog) ([]ipc.HookEvent, error) {
	events := []ipc.HookEvent{}
	for _, l := range logs {
		more, err := l.read()
		if err != nil {
			return nil, fmt.Errorf("reading the hook log: %w", err)
		}
		events = append(events, more...)
	}
	if len(events) == 0 {
		return events, nil
	}
	slices.SortStableFunc(events, func(a, b ipc.HookEvent) int { return a.Time.Compare(b.Time) })
	if s, err := settings.Load(d.Settings()); err == nil && !s.PromptPreviews {
		for i := range events {
			events[i].Prompt = ""
		}
	}
	return events, nil
}

// hookLog reads one provider's log, a piece at a time and over the moment when it
// is turned over. It holds nothing open, since that would keep Windows from
// renaming the file.
type hookLog struct {
	path   string
	begun  bool
	info   os.FileInfo // of the file read last; nil while there was none
	offset int64       // of the first byte not handed out
}

// read returns the calls written since the last read, at first all there are.
func (l *hookLog) read() ([]ipc.HookEvent, error) {
	var before []ipc.HookEvent
	if !l.begun {
		var err error
		if before, _, _, err = readHookEvents(l.path+".1", 0); err != nil {
			return nil, err
		}
		l.begun = true
	}
	events, info, end, err := readHookEvents(l.path, l.offset)
	switch {
	case err != nil:
		return nil, err
	case info == nil: // there is none, or it was turned over just now
		return before, nil
	case l.info != nil && !os.SameFile(info, l.info):
		// Another file: first what the old one got after the last read, then all
		// of the new one.
		rest, old, _, err := readHookEvents(l.path+".1", l.offset)
		if err != nil {
			return nil, err
		}
		if old != nil && os.SameFile(old, l.info) {
			before = rest
		}
		if events, info, end, err = readHookEvents(l.path, 0); err != nil || info == nil {
			return nil, err
		}
	}
	l.info, l.offset = info, end
	return append(before, events...), nil
}

// readHookEvents reads a log file from offset on, and tells which file it was (nil:
// there is none) and where its last whole line ends. Lines that do not parse are
// left out.
func readHookEvents(path string, offset int64) (events []ipc.HookEvent, info os.FileInfo, end int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, 0, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, offset, 4*ipc.MaxHookLog))
	if err != nil {
		return nil, nil, 0, err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1] // the last line may be half written
	for line := range bytes.Lines(whole) {
		var e ipc.HookEvent
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events, info, offset + int64(len(whole)), nil
}
