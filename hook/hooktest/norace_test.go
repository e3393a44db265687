//go:build !race

package hooktest

// sampled is how many payloads one is taken of where all would say the same.
const sampled = 8
