package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/install"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

type whyOptions struct {
	at     string
	replay string
}

func (a *app) whyCmd() *cobra.Command {
	var o whyOptions
	cmd := &cobra.Command{
		Use:   "why [--at TIME] [--replay FILE]",
		Short: "the evidence for every hold and release",
		Example: `lidguard why
lidguard why --at 03:12
lidguard why --replay inputs.jsonl --at 2026-11-30T03:12:00Z`,
		Long: "A moment of the past is told without a runtime, too, as far back as some five hundred\n" +
			"decisions reach.\n\n" +
			"TIME is a time of today (15:04 or 15:04:05), a local date and time (2006-01-02 15:04),\n" +
			"RFC 3339, or how long ago (90m).\n\n" +
			"--replay decides again from a record of inputs (inputs.jsonl in the state folder) and\n" +
			"exits with 1 if any decision comes out differently from what was recorded.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.why(cmd, o) },
	}
	cmd.Flags().StringVar(&o.at, "at", "", "a past moment (`TIME`) instead of now")
	cmd.Flags().StringVar(&o.replay, "replay", "", "decide again from a recorded `FILE`, without a runtime")
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
	if o.replay != "" {
		return a.replay(o.replay, req.At)
	}
	reply, err := a.call(cmd.Context(), req)
	if errors.Is(err, ipc.ErrNotRunning) {
		return a.whyWithout(req.At)
	}
	if err != nil {
		return err
	}
	var w daemon.Why
	if err := json.Unmarshal(reply.Why, &w); err != nil {
		return fmt.Errorf("reading the runtime's evidence: %w", err)
	}
	if req.At.IsZero() {
		w.At = a.Now() // nothing has happened since the last decision
	}
	return a.result(reply.Why, func() { a.showWhy(w, !req.At.IsZero()) })
}

// whyWithout tells of a moment, or the zero one for now, where no runtime runs.
func (a *app) whyWithout(at time.Time) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	if at.IsZero() {
		advice := "an agent's next event or `lidguard start` starts one"
		if exists(d.Sessions()) {
			advice = "`lidguard why --at TIME` tells of a moment in the past"
		}
		return hint(errors.New("no runtime is running, so nothing is held"), advice)
	}
	w, err := daemon.Remembered(d.Sessions(), at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w = daemon.Why{At: at, Sessions: []daemon.WhySession{}, Decisions: []daemon.Decision{}}
	case err != nil:
		return hintBroken(fmt.Errorf("reading what the last runtime knew: %w", err), "`lidguard why --replay "+install.ShellWord(d.Inputs())+" --at TIME` reads its other record")
	}
	return a.result(w, func() {
		if w.At.Before(at) {
			a.say("%s: nothing held, as the runtime had ended with sessions under way; this is the last it knew", when(at, a.Now()))
		}
		a.showWhy(w, true)
	})
}

// inputs is the file of the record, for a hint.
func (a *app) inputs() string {
	d, err := a.dirs()
	if err != nil {
		return "inputs.jsonl"
	}
	return d.Inputs()
}

// replayReport is what `why --replay --json` prints.
type replayReport struct {
	Inputs     int        `json:"inputs"`
	Mismatches []int      `json:"mismatches"` // numbers of the inputs, from 1
	Why        daemon.Why `json:"why"`
}

// replay decides again offline: the same inputs must come to the same effects.
func (a *app) replay(path string, at time.Time) error {
	f, err := os.Open(a.absolute(path))
	if err != nil {
		return hint(fmt.Errorf("reading the record: %w", err), "the runtime writes it to "+a.inputs())
	}
	defer f.Close()
	start, config, records, err := daemon.ReadJournal(f)
	if err != nil {
		return hint(fmt.Errorf("%q is no record of inputs: %w", path, err), "the runtime writes it to "+a.inputs())
	}
	core, _, wrong, err := daemon.Replay(start, config, records)
	if err != nil {
		return fmt.Errorf("replaying %q: %w", path, err)
	}
	report := replayReport{Inputs: len(records), Mismatches: []int{}, Why: core.Why(at)}
	for _, m := range wrong {
		report.Mismatches = append(report.Mismatches, m.Index+1)
	}
	err = a.result(report, func() {
		a.showWhy(report.Why, !at.IsZero())
		a.say("%s replayed", count(report.Inputs, "input"))
		for _, m := range wrong {
			a.say("input %d decides %s now, and decided %s then", m.Index+1, compact(m.Got), compact(m.Want))
		}
	})
	if err == nil && len(wrong) > 0 {
		return errNo{}
	}
	return err
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (a *app) showWhy(w daemon.Why, past bool) {
	now := a.Now()
	state := "free to sleep"
	switch {
	case past && w.Since.IsZero():
		state = "not known; nothing is recorded"
	case past && w.At.Before(w.Since):
		state = "not known; the record begins " + when(w.Since, now)
	case w.Protected && len(w.Bare) > 0:
		state = "not safely awake: the system did not grant " + joinHolds(w.Bare)
	case w.Protected:
		state = "kept awake"
	}
	a.say("%s: %s", when(w.At, now), state)
	for _, s := range w.Sessions {
		holds := "does not hold"
		if s.Holds {
			holds = "holds"
		}
		a.heading(clean(s.Key.String()) + " " + holds)
		var rows [][]string
		for _, e := range s.Evidence {
			what := e.What
			if e.Times > 1 {
				what += fmt.Sprintf(" (%d times until %s)", e.Times, when(e.Last.Wall, now))
			}
			rows = append(rows, []string{when(e.At.Wall, now), what, e.Source, evidenceDetail(e.Offset, e.Process, e.Holds)})
		}
		a.table("  ", rows)
	}
	if len(w.Decisions) > 0 {
		a.heading("decisions")
		var rows [][]string
		for _, d := range w.Decisions {
			who := ""
			if d.Key != nil {
				who = d.Key.String()
			}
			rows = append(rows, []string{when(d.At.Wall, now), d.What, who, d.Text})
		}
		a.table("  ", rows)
	}
}

func joinHolds(holds []awake.Hold) string {
	words := make([]string, len(holds))
	for i, h := range holds {
		words[i] = string(h)
	}
	return strings.Join(words, ", ")
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
	zone := now.Location()
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(form, text, zone); err == nil {
			return t, nil
		}
	}
	for _, form := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(form, text); err == nil {
			at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("no moment %q", text)
}

// evidenceDetail says where the evidence is and what it came to.
func evidenceDetail(offset int64, p *event.Process, holds bool) string {
	text := "released"
	if holds {
		text = "held"
	}
	if offset > 0 {
		text += fmt.Sprintf(", transcript byte %d", offset)
	}
	if p != nil {
		text += fmt.Sprintf(", process %d", p.PID)
	}
	return text
}
