package doctor

import (
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/settings"
)

// The codes of findings about the machine's power rights.
const (
	WSLGuest      = "wsl-guest"
	InContainer   = "in-container"
	NoLogin1      = "no-login1"
	RightsMissing = "rights-missing"
	RightsUnknown = "rights-unknown"
	IdleDaemon    = "idle-daemon"
)

// PowerFacts say what this process may do with the power of a Linux machine.
type PowerFacts struct {
	Settings settings.Settings
	Guest    string // what stands between this Linux and the machine: "wsl", a kind of container
	Login1   string // why login1 does not answer
	Polkit   string // why polkit does not
	Missing  []Right
	// HasSession and Active: the login session that polkit's defaults go by.
	HasSession, Active bool
	CanHibernate       string // login1's word
	// Deaf are idle daemons that run here and do not heed login1's locks.
	Deaf []string
}

// Right is an action that is not granted.
type Right struct {
	Action, For string
	Unknown     bool // polkit did not say
}

// Power checks whether lidguard can keep this machine awake and let it sleep.
func Power(f PowerFacts) []Finding {
	return append(rights(f), deaf(f)...)
}

func deaf(f PowerFacts) []Finding {
	if len(f.Deaf) == 0 || f.Settings.PreventSystemSleep == "off" {
		return nil
	}
	names := strings.Join(f.Deaf, " and ")
	return one(IdleDaemon, "take suspending out of its settings and let logind do it, which asks (`IdleAction=suspend` in logind.conf)",
		"%s acts on an idle machine here and does not heed login1's locks: if it is set to suspend, agents do not keep it from that", names)
}

func rights(f PowerFacts) []Finding {
	switch {
	case f.Guest == "wsl":
		return one(WSLGuest, "run lidguard on the Windows side as well",
			"this Linux is a guest of Windows (WSL): nothing in here keeps the machine awake")
	case f.Guest != "" && f.Login1 != "":
		return one(InContainer, "run lidguard on the host",
			"this is a container (%s) without the host's login1: nothing in here keeps the machine awake", f.Guest)
	case f.Login1 != "":
		return one(NoLogin1, "lidguard needs systemd-logind or elogind, and the system bus",
			"login1 does not answer, so nothing can keep this machine awake: %s", f.Login1)
	}
	var words []string
	unknown := false
	for _, r := range f.Missing {
		if f.needs(r.Action) {
			words = append(words, r.For)
			unknown = unknown || r.Unknown
		}
	}
	switch {
	case len(words) == 0:
		return nil
	case unknown:
		return one(RightsUnknown, "`lidguard linux-permission check` asks again",
			"whether lidguard may hold off sleep here is not known: %s", f.Polkit)
	}
	why := ""
	switch {
	case !f.HasSession:
		why = ", since nobody is logged in where it runs (as over ssh without a session, or in cron)"
	case !f.Active:
		why = ", since your session is not the active one"
	}
	return one(RightsMissing, "`lidguard linux-permission install` grants it",
		"lidguard may not %s%s", strings.Join(words, ", "), why)
}

// needs reports whether the settings make use of an action. The actions for the
// time another user is logged in are no finding: then the system refuses, and says
// so.
func (f PowerFacts) needs(action string) bool {
	s := f.Settings
	hibernates := f.CanHibernate != "na" && (s.SuspendMode == "hibernate" || s.EmergencyHibernation)
	switch strings.TrimPrefix(action, "org.freedesktop.login1.") {
	case "inhibit-block-idle":
		return s.PreventSystemSleep != "off"
	case "inhibit-block-sleep":
		return s.PreventSystemSleep == "strict"
	case "inhibit-handle-lid-switch":
		return s.ChangeLidAction
	case "suspend":
		return s.SuspendMode == "sleep" || s.EmergencyHibernation
	case "hibernate":
		return hibernates
	}
	return false
}

// MacFacts say which commands sudo does not run for this user without a password.
type MacFacts struct {
	Settings settings.Settings
	Missing  []Right // Action is the command
}

// Mac checks whether lidguard can do on a Mac what the settings ask for. What
// holds off idle sleep there needs no right.
func Mac(f MacFacts) []Finding {
	var words []string
	for _, r := range f.Missing {
		if f.needs(r.Action) && !slices.Contains(words, r.For) {
			words = append(words, r.For)
		}
	}
	if len(words) == 0 {
		return nil
	}
	return one(RightsMissing, "`lidguard macos-permission install` grants it", "lidguard may not %s", strings.Join(words, ", "))
}

// needs reports whether the settings make use of a command.
func (f MacFacts) needs(command string) bool {
	s := f.Settings
	switch {
	case strings.Contains(command, " disablesleep "):
		return s.ChangeLidAction
	case strings.Contains(command, " hibernatemode "):
		return s.SuspendMode == "hibernate" || s.EmergencyHibernation
	}
	return s.EmergencyHibernation // it goes by the temperatures
}
