package notice

import (
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// TestWindow_hearsWhatIsSent stands in for Windows: it sends the messages that
// Windows sends, to the window's own procedure and from another thread.
func TestWindow_hearsWhatIsSent(t *testing.T) {
	heard := make(chan Kind, 16)
	w, err := Open(func(k Kind) { heard <- k })
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	id, err := windows.GUIDFromString("{" + lidSwitch + "}")
	if err != nil {
		t.Fatal(err)
	}
	lid := func(value uint32) *struct {
		powerSetting
		value uint32
	} {
		return &struct {
			powerSetting
			value uint32
		}{powerSetting{id, 4}, value}
	}
	shut, open := lid(0), lid(1)
	send := windows.NewLazySystemDLL("user32.dll").NewProc("SendMessageW")
	for _, c := range []struct {
		detail uintptr
		about  unsafe.Pointer
		want   Kind
	}{
		{pbtSettingChange, unsafe.Pointer(shut), LidClosed},
		{pbtSuspend, nil, Sleeping},
		{pbtResumeAutomatic, nil, Woke},
		{pbtSettingChange, unsafe.Pointer(open), LidOpen},
	} {
		if granted, _, _ := send.Call(w.handle, wmPowerBroadcast, c.detail, uintptr(c.about)); granted != 1 {
			t.Errorf("%s: the window answers %d, want 1", c.want, granted)
		}
		for told := false; !told; {
			select {
			case k := <-heard:
				// Windows itself may tell of lid and power at any time.
				told = k == c.want
			case <-time.After(time.Minute):
				t.Fatalf("never heard: %s", c.want)
			}
		}
	}
}

func TestWindow_closesAndOpensAgain(t *testing.T) {
	for range 3 {
		w, err := Open(func(Kind) {})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		w.Close()
		windowsMu.Lock()
		n := len(listeners)
		windowsMu.Unlock()
		if n != 0 {
			t.Errorf("%d windows are left", n)
		}
	}
}
