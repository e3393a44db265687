//go:build lidlab && linux

// These tests need the laboratory's battery, charger and UPower. Built with
// the tag lidlab they insist on them: TestReal_ as any user, TestRealRoot_ as
// root, for whom alone the battery drains.
package battery

import (
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
)

const device = "/run/lidlab/labdev.py"

func laboratory(t *testing.T) Options {
	t.Helper()
	if os.Getenv("LIDLAB") != "real" {
		t.Fatal("built for the laboratory, but LIDLAB is not \"real\": run it through the laboratory's exec")
	}
	if _, err := os.Stat(device); err != nil {
		t.Fatalf("not inside the laboratory: %v", err)
	}
	return Options{SystemBus: os.Getenv("DBUS_SYSTEM_BUS_ADDRESS"), Poll: time.Hour}
}

func TestReal_bothSourcesAgree(t *testing.T) {
	o := laboratory(t)
	s := Open(o)
	defer s.Close()
	up, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sys, err := readSysfs("")
	if err != nil {
		t.Fatal(err)
	}
	if up.Source != "upower" || sys.Source != "sysfs" {
		t.Errorf("sources %q and %q", up.Source, sys.Source)
	}
	if !up.Present || up.OnBattery != sys.OnBattery || up.Present != sys.Present || math.Abs(up.Percent-sys.Percent) > 1 {
		t.Errorf("UPower: %+v\nsysfs:  %+v", up, sys)
	}
}

func TestRealRoot_chargerIsPulled(t *testing.T) {
	s := Open(laboratory(t))
	defer s.Close()
	supply := func(name, attribute, value string) {
		t.Helper()
		dir := "/sys/class/power_supply/" + name
		if err := os.WriteFile(dir+"/"+attribute, []byte(value+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("/usr/bin/python3", device, "uevent", "change", "/class/power_supply/"+name).CombinedOutput(); err != nil {
			t.Fatalf("announcing: %v\n%s", err, out)
		}
	}
	read := func() Reading {
		t.Helper()
		r, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	defer func() {
		supply("AC", "online", "1")
		supply("BAT0", "status", "Full")
	}()
	supply("AC", "online", "0")
	supply("BAT0", "status", "Discharging")
	bustest.Eventually(t, "on battery", func() bool { r := read(); return r.OnBattery && r.State == Discharging })
	supply("AC", "online", "1")
	supply("BAT0", "status", "Charging")
	bustest.Eventually(t, "on mains", func() bool { r := read(); return !r.OnBattery && r.State == Charging })
}
