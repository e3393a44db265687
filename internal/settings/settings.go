// Package settings is lidguard's own settings: one JSON file per user. In come
// bytes or single key=value changes, out come a checked Settings or an error
// that names key, value and allowed range. Unknown keys are kept. It never
// clamps a value silently, except the one the table in docs/cli.md says.
package settings

// Settings are all settings, with their units in the names. Get a full set from
// Default or Load; the zero value is not meaningful.
type Settings struct {
	PreventSystemSleep   string // "off", "on", "strict" (strict: Linux)
	PreventDisplaySleep  bool
	PreventAwayModeSleep bool // Windows only
	ChangeLidAction      bool
	WatchParentProcess   bool
	PowerRequestReason   string

	PostStopSuspendDelaySeconds int    // ≥ 0
	SuspendMode                 string // "sleep", "hibernate", "none"
	PostStopSuspendSound        string // "off", a system sound name, or a .wav path
	SoundVolumePercent          int    // 0 = off, else 1–100
	SuspendHistoryCount         int    // 0 = off

	SessionTimeoutMinutes      int // 0 = off, else ≥ 1
	SoftLockGraceSeconds       int
	MaxToolMinutes             int // 0 = off
	MaxBackgroundMinutes       int // 0 = off
	RuntimeCleanupDelayMinutes int // -1 = off (never leave), 0 = at once

	ReachableMinutes   int // 0 = off
	ReachableOnBattery bool
	CountRemoteLogins  bool // Linux
	WakeAfterLimit     bool

	PreSuspendWebhookURL     string // "" = off
	PostSessionEndWebhookURL string // "" = off

	ClosedLidPermissionDecision string // "deny", "allow", "ask", "phone"
	ClosedLidInterrupt          bool
	ClosedLidCopilotStrict      bool
	PromptPreviews              bool

	PhoneURL         string // "" = off; a secret, see Key.Secret
	PhoneWaitSeconds int    // 10–540

	NetworkLostMinutes int // 0 = off
	NetworkLostRelease bool

	EmergencyHibernation        bool
	EmergencyHibernationMode    string // "low", "average", "high"
	EmergencyHibernationCelsius int    // 70–110

	BatteryFloorPercent int // 0 = off, else 1–90
	ProtectOnBattery    bool
}

// Default returns the settings of a fresh installation.
func Default() Settings {
	return Settings{
		PreventSystemSleep: "on", PreventAwayModeSleep: true, ChangeLidAction: true, WatchParentProcess: true,
		PowerRequestReason:          "A coding agent is working",
		PostStopSuspendDelaySeconds: 10, SuspendMode: "sleep", PostStopSuspendSound: "off", SuspendHistoryCount: 10,
		SessionTimeoutMinutes: 12, MaxToolMinutes: 240, MaxBackgroundMinutes: 120, RuntimeCleanupDelayMinutes: 10,
		ClosedLidPermissionDecision: "deny", PromptPreviews: true, PhoneWaitSeconds: 120, NetworkLostMinutes: 10,
		EmergencyHibernation: true, EmergencyHibernationMode: "average", EmergencyHibernationCelsius: 93,
		BatteryFloorPercent: 10, ProtectOnBattery: true,
	}
}
