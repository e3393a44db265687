package awake

import (
	"fmt"

	"github.com/lidguard-go/lidguard/internal/event"
)

// stageChecked is StageCheck with the answer in; it never outlives a step.
const stageChecked Stage = "checked"

// suspend starts, cancels and moves on the one pending suspend.
func (s *State) suspend() {
	s.stay()
	working := s.working()
	fell := s.Working && !working
	s.Working = working

	if s.Pending != nil {
		if why := s.cancelled(working); why != "" {
			s.cancel(why)
		}
	}
	owed := s.ends()
	if fell || s.wokeBlocked() {
		s.begin(owed)
	} else if owed != nil {
		s.post(owed)
	}
	for s.Pending != nil && s.Pending.Due <= s.Now.Awake {
		if why := s.cancelled(working); why != "" {
			s.cancel(why)
			return
		}
		s.advance()
	}
}

// ends returns the last normal end of this step, which may become the reason of
// a suspend; all others get their PostSessionEnd at once.
func (s *State) ends() *SessionEnd {
	var owed *SessionEnd
	for i := range s.in.Ends {
		if e := s.in.Ends[i]; e.Normal {
			if owed != nil {
				s.post(owed)
			}
			owed = &e
		}
	}
	return owed
}

// wokeBlocked: the machine woke with nobody there and work that may not go on.
func (s *State) wokeBlocked() bool {
	return s.Pending == nil && s.Holding > 0 && s.LastWoke == s.Now && !s.LastWoke.IsZero() && s.Blocked() != ""
}

// begin starts a suspend if nobody is there, else the machine is just released.
func (s *State) begin(owed *SessionEnd) {
	if p := s.Pending; p != nil && p.Stage == StageCalled {
		p.Tries = min(p.Tries, 1) // the call that is out serves this end as well, as its first try
	}
	if s.Pending != nil || !s.shut() || s.Config.SuspendMode == NoSuspend || s.Config.SuspendMode == "" ||
		s.ExitFinal || s.broken == SuspendsNever {
		if owed != nil {
			s.post(owed)
		}
		return
	}
	p := &Pending{Stage: StageDelay, Mode: s.Config.SuspendMode, Owed: owed,
		Due: max(s.Now.Awake+s.Config.SuspendDelay, s.BareAt)}
	if s.broken == DisplaysUnsettled {
		p.Due = s.Now.Awake + s.Config.SuspendDelay
	}
	onlyCancelled := len(s.in.Ends) > 0 && !s.in.NewlyLocked
	for i := range s.in.Ends {
		onlyCancelled = onlyCancelled && s.in.Ends[i].Cancelled
	}
	switch {
	case s.Holding > 0:
		if p.Reason = s.blockedReason(); p.Reason == BatteryFloor {
			s.note("battery-floor", fmt.Sprintf("%.0f %% on battery with the lid closed (%s): sessions no longer keep the machine awake", s.Battery.Percent, s.Blocked()))
		}
		if owed != nil {
			s.post(owed)
			p.Owed = nil
		}
	case owed != nil:
		p.Reason = Completed
	case onlyCancelled:
		p.Reason, p.Silent = Released, true
	case s.Locked > 0:
		p.Reason = SoftLocked
	default:
		p.Reason = Completed // interrupted
	}
	s.Pending = p
}

// cancelled says why the pending suspend must not go on; empty if it may.
func (s *State) cancelled(working bool) string {
	p := s.Pending
	switch {
	case p.Stage == StageCalled:
		return "" // the call is out; its result decides
	case working && s.broken != WorkCancelsNot:
		if s.Holding == 0 && s.remote() {
			return "somebody is logged in from afar"
		}
		return "a session works"
	case !s.shut() && s.broken != LidCancelsNot:
		return "somebody is there"
	case s.Config.SuspendMode == NoSuspend && p.Reason != EmergencyHibernation:
		return "suspend mode is none"
	}
	return ""
}

// cancel drops the pending suspend. The normal end that asked for it gets its
// PostSessionEnd unless its PreSuspend was already tried.
func (s *State) cancel(why string) {
	p := s.Pending
	if p == nil {
		return
	}
	s.Pending = nil
	s.note("suspend-cancelled", "suspend cancelled: "+why)
	if p.Owed != nil && s.broken != PostForgotten {
		s.post(p.Owed)
	}
	if p.Tries > 0 {
		s.history(p, "refused", "then cancelled: "+why)
	}
}

func (s *State) post(e *SessionEnd) {
	if s.Config.PostSessionEndWebhook {
		s.send(&Webhook{Kind: PostSessionEnd, Reason: SessionEnded, End: e, Live: s.Live, Locked: s.Locked})
	}
}

// advance moves the pending suspend past the stage that is over.
func (s *State) advance() {
	p := s.Pending
	switch p.Stage {
	case StageDelay:
		if s.BareAt > s.Now.Awake && s.broken != DisplaysUnsettled { // a display came and went
			p.Due = s.BareAt
			return
		}
		if s.broken == CancelTells {
			p.Silent = false
		}
		if s.Config.PreSuspendWebhook && !p.Silent && !p.Told {
			p.Stage, p.Due = StageWebhook, s.Now.Awake+WebhookLimit
			p.ID = s.send(&Webhook{Kind: PreSuspend, Reason: p.Reason, End: p.Owed, Live: s.Live, Locked: s.Locked})
			if s.broken != PostAlways {
				p.Owed = nil
			}
			return
		}
		p.Owed = nil
		s.sound()
	case StageWebhook:
		s.sound()
	case StageSound:
		p.ID = s.id()
		p.Stage, p.Due = StageCheck, s.Now.Awake+CheckLimit
		s.emit(Effect{Kind: DoCheck, ID: p.ID})
	case StageCheck:
		s.cancel("lid and displays could not be read")
	case stageChecked:
		if s.broken == PostAlways && p.Owed != nil {
			s.post(p.Owed)
		}
		if s.BareAt > s.Now.Awake && s.broken != DisplaysUnsettled {
			// A display came and went while webhook or sound ran.
			p.Stage, p.Due, p.Told = StageDelay, s.BareAt, true
			return
		}
		s.call()
	case StageCalled:
		if p.Slept {
			s.slept()
			return
		}
		why := "no answer and no sleep"
		if p.Cut {
			why = "the runtime restarted during the last try"
		}
		s.refused("", why)
	case StageRetry:
		if s.BareAt > s.Now.Awake && s.broken != DisplaysUnsettled {
			p.Due = s.BareAt
			return
		}
		s.call()
	}
}

func (s *State) sound() {
	p := s.Pending
	p.Stage, p.Due, p.ID = StageSound, s.Now.Awake, 0
	if s.Config.Sound {
		p.ID, p.Due = s.id(), s.Now.Awake+SoundLimit
		s.emit(Effect{Kind: DoSound, ID: p.ID})
	}
}

// call releases the protection and asks the system to sleep. The releases come
// first: from systemd 257 on, an own sleep block refuses the own suspend; and
// dropping the lid lock makes logind suspend by itself, which then is this sleep.
func (s *State) call() {
	p := s.Pending
	if s.Holding > 0 && p.Reason != EmergencyHibernation && s.broken != WorkCancelsNot {
		p.Reason = s.blockedReason() // a session began that may not go on
	}
	p.Stage, p.Due, p.Asked = StageCalled, s.Now.Awake+SuspendLimit, s.Now
	p.Tries++
	p.ID, p.Slept, p.Accepted = s.id(), false, false
	if s.broken != SuspendsHeld {
		s.reconcile()
	}
	s.emit(Effect{Kind: DoSuspend, ID: p.ID, Mode: p.Mode, Reason: p.Reason})
}

// called returns the pending suspend if its call is out; id 0 matches any.
func (s *State) called(id uint64) *Pending {
	if p := s.Pending; p != nil && p.Stage == StageCalled && (id == 0 || id == p.ID) {
		return p
	}
	return nil
}

// refused plans the next try, or gives up and says who refused and why.
func (s *State) refused(who, why string) {
	p := s.Pending
	s.Refused = &Refused{At: s.Now, Mode: p.Mode, Tries: p.Tries, Who: who, Why: why}
	s.note("suspend-refused", fmt.Sprintf("%s refused, try %d: %s%s", p.Mode, p.Tries, why, by(who)))
	emergency := p.Reason == EmergencyHibernation
	switch {
	case p.Tries >= SuspendTries && s.broken != TriesForEver || s.working():
		s.Pending = nil
		s.history(p, "refused", why+by(who))
	case emergency && p.Mode == Hibernate:
		s.history(p, "refused", why+by(who))
		p.Mode = Sleep
		p.Stage, p.Due = StageRetry, s.Now.Awake // at once
	default:
		p.Stage, p.Due = StageRetry, s.Now.Awake+SuspendRetry
	}
}

// sleeping: the system goes to sleep. If a suspend of ours was asked for, this is
// it, even where logind began it because the lid lock went or had already
// refused our call for being under way.
func (s *State) sleeping() {
	s.AsleepSince = s.Now
	if p := s.Pending; p != nil && (p.Stage == StageCalled || p.Stage == StageRetry) {
		p.Stage, p.Slept, p.Due, p.Asked = StageCalled, true, s.Now.Awake+SuspendLimit, s.Now
	}
}

// woke: the machine is back. gap says that the clocks prove a sleep.
func (s *State) woke(gap bool) {
	s.LastWoke = s.Now
	if !s.AsleepSince.IsZero() {
		gap = true
	}
	if p := s.called(0); p != nil && (gap || p.Slept || p.Accepted) {
		s.slept()
	}
	s.AsleepSince = event.Instant{}
	s.HeatLatch = false
	s.OfflineSince, s.Network = 0, NetworkUnknown // it takes a moment to connect
	for i := range s.Holds {
		s.Holds[i].RetryAt, s.Holds[i].Pause = 0, 0
	}
}

// slept writes the sleep down, once.
func (s *State) slept() {
	p := s.Pending
	s.Pending, s.Refused = nil, nil
	s.history(p, "slept", "")
	if s.broken == CountsTwice {
		s.history(p, "slept", "")
	}
}

func (s *State) history(p *Pending, result, detail string) {
	h := &HistoryEntry{At: p.Asked, Mode: p.Mode, Reason: p.Reason, Result: result, Detail: detail,
		Tries: p.Tries, Sessions: s.Live, Celsius: p.Celsius}
	if result == "slept" {
		h.Woke = s.Now
	}
	s.emit(Effect{Kind: DoHistory, Reason: p.Reason, History: h})
}
