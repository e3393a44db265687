package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/machinetest"
	"github.com/lidguard-go/lidguard/internal/platform/bustest"
)

// The Linux machine against doubles of login1 and UPower on a private bus. It
// never suspends: the doubles only write down that they were asked to.
func TestLinuxMachine(t *testing.T) {
	machinetest.Run(t, func(t *testing.T) machinetest.Bench {
		address := bustest.Start(t)
		login1, up := bustest.NewLogin1(t, address), bustest.NewUPower(t, address)
		root := t.TempDir()
		for path, text := range map[string]string{
			"sys/class/drm/card0-eDP-1/status":     "connected\n",
			"sys/class/drm/card0-HDMI-A-1/status":  "disconnected\n",
			"sys/class/thermal/thermal_zone0/temp": "47000\n",
			"sys/class/thermal/thermal_zone0/type": "x86_pkg_temp\n",
		} {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		m, closeIt := openSystem(func(name string) string {
			return map[string]string{"DBUS_SYSTEM_BUS_ADDRESS": address, "LIDGUARD_ROOT": root}[name]
		})
		t.Cleanup(closeIt)
		return machinetest.Bench{
			Machine: m, Holds: awake.Holds(),
			Deny: func(h awake.Hold) { login1.Deny(string(whatOf[h])) },
			SetLid: func(l awake.Lid) {
				login1.Set("LidClosed", l == awake.LidClosed)
				up.Set(map[string]any{"LidIsClosed": l == awake.LidClosed})
			},
			SetBattery: func(b awake.Battery) {
				state := uint32(4)
				if b.OnBattery {
					state = 2
				}
				up.SetDisplay(map[string]any{"Percentage": b.Percent, "State": state})
				up.Set(map[string]any{"OnBattery": b.OnBattery})
			},
			RestartService: login1.Restart,
			MaySuspend:     false,
		}
	})
}

// A logind inside WSL grants locks that Windows does not know of.
func TestLinuxMachine_claimsNothingInsideWindows(t *testing.T) {
	address := bustest.Start(t)
	bustest.NewLogin1(t, address)
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "proc"), 0o700); err != nil {
		t.Fatal(err)
	}
	version := "Linux version 5.15.90.1-microsoft-standard-WSL2 (oe-user@oe-host) #1 SMP\n"
	if err := os.WriteFile(filepath.Join(root, "proc", "version"), []byte(version), 0o600); err != nil {
		t.Fatal(err)
	}
	m, closeIt := openSystem(func(name string) string {
		return map[string]string{"DBUS_SYSTEM_BUS_ADDRESS": address, "LIDGUARD_ROOT": root}[name]
	})
	defer closeIt()
	if _, err := m.Acquire(context.Background(), awake.HoldIdle, "agents work"); !errors.Is(err, awake.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	if held, err := m.Held(context.Background()); err != nil || len(held) > 0 {
		t.Errorf("held %v, %v", held, err)
	}
}

// Dropping the lid's lock of a shut machine makes logind suspend by itself, and it
// turns our call down as one too many. It is the sleep that was asked for; another
// refusal, or that of a hibernation, is one.
func TestLinuxMachine_logindSuspendsAnyway(t *testing.T) {
	address := bustest.Start(t)
	login1 := bustest.NewLogin1(t, address)
	m, closeIt := openSystem(func(name string) string {
		return map[string]string{"DBUS_SYSTEM_BUS_ADDRESS": address, "LIDGUARD_ROOT": t.TempDir()}[name]
	})
	defer closeIt()
	const busy = "org.freedesktop.login1.OperationInProgress"
	for _, c := range []struct {
		mode awake.Mode
		call string
		name string
		fine bool
	}{
		{awake.Sleep, "Suspend", busy, true},
		{awake.Sleep, "Suspend", "org.freedesktop.DBus.Error.AccessDenied", false},
		{awake.Hibernate, "Hibernate", busy, false},
	} {
		login1.Fail(c.call, c.name, "no")
		if err := m.Suspend(context.Background(), c.mode); (err == nil) != c.fine {
			t.Errorf("%s answered by %s: %v", c.mode, c.name, err)
		}
	}
}
