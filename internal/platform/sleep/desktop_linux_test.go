package sleep_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
)

func TestDesktop_bothDialects(t *testing.T) {
	for dialect, begin := range map[string]func(testing.TB, string) *bustest.Desktop{
		"gnome": bustest.NewGnome, "freedesktop": bustest.NewPowerManagement,
	} {
		t.Run(dialect, func(t *testing.T) {
			address := bustest.Start(t)
			double := begin(t, address)
			var events log
			d := sleep.OpenDesktop(sleep.DesktopOptions{SessionBus: address, OnEvent: events.add})
			defer d.Close()
			if got := d.Dialect(); got != dialect {
				t.Fatalf("dialect %q", got)
			}
			isHeld := func(want bool) {
				t.Helper()
				if got, err := d.Held(t.Context()); got != want || err != nil {
					t.Errorf("held %v, %v, want %v", got, err, want)
				}
			}
			isHeld(false)
			for range 3 {
				if err := d.Take(t.Context(), "1 agent"); err != nil {
					t.Fatal(err)
				}
			}
			isHeld(true)
			locks := double.Locks()
			if len(locks) != 1 || locks[0].App != "lidguard" || locks[0].Reason != "1 agent" {
				t.Fatalf("got %+v", locks)
			}
			// Flag 8 would keep the screen on and unlocked.
			if dialect == "gnome" && locks[0].Flags != 4 {
				t.Errorf("flags %d, want 4", locks[0].Flags)
			}
			if err := d.Take(t.Context(), "2 agents"); err != nil {
				t.Fatal(err)
			}
			if l := double.Locks(); len(l) != 1 || l[0].Reason != "2 agents" {
				t.Errorf("after a new reason: %+v", l)
			}
			double.Restart()
			bustest.Eventually(t, "restart told", func() bool { return events.count(sleep.ServiceUp) >= 2 })
			isHeld(false)
			if err := d.Take(t.Context(), "2 agents"); err != nil {
				t.Fatal(err)
			}
			isHeld(true)
			if err := d.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			isHeld(false)
			if l := double.Locks(); len(l) != 0 {
				t.Errorf("left behind: %+v", l)
			}
			if err := d.Release(t.Context()); err != nil {
				t.Errorf("second release: %v", err)
			}
		})
	}
}

func TestDesktop_lateGrantIsGivenBack(t *testing.T) {
	address := bustest.Start(t)
	double := bustest.NewGnome(t, address)
	d := sleep.OpenDesktop(sleep.DesktopOptions{SessionBus: address})
	defer d.Close()
	double.Hang("Inhibit")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := d.Take(ctx, "x"); !errors.Is(err, sleep.ErrTimeout) {
		t.Fatalf("got %v, want ErrTimeout", err)
	}
	double.Unhang("Inhibit")
	bustest.Eventually(t, "given back", func() bool {
		return len(double.Calls("Uninhibit")) == 1 && len(double.Locks()) == 0
	})
}

func TestDesktop_withoutASessionManager(t *testing.T) {
	d := sleep.OpenDesktop(sleep.DesktopOptions{SessionBus: bustest.Start(t)})
	defer d.Close()
	if err := d.Take(t.Context(), "x"); !errors.Is(err, sleep.ErrUnsupported) || d.Dialect() != "" {
		t.Errorf("got %v in dialect %q, want ErrUnsupported", err, d.Dialect())
	}
	d.Close()
	if err := d.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}
