package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/spf13/cobra"
)

func (a *app) hooksRunCheckCmd() *cobra.Command {
	dir := "."
	cmd := &cobra.Command{
		Use:     "run-check CHECK [--dir DIR]",
		Short:   "run a [[check]] that changes wait for",
		Example: `lidguard hooks run-check tests --dir ~/src/api`,
		Long: "Hooks start this in the background after a change. It runs the check for as long as changes\n" +
			"in the folder wait for it and keeps what is new for the sessions that made them; where another\n" +
			"process does so already, it does nothing.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(cmd, "run-check needs the id of one check")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.hooksRunCheck(cmd.Context(), args[0], dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "the session's folder (`DIR`)")
	return cmd
}

func (a *app) hooksRunCheck(ctx context.Context, id, dir string) error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("--dir %q is no folder", dir)
	}
	if err := entry.RunCheck(ctx, entry.Env{OS: a.GOOS, Getenv: a.Env, Environ: os.Environ()}, d, id, dir); err != nil {
		return hint(err, "`lidguard hooks list` shows which checks the rulebook has")
	}
	return nil
}
