package daemon

import (
	"errors"
	"testing"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/platform/atlogin"
)

// TestOpenSystem opens this Windows, holds it awake, and reads what there is. It
// neither sleeps nor touches the lid's setting.
func TestOpenSystem(t *testing.T) {
	home := t.TempDir()
	m, closeIt := openSystem(func(name string) string {
		return map[string]string{"USERPROFILE": home, "LOCALAPPDATA": home, "APPDATA": home, "LIDGUARD_HOME": home}[name]
	})
	defer closeIt()
	ctx := t.Context()
	lock, err := m.Acquire(ctx, awake.HoldIdle, "a test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Held(ctx); err != nil {
		t.Errorf("Held: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if _, err := m.Battery(ctx); err != nil {
		t.Log(err)
	}
	if c, err := m.Heat(ctx, "average"); err == nil && (c <= 0 || c >= 150) {
		t.Errorf("Heat = %v", c)
	}
	if err := m.Restore(ctx); err != nil {
		t.Errorf("Restore with nothing to restore: %v", err)
	}
	if err := m.CanSuspend(ctx, awake.Sleep); err != nil && !errors.Is(err, awake.ErrUnsupported) && !errors.Is(err, awake.ErrDenied) {
		t.Errorf("CanSuspend: %v", err)
	}
	closeIt()
	if line, err := atlogin.Armed(); err != nil || line != "" {
		t.Errorf("the next login would run %q, %v", line, err)
	}
}

func TestClocks(t *testing.T) {
	before := systemNow()
	if before.Awake <= 0 || before.Boot < before.Awake {
		t.Fatalf("awake %s, boot %s", before.Awake, before.Boot)
	}
	until(t, "both clocks go on", func() bool {
		now := systemNow()
		if now.Awake < before.Awake || now.Boot < before.Boot {
			t.Fatalf("a clock went back: %+v, then %+v", before, now)
		}
		return now.Awake > before.Awake && now.Boot > before.Boot
	})
}
