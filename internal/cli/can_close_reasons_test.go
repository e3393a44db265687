package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// TestCanClose_rightsLidAndDisplays has a machine that may be closed, and what
// else speaks for or against it.
func TestCanClose_rightsLidAndDisplays(t *testing.T) {
	missing := []ipc.Finding{{Code: "rights-missing", Text: "lidguard may not suspend"}}
	for _, c := range []struct {
		name   string
		change func(*ipc.Status, *settings.Settings)
		rights []ipc.Finding
		can    bool
		code   string // among the reasons, on the side of the answer
	}{
		{"all is well", func(*ipc.Status, *settings.Settings) {}, nil, true, "lid-handler"},
		{"rights are there", func(*ipc.Status, *settings.Settings) {}, nil, true, "rights"},
		{"a right is missing that nothing needs now", func(*ipc.Status, *settings.Settings) {}, missing, true, "rights-missing"},
		{"a container, and all is held", func(*ipc.Status, *settings.Settings) {}, []ipc.Finding{{Code: "in-container", Text: "this is a container"}}, true, "in-container"},
		{"it was not held for a while", func(st *ipc.Status, _ *settings.Settings) {
			st.Findings = []ipc.Finding{{Code: "hold-gap", Text: "a gap"}}
		}, nil, true, "hold-gap"},
		{"a right is missing and with it a lock", func(st *ipc.Status, _ *settings.Settings) {
			st.Held[1] = ipc.Hold{What: "handle-lid-switch", Error: "no"}
		}, missing, false, "rights-missing"},
		{"the desktop handles the lid", func(st *ipc.Status, _ *settings.Settings) {
			st.LidHandlers, st.Findings = []string{"KDE"}, []ipc.Finding{{Code: "desktop-handles-lid", Text: "KDE handles the lid"}}
		}, nil, false, "desktop-handles-lid"},
		{"the desktop's own lock is not held", func(st *ipc.Status, _ *settings.Settings) {
			st.Held = append(st.Held, ipc.Hold{What: "session-bus", Error: "no"})
		}, nil, false, "lock-not-held"},
		{"a display", func(st *ipc.Status, _ *settings.Settings) { st.Displays = 1 }, nil, true, "displays"},
		{"cool", func(st *ipc.Status, _ *settings.Settings) { st.Celsius = ptr(50.0) }, nil, true, "heat"},
		{"no sensor", func(st *ipc.Status, _ *settings.Settings) { st.Celsius = nil }, nil, true, "heat"},
		{"the phone is asked", func(_ *ipc.Status, s *settings.Settings) {
			s.ClosedLidPermissionDecision, s.PhoneURL = "phone", "https://n.example/0123456789abcdef"
		}, nil, true, "session-works"},
		{"nothing works, and nobody is to reach it", func(st *ipc.Status, _ *settings.Settings) { st.Sessions[0].Holds = false }, nil, true, "nothing-works"},
		{"nothing works, and it is about to sleep", func(st *ipc.Status, _ *settings.Settings) {
			st.Sessions[0].Holds, st.Suspend = false, &ipc.Pending{}
		}, nil, true, "suspend-pending"},
		{"nothing but the lid is to be held off", func(st *ipc.Status, s *settings.Settings) {
			st.Held, s.PreventSystemSleep = st.Held[1:], "off"
		}, nil, false, "idle-sleep"},
		{"the display is to stay on, which holds off idle sleep too", func(st *ipc.Status, s *settings.Settings) {
			st.Held[0].What, s.PreventSystemSleep = "display", "off"
		}, nil, true, "lid-handler"},
		{"nothing works, but it stays reachable", func(st *ipc.Status, _ *settings.Settings) {
			st.Sessions[0].Holds, st.ReachableUntil = false, time.Now().Add(time.Minute)
		}, nil, true, "reachable"},
		{"nothing works, but somebody is logged in", func(st *ipc.Status, _ *settings.Settings) {
			st.Sessions[0].Holds, st.RemoteLogins = false, "ana from 192.0.2.7"
		}, nil, true, "remote-logins"},
		{"it should stay reachable, and no lock says so", func(st *ipc.Status, _ *settings.Settings) {
			st.Sessions[0].Holds, st.ReachableUntil, st.Held[0].Confirmed = false, time.Now().Add(time.Minute), false
		}, nil, true, "nothing-works"},
		{"a session at rest", func(st *ipc.Status, _ *settings.Settings) {
			st.Sessions = append(st.Sessions, ipc.Session{Key: event.SessionKey{Provider: event.Codex, ID: "b"}})
		}, nil, true, "session-rests"},
	} {
		st := &ipc.Status{Lid: "open", Protected: true, OnBattery: ptr(true), Battery: ptr(60.0), BatteryMinutes: ptr(95),
			Sessions: []ipc.Session{{Key: event.SessionKey{Provider: event.Claude, ID: "a"}, Holds: true}},
			Held:     []ipc.Hold{{What: "idle", Confirmed: true}, {What: "handle-lid-switch", Confirmed: true}}}
		s := settings.Default()
		c.change(st, &s)
		got := canClose(st, s, true, c.rights)
		found := slices.ContainsFunc(got.Reasons, func(r closeReason) bool { return r.Code == c.code && r.For == c.can })
		for _, r := range got.Reasons {
			finding := slices.ContainsFunc(append(c.rights, st.Findings...), func(f ipc.Finding) bool { return f.Code == r.Code })
			if r.Caveat != (finding && r.For) {
				t.Errorf("%s: %+v, a caveat is a finding that is no reason against", c.name, r)
			}
		}
		if got.CanClose != c.can || !found {
			t.Errorf("%s: %v, want %v because of %s: %+v", c.name, got.CanClose, c.can, c.code, got.Reasons)
		}
	}
}

// TestCanClose_marks: what is no reason for it has no plus.
func TestCanClose_marks(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(filepath.Join(w.home, ".config", "lidguard"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home, ".config", "lidguard", "settings.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, _ := w.run("can-close")
	if !strings.Contains(out, "\n+ no session is tracked") || !strings.Contains(out, "\n! the settings cannot be read") {
		t.Errorf("%s", out)
	}
}
