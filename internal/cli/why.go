package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

type whyOptions struct {
	at string
}

func (a *app) whyCmd() *cobra.Command {
	var o whyOptions
	cmd := &cobra.Command{
		Use:   "why [--at TIME]",
		Short: "the evidence for every hold and release",
		Example: `lidguard why
lidguard why --at 03:12
lidguard why --at 2026-11-30T03:12:00Z`,
		Long: "TIME is a time of today (15:04 or 15:04:05), a local date and time (2006-01-02 15:04),\n" +
			"RFC 3339, or how long ago (90m).",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.why(cmd, o) },
	}
	cmd.Flags().StringVar(&o.at, "at", "", "a past moment (`TIME`) instead of now")
	return cmd
}

func (a *app) why(cmd *cobra.Command, o whyOptions) error {
	req := &ipc.Request{Op: ipc.OpWhy}
	if o.at != "" {
		at, err := parseMoment(o.at, a.Now())
		if err != nil {
			return hint(&usageError{err}, seeHelp(cmd))
		}
		req.At = at
	}
	reply, err := a.call(cmd.Context(), req)
	if errors.Is(err, ipc.ErrNotRunning) {
		return hint(errors.New("no runtime is running, so nothing is held"), "`lidguard why --at TIME` needs a running runtime too; it begins with the next session")
	}
	if err != nil {
		return err
	}
	return a.result(reply.Why, func() { a.showWhy(reply.Why) })
}

// showWhy prints the evidence, whatever fields this runtime gives it: keys and
// values, indented the way they are nested.
func (a *app) showWhy(raw json.RawMessage) {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		a.say("%s", raw)
		return
	}
	for line := range bytes.Lines(b.Bytes()) {
		a.say("%s", bytes.TrimRight(line, "\n"))
	}
}

// parseMoment reads a moment the ways people write one. A bare time of day that
// lies ahead means yesterday's.
func parseMoment(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	local := now.Local()
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(form, text, local.Location()); err == nil {
			return t, nil
		}
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(form, text); err == nil {
			at := time.Date(local.Year(), local.Month(), local.Day(), t.Hour(), t.Minute(), t.Second(), 0, local.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("no moment %q", text)
}
