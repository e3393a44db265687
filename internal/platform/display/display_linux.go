package display

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// internalTypes are the connector types of built-in panels, as they stand in
// names (kernel drivers/gpu/drm/drm_connector.c, drm_connector_enum_list).
var internalTypes = []string{"eDP", "LVDS", "DSI"}

// Read counts the displays under root ("" is the real one). Errors match
// ErrUnknown.
func Read(root string) (Reading, error) {
	dir := filepath.Join(root, "/sys/class/drm")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Reading{}, fmt.Errorf("listing displays: %w (%w)", ErrUnknown, err)
	}
	var r Reading
	var unread error
	for _, e := range entries {
		// card0-HDMI-A-1; card0 and renderD128 are no connectors.
		card, kind, ok := strings.Cut(e.Name(), "-")
		if !ok || !strings.HasPrefix(card, "card") {
			continue
		}
		status, err := os.ReadFile(filepath.Join(dir, e.Name(), "status"))
		if errors.Is(err, os.ErrNotExist) {
			continue // unplugged with its hub since we listed
		}
		if err != nil {
			unread = err
			continue
		}
		c := Connector{Name: e.Name(), Status: strings.TrimSpace(string(status))}
		for _, t := range internalTypes {
			if strings.HasPrefix(kind, t+"-") {
				c.Internal = true
			}
		}
		r.Connectors = append(r.Connectors, c)
	}
	if unread != nil {
		return Reading{}, fmt.Errorf("reading a display's status: %w (%w)", ErrUnknown, unread)
	}
	if len(r.Connectors) == 0 {
		return Reading{}, fmt.Errorf("no display connector in %q: %w", dir, ErrUnknown)
	}
	slices.SortFunc(r.Connectors, func(a, b Connector) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// uevents listens to what the kernel says about devices.
type uevents struct {
	file *os.File // nil where listening is not possible
	dead atomic.Bool
}

// kernelGroup is the multicast group of the kernel's own messages; udev's
// processed ones are group 2. Anyone may listen.
const kernelGroup = 1

func listen(changed func()) notifier {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return &uevents{}
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: kernelGroup}); err != nil {
		unix.Close(fd)
		return &uevents{}
	}
	u := &uevents{file: os.NewFile(uintptr(fd), "uevents")}
	// Ended by close; parked in the runtime's poller in between.
	go u.run(changed)
	return u
}

func (u *uevents) run(changed func()) {
	// The kernel's limit is 2 KB of variables and a header (UEVENT_BUFFER_SIZE).
	buf := make([]byte, 8<<10)
	for {
		n, err := u.file.Read(buf)
		switch {
		case errors.Is(err, unix.ENOBUFS):
			// Messages were lost, perhaps ours.
			changed()
		case err != nil:
			u.dead.Store(true)
			changed() // wakes a Watch, which goes on by polling
			return
		case aboutDisplays(buf[:n]):
			// The sender is not checked: anyone may send to us, and all it
			// brings about is that we look again.
			changed()
		}
	}
}

// aboutDisplays reads "ACTION@DEVPATH\0KEY=VALUE\0…" (kernel
// lib/kobject_uevent.c).
func aboutDisplays(msg []byte) bool {
	for field := range bytes.SplitSeq(msg, []byte{0}) {
		if string(field) == "SUBSYSTEM=drm" {
			return true
		}
	}
	return false
}

func (u *uevents) pushes() bool { return u.file != nil && !u.dead.Load() }

func (u *uevents) close() {
	if u.file != nil {
		u.file.Close()
	}
}
