package awake

import (
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// wants reports whether a hold is wanted now.
func (s *State) wants(h *HoldState) bool {
	protected := s.Protected()
	if h.Hold == HoldLid && h.Held != 0 && !s.ExitFinal {
		// Dropping the lid lock of a shut machine makes logind suspend at once
		// (measured). Where hibernation was asked for, that would be the wrong
		// sleep: keep it until the outcome is known.
		if p := s.Pending; p != nil && (p.Stage == StageCalled || p.Stage == StageRetry) && p.Mode == Hibernate {
			return true
		}
	}
	if s.broken == HoldsOn && h.Held != 0 && s.Holding == 0 && h.Hold == HoldDisplay {
		return true
	}
	switch {
	case !protected:
		return false
	case h.Hold == HoldIdle:
		return s.Config.PreventIdle
	case h.Hold == HoldLid:
		return s.Config.ChangeLid
	case h.Hold == HoldDisplay:
		return s.Config.PreventDisplay
	}
	// The strict block also refuses the person's own suspend, so it never
	// stands with the lid open.
	return s.Config.PreventIdle && s.Config.Strict && (s.Lid != LidOpen || s.broken == StrictWhileOpen)
}

// reconcile asks for what is wanted and missing and drops what is held and
// unwanted. It drops in the order display, sleep, idle, lid: the last may put the
// machine to sleep by itself.
func (s *State) reconcile() {
	for i := range s.Holds {
		h := &s.Holds[i]
		h.Wanted = s.wants(h)
		if h.Asking != 0 && h.AskedAt+AnswerLimit <= s.Now.Awake {
			s.Late = append(s.Late, late{ID: h.Asking, Until: s.Now.Awake + RetryMost})
			s.again(h, "", "no answer") // a late grant is given back when it comes
		}
		if h.Wanted && h.Held == 0 && h.Asking == 0 && h.RetryAt <= s.Now.Awake {
			s.ask(h)
		}
	}
	s.Late = slices.DeleteFunc(s.Late, func(l late) bool { return l.Until <= s.Now.Awake })
	for _, hold := range [...]Hold{HoldDisplay, HoldSleep, HoldIdle, HoldLid} {
		h := s.hold(hold)
		if h.Wanted {
			continue
		}
		h.RetryAt, h.Pause, h.Who, h.Why, h.Lost = 0, 0, "", "", event.Instant{}
		if h.Held != 0 {
			s.drop(h.Held, hold)
			h.Held, h.Since = 0, event.Instant{}
		}
	}
	for i := range s.Dropping {
		if d := &s.Dropping[i]; d.Due <= s.Now.Awake {
			d.Pause = min(max(2*d.Pause, RetryFirst), RetryMost)
			d.Due = s.Now.Awake + max(d.Pause, AnswerLimit)
			s.emit(Effect{Kind: DoRelease, ID: d.ID, Hold: d.Hold})
		}
	}
}

func (s *State) hold(h Hold) *HoldState {
	for i := range s.Holds {
		if s.Holds[i].Hold == h {
			return &s.Holds[i]
		}
	}
	return &HoldState{Hold: h} // a state written by hand; nothing to do for it
}

func (s *State) ask(h *HoldState) {
	h.Asking, h.AskedAt, h.RetryAt = s.id(), s.Now.Awake, 0
	s.emit(Effect{Kind: DoAcquire, ID: h.Asking, Hold: h.Hold})
}

func (s *State) drop(id uint64, hold Hold) {
	for _, d := range s.Dropping {
		if d.ID == id {
			return
		}
	}
	s.Dropping = append(s.Dropping, dropping{ID: id, Hold: hold, Due: s.Now.Awake + AnswerLimit})
	s.emit(Effect{Kind: DoRelease, ID: id, Hold: hold})
}

// taken: the system granted lock id. The old lock of a renewed hold goes only
// now; a lock that nobody waits for any more goes back at once.
func (s *State) taken(id uint64) {
	if id == 0 {
		return
	}
	s.answered(id)
	for i := range s.Holds {
		h := &s.Holds[i]
		switch id {
		case h.Held:
			return
		case h.Asking:
			old := h.Held
			if !h.Lost.IsZero() {
				s.note("hold-back", string(h.Hold)+" is held again after "+(s.Now.Boot-h.Lost.Boot).Round(time.Millisecond).String())
			}
			h.Held, h.Asking, h.Since = id, 0, s.Now
			h.RetryAt, h.Pause, h.Who, h.Why, h.Lost = 0, 0, "", "", event.Instant{}
			if old != 0 {
				s.drop(old, h.Hold)
			}
			return
		}
	}
	if s.broken != LeaksLate {
		s.drop(id, "")
	}
}

// failed: an Acquire was denied or failed, a Release or the Restore failed.
func (s *State) failed(in Input) {
	if in.ID == 0 {
		return
	}
	s.answered(in.ID)
	if in.ID == s.RestoreID {
		s.RestoreID, s.RestoreDue = 0, s.Now.Awake+RetryFirst
		s.note("restore-failed", "putting back system values: "+in.Why)
		return
	}
	for i := range s.Holds {
		if h := &s.Holds[i]; h.Asking == in.ID {
			s.again(h, in.Who, in.Why)
			return
		}
	}
	for i := range s.Dropping {
		if d := &s.Dropping[i]; d.ID == in.ID {
			d.Pause = min(max(2*d.Pause, RetryFirst), RetryMost)
			d.Due = s.Now.Awake + d.Pause
			s.note("release-failed", "dropping "+string(d.Hold)+": "+in.Why)
		}
	}
}

// again plans the next try of a hold after a doubling pause. The first refusal
// is told, the repeats only show in the state.
func (s *State) again(h *HoldState, who, why string) {
	h.Asking = 0
	if h.Held != 0 {
		return // a renewal that failed: the old lock still stands
	}
	if h.Who != who || h.Why != why {
		s.note("hold-denied", string(h.Hold)+" is not held: "+why+by(who))
	}
	h.Who, h.Why = who, why
	h.Pause = min(max(2*h.Pause, RetryFirst), RetryMost)
	h.RetryAt = s.Now.Awake + h.Pause
	if s.broken == RetriesNot {
		h.RetryAt = s.Now.Awake + 1000*time.Hour
	}
}

// lost: the system dropped lock id. It is asked for again in this very step.
func (s *State) lost(id uint64) {
	if id == 0 {
		return
	}
	for i := range s.Holds {
		h := &s.Holds[i]
		switch {
		case s.broken == LostStaysLost:
		case h.Held == id:
			h.Held, h.Since, h.Lost, h.RetryAt, h.Pause = 0, event.Instant{}, s.Now, 0, 0
			s.note("hold-lost", "the system dropped "+string(h.Hold))
		case h.Asking == id: // lost before its grant was heard of
			h.Asking, h.RetryAt, h.Pause = 0, 0, 0
		}
	}
	for i := range s.Dropping {
		if s.Dropping[i].ID == id {
			s.Dropping = append(s.Dropping[:i], s.Dropping[i+1:]...)
			return
		}
	}
}

func (s *State) answered(id uint64) {
	s.Late = slices.DeleteFunc(s.Late, func(l late) bool { return l.ID == id })
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " (" + who + ")"
}
