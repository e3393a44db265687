//go:build lidlab && linux

// These tests need the laboratory's lid, UPower and logind. Built with the tag
// lidlab they insist on them: TestReal_ as any user, TestRealRoot_ as
// root, for whom alone the lid moves.
package lid_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
	"github.com/lidguard-go/lidguard/internal/platform/lid"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
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

func move(t *testing.T, to string) {
	t.Helper()
	if out, err := exec.Command("/usr/bin/python3", device, "lid", to).CombinedOutput(); err != nil {
		t.Fatalf("moving the lid: %v\n%s", err, out)
	}
}

func TestReal_lidIsReadByAnyUser(t *testing.T) {
	laboratory(t)
	s := lid.OpenSensor(lid.Options{SystemBus: os.Getenv("DBUS_SYSTEM_BUS_ADDRESS")})
	defer s.Close()
	if got := s.Read(t.Context()); got.State != lid.Open || got.Presence != lid.Present || got.Source != "upower+login1" {
		t.Errorf("got %+v, want an open lid by both sources", got)
	}
}

func TestRealRoot_lidMoves(t *testing.T) {
	laboratory(t)
	bus := os.Getenv("DBUS_SYSTEM_BUS_ADDRESS")
	// Else logind sleeps as soon as the lid shuts, and again until it opens.
	m := sleep.Open(sleep.Options{SystemBus: bus})
	defer m.Close()
	if err := m.Take(t.Context(), sleep.LidSwitch, "test"); err != nil {
		t.Fatal(err)
	}
	got := watch(t, lid.Options{SystemBus: bus, Poll: 30 * time.Second}) // where logind is later than the settling, the next look tells
	bustest.Eventually(t, "open", func() bool { return got.last() == lid.Open })
	// On a machine that is busy with something else one source may be later than the
	// settling. A lid that always showed the sources' delay would never pass, nor one
	// whose moves were seen by the polls alone.
	quiet := 0
	for end := time.Now().Add(2 * time.Minute); quiet < 3; {
		before := got.unknown()
		move(t, "1")
		bustest.Eventually(t, "closed", func() bool { return got.last() == lid.Closed })
		move(t, "0")
		bustest.Eventually(t, "open again", func() bool { return got.last() == lid.Open })
		if quiet++; got.unknown() > before {
			quiet = 0
		}
		if time.Now().After(end) {
			t.Fatalf("no three quick moves in two minutes; the sources' delay showed %d times", got.unknown())
		}
	}
}

// unknown counts the readings so far by which the lid is in no position.
func (s *seen) unknown() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.list {
		if r.State == lid.Unknown {
			n++
		}
	}
	return n
}
