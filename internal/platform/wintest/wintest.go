// Package wintest is a laptop with Windows for tests: it stands where package
// sleep calls Windows, where package notice hears it, and where displays, battery
// and sensors are read, over a model of the machine behind them that can be told
// to misbehave. It calls no system and touches nothing of the machine it runs on.
package wintest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/battery"
	"github.com/lidguard-go/lidguard/internal/platform/display"
	"github.com/lidguard-go/lidguard/internal/platform/notice"
	"github.com/lidguard-go/lidguard/internal/platform/sleep"
	"github.com/lidguard-go/lidguard/internal/platform/thermal"
)

// The power schemes that every Windows has.
const (
	Balanced = "381b4222-f694-41f0-9685-ff5bb260df2e"
	Saver    = "a1841308-3541-4fab-bc81-f71556f20b4a"
)

// ErrBroken is what a broken call says.
var ErrBroken = errors.New("broken for the test")

// sleepTime is how long a sleep takes, all of it before Enter returns.
const sleepTime = time.Hour

// PC is the machine. Use New. All methods are safe from several goroutines.
type PC struct {
	// Abilities of the machine; to be changed before it is used.
	Can sleep.Abilities

	mu      sync.Mutex
	started time.Time
	slept   time.Duration // by which the Boot clock is ahead

	lid      notice.Kind
	displays []display.Connector
	battery  battery.Reading
	celsius  float64
	active   string
	actions  map[value]uint32 // what the schemes hold

	ignore  bool
	late    int // reads before a write shows
	waiting []write
	barred  map[string]error
	broken  map[string]error
	blind   bool // Execution shows nothing
	stuck   chan struct{}
	insomn  bool // Enter says yes and does not sleep
	silent  bool // no notice of sleep and wake-up

	requests map[*request]struct{}
	made     int
	hearing  map[*window]struct{}
	sleeps   []Sleep
}

// value names what a scheme does when the lid closes.
type value struct {
	scheme string
	mains  bool
}

type write struct {
	value
	action uint32
	reads  int
}

// Sleep is one sleep of the log.
type Sleep struct {
	Mode sleep.Mode
	By   string // "program", "lid" or "screen"
}

// New returns an open laptop on mains that sleeps when its lid is shut.
func New() *PC {
	return &PC{
		Can:     sleep.Abilities{Lid: true, Sleep: true, Hibernate: true},
		started: time.Now(), lid: notice.LidOpen, celsius: 50, active: Balanced,
		displays: []display.Connector{{Name: "internal", Internal: true, Status: "connected"}},
		battery:  battery.Reading{Present: true, Percent: 100, State: battery.Full, Source: "windows"},
		actions:  map[value]uint32{{Balanced, true}: 1, {Balanced, false}: 2, {Saver, true}: 3, {Saver, false}: 1},
		barred:   map[string]error{}, broken: map[string]error{}, requests: map[*request]struct{}{}, hearing: map[*window]struct{}{},
	}
}

func (p *PC) do(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// Awake and Boot are the clocks: the first stands still through a sleep.
func (p *PC) Awake() time.Duration { return time.Since(p.started) }

// Boot is the clock that goes on through a sleep.
func (p *PC) Boot() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.started) + p.slept
}

// SetLid moves the lid: notice.LidOpen or notice.LidClosed. Shutting it does what
// the active scheme says.
func (p *PC) SetLid(k notice.Kind) {
	p.mu.Lock()
	p.lid = k
	action := p.actions[value{p.active, !p.battery.OnBattery}]
	p.mu.Unlock()
	p.Tell(k)
	if k == notice.LidClosed && (action == 1 || action == 2) {
		p.sleep(Sleep{map[uint32]sleep.Mode{1: sleep.Suspend, 2: sleep.Hibernate}[action], "lid"})
	}
}

// SetDisplays plugs external displays; nobody is told.
func (p *PC) SetDisplays(n int) {
	p.do(func() {
		p.displays = p.displays[:1]
		for i := range n {
			p.displays = append(p.displays, display.Connector{Name: fmt.Sprintf("HDMI (%d)", i), Status: "connected"})
		}
	})
}

// SetBattery moves the charge and pulls or plugs the charger.
func (p *PC) SetBattery(percent float64, onBattery bool) {
	p.do(func() { p.battery.Percent, p.battery.OnBattery = percent, onBattery })
	p.Tell(notice.Power)
}

// SetHeat sets the one sensor; 0 is firmware without a real one.
func (p *PC) SetHeat(celsius float64) { p.do(func() { p.celsius = celsius }) }

// SetScheme chooses another power scheme, as its user does by hand.
func (p *PC) SetScheme(scheme string) {
	p.do(func() { p.active = scheme })
	p.Tell(notice.Scheme)
}

// DeleteScheme takes a scheme out.
func (p *PC) DeleteScheme(scheme string) {
	p.do(func() { maps.DeleteFunc(p.actions, func(v value, _ uint32) bool { return v.scheme == scheme }) })
}

// SetAction sets what a scheme does, as its user does by hand; nobody is told.
func (p *PC) SetAction(scheme string, mains bool, action uint32) {
	p.do(func() { p.actions[value{scheme, mains}] = action })
}

// Actions returns what a scheme does on mains and on the battery.
func (p *PC) Actions(scheme string) [2]uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return [2]uint32{p.actions[value{scheme, true}], p.actions[value{scheme, false}]}
}

// IgnoreWrites makes Windows take lid actions and keep the old ones, as a management
// agent that writes its own does.
func (p *PC) IgnoreWrites(on bool) { p.do(func() { p.ignore = on }) }

// DelayWrites makes a write show only after that many readings.
func (p *PC) DelayWrites(reads int) { p.do(func() { p.late = reads }) }

// Bar makes a call be refused; nil allows it. Break makes it fail otherwise. The
// names are those of the methods: "Request", "SetLidAction", "Allowed", "Enter", and
// for Break also "Execution", "Abilities", "ActiveScheme", "LidAction", "Notices",
// "Displays", "Battery", "Heat".
func (p *PC) Bar(call, who string) {
	p.do(func() {
		p.barred[call] = &sleep.BarredError{Doing: call, Who: who, Err: ErrBroken}
		if who == "" {
			delete(p.barred, call)
		}
	})
}

// Break is described at Bar.
func (p *PC) Break(call string, err error) {
	p.do(func() {
		p.broken[call] = err
		if err == nil {
			delete(p.broken, call)
		}
	})
}

// Terminate ends what every request holds off, though the requests stay: what
// Windows does with modern standby on the battery, and when a person asks for sleep.
func (p *PC) Terminate() {
	p.do(func() {
		for r := range p.requests {
			r.ended = true
		}
	})
}

// Blind makes Windows show no request at all.
func (p *PC) Blind(on bool) { p.do(func() { p.blind = on }) }

// Insomnia makes Windows say yes to sleep and stay awake. Hush makes it keep
// quiet about sleep and wake-up.
func (p *PC) Insomnia(on bool) { p.do(func() { p.insomn = on }) }

// Hush is described at Insomnia.
func (p *PC) Hush(on bool) { p.do(func() { p.silent = on }) }

// Stick makes Enter hang until the function returned is called.
func (p *PC) Stick() (release func()) {
	c := make(chan struct{})
	p.do(func() { p.stuck = c })
	return sync.OnceFunc(func() {
		p.do(func() { p.stuck = nil })
		close(c)
	})
}

// Requests counts those that stand, Made those ever made.
func (p *PC) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}

// Made is described at Requests.
func (p *PC) Made() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.made
}

// Windows counts the open windows.
func (p *PC) Windows() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.hearing)
}

// Sleeps returns every sleep so far.
func (p *PC) Sleeps() []Sleep {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sleeps)
}

// Doze sleeps and wakes, as from the start menu.
func (p *PC) Doze() { p.sleep(Sleep{sleep.Suspend, "menu"}) }

func (p *PC) sleep(s Sleep) {
	p.mu.Lock()
	silent := p.silent
	p.mu.Unlock()
	if !silent {
		p.Tell(notice.Sleeping)
	}
	p.do(func() {
		for r := range p.requests {
			r.ended = true
		}
		p.sleeps = append(p.sleeps, s)
		p.slept += sleepTime
	})
	if !silent {
		p.Tell(notice.Woke)
		p.Tell(notice.Power)
	}
}

// Tell tells every window something, true or not.
func (p *PC) Tell(k notice.Kind) {
	p.mu.Lock()
	var tells []func(notice.Kind)
	for w := range p.hearing {
		tells = append(tells, w.tell)
	}
	p.mu.Unlock()
	for _, tell := range tells {
		tell(k)
	}
}

// failure is what a call was told to say. p.mu is held.
func (p *PC) failure(call string) error { return errors.Join(p.barred[call], p.broken[call]) }

type window struct {
	p    *PC
	tell func(notice.Kind)
}

// Close is that of notice.Window.
func (w *window) Close() { w.p.do(func() { delete(w.p.hearing, w) }) }

// Notices is notice.Open.
func (p *PC) Notices(tell func(notice.Kind)) (interface{ Close() }, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.failure("Notices"); err != nil {
		return nil, err
	}
	w := &window{p, tell}
	p.hearing[w] = struct{}{}
	if p.Can.Lid {
		tell(p.lid)
	}
	return w, nil
}

// ReadDisplays is display.Read.
func (p *PC) ReadDisplays() (display.Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return display.Reading{Connectors: slices.Clone(p.displays)}, p.failure("Displays")
}

// ReadBattery is battery.ReadPowerStatus.
func (p *PC) ReadBattery() (battery.Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.battery, p.failure("Battery")
}

// ReadHeat is thermal.Read.
func (p *PC) ReadHeat() (thermal.Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.failure("Heat"); err != nil || p.celsius == 0 {
		return thermal.Reading{}, errors.Join(thermal.ErrNoSensor, err)
	}
	return thermal.Reading{Sensors: []thermal.Sensor{{Name: "TZ", Celsius: p.celsius}}}, nil
}

type request struct {
	p     *PC
	kinds []sleep.RequestKind
	ended bool
}

// Close is that of a power request.
func (r *request) Close() error {
	r.p.do(func() { delete(r.p.requests, r) })
	return nil
}

// Request is sleep.Power's.
func (p *PC) Request(_ string, kinds ...sleep.RequestKind) (io.Closer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.failure("Request"); err != nil {
		return nil, err
	}
	if p.Can.ModernStandby && slices.Contains(kinds, sleep.RequestAway) {
		return nil, sleep.ErrUnsupported
	}
	r := &request{p: p, kinds: slices.Clone(kinds)}
	p.requests[r] = struct{}{}
	p.made++
	return r, nil
}

// Execution is sleep.Power's.
func (p *PC) Execution() (sleep.Execution, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e sleep.Execution
	for r := range p.requests {
		if r.ended || p.blind {
			continue
		}
		for _, k := range r.kinds {
			e |= map[sleep.RequestKind]sleep.Execution{sleep.RequestSystem: sleep.SystemRequired,
				sleep.RequestDisplay: sleep.DisplayRequired, sleep.RequestAway: sleep.AwayRequired}[k]
		}
	}
	return e, p.failure("Execution")
}

// Abilities is sleep.Power's.
func (p *PC) Abilities() (sleep.Abilities, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Can, p.failure("Abilities")
}

// Allowed is sleep.Power's.
func (p *PC) Allowed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure("Allowed")
}

// Enter is sleep.Power's. A request for away mode makes it only look like sleep.
func (p *PC) Enter(how sleep.Mode) error {
	p.mu.Lock()
	err, stuck, insomnia := p.failure("Enter"), p.stuck, p.insomn
	for r := range p.requests {
		insomnia = insomnia || slices.Contains(r.kinds, sleep.RequestAway)
	}
	p.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	if err == nil && !insomnia {
		p.sleep(Sleep{how, "program"})
	}
	return err
}

// ScreenOff is sleep.Power's: with modern standby the machine sleeps, unless a
// request holds that off.
func (p *PC) ScreenOff() error {
	p.mu.Lock()
	asleep := p.Can.ModernStandby && len(p.requests) == 0
	err := p.failure("ScreenOff")
	p.mu.Unlock()
	if err == nil && asleep {
		p.sleep(Sleep{sleep.Suspend, "screen"})
	}
	return err
}

// ActiveScheme is sleep.Schemes'.
func (p *PC) ActiveScheme() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active, p.failure("ActiveScheme")
}

// LidAction is sleep.Schemes'.
func (p *PC) LidAction(scheme string, mains bool) (uint32, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(w write) bool { return p.come(w, value{scheme, mains}) })
	for i := range p.waiting {
		if p.waiting[i].value == (value{scheme, mains}) {
			p.waiting[i].reads--
		}
	}
	action, ok := p.actions[value{scheme, mains}]
	if !ok {
		return 0, sleep.ErrNoSetting
	}
	return action, p.failure("LidAction")
}

// come lets a late write show. p.mu is held.
func (p *PC) come(w write, v value) bool {
	due := w.value == v && w.reads <= 0
	if due {
		p.actions[v] = w.action
	}
	return due
}

// SetLidAction is sleep.Schemes'.
func (p *PC) SetLidAction(scheme string, mains bool, action uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := value{scheme, mains}
	if _, ok := p.actions[v]; !ok {
		return sleep.ErrNoSetting
	}
	if err := p.failure("SetLidAction"); err != nil {
		return err
	}
	switch {
	case p.ignore:
	case p.late > 0:
		p.waiting = append(p.waiting, write{v, action, p.late})
	default:
		p.actions[v] = action
	}
	return nil
}

var _ sleep.Power = (*PC)(nil)
