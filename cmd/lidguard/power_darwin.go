package main

import (
	"context"
	"os"
	"os/exec"
	"os/user"

	"github.com/lidguard-go/lidguard/internal/cli"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// macPower is the way to this Mac's power rights.
func macPower() *cli.MacPower {
	p := &cli.MacPower{
		Rule: daemon.SudoRule{Run: command.System()},
		User: os.Getenv("USER"),
		Root: os.Geteuid() == 0,
		Sudo: func(ctx context.Context, argv []string) error {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			return cmd.Run()
		},
	}
	if me, err := user.Current(); err == nil {
		p.User = me.Username
	}
	if caller := os.Getenv("SUDO_USER"); p.Root && caller != "" {
		p.User = caller
	}
	return p
}
