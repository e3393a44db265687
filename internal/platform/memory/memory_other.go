//go:build !linux

package memory

func unmapFile() {}
