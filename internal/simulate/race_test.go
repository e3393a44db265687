//go:build race

package simulate_test

// raceEnabled: the race detector makes every step ten times dearer.
const raceEnabled = true
