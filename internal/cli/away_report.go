package cli

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lidguard-go/lidguard/internal/notify"
	"github.com/spf13/cobra"
)

func (a *app) awayReportCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "away-report [N]",
		Short: "what happened while the lid was closed",
		Example: `lidguard away-report
lidguard away-report 5 --json`,
		Long: "Prompts answered, calls blocked, sessions ended or waiting, suspends, temperatures, the\n" +
			"last time the lid was closed, or the last N times. `lidguard status` shows it once after\n" +
			"the lid opens.",
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 1
			if len(args) == 1 {
				var err error
				if n, err = strconv.Atoi(args[0]); err != nil || n < 1 {
					return usagef(cmd, "away-report: %q is no whole number from 1", args[0])
				}
			}
			return a.awayReport(n)
		},
	}
}

func (a *app) awayReport(n int) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	all, err := notify.Absences(d.AwayReport())
	if err != nil {
		return hintBroken(err, "the next time the lid closes it is begun anew")
	}
	all = all[max(0, len(all)-n):]
	if all == nil {
		all = []notify.Absence{}
	}
	err = a.result(all, func() {
		if len(all) == 0 {
			a.note("the lid has not been closed while lidguard was at work")
		}
		for _, x := range all {
			a.showAbsence(x)
		}
	})
	if err == nil && !a.json {
		// A file that cannot be written only means that status tells it again.
		_ = notify.TellAbsences(d.AwayReport())
	}
	return err
}

// welcomeBack shows, once, what happened while the lid was closed.
func (a *app) welcomeBack() {
	d, err := a.dirs()
	if err != nil || a.json {
		return
	}
	all, err := notify.Absences(d.AwayReport())
	if err != nil {
		return // away-report says so
	}
	shown := false
	for _, x := range all {
		if !x.Told && !x.Opened.IsZero() && !x.Empty() {
			a.showAbsence(x)
			shown = true
		}
	}
	if shown {
		_ = notify.TellAbsences(d.AwayReport()) // else it is told again
	}
}

func (a *app) showAbsence(x notify.Absence) {
	now := a.Now()
	if x.Opened.IsZero() {
		a.heading("lid closed since " + when(x.Closed, now))
	} else {
		a.heading(fmt.Sprintf("lid closed %s to %s (%s)", when(x.Closed, now), when(x.Opened, now), span(x.Opened.Sub(x.Closed))))
	}
	type line struct {
		at   time.Time
		what [3]string
	}
	var lines []line
	add := func(at time.Time, what, who, detail string) {
		lines = append(lines, line{at, [3]string{what, who, detail}})
	}
	for _, e := range x.Answered {
		add(e.Time, "prompt answered: "+e.Answer, e.Session, e.Tool)
	}
	for _, e := range x.Blocked {
		add(e.Time, "call blocked", e.Session, e.Tool)
	}
	for _, e := range x.Ended {
		add(e.Time, "ended", e.Session, e.Reason)
	}
	for _, e := range x.Waiting {
		add(e.Time, "waits for you", e.Session, e.Reason)
	}
	for _, s := range x.Suspends {
		detail := s.Result
		if !s.Woke.IsZero() {
			detail += " for " + span(s.Woke.Sub(s.Time))
		}
		if s.Detail != "" {
			detail += ": " + s.Detail
		}
		add(s.Time, s.Mode+" ("+s.Reason+")", "", detail)
	}
	for _, n := range x.Notes {
		add(n.Time, n.Code, "", n.Text)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var rows [][]string
	for _, l := range lines {
		rows = append(rows, []string{when(l.at, now), l.what[0], l.what[1], l.what[2]})
	}
	if x.Highest != nil {
		rows = append(rows, []string{"", "temperature", fmt.Sprintf("%.0f to %.0f °C", *x.Lowest, *x.Highest)})
	}
	if x.BatteryFrom != nil && x.BatteryTo != nil && *x.BatteryFrom != *x.BatteryTo {
		rows = append(rows, []string{"", "battery", fmt.Sprintf("%.0f to %.0f %%", *x.BatteryFrom, *x.BatteryTo)})
	}
	if x.Left > 0 {
		rows = append(rows, []string{"", "left out", fmt.Sprintf("%d more", x.Left)})
	}
	if len(rows) == 0 {
		a.say("  nothing happened")
		return
	}
	a.table("  ", rows)
}
