//go:build unix && !linux

package child

type familyOf = family

// bound does nothing: the limits of a process that runs cannot be set from outside.
func (f family) bound(uint64) {}
