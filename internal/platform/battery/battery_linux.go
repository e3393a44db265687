package battery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/lidguard-go/lidguard/internal/platform/bus"
)

// UPower's D-Bus interface, org.freedesktop.UPower and .Device.
const (
	upower      = "org.freedesktop.UPower"
	upowerPath  = dbus.ObjectPath("/org/freedesktop/UPower")
	displayPath = dbus.ObjectPath("/org/freedesktop/UPower/devices/DisplayDevice")
	deviceIface = "org.freedesktop.UPower.Device"
	propsIface  = "org.freedesktop.DBus.Properties"
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
				{Service: upower, Path: displayPath, Interface: propsIface, Member: "PropertiesChanged", Arg0: deviceIface},
			},
			Handle: func(bus.Event) { changed() },
		}),
	}
}

func (l *linux) pushes() bool { return l.link.Owner(upower) != "" }
func (l *linux) close()       { l.link.Close() }

func (l *linux) read(ctx context.Context) (Reading, error) {
	if r, ok := l.askUPower(ctx); ok {
		return r, nil
	}
	return readSysfs(l.root)
}

// upStates are UpDeviceState of libupower.
var upStates = map[uint32]State{1: Charging, 2: Discharging, 3: Empty, 4: Full, 5: Idle, 6: Idle}

// askUPower reads the display device, in which UPower combines all batteries
// that power the machine.
func (l *linux) askUPower(ctx context.Context) (r Reading, ok bool) {
	var onBattery bool
	if l.link.Get(ctx, upower, upowerPath, upower, "OnBattery", &onBattery) != nil {
		return r, false
	}
	all, err := l.link.GetAll(ctx, upower, displayPath, deviceIface)
	if err != nil {
		return r, false
	}
	r = Reading{OnBattery: onBattery, Source: "upower"}
	r.Present, _ = all["IsPresent"].Value().(bool)
	if !r.Present {
		return r, true
	}
	percent, okPercent := all["Percentage"].Value().(float64)
	if !okPercent {
		return r, false
	}
	r.Percent = percent
	state, _ := all["State"].Value().(uint32)
	r.State = upStates[state]
	if r.State == "" {
		r.State = Unknown
	}
	r.Watts, _ = all["EnergyRate"].Value().(float64)
	if seconds, _ := all["TimeToEmpty"].Value().(int64); seconds > 0 && r.State == Discharging {
		r.ToEmpty = time.Duration(seconds) * time.Second
	}
	return r, true
}

// sysStates are the values of a battery's status file (kernel
// Documentation/ABI/testing/sysfs-class-power).
var sysStates = map[string]State{"Charging": Charging, "Discharging": Discharging, "Full": Full, "Not charging": Idle}

// cell is one battery in units of µWh and µW.
type cell struct {
	state              State
	now, full          float64 // µWh
	rate               float64 // µW
	percent            float64 // -1 where not told
	haveNow, havePower bool
}

// readSysfs combines what the kernel lists under /sys/class/power_supply.
func readSysfs(root string) (Reading, error) {
	dir := filepath.Join(root, "/sys/class/power_supply")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Reading{}, fmt.Errorf("listing power supplies: %w (%w)", ErrUnknown, err)
	}
	var cells []cell
	mains, online := false, false
	for _, e := range entries {
		d := supply(filepath.Join(dir, e.Name()))
		switch kind := d.text("type"); {
		case d.text("scope") == "Device":
			// The battery of a mouse.
		case kind == "Mains" || kind == "USB" || kind == "Wireless":
			mains = true
			if v, ok := d.number("online"); ok && v > 0 {
				online = true
			}
		case kind == "Battery":
			if v, ok := d.number("present"); ok && v == 0 {
				continue // an empty bay
			}
			cells = append(cells, d.cell())
		}
	}
	if len(cells) == 0 {
		// Kernels of machines without batteries list nothing, or the adapter.
		return Reading{State: Unknown, Source: "sysfs"}, nil
	}
	r := combine(cells)
	r.OnBattery = r.State == Discharging || r.State == Empty
	if mains {
		// A weak charger leaves the battery discharging; that is mains still.
		r.OnBattery = !online
	}
	if !r.OnBattery {
		r.ToEmpty = 0
	}
	return r, nil
}

func combine(cells []cell) Reading {
	r := Reading{Present: true, Source: "sysfs", State: Unknown}
	var now, full, rate, percents float64
	weighed, told := true, 0
	states := map[State]int{}
	for _, c := range cells {
		states[c.state]++
		now, full = now+c.now, full+c.full
		weighed = weighed && c.haveNow && c.full > 0
		if c.percent >= 0 {
			percents += c.percent
			told++
		}
		switch c.state {
		case Discharging:
			rate += c.rate
		case Charging:
			rate -= c.rate
		}
	}
	// By energy where all tell it, since 5 % of a big one may be half of a small
	// one; else as the mean.
	switch {
	case weighed && full > 0:
		r.Percent = min(100*now/full, 100)
	case told > 0:
		r.Percent = percents / float64(told)
	}
	if len(cells) == 1 && cells[0].percent >= 0 {
		r.Percent = cells[0].percent // as every other program shows it
	}
	// They are used one after the other: one that does something speaks for all.
	for _, s := range []State{Discharging, Charging, Idle, Full, Empty} {
		if states[s] > 0 && (s != Full || states[Full] == len(cells)) {
			r.State = s
			break
		}
	}
	r.Watts = max(rate, -rate) / 1e6
	if r.State == Discharging && rate > 0 && now > 0 {
		r.ToEmpty = time.Duration(now / rate * float64(time.Hour)).Round(time.Second)
	}
	return r
}

// supply is the folder of one power supply.
type supply string

func (s supply) text(name string) string {
	b, _ := os.ReadFile(filepath.Join(string(s), name))
	return strings.TrimSpace(string(b))
}

func (s supply) number(name string) (float64, bool) {
	v, err := strconv.ParseInt(s.text(name), 10, 64)
	return float64(v), err == nil
}

func (s supply) cell() cell {
	c := cell{state: sysStates[s.text("status")], percent: -1}
	if c.state == "" {
		c.state = Unknown
	}
	if v, ok := s.number("capacity"); ok {
		c.percent = min(max(v, 0), 100)
	}
	c.now, c.haveNow = s.number("energy_now")
	c.full, _ = s.number("energy_full")
	c.rate, c.havePower = s.number("power_now")
	volts, ok := s.number("voltage_now")
	if !ok {
		volts, ok = s.number("voltage_min_design")
	}
	if ok {
		// Others count charge, in µAh and µA.
		if !c.haveNow {
			var charge float64
			if charge, c.haveNow = s.number("charge_now"); c.haveNow {
				c.now = charge * volts / 1e6
			}
			if charge, ok := s.number("charge_full"); ok {
				c.full = charge * volts / 1e6
			}
		}
		if !c.havePower {
			if current, ok := s.number("current_now"); ok {
				c.rate = current * volts / 1e6
			}
		}
	}
	c.rate = max(c.rate, -c.rate) // some drivers sign it
	if c.percent < 0 && c.haveNow && c.full > 0 {
		c.percent = min(100*c.now/c.full, 100)
	}
	return c
}
