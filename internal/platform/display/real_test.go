//go:build lidlab && linux

// These tests need the laboratory's displays, which announce themselves as the
// kernel does. Built with the tag lidlab they insist on them: TestReal_
// as any user, TestRealRoot_ as root, who alone can plug in a display.
package display

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

const device = "/run/lidlab/labdev.py"

func laboratory(t *testing.T) {
	t.Helper()
	if os.Getenv("LIDLAB") != "real" {
		t.Fatal("built for the laboratory, but LIDLAB is not \"real\": run it through the laboratory's exec")
	}
	if _, err := os.Stat(device); err != nil {
		t.Fatalf("not inside the laboratory: %v", err)
	}
}

func TestReal_displaysAreCountedAndListenedTo(t *testing.T) {
	laboratory(t)
	r, err := Read("")
	if err != nil {
		t.Fatal(err)
	}
	if r.Visible(false) != 1 || r.Visible(true) != 0 {
		t.Fatalf("got %+v, want the panel alone", r)
	}
	w := Open(Options{})
	defer w.Close()
	if !w.Pushes() {
		t.Error("no notices of the kernel")
	}
}

func TestRealRoot_displayIsPluggedIn(t *testing.T) {
	laboratory(t)
	w := Open(Options{Poll: time.Hour})
	got := watch(t, w)
	eventually(t, "first reading", func() bool { return got() == 0 })
	plug := func(status string) {
		t.Helper()
		if err := os.WriteFile("/sys/class/drm/card0-HDMI-A-1/status", []byte(status+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("/usr/bin/python3", device, "uevent", "change", "/class/drm/card0", "HOTPLUG=1").CombinedOutput(); err != nil {
			t.Fatalf("announcing: %v\n%s", err, out)
		}
	}
	plug("connected")
	defer plug("disconnected")
	eventually(t, "display seen", func() bool { return got() == 1 })
	plug("disconnected")
	eventually(t, "display gone", func() bool { return got() == 0 })
}
