package simulate

import (
	"container/heap"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// Days is what a simulated stretch of machine life came to.
type Days struct {
	Result
	Days int
	// Working is how long agents really worked, Held how long the machine was
	// really kept from idling meanwhile, Idled how long it was kept awake though
	// nothing worked (settling, timeouts and countdowns included), Lost how long
	// an agent's work stood still because the machine slept under it.
	Working, Held, Idled, Lost time.Duration
}

// Day runs machine-days: a person with a working day, a battery, a dock, a bag,
// and agents that are prompted, call tools, ask, run things in the background
// and finish. Faults spoil effects and kill the runtime now and then. The same
// seed gives the same days.
func Day(seed uint64, days int, out io.Writer, faults bool) Days {
	var sum Days
	for n := range days {
		rng := rand.New(rand.NewPCG(seed, uint64(n)))
		cfg := DefaultConfig()
		cfg.Awake.Sound = rng.IntN(2) == 0
		cfg.Session.Grace = pick(rng, 0, 0, 180*time.Second)
		if rng.IntN(6) == 0 {
			cfg.Awake.SuspendMode = awake.Hibernate
		}
		w := newWorld(rng, out, cfg, randomOptions(rng), Broken{}, faults)
		if out != nil {
			fmt.Fprintf(out, "day %d\n", n)
		}
		d := &day{World: w, last: w.laptop.Now()}
		d.run()
		sum.Days++
		sum.Working += d.working
		sum.Held += d.held
		sum.Idled += d.idled
		sum.Lost += d.lost
		sum.Result.add(Result{Steps: w.steps, Effects: w.effects, Crashes: w.crashes, Exits: w.exits, Sleeps: len(w.laptop.Sleeps()),
			Virtual: 24 * time.Hour, Episodes: 1, Bad: w.Bad, BadEpisode: uint64(n)})
		if len(w.Bad) > 0 {
			break
		}
	}
	return sum
}

// act is one thing an actor does at its time. Agents live on the Awake clock, as
// their processes do; the person lives on the Boot clock.
type act struct {
	at  time.Duration
	seq uint64
	do  func()
}

type acts []act

func (a acts) Len() int { return len(a) }
func (a acts) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a acts) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *acts) Push(v any)   { *a = append(*a, v.(act)) }
func (a *acts) Pop() any {
	last := len(*a) - 1
	v := (*a)[last]
	*a = (*a)[:last]
	return v
}

type day struct {
	*World
	agents, person acts
	n              uint64
	last           event.Instant
	busy           int // agents at work, by their own account
	percent        float64
	mains          bool

	working, held, idled, lost time.Duration
}

func (d *day) plan(list *acts, at time.Duration, do func()) {
	d.n++
	heap.Push(list, act{at: at, seq: d.n, do: do})
}

// soon plans something of an agent.
func (d *day) soon(after time.Duration, do func()) {
	d.plan(&d.agents, d.laptop.Now().Awake+after, do)
}

// between is a duration from lo to hi, short ones likelier.
func (d *day) between(lo, hi time.Duration) time.Duration {
	f := d.rng.Float64()
	return lo + time.Duration(f*f*float64(hi-lo))
}

func (d *day) run() {
	start := d.laptop.Now()
	end := start.Boot + 24*time.Hour
	d.percent, d.mains = 40+60*d.rng.Float64(), d.chance(2)
	d.power()
	for i := range 1 + d.rng.IntN(4) {
		d.newAgent(i)
	}
	d.personDay(start.Boot)
	for d.laptop.Now().Boot < end && len(d.Bad) == 0 {
		now := d.laptop.Now()
		wait := min(end-now.Boot, time.Minute)
		if len(d.person) > 0 {
			wait = min(wait, max(d.person[0].at-now.Boot, 0))
		}
		if !d.laptop.Asleep() && len(d.agents) > 0 {
			wait = min(wait, max(d.agents[0].at-now.Awake, 0))
		}
		d.pass(wait)
		d.account()
		now = d.laptop.Now()
		if len(d.person) > 0 && d.person[0].at <= now.Boot {
			heap.Pop(&d.person).(act).do()
			continue
		}
		if !d.laptop.Asleep() && len(d.agents) > 0 && d.agents[0].at <= now.Awake {
			heap.Pop(&d.agents).(act).do()
		}
	}
}

// account adds up what the last stretch was worth.
func (d *day) account() {
	now := d.laptop.Now()
	awakeFor, bootFor := now.Awake-d.last.Awake, now.Boot-d.last.Boot
	d.last = now
	locked := d.laptop.Locks(awake.HoldIdle) > 0
	switch {
	case d.busy > 0:
		d.working += awakeFor
		d.lost += bootFor - awakeFor
		if locked {
			d.held += awakeFor
		}
	case locked:
		d.idled += awakeFor
	}
	// The battery follows the Boot clock; a sleeping machine drains slowly.
	hours := bootFor.Hours()
	switch {
	case d.mains:
		d.percent = min(100, d.percent+40*hours)
	case d.laptop.Asleep():
		d.percent = max(3, d.percent-0.5*hours)
	default:
		d.percent = max(3, d.percent-12*hours)
	}
}

func (d *day) power() {
	d.laptop.SetBattery(awake.Battery{Known: true, OnBattery: !d.mains, Percent: float64(int(d.percent))})
}

// personDay: arrives, works at the desk, closes the lid for meetings and the way
// home, leaves an agent running in the bag, comes back in the evening.
func (d *day) personDay(t time.Duration) {
	at := func(after time.Duration, what string, do func()) {
		d.plan(&d.person, t+after, func() {
			d.printf("%s", what)
			do()
		})
	}
	clock := time.Duration(0)
	for range 3 + d.rng.IntN(8) {
		clock += d.between(10*time.Minute, 3*time.Hour)
		docked := d.chance(4)
		if docked {
			at(clock, "docked", func() { d.laptop.SetDisplays(1); d.mains = true; d.power() })
		}
		at(clock+time.Second, "the lid closes", func() { d.laptop.SetLid(awake.LidClosed) })
		if d.chance(2) {
			at(clock+2*time.Second, "unplugged", func() { d.mains = false; d.power() })
		}
		if docked && d.chance(2) {
			at(clock+d.between(time.Minute, time.Hour), "undocked, shut", func() { d.laptop.SetDisplays(0) })
		}
		if d.chance(6) {
			hot := clock + d.between(time.Minute, 30*time.Minute)
			at(hot, "it gets hot", func() { d.laptop.SetHeat(70+30*d.rng.Float64(), nil) })
			at(hot+10*time.Minute, "it cools", func() { d.laptop.SetHeat(50, nil) })
		}
		clock += d.between(time.Minute, 4*time.Hour)
		at(clock, "the lid opens", func() {
			d.laptop.SetDisplays(0)
			d.laptop.SetLid(awake.LidOpen)
			d.laptop.Wake()
			d.mains = d.chance(2)
			d.power()
		})
	}
	for m := time.Duration(0); m < 24*time.Hour; m += time.Minute {
		d.plan(&d.person, t+m, func() { d.power() })
	}
	for m := time.Duration(0); m < 24*time.Hour; m += awake.HeatPoll {
		d.plan(&d.person, t+m, func() {
			if d.core == nil || d.laptop.Asleep() || !d.core.Awake().WantsHeat() {
				return
			}
			if c, err := d.machine.Heat(context.Background(), "average"); err == nil {
				d.feed("heat", daemon.MachineInput(awake.Input{Kind: awake.InHeat, Celsius: c}))
			}
		})
	}
}

// agent is one client with one session after the other.
type agent struct {
	d      *day
	key    event.SessionKey
	proc   *event.Process
	offset int64
	n      int
}

func (d *day) newAgent(i int) {
	p := pick(d.rng, event.Claude, event.Claude, event.Codex, event.Copilot, event.OpenCode)
	a := &agent{d: d, key: event.SessionKey{Provider: p, ID: event.SessionID(fmt.Sprint("s", i))},
		proc: &event.Process{PID: 1000 + i, Start: uint64(i + 1), Shared: p == event.Codex && d.chance(2)}}
	d.soon(d.between(0, time.Hour), a.start)
}

func (a *agent) say(kind event.SignalKind, with func(*event.Signal)) {
	sig := event.Signal{Kind: kind, Session: a.key, Source: "hook " + string(kind), Process: a.proc}
	if with != nil {
		with(&sig)
	}
	a.offset += int64(100 + a.d.rng.IntN(4000))
	a.d.signal(sig)
}

func (a *agent) start() {
	a.say(event.Opened, nil)
	a.d.soon(a.d.between(5*time.Second, time.Minute), a.prompt)
}

func (a *agent) prompt() {
	a.d.busy++
	a.say(event.Began, func(s *event.Signal) { s.Prompt = "do the next thing" })
	a.d.soon(a.d.between(time.Second, 30*time.Second), func() { a.work(1 + a.d.rng.IntN(40)) })
}

// work makes tool calls until the turn is over.
func (a *agent) work(left int) {
	d := a.d
	if left == 0 {
		a.finish()
		return
	}
	a.n++
	id := fmt.Sprint("u", a.n)
	a.say(event.ToolBegan, func(s *event.Signal) { s.ToolUse, s.Tool = id, "Bash" })
	took := d.between(100*time.Millisecond, 2*time.Minute)
	if d.chance(60) { // a long silent build
		took = d.between(10*time.Minute, 50*time.Minute)
		for m := time.Minute; m < took; m += time.Minute {
			d.soon(m, func() {
				d.feed("busy", daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{a.key}}))
			})
		}
	}
	done := func() {
		a.say(event.ToolEnded, func(s *event.Signal) { s.ToolUse = id })
		d.soon(d.between(500*time.Millisecond, 40*time.Second), func() { a.work(left - 1) })
	}
	if d.chance(25) { // asks first
		a.say(event.Waiting, func(s *event.Signal) { s.Reason, s.Tool = "permission_prompt", "Bash" })
		d.busy--
		d.soon(d.between(2*time.Second, 90*time.Minute), func() {
			d.busy++
			a.say(event.Resumed, nil)
			d.soon(took, done)
		})
		return
	}
	if d.chance(80) { // Esc: no event, only the marker
		d.soon(took/2, func() {
			a.say(event.Interrupted, func(s *event.Signal) { s.Source, s.Offset = "transcript marker", a.offset })
			d.busy--
			d.soon(d.between(5*time.Second, time.Hour), a.prompt)
		})
		return
	}
	if d.chance(300) { // the client crashes
		d.soon(took/2, func() {
			d.busy--
			if !a.proc.Shared {
				d.feed("exited", daemon.SessionInput(session.Input{Kind: session.InExited, Process: a.proc}))
			}
			next := *a.proc
			next.Start += 1000
			a.proc = &next
			d.soon(d.between(time.Minute, 2*time.Hour), a.start)
		})
		return
	}
	d.soon(took, done)
}

func (a *agent) finish() {
	d := a.d
	if a.key.Provider == event.Claude && d.chance(5) { // something runs on
		shell := event.Task{ID: fmt.Sprint("b", a.n), Type: event.TaskShell, Description: "the test suite"}
		a.say(event.Stopped, func(s *event.Signal) { s.Tasks = []event.Task{shell} })
		d.soon(d.between(time.Minute, 10*time.Minute), func() {
			a.say(event.TaskEnded, func(s *event.Signal) { s.Source, s.Task = "hook notification", &shell })
			a.over()
		})
		return
	}
	a.over()
}

func (a *agent) over() {
	d := a.d
	a.say(event.Stopped, func(s *event.Signal) {
		if a.key.Provider == event.Claude {
			s.Tasks = []event.Task{}
		}
	})
	d.busy--
	switch {
	case d.chance(8):
		old := a.key
		a.say(event.Closed, func(s *event.Signal) { s.Continues, s.Reason = true, "clear" })
		a.key.ID = event.SessionID(fmt.Sprint(old.ID, "+"))
		d.soon(time.Second, a.start)
	case d.chance(10):
		a.say(event.Closed, func(s *event.Signal) { s.Reason = "prompt_input_exit" })
		d.soon(d.between(10*time.Minute, 5*time.Hour), a.start)
	default:
		d.soon(d.between(10*time.Second, 3*time.Hour), a.prompt)
	}
}
