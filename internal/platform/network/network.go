// Package network tells whether this machine has a way out: a default route of the
// system's own tables. In comes nothing but the root that files are read below
// (tests), out comes up or not. It sends no packet and asks nobody, so it cannot
// tell a network that leads nowhere from one that works.
package network

// Up reports whether there is a default route. The error says why that cannot be
// known. root is prefixed to paths under /proc.
func Up(root string) (bool, error) { return up(root) }
