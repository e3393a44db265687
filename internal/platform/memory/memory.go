// Package memory gives back to the system what this process no longer needs. It takes
// nothing, returns nothing and changes nothing that the process can see; it never asks
// whether the moment is a good one.
package memory

import "runtime/debug"

// Release gives back what the garbage collector holds in reserve and, on Linux, the
// pages of the program's own file that were needed once. It takes some milliseconds;
// afterwards each page that is needed again costs a microsecond, a few hundred for the
// first event. Any goroutine may call it at any time.
func Release() {
	debug.FreeOSMemory()
	unmapFile()
}
