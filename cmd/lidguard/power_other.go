//go:build !linux

package main

import "github.com/lidguard-go/lidguard/internal/cli"

// power: other systems have no rights of this kind.
func power() *cli.Power { return nil }
