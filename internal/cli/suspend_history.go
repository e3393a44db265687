package cli

import (
	"fmt"
	"strconv"

	"github.com/lidguard-go/lidguard/internal/notify"
	"github.com/spf13/cobra"
)

func (a *app) suspendHistoryCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "suspend-history [N]",
		Short:   "the last times lidguard suspended the machine",
		Example: `lidguard suspend-history 3`,
		Long:    "Newest last; all that are remembered (suspend-history-count) without N.",
		Args:    upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := 0
			if len(args) == 1 {
				var err error
				if n, err = strconv.Atoi(args[0]); err != nil || n < 1 {
					return usagef(cmd, "suspend-history: %q is no whole number from 1", args[0])
				}
			}
			return a.suspendHistory(n)
		},
	}
}

func (a *app) suspendHistory(n int) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	all, err := notify.History(d.History())
	if err != nil {
		return hintBroken(err, "move the file away; the next suspend begins a new history")
	}
	if n > 0 && len(all) > n {
		all = all[len(all)-n:]
	}
	if all == nil {
		all = []notify.Suspend{} // JSON: an empty list, not null
	}
	return a.result(all, func() {
		if len(all) == 0 {
			a.note("lidguard has not suspended this machine yet")
		}
		var rows [][]string
		for _, s := range all {
			detail := s.Detail
			if s.Celsius != nil {
				detail = fmt.Sprintf("%.0f °C %s", *s.Celsius, detail)
			}
			woke := ""
			if !s.Woke.IsZero() {
				woke = "woke after " + span(s.Woke.Sub(s.Time))
			}
			rows = append(rows, []string{s.Time.In(a.Now().Location()).Format("2006-01-02 15:04:05"), s.Mode, s.Reason, s.Result, count(s.Sessions, "session"), woke, detail})
		}
		a.table("", rows)
	})
}
