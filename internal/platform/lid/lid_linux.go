package lid

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/lidguard-go/lidguard/internal/platform/bus"
)

const (
	upower      = "org.freedesktop.UPower"
	upowerPath  = dbus.ObjectPath("/org/freedesktop/UPower")
	login1      = "org.freedesktop.login1"
	login1Path  = dbus.ObjectPath("/org/freedesktop/login1")
	login1Iface = "org.freedesktop.login1.Manager"
	propsIface  = "org.freedesktop.DBus.Properties"
)

// UPower and logind read the lid switch each for themselves, so for a moment
// after it moved they may differ. That long we ask again before the
// difference counts.
const (
	settleTries = 10
	settleStep  = 50 * time.Millisecond
)

type linux struct {
	link *bus.Link
	root string
}

func open(o Options, changed func()) backend {
	return &linux{
		root: o.Root,
		link: bus.Open(bus.Options{
			Address: o.SystemBus,
			Matches: []bus.Match{
				{Service: upower, Path: upowerPath, Interface: propsIface, Member: "PropertiesChanged", Arg0: upower},
				// systemd 257 tells; 252 never does, so UPower comes first.
				{Service: login1, Path: login1Path, Interface: propsIface, Member: "PropertiesChanged", Arg0: login1Iface},
			},
			// Whatever it is, coming and going of a service included, the answer
			// is to read again: a signal's own value may be stale by now.
			Handle: func(e bus.Event) { changed() },
		}),
	}
}

func (l *linux) pushes() bool { return l.link.Owner(upower) != "" }
func (l *linux) close()       { l.link.Close() }

// voice is what one source says.
type voice struct {
	heard   bool // it answered
	present bool // it knows of a lid
	closed  bool
}

func (v voice) state() State {
	if v.closed {
		return Closed
	}
	return Open
}

func (l *linux) read(ctx context.Context) Reading {
	var up, log voice
	for try := range settleTries {
		up, log = l.askUPower(ctx), l.askLogin1(ctx)
		if !up.present || !log.heard || up.closed == log.closed {
			break
		}
		if try == settleTries-1 {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(settleStep):
		}
	}
	acpi := l.askACPI()
	presence := l.presence(up, log, acpi)
	switch {
	case up.present && log.heard && up.closed != log.closed:
		return Reading{Unknown, presence, "upower+login1",
			"UPower says " + up.state().String() + ", login1 says " + log.state().String()}
	case up.present && log.heard:
		return Reading{State: up.state(), Presence: presence, Source: "upower+login1"}
	case up.present:
		return Reading{State: up.state(), Presence: presence, Source: "upower"}
	case log.heard && log.closed, log.heard && presence == Present && !acpi.present:
		// login1 says "not closed" also where it has no lid to read; the word
		// counts where something else says that there is one.
		return Reading{State: log.state(), Presence: presence, Source: "login1"}
	case acpi.present && acpi.heard:
		return Reading{State: acpi.state(), Presence: presence, Source: "acpi"}
	case presence == Absent:
		return Reading{Presence: Absent, Why: "this machine has no lid"}
	}
	return Reading{Presence: presence, Why: "neither UPower nor login1 nor ACPI tells"}
}

func (l *linux) presence(up, log, acpi voice) Presence {
	if up.present || log.closed || acpi.present {
		return Present
	}
	inputs, has := l.lidSwitch()
	switch {
	case has:
		return Present
	case up.heard || inputs:
		return Absent
	}
	return PresenceUnknown
}

func (l *linux) askUPower(ctx context.Context) (v voice) {
	all, err := l.link.GetAll(ctx, upower, upowerPath, upower)
	if err != nil {
		return v
	}
	present, okPresent := all["LidIsPresent"].Value().(bool)
	closed, okClosed := all["LidIsClosed"].Value().(bool)
	if !okPresent || !okClosed {
		return v
	}
	return voice{heard: true, present: present, closed: present && closed}
}

func (l *linux) askLogin1(ctx context.Context) (v voice) {
	if l.link.Get(ctx, login1, login1Path, login1Iface, "LidClosed", &v.closed) == nil {
		v.heard = true
	}
	return v
}

// askACPI reads the kernel's old interface, "state:      open" (kernel
// drivers/acpi/button.c). Of several lids one shut is enough.
func (l *linux) askACPI() (v voice) {
	files, _ := filepath.Glob(filepath.Join(l.root, "/proc/acpi/button/lid/*/state"))
	for _, f := range files {
		v.present = true
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		switch _, state, _ := strings.Cut(string(b), ":"); strings.TrimSpace(state) {
		case "open":
			v.heard = true
		case "closed":
			v.heard, v.closed = true, true
		}
	}
	return v
}

// lidSwitch looks for an input device with a lid switch, SW_LID being bit 0
// (kernel input-event-codes.h). Its state needs root, its existence does not.
func (l *linux) lidSwitch() (inputs, has bool) {
	files, _ := filepath.Glob(filepath.Join(l.root, "/sys/class/input/input*/capabilities/sw"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		inputs = true
		// Words of a long bit map, highest first.
		words := strings.Fields(string(b))
		if len(words) == 0 {
			continue
		}
		if low, err := strconv.ParseUint(words[len(words)-1], 16, 64); err == nil && low&1 != 0 {
			return true, true
		}
	}
	return inputs, false
}
