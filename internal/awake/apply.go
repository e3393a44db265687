package awake

import (
	"fmt"
	"slices"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// New returns the state of a runtime that just started: nothing known of the
// machine, nothing held, and the first step will ask for a Restore.
func New(config Config) *State {
	s := &State{Schema: Schema, Config: config, Displays: UnknownDisplays}
	for _, h := range Holds() {
		s.Holds = append(s.Holds, HoldState{Hold: h})
	}
	return s
}

// Resume turns a state read from JSON into that of a new process at now. Locks
// died with the old process. After a crash (handover false) lasting values are
// put back first and unconfirmed PostSessionEnd calls are made again with their
// old IDs; after a hand-over the old process looks after both. What it could not
// put back, the new one does once the old one must be gone.
func (s *State) Resume(handover bool, now event.Instant) {
	for i := range s.Holds {
		h := &s.Holds[i]
		*h = HoldState{Hold: h.Hold, Wanted: h.Wanted}
	}
	s.Dropping, s.Late, s.RestoreID, s.RestoreDue, s.Restored = nil, nil, 0, 0, handover && s.Restored
	if handover && !s.Restored {
		s.RestoreDue = now.Awake + AnswerLimit // before, it would undo what the old one holds
	}
	s.Exiting, s.ExitFinal, s.HandedOver, s.ExitBy = false, false, false, 0
	s.QuietSince, s.AsleepSince = event.Instant{}, event.Instant{}
	s.Now, s.Gap = now, now.Boot-now.Awake
	s.WakeID, s.WakeSet = 0, false // died with the process that asked
	if !s.WakeAt.IsZero() {
		s.WakeID = s.id()
		s.wakeAgain = true
	}
	s.Sending = slices.DeleteFunc(s.Sending, func(w sending) bool { return handover || w.Webhook.Kind == PreSuspend })
	for i := range s.Sending {
		s.Sending[i].Due = 0 // sent again by the first step
	}
	if p := s.Pending; p != nil {
		switch p.Stage {
		case StageDelay:
		case StageCalled, StageRetry:
			if p.Tries >= SuspendTries {
				// The first step gives up and writes it down, as where no answer
				// comes.
				p.Stage, p.Due, p.ID, p.Cut = StageCalled, now.Awake, 0, true
				p.Accepted, p.Slept = false, false
				return
			}
			// Whether the machine slept is not known; if it is still away, it
			// is asked once more, without a second webhook.
			p.Stage, p.Due, p.Told = StageDelay, now.Awake+s.Config.SuspendDelay, true
			p.Accepted, p.Slept = false, false
		default:
			p.Stage, p.Due = StageSound, now.Awake
		}
		p.ID = 0
	}
}

// Apply takes one fact and returns what is to be done, in order. now.Awake and
// now.Boot must not go back.
func (s *State) Apply(in Input, now event.Instant) []Effect {
	s.Now, s.in, s.out = now, in, nil
	if gap := now.Boot - now.Awake; gap-s.Gap > GapSlept {
		s.Gap = gap
		s.woke(true)
		s.GapAt = now.Awake
	} else {
		s.Gap = max(s.Gap, gap)
	}

	switch in.Kind {
	case InSessions:
		s.Live, s.Holding, s.Locked = in.Live, in.Holding, in.Locked
	case InLid:
		s.Lid = in.Lid
	case InDisplays:
		s.displays(in.Displays)
	case InBattery:
		s.Battery = in.Battery
	case InHeat:
		s.heat(in)
	case InNetwork:
		s.Network = in.Network
	case InRemote:
		if s.Working || s.counting() { // such a login prolongs work and begins none
			s.Remote, s.RemoteWho = in.Remote, in.Who
		}
	case InLimit:
		s.limited(in)
	case InWakeSet:
		s.wakeSet(in)
	case InTaken:
		s.taken(in.ID)
	case InDenied, InFailed:
		s.failed(in)
	case InReleased:
		s.Dropping = slices.DeleteFunc(s.Dropping, func(d dropping) bool { return d.ID == in.ID })
	case InLost:
		s.lost(in.ID)
	case InRestored:
		if in.ID == s.RestoreID {
			s.Restored, s.RestoreID, s.RestoreDue = true, 0, 0
		}
	case InService:
		for i := range s.Holds {
			s.Holds[i].RetryAt, s.Holds[i].Pause = 0, 0
		}
	case InSuspended:
		if p := s.called(in.ID); p != nil {
			p.Accepted = true
		}
	case InRefused:
		if p := s.called(in.ID); p != nil && !p.Slept {
			s.refused(in.Who, in.Why)
		}
	case InWebhookDone:
		s.sent(in.ID)
	case InSoundDone:
		if p := s.Pending; p != nil && p.Stage == StageSound && p.ID == in.ID && in.ID != 0 {
			p.Due = now.Awake
		}
	case InChecked:
		if p := s.Pending; p != nil && p.Stage == StageCheck && p.ID == in.ID && in.ID != 0 {
			p.Stage, p.Due, p.ID = stageChecked, now.Awake, 0
		}
	case InSleeping:
		if !s.stale() {
			s.sleeping()
		}
	case InWoke:
		if !s.stale() {
			s.woke(false)
		}
	case InConfig:
		if in.Config != nil {
			if p := s.Pending; p != nil && p.Stage == StageDelay {
				p.Due += in.Config.SuspendDelay - s.Config.SuspendDelay
			}
			s.Config = *in.Config
		}
	case InRenew:
		for i := range s.Holds {
			if h := &s.Holds[i]; h.Held != 0 && h.Asking == 0 {
				s.ask(h)
			}
		}
	case InShutdown, InHandedOver:
		s.leave(in.Kind == InHandedOver)
	}

	s.latch()
	s.network()
	s.wake()
	s.restore()
	s.suspend()
	s.tellRemote()
	s.resend()
	s.reconcile()
	s.exit()
	out := s.out
	s.in, s.out = Input{}, nil
	return out
}

// stale reports whether an announcement of sleeping or waking is that of a sleep
// which the clocks have already shown: it was queued before the sleep and read
// after it. Taken for a new one, it would count as the sleep of a call just made.
func (s *State) stale() bool { return s.GapAt != 0 && s.Now.Awake < s.GapAt+GapStale }

// Next returns how long after now the next deadline is, never negative; false if
// there is none.
func (s *State) Next(now event.Instant) (time.Duration, bool) {
	var best time.Duration
	found := false
	consider := func(wait time.Duration) {
		if wait = max(wait, 0); !found || wait < best {
			best, found = wait, true
		}
	}
	at := func(due time.Duration) {
		if due != 0 {
			consider(due - now.Awake)
		}
	}
	if s.BareAt > s.Now.Awake {
		at(s.BareAt)
	}
	if s.Pending != nil {
		at(s.Pending.Due)
	}
	for i := range s.Holds {
		switch h := &s.Holds[i]; {
		case h.Asking != 0:
			at(h.AskedAt + AnswerLimit)
		case h.Wanted && h.Held == 0:
			at(h.RetryAt)
		}
	}
	for i := range s.Dropping {
		at(s.Dropping[i].Due)
	}
	for i := range s.Late {
		at(s.Late[i].Until)
	}
	for i := range s.Sending {
		at(s.Sending[i].Due)
	}
	at(s.RestoreDue)
	if s.ReachUntil > s.Now.Awake {
		at(s.ReachUntil)
	}
	if s.OfflineSince != 0 && !s.Offline {
		at(s.OfflineSince + s.Config.Offline)
	}
	if !s.WakeAt.IsZero() {
		consider(s.WakeAt.Sub(now.Wall))
	}
	if !s.Exiting {
		at(s.ExitBy)
		if !s.QuietSince.IsZero() && s.Config.ExitDelay >= 0 {
			consider(s.QuietSince.Boot + s.Config.ExitDelay - now.Boot)
		}
	}
	return best, found
}

// Away reports whether nobody can be at the machine: lid closed, and no display
// that blocks a suspend for as long as displays take to settle. Unknown is never
// away.
func (s *State) Away() bool {
	return s.shut() && (s.BareAt <= s.Now.Awake || s.broken == DisplaysUnsettled)
}

// shut is Away without the settling of displays.
func (s *State) shut() bool {
	lid := s.Lid == LidClosed || s.broken == LidIgnored || s.broken == UnknownIsClosed && s.Lid == LidUnknown
	return lid && (s.Displays == 0 && s.BareAt != 0 || s.broken == DisplaysIgnored)
}

// Protected reports whether the machine is to be kept awake now.
func (s *State) Protected() bool { return !s.ExitFinal && (s.working() || s.counting()) }

// Lockless reports whether the settings take no lock for what is to be kept awake.
func (s *State) Lockless() bool {
	return s.Protected() && !s.Config.PreventIdle && !s.Config.PreventDisplay && !s.Config.ChangeLid
}

// Leaving reports whether the runtime was told to exit and nothing came since
// that calls it back.
func (s *State) Leaving() bool { return s.Exiting }

// WantsHeat reports whether heat is to be read every HeatPoll.
func (s *State) WantsHeat() bool { return s.Config.EmergencyHibernation && s.Protected() && s.Away() }

// Blocked says why working sessions do not keep the machine awake; empty if they
// do.
func (s *State) Blocked() string {
	switch {
	case s.HeatLatch:
		return "heat"
	case s.floor():
		return "battery floor"
	case s.Battery.Known && s.Battery.OnBattery && !s.Config.ProtectOnBattery:
		return "on battery"
	case s.Offline && s.Config.OfflineRelease:
		return "no network"
	}
	return ""
}

// working: sessions keep the machine awake, or what the person set beside them.
func (s *State) working() bool {
	return (s.Holding > 0 || s.reachable() || s.remote()) && s.Blocked() == ""
}

// counting: a pending suspend still runs its delay, webhook, sound or check.
func (s *State) counting() bool {
	return s.Pending != nil && s.Pending.Stage != StageCalled && s.Pending.Stage != StageRetry &&
		s.broken != ReleasesEarly
}

func (s *State) displays(n int) {
	switch {
	case n != 0:
		s.BareAt = 0
	case !s.SeenDisplays:
		s.BareAt = max(s.Now.Awake, 1)
	case s.Displays != 0 || s.BareAt == 0:
		s.BareAt = s.Now.Awake + DisplaySettle
	}
	s.Displays = n
	s.SeenDisplays = s.SeenDisplays || n != UnknownDisplays
}

// threshold is the temperature of the setting within what makes sense.
func (s *State) threshold() float64 { return min(max(s.Config.EmergencyCelsius, 70), 110) }

func (s *State) heat(in Input) {
	s.Celsius = nil
	if in.Unreadable || !(in.Celsius > -100 && in.Celsius < 200) { // also NaN
		return
	}
	c := in.Celsius
	s.Celsius = &c
	if c < s.threshold()-HeatHysteresis {
		s.HeatLatch = false
	}
	away := s.Away() || s.broken == HeatWhileOpen
	if !s.Config.EmergencyHibernation || s.HeatLatch || c < s.threshold() || !away || !s.Protected() || s.broken == HeatIgnored {
		return
	}
	if s.called(0) != nil {
		// A sleep is on its way already; only make sure that it is tried on.
		s.HeatLatch = true
		return
	}
	s.cancel("heat")
	s.emit(Effect{Kind: DoCancelReplies})
	s.note("heat", fmt.Sprintf("%.0f °C with the lid closed: hibernating", c))
	s.HeatLatch = true
	if s.Config.PreSuspendWebhook {
		s.send(&Webhook{Kind: PreSuspend, Reason: EmergencyHibernation, Live: s.Live, Locked: s.Locked})
	}
	s.Pending = &Pending{Mode: Hibernate, Reason: EmergencyHibernation, Silent: true, Celsius: &c}
	s.call()
}

// latch keeps the two latches true to their conditions. Both only matter while
// nobody is there.
func (s *State) latch() {
	if !s.Away() && s.broken != HeatWhileOpen || !s.Config.EmergencyHibernation {
		s.HeatLatch = false
	}
	if b, floor := s.Battery, s.Config.FloorPercent; b.Known {
		switch {
		case floor <= 0 || b.Percent >= floor+FloorHysteresis:
			s.FloorLatch = false
		case b.OnBattery && s.Away() && b.Percent < floor && s.broken != FloorFlaps:
			s.FloorLatch = true
		}
	}
}

// floor reports whether the battery is too low to work on with nobody there.
func (s *State) floor() bool {
	b, floor := s.Battery, s.Config.FloorPercent
	if floor <= 0 || !b.Known || !b.OnBattery || !s.Away() || s.broken == FloorIgnored {
		return false
	}
	return b.Percent < floor || s.FloorLatch && b.Percent < floor+FloorHysteresis
}

// restore asks once, and again until it worked, that whatever a dead runtime
// left changed is put back.
func (s *State) restore() {
	if s.Restored || s.RestoreDue > s.Now.Awake {
		return
	}
	s.RestoreID, s.RestoreDue = s.id(), s.Now.Awake+AnswerLimit
	s.emit(Effect{Kind: DoRestore, ID: s.RestoreID})
}

// leave starts a final exit.
func (s *State) leave(handedOver bool) {
	if s.ExitFinal {
		return
	}
	if handedOver {
		s.Pending, s.Sending = nil, nil // the successor has them
	} else {
		s.cancel("shutdown")
	}
	s.ExitFinal, s.HandedOver, s.ExitBy = true, handedOver, s.Now.Awake+LeaveLimit
}

// exit gives out DoExit when nothing has been under way for long enough.
func (s *State) exit() {
	quiet := (s.Live == 0 || s.ExitFinal || s.broken == LeavesEarly) && (s.WakeAt.IsZero() || s.ExitFinal) &&
		s.Pending == nil && len(s.Sending) == 0 && len(s.Dropping) == 0 && len(s.Late) == 0
	for i := range s.Holds {
		quiet = quiet && s.Holds[i].Held == 0 && s.Holds[i].Asking == 0
	}
	switch {
	case !quiet:
		s.QuietSince = event.Instant{}
	case s.QuietSince.IsZero():
		s.QuietSince = s.Now
	}
	if s.ExitFinal {
		if !s.Exiting && (quiet || s.ExitBy <= s.Now.Awake) {
			s.Exiting = true
			s.emit(Effect{Kind: DoExit, HandedOver: s.HandedOver})
		}
		return
	}
	if !quiet || s.Config.ExitDelay < 0 {
		s.Exiting = false
		return
	}
	if !s.Exiting && s.Now.Boot >= s.QuietSince.Boot+s.Config.ExitDelay && s.broken != LeavesNever {
		s.Exiting = true
		s.emit(Effect{Kind: DoExit})
	}
}

// send starts one webhook and remembers it until it is done.
func (s *State) send(w *Webhook) uint64 {
	id := s.id()
	s.Sending = append(s.Sending, sending{ID: id, Due: s.Now.Awake + 2*WebhookLimit, Webhook: w})
	s.emit(Effect{Kind: DoWebhook, ID: id, Reason: w.Reason, Webhook: w})
	return id
}

func (s *State) sent(id uint64) {
	s.Sending = slices.DeleteFunc(s.Sending, func(w sending) bool { return w.ID == id })
	if p := s.Pending; p != nil && p.Stage == StageWebhook && p.ID == id {
		p.Due = s.Now.Awake
	}
}

// resend repeats, once, webhooks whose delivery a crash left open, and forgets
// those that nobody answered for.
func (s *State) resend() {
	kept := s.Sending[:0]
	for _, w := range s.Sending {
		switch {
		case w.Due == 0:
			w.Due = s.Now.Awake + 2*WebhookLimit
			s.emit(Effect{Kind: DoWebhook, ID: w.ID, Reason: w.Webhook.Reason, Webhook: w.Webhook})
		case w.Due <= s.Now.Awake:
			continue
		}
		kept = append(kept, w)
	}
	clear(s.Sending[len(kept):])
	s.Sending = kept
}

func (s *State) id() uint64 {
	s.NextID++
	return s.NextID
}

func (s *State) emit(e Effect) { s.out = append(s.out, e) }

func (s *State) note(code, text string) { s.emit(Effect{Kind: DoNote, Code: code, Text: text}) }
