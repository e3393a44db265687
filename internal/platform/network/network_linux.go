package network

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Flags of a route (linux/route.h).
const (
	rtfUp     = 0x1
	rtfReject = 0x200
)

// up reads the kernel's tables of both address families. One of them may be
// missing; without either nothing is known.
func up(root string) (bool, error) {
	four, err4 := anyRoute(filepath.Join(root, "/proc/net/route"), func(f []string) (flags, iface string, ok bool) {
		// Iface Destination Gateway Flags RefCnt Use Metric Mask …
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			return "", "", false
		}
		return f[3], f[0], true
	})
	six, err6 := anyRoute(filepath.Join(root, "/proc/net/ipv6_route"), func(f []string) (flags, iface string, ok bool) {
		// destination, its length, source, its length, next hop, metric, references, uses, flags, interface
		if len(f) < 10 || strings.Trim(f[0], "0") != "" || f[1] != "00" {
			return "", "", false
		}
		return f[8], f[9], true
	})
	if err4 != nil && err6 != nil {
		return false, errors.Join(err4, err6)
	}
	return four || six, nil
}

// anyRoute reports whether a line of the file is a default route, as fields tells,
// that is up, leads somewhere and does not end in this machine.
func anyRoute(path string, fields func([]string) (flags, iface string, ok bool)) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		flags, iface, ok := fields(strings.Fields(lines.Text()))
		if !ok || iface == "lo" {
			continue
		}
		if n, err := strconv.ParseUint(flags, 16, 32); err == nil && n&rtfUp != 0 && n&rtfReject == 0 {
			return true, nil
		}
	}
	return false, lines.Err()
}
