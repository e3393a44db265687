package main

import (
	"github.com/lidguard-go/lidguard/internal/cli"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// macPower is the way to this Mac's power rights.
func macPower() *cli.MacPower {
	return &cli.MacPower{Person: person(), Rule: daemon.SudoRule{Run: command.System()}}
}
