package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/spf13/cobra"
)

func (a *app) hooksDismissCmd() *cobra.Command {
	var again bool
	cmd := &cobra.Command{
		Use:   "dismiss NUDGE [--again]",
		Short: "give a nudge no more",
		Example: `lidguard hooks dismiss deploy-hours
lidguard hooks dismiss deploy-hours --again`,
		Long: "Nudges are in the rulebook ([[nudge]]) and in nudges.json beside it. A dismissed one stays\n" +
			"there and is not given to any session; --again takes that back.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "dismiss needs the id of one nudge")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.hooksDismiss(args[0], again) },
	}
	addSwitch(cmd.Flags(), &again, "again", "give it again")
	return cmd
}

func (a *app) hooksDismiss(id string, again bool) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	ids, err := entry.NudgeIDs(d)
	if err != nil {
		return err
	}
	if !slices.Contains(ids, id) {
		if len(ids) == 0 {
			return hint(fmt.Errorf("there is no nudge %q, and no other", id), "nudges are in "+d.Rules()+" and in nudges.json beside it")
		}
		return hint(fmt.Errorf("there is no nudge %q", id), "there are "+strings.Join(ids, ", "))
	}
	if err := entry.Dismiss(d, id, again); err != nil {
		return err
	}
	if again {
		a.say("%s is given again", id)
	} else {
		a.say("%s is given no more", id)
	}
	return nil
}
