package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
)

// fakePrefix in LIDGUARD_MACHINE replaces this computer by the fake laptop, whose
// parts are moved through files in the folder that follows. It is for the demo
// and for tests, and no part of the product's promises.
const fakePrefix = "fake:"

// FakeControl is the file "laptop.json" in the control folder. Whoever plays with
// the laptop replaces it (write beside, rename); the runtime follows.
type FakeControl struct {
	Lid      string   `json:"lid"`      // open, closed; anything else: unknown
	Displays int      `json:"displays"` // external ones; -1 unknown
	OnMains  bool     `json:"on_mains"`
	Percent  *float64 `json:"battery_percent,omitempty"` // absent: no battery
	Celsius  *float64 `json:"celsius,omitempty"`         // absent: 50
	Denied   []string `json:"denied,omitempty"`          // holds the system refuses
	Offline  bool     `json:"offline,omitempty"`         // no network
	Logins   []string `json:"logins,omitempty"`          // who is logged in from afar
	Wakes    int      `json:"wakes"`                     // counting up wakes the machine
	Restarts int      `json:"restarts"`                  // counting up restarts the service behind holds
}

// FakeEvent is one line of the file "laptop.log" in the control folder: what
// happened to the laptop.
type FakeEvent struct {
	Time time.Time `json:"time"`
	PID  int       `json:"pid"`  // of the runtime
	What string    `json:"what"` // hold, release, sleep, wake, wake-at; off: the runtime left
	Hold string    `json:"hold,omitempty"`
	Mode string    `json:"mode,omitempty"`
	By   string    `json:"by,omitempty"` // sleep: call, or lid (the system by itself)
	At   time.Time `json:"at,omitzero"`  // wake-at: when; zero: taken back
}

// fakeMachine is a fake laptop that files control.
type fakeMachine struct {
	awake.Machine
	laptop *fakelaptop.Laptop
	dir    string
	stop   context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex  // guards last, and one line of the log at a time
	last FakeControl // as control read it
}

func openFake(dir string) (awake.Machine, func(), error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("fake laptop: %w", err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, nil, fmt.Errorf("fake laptop: %w", err)
	}
	if err := watcher.Add(dir); err != nil {
		watcher.Close()
		return nil, nil, fmt.Errorf("fake laptop: %w", err)
	}
	laptop := fakelaptop.New(fakelaptop.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	m := &fakeMachine{Machine: laptop.Machine(), laptop: laptop, dir: dir, stop: cancel, ended: make(chan struct{})}
	laptop.Subscribe(m.log)
	// A machine that is shut when the runtime starts has not just been shut.
	laptop.Foreign("start", awake.HoldLid)
	m.control()
	laptop.Foreign("start", "")
	go func() { // ends with close, which waits for it
		defer close(m.ended)
		defer watcher.Close()
		for {
			select {
			case e := <-watcher.Events:
				if filepath.Base(e.Name) == "laptop.json" {
					m.control()
				}
			case <-watcher.Errors:
				m.control()
			case <-ctx.Done():
				return
			}
		}
	}()
	return m, func() {
		cancel()
		<-m.ended
		m.write(FakeEvent{What: "off"}) // the last a runtime does
	}, nil
}

// control brings the laptop into the state that the control file asks for.
func (m *fakeMachine) control() {
	c := FakeControl{Lid: "open"}
	data, err := os.ReadFile(filepath.Join(m.dir, "laptop.json"))
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return // being written; its own event follows
	}
	m.mu.Lock()
	before := m.last
	m.last = c
	m.mu.Unlock()
	for _, h := range awake.Holds() {
		m.laptop.Allow(h)
	}
	for _, h := range c.Denied {
		m.laptop.Deny(awake.Hold(h), "org.freedesktop.login1.inhibit", "denied by the control file")
	}
	battery := awake.Battery{}
	if c.Percent != nil {
		battery = awake.Battery{Known: true, OnBattery: !c.OnMains, Percent: *c.Percent}
	}
	m.laptop.SetBattery(battery)
	if c.Celsius != nil {
		m.laptop.SetHeat(*c.Celsius, nil)
	}
	m.laptop.SetDisplays(c.Displays)
	switch c.Lid {
	case "open":
		m.laptop.SetLid(awake.LidOpen)
	case "closed":
		m.laptop.SetLid(awake.LidClosed)
	default:
		m.laptop.SetLid(awake.LidUnknown)
	}
	if c.Wakes > before.Wakes {
		m.laptop.Wake()
	}
	if c.Restarts > before.Restarts {
		m.laptop.RestartService()
	}
}

// Network tells what the control file says.
func (m *fakeMachine) Network(context.Context) (awake.Network, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return networkOf(!m.last.Offline, nil)
}

// Remote tells what the control file says.
func (m *fakeMachine) Remote(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last.Logins, nil
}

// WakeAt writes the wish down; whoever plays with the laptop wakes it.
func (m *fakeMachine) WakeAt(_ context.Context, at time.Time) error {
	m.write(FakeEvent{What: "wake-at", At: at})
	return nil
}

// log writes down what the laptop tells.
func (m *fakeMachine) log(f awake.Fact) {
	switch f.Kind {
	case awake.FactSleeping:
		sleeps := m.laptop.Sleeps()
		if n := len(sleeps); n > 0 {
			m.write(FakeEvent{What: "sleep", Mode: string(sleeps[n-1].Mode), By: sleeps[n-1].By})
		}
	case awake.FactWoke:
		m.write(FakeEvent{What: "wake"})
	}
}

func (m *fakeMachine) write(e FakeEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.Time, e.PID = time.Now().UTC(), os.Getpid()
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(m.dir, "laptop.log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	f.Write(append(line, '\n'))
}

// Acquire takes a lock of the laptop and writes it down.
func (m *fakeMachine) Acquire(ctx context.Context, hold awake.Hold, reason string) (awake.Lock, error) {
	l, err := m.Machine.Acquire(ctx, hold, reason)
	if err != nil {
		return nil, err
	}
	m.write(FakeEvent{What: "hold", Hold: string(hold)})
	return &fakeLock{Lock: l, m: m, hold: hold}, nil
}

type fakeLock struct {
	awake.Lock
	m    *fakeMachine
	hold awake.Hold
	once sync.Once
}

func (l *fakeLock) Release() error {
	// Written before: releasing a lid lock may put the laptop to sleep at once.
	l.once.Do(func() { l.m.write(FakeEvent{What: "release", Hold: string(l.hold)}) })
	return l.Lock.Release()
}
