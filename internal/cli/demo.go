package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/lidguard-go/lidguard/internal/demo"
	"github.com/spf13/cobra"
)

type demoOptions struct{ quick bool }

func (a *app) demoCmd() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "watch the main job, on a made-up laptop",
		Example: `lidguard demo
lidguard demo --quick`,
		Long: "Plays recorded sessions of Claude Code and Codex through the real hook program and the\n" +
			"real runtime, in about 20 seconds. The laptop is made up: nothing on this machine is\n" +
			"touched, outside a temporary folder that is removed again. Exit code 1 if anything\n" +
			"happens that should not.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd, o) },
	}
	addSwitch(cmd.Flags(), &o.quick, "quick", "without pauses for reading")
	return cmd
}

func (a *app) demo(cmd *cobra.Command, o demoOptions) error {
	dir, err := os.MkdirTemp("", "lidguard-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the demo: %w", err)
	}
	defer os.RemoveAll(dir)
	hook := a.Executable
	if beside := filepath.Join(filepath.Dir(a.Executable), "lidguard-hook"+filepath.Ext(a.Executable)); exists(beside) {
		hook = beside
	}
	pace := time.Second
	if o.quick {
		pace = 0
	}
	var env []string
	for _, name := range []string{"PATH", "SystemRoot", "TEMP", "TMP", "TMPDIR"} {
		if v := a.Env(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	var told []string
	err = demo.Run(ctx, demo.Options{
		Lidguard: a.Executable, Hook: hook, Dir: dir, Env: env, Pace: pace, Now: a.Now,
		Say: func(format string, args ...any) {
			told = append(told, fmt.Sprintf(format, args...))
			if !a.json && a.say(format, args...) != nil {
				stop() // nobody looks any more
			}
		},
	})
	if a.out.failed != nil {
		return a.out.failed
	}
	if err != nil && ctx.Err() != nil {
		return errors.New("the demo was stopped; nothing of it is left")
	}
	if err != nil {
		return fmt.Errorf("the demo went wrong: %w", err)
	}
	return a.result(struct {
		OK   bool     `json:"ok"`
		Told []string `json:"told"`
	}{true, told}, func() {})
}
