package entry

import (
	"os/signal"
	"runtime/debug"
	"syscall"
)

// OneShot sets the process up for one hook event. The garbage collector is off:
// what one event allocates is a small multiple of its payload, and the process is
// gone before a collection would have paid. A bound stays, for the largest
// payloads. The stack gets the room of a whole chain at once. A client that stops listening must not kill us in the middle, so
// writing to a closed pipe is an error and no signal.
func OneShot() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(256 << 20)
	signal.Ignore(syscall.SIGPIPE)
	makeRoom(0)
}

// makeRoom grows the stack to what the deepest chains use, in one step instead of
// three: each copies all that is on it, for which it reads tables of every function
// there. What makes it grow is the size of the frame, which is never touched.
//
//go:noinline
func makeRoom(n int) byte {
	if n == 0 {
		return 0
	}
	var room [20 << 10]byte
	return room[n]
}
