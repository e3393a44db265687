package child

import "golang.org/x/sys/unix"

type familyOf = family

// bound limits the memory of the program and of what it starts from now on
// (prlimit(2)). RLIMIT_DATA counts private writable memory since Linux 4.7, and not
// the address space that runtimes only reserve.
func (f family) bound(memory uint64) {
	if memory > 0 {
		// It may have ended already, and then there is nothing to bound.
		_ = unix.Prlimit(int(f), unix.RLIMIT_DATA, &unix.Rlimit{Cur: memory, Max: memory}, nil)
	}
}
