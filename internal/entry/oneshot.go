package entry

import (
	"os/signal"
	"runtime/debug"
	"syscall"
)

// OneShot sets the process up for one hook event. The garbage collector is off:
// what one event allocates is a small multiple of its payload, and the process is
// gone before a collection would have paid. A bound stays, for the largest
// payloads. A client that stops listening must not kill us in the middle, so
// writing to a closed pipe is an error and no signal.
func OneShot() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(256 << 20)
	signal.Ignore(syscall.SIGPIPE)
}
