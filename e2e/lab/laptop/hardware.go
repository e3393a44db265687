//go:build linux

package laptop

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// CloseLid shuts the lid and waits until logind knows.
func (l *Laptop) CloseLid() { l.t.Helper(); l.lid("closed", true) }

// OpenLid opens it again, which wakes a sleeping laptop.
func (l *Laptop) OpenLid() {
	l.t.Helper()
	l.lid("open", false)
	l.Wake()
}

func (l *Laptop) lid(position string, closed bool) {
	l.t.Helper()
	l.platform(nil, "lid", position)
	l.waitProperty("LidClosed", closed)
}

// PlugIn connects the charger.
func (l *Laptop) PlugIn() { l.t.Helper(); l.charger("on", true) }

// Unplug disconnects it.
func (l *Laptop) Unplug() { l.t.Helper(); l.charger("off", false) }

func (l *Laptop) charger(position string, on bool) {
	l.t.Helper()
	l.platform(nil, "ac", position)
	l.waitProperty("OnExternalPower", on)
}

// Battery sets the charge in percent; the status follows the charger.
func (l *Laptop) Battery(percent int) {
	l.t.Helper()
	l.platform(nil, "battery", strconv.Itoa(percent))
}

// ConnectDisplay plugs a display in; the laptop has the connectors HDMI-A-1
// and DP-1 beside its own eDP-1. With two connected displays logind takes the
// machine for docked.
func (l *Laptop) ConnectDisplay(connector string) {
	l.t.Helper()
	l.platform(nil, "display", connector, "connected")
}

// DisconnectDisplay pulls it out.
func (l *Laptop) DisconnectDisplay(connector string) {
	l.t.Helper()
	l.platform(nil, "display", connector, "disconnected")
}

// Temperature heats or cools the processor, degrees Celsius.
func (l *Laptop) Temperature(celsius float64) {
	l.t.Helper()
	l.platform(nil, "temp", strconv.Itoa(int(celsius*1000)))
}

// Asleep tells whether the laptop sleeps now.
func (l *Laptop) Asleep() bool {
	_, err := os.Stat(filepath.Join(l.box, "share", "asleep"))
	return err == nil
}

// Wake ends the sleep that is going on, as the power key would; it does
// nothing when the laptop is awake. With the lid still closed logind lets it
// sleep again after the hold-off time.
func (l *Laptop) Wake() {
	l.t.Helper()
	l.platform(nil, "rouse")
	l.waitProperty("PreparingForSleep", false)
}

// PolkitRule adds a rule file (JavaScript); polkitd reads it by itself, some
// tenths of a second later.
func (l *Laptop) PolkitRule(name, script string) {
	l.t.Helper()
	path := filepath.Join(l.Folder(), name+".rules")
	if err := os.WriteFile(path, []byte(script), 0o644); err != nil {
		l.t.Fatal(err)
	}
	l.platform(nil, "polkit-rule", path)
}

// RestartLogind restarts logind, as an update would, and returns when the new
// one answers. Locks survive if their holders keep the descriptor open: logind
// finds them again in /run/systemd/inhibit (seen with systemd 252).
func (l *Laptop) RestartLogind() {
	l.t.Helper()
	l.Root("systemctl", "restart", "systemd-logind.service")
	l.waitAnswer()
}

// ReplaceLogind restarts logind without its memory of locks: what was held is
// held no longer, and nobody is told but by the bus name changing hands.
func (l *Laptop) ReplaceLogind() {
	l.t.Helper()
	l.StopLogind()
	l.Root("rm", "-rf", "/run/systemd/inhibit")
	l.StartLogind()
}

// StopLogind stops it without starting a new one.
func (l *Laptop) StopLogind() {
	l.t.Helper()
	// Masked at run time, since a call over the bus would start it again.
	l.Root("systemctl", "mask", "--runtime", "systemd-logind.service")
	l.Root("systemctl", "stop", "systemd-logind.service")
}

// StartLogind undoes [Laptop.StopLogind].
func (l *Laptop) StartLogind() {
	l.t.Helper()
	l.Root("systemctl", "unmask", "--runtime", "systemd-logind.service")
	l.Root("systemctl", "start", "systemd-logind.service")
	l.waitAnswer()
}

// Suspend asks logind to sleep as the person at the machine would from the
// menu. It returns logind's refusal, or "" when it went to sleep.
func (l *Laptop) Suspend() string {
	l.t.Helper()
	call := l.manager().Call("org.freedesktop.login1.Manager.Suspend", 0, false)
	if call.Err != nil {
		return fmt.Sprint(call.Err)
	}
	return ""
}
