package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/platform/battery"
	"github.com/lidguard-go/lidguard/internal/platform/display"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
	"github.com/lidguard-go/lidguard/internal/platform/lid"
	"github.com/lidguard-go/lidguard/internal/platform/network"
	"github.com/lidguard-go/lidguard/internal/platform/notice"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
	"github.com/lidguard-go/lidguard/internal/platform/thermal"
)

// winPace is how often a Windows machine is looked at. Lid, charger and sleep are
// told; the rest costs a call, not a process.
type winPace struct {
	// look is the beat of a Watch: clocks and displays.
	look time.Duration
	// slow is how often the battery and the locks are read without being told.
	slow time.Duration
	// tidy is how often a value that could not be put back is tried again.
	tidy time.Duration
}

func defaultWinPace() winPace {
	return winPace{look: 5 * time.Second, slow: 30 * time.Second, tidy: 5 * time.Second}
}

// winFresh is how old a count of displays or a temperature may be that is told as
// new. Waking a graphics card for the count may take a while.
const winFresh = 200 * time.Millisecond

// loginKeeper is a keeper that the next login takes the place of, once: a keeper
// process ends with the machine's power as the runtime does, and the lid action
// does not.
type loginKeeper struct {
	keeper
	arm, disarm func() error
}

// Ensure arms the next login and starts the keeper.
func (k *loginKeeper) Ensure(ctx context.Context) error {
	if err := k.arm(); err != nil {
		return err
	}
	return k.keeper.Ensure(ctx)
}

// Close lets the keeper go. Where it did not end, something may be left to do for
// the next login, which finds out.
func (k *loginKeeper) Close(ctx context.Context) error {
	if err := k.keeper.Close(ctx); err != nil {
		return err
	}
	return k.disarm()
}

// winOptions are what a Windows machine is made of.
type winOptions struct {
	power   sleep.Power
	store   *lasting.Store // of the lid actions
	keeper  keeper
	notices func(func(notice.Kind)) (interface{ Close() }, error)

	readDisplays func() (display.Reading, error)
	readBattery  func() (battery.Reading, error)
	readHeat     func() (thermal.Reading, error)
	// awake and boot are clocks: one stands still through a sleep.
	awake, boot func() time.Duration
	pace        winPace
}

// winMachine is this Windows: power requests against its own sleep, the active
// scheme's lid action against the lid. Windows drops requests with the process;
// the lid action outlives it, so a keeper watches this one before it is touched.
type winMachine struct {
	winOptions
	lastingMachine
	action   sleep.LidAction
	lid      *lid.Switch
	window   interface{ Close() } // nil where winErr says why
	winErr   error
	heard    chan notice.Kind // for the Watch under way
	displays fresh
	heat     fresh

	entering chan struct{} // closed when the sleep asked for last is over; nil: none was. Guarded by mu
	closed   bool          // guarded by changing
}

func newWin(o winOptions) *winMachine {
	m := &winMachine{winOptions: o, action: sleep.LidAction{Schemes: o.power}, lid: lid.NewSwitch(lid.PresenceOf(o.power)),
		heard: make(chan notice.Kind, 64)}
	m.lead, m.pause, m.sweep = func() time.Duration { return o.boot() - o.awake() }, o.pace.tidy, m.sweepActions
	m.begin()
	m.displays.read = func(context.Context) (any, error) { return o.readDisplays() }
	m.heat.read = func(context.Context) (any, error) { return o.readHeat() }
	m.window, m.winErr = o.notices(m.hear)
	return m
}

// hear takes a notice and returns at once: Windows waits with its sleep for it.
func (m *winMachine) hear(k notice.Kind) {
	m.lid.Tell(lid.StateOf(k))
	select {
	case m.heard <- k:
	default: // nobody watches, and whoever begins to looks at everything
	}
}

// close gives back whatever is still held and lets the keeper go.
func (m *winMachine) close() {
	m.end()
	m.changing.Lock()
	defer m.changing.Unlock()
	if m.closed {
		return
	}
	m.closed = true
	if m.window != nil {
		m.window.Close()
	}
	m.lose(awake.Holds()...)
	ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
	defer cancel()
	if err := m.store.PutBack(ctx); err != nil {
		return // the keeper tries again once we are gone, and then the next login
	}
	_ = m.keeper.Close(ctx)
}

// requestOf are the power requests behind each hold. Windows wants the machine
// held for a display to stay on; away mode answers a person's own sleep.
var requestOf = map[awake.Hold][]sleep.RequestKind{
	awake.HoldIdle:    {sleep.RequestSystem},
	awake.HoldDisplay: {sleep.RequestSystem, sleep.RequestDisplay},
	awake.HoldSleep:   {sleep.RequestSystem, sleep.RequestAway},
}

// shownAs is the bit by which Windows confirms each hold.
var shownAs = map[awake.Hold]sleep.Execution{
	awake.HoldIdle: sleep.SystemRequired, awake.HoldDisplay: sleep.DisplayRequired, awake.HoldSleep: sleep.AwayRequired,
}

// Acquire takes a lock; see awake.Machine. Every lock has a request of its own;
// locks on the lid share the setting.
func (m *winMachine) Acquire(ctx context.Context, hold awake.Hold, reason string) (awake.Lock, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.changing.Lock()
	defer m.changing.Unlock()
	l := &sharedLock{hold: hold, reason: reason, release: m.release, lost: make(chan struct{})}
	kinds, ok := requestOf[hold]
	switch {
	case hold == awake.HoldSleep && m.modern():
		return nil, fmt.Errorf("taking %s: %w (modern standby has no away mode)", hold, awake.ErrUnsupported)
	case ok:
		r, err := m.power.Request(reason, kinds...)
		if err != nil {
			return nil, winRefusal(hold, err)
		}
		l.request = r
	case hold == awake.HoldLid:
		if err := m.ignoreLid(ctx); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("taking %q: %w", hold, awake.ErrUnsupported)
	}
	m.put(l)
	return l, nil
}

// modern reports whether the machine sleeps in the modern way only.
func (m *winMachine) modern() bool {
	a, err := m.power.Abilities()
	return err == nil && a.ModernStandby && !a.Sleep
}

// ignoreLid makes the active scheme do nothing when the lid closes. Where a lock
// of ours has it so already, that is only looked at.
func (m *winMachine) ignoreLid(ctx context.Context) error {
	if m.count(awake.HoldLid) > 0 {
		if shut, err := m.action.Shut(ctx); err == nil && shut {
			return nil
		}
	}
	names, err := m.action.Names()
	if err != nil {
		return winRefusal(awake.HoldLid, err)
	}
	for _, name := range names {
		value, err := m.action.Read(ctx, name)
		if err != nil {
			return winRefusal(awake.HoldLid, err)
		}
		if value == "" {
			return fmt.Errorf("taking %s: %w (the power scheme has no lid setting)", awake.HoldLid, awake.ErrUnsupported)
		}
	}
	if err := m.keeper.Ensure(ctx); err != nil {
		return fmt.Errorf("taking %s: %w", awake.HoldLid, err)
	}
	for _, name := range names {
		if err := m.store.Change(ctx, name, sleep.LidNothing); err != nil {
			m.tidy()
			return winRefusal(awake.HoldLid, err)
		}
	}
	return nil
}

// release gives a lock back.
func (m *winMachine) release(l *sharedLock) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.has(l) {
		return nil
	}
	if l.request != nil {
		if err := l.request.Close(); err != nil {
			return fmt.Errorf("releasing %s: %w", l.hold, err)
		}
	} else if m.count(awake.HoldLid) == 1 {
		ctx, cancel := context.WithTimeout(context.Background(), restoreLimit)
		defer cancel()
		if err := m.store.PutBack(ctx); err != nil {
			return err
		}
	}
	m.forget(l)
	return nil
}

// Held lists what Windows itself shows of ours. It shows what all processes hold
// off together: a bit that another process has set as well proves ours no more,
// and one that nobody has set disproves it.
func (m *winMachine) Held(ctx context.Context) ([]awake.Hold, error) {
	var held []awake.Hold
	for _, hold := range []awake.Hold{awake.HoldIdle, awake.HoldDisplay, awake.HoldSleep} {
		if m.count(hold) == 0 {
			continue
		}
		shown, err := m.power.Execution()
		if err != nil {
			return nil, err
		}
		if shown&shownAs[hold] != 0 {
			held = append(held, hold)
		}
	}
	if m.count(awake.HoldLid) > 0 {
		shut, err := m.action.Shut(ctx)
		if err != nil {
			return nil, err
		}
		if shut {
			held = append(held, awake.HoldLid)
		}
	}
	return held, nil
}

// Lid tells what was heard of the lid.
func (m *winMachine) Lid(ctx context.Context) (awake.Lid, error) {
	if m.window == nil {
		return awake.LidUnknown, m.winErr
	}
	return lidOf(m.lid.Read(ctx))
}

// Displays counts external displays.
func (m *winMachine) Displays(ctx context.Context) (int, error) {
	v, err := m.displays.get(ctx, m.awake, winFresh)
	r, _ := v.(display.Reading)
	return countOf(r, err)
}

// Battery reads supply and charge.
func (m *winMachine) Battery(context.Context) (awake.Battery, error) {
	r, err := m.readBattery()
	return batteryOf(r, err), err
}

// Network asks the system for a route; see package network.
func (m *winMachine) Network(context.Context) (awake.Network, error) {
	return networkOf(network.Up(""))
}

// Heat reads the thermal zones.
func (m *winMachine) Heat(ctx context.Context, mode string) (float64, error) {
	v, err := m.heat.get(ctx, m.awake, winFresh)
	if err != nil {
		return 0, err
	}
	return v.(thermal.Reading).Celsius(thermal.Mode(mode))
}

// CanSuspend tells what is in the way of a sleep.
func (m *winMachine) CanSuspend(_ context.Context, mode awake.Mode) error {
	_, err := m.way(mode)
	return err
}

// way returns the call that sleeps.
func (m *winMachine) way(mode awake.Mode) (func() error, error) {
	if mode != awake.Sleep && mode != awake.Hibernate {
		return nil, fmt.Errorf("%q: %w", mode, awake.ErrUnsupported)
	}
	a, err := m.power.Abilities()
	if err != nil {
		return nil, winRefusal(mode, err)
	}
	how := sleep.Suspend
	switch {
	case mode == awake.Hibernate && !a.Hibernate:
		return nil, fmt.Errorf("%s: %w (`powercfg /hibernate on` as administrator may change that)", mode, awake.ErrUnsupported)
	case mode == awake.Hibernate:
		how = sleep.Hibernate
	case !a.Sleep && a.ModernStandby:
		return m.power.ScreenOff, nil
	case !a.Sleep:
		return nil, fmt.Errorf("%s: %w", mode, awake.ErrUnsupported)
	}
	if err := m.power.Allowed(); err != nil {
		return nil, winRefusal(mode, err)
	}
	return func() error { return m.power.Enter(how) }, nil
}

// Suspend asks Windows to sleep. The call for it returns after the wake-up; when
// ctx ends before, that is an error unless the clocks show a sleep. Requests for
// away mode would turn the sleep into one that only looks like it, so they are
// given back for it and told as lost.
func (m *winMachine) Suspend(ctx context.Context, mode awake.Mode) error {
	enter, err := m.way(mode)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done, result := make(chan struct{}), error(nil)
	before := m.lead()
	m.mu.Lock()
	if m.entering != nil {
		select {
		case <-m.entering:
		default:
			m.mu.Unlock()
			return &awake.Refusal{What: string(mode), Who: "Windows", Why: "it is still busy with the sleep that was asked for before"}
		}
	}
	m.entering = done
	m.mu.Unlock()
	m.changing.Lock()
	m.lose(awake.HoldSleep)
	m.changing.Unlock()
	go func() { // ends when Windows answers, which nothing can hasten
		result = enter()
		close(done)
	}()
	select {
	case <-done:
		if result != nil {
			return winRefusal(mode, result)
		}
		return nil
	case <-ctx.Done():
		if m.lead()-before > awake.GapSlept {
			return nil
		}
		return fmt.Errorf("%s: Windows has not answered: %w", mode, ctx.Err())
	}
}

// sweepActions puts back what no lock stands on: without a lock every value, else
// those of schemes that are not active.
func (m *winMachine) sweepActions(ctx context.Context) (tidy bool) {
	return m.putBackUnused(ctx) == nil
}

func (m *winMachine) putBackUnused(ctx context.Context) error {
	if m.count(awake.HoldLid) == 0 {
		return m.store.PutBack(ctx)
	}
	used, err := m.action.Names()
	if err != nil {
		return err
	}
	pending, err := m.store.Pending()
	if err != nil {
		return err
	}
	var unused []string
	for _, e := range pending {
		if !slices.Contains(used, e.Name) {
			unused = append(unused, e.Name)
		}
	}
	if len(unused) == 0 {
		return nil // PutBack without names means all
	}
	return m.store.PutBack(ctx, unused...)
}

// Restore puts back what a dead runtime left changed.
func (m *winMachine) Restore(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	return m.store.Restore(ctx)
}

// Watch tells what is heard, and looks for the rest until ctx ends. The first look
// tells everything, later ones what changed.
func (m *winMachine) Watch(ctx context.Context, tell func(awake.Fact)) error {
	var last struct {
		lid      awake.Lid
		displays int
		battery  awake.Battery
	}
	first := true
	look := func(slow bool) {
		ctx, cancel := context.WithTimeout(ctx, readLimit)
		defer cancel()
		if l, _ := m.Lid(ctx); ctx.Err() == nil && (first || l != last.lid) {
			last.lid = l
			tell(awake.Fact{Kind: awake.FactLid, Lid: l})
		}
		if n, _ := m.Displays(ctx); ctx.Err() == nil && (first || n != last.displays) {
			last.displays = n
			tell(awake.Fact{Kind: awake.FactDisplays, Displays: n})
		}
		if !slow {
			return
		}
		if b, _ := m.Battery(ctx); ctx.Err() == nil && (first || b != last.battery) {
			last.battery = b
			tell(awake.Fact{Kind: awake.FactBattery, Battery: b})
		}
		m.check(ctx)
	}
	woke := func() {
		tell(awake.Fact{Kind: awake.FactWoke})
		m.changing.Lock()
		defer m.changing.Unlock()
		m.renew(awake.Holds()...)
	}
	m.slept() // a sleep before this Watch is none of its own
	for len(m.heard) > 0 {
		<-m.heard // nor are notices
	}
	look(true)
	first = false
	slowAt := m.awake()
	for {
		slow := false
		select {
		case <-ctx.Done():
			return nil
		case k := <-m.heard:
			switch k {
			case notice.Sleeping:
				tell(awake.Fact{Kind: awake.FactSleeping})
				continue // a look would be cut in two by the sleep
			case notice.Woke:
				m.slept()
				woke()
			}
			slow = true
		case <-time.After(m.pace.look):
			slow = m.awake()-slowAt >= m.pace.slow
		}
		if m.slept() { // Windows kept quiet about it
			woke()
			slow = true
		}
		if slow {
			slowAt = m.awake()
		}
		look(slow)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// renew makes requests anew: Windows ends them when a person asks for sleep, and
// with modern standby on the battery some minutes after the sleep timeout, and keeps
// that to itself. One that cannot be made again is lost. m.changing is held.
func (m *winMachine) renew(holds ...awake.Hold) {
	for _, l := range m.of(holds...) {
		if l.request == nil || !m.has(l) { // lost with another one of its hold
			continue
		}
		r, err := m.power.Request(l.reason, requestOf[l.hold]...)
		if err != nil {
			m.lose(l.hold)
			continue
		}
		_ = l.request.Close() // the new one stands
		l.request = r
	}
}

// check reads back what can be undone from outside: the lid's setting, which
// anybody may write, or choose another scheme, and the requests. A keeper that
// died is replaced.
func (m *winMachine) check(ctx context.Context) {
	m.changing.Lock()
	defer m.changing.Unlock()
	if shown, err := m.power.Execution(); err == nil {
		for hold, bit := range shownAs {
			if shown&bit == 0 {
				m.renew(hold)
			}
		}
	}
	if m.count(awake.HoldLid) == 0 {
		return
	}
	// Without a keeper the lock goes on: the next command restores as well.
	_ = m.keeper.Ensure(ctx)
	if shut, err := m.action.Shut(ctx); err == nil && !shut {
		m.lose(awake.HoldLid)
		m.tidy()
	}
}

// winRefusal turns Windows' answers into the words of package awake.
func winRefusal[T ~string](what T, err error) error {
	var no *sleep.BarredError
	switch {
	case errors.As(err, &no):
		return &awake.Refusal{What: string(what), Who: no.Who, Why: no.Error()}
	case errors.Is(err, sleep.ErrUnsupported):
		return fmt.Errorf("%s: %w (%w)", what, awake.ErrUnsupported, err)
	case errors.Is(err, lasting.ErrNotKept):
		return &awake.Refusal{What: string(what), Who: "Windows", Why: err.Error()}
	}
	return fmt.Errorf("%s: %w", what, err)
}

var _ awake.Machine = (*winMachine)(nil)
