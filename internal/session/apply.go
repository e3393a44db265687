package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

const (
	// forgetIdle is how long an idle session is shown after its last sign of
	// life. It holds nothing; a new prompt brings it back at any time.
	forgetIdle = 24 * time.Hour
	// forgetGone is how long stragglers of a closed session are recognised.
	forgetGone = time.Minute
	// forgetLocked ends a soft-locked session that nobody came back to, since
	// else the runtime would never leave.
	forgetLocked = 24 * time.Hour
)

// Apply lets deadlines up to now pass, applies one input, and returns what
// happened in the order of causes. now.Awake must not go back.
func (s *State) Apply(in Input, now event.Instant) []Change {
	s.now, s.changes = now, nil
	s.expire()
	switch in.Kind {
	case InSignal:
		if in.Signal != nil {
			s.signal(*in.Signal)
		}
	case InExited:
		if in.Process != nil {
			s.exited(*in.Process)
		}
	case InOrphans:
		for _, k := range in.Keys {
			if x := s.sessions[k]; x != nil && x.Phase != Gone {
				s.leave(x, Cancelled, "orphan", "sweep")
			}
		}
	case InBusy:
		for _, k := range in.Keys {
			s.busy(k)
		}
	case InRemoveAll:
		for _, x := range s.All() {
			s.leave(x, Cancelled, "removed", "remove all")
		}
	case InConfig:
		if in.Config != nil {
			s.setConfig(*in.Config)
		}
	}
	return s.changes
}

// expire applies every deadline that has passed, each at most once per step
// since it moves the session on.
func (s *State) expire() {
	for len(s.deadlines) > 0 && s.deadlines[0].due <= s.now.Awake {
		x := s.deadlines[0]
		switch x.Phase {
		case Idle, Gone:
			s.drop(x)
		case Settling:
			s.end(x, x.End, x.EndReason, "settled", Idle)
		case Carrying:
			s.end(x, Normal, x.EndReason, "no successor", Gone)
		case Working:
			s.expireWorking(x)
		}
	}
}

func (s *State) expireWorking(x *Session) {
	switch {
	case x.Lock != nil && x.Lock.HoldsUntil > 0 && x.Lock.HoldsUntil <= s.now.Awake:
		x.Lock.HoldsUntil = 0
		s.tell(x, GraceOver, Change{Reason: x.Lock.Reason})
		s.done(x, "grace over", event.Signal{})
	case x.Lock != nil:
		s.end(x, Cancelled, "forgotten", "nobody came back", Gone)
	case s.weakUntil(x) > 0 && s.weakUntil(x) <= s.now.Awake:
		s.lockBackground(x)
		s.done(x, "background time over", event.Signal{})
	default:
		if x.Pending {
			x.Pending, x.Abandoned = false, true
			s.tell(x, Abandoned, Change{Text: "abandoned: " + describe(x.Tasks)})
		}
		s.lock(x, SoftLock{Reason: ReasonTimeout, At: s.now})
		s.done(x, "timeout", event.Signal{})
	}
}

// signal is the table of sessions.md: what each observation does in each phase.
func (s *State) signal(sig event.Signal) {
	x := s.sessions[sig.Session]
	agent := sig.AgentID != ""
	kind := sig.Kind
	// What a subagent reports is never the root's own turn: Codex sends a
	// subagent's task as a prompt with the parent's session id (contract §1.4),
	// and an API error or stop of a side agent ends nothing but itself.
	if agent {
		switch kind {
		case event.Began, event.Failed, event.Interrupted, event.Opened:
			kind = event.Active
		case event.Stopped:
			kind = event.TaskEnded
		}
	}

	if x != nil && (kind == event.Opened || kind == event.Closed || kind == event.Removed) {
		x.EchoUntil = 0 // what is written after it is of another life
	}
	switch kind {
	case event.Opened:
		s.opened(x, sig)
		return
	case event.Began:
		if x == nil {
			x = s.add(sig.Session)
		}
		switch {
		case fromTranscript(sig):
			// A client may write its log in batches: this may be the record of a turn
			// that is over by now. A turn that no hook tells of has no such hook before.
			echo := s.now.Awake < x.EchoUntil && (x.Phase == Settling || x.Phase == Idle || x.Phase == Carrying)
			x.EchoUntil = 0
			if echo {
				return
			}
		case strings.HasPrefix(sig.Source, "hook"):
			x.EchoUntil = s.now.Awake + Echo
		}
		s.absorb(x, sig)
		s.succeed(x, sig)
		if x.Phase != Working || x.Pending {
			x.Tools = nil // a new turn; a prompt typed into a running one keeps them
		}
		s.work(x, sig)
		x.WeakSince, x.Noticed = 0, false
		s.done(x, string(sig.Kind), sig)
		return
	case event.ToolBegan:
		if x == nil && !agent {
			x = s.add(sig.Session)
		}
	}
	if x == nil || x.Phase == Gone {
		if kind == event.ToolBegan && x != nil && s.broken == GoneReturns {
			s.work(x, sig)
			s.done(x, string(sig.Kind), sig)
		}
		if kind == event.Began || s.broken != StopStarts || kind != event.Stopped {
			return
		}
		if x == nil {
			x = s.add(sig.Session)
		}
		s.work(x, sig)
		s.update(x)
		return
	}
	s.absorb(x, sig)

	switch kind {
	case event.Active, event.ToolBegan:
		if !s.worked(x, sig, agent, kind) {
			return
		}
	case event.ToolEnded:
		ended := sig.ToolUse
		x.Tools = slices.DeleteFunc(x.Tools, func(t Tool) bool { return t.ID == ended })
		if x.Phase == Working {
			x.Activity = s.now
			// With parallel calls another one's end is no answer to the dialog, and
			// neither is the end of the call that set the lock.
			if x.Lock != nil && !strings.HasSuffix(sig.Tool, event.SoftLockTool) && (x.Lock.ToolUse == "" || x.Lock.ToolUse == ended || s.personless(x.Lock)) {
				s.unlock(x, sig, agent)
			}
		}
	case event.Waiting:
		if x.Phase == Working {
			s.wait(x, sig)
		}
	case event.Resumed:
		if x.Phase == Working {
			x.Activity, x.Dialog, x.Abandoned = s.now, nil, false
			s.unlock(x, sig, false)
		}
	case event.TaskBegan:
		s.taskBegan(x, sig)
	case event.TaskEnded:
		s.taskEnded(x, sig)
	case event.Stopped:
		s.stopped(x, sig)
	case event.Failed:
		if x.Phase == Working {
			s.settle(x, Normal, reasonOr(sig.Reason, "failed"), sig.Offset)
		}
	case event.Interrupted:
		if s.interrupted(x, sig) {
			return
		}
	case event.Closed:
		s.closed(x, sig)
		return
	case event.Removed:
		s.leave(x, Cancelled, "removed", sig.Source)
		return
	}
	s.done(x, string(sig.Kind), sig)
}

// opened: the client shows a session, which is no work yet. In the same process
// it takes over what a predecessor left.
func (s *State) opened(x *Session, sig event.Signal) {
	if x == nil {
		x = s.add(sig.Session)
	}
	if x.Phase == Gone {
		x.Started = event.Instant{} // it has not worked since it came back
	}
	switch {
	case x.Phase == Carrying: // resumed under its own id
		x.Phase, x.Activity, x.SettleAt, x.EndReason = Working, s.now, 0, ""
	case !x.Live():
		x.Phase, x.Activity, x.SettleAt = Idle, s.now, 0
	}
	s.absorb(x, sig)
	s.succeed(x, sig)
	s.done(x, string(sig.Kind), sig)
}

// succeed carries the work of a predecessor in the same process over to x: one
// that closed to go on, or, with Claude Code, whose process runs one session at
// a time, any that is still at work.
func (s *State) succeed(x *Session, sig event.Signal) {
	if x.Process == nil || x.Process.Shared || s.broken == NoCarryOver {
		return
	}
	for _, old := range slices.Clone(s.byProcess[*x.Process]) {
		if old == x || !sameClient(old.Key, x.Key) {
			continue
		}
		if old.Phase == Carrying || old.Phase == Working && x.Key.Provider == event.Claude {
			s.carry(old, x, sig.Source)
		}
	}
}

// sameClient reports whether one may go on as the other: two MCP servers in one
// process are strangers, whatever ids they use.
func sameClient(a, b event.SessionKey) bool { return a.Provider == b.Provider && a.Name == b.Name }

func (s *State) carry(old, x *Session, source string) {
	weak, stopped := old.WeakSince, old.Pending || old.Abandoned
	if x.Phase == Working {
		// The two hooks came in reverse: a turn that runs goes on, whosever it is,
		// and how long nothing but its own monitors were left counts on, neither
		// lengthened nor shortened by the other's.
		weak, stopped = x.WeakSince, stopped && (x.Pending || x.Abandoned)
	}
	if !x.Live() {
		x.Started = old.Started
	}
	x.Phase, x.Activity, x.Busy, x.Lock, x.Dialog = Working, s.now, old.Busy, nil, nil
	for _, t := range old.Tasks {
		x.setTask(t)
	}
	x.Todos = old.Todos
	x.Pending, x.Abandoned, x.WeakSince = stopped && len(x.Tasks) > 0, false, weak
	s.weigh(x)
	if x.Prompt == "" {
		x.Prompt = old.Prompt
	}
	to := x.Key
	s.tell(old, Carried, Change{To: &to})
	s.clear(old, Gone)
	s.done(old, "carried over to "+to.String(), event.Signal{Source: source})
	s.done(x, "carried over from "+old.Key.String(), event.Signal{Source: source})
}

// worked applies a sign of work; false means that it was none here.
func (s *State) worked(x *Session, sig event.Signal, agent bool, kind event.SignalKind) bool {
	switch x.Phase {
	case Idle, Settling, Carrying:
		switch {
		case agent:
			// Internal agents (suggestions, compaction) run after a Stop, so
			// only Codex, whose subagents are told apart by id, may reopen, and
			// only before the end is final.
			if x.Key.Provider != event.Codex || x.Phase != Settling {
				return false
			}
			x.Phase, x.Pending, x.SettleAt = Working, true, 0
		case kind == event.Active && x.Started.IsZero():
			return false // opened and never at work: an idle prompt holds nothing
		case kind == event.Active && fromTranscript(sig) && (x.EndOffset == 0 || sig.Offset <= x.EndOffset):
			// The tailer lags: this may be the very answer that the Stop hook
			// reported. A real new turn also shows in a hook or a turn record.
			return false
		}
	}
	if agent {
		s.agentWorked(x, sig)
	} else if fromTranscript(sig) && x.Lock != nil && !s.personless(x.Lock) && s.now.Awake < x.Lock.At.Awake+Settle {
		return false // the record of the very call that opened the dialog
	} else {
		s.work(x, sig)
	}
	if kind == event.ToolBegan && sig.ToolUse != "" {
		x.setTool(Tool{ID: sig.ToolUse, Name: sig.Tool, AgentID: sig.AgentID, Began: s.now})
	}
	return true
}

// work: the root session works.
func (s *State) work(x *Session, sig event.Signal) {
	if x.Live() {
		x.Activity, x.Dialog = s.now, nil
		x.Phase, x.SettleAt, x.End, x.EndReason = Working, 0, "", ""
		x.Pending, x.Abandoned = false, false
		s.unlock(x, sig, false)
		return
	}
	x.Phase, x.Started, x.Activity = Working, s.now, s.now
	x.EndOffset, x.SettleAt = 0, 0
	s.tell(x, Began, Change{Reason: sig.Source})
	s.watched++
}

// agentWorked: a subagent works, which keeps the parent alive. It lifts a dialog
// of the root for as long as subagents work and no longer.
func (s *State) agentWorked(x *Session, sig event.Signal) {
	x.Activity = s.now
	if x.Abandoned { // it came back: the root still waits for it
		x.Pending, x.Abandoned = len(x.Tasks) > 0, false
	}
	if x.Key.Provider == event.Codex && sig.AgentID != "" {
		// A SubagentStart may have been missed; whoever calls tools is active.
		x.setTask(event.Task{ID: sig.AgentID, Type: event.TaskSubagent})
		x.WeakSince = 0
	}
	s.unlock(x, sig, true)
}

func (s *State) wait(x *Session, sig event.Signal) {
	l := SoftLock{Reason: reasonOr(sig.Reason, "waiting"), At: s.now, AgentID: sig.AgentID, ToolUse: sig.ToolUse}
	if s.config.Grace > 0 {
		l.HoldsUntil = s.now.Awake + s.config.Grace
	}
	if l.ToolUse == "" && sig.Tool != "" {
		for _, t := range x.Tools {
			if t.Name == sig.Tool && t.AgentID == sig.AgentID {
				l.ToolUse = t.ID // the latest such call
			}
		}
	}
	if s.broken == WaitingRefreshes {
		x.Activity = s.now
	}
	s.lock(x, l)
}

// lock sets a soft lock. A second one only sharpens the first: neither the time
// nor the grace starts again.
func (s *State) lock(x *Session, l SoftLock) {
	if x.Lock != nil {
		if x.Lock.Reason == ReasonTimeout || x.Lock.Reason == ReasonBackground {
			x.Lock.Reason = l.Reason
		}
		if x.Lock.ToolUse == "" {
			x.Lock.ToolUse = l.ToolUse
		}
		return
	}
	x.Lock = &l
	s.tell(x, Locked, Change{Reason: l.Reason})
}

func (s *State) lockBackground(x *Session) {
	text := fmt.Sprintf("%s: only background work is left and its time is over: %s", x.Key, describe(x.Tasks))
	x.Pending, x.Abandoned = false, true
	s.lock(x, SoftLock{Reason: ReasonBackground, At: s.now})
	if !x.Noticed { // its lines may start a short turn every few minutes
		x.Noticed = true
		s.tell(x, Noticed, Change{Reason: ReasonBackground, Text: text})
	}
}

// unlock lifts the soft lock. byAgent keeps the dialog of somebody else for the
// time after that agent's work.
func (s *State) unlock(x *Session, sig event.Signal, byAgent bool) {
	if x.Lock == nil {
		return
	}
	if byAgent && x.Lock.AgentID != sig.AgentID && !s.personless(x.Lock) {
		dialog := *x.Lock
		x.Dialog = &dialog
	}
	reason := x.Lock.Reason
	x.Lock = nil
	s.tell(x, Unlocked, Change{Reason: reason})
}

// personless reports whether the registry itself set the lock: nobody was asked
// anything.
func (s *State) personless(l *SoftLock) bool {
	return l.Reason == ReasonTimeout || l.Reason == ReasonBackground
}

func (s *State) taskBegan(x *Session, sig event.Signal) {
	t := taskOf(sig)
	switch {
	case t.ID == "":
		return
	case t.Type == event.TaskTodo:
		if !slices.Contains(x.Todos, t.ID) && len(x.Todos) < maxLedger {
			x.Todos = append(x.Todos, t.ID)
		}
		if s.broken == TodosHold && x.Phase == Working {
			x.setTask(event.Task{ID: "todo-" + t.ID, Type: event.TaskShell})
		}
		return
	case x.Phase == Settling && x.Key.Provider == event.Codex:
		x.Phase, x.Pending, x.SettleAt = Working, true, 0
	case x.Phase != Working:
		return
	}
	x.setTask(t)
	if !weak(t) {
		x.WeakSince = 0
		if t.Type == event.TaskSubagent {
			sig.AgentID = t.ID
			s.agentWorked(x, sig)
		} else {
			x.Activity, x.Abandoned = s.now, false
			if x.Lock != nil && s.personless(x.Lock) {
				s.unlock(x, sig, false)
			}
		}
	}
}

// taskEnded clears the matching item only. It is no activity: a notification
// never starts or refreshes a session by itself.
func (s *State) taskEnded(x *Session, sig event.Signal) {
	t := taskOf(sig)
	x.Todos = slices.DeleteFunc(x.Todos, func(id string) bool { return t.Type == event.TaskTodo && id == t.ID })
	if t.Type == event.TaskTodo {
		return
	}
	if s.broken == NoticesRefresh && x.Phase == Working {
		x.Activity = s.now
	}
	if s.broken == NoticesStart && !x.Live() {
		s.work(x, sig)
	}
	if x.Phase != Working {
		return
	}
	had := len(x.Tasks)
	if sig.Tasks != nil {
		s.replaceTasks(x, sig.Tasks)
	}
	x.Tasks = slices.DeleteFunc(x.Tasks, func(o event.Task) bool { return t.ID != "" && o.ID == t.ID })
	x.Tools = slices.DeleteFunc(x.Tools, func(o Tool) bool { return t.ID != "" && o.AgentID == t.ID })
	if x.Dialog != nil && !slices.ContainsFunc(x.Tasks, func(o event.Task) bool { return o.Type == event.TaskSubagent }) {
		dialog := *x.Dialog
		x.Dialog = nil
		s.lock(x, dialog)
	}
	if had > 0 && len(x.Tasks) == 0 && (x.Pending || x.Abandoned) && x.Key.Provider == event.Codex && s.broken != CodexWaits {
		// After the root's Stop nothing else comes (contract Codex §5).
		if x.End == Interrupted {
			s.end(x, Interrupted, x.EndReason, "last subagent stopped", Idle)
			return
		}
		s.settle(x, Normal, "completed", 0)
		return
	}
	s.weigh(x)
}

// weigh notes since when nothing but weak work is left.
func (s *State) weigh(x *Session) {
	switch {
	case !x.Pending || len(x.Tasks) == 0:
	case x.strong():
		x.WeakSince, x.Noticed = 0, false
	case x.WeakSince == 0:
		x.WeakSince = s.now.Awake
	}
}

func (s *State) replaceTasks(x *Session, tasks []event.Task) {
	x.Tasks = nil
	for _, t := range tasks {
		if t.Type != event.TaskTodo && t.ID != "" {
			x.setTask(t)
		}
	}
}

// stopped: the root finished a turn. With work in flight the session stays, else
// it settles. The client's own list wins over the ledger.
func (s *State) stopped(x *Session, sig event.Signal) {
	if x.Phase != Working {
		return // later stops of an ended session are harmless
	}
	if sig.Tasks != nil && s.broken != LedgerWins {
		s.replaceTasks(x, sig.Tasks)
	}
	x.Tools = slices.DeleteFunc(x.Tools, func(t Tool) bool { return t.AgentID == "" })
	x.Dialog = nil
	if len(x.Tasks) == 0 || s.broken == StopAlwaysEnds {
		s.unlock(x, sig, false)
		s.settle(x, Normal, reasonOr(sig.Reason, "completed"), sig.Offset)
		return
	}
	x.Activity = s.now
	x.Pending, x.Abandoned, x.End, x.EndReason = true, false, "", ""
	s.weigh(x)
	s.tell(x, Deferred, Change{Text: describe(x.Tasks)})
	if x.Lock != nil && s.personless(x.Lock) && s.weakOver(x) {
		s.lockBackground(x) // a Stop that follows no turn gives no more time
		return
	}
	s.unlock(x, sig, false)
}

// settle starts the short wait before the end.
func (s *State) settle(x *Session, kind EndKind, reason string, offset int64) {
	x.Phase, x.SettleAt = Settling, s.now.Awake+Settle
	if s.broken == NoSettle {
		x.SettleAt = s.now.Awake
	}
	x.End, x.EndReason, x.EndOffset = kind, reason, offset
	x.Pending, x.Lock, x.Dialog = false, nil, nil
}

// interrupted reports whether it ended the session.
func (s *State) interrupted(x *Session, sig event.Signal) bool {
	switch x.Phase {
	case Settling, Carrying:
		return false // the end that was first counts
	case Idle:
		return false
	}
	reason := reasonOr(sig.Reason, "interrupted")
	// Codex subagents go on after the root was interrupted, and the last
	// SubagentStop is all that is heard of them (contract §5).
	if x.Key.Provider == event.Codex && slices.ContainsFunc(x.Tasks, func(t event.Task) bool { return t.Type == event.TaskSubagent }) {
		x.Tools = slices.DeleteFunc(x.Tools, func(t Tool) bool { return t.AgentID == "" })
		x.Tasks = slices.DeleteFunc(x.Tasks, func(t event.Task) bool { return t.Type != event.TaskSubagent })
		x.Pending, x.End, x.EndReason, x.EndOffset = true, Interrupted, reason, sig.Offset
		x.Activity, x.Abandoned = s.now, false
		s.unlock(x, sig, false)
		s.tell(x, Deferred, Change{Text: describe(x.Tasks)})
		return false
	}
	kind := Interrupted
	if s.broken == InterruptIsNormal {
		kind = Normal
	}
	x.EndOffset = sig.Offset
	s.end(x, kind, reason, sig.Source, Idle)
	return true
}

func (s *State) closed(x *Session, sig event.Signal) {
	reason := reasonOr(sig.Reason, "closed")
	switch {
	case x.Phase == Settling:
		s.leave(x, x.End, x.EndReason, sig.Source)
	case sig.Continues && x.Phase == Working:
		x.Phase, x.SettleAt, x.EndReason, x.Lock = Carrying, s.now.Awake+CarryOver, reason, nil
		// The successor's start may have been heard first.
		if p := x.Process; p != nil && !p.Shared {
			for _, next := range s.byProcess[*p] {
				if next != x && sameClient(next.Key, x.Key) && next.order > x.order &&
					(next.Phase == Working || next.Phase == Idle && next.Started.IsZero()) &&
					s.now.Awake-next.Activity.Awake <= CarryOver {
					s.carry(x, next, sig.Source)
					return
				}
			}
		}
		s.done(x, string(sig.Kind), sig)
	case x.Phase == Carrying:
		s.done(x, string(sig.Kind), sig)
	default:
		s.leave(x, Normal, reason, sig.Source)
	}
}

// leave takes a session away for good, ending its work if it has any.
func (s *State) leave(x *Session, kind EndKind, reason, source string) {
	if x.Phase == Gone {
		return
	}
	if x.Live() {
		s.end(x, kind, reason, source, Gone)
		return
	}
	s.clear(x, Gone)
	s.done(x, reason, event.Signal{Source: source})
}

// end ends the present piece of work, once.
func (s *State) end(x *Session, kind EndKind, reason, source string, phase Phase) {
	s.tell(x, Ended, Change{End: kind, Reason: reason})
	if s.broken == EndsTwice {
		s.tell(x, Ended, Change{End: kind, Reason: reason})
	}
	s.clear(x, phase)
	s.done(x, "ended "+string(kind)+": "+reason, event.Signal{Source: source, Offset: x.EndOffset})
}

func (s *State) clear(x *Session, phase Phase) {
	offset := x.EndOffset
	x.Phase, x.SettleAt, x.Busy, x.WeakSince = phase, 0, 0, 0
	x.Pending, x.Abandoned, x.End, x.EndReason, x.EndOffset = false, false, "", "", offset
	x.Lock, x.Dialog, x.Tools, x.Tasks, x.Noticed = nil, nil, nil, nil, false
	x.Activity = s.now
	if phase == Gone {
		x.SettleAt = s.now.Awake + forgetGone
		x.Todos = nil
		s.setProcess(x, nil)
	}
	s.watched++
}

// exited: a watched process is gone, and with it everything it ran. A shared
// daemon serves many sessions and outlives their clients, so its end proves
// nothing (contract Codex §7).
func (s *State) exited(p event.Process) {
	if p.Shared || s.config.IgnoreProcesses || s.broken == ExitIgnored {
		return
	}
	for _, x := range slices.Clone(s.byProcess[p]) {
		s.leave(x, Cancelled, "owner_exit", "process "+fmt.Sprint(p.PID)+" exited")
	}
}

// busy: a sign of life from the process tree. Alone it proves no work, since an
// orphaned client may burn CPU for days.
func (s *State) busy(key event.SessionKey) {
	x := s.sessions[key]
	if x == nil || x.Phase != Working || !x.inFlight() && s.broken != BusyIsWork {
		return
	}
	x.Busy = s.now.Awake
	if s.broken == BusyIsWork {
		x.Activity = s.now
	}
	if x.Lock != nil && x.Lock.Reason == ReasonTimeout && s.life(x)+s.config.Timeout > s.now.Awake {
		// It came back.
		x.Pending = x.Abandoned && len(x.Tasks) > 0
		if s.weakOver(x) {
			x.Pending = false // its time was over anyway
		} else {
			x.Abandoned = false
			s.unlock(x, event.Signal{}, false)
		}
	}
	s.done(x, "busy", event.Signal{Source: "process tree"})
}

func (s *State) setConfig(c Config) {
	s.config = c
	for _, x := range s.All() {
		if x.Lock != nil && x.Phase == Working && !s.personless(x.Lock) {
			x.Lock.HoldsUntil = 0
			if until := x.Lock.At.Awake + c.Grace; c.Grace > 0 && until > s.now.Awake {
				x.Lock.HoldsUntil = until
			}
		}
		s.update(x)
	}
	s.watched++
	s.expire()
}

// absorb takes over what a signal tells about the session itself. An update
// without a process keeps the watched one.
func (s *State) absorb(x *Session, sig event.Signal) {
	if sig.Process != nil && !s.config.IgnoreProcesses {
		s.setProcess(x, sig.Process)
	}
	if sig.AgentID != "" {
		return // a subagent's folder and transcript are its own
	}
	if sig.Cwd != "" {
		x.Cwd = sig.Cwd
	}
	if sig.Transcript != "" && sig.Transcript != x.Transcript {
		x.Transcript = sig.Transcript
		s.watched++
	}
	if sig.Prompt != "" {
		x.Prompt = sig.Prompt
	}
	if sig.LastMessage != "" {
		x.LastMessage = sig.LastMessage
	}
}

func (s *State) tell(x *Session, kind ChangeKind, c Change) {
	c.Kind, c.Key, c.At = kind, x.Key, s.now
	c.Session = Info{Started: x.Started, Activity: x.Activity, Cwd: x.Cwd, Transcript: x.Transcript,
		Prompt: x.Prompt, LastMessage: x.LastMessage}
	s.changes = append(s.changes, c)
}

// done recounts x and remembers the evidence.
func (s *State) done(x *Session, what string, sig event.Signal) {
	s.update(x)
	if n := len(x.Evidence); n > 0 {
		if e := &x.Evidence[n-1]; e.What == what && e.Source == sig.Source {
			e.Times++
			e.Last, e.Offset, e.Deadline, e.Holds = s.now, sig.Offset, x.due, x.holds
			return
		}
	}
	if len(x.Evidence) >= MaxEvidence {
		copy(x.Evidence, x.Evidence[1:])
		x.Evidence = x.Evidence[:MaxEvidence-1]
	}
	e := Evidence{At: s.now, Last: s.now, Times: 1, What: what, Source: sig.Source, Offset: sig.Offset,
		Deadline: x.due, Holds: x.holds, Process: x.Process}
	x.Evidence = append(x.Evidence, e)
}

// setTask adds or replaces one entry of the ledger. A full ledger forgets its
// oldest entry; what it misses then, the timeout covers.
func (x *Session) setTask(t event.Task) {
	for i := range x.Tasks {
		if x.Tasks[i].ID == t.ID {
			if t.Description == "" {
				t.Description = x.Tasks[i].Description
			}
			x.Tasks[i] = t
			return
		}
	}
	if len(x.Tasks) >= maxLedger {
		x.Tasks = slices.Delete(x.Tasks, 0, 1)
	}
	x.Tasks = append(x.Tasks, t)
}

func (x *Session) setTool(t Tool) {
	x.Tools = slices.DeleteFunc(x.Tools, func(o Tool) bool { return o.ID == t.ID })
	if len(x.Tools) >= maxLedger {
		x.Tools = slices.Delete(x.Tools, 0, 1)
	}
	x.Tools = append(x.Tools, t)
}

// taskOf returns the task a signal is about; a subagent is named by its id alone.
func taskOf(sig event.Signal) event.Task {
	if sig.Task != nil {
		return *sig.Task
	}
	if sig.AgentID != "" {
		return event.Task{ID: sig.AgentID, Type: event.TaskSubagent}
	}
	return event.Task{}
}

func fromTranscript(sig event.Signal) bool { return strings.HasPrefix(sig.Source, "transcript") }

func reasonOr(reason, otherwise string) string {
	if reason != "" {
		return reason
	}
	return otherwise
}

// describe names tasks for people: `monitor "tail the log", shell b12`.
func describe(tasks []event.Task) string {
	var b strings.Builder
	for i, t := range tasks {
		if i == 4 {
			fmt.Fprintf(&b, " and %d more", len(tasks)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(t.Type))
		if t.Description != "" {
			fmt.Fprintf(&b, " %q", event.Preview(t.Description))
		} else {
			fmt.Fprintf(&b, " %s", t.ID)
		}
	}
	return b.String()
}
