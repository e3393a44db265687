package daemon

import (
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// ConfigOf maps the settings to what the reducers need of them.
func ConfigOf(s settings.Settings) CoreConfig {
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	return CoreConfig{
		Session: session.Config{
			Timeout:         minutes(s.SessionTimeoutMinutes),
			Grace:           time.Duration(s.SoftLockGraceSeconds) * time.Second,
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
			ExitDelay:             minutes(s.RuntimeCleanupDelayMinutes), // negative: never
			EmergencyHibernation:  s.EmergencyHibernation,
			EmergencyCelsius:      float64(s.EmergencyHibernationCelsius),
			FloorPercent:          float64(s.BatteryFloorPercent),
			ProtectOnBattery:      s.ProtectOnBattery,
		},
	}
}
