package main

import (
	"context"
	"os"

	"github.com/lidguard-go/lidguard/internal/cli"
	"github.com/lidguard-go/lidguard/internal/daemon"
)

// power is the way to this machine's power rights.
func power() *cli.Power {
	return &cli.Power{
		Person: person(),
		Rule:   daemon.PowerRule{Root: os.Getenv("LIDGUARD_ROOT")},
		Check:  func(ctx context.Context) daemon.Rights { return daemon.CheckRights(ctx, os.Getenv) },
	}
}
