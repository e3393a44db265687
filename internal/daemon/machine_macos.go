package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/platform/battery"
	"github.com/lidguard-go/lidguard/internal/platform/command"
	"github.com/lidguard-go/lidguard/internal/platform/display"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
	"github.com/lidguard-go/lidguard/internal/platform/lid"
	"github.com/lidguard-go/lidguard/internal/platform/network"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
	"github.com/lidguard-go/lidguard/internal/platform/thermal"
)

// macPace is how often a Mac is looked at. macOS tells none of this to a program
// without a run loop of its own, so a Watch asks, which costs processes: some
// 20 ms of a processor for the lid, some 300 ms for the displays (not measured
// here). A Watch runs only while sessions live.
type macPace struct {
	lid     time.Duration
	battery time.Duration
	// Displays matter while the lid is shut; then a Mac that is undocked should
	// be found soon.
	displaysShut, displaysOpen time.Duration
	// held is how often locks that can be undone from outside are read back.
	held time.Duration
	// tidy is how often a value that could not be put back is tried again.
	tidy time.Duration
}

func defaultMacPace() macPace {
	return macPace{lid: 5 * time.Second, battery: 30 * time.Second, displaysShut: 20 * time.Second,
		displaysOpen: 2 * time.Minute, held: 30 * time.Second, tidy: 5 * time.Second}
}

const (
	// displaysFresh is how old a count of displays may be that is told as new.
	// Hooks ask in quick succession and wait a quarter of a second at most.
	displaysFresh = 2 * time.Second
	// heatFresh is the same for the sensors: three modes, one sample.
	heatFresh = 3 * time.Second
	// readLimit bounds one program that only reads.
	readLimit = 10 * time.Second
	// restLimit is how long after a request for hibernation without a sleep the
	// hibernate mode is put back all the same.
	restLimit = awake.SuspendLimit
)

// macOptions are what a Mac is made of.
type macOptions struct {
	run    command.Runner
	store  *lasting.Store // of pmset's values
	keeper keeper
	pid    int // of this process
	// awake and boot are clocks: one stands still through a sleep.
	awake, boot func() time.Duration
	pace        macPace
}

// macMachine is this Mac: caffeinate against its own sleep, disablesleep against
// the lid, pmset for the rest. disablesleep and hibernatemode outlive every
// process, so a keeper watches this one before they are touched.
type macMachine struct {
	macOptions
	lastingMachine
	pmset sleep.Pmset
	cups  *sleep.Caffeinate

	displays, heat fresh

	// Guarded by changing. untidy are values to be put back, though no lock is
	// released for it: after a write that failed, and after hibernation.
	untidy  map[string]bool
	restAt  time.Duration // awake clock: hibernatemode goes back at the latest
	restGap time.Duration // lead before the hibernation
}

func newMac(o macOptions) *macMachine {
	m := &macMachine{macOptions: o, pmset: sleep.Pmset{Run: o.run}, untidy: map[string]bool{}}
	m.lead, m.pause, m.sweep = func() time.Duration { return o.boot() - o.awake() }, o.pace.tidy, m.sweepValues
	m.begin()
	m.cups = &sleep.Caffeinate{Pmset: m.pmset, PID: o.pid, Now: o.awake, Lost: m.died}
	m.displays.read = func(ctx context.Context) (any, error) { return display.ReadSystemProfiler(ctx, o.run) }
	m.heat.read = func(ctx context.Context) (any, error) { return thermal.ReadPowermetrics(ctx, o.run) }
	return m
}

// close gives back whatever is still held and lets the keeper go.
func (m *macMachine) close() {
	m.end()
	m.cups.Close()
	m.changing.Lock()
	defer m.changing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
	defer cancel()
	// What stays after an error the keeper tries again, once we are gone.
	_ = m.store.PutBack(ctx)
	_ = m.keeper.Close(ctx)
}

// cupOf and holdOf name caffeinate's kinds.
var (
	cupOf  = map[awake.Hold]sleep.What{awake.HoldIdle: sleep.Idle, awake.HoldDisplay: sleep.Display}
	holdOf = map[sleep.What]awake.Hold{sleep.Idle: awake.HoldIdle, sleep.Display: awake.HoldDisplay}
)

// Acquire takes a lock; see awake.Machine. Several locks of one hold share what
// the system knows of it. Nothing on a Mac refuses a person's own sleep without
// also being lasting, so there is no HoldSleep.
func (m *macMachine) Acquire(ctx context.Context, hold awake.Hold, _ string) (awake.Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	switch hold {
	case awake.HoldIdle, awake.HoldDisplay:
		if err := m.cups.Hold(ctx, cupOf[hold]); err != nil {
			return nil, err
		}
	case awake.HoldLid:
		if err := m.ignoreLid(ctx); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("taking %q: %w", hold, awake.ErrUnsupported)
	}
	l := &sharedLock{hold: hold, release: m.release, lost: make(chan struct{})}
	m.put(l)
	return l, nil
}

// died loses the locks behind a caffeinate that ended by itself. Word of it waits for
// an Acquire under way, whose lock may stand on that one, and comes too late where
// another has been started since.
func (m *macMachine) died(kind sleep.What) {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.cups.Holding(kind) {
		m.lose(holdOf[kind])
	}
}

// ignoreLid makes macOS ignore the lid, unless a lock of ours has it so already.
func (m *macMachine) ignoreLid(ctx context.Context) error {
	if m.count(awake.HoldLid) > 0 {
		return nil
	}
	if err := m.keeper.Ensure(ctx); err != nil {
		return fmt.Errorf("taking %s: %w", awake.HoldLid, err)
	}
	if err := m.store.Change(ctx, sleep.DisableSleep, "1"); err != nil {
		m.tidyValue(sleep.DisableSleep)
		return macRefusal(awake.HoldLid, err)
	}
	delete(m.untidy, sleep.DisableSleep)
	return nil
}

// release gives a lock back.
func (m *macMachine) release(l *sharedLock) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.has(l) {
		return nil
	}
	if m.count(l.hold) == 1 {
		if l.hold == awake.HoldLid {
			ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
			defer cancel()
			if err := m.store.PutBack(ctx, sleep.DisableSleep); err != nil {
				return err
			}
		} else {
			m.cups.Release(cupOf[l.hold])
		}
	}
	m.forget(l)
	return nil
}

// Held lists what macOS itself shows of ours.
func (m *macMachine) Held(ctx context.Context) ([]awake.Hold, error) {
	var held []awake.Hold
	if m.count(awake.HoldIdle)+m.count(awake.HoldDisplay) > 0 {
		kinds, err := m.cups.Held(ctx)
		if err != nil {
			return nil, err
		}
		for _, k := range kinds {
			if m.count(holdOf[k]) > 0 {
				held = append(held, holdOf[k])
			}
		}
	}
	if m.count(awake.HoldLid) > 0 {
		value, err := m.pmset.Read(ctx, sleep.DisableSleep)
		if err != nil {
			return nil, err
		}
		if value == "1" {
			held = append(held, awake.HoldLid)
		}
	}
	return held, nil
}

// Lid reads the lid.
func (m *macMachine) Lid(ctx context.Context) (awake.Lid, error) {
	return lidOf(lid.ReadIoreg(ctx, m.run))
}

// Displays counts external displays. The program behind it is slow, and goes on
// where the caller cannot wait: whoever asks next has its answer.
func (m *macMachine) Displays(ctx context.Context) (int, error) {
	v, err := m.displays.get(ctx, m.awake, displaysFresh)
	r, _ := v.(display.Reading)
	return countOf(r, err)
}

// Battery reads supply and charge.
func (m *macMachine) Battery(ctx context.Context) (awake.Battery, error) {
	r, err := battery.ReadPmset(ctx, m.run)
	return batteryOf(r, err), err
}

// Network asks the system for a route; see package network.
func (m *macMachine) Network(context.Context) (awake.Network, error) {
	return networkOf(network.Up(""))
}

// Heat reads the sensors that macOS tells.
func (m *macMachine) Heat(ctx context.Context, mode string) (float64, error) {
	v, err := m.heat.get(ctx, m.awake, heatFresh)
	if err != nil {
		return 0, err
	}
	return v.(thermal.Reading).Celsius(thermal.Mode(mode))
}

// CanSuspend tells what is in the way of a sleep.
func (m *macMachine) CanSuspend(ctx context.Context, mode awake.Mode) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	return m.canSuspend(ctx, mode)
}

func (m *macMachine) canSuspend(ctx context.Context, mode awake.Mode) error {
	if mode != awake.Sleep && mode != awake.Hibernate {
		return fmt.Errorf("%q: %w", mode, awake.ErrUnsupported)
	}
	value, err := m.pmset.Read(ctx, sleep.DisableSleep)
	if err != nil {
		return err
	}
	if value == "1" {
		pending, err := m.store.Pending()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(pending, func(e lasting.Entry) bool { return e.Name == sleep.DisableSleep }) {
			return &awake.Refusal{What: string(mode), Who: "pmset disablesleep",
				Why: "it is 1, which is not lidguard's doing: this Mac does not sleep (`sudo pmset -a disablesleep 0` ends that)"}
		}
	}
	if mode == awake.Sleep {
		return nil
	}
	value, err = m.pmset.Read(ctx, sleep.HibernateMode)
	if err != nil {
		return macRefusal(mode, err)
	}
	if value == "25" {
		return nil // as it is to be already
	}
	// The way back is checked before the way there.
	for _, v := range []string{value, "25"} {
		if err := m.pmset.MaySet(ctx, sleep.HibernateMode, v); err != nil {
			return macRefusal(mode, err)
		}
	}
	return nil
}

// Suspend asks macOS to sleep. disablesleep refuses every sleep, so locks of the
// lid are given back for it, and told as lost. For hibernation the mode is
// changed, and put back after the wake-up.
func (m *macMachine) Suspend(ctx context.Context, mode awake.Mode) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if err := m.canSuspend(ctx, mode); err != nil {
		return err
	}
	if mode == awake.Hibernate {
		// First, so that a sleep which comes of itself once the lid counts again
		// is the right one.
		if err := m.keeper.Ensure(ctx); err != nil {
			return fmt.Errorf("hibernating: %w", err)
		}
		if err := m.store.Change(ctx, sleep.HibernateMode, "25"); err != nil {
			m.tidyValue(sleep.HibernateMode)
			return macRefusal(mode, err)
		}
	}
	before := m.lead() // the sleep may be over when the call returns
	err := m.goToSleep(ctx, mode)
	if mode == awake.Hibernate {
		m.restGap = before
		m.restAt = m.awake() + restLimit
		if err != nil {
			m.restAt = m.awake()
		}
		m.tidyValue(sleep.HibernateMode)
	}
	return err
}

func (m *macMachine) goToSleep(ctx context.Context, mode awake.Mode) error {
	if err := m.store.PutBack(ctx, sleep.DisableSleep); err != nil {
		return macRefusal(mode, err)
	}
	m.lose(awake.HoldLid)
	// pmset sleepnow says that it sleeps where it cannot.
	value, err := m.pmset.Read(ctx, sleep.DisableSleep)
	if err != nil {
		return err
	}
	if value == "1" {
		return &awake.Refusal{What: string(mode), Who: "pmset disablesleep", Why: "it is still 1: this Mac does not sleep"}
	}
	m.slept() // a sleep before this one is none of this one's
	return m.pmset.SleepNow(ctx)
}

// tidyValue has a value put back as soon as that can be. changing is held.
func (m *macMachine) tidyValue(name string) {
	m.untidy[name] = true
	m.tidy()
}

// sweepValues puts back what is due.
func (m *macMachine) sweepValues(ctx context.Context) (tidy bool) {
	rested := m.lead()-m.restGap > awake.GapSlept || m.awake() >= m.restAt
	if m.untidy[sleep.HibernateMode] && rested && m.store.PutBack(ctx, sleep.HibernateMode) == nil {
		delete(m.untidy, sleep.HibernateMode)
	}
	// A lock that was taken since has the value as it should be.
	if m.untidy[sleep.DisableSleep] && (m.count(awake.HoldLid) > 0 || m.store.PutBack(ctx, sleep.DisableSleep) == nil) {
		delete(m.untidy, sleep.DisableSleep)
	}
	return len(m.untidy) == 0
}

// Restore puts back what a dead runtime left changed.
func (m *macMachine) Restore(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	return m.store.Restore(ctx)
}

// Watch looks at the Mac until ctx ends. The first look tells everything, later
// ones what changed.
func (m *macMachine) Watch(ctx context.Context, tell func(awake.Fact)) error {
	var last struct {
		lid      awake.Lid
		displays int
		battery  awake.Battery
	}
	var displaysAt, batteryAt, heldAt time.Duration // when each was last looked at
	for first := true; ; first = false {
		if !first {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(m.pace.lid):
			}
			if m.slept() {
				tell(awake.Fact{Kind: awake.FactWoke})
				displaysAt, batteryAt = 0, 0 // all may be otherwise now
			}
		}
		now := m.awake()
		due := func(at time.Duration, pace time.Duration) bool { return first || at == 0 || now-at >= pace }
		look := func(read func(context.Context)) {
			ctx, cancel := context.WithTimeout(ctx, readLimit)
			defer cancel()
			read(ctx)
		}
		look(func(ctx context.Context) {
			l, _ := m.Lid(ctx)
			if ctx.Err() == nil && (first || l != last.lid) {
				last.lid, displaysAt = l, 0
				tell(awake.Fact{Kind: awake.FactLid, Lid: l})
			}
		})
		pace := m.pace.displaysOpen
		if last.lid == awake.LidClosed {
			pace = m.pace.displaysShut
		}
		if due(displaysAt, pace) {
			look(func(ctx context.Context) {
				n, _ := m.Displays(ctx)
				if ctx.Err() == nil && (first || n != last.displays) {
					last.displays = n
					tell(awake.Fact{Kind: awake.FactDisplays, Displays: n})
				}
			})
			displaysAt = max(now, 1)
		}
		if due(batteryAt, m.pace.battery) {
			look(func(ctx context.Context) {
				b, _ := m.Battery(ctx)
				if ctx.Err() == nil && (first || b != last.battery) {
					last.battery = b
					tell(awake.Fact{Kind: awake.FactBattery, Battery: b})
				}
			})
			batteryAt = max(now, 1)
		}
		if due(heldAt, m.pace.held) {
			look(m.check)
			heldAt = max(now, 1)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// check reads the lid's setting back while a lock stands on it: anybody may write
// it. A keeper that died is replaced.
func (m *macMachine) check(ctx context.Context) {
	m.changing.Lock()
	defer m.changing.Unlock()
	if m.count(awake.HoldLid) == 0 {
		return
	}
	// Without a keeper the lock goes on: the next command restores as well.
	_ = m.keeper.Ensure(ctx)
	if value, err := m.pmset.Read(ctx, sleep.DisableSleep); err == nil && value != "1" {
		m.lose(awake.HoldLid)
		m.tidyValue(sleep.DisableSleep)
	}
}

// macRefusal turns pmset's and sudo's answers into the words of package awake.
func macRefusal[T ~string](what T, err error) error {
	var no *sleep.NotPermittedError
	switch {
	case errors.As(err, &no):
		return &awake.Refusal{What: string(what), Who: "sudo",
			Why: fmt.Sprintf("%s for %q; `lidguard macos-permission install` gives the right", no.Why, no.Command)}
	case errors.Is(err, sleep.ErrUnsupported):
		return fmt.Errorf("%s: %w (%w)", what, awake.ErrUnsupported, err)
	case errors.Is(err, lasting.ErrNotKept):
		return &awake.Refusal{What: string(what), Who: "pmset", Why: err.Error()}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// fresh is a reading that takes long, shared by all who ask within a while.
type fresh struct {
	read func(context.Context) (any, error)

	mu      sync.Mutex
	under   chan struct{} // closed when the reading under way ends; nil: none is
	value   any
	err     error
	at      time.Duration
	settled bool
}

// get returns a reading no older than age, by the clock now. When ctx ends first
// the reading goes on for those who come later.
func (f *fresh) get(ctx context.Context, now func() time.Duration, age time.Duration) (any, error) {
	f.mu.Lock()
	if f.settled && f.under == nil && now()-f.at < age {
		defer f.mu.Unlock()
		return f.value, f.err
	}
	if f.under == nil {
		done := make(chan struct{})
		f.under = done
		go func() { // ends with readLimit at the latest; nobody needs to wait for it
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readLimit)
			defer cancel()
			value, err := f.read(ctx)
			f.mu.Lock()
			f.value, f.err, f.at, f.settled, f.under = value, err, now(), true, nil
			f.mu.Unlock()
			close(done)
		}()
	}
	under := f.under
	f.mu.Unlock()
	select {
	case <-under:
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.value, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var _ awake.Machine = (*macMachine)(nil)
