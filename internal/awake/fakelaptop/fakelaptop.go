// Package fakelaptop is a laptop without hardware: lid, displays, battery, heat,
// locks, a log of its sleeps, and an operating system with logind's measured
// habits or with a lasting lid setting as on macOS and Windows. Scripts move the
// parts, tests and the simulation watch what lidguard makes of it. Nothing here
// touches the machine it runs on, and time only moves by Advance.
package fakelaptop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
)

// HoldOff is how long logind leaves a machine alone that woke with its lid still
// shut (HoldoffTimeoutSec of logind.conf(5), default 30 s, measured).
const HoldOff = 30 * time.Second

// Options say what kind of laptop it is. The zero value is a systemd 252 laptop
// with an open lid, on mains, without external displays.
type Options struct {
	// RefuseOwnBlock makes an own sleep block refuse the own suspend, as
	// systemd does from 257 on.
	RefuseOwnBlock bool
	// LastingLid makes HoldLid a system value that outlives the process
	// (pmset disablesleep, LIDACTION) instead of a lock.
	LastingLid bool
	// NoHibernate makes Hibernate unsupported.
	NoHibernate bool
	// Start is the first instant; zero is one hour after boot, 1 June 2026.
	Start event.Instant
}

// Asleep is one sleep of the log.
type Asleep struct {
	At       event.Instant
	Until    event.Instant // zero while it lasts
	Mode     awake.Mode
	By       string // "call", "lid" (logind by itself), "person"
	Lid      awake.Lid
	Displays int
}

// Op names an operation that Fail and Hang can spoil.
type Op string

const (
	OpAcquire Op = "acquire"
	OpRelease Op = "release"
	OpSuspend Op = "suspend"
	OpRestore Op = "restore"
	OpLid     Op = "lid"
	OpHeat    Op = "heat"
)

// Laptop is the hardware and the operating system. All methods are safe from any
// goroutine.
type Laptop struct {
	opt Options

	mu       sync.Mutex
	now      event.Instant
	lid      awake.Lid
	displays int
	battery  awake.Battery
	celsius  float64
	heatErr  error

	locks   []*lock // those that stand, oldest first
	denied  map[awake.Hold]awake.Refusal
	foreign map[string]awake.Hold // other programs' locks by name
	faults  map[Op][]error
	hangs   map[Op]chan struct{}

	lidValue   string // the lasting setting: "sleep" or whatever the user had
	backup     *string
	writesLost bool

	asleep    bool
	resleepAt time.Duration // Awake clock: logind sleeps again, 0 never
	sleeps    []Asleep
	calls     int // Suspend calls that arrived

	watchers []*watcher
	outbox   []awake.Fact // told after the mutex is given back
	telling  bool
}

type watcher struct {
	tell func(awake.Fact)
	ctx  context.Context
}

// New returns a laptop.
func New(opt Options) *Laptop {
	l := &Laptop{
		opt: opt, now: opt.Start, lid: awake.LidOpen, celsius: 50, lidValue: "sleep",
		battery: awake.Battery{Known: true, Percent: 100},
		denied:  map[awake.Hold]awake.Refusal{}, foreign: map[string]awake.Hold{},
		faults: map[Op][]error{}, hangs: map[Op]chan struct{}{},
	}
	if l.now.IsZero() {
		l.now = event.Instant{Awake: time.Hour, Boot: time.Hour, Wall: time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)}
	}
	return l
}

// Now returns the laptop's clocks.
func (l *Laptop) Now() event.Instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// Advance lets d pass. Asleep, the Awake clock stands. logind's second sleep of a
// shut machine comes when its time is due.
func (l *Laptop) Advance(d time.Duration) {
	l.mu.Lock()
	for d > 0 {
		step := d
		due := !l.asleep && l.resleepAt != 0 && l.resleepAt <= l.now.Awake+d
		if due {
			step = max(l.resleepAt-l.now.Awake, 0)
		}
		l.now.Boot += step
		l.now.Wall = l.now.Wall.Add(step)
		if !l.asleep {
			l.now.Awake += step
		}
		d -= step
		if due {
			l.lidSleep()
		}
	}
	l.unlockAndTell()
}

// SetWall moves the wall clock alone, as a time server or a person does.
func (l *Laptop) SetWall(t time.Time) {
	l.mu.Lock()
	l.now.Wall = t
	l.mu.Unlock()
}

// SetLid moves the lid. Opening wakes the machine; closing makes logind sleep
// unless a lock of ours or of others is in the way or a display is there.
func (l *Laptop) SetLid(lid awake.Lid) {
	l.mu.Lock()
	changed := l.lid != lid
	l.lid = lid
	l.resleepAt = 0
	if changed {
		l.say(awake.Fact{Kind: awake.FactLid, Lid: lid})
	}
	switch {
	case lid == awake.LidOpen:
		l.wake()
	case lid == awake.LidClosed && changed:
		l.lidSleep()
	}
	l.unlockAndTell()
}

// SetDisplays plugs external displays. Unplugging the last one from a shut
// machine makes logind sleep by itself (measured).
func (l *Laptop) SetDisplays(n int) {
	l.mu.Lock()
	before := l.displays
	l.displays = n
	if before != n {
		l.say(awake.Fact{Kind: awake.FactDisplays, Displays: n})
		if n == 0 && before > 0 {
			l.lidSleep()
		}
	}
	l.unlockAndTell()
}

// SetBattery sets supply and charge.
func (l *Laptop) SetBattery(b awake.Battery) {
	l.mu.Lock()
	if l.battery != b {
		l.battery = b
		l.say(awake.Fact{Kind: awake.FactBattery, Battery: b})
	}
	l.unlockAndTell()
}

// SetHeat sets what sensors read; an error makes them unreadable.
func (l *Laptop) SetHeat(celsius float64, err error) {
	l.mu.Lock()
	l.celsius, l.heatErr = celsius, err
	l.mu.Unlock()
}

// Sleep is a person's own suspend, from a menu. It reports whether the system
// let it through: a sleep block of anybody refuses it.
func (l *Laptop) Sleep() bool {
	l.mu.Lock()
	ok := !l.asleep && !l.has(awake.HoldSleep)
	if ok {
		l.sleep(awake.Sleep, "person")
	}
	l.unlockAndTell()
	return ok
}

// Wake wakes the machine without touching the lid (a key, a timer).
func (l *Laptop) Wake() {
	l.mu.Lock()
	l.wake()
	l.unlockAndTell()
}

// Asleep reports whether the machine sleeps now.
func (l *Laptop) Asleep() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asleep
}

// Sleeps returns the log of sleeps, oldest first.
func (l *Laptop) Sleeps() []Asleep {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.sleeps)
}

// ForgetSleeps empties the log, for long simulations.
func (l *Laptop) ForgetSleeps() {
	l.mu.Lock()
	l.sleeps = nil
	l.mu.Unlock()
}

// SuspendCalls counts the Suspend calls that arrived.
func (l *Laptop) SuspendCalls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

// Locks counts our locks of one hold.
func (l *Laptop) Locks(hold awake.Hold) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, k := range l.locks {
		if k.hold == hold {
			n++
		}
	}
	return n
}

// LidSetting returns the lasting lid value; "sleep" unless SetLidSetting or a
// hold changed it.
func (l *Laptop) LidSetting() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lidValue
}

// SetLidSetting is the user choosing another lasting lid value.
func (l *Laptop) SetLidSetting(v string) {
	l.mu.Lock()
	l.lidValue = v
	l.mu.Unlock()
}

// LoseWrites makes the system accept writes of the lasting value and not keep
// them, as pmset does for a user without the right.
func (l *Laptop) LoseWrites(on bool) {
	l.mu.Lock()
	l.writesLost = on
	l.mu.Unlock()
}

// Deny makes the system refuse a hold, naming who and why; Allow ends that.
func (l *Laptop) Deny(hold awake.Hold, who, why string) {
	l.mu.Lock()
	l.denied[hold] = awake.Refusal{What: string(hold), Who: who, Why: why}
	l.mu.Unlock()
}

// Allow ends a Deny.
func (l *Laptop) Allow(hold awake.Hold) {
	l.mu.Lock()
	delete(l.denied, hold)
	l.mu.Unlock()
}

// Foreign gives another program a lock; hold "" takes it away.
func (l *Laptop) Foreign(name string, hold awake.Hold) {
	l.mu.Lock()
	if hold == "" {
		delete(l.foreign, name)
	} else {
		l.foreign[name] = hold
	}
	l.unlockAndTell()
}

// Fail makes the next call of op return err. Calls queue up.
func (l *Laptop) Fail(op Op, err error) {
	l.mu.Lock()
	l.faults[op] = append(l.faults[op], err)
	l.mu.Unlock()
}

// Hang makes calls of op wait until the returned function is called or their
// context ends.
func (l *Laptop) Hang(op Op) (release func()) {
	ch := make(chan struct{})
	l.mu.Lock()
	l.hangs[op] = ch
	l.mu.Unlock()
	return sync.OnceFunc(func() {
		l.mu.Lock()
		delete(l.hangs, op)
		l.mu.Unlock()
		close(ch)
	})
}

// RestartService restarts the service behind locks and suspend: every lock is
// lost, and the service tells that it is back.
func (l *Laptop) RestartService() {
	l.mu.Lock()
	for len(l.locks) > 0 {
		l.loseLock(l.locks[0])
	}
	l.say(awake.Fact{Kind: awake.FactService})
	l.lidSleep()
	l.unlockAndTell()
}

// Lose drops every lock of one hold without a restart.
func (l *Laptop) Lose(hold awake.Hold) {
	l.mu.Lock()
	for _, k := range slices.Clone(l.locks) {
		if k.hold == hold {
			l.loseLock(k)
		}
	}
	if hold == awake.HoldLid {
		l.lidSleep()
	}
	l.unlockAndTell()
}

// Subscribe calls tell for every fact, in the goroutine that caused it. Unlike
// Watch it tells nothing at first. It is for single-threaded drivers.
func (l *Laptop) Subscribe(tell func(awake.Fact)) {
	l.mu.Lock()
	l.watchers = append(l.watchers, &watcher{tell: tell, ctx: context.Background()})
	l.mu.Unlock()
}

func (l *Laptop) loseLock(k *lock) {
	l.drop(k)
	close(k.lost)
	// A lasting value is lost when somebody else sets it back.
	if k.hold == awake.HoldLid && !l.own(awake.HoldLid) {
		l.putBack()
	}
}

func (l *Laptop) has(hold awake.Hold) bool {
	if l.own(hold) {
		return true
	}
	for _, h := range l.foreign {
		if h == hold {
			return true
		}
	}
	return false
}

// lidSleep is logind looking at a shut lid.
func (l *Laptop) lidSleep() {
	l.resleepAt = 0
	if l.asleep || l.lid != awake.LidClosed || l.displays != 0 || l.has(awake.HoldLid) || l.has(awake.HoldSleep) ||
		l.lidValue != "sleep" {
		return
	}
	l.sleep(awake.Sleep, "lid")
}

func (l *Laptop) sleep(mode awake.Mode, by string) {
	l.asleep, l.resleepAt = true, 0
	l.sleeps = append(l.sleeps, Asleep{At: l.now, Mode: mode, By: by, Lid: l.lid, Displays: l.displays})
	l.say(awake.Fact{Kind: awake.FactSleeping})
}

func (l *Laptop) wake() {
	if !l.asleep {
		return
	}
	l.asleep = false
	l.sleeps[len(l.sleeps)-1].Until = l.now
	l.say(awake.Fact{Kind: awake.FactWoke})
	if l.lid == awake.LidClosed {
		l.resleepAt = l.now.Awake + HoldOff
	}
}

func (l *Laptop) say(f awake.Fact) { l.outbox = append(l.outbox, f) }

// unlockAndTell gives the mutex back and tells what happened meanwhile. Facts
// that telling causes are told after it, in order, by whoever tells already.
func (l *Laptop) unlockAndTell() {
	if l.telling {
		l.mu.Unlock()
		return
	}
	l.telling = true
	for len(l.outbox) > 0 {
		f := l.outbox[0]
		l.outbox = l.outbox[1:]
		watchers := slices.Clone(l.watchers)
		l.mu.Unlock()
		for _, w := range watchers {
			if w.ctx.Err() == nil {
				w.tell(f)
			}
		}
		l.mu.Lock()
	}
	l.telling = false
	l.mu.Unlock()
}

// fault returns the next queued error of op, after any hang.
func (l *Laptop) fault(ctx context.Context, op Op) error {
	l.mu.Lock()
	hang := l.hangs[op]
	l.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.faults[op]; len(q) > 0 {
		l.faults[op] = q[1:]
		return q[0]
	}
	return nil
}

// Machine is one runtime process's view of the laptop.
type Machine struct {
	l    *Laptop
	dead bool // under l.mu
}

// Machine returns the view of a new process.
func (l *Laptop) Machine() *Machine { return &Machine{l: l} }

// Kill ends the process as SIGKILL does: its locks go with it, lasting values
// stay as they are.
func (m *Machine) Kill() {
	m.l.mu.Lock()
	m.dead = true
	m.l.locks = slices.DeleteFunc(m.l.locks, func(k *lock) bool { return k.m == m })
	m.l.lidSleep()
	m.l.unlockAndTell()
}

var errDead = errors.New("the process is dead")

type lock struct {
	m    *Machine
	hold awake.Hold
	lost chan struct{}
}

// Acquire takes a lock; see awake.Machine.
func (m *Machine) Acquire(ctx context.Context, hold awake.Hold, _ string) (awake.Lock, error) {
	l := m.l
	if err := l.fault(ctx, OpAcquire); err != nil {
		return nil, fmt.Errorf("taking %s: %w", hold, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.dead {
		return nil, errDead
	}
	if !slices.Contains(awake.Holds(), hold) {
		return nil, fmt.Errorf("taking %q: %w", hold, awake.ErrUnsupported)
	}
	if r, ok := l.denied[hold]; ok {
		return nil, &r
	}
	if hold == awake.HoldLid && l.opt.LastingLid && l.lidValue != "nothing" {
		if l.backup == nil {
			v := l.lidValue
			l.backup = &v
		}
		if !l.writesLost {
			l.lidValue = "nothing"
		}
		if l.lidValue != "nothing" {
			l.backup = nil
			return nil, fmt.Errorf("lid setting reads %q after writing %q", l.lidValue, "nothing")
		}
	}
	k := &lock{m: m, hold: hold, lost: make(chan struct{})}
	l.locks = append(l.locks, k)
	return k, nil
}

// Release gives the lock back; see awake.Lock.
func (k *lock) Release() error {
	l := k.m.l
	if err := l.fault(context.Background(), OpRelease); err != nil {
		return fmt.Errorf("dropping %s: %w", k.hold, err)
	}
	l.mu.Lock()
	if l.drop(k) {
		if k.hold == awake.HoldLid {
			if l.opt.LastingLid && !l.own(awake.HoldLid) {
				l.putBack()
			}
			l.lidSleep()
		}
	}
	l.unlockAndTell()
	return nil
}

func (k *lock) Lost() <-chan struct{} { return k.lost }

// drop reports whether the lock still stood.
func (l *Laptop) drop(k *lock) bool {
	i := slices.Index(l.locks, k)
	if i < 0 {
		return false
	}
	l.locks = slices.Delete(l.locks, i, i+1)
	return true
}

func (l *Laptop) own(hold awake.Hold) bool {
	for _, k := range l.locks {
		if k.hold == hold {
			return true
		}
	}
	return false
}

func (l *Laptop) putBack() {
	if l.backup != nil {
		l.lidValue, l.backup = *l.backup, nil
	}
}

// Held lists the holds that stand; see awake.Machine.
func (m *Machine) Held(ctx context.Context) ([]awake.Hold, error) {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	var held []awake.Hold
	for _, k := range m.l.locks {
		if k.m == m && !slices.Contains(held, k.hold) {
			held = append(held, k.hold)
		}
	}
	slices.Sort(held)
	return held, ctx.Err()
}

// Lid reads the lid.
func (m *Machine) Lid(ctx context.Context) (awake.Lid, error) {
	if err := m.l.fault(ctx, OpLid); err != nil {
		return awake.LidUnknown, err
	}
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	return m.l.lid, nil
}

// Displays counts external displays.
func (m *Machine) Displays(context.Context) (int, error) {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	return m.l.displays, nil
}

// Battery reads supply and charge.
func (m *Machine) Battery(context.Context) (awake.Battery, error) {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	return m.l.battery, nil
}

// Heat reads the one sensor, whatever the mode.
func (m *Machine) Heat(ctx context.Context, mode string) (float64, error) {
	if err := m.l.fault(ctx, OpHeat); err != nil {
		return 0, err
	}
	if !slices.Contains([]string{"low", "average", "high"}, mode) {
		return 0, fmt.Errorf("no heat mode %q", mode)
	}
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	return m.l.celsius, m.l.heatErr
}

// CanSuspend tells whether Suspend would be let through.
func (m *Machine) CanSuspend(_ context.Context, mode awake.Mode) error {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	return m.l.canSuspend(mode)
}

func (l *Laptop) canSuspend(mode awake.Mode) error {
	switch {
	case mode != awake.Sleep && mode != awake.Hibernate, mode == awake.Hibernate && l.opt.NoHibernate:
		return fmt.Errorf("%q: %w", mode, awake.ErrUnsupported)
	case l.opt.RefuseOwnBlock && l.own(awake.HoldSleep):
		return &awake.Refusal{What: string(mode), Who: "lidguard", Why: "its own sleep lock stands"}
	}
	names := make([]string, 0, len(l.foreign))
	for name, hold := range l.foreign {
		if hold == awake.HoldSleep {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		return &awake.Refusal{What: string(mode), Who: names[0], Why: "a sleep lock stands"}
	}
	return nil
}

// Suspend puts the laptop to sleep and returns at once.
func (m *Machine) Suspend(ctx context.Context, mode awake.Mode) error {
	l := m.l
	l.mu.Lock()
	l.calls++
	l.mu.Unlock()
	if err := l.fault(ctx, OpSuspend); err != nil {
		return fmt.Errorf("suspending: %w", err)
	}
	l.mu.Lock()
	var err error
	switch {
	case m.dead:
		err = errDead
	case l.asleep && mode == awake.Sleep: // it has what it asks for
	case l.asleep:
		err = &awake.Refusal{What: string(mode), Who: "logind", Why: "an operation is in progress"}
	default:
		if err = l.canSuspend(mode); err == nil {
			l.sleep(mode, "call")
		}
	}
	l.unlockAndTell()
	return err
}

// Watch tells facts until ctx ends; see awake.Machine.
func (m *Machine) Watch(ctx context.Context, tell func(awake.Fact)) error {
	l := m.l
	facts := make(chan awake.Fact, 256)
	w := &watcher{ctx: ctx, tell: func(f awake.Fact) {
		select {
		case facts <- f:
		case <-ctx.Done():
		}
	}}
	l.mu.Lock()
	first := []awake.Fact{
		{Kind: awake.FactLid, Lid: l.lid},
		{Kind: awake.FactDisplays, Displays: l.displays},
		{Kind: awake.FactBattery, Battery: l.battery},
	}
	l.watchers = append(l.watchers, w)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.watchers = slices.DeleteFunc(l.watchers, func(o *watcher) bool { return o == w })
		l.mu.Unlock()
	}()
	for _, f := range first {
		tell(f)
	}
	for {
		select {
		case f := <-facts:
			tell(f)
		case <-ctx.Done():
			return nil
		}
	}
}

// Restore puts the lasting lid value back.
func (m *Machine) Restore(ctx context.Context) error {
	if err := m.l.fault(ctx, OpRestore); err != nil {
		return fmt.Errorf("restoring: %w", err)
	}
	l := m.l
	l.mu.Lock()
	if !l.own(awake.HoldLid) {
		l.putBack()
	}
	l.unlockAndTell()
	return nil
}

var _ awake.Machine = (*Machine)(nil)
