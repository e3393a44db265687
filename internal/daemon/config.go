package daemon

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// minStay is how long a runtime stays without a session whatever the settings say:
// whoever started it has something to tell, and would find it gone again.
const minStay = 2 * time.Second

// phoneGrace is soft-lock-grace-seconds where a phone is set up and nothing else is
// said: long enough to see that something waits, and to reach the machine.
const phoneGrace = 180

// ConfigOf maps the settings to what the reducers need of them.
func ConfigOf(s settings.Settings) CoreConfig {
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	stay := minutes(s.RuntimeCleanupDelayMinutes) // negative: for ever
	if stay >= 0 {
		stay = max(stay, minStay)
	}
	grace := s.SoftLockGraceSeconds
	if grace == 0 && s.PhoneURL != "" {
		grace = phoneGrace
	}
	return CoreConfig{
		Session: session.Config{
			Timeout:         minutes(s.SessionTimeoutMinutes),
			Grace:           time.Duration(grace) * time.Second,
			MaxTool:         minutes(s.MaxToolMinutes),
			MaxBackground:   minutes(s.MaxBackgroundMinutes),
			IgnoreProcesses: !s.WatchParentProcess,
		},
		Awake: awake.Config{
			PreventIdle:           s.PreventSystemSleep != "off",
			Strict:                s.PreventSystemSleep == "strict",
			PreventDisplay:        s.PreventDisplaySleep,
			ChangeLid:             s.ChangeLidAction,
			SuspendMode:           awake.Mode(s.SuspendMode),
			SuspendDelay:          time.Duration(s.PostStopSuspendDelaySeconds) * time.Second,
			Sound:                 s.PostStopSuspendSound != "off",
			PreSuspendWebhook:     s.PreSuspendWebhookURL != "",
			PostSessionEndWebhook: s.PostSessionEndWebhookURL != "",
			ExitDelay:             stay,
			EmergencyHibernation:  s.EmergencyHibernation,
			EmergencyCelsius:      float64(s.EmergencyHibernationCelsius),
			FloorPercent:          float64(s.BatteryFloorPercent),
			ProtectOnBattery:      s.ProtectOnBattery,
			Reachable:             minutes(s.ReachableMinutes),
			ReachableOnBattery:    s.ReachableOnBattery,
			CountRemote:           s.CountRemoteLogins,
			Offline:               minutes(s.NetworkLostMinutes),
			OfflineRelease:        s.NetworkLostRelease,
			WakeAtReset:           s.WakeAfterLimit,
		},
	}
}
