package lid_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/bustest"
	"github.com/lidguard-go/lidguard/internal/platform/lid"
)

func root(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	acpi  = "proc/acpi/button/lid/LID0/state"
	input = "sys/class/input/input0/capabilities/sw"
	kbd   = "sys/class/input/input1/capabilities/sw"
)

type flag int

const (
	none  flag = iota // service absent
	noLid             // there, without a lid
	open
	shut
)

func TestRead(t *testing.T) {
	tests := []struct {
		name           string
		upower, login1 flag
		files          map[string]string
		state          lid.State
		presence       lid.Presence
		source         string
	}{
		{"both say open", open, open, nil, lid.Open, lid.Present, "upower+login1"},
		{"both say closed", shut, shut, nil, lid.Closed, lid.Present, "upower+login1"},
		{"upower closed, login1 open: unknown", shut, open, nil, lid.Unknown, lid.Present, "upower+login1"},
		{"upower open, login1 closed: unknown", open, shut, nil, lid.Unknown, lid.Present, "upower+login1"},
		{"upower alone is believed", shut, none, nil, lid.Closed, lid.Present, "upower"},
		{"login1 alone: closed is certain", none, shut, nil, lid.Closed, lid.Present, "login1"},
		{"login1 alone: open may mean no lid", none, open, nil, lid.Unknown, lid.PresenceUnknown, ""},
		{"login1 open and a lid switch known", none, open, map[string]string{input: "1\n"}, lid.Open, lid.Present, "login1"},
		{"a switch that is no lid", none, open, map[string]string{kbd: "2\n"}, lid.Unknown, lid.Absent, ""},
		{"a lid among many switch bits", none, open, map[string]string{input: "f0000 1\n"}, lid.Open, lid.Present, "login1"},
		{"a desktop", noLid, open, map[string]string{kbd: "0\n"}, lid.Unknown, lid.Absent, ""},
		{"acpi alone, open", none, none, map[string]string{acpi: "state:      open\n"}, lid.Open, lid.Present, "acpi"},
		{"acpi alone, closed", none, none, map[string]string{acpi: "state:      closed\n"}, lid.Closed, lid.Present, "acpi"},
		{"acpi speaks gibberish", none, none, map[string]string{acpi: "state:      unsupported\n"}, lid.Unknown, lid.Present, ""},
		{"acpi knows a lid that login1 does not", none, open, map[string]string{acpi: "state:      closed\n"}, lid.Closed, lid.Present, "acpi"},
		{"nothing at all", none, none, nil, lid.Unknown, lid.PresenceUnknown, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			address := bustest.Start(t)
			if tt.login1 != none {
				bustest.NewLogin1(t, address).Set("LidClosed", tt.login1 == shut)
			}
			if tt.upower != none {
				bustest.NewUPower(t, address).SetQuietly(map[string]any{"LidIsPresent": tt.upower != noLid, "LidIsClosed": tt.upower == shut})
			}
			s := lid.OpenSensor(lid.Options{SystemBus: address, Root: root(t, tt.files)})
			defer s.Close()
			got := s.Read(t.Context())
			if got.State != tt.state || got.Presence != tt.presence || got.Source != tt.source {
				t.Errorf("got %v %v %q, want %v %v %q", got.State, got.Presence, got.Source, tt.state, tt.presence, tt.source)
			}
			if (got.Why == "") != (got.State != lid.Unknown) {
				t.Errorf("state %v with reason %q", got.State, got.Why)
			}
		})
	}
}

func TestRead_withoutABus(t *testing.T) {
	s := lid.OpenSensor(lid.Options{SystemBus: "unix:path=/nonexistent", Root: root(t, map[string]string{acpi: "state: closed"})})
	defer s.Close()
	if got := s.Read(t.Context()); got.State != lid.Closed || got.Source != "acpi" {
		t.Errorf("got %+v, want closed by acpi", got)
	}
}

// seen collects the reports of a Watch.
type seen struct {
	mu   sync.Mutex
	list []lid.Reading
}

func (s *seen) add(r lid.Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, r)
}

func (s *seen) last() lid.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return -1
	}
	return s.list[len(s.list)-1].State
}

func watch(t *testing.T, o lid.Options) *seen {
	t.Helper()
	s := lid.OpenSensor(o)
	var got seen
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		s.Watch(ctx, got.add)
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		s.Close()
		s.Close()
	})
	return &got
}

func TestWatch_followsTheLidAndUPowersRestart(t *testing.T) {
	address := bustest.Start(t)
	login1, up := bustest.NewLogin1(t, address), bustest.NewUPower(t, address)
	got := watch(t, lid.Options{SystemBus: address, Root: t.TempDir(), Poll: time.Hour})
	is := func(what string, want lid.State) {
		t.Helper()
		bustest.Eventually(t, what, func() bool { return got.last() == want })
	}
	is("open at first", lid.Open)
	login1.Set("LidClosed", true) // systemd 252: silent
	up.Set(map[string]any{"LidIsClosed": true})
	is("closed", lid.Closed)

	// The lid opens while UPower is away; nobody signals it.
	up.Stop()
	is("closed by login1", lid.Closed)
	login1.Set("LidClosed", false)
	up.SetQuietly(map[string]any{"LidIsClosed": false})
	up.Begin()
	is("open after UPower's return", lid.Open)
	up.Set(map[string]any{"LidIsClosed": true})
	login1.Set("LidClosed", true)
	is("closed after UPower's return", lid.Closed)
}

func TestWatch_disagreementIsSeenAndHeals(t *testing.T) {
	address := bustest.Start(t)
	login1, up := bustest.NewLogin1(t, address), bustest.NewUPower(t, address)
	got := watch(t, lid.Options{SystemBus: address, Root: t.TempDir(), Poll: time.Hour})
	bustest.Eventually(t, "open", func() bool { return got.last() == lid.Open })
	up.Set(map[string]any{"LidIsClosed": true})
	bustest.Eventually(t, "unknown while login1 says open", func() bool { return got.last() == lid.Unknown })
	login1.Signal("LidClosed", true)
	bustest.Eventually(t, "closed", func() bool { return got.last() == lid.Closed })
}

func TestWatch_pollsOnlyWithoutUPower(t *testing.T) {
	r := root(t, map[string]string{acpi: "state: open"})
	got := watch(t, lid.Options{SystemBus: "unix:path=/nonexistent", Root: r, Poll: time.Millisecond})
	bustest.Eventually(t, "open", func() bool { return got.last() == lid.Open })
	if err := os.WriteFile(filepath.Join(r, acpi), []byte("state: closed"), 0o644); err != nil {
		t.Fatal(err)
	}
	bustest.Eventually(t, "closed", func() bool { return got.last() == lid.Closed })

	address := bustest.Start(t)
	bustest.NewLogin1(t, address)
	up := bustest.NewUPower(t, address)
	quiet := watch(t, lid.Options{SystemBus: address, Root: r, Poll: time.Millisecond})
	bustest.Eventually(t, "open", func() bool { return quiet.last() == lid.Open })
	var before int
	bustest.Eventually(t, "settled", func() bool { n := len(up.Calls("GetAll")); same := n == before; before = n; return same })
	up.Set(map[string]any{"OnBattery": true}) // one nudge, so one more reading
	bustest.Eventually(t, "read once more", func() bool { return len(up.Calls("GetAll")) > before })
	if n := len(up.Calls("GetAll")); n > before+2 {
		t.Errorf("%d readings after one signal: it polls", n-before)
	}
}
