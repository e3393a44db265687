package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/proc"
)

// ownCPU is utime and stime of proc(5), without what ended children used: their
// work was a tool's. 0 where it cannot be read.
func ownCPU(table proc.Table, pid int) time.Duration {
	stat, err := os.ReadFile(filepath.Join(table.Root, "/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	// The name before the last bracket may hold anything; field 3 follows it.
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	user, err1 := strconv.ParseInt(string(f[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(f[12]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return time.Duration(user+system) * (time.Second / 100) // USER_HZ is 100 on every Linux
}
