package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/settings"
	"github.com/spf13/cobra"
)

func (a *app) canCloseCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "can-close",
		Short: "may I close the lid now, and why",
		Example: `lidguard can-close
lidguard can-close && notify-send 'close it'`,
		Long: "Yes when the agents go on working, or nothing is at work. Tells which locks are really\n" +
			"held, who handles the lid, what the system grants, displays, battery, temperature, and\n" +
			"for each session whether a prompt of it is answered. Exit code 0 is yes, 1 is no.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.dirs()
			if err != nil {
				return err
			}
			s, _, settingsErr := readSettings(d.Settings())
			reply, err := a.call(cmd.Context(), &ipc.Request{Op: ipc.OpStatus})
			var st *ipc.Status
			switch {
			case err == nil:
				st = statusOf(reply)
			case !errors.Is(err, ipc.ErrNotRunning):
				return err
			}
			var rights []ipc.Finding
			if st != nil {
				rights = a.powerFindings(cmd.Context())
				a.takeTemperature(cmd.Context(), st, s)
			}
			answer := canClose(st, s, a.Power != nil || a.MacPower != nil, rights)
			if st == nil && a.leftLive(d) {
				answer = conclude([]closeReason{{Code: "runtime-died", Text: "the runtime died with sessions under way, and nothing holds the machine for them " +
					"until their next event; `lidguard cleanup-orphans` starts it again at once"}})
			}
			if dir, err := stuckFolder(d.Run); st == nil && err != nil {
				answer = conclude([]closeReason{{Code: doctor.RuntimeFolder, Text: fmt.Sprintf("you cannot write in %s, so no runtime starts, "+
					"and no agent at work is known of or held for: %v", dir, err)}})
			}
			if settingsErr != nil {
				answer.Reasons = append(answer.Reasons, closeReason{For: true, Caveat: true, Code: "settings-broken",
					Text: "the settings cannot be read, so the defaults count"})
			}
			err = a.result(answer, func() { a.showAnswer(answer) })
			if err == nil && !answer.CanClose {
				return errNo{}
			}
			return err
		},
	}
}

// takeTemperature reads the sensors, which the runtime does only while the lid is
// closed.
func (a *app) takeTemperature(ctx context.Context, st *ipc.Status, s settings.Settings) {
	if st.Celsius != nil || a.Probe == nil {
		return
	}
	if m, err := a.probe(ctx); err == nil && m.Celsius != nil {
		value := map[string]float64{"low": m.Celsius.Low, "average": m.Celsius.Average, "high": m.Celsius.High}[s.EmergencyHibernationMode]
		st.Celsius = &value
	}
}

// closeAnswer is what `can-close --json` prints.
type closeAnswer struct {
	CanClose bool          `json:"can_close"`
	Reasons  []closeReason `json:"reasons"`
}

// closeReason speaks for or against closing the lid.
type closeReason struct {
	For  bool   `json:"for"`
	Code string `json:"code"`
	Text string `json:"text"`
	// Caveat: it is no reason against, and none for it either.
	Caveat bool `json:"caveat,omitempty"`
}

// canClose judges whether the lid can be closed without stopping an agent or
// leaving one stuck. st is nil when no runtime runs; rights are what doctor found
// about the power rights, where they were looked at. Every reason against is
// enough for a no; what is not known speaks against.
func canClose(st *ipc.Status, s settings.Settings, looked bool, rights []ipc.Finding) closeAnswer {
	if st == nil {
		return closeAnswer{true, []closeReason{{For: true, Code: "nothing-tracked", Text: "no session is tracked, so there is nothing to interrupt; the machine does what it always does"}}}
	}
	var out []closeReason
	add := func(good bool, code, format string, args ...any) {
		out = append(out, closeReason{For: good, Code: code, Text: fmt.Sprintf(format, args...)})
	}
	finding := func(good bool, f ipc.Finding) {
		out = append(out, closeReason{For: good, Caveat: good, Code: f.Code, Text: f.Text})
	}
	var working bool
	for _, session := range st.Sessions {
		switch {
		case session.SoftLock != "":
			add(false, "session-waits", "%s waits for you (%s); with the lid closed nobody sees it", session.Key, session.SoftLock)
		case session.Holds && (session.Key.Provider == event.Custom || session.Key.Provider == event.MCP):
			working = true
			add(true, "session-works", "%s works; it has no prompts that lidguard could answer", session.Key)
		case session.Holds && s.ClosedLidPermissionDecision == "phone" && s.PhoneURL != "" &&
			(session.Key.Provider == event.Claude || session.Key.Provider == event.Codex):
			working = true
			add(true, "session-works", "%s works; your phone is asked about a prompt of it, and without an answer it is denied", session.Key)
		case session.Holds && s.ClosedLidPermissionDecision == "phone":
			working = true
			add(true, "session-works", "%s works; a prompt of it is answered with deny, since your phone cannot be asked about it", session.Key)
		case session.Holds && s.ClosedLidPermissionDecision == "ask":
			working = true
			add(true, "session-works", "%s works; a prompt of it stays open until you are back", session.Key)
		case session.Holds:
			working = true
			add(true, "session-works", "%s works; a prompt of it is answered with %s", session.Key, s.ClosedLidPermissionDecision)
		default:
			add(true, "session-rests", "%s is not at work", session.Key)
		}
	}
	switch up := st.Protected && confirmed(st.Held); {
	case working:
	case st.Suspend != nil:
		add(true, "suspend-pending", "no session is at work, and a suspend is on its way")
		return conclude(out)
	case up && !st.ReachableUntil.IsZero():
		add(true, "reachable", "no session is at work; the machine stays reachable until %s", st.ReachableUntil.Local().Format("15:04"))
		return conclude(out)
	case up && st.RemoteLogins != "":
		add(true, "remote-logins", "no session is at work; the machine stays up for who is logged in from afar: %s", st.RemoteLogins)
		return conclude(out)
	default:
		add(true, "nothing-works", "no session is at work, so the machine does what it always does")
		return conclude(out)
	}
	lid, all := false, true
	for _, h := range st.Held {
		if !h.Confirmed {
			add(false, "lock-not-held", "%s is not held: %s", h.What, h.Error)
			all = false
			continue
		}
		add(true, "lock-held", "%s is held and confirmed", h.What)
		lid = lid || isLidHold(h.What)
	}
	switch {
	case !s.ChangeLidAction:
		add(false, "lid-action", "change-lid-action is off, so closing the lid does what the system is set to")
	case !lid:
		add(false, "lid-action", "nothing keeps the lid switch from suspending the machine")
	case len(st.LidHandlers) == 0: // else it is among the findings
		add(true, "lid-handler", "the system handles the lid here, and lidguard holds it off")
	}
	if all && s.PreventSystemSleep == "off" && lidAlone(st.Held) {
		add(false, "idle-sleep", "prevent-system-sleep is off, so the system may put the machine to sleep for being idle")
	}
	for _, f := range rights {
		// What is held is held, whatever would be granted now.
		finding(lid && all, f)
	}
	if looked && len(rights) == 0 {
		add(true, "rights", "the system grants what the settings need")
	}
	displays(st, add)
	battery(st, s, add)
	heat(st, s, add)
	for _, f := range st.Findings {
		// What is held again keeps the machine awake like what always was.
		finding(f.Code == "hold-gap", f)
	}
	return conclude(out)
}

// displays adds who sits in front of what once the lid is closed.
func displays(st *ipc.Status, add func(bool, string, string, ...any)) {
	switch {
	case st.Displays < 0:
		add(true, "displays", "the displays cannot be read, so you never count as away: prompts stay open")
	case st.Displays > 0:
		add(true, "displays", "%s connected, so you do not count as away: prompts stay open for you", count(st.Displays, "display"))
	default:
		add(true, "displays", "no other display: with the lid closed you count as away")
	}
}

// heat adds the temperature.
func heat(st *ipc.Status, s settings.Settings, add func(bool, string, string, ...any)) {
	if st.Celsius == nil {
		if s.EmergencyHibernation {
			add(true, "heat", "no temperature can be read, so there is no emergency hibernation")
		}
		return
	}
	limit := s.EmergencyHibernationCelsius
	switch {
	case !s.EmergencyHibernation:
		add(true, "heat", "%.0f °C; emergency hibernation is off", *st.Celsius)
	case *st.Celsius >= float64(limit):
		add(false, "heat", "%.0f °C: at %d °C a closed machine hibernates", *st.Celsius, limit)
	case *st.Celsius >= float64(limit-10):
		add(true, "heat", "%.0f °C is warm: at %d °C a closed machine hibernates", *st.Celsius, limit)
	default:
		add(true, "heat", "%.0f °C", *st.Celsius)
	}
}

// battery adds what the battery says about closing the lid.
func battery(st *ipc.Status, s settings.Settings, add func(bool, string, string, ...any)) {
	if st.OnBattery == nil || !*st.OnBattery {
		return
	}
	if !s.ProtectOnBattery {
		add(false, "battery", "the machine is on battery and protect-on-battery is off")
		return
	}
	left := ""
	if m := st.BatteryMinutes; m != nil {
		left = ", " + span(time.Duration(*m)*time.Minute) + " at the current drain"
	}
	if st.Battery == nil || s.BatteryFloorPercent == 0 {
		add(true, "battery", "the machine is on battery%s", left)
		return
	}
	add(*st.Battery > float64(s.BatteryFloorPercent), "battery", "battery at %.0f %%%s: at %d %% a closed machine is suspended",
		*st.Battery, left, s.BatteryFloorPercent)
}

// isLidHold reports whether a lock is the one that keeps the lid from
// suspending: each system has its own name for it.
func isLidHold(what string) bool {
	switch what {
	case "handle-lid-switch", "disablesleep", "lid-action":
		return true
	}
	return false
}

func conclude(reasons []closeReason) closeAnswer {
	a := closeAnswer{CanClose: true, Reasons: reasons}
	for _, r := range reasons {
		a.CanClose = a.CanClose && r.For
	}
	return a
}

func (a *app) showAnswer(answer closeAnswer) {
	a.say("%s", map[bool]string{true: "yes", false: "no"}[answer.CanClose])
	for _, r := range answer.Reasons {
		mark := a.paint(green, "+")
		switch {
		case r.Caveat:
			mark = a.paint(yellow, "!")
		case !r.For:
			mark = a.paint(red, "-")
		}
		a.say("%s %s", mark, r.Text)
	}
}
