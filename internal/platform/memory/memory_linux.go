package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapFile takes the pages of mapped files out of this process that are as they are in
// the file. Most of a Go program's resident size is what its packages touched once when
// it started: each touch maps the 64 KiB around it, and the kernel drops no mapped page
// before others. The pages stay in the page cache, from where the next touch has them
// without a read.
func unmapFile() {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, r := range unchanged(string(maps)) {
		// An error, as for locked memory, means that the pages stay.
		unix.Syscall(unix.SYS_MADVISE, r.start, r.end-r.start, unix.MADV_DONTNEED)
	}
}

// region is one mapping of this process.
type region struct{ start, end uintptr }

// unchanged are the mappings in maps, a text in the form of proc_pid_smaps(5), that can
// be had again from their file: it is no writable one, and no page of it was written
// before (relocations of a program that was linked as position-independent, or a
// debugger's breakpoints).
func unchanged(maps string) []region {
	var all []region
	var last region // since whose head line no other came; empty: not from a file
	for line := range strings.Lines(maps) {
		f := strings.Fields(line)
		switch {
		case len(f) >= 5 && strings.Contains(f[0], "-"): // address, permissions, offset, device, inode
			last = region{}
			from, to, _ := strings.Cut(f[0], "-")
			start, err1 := strconv.ParseUint(from, 16, strconv.IntSize)
			end, err2 := strconv.ParseUint(to, 16, strconv.IntSize)
			if err1 == nil && err2 == nil && start < end && f[4] != "0" && f[1][0] == 'r' && !strings.Contains(f[1], "w") {
				last = region{uintptr(start), uintptr(end)}
			}
		case len(f) == 3 && f[0] == "Anonymous:" && f[1] == "0" && last != region{}:
			all = append(all, last)
		}
	}
	return all
}
