package session

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Schema is the version of State's JSON. Another version is refused, so that an
// older runtime never misreads a newer one's sessions.
const Schema = 1

// State is all sessions. It is owned by one goroutine. Every Apply costs a few
// map and heap steps, whatever the number of sessions.
type State struct {
	config Config
	now    event.Instant

	sessions map[event.SessionKey]*Session
	// byProcess holds the sessions of each process that is watched.
	byProcess map[event.Process][]*Session
	deadlines deadlines
	created   uint64
	watched   uint64

	holding, live, locked int

	changes []Change // of the Apply under way
	broken  Rule
}

// New returns a State without sessions.
func New(config Config) *State {
	return &State{
		config:    config,
		sessions:  map[event.SessionKey]*Session{},
		byProcess: map[event.Process][]*Session{},
	}
}

// Config returns the configuration in force.
func (s *State) Config() Config { return s.config }

// Summary returns the counts the awake decision needs.
func (s *State) Summary() Summary {
	return Summary{Live: s.live, Holding: s.holding, Locked: s.locked}
}

// Next returns the next deadline on the Awake clock; false if there is none.
func (s *State) Next() (time.Duration, bool) {
	if len(s.deadlines) == 0 {
		return 0, false
	}
	return s.deadlines[0].due, true
}

// Get returns the session of key, or nil. The caller must not change it.
func (s *State) Get(key event.SessionKey) *Session { return s.sessions[key] }

// All returns the sessions in the order they were first seen, without those
// that are gone. The caller must not change them.
func (s *State) All() []*Session {
	all := make([]*Session, 0, len(s.sessions))
	for _, x := range s.sessions {
		if x.Phase != Gone {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b *Session) int { return cmp.Compare(a.order, b.order) })
	return all
}

// Watched counts up whenever the processes or transcripts that deserve watching
// may have changed, so that a caller need not compare lists after each input.
func (s *State) Watched() uint64 { return s.watched }

// Live reports whether the session has work that is not over: it works, waits
// for a person, or settles.
func (x *Session) Live() bool {
	return x.Phase == Working || x.Phase == Settling || x.Phase == Carrying
}

// Due returns the next deadline of the session on the Awake clock, 0 for none.
func (x *Session) Due() time.Duration { return x.due }

// Holds reports whether the session kept the machine awake after the last step.
func (x *Session) Holds() bool { return x.holds }

// Doing is the word for people: working, tool, background, waiting, settling or
// idle.
func (x *Session) Doing() string {
	switch {
	case !x.Live():
		return "idle"
	case x.Lock != nil:
		return "waiting"
	case x.Phase != Working:
		return "settling"
	case x.Pending:
		return "background"
	case len(x.Tools) > 0:
		return "tool"
	}
	return "working"
}

// update recounts one session and its place among the deadlines. Every change of
// a session ends with it.
func (s *State) update(x *Session) {
	live := x.Live()
	holds := live && (x.Lock == nil || x.Lock.HoldsUntil > s.now.Awake)
	locks := live && x.Lock != nil
	if s.broken == LocksHold {
		holds = live
	}
	count := func(n *int, was *bool, is bool) {
		if *was != is {
			*was = is
			if is {
				*n++
			} else {
				*n--
			}
		}
	}
	count(&s.live, &x.lives, live)
	count(&s.holding, &x.holds, holds)
	count(&s.locked, &x.locks, locks)

	x.due = s.due(x)
	switch {
	case s.sessions[x.Key] != x || x.due == 0:
		if x.heap >= 0 {
			heap.Remove(&s.deadlines, x.heap)
		}
	case x.heap < 0:
		heap.Push(&s.deadlines, x)
	default:
		heap.Fix(&s.deadlines, x.heap)
	}
}

// due is when x changes by itself, 0 for never.
func (s *State) due(x *Session) time.Duration {
	switch x.Phase {
	case Idle:
		return x.Activity.Awake + forgetIdle
	case Settling, Carrying, Gone:
		return x.SettleAt
	}
	if l := x.Lock; l != nil {
		if l.HoldsUntil > s.now.Awake {
			return l.HoldsUntil
		}
		if s.config.Timeout > 0 {
			return max(x.Activity.Awake, l.At.Awake) + forgetLocked
		}
		return 0
	}
	var due time.Duration
	if s.config.Timeout > 0 && s.broken != NoTimeout {
		due = s.life(x) + s.config.Timeout
	}
	if at := s.weakUntil(x); at > 0 && (due == 0 || at < due) {
		due = at
	}
	return due
}

// life is the last time the session proved to be at work. Signs of life of a
// silent tool or background command count until MaxTool after the last real
// activity, so that what hangs with a busy loop is let go of. They were noted
// while something was in flight and still count when it ends: the turn that
// reads the result is about to begin.
func (s *State) life(x *Session) time.Duration {
	if x.Busy <= x.Activity.Awake {
		return x.Activity.Awake
	}
	busy := x.Busy
	if s.config.MaxTool > 0 && s.broken != NoToolBound {
		busy = min(busy, x.Activity.Awake+s.config.MaxTool-s.config.Timeout)
	}
	return max(busy, x.Activity.Awake)
}

// weakUntil is when monitors, crons and idle teammates alone stop holding the
// machine, 0 if that does not apply. A Stop settles in any case, since a goal
// turn may follow it.
func (s *State) weakUntil(x *Session) time.Duration {
	if !x.Pending || x.WeakSince == 0 || s.config.MaxBackground == 0 || s.broken == NoBackgroundBound {
		return 0
	}
	return max(x.WeakSince+s.config.MaxBackground, x.Activity.Awake+Settle)
}

// weakOver is whether their time is over, settled or not.
func (s *State) weakOver(x *Session) bool {
	return s.weakUntil(x) > 0 && x.WeakSince+s.config.MaxBackground <= s.now.Awake
}

// inFlight reports whether something runs that can be silent and alive.
func (x *Session) inFlight() bool { return len(x.Tools) > 0 || x.strong() }

// strong reports whether the ledger has work that is worth waiting for by
// itself. Shells and subagents end; monitors, crons and idle teammates need not
// (contract Claude §1 fact 7).
func (x *Session) strong() bool {
	return slices.ContainsFunc(x.Tasks, func(t event.Task) bool { return !weak(t) })
}

func weak(t event.Task) bool {
	return t.Idle || t.Type == event.TaskMonitor || t.Type == event.TaskCron
}

// add puts a new session into the registry, idle.
func (s *State) add(key event.SessionKey) *Session {
	s.created++
	x := &Session{Key: key, Phase: Idle, Activity: s.now, heap: -1, order: s.created}
	s.sessions[key] = x
	s.watched++
	return x
}

// drop takes a session out of the registry for good.
func (s *State) drop(x *Session) {
	s.setProcess(x, nil)
	x.Phase = Gone
	delete(s.sessions, x.Key)
	s.update(x)
	s.watched++
}

// setProcess replaces the watched process and its index entry.
func (s *State) setProcess(x *Session, p *event.Process) {
	if x.Process != nil && !x.Process.Shared {
		rest := s.byProcess[*x.Process]
		if p != nil && *p == *x.Process && len(rest) > 0 && rest[len(rest)-1] == x {
			return // as nearly always: it goes on in the same one
		}
		if i := slices.Index(rest, x); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		if len(rest) == 0 {
			delete(s.byProcess, *x.Process)
		} else {
			s.byProcess[*x.Process] = rest
		}
	}
	if (x.Process == nil) != (p == nil) || p != nil && *p != *x.Process {
		s.watched++
	}
	if p == nil {
		x.Process = nil
		return
	}
	own := *p
	x.Process = &own // never changed in place: the evidence points at it too
	if !own.Shared {
		s.byProcess[own] = append(s.byProcess[own], x)
	}
}

// deadlines is a heap of sessions by due time, oldest session first among
// equals, so that one instant's changes always come in one order.
type deadlines []*Session

func (d deadlines) Len() int { return len(d) }
func (d deadlines) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(d[i].due, d[j].due), cmp.Compare(d[i].order, d[j].order)) < 0
}
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].heap, d[j].heap = i, j
}
func (d *deadlines) Push(v any) {
	x := v.(*Session)
	x.heap = len(*d)
	*d = append(*d, x)
}
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	x.heap = -1
	return x
}

// Saved is a State as JSON: the facts, without what can be counted again. It is
// plain data, so that encoding/json reads and writes it in one go together with
// what it is part of.
type Saved struct {
	Schema   int           `json:"schema"`
	Config   Config        `json:"config"`
	Now      event.Instant `json:"now"`
	Sessions []*Session    `json:"sessions"`
}

// Save returns the state with its schema version. Its sessions are the state's
// own: it must be written before the next Apply.
func (s *State) Save() Saved {
	all := make([]*Session, 0, len(s.sessions))
	for _, x := range s.sessions {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *Session) int { return cmp.Compare(a.order, b.order) })
	return Saved{Schema: Schema, Config: s.config, Now: s.now, Sessions: all}
}

// State returns the state that was saved. It takes over the sessions.
func (w Saved) State() (*State, error) {
	if w.Schema != Schema {
		return nil, fmt.Errorf("sessions have schema %d, this program reads %d", w.Schema, Schema)
	}
	fresh := New(w.Config)
	fresh.now = w.Now
	for _, x := range w.Sessions {
		if x == nil || fresh.sessions[x.Key] != nil {
			return nil, errors.New("sessions hold an empty or repeated entry")
		}
		fresh.created++
		x.order, x.heap = fresh.created, -1
		p := x.Process
		x.Process = nil
		fresh.sessions[x.Key] = x
		fresh.setProcess(x, p)
		fresh.update(x)
	}
	return fresh, nil
}
