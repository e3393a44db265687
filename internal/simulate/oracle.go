package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// The oracle shares no rule with the reducers. Of each session it says one of
// three things: it must hold the machine now, it must not, or "not said" where
// the rules depend on details it does not model. It hears only what the core
// hears, and reads the core's phase, lock and pending suspend, never its own
// sums of them.

// standing is what the oracle believes of a session.
type standing int

const (
	none     standing = iota // never worked, or forgotten
	turn                     // a turn runs: must hold
	pending                  // Stop with work in flight: must hold
	waiting                  // soft-locked: must not hold after the grace
	ended                    // must not hold from track.settled on
	carrying                 // closed to go on: holds until a successor or CarryOver
	gone                     // closed, removed, dead
	free                     // not said
)

type track struct {
	key      event.SessionKey
	x        *session.Session // what the core knows of it, nil: nothing; see oracle.look
	st       standing
	lastReal time.Duration // last input that counts as activity
	perhaps  time.Duration // last input that may have counted
	busy     time.Duration // last sign of life while something may have been in flight
	busySure time.Duration // the same while something surely was
	at       time.Duration // since when st stands
	settled  time.Duration // ended: from when on it must not hold; pending: not before
	weak     time.Duration // since when only weak work is left
	lockAt   time.Duration
	loose    bool // no lower bound for now
	deferred bool // waiting, carrying: the turn had stopped with work in flight
	lapsed   bool // waiting: it had run into a bound before, or may have
	doubtful bool // free: the core may take it for gone
	fuzzy    bool // tools are not known
	// fuzzyLedger: the ledger may hold more than is known
	fuzzyLedger bool
	echo        time.Duration // until when a turn's record may be that of the last prompt
	// weakFuzzy: weak may be earlier than known
	weakFuzzy bool
	tools     map[string]string
	ledger    map[string]event.Task
	proc      *event.Process
	live      bool // a Began change without its Ended
	existed   bool // the core knew it before the step
}

func (t *track) set(st standing, now time.Duration) {
	t.st, t.at = st, now
	if st == turn || st == pending {
		t.lastReal, t.loose, t.doubtful = now, false, false
	}
}

// age applies what time alone does. Timers come a little late, so that the moment
// a gone session is forgotten is known to a second only.
func (t *track) age(now time.Duration) {
	if t.st == carrying && now >= t.at+session.CarryOver {
		t.set(gone, t.at+session.CarryOver)
		t.forget()
	}
	if t.st == gone && now-t.at >= time.Minute {
		if now-t.at < time.Minute+time.Second {
			t.set(free, now)
			t.doubtful = true
		} else {
			t.set(none, now)
		}
	}
}

func (t *track) strong() bool {
	for _, k := range t.ledger {
		if !k.Idle && k.Type != event.TaskMonitor && k.Type != event.TaskCron {
			return true
		}
	}
	return false
}

func (t *track) inFlight() bool { return len(t.tools) > 0 || t.strong() }

func (t *track) forget() {
	clear(t.tools)
	clear(t.ledger)
	t.weak, t.busy, t.busySure, t.fuzzy, t.fuzzyLedger = 0, 0, 0, false, false
}

// owedEnd is a normal end and the webhooks it yielded.
type owedEnd struct {
	key      event.SessionKey
	at       time.Duration
	webhooks int
}

type oracle struct {
	w     *World
	all   []*track // in the order first seen
	known map[event.SessionKey]*track
	// latest is the track that was asked for last.
	latest *track
	// The registry that every track.x was looked up in, and its count then.
	looked  *session.State
	watched uint64

	// Facts as delivered.
	lid       awake.Lid
	displays  int
	bareAt    time.Duration
	seen      bool
	battery   awake.Battery
	floorDown bool
	network   awake.Network
	offline   time.Duration // since when it is known to be gone, with work and nobody there
	cutOff    bool          // for so long that it counts
	remote    int           // logins from afar
	reach     time.Duration // until when the machine stays reachable after the work

	ends      []*owedEnd
	process   int            // which process of the runtime this is
	told      map[uint64]int // the process that sent a webhook last
	lostPosts map[uint64]bool
	busyBoot  time.Duration // last moment on the Boot clock that something was under way
	busyNow   bool
	sleeps    int // sleeps of the log that are written down
	missing   map[awake.Hold]time.Duration
	asked     int  // Suspend effects of the present pending
	silent    bool // the present pending came from a cancel path
	granted   map[uint64]awake.Hold
	tries     map[uint64]awake.Hold // locks asked for

	stepped time.Duration // the last step, on the Awake clock
	// As it was before the step under way.
	was struct {
		holding            int
		working, calledOut bool
		up, counting       bool // up: working, or kept up beside that
		latch, shut        bool
		woke               event.Instant
		st                 standing
		activity           time.Duration
	}
	// As it was after the last part of a step, under the settings of then.
	part struct{ working, up, counting bool }
}

func newOracle(w *World) *oracle {
	return &oracle{w: w, told: map[uint64]int{}, lostPosts: map[uint64]bool{}, missing: map[awake.Hold]time.Duration{}}
}

// fresh: a runtime without memory starts.
func (o *oracle) fresh() {
	o.all, o.known, o.latest, o.ends = nil, map[event.SessionKey]*track{}, nil, nil
	o.floorDown, o.network, o.offline, o.cutOff, o.remote, o.reach = false, awake.NetworkUnknown, 0, false, 0, 0
	o.lid, o.displays, o.bareAt, o.seen, o.battery = awake.LidUnknown, awake.UnknownDisplays, 0, false, awake.Battery{}
	clear(o.lostPosts)
	clear(o.told)
	o.part.working, o.part.up, o.part.counting = false, false, false
	o.restored()
	o.busyBoot = o.w.laptop.Now().Boot
}

// restored: a new process with the old memory; its locks are gone.
func (o *oracle) restored() {
	o.process++
	o.granted, o.tries = map[uint64]awake.Hold{}, map[uint64]awake.Hold{}
	if o.w.core.Awake().Pending == nil { // given up with the crash; another is another
		o.asked, o.silent = 0, false
	}
	o.busyBoot, o.busyNow = o.w.core.Now().Boot, true
	clear(o.missing)
}

// lost notes effects that a crash kept from being carried out.
func (o *oracle) lost(effects []awake.Effect) {
	for i := range effects {
		if e := &effects[i]; e.Kind == awake.DoWebhook && e.Webhook.Kind == awake.PostSessionEnd {
			o.lostPosts[e.ID] = true
		}
	}
}

func (o *oracle) track(k event.SessionKey) *track {
	if o.latest != nil && o.latest.key == k { // a step asks several times
		return o.latest
	}
	t := o.known[k]
	if t == nil {
		t = &track{key: k, x: o.w.core.Sessions().Get(k), tools: map[string]string{}, ledger: map[string]event.Task{}}
		o.known[k] = t
		o.all = append(o.all, t)
	}
	o.latest = t
	return t
}

// look has every track point at what the core knows, if sessions came or went.
func (o *oracle) look() {
	s := o.w.core.Sessions()
	if s == o.looked && s.Watched() == o.watched {
		return
	}
	o.looked, o.watched = s, s.Watched()
	for _, t := range o.all {
		t.x = s.Get(t.key)
	}
}

func (o *oracle) shut() bool { return o.seen && o.lid == awake.LidClosed && o.displays == 0 }

func (o *oracle) away(now time.Duration) bool { return o.shut() && now >= o.bareAt }

func (o *oracle) blocked(now time.Duration) bool {
	return o.w.core.Awake().HeatLatch || o.blockedButHeat(now)
}

func (o *oracle) blockedButHeat(now time.Duration) bool {
	b, f := o.battery, o.w.cfg.Awake.FloorPercent
	onBattery := b.Known && b.OnBattery
	floor := f > 0 && onBattery && o.away(now) && (b.Percent < f || o.floorDown && b.Percent < f+3)
	return floor || onBattery && !o.w.cfg.Awake.ProtectOnBattery || o.cutOff && o.w.cfg.Awake.OfflineRelease
}

// beside reports whether the machine is kept up for something else than work.
func (o *oracle) beside(now time.Duration) bool {
	return !o.blocked(now) && (now < o.reach || o.w.cfg.Awake.CountRemote && o.remote > 0)
}

// besides takes in what one part of a step means for that.
func (o *oracle) besides(changes []session.Change, holding int, now time.Duration) {
	c := o.w.cfg.Awake
	if watched := c.Offline > 0 && holding > 0 && o.away(now); !watched || o.network != awake.NetworkDown {
		o.offline, o.cutOff = 0, false
		if !watched {
			o.network = awake.NetworkUnknown
		}
	} else {
		if o.offline == 0 {
			o.offline = now
		}
		o.cutOff = o.cutOff || now >= o.offline+c.Offline
	}
	working, mains := holding > 0 && !o.blocked(now), !o.battery.Known || !o.battery.OnBattery
	if o.part.working && !working && !o.blocked(now) && !onlyCancelled(changes) {
		o.reach = now + c.Reachable
	}
	if a := o.w.core.Awake(); a.ReachFree && c.WakeAtReset {
		o.reach = a.ReachUntil // woken for the end of a limit: not modelled here
	} else if working || o.blocked(now) || c.Reachable == 0 || !mains && !c.ReachableOnBattery {
		o.reach = 0
	}
	up := working || o.beside(now)
	o.part.counting = !up && (o.part.counting || o.part.up && o.shut() && c.SuspendMode != awake.NoSuspend)
	if o.part.working, o.part.up = working, up; !up && !o.part.counting {
		o.remote = 0
	}
}

// onlyCancelled: sessions went away by other ways than an end or a wait.
func onlyCancelled(changes []session.Change) bool {
	any := false
	for i := range changes {
		switch c := &changes[i]; c.Kind {
		case session.Ended:
			if any = true; c.End != session.Cancelled {
				return false
			}
		case session.Locked, session.GraceOver:
			return false
		}
	}
	return any
}

// holds reads one session's phase and lock.
func holds(x *session.Session, now time.Duration) bool {
	return x != nil && (x.Phase == session.Working || x.Phase == session.Settling || x.Phase == session.Carrying) &&
		(x.Lock == nil || x.Lock.HoldsUntil > now)
}

// count sums over the sessions the oracle knows.
func (o *oracle) count(now time.Duration) (live, holding int) {
	for _, t := range o.all {
		if t.x == nil {
			continue
		}
		if t.x.Phase != session.Idle && t.x.Phase != session.Gone {
			live++
		}
		if holds(t.x, now) {
			holding++
		}
	}
	return live, holding
}

func counting(p *awake.Pending) bool {
	return p != nil && p.Stage != awake.StageCalled && p.Stage != awake.StageRetry
}

// before remembers how things stand.
func (o *oracle) before(in daemon.Input) {
	o.look()
	a := o.w.core.Awake()
	now := o.stepped // a restored core's clock is that of its restart
	_, o.was.holding = o.count(now)
	o.was.working = o.was.holding > 0 && !o.blocked(now)
	o.was.up, o.was.counting = o.was.working || o.beside(now), counting(a.Pending)
	o.part.counting = o.was.counting // a crash may have changed it
	o.was.calledOut = a.Pending != nil && a.Pending.Stage == awake.StageCalled
	o.was.latch, o.was.woke = a.HeatLatch, a.LastWoke
	o.was.shut = o.shut()
	o.was.st = none
	if in.Session != nil && in.Session.Signal != nil {
		t := o.track(in.Session.Signal.Session)
		o.was.st = t.st
		if t.x != nil {
			o.was.activity = t.x.Activity.Awake
		}
	}
	if in.Session != nil {
		for _, t := range o.all {
			t.existed = t.x != nil && t.x.Phase != session.Gone
		}
	}
}

// after takes in what the core heard and checks what it decided.
func (o *oracle) after(in daemon.Input, step daemon.Step) {
	o.look()
	now := o.w.core.Now().Awake
	if in.Session != nil {
		o.session(*in.Session, now)
	}
	if o.w.core.Awake().LastWoke != o.was.woke {
		o.network, o.offline = awake.NetworkUnknown, 0 // a reading from before the sleep
	}
	live, holding := o.count(now)
	// What falls into one step counts in this order: settings, the end of work,
	// then what the machine tells.
	if in.Config != nil {
		o.besides(nil, o.was.holding, now)
	}
	if len(step.Changes) > 0 {
		o.besides(step.Changes, holding, now)
	}
	if in.Machine != nil {
		o.fact(*in.Machine, now)
	}
	if in.Config != nil {
		for _, t := range o.all {
			t.loose = true
			if t.st == pending { // which bound it ran into before is not known
				t.set(free, now)
				t.lastReal = now
			}
		}
	}
	if b, f := o.battery, o.w.cfg.Awake.FloorPercent; b.Known {
		switch {
		case f <= 0 || b.Percent >= f+3:
			o.floorDown = false
		case b.OnBattery && o.away(now) && b.Percent < f:
			o.floorDown = true
		}
	}
	if in.Session != nil && in.Session.Signal != nil && in.Session.Signal.Kind == event.Waiting && (o.was.st == turn || o.was.st == pending) {
		k := in.Session.Signal.Session
		if x := o.track(k).x; x != nil && x.Phase == session.Working && x.Activity.Awake != o.was.activity {
			o.w.violate("a dialog of %s counts as activity", k)
		}
	}
	o.changes(in, step.Changes)
	o.besides(nil, holding, now)
	if o.part.counting = counting(o.w.core.Awake().Pending); !o.part.up && !o.part.counting {
		o.remote = 0
	}
	o.sessionsNow(now)
	o.effects(step.Effects, step.Changes, holding, now)
	o.machineNow(in, step, live, holding, now)
	o.stepped = now
}

func (o *oracle) fact(in awake.Input, now time.Duration) {
	switch in.Kind {
	case awake.InLid:
		o.lid = in.Lid
	case awake.InDisplays:
		switch n := in.Displays; {
		case n != 0:
		case !o.seen:
			o.bareAt = now
		case o.displays != 0:
			o.bareAt = now + 30*time.Second
		}
		o.displays = in.Displays
		o.seen = o.seen || in.Displays >= 0
	case awake.InBattery:
		o.battery = in.Battery
	case awake.InNetwork:
		o.network = in.Network
	case awake.InRemote:
		if o.part.up || o.part.counting {
			o.remote = in.Remote
		}
	case awake.InTaken:
		for _, h := range o.w.core.Awake().Holds {
			if h.Held == in.ID && in.ID != 0 {
				o.granted[in.ID] = h.Hold
			}
		}
	case awake.InLost:
		delete(o.granted, in.ID)
	case awake.InDenied, awake.InFailed:
		// A try that failed is followed by another after the longest pause at
		// most; how often the system refuses is not ours.
		if h, ok := o.tries[in.ID]; ok {
			delete(o.tries, in.ID)
			delete(o.missing, h)
		}
	}
}

// session moves the oracle's belief.
func (o *oracle) session(in session.Input, now time.Duration) {
	drop := func(t *track) {
		if t.existed {
			t.set(gone, now)
			t.forget()
		}
	}
	switch in.Kind {
	case session.InSignal:
		o.signal(*in.Signal, now)
	case session.InExited:
		if !in.Process.Shared && !o.w.cfg.Session.IgnoreProcesses {
			for _, t := range o.all {
				if t.proc != nil && *t.proc == *in.Process {
					drop(t)
				}
			}
		}
	case session.InOrphans:
		for _, k := range in.Keys {
			drop(o.track(k))
		}
	case session.InRemoveAll:
		for _, t := range o.all {
			drop(t)
		}
	case session.InBusy:
		for _, k := range in.Keys {
			t := o.track(k)
			if t.inFlight() || t.fuzzy || t.fuzzyLedger || t.st == free {
				t.busy = now
			}
			if t.inFlight() && !t.fuzzy && !t.fuzzyLedger && (t.st == turn || t.st == pending) {
				t.busySure = now
			}
		}
	}
	for _, t := range o.all {
		t.proc = nil
		if t.x != nil && t.x.Process != nil && !t.x.Process.Shared {
			t.proc = t.x.Process
		}
	}
}

// limits are until when a turn or pending session must hold and from when on it
// must not; 0 is never.
func (o *oracle) limits(t *track) (low, high time.Duration) {
	return o.limit(t.lastReal, t.busySure), o.limit(max(t.lastReal, t.perhaps), t.busy)
}

func (o *oracle) limit(lastReal, lastBusy time.Duration) time.Duration {
	c := o.w.cfg.Session
	if c.Timeout == 0 {
		return 0
	}
	limit := lastReal + c.Timeout
	if lastBusy > lastReal {
		busy := lastBusy + c.Timeout
		if c.MaxTool > 0 {
			busy = min(busy, lastReal+c.MaxTool)
		}
		limit = max(limit, busy)
	}
	return limit
}

// weakLimit is from when on what does not hold for ever must not hold; 0 is never.
// "After a Stop wait a short settle before anything is released."
func (o *oracle) weakLimit(t *track) time.Duration {
	if t.st != pending || t.weak == 0 || o.w.cfg.Session.MaxBackground == 0 {
		return 0
	}
	return max(t.weak+o.w.cfg.Session.MaxBackground, t.settled)
}

// expired reports whether a session that should hold has run into a bound.
func (o *oracle) expired(t *track, now time.Duration) bool {
	low, _ := o.limits(t)
	wl := o.weakLimit(t)
	return low != 0 && now >= low || wl != 0 && now >= wl
}

func (o *oracle) signal(sig event.Signal, now time.Duration) {
	t := o.track(sig.Session)
	codex := sig.Session.Provider == event.Codex
	agent := sig.AgentID != ""
	kind := sig.Kind
	if agent {
		switch kind {
		case event.Began, event.Failed, event.Interrupted, event.Opened:
			kind = event.Active
		case event.Stopped:
			kind = event.TaskEnded
		}
	}
	task := event.Task{}
	switch {
	case sig.Task != nil:
		task = *sig.Task
	case agent:
		task = event.Task{ID: sig.AgentID, Type: event.TaskSubagent}
	}

	t.age(now)
	if t.st == ended && now >= t.settled {
		t.forget()
	}
	// The core forgets after a day without a sign of life: a signal that is none
	// does not keep it from that.
	alive := t.at
	if t.st != free {
		alive = max(alive, t.lastReal, t.busySure)
	}
	if now-alive > 20*time.Hour && t.st != none && t.st != gone {
		t.set(free, now)
		t.doubtful = true
	}
	if kind == event.Opened || kind == event.Closed || kind == event.Removed {
		t.echo = 0
	}
	settling := t.st == ended && now < t.settled
	over := (t.st == turn || t.st == pending) && o.expired(t, now)
	if t.st == free && kind != event.Waiting {
		t.lastReal = now
		if t.doubtful && kind != event.Began && kind != event.Opened && kind != event.Closed && kind != event.Removed {
			return
		}
	}

	switch kind {
	case event.Opened:
		if t.st == gone {
			t.set(none, now)
		}
		if t.st == carrying {
			t.set(free, now) // it is its own successor, with or without a pending Stop
			t.lastReal = now
		}
		o.succeed(t, now)
	case event.Began:
		switch {
		case strings.HasPrefix(sig.Source, "transcript"):
			// The record of a prompt that its hook told of begins nothing anew.
			echo := now < t.echo
			t.echo = 0
			if echo && (t.st == free || t.st == ended || t.st == carrying) {
				return
			}
		case strings.HasPrefix(sig.Source, "hook"):
			t.echo = now + session.Echo
		}
		switch {
		case t.st == none, t.st == gone, t.st == ended && !settling:
			t.forget()
		case t.st == ended && t.loose, t.st == free:
			t.forget()
			t.fuzzy, t.fuzzyLedger, t.weakFuzzy = true, true, true
		case t.st != turn || over:
			clear(t.tools)
			t.fuzzy = true
		}
		t.weak, t.weakFuzzy = 0, false
		t.set(turn, now)
		o.succeed(t, now)
	case event.Active, event.ToolBegan:
		if !o.working(sig, t, kind, agent, codex, settling, over, now) {
			return
		}
		if kind == event.ToolBegan && sig.ToolUse != "" {
			t.tools[sig.ToolUse] = sig.AgentID
		}
	case event.ToolEnded:
		delete(t.tools, sig.ToolUse)
		switch {
		case t.st == turn && !over, t.st == pending && !over:
			t.lastReal = now
		case t.st == turn, t.st == pending, t.st == waiting:
			t.lastReal = now
			t.set(free, now)
		}
	case event.Waiting:
		switch t.st {
		case turn, pending:
			t.deferred, t.lapsed = t.st == pending || over, over
			t.set(waiting, now)
			t.lockAt = now
		case free:
			t.lockAt = now
		}
	case event.Resumed:
		switch {
		case t.st == turn, t.st == pending && !over:
			t.lastReal = now
		case t.st == pending, t.st == waiting && t.deferred:
			t.lastReal = now
			t.set(free, now)
		case t.st == waiting:
			t.set(turn, now)
		}
	case event.TaskBegan:
		o.taskBegan(t, task, codex, settling, over, now)
	case event.TaskEnded:
		if task.Type == event.TaskTodo || t.st == none || t.st == gone || t.st == ended || t.st == carrying {
			return
		}
		had, strong := len(t.ledger), t.strong()
		if sig.Tasks != nil {
			t.list(sig.Tasks)
		}
		delete(t.ledger, task.ID)
		for id, a := range t.tools {
			if a != "" && a == task.ID {
				delete(t.tools, id)
			}
		}
		switch {
		case t.st == pending && codex && had > 0 && len(t.ledger) == 0:
			t.set(ended, now)
			t.settled = now + session.Settle
		case codex && (t.st == turn && over || t.st == waiting && t.deferred):
			t.lastReal = now
			t.set(free, now)
		case t.st == pending && (over || t.weakFuzzy && !strong && t.strong()):
			// Its time is over or may be, and "such a notification never starts or
			// refreshes a session by itself".
			t.set(free, now)
		case t.st == pending, t.st == waiting && t.deferred && !t.lapsed:
			t.weigh(now)
		case t.st == waiting && t.deferred:
			t.weakFuzzy = true // it is weighed only if it was not yet given up
		}
	case event.Stopped:
		if t.st == none || t.st == gone || t.st == ended || t.st == carrying {
			return
		}
		if sig.Tasks != nil {
			t.list(sig.Tasks)
		}
		for id, a := range t.tools {
			if a == "" {
				delete(t.tools, id)
			}
		}
		unsure := t.st == free
		switch {
		case t.fuzzyLedger || unsure && sig.Tasks == nil:
			t.set(free, now)
			t.lastReal = now
		case len(t.ledger) == 0:
			t.set(ended, now)
			t.settled, t.loose = now+session.Settle, unsure
			if unsure {
				t.settled = now + session.CarryOver
			}
		case unsure:
			t.weakFuzzy = true
		default:
			_, high := o.limits(t)
			wl := o.weakLimit(t)
			lapsed := over && (high != 0 && now >= high || wl != 0 && now >= wl)
			maybe := over || t.loose // under settings that are no longer in force
			t.set(pending, now)
			t.weigh(now)
			// Not by weakLimit: the settle of an earlier Stop, which may have held
			// nothing, does not give the weak work more time.
			most := o.w.cfg.Session.MaxBackground
			spent := most > 0 && t.weak != 0 && now >= t.weak+most
			if !(spent && lapsed) { // else nothing is held that a Stop could release
				t.settled, t.loose = now+session.Settle, spent && maybe
			}
		}
	case event.Failed, event.Interrupted:
		if t.st == none || t.st == gone || t.st == ended || t.st == carrying {
			return
		}
		subagents := false
		for _, k := range t.ledger {
			subagents = subagents || k.Type == event.TaskSubagent
		}
		unsure := t.st == free
		if kind == event.Interrupted && codex && (subagents || unsure || t.fuzzyLedger) {
			if unsure || t.fuzzyLedger {
				t.fuzzyLedger, t.weak, t.weakFuzzy = true, 0, true
			}
			t.lastReal = now
			t.set(free, now)
			return
		}
		t.set(ended, now)
		t.settled, t.loose = now, unsure
		if kind == event.Failed {
			t.settled = now + session.Settle
		}
		if unsure {
			t.settled = now + session.CarryOver
		}
	case event.Closed:
		x := t.x
		switch {
		case t.st == carrying:
		case sig.Continues && (t.st == turn || t.st == pending || t.st == waiting):
			if x != nil && x.Phase == session.Gone {
				return // the successor was there first: the Carried change names it
			}
			t.deferred = !t.runs(over)
			t.set(carrying, now)
		case sig.Continues && t.st == free:
			t.at = now
			t.doubtful = true
		case t.st == free && x != nil && x.Phase == session.Carrying:
		case t.existed:
			t.set(gone, now)
			t.forget()
		}
	case event.Removed:
		if t.existed {
			t.set(gone, now)
			t.forget()
		}
	}
}

// working is the part of signal for signs of work; false means that it was none.
func (o *oracle) working(sig event.Signal, t *track, kind event.SignalKind, agent, codex, settling, over bool, now time.Duration) bool {
	transcript := strings.HasPrefix(sig.Source, "transcript")
	switch {
	case t.st == gone, t.st == none && (agent || kind == event.Active):
		return false
	case agent:
		switch {
		case settling && codex:
			t.set(free, now)
			t.lastReal = now
		case t.st == ended, t.st == carrying:
			return false
		case t.st == waiting, over:
			t.set(free, now)
			t.lastReal = now
		case t.st == turn, t.st == pending:
			t.lastReal = now
		}
		if codex {
			t.ledger[sig.AgentID] = event.Task{ID: sig.AgentID, Type: event.TaskSubagent}
			t.weak = 0
		}
	case transcript && kind == event.Active && (t.st == ended || t.st == carrying),
		transcript && t.st == waiting && now < t.lockAt+session.Settle:
		t.doubtful = t.st == carrying
		t.set(free, now)
		t.lastReal = now
	case t.st == free && t.doubtful:
	case t.st == free && transcript:
	default:
		if t.st == none {
			t.forget()
		}
		if t.st == ended && t.loose || t.st == free {
			t.forget()
			t.fuzzy, t.fuzzyLedger, t.weakFuzzy = true, true, true
		}
		t.set(turn, now)
	}
	return true
}

func (o *oracle) taskBegan(t *track, task event.Task, codex, settling, over bool, now time.Duration) {
	if task.ID == "" || task.Type == event.TaskTodo {
		return
	}
	weak := task.Idle || task.Type == event.TaskMonitor || task.Type == event.TaskCron
	switch t.st {
	case turn, pending, waiting, free:
		t.ledger[task.ID] = task
		if !weak {
			t.weak = 0
			t.lastReal = now
			if over || t.st == waiting && task.Type == event.TaskSubagent {
				t.set(free, now)
			}
		} else if over {
			t.set(free, now)
		}
	case ended:
		if settling && codex {
			t.ledger[task.ID] = task
			t.set(free, now)
			t.lastReal = now
		}
	}
}

func (t *track) list(tasks []event.Task) {
	t.fuzzyLedger = false
	clear(t.ledger)
	for _, k := range tasks {
		if k.Type != event.TaskTodo && k.ID != "" {
			t.ledger[k.ID] = k
		}
	}
}

func (t *track) weigh(now time.Duration) {
	switch {
	case len(t.ledger) == 0:
	case t.strong():
		t.weak = 0
	case t.weak == 0:
		t.weak = now
	}
}

// succeed expects the work of a predecessor in the same process under t.
func (o *oracle) succeed(t *track, now time.Duration) {
	key, x := t.key, t.x
	if x == nil || x.Process == nil || x.Process.Shared {
		return
	}
	for _, old := range o.all {
		k := old.key
		if old == t || k.Provider != key.Provider || k.Name != key.Name || old.proc == nil || *old.proc != *x.Process {
			continue
		}
		old.age(now)
		took := old.st == carrying && now < old.at+session.CarryOver ||
			key.Provider == event.Claude && (old.st == turn || old.st == pending || old.st == waiting)
		switch {
		case old.st == free || old.st == carrying && !took:
			if t.st != turn || o.expired(t, now) { // what it took may hold again
				t.set(free, now)
				t.doubtful = true
				t.lastReal = now
			}
			t.fuzzy, t.fuzzyLedger, t.weakFuzzy, t.perhaps = true, true, true, now
			old.set(free, now)
			old.doubtful = true
			old.lastReal = now
		case took:
			o.takeOver(t, old, now)
		}
	}
}

// runs: the session is within a turn, or was when it was closed to go on.
func (t *track) runs(over bool) bool {
	return t.st == turn && !over || (t.st == waiting || t.st == carrying) && !t.deferred
}

// takeOver: the work of old goes on under t. It holds, by what is the
// successor's own or by what it took.
func (o *oracle) takeOver(t, old *track, now time.Duration) {
	runs := t.runs(o.expired(t, now)) || old.runs(o.expired(old, now))
	for id, task := range old.ledger {
		t.ledger[id] = task
	}
	// Of a successor of which nothing was said, the ledger is not known either: the
	// client's own list comes with a Stop that has one, "our bookkeeping only where
	// it gives none".
	unsaid := t.st == free
	t.set(turn, now)
	t.fuzzy = true
	t.fuzzyLedger, t.weakFuzzy = t.fuzzyLedger || old.fuzzyLedger || unsaid, true
	if !runs && (len(t.ledger) > 0 || old.fuzzyLedger || old.st == free) {
		// Whether the Stop was pending is a detail; it holds either way.
		t.set(free, now)
		t.lastReal = now
		if !holds(t.x, now) {
			o.w.violate("%s took over %s and holds nothing", t.key, old.key)
		}
	}
	old.set(gone, now)
	old.forget()
}

// changes checks that beginnings and ends alternate and ends are of the right
// kind.
func (o *oracle) changes(in daemon.Input, changes []session.Change) {
	for i := range changes {
		c := &changes[i]
		t := o.track(c.Key)
		switch c.Kind {
		case session.Began:
			if t.live {
				o.w.violate("%s began twice", c.Key)
			}
			t.live = true
		case session.Carried:
			t.live = false
			to := o.track(*c.To)
			to.live = true
			if in.Session != nil && in.Session.Signal != nil && in.Session.Signal.Session == c.Key {
				// The successor was heard of first, and its predecessor closed now.
				o.takeOver(to, t, c.At.Awake)
			}
		case session.Ended:
			if !t.live {
				o.w.violate("%s ended twice", c.Key)
			}
			t.live = false
			if in.Session != nil && in.Session.Signal != nil && in.Session.Signal.Session == c.Key &&
				in.Session.Signal.AgentID == "" && (o.was.st == turn || o.was.st == pending) {
				switch k := in.Session.Signal.Kind; {
				case k == event.Interrupted && c.End != session.Interrupted,
					k == event.Removed && c.End != session.Cancelled:
					o.w.violate("%s ended %s by %s", c.Key, c.End, k)
				}
			}
			if in.Session != nil && in.Session.Kind == session.InRemoveAll && c.End == session.Interrupted {
				o.w.violate("%s ended %s by hand", c.Key, c.End)
			}
			if c.End == session.Normal {
				o.ends = append(o.ends, &owedEnd{key: c.Key, at: c.At.Awake})
			}
		}
	}
}

// sessionsNow holds every session against what is believed of it.
func (o *oracle) sessionsNow(now time.Duration) {
	c := o.w.cfg.Session
	for _, t := range o.all {
		is := holds(t.x, now)
		must, mustNot := false, false
		switch t.st {
		case none, gone:
			mustNot = true
		case ended:
			must, mustNot = now < t.settled && !t.loose, now >= t.settled
		case waiting:
			mustNot = now >= t.lockAt+c.Grace
		case carrying:
			must, mustNot = now < t.at+session.CarryOver, now >= t.at+session.CarryOver
		case turn, pending:
			low, high := o.limits(t)
			wl := o.weakLimit(t)
			must = !t.loose && !(t.st == pending && t.weakFuzzy && !t.strong()) && (low == 0 || now < low) && (wl == 0 || now < wl)
			// With an empty ledger nothing weak is left whose time could be over, and a
			// call in flight "is work while the agent's process tree uses CPU".
			mustNot = high != 0 && now >= high || wl != 0 && now >= wl && !t.weakFuzzy && len(t.ledger) > 0
		case free:
			mustNot = c.Timeout > 0 && c.MaxTool > 0 && now > t.lockAt+c.Grace &&
				now > max(t.lastReal, t.at)+max(c.Timeout, c.MaxTool, session.CarryOver)
		}
		switch {
		case must && !is:
			o.w.violate("%s (%s) works and does not hold the machine: invariant 1 %s", t.key, t.st, o.show(t))
		case mustNot && is:
			o.w.violate("%s (%s) has no work and holds the machine: invariants 1, 7 %s", t.key, t.st, o.show(t))
		}
	}
}

// show describes what the core believes of a session.
func (o *oracle) show(t *track) string {
	x := t.x
	if x == nil {
		return "(the core does not know it)"
	}
	lock := "none"
	if x.Lock != nil {
		lock = x.Lock.Reason
	}
	return fmt.Sprintf("(the core: %s, pending %v, lock %s, due %s, %d tools, tasks %v, config %+v)",
		x.Phase, x.Pending, lock, x.Due(), len(x.Tools), x.Tasks, o.w.core.Sessions().Config())
}

func (s standing) String() string {
	return [...]string{"none", "turn", "pending", "waiting", "ended", "carrying", "gone", "free"}[s]
}

// effects checks what is asked for, in order.
func (o *oracle) effects(effects []awake.Effect, changes []session.Change, holding int, now time.Duration) {
	a := o.w.core.Awake()
	up := holding > 0 && !o.blocked(now) || o.beside(now)
	emergency := false

	if o.was.up && !up {
		o.silent = onlyCancelled(changes) && holding == 0
	}
	for i := range effects {
		e := &effects[i]
		switch e.Kind {
		case awake.DoCancelReplies:
			emergency = true
			o.asked, o.silent = 0, false
		case awake.DoAcquire:
			o.tries[e.ID] = e.Hold
		case awake.DoRelease:
			delete(o.granted, e.ID)
		case awake.DoSuspend:
			o.suspend(e, holding, emergency, now)
		case awake.DoWebhook:
			o.webhook(e)
		case awake.DoHistory:
			o.asked, o.silent = 0, false
			if e.History.Result == "slept" {
				if n := len(o.w.laptop.Sleeps()); n <= o.sleeps {
					o.w.violate("a sleep is written down that was written down before")
				} else {
					o.sleeps = n
				}
			}
		case awake.DoExit:
			if !a.ExitFinal {
				o.mayExit(now)
			}
		}
	}
	if o.was.up && !up && a.Pending == nil && !emergency && !o.suspends(effects) && o.was.shut && o.shut() && !a.ExitFinal &&
		o.w.cfg.Awake.SuspendMode != awake.NoSuspend {
		o.w.violate("the last work ended with nobody there and no suspend was planned")
	}
	switch {
	case a.Pending == nil:
		o.asked, o.silent = 0, false
		o.settleEnds()
	case o.was.up && !up: // what is out already is the first try for this end
		o.asked = min(o.asked, 1)
	}
}

func (o *oracle) suspends(effects []awake.Effect) bool {
	return slices.ContainsFunc(effects, func(e awake.Effect) bool { return e.Kind == awake.DoSuspend })
}

// suspend: invariants 2 and 3, and logind's rules.
func (o *oracle) suspend(e *awake.Effect, holding int, emergency bool, now time.Duration) {
	o.asked++
	if o.asked > awake.SuspendTries {
		o.w.violate("suspend is asked for %d times", o.asked)
	}
	if !o.away(now) {
		o.w.violate("suspends (%s) with lid %s, %d displays, bare since %s: invariant 2", e.Reason, o.lid, o.displays, now-o.bareAt)
	}
	if e.Reason != awake.EmergencyHibernation {
		if holding > 0 && !o.blocked(now) {
			o.w.violate("suspends (%s) with %d sessions at work: invariant 2", e.Reason, holding)
		}
		if o.beside(now) {
			o.w.violate("suspends (%s) a machine that stays reachable for %s, with %d logins from afar", e.Reason, o.reach-now, o.remote)
		}
		if holding > 0 && e.Reason != awake.BatteryFloor && e.Reason != awake.NetworkLost {
			o.w.violate("suspends sessions at work for %s", e.Reason)
		}
		if o.w.cfg.Awake.SuspendMode == awake.NoSuspend {
			o.w.violate("suspends though suspend mode is none")
		}
	}
	for _, h := range awake.Holds() {
		if h == awake.HoldLid && e.Mode == awake.Hibernate {
			continue // kept on purpose: dropping it would sleep instead
		}
		for _, g := range o.granted {
			if g == h {
				o.w.violate("asks for %s while its own lock %s stands", e.Mode, h)
			}
		}
	}
}

// webhook: invariant 5, "each normal end yields exactly one of PostSessionEnd and
// PreSuspend". One whose delivery a crash left open is sent again, once, by the
// process that comes after it.
func (o *oracle) webhook(e *awake.Effect) {
	delete(o.lostPosts, e.ID)
	h := e.Webhook
	last, repeated := o.told[e.ID]
	if o.told[e.ID] = o.process; repeated && (last == o.process || h.Kind != awake.PostSessionEnd) {
		o.w.violate("%s is sent again and no crash left it open: invariant 5", h.Kind)
	}
	if h.Kind == awake.PreSuspend && h.Reason != awake.EmergencyHibernation && o.silent {
		o.w.violate("a cancel path calls PreSuspend: invariant 5")
	}
	if h.End == nil || repeated {
		return
	}
	if !h.End.Normal && h.Kind == awake.PostSessionEnd {
		o.w.violate("PostSessionEnd for %s, which ended by %s: invariant 5", h.End.Key, h.End.Reason)
	}
	var same *owedEnd // two ends of one session may fall on one instant
	for _, owed := range o.ends {
		if owed.key != h.End.Key || owed.at != h.End.Ended.Awake {
			continue
		}
		if same == nil || owed.webhooks < same.webhooks {
			same = owed
		}
	}
	if same == nil {
		o.w.violate("%s for %s, whose end had its webhook or never came: invariant 5", h.Kind, h.End.Key)
	} else if same.webhooks++; same.webhooks > 1 {
		o.w.violate("%s got %d webhooks for one end: invariant 5", same.key, same.webhooks)
	}
}

// settleEnds: with no suspend pending, every normal end has had its webhook.
func (o *oracle) settleEnds() {
	c := o.w.cfg.Awake
	if c.PostSessionEndWebhook && c.PreSuspendWebhook && !o.w.core.Awake().ExitFinal {
		for _, e := range o.ends {
			if e.webhooks != 1 {
				o.w.violate("%s got %d webhooks for its end: invariant 5", e.key, e.webhooks)
			}
		}
	}
	o.ends = nil
}

// mayExit: invariant 6, never before.
func (o *oracle) mayExit(now time.Duration) {
	if live, _ := o.count(now); live > 0 {
		o.w.violate("the runtime leaves with %d sessions: invariant 6", live)
	}
	if quiet := o.w.core.Now().Boot - o.busyBoot; !o.busyNow && quiet < o.w.cfg.Awake.ExitDelay || o.busyNow && o.w.cfg.Awake.ExitDelay > 0 {
		o.w.violate("the runtime leaves after %s: invariant 6", quiet)
	}
}

// machineNow checks protection, locks and departure once the step is over.
func (o *oracle) machineNow(in daemon.Input, step daemon.Step, live, holding int, now time.Duration) {
	w, a := o.w, o.w.core.Awake()
	if sum := w.core.Sessions().Summary(); sum.Holding != holding || sum.Live != live {
		w.violate("the registry counts %+v, there are %d live and %d holding", sum, live, holding)
	}
	want := !a.ExitFinal && (holding > 0 && !o.blocked(now) || o.beside(now) || counting(a.Pending))
	if a.Protected() != want {
		w.violate("protection is %v with %d holding, blocked %v, pending %+v: invariant 1", a.Protected(), holding, o.blocked(now), a.Pending)
	}
	if m := in.Machine; m != nil && m.Kind == awake.InHeat && !m.Unreadable {
		c := w.cfg.Awake
		if m.Celsius >= c.EmergencyCelsius && c.EmergencyHibernation && o.away(now) && holding > 0 && o.was.working &&
			!o.blockedButHeat(now) && !o.was.latch && !o.was.calledOut && !o.suspends(step.Effects) {
			w.violate("%.0f °C with nobody there and no hibernation", m.Celsius)
		}
	}

	// Invariant 4, the locks. Only when nothing is under way can they be judged.
	calm := len(w.agenda) == 0 && len(a.Dropping) == 0 && !a.ExitFinal
	for i := range a.Holds {
		calm = calm && a.Holds[i].Asking == 0
	}
	acts := slices.ContainsFunc(step.Effects, func(e awake.Effect) bool {
		return e.Kind == awake.DoAcquire || e.Kind == awake.DoRelease
	})
	for i := range a.Holds {
		h := &a.Holds[i]
		wanted := want && o.wants(h.Hold)
		if p := a.Pending; h.Hold == awake.HoldLid && p != nil && p.Mode == awake.Hibernate && !counting(p) {
			continue
		}
		n := w.laptop.Locks(h.Hold)
		if calm && !acts {
			switch {
			case n > 1, n > 0 && !wanted:
				w.violate("%d locks of %s stand, wanted %v: invariant 4", n, h.Hold, wanted)
			case n == 0 && h.Held != 0:
				w.violate("%s is believed held and is not", h.Hold)
			}
		}
		if !wanted || n > 0 || w.deny[h.Hold] {
			if len(o.missing) > 0 {
				delete(o.missing, h.Hold)
			}
		} else if since, ok := o.missing[h.Hold]; !ok {
			o.missing[h.Hold] = now
		} else if now-since > awake.RetryMost+3*awake.AnswerLimit+2*time.Minute {
			w.violate("%s is wanted and missing for %s", h.Hold, now-since)
		}
	}
	if calm && !acts && w.opt.LastingLid && w.laptop.Locks(awake.HoldLid) == 0 && a.Restored && w.laptop.LidSetting() != w.userLid {
		w.violate("the lid setting is %q, the user's own is %q: invariant 4", w.laptop.LidSetting(), w.userLid)
	}

	// Invariant 6, not later either.
	boot := w.core.Now().Boot
	busy := live > 0 || a.Pending != nil || len(a.Sending) > 0 || len(a.Dropping) > 0 || len(a.Late) > 0
	for i := range a.Holds {
		busy = busy || a.Holds[i].Held != 0 || a.Holds[i].Asking != 0
	}
	if busy || o.busyNow {
		o.busyBoot = boot
	}
	o.busyNow = busy
	if d := w.cfg.Awake.ExitDelay; d >= 0 && !busy && boot >= o.busyBoot+d && !a.Leaving() {
		w.violate("nothing is under way for %s and the runtime stays: invariant 6", boot-o.busyBoot)
	}
}

// wants says which holds the settings ask for while protected.
func (o *oracle) wants(h awake.Hold) bool {
	c := o.w.cfg.Awake
	switch h {
	case awake.HoldIdle:
		return c.PreventIdle
	case awake.HoldLid:
		return c.ChangeLid
	case awake.HoldDisplay:
		return c.PreventDisplay
	}
	return c.PreventIdle && c.Strict && o.lid != awake.LidOpen
}

// exited: the runtime is about to go; what it owed must be done.
func (o *oracle) exited(e awake.Effect) {
	if len(o.lostPosts) > 0 && !e.HandedOver {
		o.w.violate("%d PostSessionEnd were lost in a crash and never sent again: invariant 5", len(o.lostPosts))
	}
	clear(o.lostPosts)
}
