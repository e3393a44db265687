//go:build linux

// Package prereq knows what the end-to-end tests need on the machine. In comes
// the file system, out goes the list of what is missing and the command that
// installs it. It never installs anything.
package prereq

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Package is one Debian package and the things by which one sees that it is
// there: programs in PATH, or files when the name begins with a slash.
type Package struct {
	Name  string
	Needs []string
}

// Packages is everything the tests need beside Go; e2e/prerequisites.txt has
// the same names for scripts, apart from Node.js, which many machines have from
// elsewhere and which apt would not put beside that.
var Packages = []Package{
	{"dbus", []string{"dbus-daemon"}},
	{"dbus-user-session", []string{"/usr/lib/systemd/user/dbus.socket"}},
	{"gcc", []string{"gcc", "cc"}},
	{"git", []string{"git"}},
	{"libc6-dev", []string{"/usr/include/stdio.h"}},
	{"libpam-systemd", []string{"/usr/share/pam-configs/systemd"}},
	{"passwd", []string{"/usr/sbin/useradd"}},
	{"polkitd", []string{"/usr/lib/polkit-1/polkitd"}},
	{"procps", []string{"pgrep"}},
	{"pulseaudio", []string{"pulseaudio"}},
	{"pulseaudio-utils", []string{"pactl", "paplay"}},
	{"python3", []string{"/usr/bin/python3", "/usr/lib/python3.11/json"}}, // Debian 12; the minimal one has no json
	{"systemd", []string{"/lib/systemd/systemd-logind", "busctl"}},
	{"upower", []string{"/usr/libexec/upowerd"}},
	{"util-linux", []string{"unshare", "nsenter", "setpriv", "pivot_root"}},
	{"nodejs", []string{"node"}},
	{"npm", []string{"npm"}},
}

// List returns the packages whose things are not there.
func List() []string {
	var missing []string
	for _, p := range Packages {
		for _, need := range p.Needs {
			if !there(need) {
				missing = append(missing, p.Name)
				break
			}
		}
	}
	return missing
}

func there(need string) bool {
	if strings.HasPrefix(need, "/") {
		_, err := os.Stat(need)
		return err == nil
	}
	_, err := exec.LookPath(need)
	return err == nil
}

// Missing is nil when all is there, and else says what to install.
func Missing() error {
	if missing := List(); len(missing) > 0 {
		names := strings.Join(missing, " ")
		return fmt.Errorf("missing on this machine: %s\nhint: ./test installs them, or: apt-get install -y --no-install-recommends %s", names, names)
	}
	return nil
}
