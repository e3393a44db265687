package cli

import (
	"errors"
	"fmt"

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
		Long: "Yes when the agents go on working, or nothing is at work. Exit code 0 is yes, 1 is no.",
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
			answer := canClose(st, s)
			if st == nil && a.leftLive(d) {
				answer = conclude([]closeReason{{false, "runtime-died", "the runtime died with sessions under way, and nothing holds the machine for them " +
					"until their next event; `lidguard cleanup-orphans` starts it again at once"}})
			}
			if settingsErr != nil {
				answer.Reasons = append(answer.Reasons, closeReason{true, "settings-broken",
					"the settings cannot be read, so the defaults count"})
			}
			err = a.result(answer, func() { a.showAnswer(answer) })
			if err == nil && !answer.CanClose {
				return errNo{}
			}
			return err
		},
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
}

// canClose judges whether the lid can be closed without stopping an agent or
// leaving one stuck. st is nil when no runtime runs. Every reason against is
// enough for a no; what is not known speaks against.
func canClose(st *ipc.Status, s settings.Settings) closeAnswer {
	if st == nil {
		return closeAnswer{true, []closeReason{{true, "nothing-tracked", "no session is tracked, so there is nothing to interrupt; the machine does what it always does"}}}
	}
	var out []closeReason
	add := func(good bool, code, format string, args ...any) {
		out = append(out, closeReason{good, code, fmt.Sprintf(format, args...)})
	}
	var working bool
	for _, session := range st.Sessions {
		switch {
		case session.SoftLock != "":
			add(false, "session-waits", "%s waits for you (%s); with the lid closed nobody sees it", session.Key, session.SoftLock)
		case session.Holds && s.ClosedLidPermissionDecision == "ask":
			working = true
			add(true, "session-works", "%s works; a prompt of it stays open until you are back", session.Key)
		case session.Holds:
			working = true
			add(true, "session-works", "%s works; a prompt of it is answered with %s", session.Key, s.ClosedLidPermissionDecision)
		}
	}
	if !working {
		add(true, "nothing-works", "no session is at work, so the machine does what it always does")
		return conclude(out)
	}
	lid := false
	for _, h := range st.Held {
		if !h.Confirmed {
			add(false, "lock-not-held", "%s is not held: %s", h.What, h.Error)
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
	}
	battery(st, s, add)
	if st.Celsius != nil && s.EmergencyHibernation {
		limit := s.EmergencyHibernationCelsius
		switch {
		case *st.Celsius >= float64(limit):
			add(false, "heat", "%.0f °C: at %d °C a closed machine hibernates", *st.Celsius, limit)
		case *st.Celsius >= float64(limit-10):
			add(true, "heat", "%.0f °C is warm: at %d °C a closed machine hibernates", *st.Celsius, limit)
		}
	}
	for _, f := range st.Findings {
		// What is held again keeps the machine awake like what always was.
		add(f.Code == "hold-gap", f.Code, "%s", f.Text)
	}
	return conclude(out)
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
	if st.Battery == nil || s.BatteryFloorPercent == 0 {
		add(true, "battery", "the machine is on battery")
		return
	}
	add(*st.Battery > float64(s.BatteryFloorPercent), "battery", "battery at %.0f %%: at %d %% a closed machine is suspended",
		*st.Battery, s.BatteryFloorPercent)
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
		if !r.For {
			mark = a.paint(red, "-")
		}
		a.say("%s %s", mark, r.Text)
	}
}
