//go:build linux || darwin

package main

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"strconv"

	"github.com/lidguard-go/lidguard/internal/cli"
)

// person is who gives the command, and how they become root.
func person() cli.Person {
	p := cli.Person{
		User: os.Getenv("USER"), // users of a directory, which only libc finds
		Root: os.Geteuid() == 0,
		Sudo: func(ctx context.Context, argv []string) error {
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			return cmd.Run()
		},
	}
	if me, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
		p.User = me.Username
	}
	if caller := os.Getenv("SUDO_USER"); p.Root && caller != "" {
		p.User = caller
	}
	return p
}
