package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/machinetest"
)

// The fake laptop passes the suite through its control folder too, so that what
// is shown with it is what a real machine would do.
func TestFakeMachine(t *testing.T) {
	machinetest.Run(t, func(t *testing.T) machinetest.Bench {
		dir := t.TempDir()
		full := 100.0
		control := FakeControl{Lid: "open", OnMains: true, Percent: &full}
		put := func(change func()) {
			change()
			b, err := json.Marshal(control)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "new"), b, 0o600)
			}
			if err == nil {
				err = os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "laptop.json"))
			}
			if err != nil {
				t.Error(err)
			}
		}
		put(func() {})
		m, closeIt, err := openFake(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(closeIt)
		laptop := m.(*fakeMachine).laptop
		return machinetest.Bench{
			Machine: m, Holds: awake.Holds(),
			Deny:        func(h awake.Hold) { laptop.Deny(h, "org.freedesktop.login1.inhibit", "denied") },
			SetLid:      func(l awake.Lid) { put(func() { control.Lid = string(l) }) },
			SetDisplays: func(n int) { put(func() { control.Displays = n }) },
			SetBattery: func(b awake.Battery) {
				put(func() { control.OnMains, control.Percent = !b.OnBattery, &b.Percent })
			},
			RestartService: func() { put(func() { control.Restarts++ }) },
			MaySuspend:     true,
			Wake:           func() { put(func() { control.Wakes++ }) },
		}
	})
}
