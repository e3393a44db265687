package simulate

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// Result is what a run came to.
type Result struct {
	Steps, Effects, Crashes, Exits, Sleeps, Episodes int
	Virtual                                          time.Duration // Boot clock
	Bad                                              []string
	BadEpisode                                       uint64   // the episode that went wrong, for Episode
	BadRule                                          string   // which check the first of Bad failed, without its numbers
	Acts                                             []uint64 // what was done in the last episode, by number
}

// Run makes at least steps steps of chaos, prints each, ends with a verdict line
// and returns an error if an invariant was violated; then the failing episode is
// told again as short as it can be. The same seed prints the same bytes.
func Run(seed uint64, steps int, w io.Writer) error {
	res := Chaos(seed, steps, w, Broken{})
	if w != nil {
		fmt.Fprintf(w, "seed %d: %d steps, %d effects, %d crashes, %d departures, %d sleeps in %s of virtual time\n",
			seed, res.Steps, res.Effects, res.Crashes, res.Exits, res.Sleeps, res.Virtual.Round(time.Second))
		if len(res.Bad) == 0 {
			fmt.Fprintln(w, "all invariants held")
		}
		for _, b := range res.Bad {
			fmt.Fprintln(w, "violated: "+b)
		}
		if len(res.Bad) > 0 {
			fmt.Fprintf(w, "\nthe shortest story of it:\n%s", ChaosStory(seed, res, Broken{}))
		}
	}
	if len(res.Bad) > 0 {
		return errors.New("invariant violated: " + res.Bad[0])
	}
	return nil
}

// Chaos runs episodes of anything in any order, each on its own laptop with its
// own settings, until steps are made or an invariant is violated. They share
// nothing and run on all processors unless out prints them.
func Chaos(seed uint64, steps int, out io.Writer, broken Broken) Result {
	var res Result
	play := func(n uint64) Result { return Episode(seed, n, episodeSteps, out, broken) }
	inOrder(out != nil, play, res.add, func() bool { return len(res.Bad) == 0 && steps-res.Steps > episodeSteps })
	for len(res.Bad) == 0 && res.Steps < steps { // as much of one more as is missing
		res.add(Episode(seed, uint64(res.Episodes), steps-res.Steps, out, broken))
	}
	return res
}

// Episode runs episode n of a seed alone: what a report of Chaos names replays.
func Episode(seed, n uint64, steps int, out io.Writer, broken Broken) Result {
	return playEpisode(seed, n, min(steps, episodeSteps), out, broken, nil)
}

// ChaosStory tells the failing episode of a Chaos run again with as few acts as
// still fail in the same way, one line an event.
func ChaosStory(seed uint64, res Result, broken Broken) string {
	return shrink(res, func(p *script, out io.Writer) Result {
		return playEpisode(seed, res.BadEpisode, 2*episodeSteps, out, broken, p)
	})
}

// playEpisode does what the seed says, or the part of it that p keeps. Every act
// draws from a source of its own, so that one left out changes no other.
func playEpisode(seed, n uint64, steps int, out io.Writer, broken Broken, p *script) Result {
	src := rand.NewPCG(seed, n)
	rng := rand.New(src)
	cfg, opt, faults := randomConfig(rng), randomOptions(rng), rng.IntN(4) != 0
	w := newWorld(src, out, cfg, opt, broken, faults)
	w.keepRec = n%64 == 0
	if out != nil {
		fmt.Fprintf(out, "episode %d: %+v %+v\n", n, w.cfg, w.opt)
	}
	begin := w.laptop.Now()
	c := &chaos{World: w}
	acts := c.episode(seed, n, steps, p)
	res := Result{Steps: w.steps, Effects: w.effects, Crashes: w.crashes, Exits: w.exits, Sleeps: len(w.laptop.Sleeps()),
		Virtual: w.laptop.Now().Boot - begin.Boot, Episodes: 1, Bad: w.Bad, BadEpisode: n, BadRule: w.badRule}
	if len(w.Bad) > 0 {
		res.Acts = acts
	}
	return res
}

// episodeSteps is how long one episode is: long enough for its sessions to meet
// every state, short enough that many settings are tried and a failure is read.
const episodeSteps = 600

func (r *Result) add(o Result) {
	r.Steps += o.Steps
	r.Effects += o.Effects
	r.Crashes += o.Crashes
	r.Exits += o.Exits
	r.Sleeps += o.Sleeps
	r.Virtual += o.Virtual
	r.Episodes += o.Episodes
	r.Bad, r.BadEpisode, r.BadRule, r.Acts = o.Bad, o.BadEpisode, o.BadRule, o.Acts
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func randomConfig(rng *rand.Rand) daemon.CoreConfig {
	hooks := rng.IntN(3) != 0
	return daemon.CoreConfig{
		Session: session.Config{
			Timeout:         pick(rng, 12*time.Minute, 12*time.Minute, time.Minute, 0),
			Grace:           pick(rng, 0, 0, 180*time.Second),
			MaxTool:         pick(rng, 240*time.Minute, 20*time.Minute, 0),
			MaxBackground:   pick(rng, 120*time.Minute, 10*time.Minute, 0),
			IgnoreProcesses: rng.IntN(10) == 0,
		},
		Awake: awake.Config{
			PreventIdle: rng.IntN(8) != 0, Strict: rng.IntN(3) == 0, PreventDisplay: rng.IntN(3) == 0,
			ChangeLid: rng.IntN(6) != 0, SuspendMode: pick(rng, awake.Sleep, awake.Sleep, awake.Hibernate, awake.NoSuspend),
			SuspendDelay: pick(rng, 10*time.Second, 0, time.Minute), Sound: rng.IntN(2) == 0,
			PreSuspendWebhook: hooks, PostSessionEndWebhook: hooks,
			ExitDelay:            pick(rng, 10*time.Minute, 10*time.Minute, 0, -1),
			EmergencyHibernation: rng.IntN(4) != 0, EmergencyCelsius: 93,
			FloorPercent: pick(rng, 10.0, 20.0, 0), ProtectOnBattery: rng.IntN(5) != 0,
			Reachable: pick(rng, 0, 0, 30*time.Second, 10*time.Minute), ReachableOnBattery: rng.IntN(3) == 0,
			CountRemote: rng.IntN(3) == 0, Offline: pick(rng, 0, time.Minute, 10*time.Minute), OfflineRelease: rng.IntN(2) == 0,
		},
	}
}

func randomOptions(rng *rand.Rand) fakelaptop.Options {
	return fakelaptop.Options{RefuseOwnBlock: rng.IntN(2) == 0, LastingLid: rng.IntN(3) == 0, NoHibernate: rng.IntN(5) == 0}
}

// chaos throws everything at a World.
type chaos struct {
	*World
	last []event.Signal // recent signals, to repeat and reorder
}

var (
	chaosKeys = func() []event.SessionKey {
		var keys []event.SessionKey
		for _, p := range []event.Provider{event.Claude, event.Codex, event.Copilot} {
			keys = append(keys, event.SessionKey{Provider: p, ID: "a"}, event.SessionKey{Provider: p, ID: "b"})
		}
		return append(keys, event.SessionKey{Provider: event.MCP, ID: "a", Name: "one"}, event.SessionKey{Provider: event.MCP, ID: "a", Name: "two"})
	}()
	chaosKinds = []event.SignalKind{
		event.Began, event.Began, event.Began, event.Active, event.Active, event.ToolBegan, event.ToolBegan,
		event.ToolEnded, event.ToolEnded, event.Waiting, event.Resumed, event.TaskBegan, event.TaskEnded,
		event.Stopped, event.Stopped, event.Stopped, event.Opened, event.Interrupted, event.Failed, event.Closed, event.Removed,
	}
	chaosTasks = []event.Task{
		{ID: "t1", Type: event.TaskShell, Description: "build"}, {ID: "t2", Type: event.TaskMonitor, Description: "tail the log"},
		{ID: "t3", Type: event.TaskSubagent}, {ID: "t4", Type: event.TaskTeammate, Idle: true}, {ID: "t5", Type: event.TaskTodo},
		{ID: "t6", Type: event.TaskCron},
	}
)

// episode acts until steps are made, or does the acts of p, then ends everything.
// It returns the numbers of the acts it did.
func (c *chaos) episode(seed, n uint64, steps int, p *script) (acts []uint64) {
	// A few keys an episode, so that they meet.
	keys := make([]event.SessionKey, 1+c.rng.IntN(5))
	for i := range keys {
		keys[i] = pick(c.rng, chaosKeys...)
	}
	faults := c.faults
	one := func(i uint64) {
		acts = append(acts, i)
		c.src.Seed(mix(seed, n), i)
		c.faults = faults && !p.isCalm(i)
		if c.laptop.Asleep() {
			c.asleep()
		} else {
			c.act(keys)
		}
	}
	if p != nil {
		for _, i := range p.acts {
			if len(c.Bad) == 0 {
				one(i)
			}
		}
	} else {
		for i := uint64(0); c.steps < steps && len(c.Bad) == 0; i++ {
			one(i)
		}
	}
	if len(c.Bad) == 0 {
		c.drain()
	}
	c.replay()
	return acts
}

func (c *chaos) act(keys []event.SessionKey) {
	switch r := c.rng.IntN(100); {
	case r < 48:
		c.oneSignal(pick(c.rng, keys...))
	case r < 72:
		c.pass(c.someTime())
	case r < 82:
		c.moveMachine()
	case r < 84:
		c.afar()
	case r < 88:
		c.heat()
	case r < 91:
		keys := []event.SessionKey{pick(c.rng, keys...)}
		c.feed("busy", daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: keys}))
	case r < 93:
		c.processGone(keys)
	case r < 94:
		c.monitorForHours(pick(c.rng, keys...))
	case r < 95:
		c.busyForHours(pick(c.rng, keys...))
	case r < 96:
		c.carryOn(pick(c.rng, keys...))
	case r < 97 && c.faults:
		c.breakMachine()
	case r < 98:
		c.laptop.SetWall(c.laptop.Now().Wall.Add(c.upTo(48*time.Hour) - 24*time.Hour))
	case r < 99 && c.core != nil:
		c.changeConfig()
	case c.chance(3):
		c.handover()
	case c.laptop.Sleep():
		c.printf("the person suspends the machine")
	}
}

func (c *chaos) someTime() time.Duration {
	return pick(c.rng, c.upTo(100*time.Millisecond), c.upTo(3*time.Second), c.upTo(12*time.Second), c.upTo(40*time.Second),
		c.upTo(3*time.Minute), c.upTo(15*time.Minute), c.upTo(15*time.Minute), c.upTo(3*time.Hour))
}

// asleep lets a sleeping machine sleep, wake, or be opened.
func (c *chaos) asleep() {
	c.laptop.Advance(c.someTime())
	switch c.rng.IntN(3) {
	case 0:
		c.printf("the machine wakes")
		c.laptop.Wake()
	case 1:
		c.printf("the lid opens")
		c.laptop.SetLid(awake.LidOpen)
	}
}

func (c *chaos) process(k event.SessionKey) *event.Process {
	switch c.rng.IntN(6) {
	case 0, 1, 2:
		return nil
	case 3:
		return &event.Process{PID: 900, Start: 9, Shared: true}
	}
	return &event.Process{PID: 100 + int(k.Provider[0]), Start: 7 + uint64(c.rng.IntN(2))}
}

func (c *chaos) oneSignal(k event.SessionKey) {
	if len(c.last) > 0 && c.chance(12) {
		sig := pick(c.rng, c.last...)
		c.signal(sig) // a duplicate, or one that comes late
		return
	}
	sig := event.Signal{Kind: pick(c.rng, chaosKinds...), Session: k, Source: "hook", Process: c.process(k)}
	if c.chance(6) {
		sig.Source, sig.Offset = "transcript", int64(c.rng.IntN(5000))
	}
	switch sig.Kind {
	case event.ToolBegan, event.ToolEnded:
		sig.ToolUse = pick(c.rng, "u1", "u2")
		if c.chance(5) {
			sig.AgentID = "t3"
		}
	case event.TaskBegan, event.TaskEnded:
		t := pick(c.rng, chaosTasks...)
		sig.Task = &t
		if sig.Kind == event.TaskEnded && c.chance(6) {
			sig.Tasks = c.someTasks()
		}
	case event.Stopped:
		if !c.chance(3) {
			sig.Tasks = c.someTasks()
		}
	case event.Active, event.Began, event.Failed:
		if c.chance(8) {
			sig.AgentID = "t3"
		}
	case event.Closed:
		sig.Continues = c.chance(2)
	case event.Waiting:
		sig.Reason = "permission_prompt"
	}
	if len(c.last) < 8 {
		c.last = append(c.last, sig)
	} else {
		c.last[c.rng.IntN(8)] = sig
	}
	c.signal(sig)
}

func (c *chaos) someTasks() []event.Task {
	tasks := []event.Task{}
	for _, t := range chaosTasks {
		if c.chance(6) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

func (c *chaos) moveMachine() {
	switch c.rng.IntN(9) {
	case 0, 1, 2:
		c.printf("the lid closes")
		c.laptop.SetLid(awake.LidClosed)
	case 3, 4:
		c.printf("the lid opens")
		c.laptop.SetLid(awake.LidOpen)
	case 5:
		if c.chance(4) {
			c.laptop.SetLid(awake.LidUnknown)
		} else {
			c.laptop.SetDisplays(c.rng.IntN(3))
		}
	case 6:
		c.laptop.SetDisplays(0)
	default:
		c.laptop.SetBattery(awake.Battery{Known: !c.chance(10), OnBattery: c.chance(2), Percent: float64(pick(c.rng, 5, 9, 11, 12, 19, 21, 23, 60, 100))})
	}
}

func (c *chaos) heat() {
	in := awake.Input{Kind: awake.InHeat, Celsius: float64(pick(c.rng, 50, 89, 91, 93, 97))}
	if c.chance(10) {
		in = awake.Input{Kind: awake.InHeat, Unreadable: true}
	}
	c.feed("heat", daemon.MachineInput(in))
}

// afar tells what is seen of the network and of logins over it.
func (c *chaos) afar() {
	if c.chance(2) {
		c.feed("network", daemon.MachineInput(awake.Input{Kind: awake.InNetwork, Network: pick(c.rng, awake.NetworkDown, awake.NetworkDown, awake.NetworkUp, awake.NetworkUnknown)}))
		return
	}
	c.feed("logins", daemon.MachineInput(awake.Input{Kind: awake.InRemote, Remote: pick(c.rng, 0, 0, 1, 2), Who: "somebody"}))
}

func (c *chaos) processGone(keys []event.SessionKey) {
	k := pick(c.rng, keys...)
	switch c.rng.IntN(4) {
	case 0:
		c.feed("orphan", daemon.SessionInput(session.Input{Kind: session.InOrphans, Keys: []event.SessionKey{k}}))
	case 1:
		if c.chance(4) {
			c.feed("remove all", daemon.SessionInput(session.Input{Kind: session.InRemoveAll}))
		}
	default:
		p := c.process(k)
		if p != nil {
			c.feed("exited", daemon.SessionInput(session.Input{Kind: session.InExited, Process: p}))
		}
	}
}

// monitorForHours: a monitor's lines start turns that end in a Stop, all night.
func (c *chaos) monitorForHours(k event.SessionKey) {
	c.signal(event.Signal{Kind: event.Began, Session: k, Source: "hook"})
	for range 30 {
		if c.core == nil || len(c.Bad) > 0 || c.laptop.Asleep() {
			return
		}
		c.signal(event.Signal{Kind: event.Stopped, Session: k, Source: "hook", Tasks: []event.Task{chaosTasks[1]}})
		c.pass(50*time.Second + c.upTo(5*time.Minute))
		if c.chance(2) {
			c.signal(event.Signal{Kind: event.TaskEnded, Session: k, Source: "notification", Task: &event.Task{ID: "t9", Type: event.TaskShell}})
		}
	}
}

// busyForHours: one tool call, nothing heard, CPU burnt.
func (c *chaos) busyForHours(k event.SessionKey) {
	if !c.chance(3) {
		c.signal(event.Signal{Kind: event.ToolBegan, Session: k, Source: "hook", ToolUse: "u1", Tool: "Bash"})
	} else {
		c.signal(event.Signal{Kind: event.Began, Session: k, Source: "hook"})
	}
	for range 30 {
		if c.core == nil || len(c.Bad) > 0 || c.laptop.Asleep() {
			return
		}
		c.feed("busy", daemon.SessionInput(session.Input{Kind: session.InBusy, Keys: []event.SessionKey{k}}))
		c.pass(c.upTo(10 * time.Minute))
	}
}

// carryOn: a session goes on under a new id in the same process.
func (c *chaos) carryOn(k event.SessionKey) {
	p := &event.Process{PID: 500, Start: c.seq}
	c.signal(event.Signal{Kind: event.Began, Session: k, Source: "hook", Process: p})
	c.signal(event.Signal{Kind: event.Closed, Session: k, Source: "hook", Continues: true, Reason: "clear", Process: p})
	c.pass(c.upTo(12 * time.Second))
	next := event.SessionKey{Provider: k.Provider, ID: k.ID + "-next", Name: k.Name}
	c.signal(event.Signal{Kind: event.Opened, Session: next, Source: "hook", Process: p})
	if c.chance(2) {
		c.signal(event.Signal{Kind: event.Stopped, Session: next, Source: "hook", Tasks: []event.Task{}})
	}
	c.pass(c.upTo(12 * time.Second))
	if c.chance(2) {
		c.signal(event.Signal{Kind: event.Closed, Session: next, Source: "hook", Process: p})
		c.signal(event.Signal{Kind: event.ToolBegan, Session: next, Source: "hook", ToolUse: "u9"}) // a straggler
	}
}

func (c *chaos) breakMachine() {
	h := pick(c.rng, awake.Holds()...)
	switch c.rng.IntN(6) {
	case 0:
		c.printf("denied from now on: %s", h)
		c.laptop.Deny(h, "org.freedesktop.login1.inhibit-block", "not authorised")
		c.deny[h] = true
	case 1:
		c.allowAll()
	case 2:
		c.printf("the service restarts")
		c.laptop.RestartService()
	case 3:
		c.printf("the system loses %s", h)
		c.laptop.Lose(h)
	case 4:
		if c.chance(2) {
			c.laptop.Foreign("another user", awake.HoldSleep)
		} else {
			c.laptop.Foreign("another user", "")
		}
	case 5:
		if c.opt.LastingLid {
			c.printf("writes of the lid setting are lost from now on")
			c.laptop.LoseWrites(true)
			c.deny[awake.HoldLid] = true
		}
	}
	c.loseLocks()
}

func (c *World) allowAll() {
	for _, h := range awake.Holds() {
		c.laptop.Allow(h)
		delete(c.deny, h)
	}
	c.laptop.LoseWrites(false)
	clear(c.oracle.missing)
}

func (c *chaos) changeConfig() {
	next := randomConfig(c.rng)
	// Webhooks on or off halfway leave nothing to judge.
	next.Awake.PreSuspendWebhook, next.Awake.PostSessionEndWebhook = c.cfg.Awake.PreSuspendWebhook, c.cfg.Awake.PostSessionEndWebhook
	next.Session.IgnoreProcesses = c.cfg.Session.IgnoreProcesses
	c.cfg = next
	c.feed("settings", daemon.ConfigInput(next))
	if c.core != nil {
		c.feed("settings again", daemon.ConfigInput(next)) // a crash may have lost it
	}
}

// drain ends everything and lets time pass: the runtime must leave and the
// machine must be as it was found.
func (c *World) drain() {
	c.faults = false
	c.allowAll()
	c.laptop.Foreign("another user", "")
	c.laptop.SetLid(awake.LidOpen)
	c.laptop.Wake()
	if c.core != nil {
		c.feed("remove all", daemon.SessionInput(session.Input{Kind: session.InRemoveAll}))
	}
	if c.core != nil {
		c.feed("nobody is logged in", daemon.MachineInput(awake.Input{Kind: awake.InRemote}))
	}
	// A suspend that was called for a moment before the lid opened still comes.
	for range 3 {
		c.pass(time.Minute)
		c.laptop.Wake()
	}
	c.pass(30 * time.Minute)
	if len(c.Bad) > 0 {
		return
	}
	if c.core != nil && c.cfg.Awake.ExitDelay >= 0 {
		c.violate("half an hour after the end the runtime is still there: invariant 6")
	}
	for _, h := range awake.Holds() {
		if n := c.laptop.Locks(h); n != 0 {
			c.violate("%d locks of %s stand after the end: invariant 4", n, h)
		}
	}
	if got := c.laptop.LidSetting(); got != c.userLid {
		c.violate("the lid setting is %q after the end, it was %q: invariant 4", got, c.userLid)
	}
}

// replay runs the recorded inputs of the last runtime again, offline.
func (c *chaos) replay() {
	if !c.keepRec || c.start == nil || len(c.record) == 0 || c.broken != (Broken{}) {
		return
	}
	if _, _, wrong, err := daemon.Replay(c.start, c.cfg, c.record); err != nil {
		c.violate("replaying: %v", err)
	} else if len(wrong) > 0 {
		c.violate("replay decides otherwise at record %d: got %+v, want %+v", wrong[0].Index, wrong[0].Got, wrong[0].Want)
	}
}
