// Package mactest is a Mac for tests: a command.Runner that answers as pmset,
// caffeinate, ioreg, system_profiler, powermetrics and sudo do, over a model of
// the machine behind them that can be told to misbehave. It runs no program and
// touches nothing of the machine it runs on.
package mactest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/command"
)

// Mac is the machine. Use New. All methods are safe from several goroutines.
type Mac struct {
	mu      sync.Mutex
	started time.Time
	slept   time.Duration // by which the Boot clock is ahead

	lid       string // "Yes", "No", "" without a lid
	displays  int
	broken    map[string]error // programs that fail, by path
	source    string           // "AC Power", "Battery Power"
	percent   float64
	celsius   float64 // 0: no sampler
	values    map[string]string
	apart     string // the charger's hibernatemode where it differs
	forbidden func(command string) bool
	ignore    bool
	late      int // reads before a write shows
	waiting   []write
	youngDead bool // caffeinate ends at once
	unlisted  bool // caffeinate's assertion does not show

	pids   int
	procs  map[int]*proc
	starts int
	calls  []string
	sleeps []Sleep
}

type write struct {
	name, value string
	reads       int
}

// Sleep is one sleep of the log.
type Sleep struct {
	Mode string // hibernatemode at its time
	By   string // "sleepnow" or "lid"
}

// Every sleep takes this long, all of it before the program that asked goes on.
const sleepTime = time.Hour

// New returns an open MacBook on mains without external displays, that lets its
// user do what the sudoers rule allows.
func New() *Mac {
	return &Mac{started: time.Now(), lid: "No", source: "AC Power", percent: 100, celsius: 50, pids: 500,
		values: map[string]string{"disablesleep": "0", "hibernatemode": "3"}, broken: map[string]error{},
		procs: map[int]*proc{}, forbidden: func(string) bool { return false }}
}

// Awake and Boot are the clocks: the first stands still through a sleep.
func (m *Mac) Awake() time.Duration { return time.Since(m.started) }

// Boot is the clock that goes on through a sleep.
func (m *Mac) Boot() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.started) + m.slept
}

// SetLid moves the lid: "open", "shut", or "none" for a Mac without. Shutting it
// sleeps unless a display or disablesleep is in the way.
func (m *Mac) SetLid(state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lid = map[string]string{"open": "No", "shut": "Yes"}[state]
	if state == "shut" && m.displays == 0 && m.values["disablesleep"] == "0" {
		m.sleep("lid")
	}
}

// SetDisplays plugs external displays.
func (m *Mac) SetDisplays(n int) { m.do(func() { m.displays = n }) }

// SetBattery moves the charge and pulls or plugs the charger.
func (m *Mac) SetBattery(percent float64, onBattery bool) {
	m.do(func() {
		m.percent, m.source = percent, "AC Power"
		if onBattery {
			m.source = "Battery Power"
		}
	})
}

// SetHeat sets the processor's temperature; 0 is Apple silicon, which tells none.
func (m *Mac) SetHeat(celsius float64) { m.do(func() { m.celsius = celsius }) }

// Set sets a power setting, as its user does by hand.
func (m *Mac) Set(name, value string) { m.do(func() { m.values[name] = value }) }

// SetApart gives the charger another hibernatemode than the battery.
func (m *Mac) SetApart(mode string) { m.do(func() { m.apart = mode }) }

// Get returns a power setting.
func (m *Mac) Get(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[name]
}

// Forbid makes sudo refuse the commands that f picks; nil forbids none.
func (m *Mac) Forbid(f func(command string) bool) {
	if f == nil {
		f = func(string) bool { return false }
	}
	m.do(func() { m.forbidden = f })
}

// IgnoreWrites makes pmset say yes and change nothing.
func (m *Mac) IgnoreWrites(on bool) { m.do(func() { m.ignore = on }) }

// DelayWrites makes a write show only after that many readings.
func (m *Mac) DelayWrites(reads int) { m.do(func() { m.late = reads }) }

// Break makes a program fail, by its path; nil mends it.
func (m *Mac) Break(path string, err error) {
	m.do(func() {
		m.broken[path] = err
		if err == nil {
			delete(m.broken, path)
		}
	})
}

// KillCaffeinate ends every caffeinate, as a person with a task manager does.
func (m *Mac) KillCaffeinate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.end()
	}
}

// CaffeinateDies makes every new caffeinate end at once; CaffeinateFakes makes
// it hold nothing.
func (m *Mac) CaffeinateDies(on bool)  { m.do(func() { m.youngDead = on }) }
func (m *Mac) CaffeinateFakes(on bool) { m.do(func() { m.unlisted = on }) }

// Running counts the caffeinate processes, Starts those ever started.
func (m *Mac) Running() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.procs)
}

// Starts counts the processes ever started.
func (m *Mac) Starts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.starts
}

// Calls returns the command lines that were run, and forgets them.
func (m *Mac) Calls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = nil
	return calls
}

// Sleeps returns the log of sleeps.
func (m *Mac) Sleeps() []Sleep {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.sleeps)
}

// Doze sleeps as from the menu.
func (m *Mac) Doze() { m.do(func() { m.sleep("menu") }) }

func (m *Mac) do(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *Mac) sleep(by string) {
	m.sleeps = append(m.sleeps, Sleep{Mode: m.values["hibernatemode"], By: by})
	m.slept += sleepTime
}

type proc struct {
	m    *Mac
	pid  int
	kind string
	done chan struct{}
	once sync.Once
}

// end is called with m.mu held.
func (p *proc) end() {
	p.once.Do(func() {
		delete(p.m.procs, p.pid)
		close(p.done)
	})
}

func (p *proc) PID() int              { return p.pid }
func (p *proc) Done() <-chan struct{} { return p.done }
func (p *proc) Stop()                 { p.m.do(p.end) }

// Start starts caffeinate and nothing else.
func (m *Mac) Start(path string, args ...string) (command.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls = append(m.calls, strings.Join(append([]string{path}, args...), " "))
	if err := m.broken[path]; err != nil {
		return nil, err
	}
	kind := map[string]string{"-i": "PreventUserIdleSystemSleep", "-d": "PreventUserIdleDisplaySleep"}
	if path != "/usr/bin/caffeinate" || len(args) != 3 || kind[args[0]] == "" || args[1] != "-w" {
		return nil, fmt.Errorf("mactest does not start %q %q", path, args)
	}
	m.pids++
	m.starts++
	p := &proc{m: m, pid: m.pids, kind: kind[args[0]], done: make(chan struct{})}
	m.procs[p.pid] = p
	if m.youngDead {
		p.end()
	}
	return p, nil
}

// Output runs one of the programs.
func (m *Mac) Output(ctx context.Context, path string, args ...string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	line := strings.Join(append([]string{path}, args...), " ")
	m.calls = append(m.calls, line)
	if err := m.broken[path]; err != nil {
		return nil, err
	}
	if rest, ok := strings.CutPrefix(line, "/usr/bin/sudo -n "); ok {
		return m.sudo(rest)
	}
	return m.run(line, false)
}

func (m *Mac) sudo(line string) ([]byte, error) {
	line, asking := strings.CutPrefix(line, "-l ")
	if m.forbidden(line) {
		return nil, &command.ExitError{Path: "/usr/bin/sudo", Code: 1, Stderr: "sudo: a password is required"}
	}
	if asking {
		return []byte(line + "\n"), nil
	}
	return m.run(line, true)
}

func (m *Mac) run(line string, root bool) ([]byte, error) {
	switch line {
	case "/usr/bin/pmset -g":
		m.settle()
		return fmt.Appendf(nil, "System-wide power settings:\n SleepDisabled\t\t%s\nCurrently in use:\n standby              1\n sleep                1 (sleep prevented by caffeinate, powerd)\n hibernatemode        %s\n displaysleep         10\n",
			m.values["disablesleep"], m.values["hibernatemode"]), nil
	case "/usr/bin/pmset -g custom":
		m.settle()
		charger := m.values["hibernatemode"]
		if m.apart != "" {
			charger = m.apart
		}
		if charger == "" {
			return []byte("AC Power:\n sleep                1\n"), nil
		}
		return fmt.Appendf(nil, "Battery Power:\n sleep                1\n hibernatemode        %s\nAC Power:\n sleep                1\n hibernatemode        %s\n",
			m.values["hibernatemode"], charger), nil
	case "/usr/bin/pmset -g assertions":
		out := "2026-06-01 08:00:00 +0200 \nAssertion status system-wide:\n   PreventUserIdleSystemSleep     1\nListed by owning process:\n" +
			"   pid 88(powerd): [0x0000000b00078001] 00:10:00 PreventUserIdleSystemSleep named: \"Powerd - Prevent sleep while display is on\" \n"
		for pid, p := range m.procs {
			if !m.unlisted {
				out += fmt.Sprintf("   pid %d(caffeinate): [0x000232f20001928f] 00:00:01 %s named: \"caffeinate command-line tool\"  \n\tDetails: caffeinate asserting on behalf of Process ID 4711\n\tLocalized=THE CAFFEINATE TOOL IS PREVENTING SLEEP.\n", pid, p.kind)
			}
		}
		return []byte(out + "No kernel assertions.\nIdle sleep preventers: IODisplayWrangler\n"), nil
	case "/usr/bin/pmset -g batt":
		word := "charging"
		if m.source == "Battery Power" {
			word = "discharging"
		}
		return fmt.Appendf(nil, "Now drawing from '%s'\n -InternalBattery-0 (id=4653155)\t%.0f%%; %s; 4:29 remaining present: true\n", m.source, m.percent, word), nil
	case "/usr/bin/pmset sleepnow":
		if m.values["disablesleep"] == "0" {
			m.sleep("sleepnow")
		}
		return []byte("Sleeping now...\n"), nil // also where it does not
	case "/usr/sbin/ioreg -r -k AppleClamshellState -d 4":
		if m.lid == "" {
			return nil, nil
		}
		return fmt.Appendf(nil, "+-o IOPMrootDomain  <class IOPMrootDomain, id 0x10000011d, registered, matched, active>\n    {\n      \"AppleClamshellCausesSleep\" = Yes\n      \"AppleClamshellState\" = %s\n    }\n", m.lid), nil
	case "/usr/sbin/system_profiler SPDisplaysDataType -json":
		out := `{"SPDisplaysDataType":[{"_name":"Apple M1","spdisplays_ndrvs":[{"_name":"Color LCD","_spdisplays_displayID":"1","spdisplays_connection_type":"spdisplays_internal","spdisplays_online":"spdisplays_yes"}`
		for i := range m.displays {
			out += fmt.Sprintf(`,{"_name":"DELL U2720Q","_spdisplays_displayID":"%d","spdisplays_online":"spdisplays_yes"}`, i+2)
		}
		return []byte(out + `]}]}`), nil
	case "/usr/bin/powermetrics --samplers smc -n 1 -i 1000":
		if m.celsius == 0 {
			return nil, &command.ExitError{Path: "/usr/bin/sudo", Code: 64, Stderr: "powermetrics: unrecognized sampler: smc"}
		}
		return fmt.Appendf(nil, "**** SMC sensors ****\n\nFan: 1800 rpm\nCPU die temperature: %.2f C\n", m.celsius), nil
	}
	name, value, ok := strings.Cut(strings.TrimPrefix(line, "/usr/bin/pmset -a "), " ")
	if _, known := m.values[name]; !ok || !known || !strings.HasPrefix(line, "/usr/bin/pmset -a ") {
		return nil, fmt.Errorf("mactest does not run %q", line)
	}
	switch {
	case !root:
		return nil, &command.ExitError{Path: "/usr/bin/pmset", Code: 77, Stderr: "'/usr/bin/pmset' must be run as root..."}
	case m.ignore:
	case m.late > 0:
		m.waiting = append(m.waiting, write{name, value, m.late})
	default:
		m.values[name] = value
	}
	return nil, nil
}

// settle lets late writes show, in their order.
func (m *Mac) settle() {
	for i := range m.waiting {
		m.waiting[i].reads--
	}
	for len(m.waiting) > 0 && m.waiting[0].reads < 0 {
		m.values[m.waiting[0].name] = m.waiting[0].value
		m.waiting = m.waiting[1:]
	}
}

// ErrBroken is an error for Break.
var ErrBroken = errors.New("the program crashed")
