package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/platform/alarm"
	"github.com/lidguard-go/lidguard/internal/platform/battery"
	"github.com/lidguard-go/lidguard/internal/platform/bus"
	"github.com/lidguard-go/lidguard/internal/platform/display"
	"github.com/lidguard-go/lidguard/internal/platform/lid"
	"github.com/lidguard-go/lidguard/internal/platform/network"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
	"github.com/lidguard-go/lidguard/internal/platform/thermal"
)

// linuxMachine is this computer: login1 for locks and sleep, UPower for lid and
// battery, sysfs for displays and heat. It changes no lasting value, so there is
// nothing to restore: the kernel drops every lock with the process.
type linuxMachine struct {
	root     string
	guest    bool // of Windows, which sleeps whatever is held in here
	sleep    *sleep.Manager
	desktop  *sleep.Desktop // nil without a session bus
	lid      *lid.Sensor
	displays *display.Watcher
	battery  *battery.Sensor
	alarm    *alarm.Alarm // used one at a time, by the worker of package daemon

	why     string // of the desktop's lock; guarded by changing
	refused error  // why the desktop did not give it; guarded by changing

	// changing is held over a whole Acquire or Release, since several of our
	// locks share one of login1's. It comes before mu.
	changing sync.Mutex

	tidying sync.WaitGroup // what event started

	lockSet
	tell func(awake.Fact) // of the Watch under way; guarded by mu
}

// openSystem opens the machine this program runs on. It never fails: what cannot
// be reached says so when it is asked.
func openSystem(env func(string) string) (awake.Machine, func()) {
	address := env("DBUS_SYSTEM_BUS_ADDRESS")
	if address == "" {
		address = bus.SystemBus
	}
	root := env("LIDGUARD_ROOT")
	m := &linuxMachine{root: root, guest: sleep.InWSL(root)}
	m.sleep = sleep.Open(sleep.Options{SystemBus: address, OnEvent: m.event})
	if session := env("DBUS_SESSION_BUS_ADDRESS"); session != "" {
		ready := make(chan struct{}) // the first event may come before m.desktop is set
		m.desktop = sleep.OpenDesktop(sleep.DesktopOptions{SessionBus: session, OnEvent: func(k sleep.EventKind) {
			<-ready
			if k == sleep.ServiceUp {
				m.retakeDesktop()
			}
		}})
		close(ready)
	}
	m.lid = lid.OpenSensor(lid.Options{SystemBus: address, Root: m.root})
	m.displays = display.Open(display.Options{Root: m.root})
	m.displays.Need(true)
	m.battery = battery.Open(battery.Options{SystemBus: address, Root: m.root})
	m.alarm = alarm.New(m.root)
	return m, func() {
		m.battery.Close()
		m.displays.Close()
		m.lid.Close()
		m.sleep.Close()
		m.tidying.Wait()
		if m.desktop != nil {
			m.desktop.Close()
		}
	}
}

// whatOf names login1's lock for each hold. A display that must stay on is, to
// logind, a machine that is not idle.
var whatOf = map[awake.Hold]sleep.What{
	awake.HoldIdle: sleep.Idle, awake.HoldDisplay: sleep.Idle,
	awake.HoldLid: sleep.LidSwitch, awake.HoldSleep: sleep.AnySleep,
}

// errGuest is what every lock comes to in WSL.
var errGuest = fmt.Errorf("%w: this Linux is a guest of Windows (WSL), and only the host can be kept awake: run lidguard on the Windows side", awake.ErrUnsupported)

// Acquire takes a lock; see awake.Machine. login1 is asked for one lock per kind;
// several locks of one kind here share it.
func (m *linuxMachine) Acquire(ctx context.Context, hold awake.Hold, reason string) (awake.Lock, error) {
	what, ok := whatOf[hold]
	if !ok {
		return nil, fmt.Errorf("taking %q: %w", hold, awake.ErrUnsupported)
	}
	if m.guest {
		// WSL may well have a logind, and its locks would be granted: a promise
		// that Windows does not keep.
		return nil, errGuest
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	// Listed before it is asked for: login1 may go the moment it has granted it.
	l := &sharedLock{hold: hold, release: m.release, lost: make(chan struct{})}
	m.put(l)
	if err := m.sleep.Take(ctx, what, reason); err != nil {
		m.forget(l)
		return nil, refusal(err)
	}
	if hold == awake.HoldIdle && m.desktop != nil {
		// An addition where the desktop has its own idle timer; most have
		// none that listens, and login1's lock stands without it. What came of
		// it is in More.
		m.why = reason
		m.refused = m.desktop.Take(ctx, reason)
	}
	if !m.has(l) { // lost meanwhile: what was granted has no holder to give it back
		_ = m.sleep.Release(what)
		m.leaveDesktop()
	}
	return l, nil
}

// leaveDesktop gives the desktop's lock back unless a lock of ours needs it.
// changing is held.
func (m *linuxMachine) leaveDesktop() {
	if m.desktop == nil || m.count(awake.HoldIdle) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), holdLimit)
	defer cancel()
	_ = m.desktop.Release(ctx) // as with Take
}

// retakeDesktop takes the desktop's lock from a session manager that appeared, or
// came back without it, while the machine is held.
func (m *linuxMachine) retakeDesktop() {
	m.changing.Lock()
	defer m.changing.Unlock()
	if m.count(awake.HoldIdle) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), holdLimit)
		defer cancel()
		m.refused = m.desktop.Take(ctx, m.why)
	}
}

// More tells of the battery's drain, of programs that handle the lid themselves,
// and of the desktop's lock.
func (m *linuxMachine) More(ctx context.Context) More {
	var more More
	if r, err := m.battery.Read(ctx); err == nil && r.Present {
		more.BatteryLeft = r.ToEmpty
	}
	// Without login1 nobody can have taken the lid from it.
	others, _ := m.sleep.Foreign(ctx, sleep.LidSwitch)
	for _, h := range others {
		more.LidHandlers = append(more.LidHandlers, fmt.Sprintf("%s (%s)", h.Who, h.Why))
	}
	if m.desktop == nil || m.desktop.Dialect() == "" {
		return more
	}
	m.changing.Lock()
	refused := m.refused
	m.changing.Unlock()
	if m.count(awake.HoldIdle) == 0 {
		return more
	}
	more.Desktop = &ipc.Hold{What: HoldSessionBus}
	held, err := m.desktop.Held(ctx)
	switch {
	case held:
		more.Desktop.Confirmed = true
	case refused != nil:
		more.Desktop.Error = refused.Error()
	case err != nil:
		more.Desktop.Error = err.Error()
	default:
		more.Desktop.Error = "the desktop does not list it"
	}
	return more
}

// release gives a lock back.
func (m *linuxMachine) release(l *sharedLock) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.has(l) {
		return nil
	}
	what := whatOf[l.hold]
	if !slices.ContainsFunc(m.of(awake.Holds()...), func(other *sharedLock) bool { return other != l && whatOf[other.hold] == what }) {
		if err := m.sleep.Release(what); err != nil {
			return err
		}
	}
	m.forget(l)
	m.leaveDesktop()
	return nil
}

// event hears of login1: when it goes, every lock went with it.
func (m *linuxMachine) event(k sleep.EventKind) {
	m.mu.Lock()
	tell := m.tell
	m.mu.Unlock()
	if k == sleep.ServiceDown {
		m.lose(awake.Holds()...)
		// Not here: Acquire may hold changing for as long as login1 takes. Waited
		// for when the machine is closed.
		m.tidying.Go(func() {
			m.changing.Lock()
			defer m.changing.Unlock()
			m.leaveDesktop()
		})
	}
	if tell == nil {
		return
	}
	switch k {
	case sleep.ServiceUp:
		tell(awake.Fact{Kind: awake.FactService})
	case sleep.GoingToSleep:
		tell(awake.Fact{Kind: awake.FactSleeping})
	case sleep.WokeUp:
		tell(awake.Fact{Kind: awake.FactWoke})
	}
}

// Held lists what login1 itself has of ours.
func (m *linuxMachine) Held(ctx context.Context) ([]awake.Hold, error) {
	list, err := m.sleep.Held(ctx)
	if err != nil {
		return nil, err
	}
	var held []awake.Hold
	for _, hold := range awake.Holds() {
		if m.count(hold) > 0 && slices.Contains(list, whatOf[hold]) {
			held = append(held, hold)
		}
	}
	return held, nil
}

// Lid reads the lid.
func (m *linuxMachine) Lid(ctx context.Context) (awake.Lid, error) { return lidOf(m.lid.Read(ctx)) }

// Displays counts external displays.
func (m *linuxMachine) Displays(context.Context) (int, error) { return countOf(m.displays.Read()) }

// Battery reads supply and charge.
func (m *linuxMachine) Battery(ctx context.Context) (awake.Battery, error) {
	r, err := m.battery.Read(ctx)
	return batteryOf(r, err), err
}

// Heat reads the sensors.
func (m *linuxMachine) Heat(_ context.Context, mode string) (float64, error) {
	r, err := thermal.Read(m.root)
	if err != nil {
		return 0, err
	}
	return r.Celsius(thermal.Mode(mode))
}

// Network reads the kernel's routes.
func (m *linuxMachine) Network(context.Context) (awake.Network, error) {
	return networkOf(network.Up(m.root))
}

// Remote asks login1 who is logged in over the network.
func (m *linuxMachine) Remote(ctx context.Context) ([]string, error) { return m.sleep.Remote(ctx) }

// WakeAt sets the kernel's alarm, or the clock chip's.
func (m *linuxMachine) WakeAt(_ context.Context, at time.Time) error { return m.alarm.Set(at) }

// CanSuspend asks login1 without suspending.
func (m *linuxMachine) CanSuspend(ctx context.Context, mode awake.Mode) error {
	ask := m.sleep.CanSuspend
	switch mode {
	case awake.Sleep:
	case awake.Hibernate:
		ask = m.sleep.CanHibernate
	default:
		return fmt.Errorf("%q: %w", mode, awake.ErrUnsupported)
	}
	answer, err := ask(ctx)
	switch {
	case err != nil:
		return refusal(err)
	case answer == sleep.Yes:
		return nil
	case answer == sleep.NA:
		return fmt.Errorf("%s: %w", mode, awake.ErrUnsupported)
	}
	return &awake.Refusal{What: string(mode), Who: "login1", Why: fmt.Sprintf("it answers %q: another user or lock is in the way, or the session is not active", answer)}
}

// Suspend asks login1 to sleep.
func (m *linuxMachine) Suspend(ctx context.Context, mode awake.Mode) error {
	switch mode {
	case awake.Sleep:
		err := m.sleep.Suspend(ctx)
		if errors.Is(err, sleep.ErrInProgress) {
			return nil // nearly always: it suspends by itself, since the lid's lock went
		}
		return refusal(err)
	case awake.Hibernate:
		return refusal(m.sleep.Hibernate(ctx))
	}
	return fmt.Errorf("%q: %w", mode, awake.ErrUnsupported)
}

// Watch tells lid, displays, battery and login1's own events.
func (m *linuxMachine) Watch(ctx context.Context, tell func(awake.Fact)) error {
	var one sync.Mutex // tell is called one at a time
	say := func(f awake.Fact) {
		one.Lock()
		defer one.Unlock()
		if ctx.Err() == nil {
			tell(f)
		}
	}
	m.mu.Lock()
	m.tell = say
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.tell = nil
		m.mu.Unlock()
	}()
	var watchers sync.WaitGroup // each ends with ctx; waited for here
	watchers.Go(func() {
		m.lid.Watch(ctx, func(r lid.Reading) {
			state, _ := lidOf(r)
			say(awake.Fact{Kind: awake.FactLid, Lid: state})
		})
	})
	watchers.Go(func() {
		m.displays.Watch(ctx, func(r display.Reading, err error) {
			n, _ := countOf(r, err)
			say(awake.Fact{Kind: awake.FactDisplays, Displays: n})
		})
	})
	watchers.Go(func() {
		// UPower tells every change of the drain, which nothing here needs.
		var last *awake.Battery
		m.battery.Watch(ctx, func(r battery.Reading, err error) {
			if b := batteryOf(r, err); last == nil || *last != b {
				last = &b
				say(awake.Fact{Kind: awake.FactBattery, Battery: b})
			}
		})
	})
	watchers.Wait()
	return nil
}

// Restore has nothing to do: see linuxMachine.
func (m *linuxMachine) Restore(context.Context) error { return nil }

// refusal turns login1's answers into the words of package awake.
func refusal(err error) error {
	var denied *sleep.DeniedError
	switch {
	case errors.As(err, &denied):
		who := denied.PolkitAction
		why := "not permitted"
		if denied.Err != nil {
			why = denied.Err.Error()
		}
		var others []string
		for _, h := range denied.Holders {
			others = append(others, fmt.Sprintf("%s (%s)", h.Who, h.Why))
		}
		others = append(others, denied.OtherUsers...)
		if len(others) > 0 {
			who = strings.Join(others, ", ")
		}
		return &awake.Refusal{What: denied.Doing, Who: who, Why: why}
	case errors.Is(err, sleep.ErrUnsupported):
		return fmt.Errorf("%w (%w)", awake.ErrUnsupported, err)
	}
	return err
}

var _ awake.Machine = (*linuxMachine)(nil)
