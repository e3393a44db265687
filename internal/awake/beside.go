package awake

import (
	"fmt"
	"time"
)

// What may keep the machine up or let it go beside the work of sessions, all of it
// only where the person asked for it: the time it stays reachable, logins from
// afar, a network that is gone, and a wake-up for the end of a limit.

// reachable: the time after the last work runs.
func (s *State) reachable() bool {
	return s.ReachUntil > s.Now.Awake || s.ReachUntil != 0 && s.broken == ReachesOn
}

// remote: somebody is logged in from afar, and counts.
func (s *State) remote() bool { return s.Config.CountRemote && s.Remote > 0 }

// mayReach reports whether the power supply allows the machine to stay up for
// nobody in particular. A machine without a battery is on mains.
func (s *State) mayReach() bool {
	return s.Config.ReachableOnBattery || s.ReachFree || !s.Battery.Known || !s.Battery.OnBattery
}

// stay begins and ends the time that the machine stays reachable. A session that a
// person removed or whose process died begins none: nobody waits for more of it.
func (s *State) stay() {
	busy := s.Holding > 0 && s.Blocked() == ""
	ended := s.Busy && !busy
	s.Busy = busy
	if ended && s.Blocked() == "" && s.Config.Reachable > 0 && s.mayReach() && !s.onlyCancelled() && s.broken != ReachesNever {
		s.ReachUntil = s.Now.Awake + s.Config.Reachable
		s.note("reachable", fmt.Sprintf("the work is over; the machine stays reachable for %s", s.Config.Reachable))
	}
	if !s.reachable() || busy || s.Blocked() != "" || !s.mayReach() && s.broken != ReachesOnBattery || s.Config.Reachable <= 0 && !s.ReachFree {
		s.ReachUntil, s.ReachFree = 0, false
	}
}

// tellRemote says once that it is logins which keep the machine up, and forgets
// them where nothing does.
func (s *State) tellRemote() {
	switch only := s.Working && !s.Busy && !s.reachable(); {
	case !s.Protected():
		s.Remote, s.RemoteWho, s.RemoteTold = 0, "", false
	case !only:
		s.RemoteTold = false
	case !s.RemoteTold:
		s.RemoteTold = true
		s.note("remote-login", "the work is over; the machine stays up for "+s.RemoteWho)
	}
}

// onlyCancelled: all that this step heard of sessions is that some went away.
func (s *State) onlyCancelled() bool {
	for i := range s.in.Ends {
		if !s.in.Ends[i].Cancelled {
			return false
		}
	}
	return len(s.in.Ends) > 0 && !s.in.NewlyLocked
}

// blockedReason is why sessions at work no longer keep the machine awake.
func (s *State) blockedReason() Reason {
	if s.Blocked() == "no network" {
		return NetworkLost
	}
	return BatteryFloor
}

// WantsNetwork reports whether the network is to be looked at every SlowPoll: only
// while agents work with nobody there, who could see for themselves.
func (s *State) WantsNetwork() bool { return s.Config.Offline > 0 && s.Holding > 0 && s.Away() }

// WantsRemote reports whether the logins from afar are to be counted every
// SlowPoll.
func (s *State) WantsRemote() bool { return s.Config.CountRemote && s.Protected() }

// network tells a network that stays away, once, and that it is back.
func (s *State) network() {
	if s.Network != NetworkDown || !s.WantsNetwork() {
		if s.Offline && s.Network == NetworkUp {
			s.note("network-back", "the network is back after "+(s.Now.Awake-s.OfflineSince).Round(time.Second).String())
		}
		s.OfflineSince, s.Offline = 0, false
		if !s.WantsNetwork() {
			s.Network = NetworkUnknown // a memory is no reading
		}
		return
	}
	if s.OfflineSince == 0 {
		s.OfflineSince = max(s.Now.Awake, 1)
	}
	if !s.Offline && s.Now.Awake >= s.OfflineSince+s.Config.Offline {
		s.Offline = true
		does := "the agents go on"
		if s.Config.OfflineRelease {
			does = "sessions no longer keep the machine awake"
		}
		s.note("network-lost", fmt.Sprintf("no network for %s with the lid closed: %s", s.Config.Offline, does))
	}
}

// limited: a turn ended by a limit. The earliest end of one counts.
func (s *State) limited(in Input) {
	ahead := in.At.Sub(s.Now.Wall)
	if !s.Config.WakeAtReset || ahead <= 0 || ahead > ResetMost || !s.WakeAt.IsZero() && !in.At.Before(s.WakeAt) {
		return
	}
	s.WakeAt, s.WakeFor = in.At, in.Who
	s.askWake()
}

func (s *State) askWake() {
	s.WakeID, s.WakeSet = s.id(), false
	s.emit(Effect{Kind: DoWake, ID: s.WakeID, At: s.WakeAt})
}

// wakeSet: the system took the wake-up, or refused it.
func (s *State) wakeSet(in Input) {
	if in.ID != s.WakeID || in.ID == 0 {
		return
	}
	s.WakeID = 0
	if s.WakeAt.IsZero() {
		return
	}
	at := s.WakeAt.UTC().Format("2006-01-02 15:04 MST")
	if s.WakeSet = in.Why == ""; s.WakeSet {
		s.note("wake-asked", fmt.Sprintf("the machine is to wake at %s, when the limit of %s is over", at, s.WakeFor))
	} else {
		s.note("wake-refused", fmt.Sprintf("the machine will not wake at %s, when the limit of %s is over: %s", at, s.WakeFor, in.Why))
	}
}

// wake gives up a wake-up that is no longer wanted, and lets the machine stay up
// for a moment once its time has come.
func (s *State) wake() {
	switch {
	case s.WakeAt.IsZero():
	case !s.Config.WakeAtReset || s.ExitFinal && !s.HandedOver:
		s.WakeAt, s.WakeFor = time.Time{}, ""
		s.askWake()
	case !s.Now.Wall.Before(s.WakeAt):
		s.note("limit-over", "the limit of "+s.WakeFor+" is over")
		s.WakeAt, s.WakeFor, s.WakeID, s.WakeSet = time.Time{}, "", 0, false
		if s.Holding == 0 && s.Blocked() == "" {
			s.ReachUntil, s.ReachFree = s.Now.Awake+ResetStay, true
		}
	case s.wakeAgain:
		s.askWake()
	}
	s.wakeAgain = false
}
