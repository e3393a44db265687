package sleep

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// IdleDaemon is a program of a graphical session that acts when nobody touches the
// machine, and may be set to suspend it.
type IdleDaemon struct {
	Name string `json:"name"`
	// AsksLogin1: it heeds login1's idle locks, which lidguard takes.
	AsksLogin1 bool `json:"asks_login1"`
}

// idleDaemons are the known ones, by the name of their process. What desktops bring
// along (gsd-power, PowerDevil, Xfce's) is left out: lidguard takes their own locks
// as well. Read in their manuals and sources: hypridle(1) has
// ignore_systemd_inhibit, off; the others know Wayland's or X's inhibitors, or none.
var idleDaemons = map[string]bool{"hypridle": true, "swayidle": false, "stasis": false, "xautolock": false, "xidlehook": false}

// IdleDaemons lists the idle daemons that run, by name, each once. root is the
// folder that stands for /; "" is the real one. What cannot be read is not listed.
func IdleDaemons(root string) []IdleDaemon {
	dir := filepath.Join(root, "/proc")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []IdleDaemon
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		comm, err := os.ReadFile(filepath.Join(dir, e.Name(), "comm"))
		if err != nil {
			continue // it ended
		}
		name := strings.TrimSuffix(string(comm), "\n")
		if asks, known := idleDaemons[name]; known {
			found = append(found, IdleDaemon{name, asks})
		}
	}
	slices.SortFunc(found, func(a, b IdleDaemon) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(found)
}
