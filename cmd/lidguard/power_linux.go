package main

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"strconv"

	"github.com/lidguard-go/lidguard/internal/cli"
	"github.com/lidguard-go/lidguard/internal/daemon"
)

// power is the way to this machine's power rights.
func power() *cli.Power {
	p := &cli.Power{
		Rule:  daemon.PowerRule{Root: os.Getenv("LIDGUARD_ROOT")},
		Check: func(ctx context.Context) daemon.Rights { return daemon.CheckRights(ctx, os.Getenv) },
		Root:  os.Geteuid() == 0,
		Sudo: func(ctx context.Context, argv []string) error {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			return cmd.Run()
		},
	}
	if me, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		p.User = me.Username
	} else {
		p.User = os.Getenv("USER") // users of a directory, which only libc finds
	}
	if caller := os.Getenv("SUDO_USER"); p.Root && caller != "" {
		p.User = caller
	}
	return p
}
