// Package simulate runs the decision core against a fake laptop under faults and
// checks the invariants of the sessions specification after every step. In go a
// seed and a number of steps, out come readable lines and a verdict; the same
// seed gives the same bytes. It never touches the machine it runs on.
//
// A World is one laptop, one runtime at a time, and the oracle: a second, much
// simpler reading of the rules that knows only what was fed to the core. Chaos
// feeds it anything in any order; Day feeds it people and agents as they behave.
package simulate

import (
	"bytes"
	"context"
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

// Broken switches rules off, to show that the oracle would notice.
type Broken struct {
	Session session.Rule
	Awake   awake.Rule
}

// item is something that will reach the runtime at a moment of the Awake clock.
type item struct {
	what string
	in   daemon.Input
	do   func() // instead of an input
}

// Seen is one step as an observer sees it, before its effects are carried out.
type Seen struct {
	In     daemon.Input
	Step   daemon.Step
	Core   *daemon.Core
	Laptop *fakelaptop.Laptop
}

// World is one simulated machine with its runtime. It is single-threaded.
type World struct {
	src    *rand.PCG  // seeded anew for every act, see chaos and day
	rng    *rand.Rand // draws from src
	out    io.Writer  // nil prints nothing
	broken Broken
	faults bool // spoil effects and crash; a day without faults is possible

	cfg     daemon.CoreConfig
	opt     fakelaptop.Options
	laptop  *fakelaptop.Laptop
	machine *fakelaptop.Machine
	grip    *daemon.Grip // the runtime's own code for effects that touch the machine
	core    *daemon.Core // nil: no runtime
	boot    int

	agenda  queue[item]
	seq     uint64
	factAt  time.Duration // facts are told in order
	deny    map[awake.Hold]bool
	oracle  *oracle
	steps   int
	effects int
	crashes int
	exits   int
	userLid string
	Bad     []string // violated invariants, first first
	badRule string   // which check the first one failed, without its numbers
	// crashOdds is how many steps there are to a crash, on average.
	crashOdds int
	told      map[uint64]bool // locks whose loss was told
	// keeper is the process that restores lasting values when the runtime dies.
	keeper bool
	// moved is called before every step, once time has passed.
	moved func()
	// stepped is called after every step; the core may be gone by then.
	stepped func(Seen)
	// What explains a sleep: when the runtime last died, the reason of a Suspend
	// in the step under way, and whose last word a crash took along.
	crashed  event.Instant
	asked    awake.Reason
	lostWord map[event.SessionKey]bool
	// said is the signal of the step under way and input what wraps it. Every
	// signal is told in the same place: nobody keeps one but the record.
	said    event.Signal
	input   session.Input
	record  []daemon.Record
	start   []byte // snapshot the record starts from
	keepRec bool
}

// newWorld builds a laptop and its first runtime.
func newWorld(src *rand.PCG, out io.Writer, cfg daemon.CoreConfig, opt fakelaptop.Options, broken Broken, faults bool) *World {
	w := &World{src: src, rng: rand.New(src), out: out, cfg: cfg, opt: opt, broken: broken, faults: faults,
		laptop: fakelaptop.New(opt), deny: map[awake.Hold]bool{}, userLid: "sleep", crashOdds: 400,
		lostWord: map[event.SessionKey]bool{}}
	if opt.LastingLid && w.chance(4) {
		w.userLid = pick(w.rng, "nothing", "hibernate", "ask")
		w.laptop.SetLidSetting(w.userLid)
	}
	w.oracle = newOracle(w)
	w.laptop.Subscribe(w.fact)
	w.startRuntime(nil)
	return w
}

func (w *World) printf(format string, args ...any) {
	if w.out == nil {
		return
	}
	now := w.laptop.Now()
	fmt.Fprintf(w.out, "%7d %12s ", w.steps, (now.Awake - time.Hour).Round(time.Millisecond))
	fmt.Fprintf(w.out, format, args...)
	fmt.Fprintln(w.out)
}

// violate records a broken invariant. Only the first few are kept.
func (w *World) violate(format string, args ...any) {
	text := fmt.Sprintf("step %d: ", w.steps) + fmt.Sprintf(format, args...)
	w.printf("VIOLATED %s", text)
	if len(w.Bad) == 0 {
		w.badRule = format
	}
	if len(w.Bad) < 5 {
		w.Bad = append(w.Bad, text)
	}
}

func (w *World) bootID() string { return fmt.Sprint("boot", w.boot) }

// startRuntime starts a runtime process, from a snapshot if there is one.
func (w *World) startRuntime(snapshot []byte) {
	w.machine = w.laptop.Machine()
	w.grip, w.told = daemon.NewGrip(w.machine), map[uint64]bool{}
	w.keeper = true
	w.agenda = nil
	w.factAt = 0
	if snapshot == nil {
		w.core = daemon.NewCore(w.cfg, w.bootID())
		w.oracle.fresh()
	} else {
		core, err := daemon.RestoreCore(snapshot, w.bootID(), daemon.AfterCrash, w.laptop.Now())
		if err != nil {
			w.violate("restoring: %v", err)
			core = daemon.NewCore(w.cfg, w.bootID())
			w.oracle.fresh()
		}
		w.core = core
		w.oracle.restored()
	}
	w.core.Sessions().Break(w.broken.Session)
	w.core.Awake().Break(w.broken.Awake)
	w.record, w.start = nil, nil
	if w.keepRec {
		w.start, _ = w.core.Snapshot()
	}
	w.readFacts()
}

// readFacts tells what Watch tells first.
func (w *World) readFacts() {
	ctx := context.Background()
	lid, _ := w.machine.Lid(ctx)
	n, _ := w.machine.Displays(ctx)
	b, _ := w.machine.Battery(ctx)
	w.fact(awake.Fact{Kind: awake.FactLid, Lid: lid})
	w.fact(awake.Fact{Kind: awake.FactDisplays, Displays: n})
	w.fact(awake.Fact{Kind: awake.FactBattery, Battery: b})
}

// fact queues what the laptop tells, late but in order, at times twice.
func (w *World) fact(f awake.Fact) {
	if w.core == nil {
		return
	}
	at := w.laptop.Now().Awake
	if w.faults {
		at += w.upTo(200 * time.Millisecond)
	}
	w.factAt = max(w.factAt, at)
	w.later(w.factAt, string(f.Kind), daemon.MachineInput(f.Input()))
	if w.faults && w.chance(50) {
		w.later(w.factAt, string(f.Kind)+" again", daemon.MachineInput(f.Input()))
	}
}

// soonDo has the runtime do something of its own accord, unless it dies before.
func (w *World) soonDo(after time.Duration, do func()) {
	w.seq++
	w.agenda.push(w.laptop.Now().Awake+after, w.seq, item{do: do})
}

func (w *World) later(at time.Duration, what string, in daemon.Input) {
	w.seq++
	w.agenda.push(at, w.seq, item{what: what, in: in})
}

// answer queues the result of an effect, late, at times twice, reordered by its
// delay.
func (w *World) answer(in awake.Input, latest time.Duration) {
	now := w.laptop.Now().Awake
	if !w.faults {
		w.later(now+latest/10, string(in.Kind), daemon.MachineInput(in))
		return
	}
	w.later(now+w.upTo(latest), string(in.Kind), daemon.MachineInput(in))
	if w.chance(40) {
		w.later(now+w.upTo(2*latest+time.Second), string(in.Kind)+" again", daemon.MachineInput(in))
	}
}

func (w *World) chance(oneIn int) bool { return w.rng.IntN(oneIn) == 0 }

func (w *World) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(w.rng.Int64N(int64(d)))
}

// feed is one step: the input is applied, the effects are carried out, the
// invariants are checked. A crash may lose the input, or any tail of effects.
func (w *World) feed(what string, in daemon.Input) {
	if w.core == nil {
		if in.Session == nil || in.Session.Kind != session.InSignal {
			return
		}
		w.printf("a request starts the runtime")
		w.startRuntime(nil)
	}
	if w.moved != nil {
		w.moved()
	}
	w.steps++
	now := w.laptop.Now()
	crash := w.faults && w.chance(w.crashOdds)
	if in.Session != nil && in.Session.Signal != nil {
		delete(w.lostWord, in.Session.Signal.Session)
	}
	if crash && w.chance(3) {
		// Dead before the snapshot was written: as if the input never came.
		snap, err := w.core.Snapshot()
		if err != nil {
			w.violate("snapshot: %v", err)
		}
		w.printf("CRASH, losing %s", what)
		if in.Session != nil && in.Session.Signal != nil {
			w.lostWord[in.Session.Signal.Session] = true
		}
		w.crash(snap)
		return
	}
	w.oracle.before(in)
	step := w.core.Apply(in, now)
	if w.keepRec {
		kept := in
		if in.Session == &w.input {
			kept = daemon.SignalInput(w.said)
		}
		w.record = append(w.record, daemon.Record{At: now, Input: kept, Effects: step.Effects})
	}
	if w.out != nil {
		w.show(what, in, step)
	}
	w.oracle.after(in, step)
	if w.stepped != nil {
		w.stepped(Seen{In: in, Step: step, Core: w.core, Laptop: w.laptop})
	}
	cut := len(step.Effects)
	var snap []byte
	if crash {
		var err error
		if snap, err = w.core.Snapshot(); err != nil {
			w.violate("snapshot: %v", err)
		}
		cut = w.rng.IntN(cut + 1)
	}
	w.asked = ""
	for i := range step.Effects {
		if step.Effects[i].Kind == awake.DoSuspend {
			w.asked = step.Effects[i].Reason
		}
	}
	defer func() { w.asked = "" }()
	for i := range step.Effects[:cut] {
		w.carryOut(step.Effects[i])
		if w.core == nil {
			return
		}
	}
	if crash {
		w.printf("CRASH after %d of %d effects", cut, len(step.Effects))
		w.oracle.lost(step.Effects[cut:])
		w.crash(snap)
	}
}

// crash kills the runtime, and sometimes its keeper or the whole machine with it.
func (w *World) crash(snapshot []byte) {
	w.crashes++
	w.crashed = w.laptop.Now()
	boots := w.chance(10)
	// A reboot takes the keeper along; alone it dies when somebody kills it too.
	w.keeper = w.keeper && !boots && !w.chance(5)
	w.machine.Kill()
	w.keep()
	w.laptop.Advance(w.upTo(2 * time.Second))
	if boots {
		w.boot++
		w.printf("the machine boots again")
	}
	w.startRuntime(snapshot)
}

// keep is what the keeper process does once the runtime is dead, by the code of
// the machine: whatever stood before the runtime stands again.
func (w *World) keep() {
	if !w.opt.LastingLid || w.laptop.Locks(awake.HoldLid) > 0 {
		return // or one that hands over still holds, and puts it back itself
	}
	if !w.keeper {
		w.printf("the keeper died too; the lid setting reads %q", w.laptop.LidSetting())
		return
	}
	if err := w.laptop.Machine().Restore(context.Background()); err != nil {
		w.violate("the keeper: %v", err)
	}
	if got := w.laptop.LidSetting(); got != w.userLid {
		w.violate("the runtime is dead, its keeper is done, and the lid setting is %q, not %q: invariant 4", got, w.userLid)
	}
}

// handover replaces the runtime by a newer one: the new one holds before the old
// one lets go.
func (w *World) handover() {
	// A runtime steps once before it serves anybody, so also before it can hand
	// over; a crash's unsent webhooks go out in that step.
	last := w.core
	w.feed("own step", daemon.Input{})
	if w.core == nil || w.core != last || w.core.Awake().ExitFinal {
		return
	}
	snap, err := w.core.Snapshot()
	if err != nil {
		w.violate("snapshot: %v", err)
		return
	}
	old, oldGrip := w.machine, w.grip
	core, err := daemon.RestoreCore(snap, w.bootID(), daemon.AfterHandover, w.laptop.Now())
	if err != nil {
		w.violate("hand-over: %v", err)
		return
	}
	w.printf("HANDOVER")
	w.machine, w.agenda, w.factAt = w.laptop.Machine(), nil, 0
	w.grip, w.told = daemon.NewGrip(w.machine), map[uint64]bool{}
	w.core = core
	core.Sessions().Break(w.broken.Session)
	core.Awake().Break(w.broken.Awake)
	w.record, w.start = nil, nil
	if w.keepRec {
		w.start, _ = core.Snapshot()
	}
	w.oracle.restored()
	w.readFacts()
	w.feed("first step", daemon.Input{})
	if err := oldGrip.Close(); err != nil {
		w.violate("the old runtime lets go: %v", err)
	}
	old.Kill()
}

// carryOut does what one effect asks, or spoils it.
func (w *World) carryOut(e awake.Effect) {
	w.effects++
	ctx := context.Background()
	switch e.Kind {
	case awake.DoAcquire, awake.DoRelease, awake.DoSuspend, awake.DoRestore:
		if e.Kind == awake.DoSuspend && w.faults && w.chance(60) {
			return // the call hangs and nothing sleeps
		}
		w.spoil(e)
		in, _ := w.grip.Do(ctx, e, "simulation")
		late := time.Second
		if in.Kind == awake.InTaken {
			if late = 300 * time.Millisecond; w.faults && w.chance(30) {
				late = 90 * time.Second
			}
		}
		w.answer(in, late)
	case awake.DoWebhook:
		if !w.faults || !w.chance(50) {
			w.answer(awake.Input{Kind: awake.InWebhookDone, ID: e.ID}, 5*time.Second)
		}
	case awake.DoSound:
		if !w.faults || !w.chance(50) {
			w.answer(awake.Input{Kind: awake.InSoundDone, ID: e.ID}, 3*time.Second)
		}
	case awake.DoCheck:
		if w.faults && w.chance(80) {
			return
		}
		answers, _ := w.grip.Check(ctx, e.ID)
		w.factAt = max(w.factAt, w.laptop.Now().Awake+w.upTo(100*time.Millisecond))
		for _, in := range answers {
			w.later(w.factAt, "read "+string(in.Kind), daemon.MachineInput(in))
		}
	case awake.DoExit:
		w.exits++
		w.oracle.exited(e)
		w.machine.Kill()
		w.keep()
		w.core, w.grip, w.agenda = nil, nil, nil
	}
}

var errSpoilt = errors.New("spoilt")

// spoil makes the machine turn an effect down now and then. A release that was
// turned down must leave the lock standing, so only one that stands is spoilt.
func (w *World) spoil(e awake.Effect) {
	if !w.faults {
		return
	}
	switch e.Kind {
	case awake.DoAcquire:
		if w.chance(60) {
			w.laptop.Fail(fakelaptop.OpAcquire, errSpoilt)
		}
	case awake.DoRelease:
		if w.grip.Lock(e.ID) != nil && w.chance(30) {
			w.laptop.Fail(fakelaptop.OpRelease, errSpoilt)
		}
	case awake.DoSuspend:
		if w.chance(12) {
			w.laptop.Fail(fakelaptop.OpSuspend, &awake.Refusal{What: string(e.Mode), Who: "spoilt", Why: "no"})
		}
	case awake.DoRestore:
		if w.chance(20) {
			w.laptop.Fail(fakelaptop.OpRestore, errSpoilt)
		}
	}
}

// loseLocks reports to the runtime which of its locks the laptop dropped.
func (w *World) loseLocks() {
	if w.core == nil {
		return
	}
	for _, id := range w.grip.Locks() {
		select {
		case <-w.grip.Lock(id).Lost():
			// Its holder lets go of a lost lock as the runtime does: only when the
			// Core asks; that the loss is told twice must not matter.
			if !w.told[id] {
				w.told[id] = true
				w.answer(awake.Input{Kind: awake.InLost, ID: id}, 200*time.Millisecond)
			}
		default:
		}
	}
}

// pass lets d of the Boot clock go by: deadlines tick and the agenda is
// delivered at its time, while the machine is awake.
func (w *World) pass(d time.Duration) {
	end := w.laptop.Now().Boot + d
	for len(w.Bad) == 0 {
		now := w.laptop.Now()
		left := end - now.Boot
		if w.laptop.Asleep() {
			if left > 0 {
				w.laptop.Advance(left)
			}
			return
		}
		wait := left
		due := false
		if w.core != nil {
			if next, ok := w.core.Next(now); ok && next <= wait {
				wait, due = next, true
			}
			if len(w.agenda) > 0 {
				if next := max(w.agenda[0].at-now.Awake, 0); next <= wait {
					wait, due = next, true
				}
			}
		}
		if wait < 0 || !due && wait == 0 {
			return
		}
		if wait > 0 {
			w.laptop.Advance(wait)
			if w.laptop.Asleep() {
				continue
			}
		}
		if !due {
			return
		}
		now = w.laptop.Now()
		if len(w.agenda) > 0 && w.agenda[0].at <= now.Awake {
			if it := w.agenda.pop(); it.do != nil {
				it.do()
			} else {
				w.feed(it.what, it.in)
			}
			continue
		}
		if w.faults && w.chance(20) {
			w.laptop.Advance(w.upTo(50 * time.Millisecond)) // a timer that comes late
			if w.laptop.Asleep() {
				continue
			}
		}
		if w.core != nil {
			before, core := w.laptop.Now(), w.core
			w.feed("tick", daemon.Input{})
			if w.core == core {
				if next, ok := w.core.Next(before); ok && next == 0 {
					w.violate("a passed deadline asks for another tick at once")
				}
			}
		}
	}
}

// show prints one step.
func (w *World) show(what string, in daemon.Input, step daemon.Step) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-28s", what)
	for i := range step.Changes {
		c := &step.Changes[i]
		fmt.Fprintf(&b, " | %s %s", c.Kind, c.Key)
		if c.Reason != "" {
			fmt.Fprintf(&b, " (%s)", c.Reason)
		}
	}
	for i := range step.Effects {
		e := &step.Effects[i]
		fmt.Fprintf(&b, " -> %s", e.Kind)
		switch {
		case e.Hold != "":
			fmt.Fprintf(&b, " %s #%d", e.Hold, e.ID)
		case e.Webhook != nil:
			fmt.Fprintf(&b, " %s %s", e.Webhook.Kind, e.Reason)
		case e.Mode != "":
			fmt.Fprintf(&b, " %s %s", e.Mode, e.Reason)
		case e.History != nil:
			fmt.Fprintf(&b, " %s %s", e.History.Reason, e.History.Result)
		case e.Text != "":
			fmt.Fprintf(&b, " %s", e.Text)
		}
	}
	if m := in.Machine; m != nil {
		switch m.Kind {
		case awake.InLid:
			fmt.Fprintf(&b, " [%s]", m.Lid)
		case awake.InDisplays:
			fmt.Fprintf(&b, " [%d]", m.Displays)
		case awake.InBattery:
			fmt.Fprintf(&b, " [%.0f%% battery %v]", m.Battery.Percent, m.Battery.OnBattery)
		case awake.InHeat:
			fmt.Fprintf(&b, " [%.0f °C]", m.Celsius)
		}
	}
	w.printf("%s", b.String())
}

// signal feeds one observation.
func (w *World) signal(sig event.Signal) {
	what := string(sig.Kind)
	if w.out != nil {
		what += " " + sig.Session.String()
		if sig.AgentID != "" {
			what += "/" + sig.AgentID
		}
	}
	w.said, w.input = sig, session.Input{Kind: session.InSignal, Signal: &w.said}
	w.feed(what, daemon.Input{Session: &w.input})
}
