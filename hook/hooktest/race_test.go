//go:build race

package hooktest

// sampled is how many payloads one is taken of where all would say the same: the
// race detector makes them ten times as slow.
const sampled = 40
