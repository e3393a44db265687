package simulate

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// Cause is why the machine slept, or was not kept awake, though an agent worked.
// Each is checked against the laptop itself when it is given; what none explains
// is a violation.
type Cause string

const (
	ByBattery   Cause = "battery floor"     // on battery, nobody there, below the floor
	ByHeat      Cause = "heat"              // too hot with nobody there
	ByPerson    Cause = "the person"        // suspended from a menu
	ByCrash     Cause = "crash"             // the locks died with the runtime, or an event was lost with it
	ByService   Cause = "service restarted" // the system dropped the locks
	ByRefusal   Cause = "lock refused"      // the system does not grant the lock
	ByAsking    Cause = "lock asked for"    // granted a moment later
	Unexplained Cause = "unexplained"       // and then a violation
)

// Causes lists all of them in the order they are shown.
func Causes() []Cause {
	return []Cause{ByBattery, ByHeat, ByPerson, ByCrash, ByService, ByRefusal, ByAsking, Unexplained}
}

// Spans is how long, by cause.
type Spans map[Cause]time.Duration

// Total sums over all causes.
func (s Spans) Total() (sum time.Duration) {
	for _, d := range s {
		sum += d
	}
	return sum
}

// String lists the causes that occurred, in their order.
func (s Spans) String() string {
	text := ""
	for _, c := range Causes() {
		if s[c] > 0 {
			text += fmt.Sprintf(", %s %s", c, s[c].Round(time.Second))
		}
	}
	if text == "" {
		return "none"
	}
	return text[2:]
}

// Days is what a simulated stretch of machine life came to.
type Days struct {
	Result
	Days int
	// Working is how long agents worked on a machine that was awake, Held how
	// long it was really kept from idling meanwhile, Bare the rest by its cause.
	Working, Held time.Duration
	Bare          Spans
	// Idled is how long the machine was kept awake though nothing worked:
	// settling, timeouts, countdowns.
	Idled time.Duration
	// Asleep is how long an agent's work stood still because the machine slept
	// under it, by cause.
	Asleep Spans
	// Sleeps counts the sleeps that began under work, by cause.
	Under map[Cause]int
}

func (d *Days) add(o Days) {
	d.Result.add(o.Result)
	d.Days += o.Days
	d.Working += o.Working
	d.Held += o.Held
	d.Idled += o.Idled
	for c, t := range o.Bare {
		d.Bare[c] += t
	}
	for c, t := range o.Asleep {
		d.Asleep[c] += t
	}
	for c, n := range o.Under {
		d.Under[c] += n
	}
}

// Day runs machine-days: a person with a working day, a battery, a dock, a bag,
// and agents that are prompted, call tools, ask, run things in the background
// and finish. With faults, effects are spoilt or come late, the runtime and its
// keeper are killed, the service behind the locks restarts or refuses, clocks
// jump. Every day ends with everything ended: the machine must be as it was
// found. Days share nothing and run on all processors unless out prints them;
// the same seed gives the same days.
func Day(seed uint64, days int, out io.Writer, faults bool) Days {
	return DayBroken(seed, days, out, faults, Broken{})
}

// DayBroken is Day with a rule switched off.
func DayBroken(seed uint64, days int, out io.Writer, faults bool, broken Broken) Days {
	sum := Days{Bare: Spans{}, Asleep: Spans{}, Under: map[Cause]int{}}
	play := func(n uint64) Days { return playDay(seed, n, out, faults, broken, nil) }
	inOrder(out != nil, play, sum.add, func() bool { return sum.Days < days && len(sum.Bad) == 0 })
	return sum
}

// DayStory tells the failing day of Day again with as little as still fails in
// the same way, one line an event.
func DayStory(seed uint64, res Days, faults bool, broken Broken) string {
	return shrink(res.Result, func(p *script, out io.Writer) Result {
		return playDay(seed, res.BadEpisode, out, faults, broken, p).Result
	})
}

// playDay lives through day n of a seed, or the part of it that p keeps.
func playDay(seed, n uint64, out io.Writer, faults bool, broken Broken, p *script) Days {
	src := rand.NewPCG(mix(seed, n), n)
	rng := rand.New(src)
	cfg := DefaultConfig()
	cfg.Awake.Sound = rng.IntN(2) == 0
	cfg.Awake.Strict = rng.IntN(5) == 0
	cfg.Session.Grace = pick(rng, 0, 0, 180*time.Second)
	if rng.IntN(6) == 0 {
		cfg.Awake.SuspendMode = awake.Hibernate
	}
	w := newWorld(src, out, cfg, randomOptions(rng), broken, faults)
	w.crashOdds = 800
	if out != nil {
		fmt.Fprintf(out, "day %d\n", n)
	}
	d := &day{World: w, seed: mix(seed, n), script: p, spoils: faults, last: w.laptop.Now(),
		sum: Days{Days: 1, Bare: Spans{}, Asleep: Spans{}, Under: map[Cause]int{}}}
	if p != nil {
		d.keep = map[uint64]bool{}
		for _, id := range p.acts {
			d.keep[id] = true
		}
	}
	d.run()
	d.sum.Result = Result{Steps: w.steps, Effects: w.effects, Crashes: w.crashes, Exits: w.exits, Sleeps: len(w.laptop.Sleeps()),
		Virtual: 24 * time.Hour, Episodes: 1, Bad: w.Bad, BadEpisode: n, BadRule: w.badRule}
	if len(w.Bad) > 0 {
		d.sum.Acts = d.done
	}
	return d.sum
}

// act is one thing an actor does at its time. Agents live on the Awake clock, as
// their processes do; the person lives on the Boot clock.
type act struct {
	id uint64 // the same however much else is left out
	by *agent // nil: the person
	do func()
}

type day struct {
	*World
	seed           uint64
	script         *script
	keep           map[uint64]bool // of the script; nil keeps all
	done           []uint64
	spoils         bool
	agents, person queue[act]
	n              uint64
	now, children  uint64 // the act under way, and how many it planned
	all            []*agent
	last           event.Instant
	percent        float64
	mains          bool
	hot            bool // the last reading was above the threshold
	heatBy         *daemon.Core
	dropped        event.Instant // when the system last dropped locks
	lidMoved       event.Instant // when lid or displays last changed
	charged        time.Duration // when the charge was last told, on the Boot clock
	cause          Cause         // of the present sleep, if it began under work

	sum Days
}

func (d *day) plan(list *queue[act], by *agent, at time.Duration, do func()) {
	d.n++
	d.children++
	list.push(at, d.n, act{id: mix(d.now, d.children), by: by, do: do})
}

// between is a duration from lo to hi, short ones likelier.
func (d *day) between(lo, hi time.Duration) time.Duration {
	f := d.rng.Float64()
	return lo + time.Duration(f*f*float64(hi-lo))
}

// perform does one act with draws of its own, unless the script leaves it out.
// An agent whose act is left out has given up.
func (d *day) perform(a act) {
	if d.keep != nil && !d.keep[a.id] {
		if a.by != nil {
			a.by.busy = false
		}
		return
	}
	d.done = append(d.done, a.id)
	d.now, d.children = a.id, 0
	d.src.Seed(d.seed, a.id)
	d.faults = d.spoils && !d.script.isCalm(a.id)
	a.do()
}

func (d *day) run() {
	start := d.laptop.Now()
	end := start.Boot + 24*time.Hour
	d.moved, d.stepped = d.account, func(Seen) { d.wantHeat() }
	d.laptop.Subscribe(d.told)
	d.percent, d.mains = 40+60*d.rng.Float64(), d.chance(2)
	d.power()
	for i := range 1 + d.rng.IntN(4) {
		d.newAgent(i)
	}
	d.personDay(start.Boot)
	power := start.Boot
	for d.laptop.Now().Boot < end && len(d.Bad) == 0 {
		now := d.laptop.Now()
		wait := min(end, power) - now.Boot
		if len(d.person) > 0 {
			wait = min(wait, d.person[0].at-now.Boot)
		}
		if !d.laptop.Asleep() && len(d.agents) > 0 {
			wait = min(wait, d.agents[0].at-now.Awake)
		}
		d.pass(max(wait, 0))
		d.account()
		now = d.laptop.Now()
		switch {
		case power <= now.Boot:
			d.power()
			power += powerPace
		case len(d.person) > 0 && d.person[0].at <= now.Boot:
			d.perform(d.person.pop())
		case !d.laptop.Asleep() && len(d.agents) > 0 && d.agents[0].at <= now.Awake:
			d.perform(d.agents.pop())
		}
	}
	d.moved = nil
	for _, a := range d.all {
		a.busy = false
	}
	if len(d.Bad) == 0 {
		d.drain()
	}
}

// powerPace is how often the charge is told.
const powerPace = 2 * time.Minute

// wantHeat reads the sensors as the runtime does: at once when heat begins to
// matter, then every HeatPoll.
func (d *day) wantHeat() {
	if d.heatBy != d.core && d.core.Awake().WantsHeat() {
		d.heatBy = d.core
		d.soonDo(0, d.readHeat)
	}
}

func (d *day) readHeat() {
	if d.core == nil || !d.core.Awake().WantsHeat() {
		d.heatBy = nil
		return
	}
	in := d.grip.Heat(context.Background(), "average")
	d.hot = !in.Unreadable && in.Celsius >= d.cfg.Awake.EmergencyCelsius
	d.feed("heat", daemon.MachineInput(in))
	if d.core == d.heatBy {
		d.soonDo(awake.HeatPoll, d.readHeat)
	}
}

func (d *day) working() bool {
	return slices.ContainsFunc(d.all, func(a *agent) bool { return a.busy })
}

// account adds up what the last stretch was worth. It is called before every
// step, so that nothing changed within the stretch.
func (d *day) account() {
	now := d.laptop.Now()
	awakeFor, bootFor := now.Awake-d.last.Awake, now.Boot-d.last.Boot
	if bootFor == 0 {
		return
	}
	d.last = now
	locked := d.laptop.Locks(awake.HoldIdle) > 0
	switch {
	case d.working():
		d.sum.Working += awakeFor
		if slept := bootFor - awakeFor; slept > 0 {
			d.sum.Asleep[d.cause] += slept
		}
		if locked {
			d.sum.Held += awakeFor
		} else if awakeFor > 0 {
			d.sum.Bare[d.bareCause()] += awakeFor
		}
	case locked:
		d.sum.Idled += awakeFor
	}
	// The battery follows the Boot clock; a sleeping machine drains slowly.
	hours, slept := awakeFor.Hours(), (bootFor - awakeFor).Hours()
	if d.mains {
		d.percent = min(100, d.percent+40*(hours+slept))
	} else {
		d.percent = max(3, d.percent-12*hours-0.5*slept)
	}
}

// unheard reports whether every agent at work lost its last word in a crash, so
// that the runtime cannot know.
func (d *day) unheard() bool {
	return !slices.ContainsFunc(d.all, func(a *agent) bool { return a.busy && !d.lostWord[a.key] })
}

// deep reports whether the battery forbids work with nobody there, read from the
// laptop itself.
func (d *day) deep() bool {
	b, err := d.machine.Battery(context.Background())
	if d.laptop.Now().Boot-d.charged <= tellLag {
		b = d.core.Awake().Battery // the news is on its way
	}
	return err == nil && b.Known && b.OnBattery && b.Percent < d.cfg.Awake.FloorPercent+awake.FloorHysteresis
}

// why is what the state of the runtime and the system says about a missing lock;
// empty if nothing does.
func (d *day) why(h awake.Hold) Cause {
	now := d.laptop.Now()
	since := func(t event.Instant) time.Duration { return now.Awake - t.Awake } // nothing is done asleep
	switch {
	case d.core == nil && d.unheard():
		return ByCrash
	case d.core == nil:
		return ""
	case !d.crashed.IsZero() && since(d.crashed) <= 3*time.Second, d.unheard():
		return ByCrash
	case !d.dropped.IsZero() && since(d.dropped) <= time.Second:
		return ByService
	}
	a := d.core.Awake()
	for i := range a.Holds {
		switch s := &a.Holds[i]; {
		case s.Hold != h || s.Held != 0 || !s.Wanted:
		case s.Why != "":
			return ByRefusal
		case s.Asking != 0:
			return ByAsking
		}
	}
	return ""
}

// bareCause says why the machine is awake, an agent works, and no lock stands.
func (d *day) bareCause() Cause {
	if c := d.why(awake.HoldIdle); c != "" {
		return c
	}
	a := d.core.Awake()
	switch {
	case a.Blocked() == "heat":
		return ByHeat
	case a.Blocked() != "" && d.deep():
		return ByBattery
	case a.Holding > 0 && !a.Protected():
		d.violate("an agent works and the runtime protects nothing, blocked %q", a.Blocked())
	case a.Holding == 0:
		d.violate("an agent works and no session holds the machine")
	default:
		d.violate("an agent works and no lock stands")
	}
	return Unexplained
}

// told hears of sleeps in the moment they begin.
func (d *day) told(f awake.Fact) {
	if f.Kind == awake.FactLid || f.Kind == awake.FactDisplays {
		d.lidMoved = d.laptop.Now()
	}
	if f.Kind != awake.FactSleeping || !d.working() {
		return
	}
	d.account()
	d.cause = d.sleepCause()
	d.sum.Under[d.cause]++
	d.printf("asleep under work: %s", d.cause)
}

// sleepCause says why the machine went to sleep under work.
func (d *day) sleepCause() Cause {
	sleeps := d.laptop.Sleeps()
	s := sleeps[len(sleeps)-1]
	if s.By == "person" {
		return ByPerson
	}
	away := s.Lid == awake.LidClosed && s.Displays == 0
	if d.core != nil && s.At.Awake-d.lidMoved.Awake <= tellLag { // the news is on its way
		away = d.core.Awake().Lid == awake.LidClosed && d.core.Awake().Displays == 0
	}
	if d.asked != "" { // the runtime's own decision, of the step under way
		switch {
		case d.asked == awake.EmergencyHibernation && away && d.hot,
			d.asked == awake.BatteryFloor && away && d.core.Awake().HeatLatch:
			return ByHeat
		case d.asked == awake.BatteryFloor && away && d.deep():
			return ByBattery
		case d.unheard():
			return ByCrash
		}
		d.violate("the runtime suspends (%s) under an agent's work: invariant 2", d.asked)
		return Unexplained
	}
	if c := d.why(awake.HoldLid); c != "" {
		return c
	}
	if d.core != nil {
		switch why := d.core.Awake().Blocked(); {
		case why == "heat":
			return ByHeat
		case why != "" && d.deep():
			return ByBattery
		}
	}
	d.violate("the lid puts the machine to sleep under an agent's work")
	return Unexplained
}

// tellLag is how long what happens to the laptop takes to reach the runtime.
const tellLag = 200 * time.Millisecond

func (d *day) power() {
	d.charged = d.laptop.Now().Boot
	d.laptop.SetBattery(awake.Battery{Known: true, OnBattery: !d.mains, Percent: float64(int(d.percent))})
}

// personDay: arrives, works at the desk, closes the lid for meetings and the way
// home, leaves an agent running in the bag, comes back in the evening.
func (d *day) personDay(t time.Duration) {
	at := func(after time.Duration, what string, do func()) {
		d.plan(&d.person, nil, t+after, func() {
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
	if d.chance(3) {
		nap := d.between(time.Hour, 20*time.Hour)
		at(nap, "the person suspends the machine", func() { d.laptop.Sleep() })
		at(nap+d.between(time.Minute, time.Hour), "a key is pressed", func() { d.laptop.Wake() })
	}
	if !d.faults {
		return
	}
	for range d.rng.IntN(4) {
		at(d.between(0, 24*time.Hour), "the service restarts", func() {
			d.dropped = d.laptop.Now()
			d.laptop.RestartService()
			d.loseLocks()
		})
	}
	for range d.rng.IntN(2) {
		h := pick(d.rng, awake.Holds()...)
		from := d.between(0, 20*time.Hour)
		at(from, "refused from now on: "+string(h), func() {
			d.deny[h] = true
			d.laptop.Deny(h, "org.freedesktop.login1.inhibit", "not authorised")
		})
		at(from+d.between(time.Minute, 2*time.Hour), "granted again: "+string(h), func() {
			d.laptop.Allow(h)
			delete(d.deny, h)
			delete(d.oracle.missing, h)
		})
	}
	for range d.rng.IntN(3) {
		at(d.between(0, 24*time.Hour), "the wall clock jumps", func() {
			d.laptop.SetWall(d.laptop.Now().Wall.Add(d.upTo(48*time.Hour) - 24*time.Hour))
		})
	}
	if d.chance(4) {
		from := d.between(0, 20*time.Hour)
		at(from, "another user's program forbids to sleep", func() { d.laptop.Foreign("another user", awake.HoldSleep) })
		at(from+d.between(time.Minute, time.Hour), "and lets go", func() { d.laptop.Foreign("another user", "") })
	}
	if d.chance(4) {
		from := d.between(0, 20*time.Hour)
		at(from, "the sensors cannot be read", func() { d.laptop.SetHeat(0, errSpoilt) })
		at(from+d.between(time.Minute, time.Hour), "the sensors read again", func() { d.laptop.SetHeat(50, nil) })
	}
}

// agent is one client with one session after the other.
type agent struct {
	d      *day
	busy   bool // at work, by its own account
	key    event.SessionKey
	proc   *event.Process
	offset int64
	n      int
}

func (d *day) newAgent(i int) {
	p := pick(d.rng, event.Claude, event.Claude, event.Codex, event.Copilot, event.OpenCode)
	a := &agent{d: d, key: event.SessionKey{Provider: p, ID: event.SessionID(fmt.Sprint("s", i))},
		proc: &event.Process{PID: 1000 + i, Start: uint64(i + 1), Shared: p == event.Codex && d.chance(2)}}
	d.all = append(d.all, a)
	a.soon(d.between(0, time.Hour), a.start)
}

// soon plans something that the agent does.
func (a *agent) soon(after time.Duration, do func()) {
	a.d.plan(&a.d.agents, a, a.d.laptop.Now().Awake+after, do)
}

func (a *agent) say(kind event.SignalKind, with func(*event.Signal)) {
	sig := &a.d.said
	*sig = event.Signal{Kind: kind, Session: a.key, Source: "hook " + string(kind), Process: a.proc}
	if with != nil {
		with(sig)
	}
	a.offset += int64(100 + a.d.rng.IntN(4000))
	a.d.signal(*sig)
}

// rests ends the agent's work. It comes before the word of it, since what that
// sets off may put the machine to sleep at once, and then not under work.
func (a *agent) rests() {
	a.d.account()
	a.busy = false
}

func (a *agent) start() {
	a.say(event.Opened, nil)
	a.soon(a.d.between(5*time.Second, time.Minute), a.prompt)
}

func (a *agent) prompt() {
	a.busy = true
	a.say(event.Began, func(s *event.Signal) { s.Prompt = "do the next thing" })
	a.soon(a.d.between(time.Second, 30*time.Second), func() { a.work(1 + a.d.rng.IntN(40)) })
}

// work makes tool calls until the turn is over.
func (a *agent) work(left int) {
	d := a.d
	if left == 0 {
		a.finish()
		return
	}
	a.n++
	id := "u" + strconv.Itoa(a.n)
	a.say(event.ToolBegan, func(s *event.Signal) { s.ToolUse, s.Tool = id, "Bash" })
	took, silent := d.between(100*time.Millisecond, 2*time.Minute), d.chance(60)
	if silent { // a long silent build
		took = d.between(10*time.Minute, 50*time.Minute)
	}
	done := func() {
		a.say(event.ToolEnded, func(s *event.Signal) { s.ToolUse = id })
		a.soon(d.between(500*time.Millisecond, 40*time.Second), func() { a.work(left - 1) })
	}
	run := func(took time.Duration, then func()) { // where the tool is silent, its processor time shows
		for m := time.Minute; silent && m < took; m += time.Minute {
			a.soon(m, func() {
				d.feed("busy", daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{a.key}}))
			})
		}
		a.soon(took, then)
	}
	if d.chance(25) { // asks first
		a.rests()
		a.say(event.Waiting, func(s *event.Signal) { s.Reason, s.Tool = "permission_prompt", "Bash" })
		a.soon(d.between(2*time.Second, 90*time.Minute), func() {
			a.busy = true
			a.say(event.Resumed, nil)
			run(took, done)
		})
		return
	}
	if d.chance(80) { // Esc: no event, only the marker
		run(took/2, func() {
			a.rests()
			a.say(event.Interrupted, func(s *event.Signal) { s.Source, s.Offset = "transcript marker", a.offset })
			a.soon(d.between(5*time.Second, time.Hour), a.prompt)
		})
		return
	}
	if d.chance(300) { // the client crashes
		run(took/2, func() {
			a.rests()
			if !a.proc.Shared {
				d.feed("exited", daemon.SessionInput(session.Input{Kind: session.InExited, Process: a.proc}))
			}
			next := *a.proc
			next.Start += 1000
			a.proc = &next
			a.soon(d.between(time.Minute, 2*time.Hour), a.start)
		})
		return
	}
	run(took, done)
}

func (a *agent) finish() {
	d := a.d
	if a.key.Provider == event.Claude && d.chance(5) { // something runs on
		shell := event.Task{ID: fmt.Sprint("b", a.n), Type: event.TaskShell, Description: "the test suite"}
		a.say(event.Stopped, func(s *event.Signal) { s.Tasks = []event.Task{shell} })
		a.soon(d.between(time.Minute, 10*time.Minute), func() {
			a.say(event.TaskEnded, func(s *event.Signal) { s.Source, s.Task = "hook notification", &shell })
			a.over()
		})
		return
	}
	a.over()
}

func (a *agent) over() {
	d := a.d
	a.rests()
	a.say(event.Stopped, func(s *event.Signal) {
		if a.key.Provider == event.Claude {
			s.Tasks = []event.Task{}
		}
	})
	switch {
	case d.chance(8):
		old := a.key
		a.say(event.Closed, func(s *event.Signal) { s.Continues, s.Reason = true, "clear" })
		a.key.ID = event.SessionID(fmt.Sprint(old.ID, "+"))
		a.soon(time.Second, a.start)
	case d.chance(10):
		a.say(event.Closed, func(s *event.Signal) { s.Reason = "prompt_input_exit" })
		a.soon(d.between(10*time.Minute, 5*time.Hour), a.start)
	default:
		a.soon(d.between(10*time.Second, 3*time.Hour), a.prompt)
	}
}
