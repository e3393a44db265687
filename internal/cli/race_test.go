//go:build race

package cli_test

// raceEnabled: a program with the race detector takes ten times as long to start.
const raceEnabled = true
