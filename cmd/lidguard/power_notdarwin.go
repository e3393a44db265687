//go:build !darwin

package main

import "github.com/lidguard-go/lidguard/internal/cli"

// macPower: other systems have no rights of this kind.
func macPower() *cli.MacPower { return nil }
