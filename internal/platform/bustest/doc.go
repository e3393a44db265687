//go:build !linux

// Package bustest is empty here: the buses it doubles exist on Linux only.
package bustest
