//go:build linux

package bustest

import (
	"maps"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

const (
	upowerName    = "org.freedesktop.UPower"
	upowerPath    = dbus.ObjectPath("/org/freedesktop/UPower")
	upowerDisplay = dbus.ObjectPath("/org/freedesktop/UPower/devices/DisplayDevice")
	upowerDevice  = "org.freedesktop.UPower.Device"
)

// UPower doubles upowerd: the lid, the charger and the combined battery.
type UPower struct {
	*service

	mu      sync.Mutex
	daemon  map[string]any
	display map[string]any
}

// NewUPower puts a double of upowerd on the bus: a laptop with an open lid, on
// mains, its battery full.
func NewUPower(t testing.TB, address string) *UPower {
	u := &UPower{
		service: newService(t, address, upowerName),
		daemon:  map[string]any{"LidIsPresent": true, "LidIsClosed": false, "OnBattery": false},
		display: map[string]any{"Type": uint32(2), "State": uint32(4), "IsPresent": true, "Percentage": 100.0,
			"EnergyRate": 0.0, "TimeToEmpty": int64(0), "TimeToFull": int64(0)},
	}
	u.service.answer = u.answer
	u.Begin()
	return u
}

// Restart leaves the bus and comes back with the same state.
func (u *UPower) Restart() {
	u.Stop()
	u.Begin()
}

// Set changes properties of the daemon (LidIsClosed, LidIsPresent, OnBattery)
// and says so.
func (u *UPower) Set(values map[string]any) {
	u.change(u.daemon, upowerPath, upowerName, values)
}

// SetQuietly changes properties of the daemon without a word.
func (u *UPower) SetQuietly(values map[string]any) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.Copy(u.daemon, values)
}

// SetDisplay changes properties of the combined battery and says so.
func (u *UPower) SetDisplay(values map[string]any) {
	u.change(u.display, upowerDisplay, upowerDevice, values)
}

func (u *UPower) change(table map[string]any, path dbus.ObjectPath, iface string, values map[string]any) {
	changed := map[string]dbus.Variant{}
	u.mu.Lock()
	for k, v := range values {
		table[k] = v
		changed[k] = dbus.MakeVariant(v)
	}
	u.mu.Unlock()
	u.emit(path, "org.freedesktop.DBus.Properties.PropertiesChanged", iface, changed, []string{})
}

func (u *UPower) answer(r Request) ([]any, *dbus.Error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch r.Path {
	case upowerPath:
		return properties(r, u.daemon)
	case upowerDisplay:
		return properties(r, u.display)
	}
	return unknown(r)
}
