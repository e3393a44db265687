package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/notify"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// afar is a laptop that also knows the network, logins over it, and a clock that
// wakes it.
type afar struct {
	awake.Machine

	mu      sync.Mutex
	offline bool
	logins  []string
	broken  error
	asked   int // how often network and logins were read
	wakes   []time.Time
}

func (a *afar) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *afar) Network(context.Context) (awake.Network, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	return networkOf(!a.offline, a.broken)
}

func (a *afar) Remote(context.Context) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	return a.logins, a.broken
}

func (a *afar) WakeAt(_ context.Context, at time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wakes = append(a.wakes, at)
	return a.broken
}

// absent returns the last absence of the record.
func (b *bubble) absent() notify.Absence {
	b.t.Helper()
	all, err := notify.Absences(b.options.Dirs.AwayReport())
	if err != nil || len(all) == 0 {
		b.t.Fatalf("%d absences, %v", len(all), err)
	}
	return all[len(all)-1]
}

func noted(a notify.Absence, code string) (texts []string) {
	for _, n := range a.Notes {
		if n.Code == code {
			texts = append(texts, n.Text)
		}
	}
	return texts
}

func TestRun_aLostNetworkIsInTheAwayReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) { s.SessionTimeoutMinutes = 0 })
		m := &afar{Machine: b.options.Machine}
		b.options.Machine = m
		b.start()
		b.signal(event.Began, "a")
		time.Sleep(time.Hour)
		m.set(func() {
			if m.asked != 0 {
				t.Errorf("read %d times with somebody there", m.asked)
			}
			m.offline = true
		})
		b.laptop.SetLid(awake.LidClosed)
		time.Sleep(9 * time.Minute)
		if n := noted(b.absent(), "network-lost"); len(n) != 0 {
			t.Errorf("told too early: %q", n)
		}
		time.Sleep(2 * time.Minute)
		if n := noted(b.absent(), "network-lost"); len(n) != 1 || b.holds() == 0 {
			t.Errorf("notes %q, %d holds; want one, and the machine awake", n, b.holds())
		}
		m.set(func() { m.offline = false })
		time.Sleep(time.Minute)
		m.set(func() { m.offline, m.broken = true, errors.New("no such file") })
		time.Sleep(time.Hour)
		b.laptop.SetLid(awake.LidOpen)
		time.Sleep(time.Second)
		x := b.absent()
		if back, lost := noted(x, "network-back"), noted(x, "network-lost"); len(back) != 1 || len(lost) != 1 {
			t.Errorf("notes %q and %q, want one of each: what cannot be read is not lost", lost, back)
		}
		b.end()
	})
}

func TestRun_aLoginFromAfarProlongsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) { s.CountRemoteLogins = true })
		m := &afar{Machine: b.options.Machine, logins: []string{"ana from 192.0.2.7", "bo"}}
		b.options.Machine = m
		b.start()
		b.signal(event.Began, "a")
		b.laptop.SetLid(awake.LidClosed)
		time.Sleep(time.Minute)
		b.signal(event.Stopped, "a")
		time.Sleep(3 * time.Hour)
		reply, err := b.call(&ipc.Request{Op: ipc.OpStatus})
		if err != nil || reply.Status.RemoteLogins != "ana from 192.0.2.7, bo" || b.holds() == 0 {
			t.Errorf("status %+v, %v; %d holds", reply.Status, err, b.holds())
		}
		m.set(func() { m.logins = nil })
		time.Sleep(time.Minute)
		if n := len(b.laptop.Sleeps()); n != 1 {
			t.Errorf("slept %d times after the last logout, want once", n)
		}
		m.set(func() { m.asked = 0 })
		b.laptop.SetLid(awake.LidOpen)
		time.Sleep(5 * time.Minute)
		m.set(func() {
			if m.asked != 0 {
				t.Errorf("logins are counted %d times at rest", m.asked)
			}
		})
		b.end()
	})
}

// The client's own words about its limit become a wish to wake.
func TestRun_asksToWakeWhenTheLimitIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) { s.WakeAfterLimit = true })
		m := &afar{Machine: b.options.Machine}
		b.options.Machine = m
		b.start()
		key := event.SessionKey{Provider: event.Claude, ID: "c"}
		say := func(s event.Signal) {
			t.Helper()
			s.Session, s.Source = key, "test"
			if _, err := b.call(&ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{s}}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		say(event.Signal{Kind: event.Began})
		b.laptop.SetLid(awake.LidClosed)
		want := time.Now().UTC().Truncate(time.Hour).Add(3 * time.Hour)
		say(event.Signal{Kind: event.Failed, AgentID: "side", LastMessage: "limit reached · resets 1am (UTC)"})
		say(event.Signal{Kind: event.Failed, LastMessage: "You've hit your session limit · resets " + want.Format("3pm") + " (UTC)"})
		if m.set(func() {}); len(m.wakes) != 1 || !m.wakes[0].Equal(want) {
			t.Fatalf("wakes %v, want %v", m.wakes, want)
		}
		time.Sleep(time.Minute)
		if n := len(b.laptop.Sleeps()); n != 1 {
			t.Errorf("slept %d times, want once", n)
		}
		if n := noted(b.absent(), "wake-asked"); len(n) != 1 || !strings.Contains(n[0], want.Format("2006-01-02 15:04 UTC")) {
			t.Errorf("away report: %q", n)
		}
		b.laptop.SetLid(awake.LidOpen)
		time.Sleep(time.Second)
		b.end()
		if last := m.wakes[len(m.wakes)-1]; !last.IsZero() {
			t.Errorf("the wish of a runtime that ended stands: %v", m.wakes)
		}
		limitRecorded(t, b)
	})
}

// limitRecorded reads whether the record of inputs has when the limit is over, so
// that a replay needs no clock to come to the same.
func limitRecorded(t *testing.T, b *bubble) {
	t.Helper()
	data, err := os.ReadFile(b.options.Dirs.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(data)))
	limits := 0
	for _, line := range lines {
		var r struct {
			Input Input `json:"input"`
		}
		if json.Unmarshal([]byte(line), &r) == nil && r.Input.Session != nil && r.Input.Session.Signal != nil && !r.Input.Session.Signal.Resets.IsZero() {
			limits++
		}
	}
	if limits != 1 {
		t.Errorf("%d lines of the record have the end of the limit, want one", limits)
	}
}

// A machine that cannot do any of it is asked for nothing it has not.
func TestRun_withoutWhatNotEveryMachineHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(s *settings.Settings) {
			s.CountRemoteLogins, s.WakeAfterLimit, s.NetworkLostRelease = true, true, true
		})
		b.start()
		b.signal(event.Began, "a")
		b.laptop.SetLid(awake.LidClosed)
		time.Sleep(11 * time.Minute)
		if b.holds() == 0 {
			t.Error("what cannot be told counts as lost")
		}
		b.signal(event.Stopped, "a")
		time.Sleep(time.Minute)
		if n := len(b.laptop.Sleeps()); n != 1 {
			t.Errorf("slept %d times, want once", n)
		}
		b.laptop.SetLid(awake.LidOpen)
		b.end()
	})
}
