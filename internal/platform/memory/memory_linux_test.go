package memory

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fileKiB is how much of mapped files is in this process's resident size.
func fileKiB(t *testing.T) int {
	t.Helper()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if v, ok := strings.CutPrefix(in.Text(), "RssFile:"); ok {
			n, err := strconv.Atoi(strings.Fields(v)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("the status has no RssFile")
	return 0
}

var written = map[string]int{"a": 1} // in a page that this process wrote

func TestRelease_givesTheProgramsPagesBack(t *testing.T) {
	written["b"] = 2
	before := fileKiB(t)
	Release()
	after := fileKiB(t)
	if after > before*2/3 {
		t.Errorf("%d KiB of files are mapped after, %d before", after, before)
	}
	// And all goes on as before.
	if got := fmt.Sprint(written, " ", strings.Repeat("x", 3)); got != "map[a:1 b:2] xxx" {
		t.Errorf("afterwards the process knows %q", got)
	}
	Release()
}

func TestUnchanged_leavesWhatNoFileHas(t *testing.T) {
	const head = "Size:                  4 kB\nRss:                   4 kB\n"
	maps := "00400000-00fd4000 r-xp 00000000 fe:00 1234                               /usr/bin/lidguard\n" + head + "Anonymous:             0 kB\nVmFlags: rd ex mr mw me\n" +
		"00fd4000-01ba0000 r--p 00bd4000 fe:00 1234                               /usr/bin/lidguard (deleted)\n" + head + "Anonymous:             0 kB\n" +
		"01ba0000-01ba4000 r--p 017a0000 fe:00 1234                               /usr/bin/lidguard\n" + head + "Anonymous:            16 kB\n" + // relocated
		"01ba4000-01c00000 rw-p 017a4000 fe:00 1234                               /usr/bin/lidguard\n" + head + "Anonymous:             0 kB\n" +
		"c000000000-c000400000 r--p 00000000 00:00 0                              [anon: Go: heap]\n" + head + "Anonymous:             0 kB\n" +
		"7ff000000000-7ff000001000 ---p 00000000 fe:00 99                         /lib/x.so\n" + head + "Anonymous:             0 kB\n" +
		"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n" + head + "Anonymous:             0 kB\n" +
		"7ffe00000000-7ffe00002000 r-xp 00000000 fe:00 98                         /lib/y.so\n" + head // an old kernel tells no more
	want := []region{{0x400000, 0xfd4000}, {0xfd4000, 0x1ba0000}}
	if got := unchanged(maps); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	if got := unchanged("no such\ntext-at all - - -\n"); got != nil {
		t.Errorf("got %x of a text that is none", got)
	}
}
