package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/spf13/cobra"
)

// statusReport is what `status --json` prints.
type statusReport struct {
	Version  string        `json:"version"`
	Running  bool          `json:"running"`
	Awake    bool          `json:"awake"` // kept awake, confirmed by the system
	Runtime  *runtimeView  `json:"runtime,omitempty"`
	Findings []ipc.Finding `json:"findings"`

	mute bool // there is a runtime, and it could not be asked
}

// silence says what is known of the machine without a runtime's status.
func (r statusReport) silence() string {
	if r.mute {
		return "the runtime cannot be asked: whether anything keeps this machine awake is not known"
	}
	return "no runtime is running: nothing keeps this machine awake"
}

// runtimeView is the runtime's status with its version.
type runtimeView struct {
	Version string `json:"version"`
	*ipc.Status
}

func (a *app) statusCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "who keeps the machine awake, and why",
		Example: `lidguard status
lidguard status --json | jq .awake`,
		Long: "Shows every session and whether it holds the machine, what the system confirms to\n" +
			"hold, and findings: things you should know, each with what to do. Asking is never\n" +
			"a sign of life of a session.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.status(cmd.Context())
			if err != nil {
				return err
			}
			return a.result(r, func() {
				a.showStatus(r)
				a.welcomeBack()
			})
		},
	}
}

// status asks the runtime and looks for what a person should know. That no
// runtime runs is an answer, not an error.
func (a *app) status(ctx context.Context) (statusReport, error) {
	r := statusReport{Version: a.Version, Findings: []ipc.Finding{}}
	facts, err := a.runtimeFacts(ctx)
	if err != nil {
		return r, err
	}
	if st := facts.Status; st != nil {
		r.Running = true
		r.Runtime = &runtimeView{facts.RuntimeVersion, st}
		r.Awake = st.Protected && confirmed(st.Held) && !lidAlone(st.Held)
		r.Findings = append(r.Findings, st.Findings...)
	}
	r.mute = facts.RuntimeError != ""
	r.Findings = append(r.Findings, doctor.Runtime(facts)...)
	return r, nil
}

// runtimeFacts collects what doctor's checks of the runtime need.
func (a *app) runtimeFacts(ctx context.Context) (doctor.RuntimeFacts, error) {
	d, err := a.dirs()
	if err != nil {
		return doctor.RuntimeFacts{}, err
	}
	facts := doctor.RuntimeFacts{Version: a.Version, Socket: d.Socket, Run: d.Run, Config: d.Config, State: d.State}
	facts.Settings, facts.UnknownKeys, facts.SettingsError = readSettings(d.Settings())
	facts.HookBinary, facts.HookVersion = a.hookBinary()
	reply, err := a.call(ctx, &ipc.Request{Op: ipc.OpStatus})
	facts.PendingBackup = exists(d.Pending())
	switch {
	case errors.Is(err, ipc.ErrNotRunning):
		// A socket that exists and does not answer is a runtime that hangs or
		// died; without one there is simply nothing to do.
		facts.SocketExists = exists(d.Socket)
		facts.SocketOdd = noSocket(d.Socket)
		facts.RunStuck, facts.RunStuckError = stuckFolder(d.Run)
	case errors.Is(err, ipc.ErrUnsafe):
		facts.RuntimeError = err.Error()
		facts.RunMode, facts.RunOdd = runFolder(d.Run, err)
	case errors.Is(err, fs.ErrPermission):
		facts.RuntimeError = err.Error()
		facts.RunShut = shutFolder(d.Run)
	case err != nil:
		facts.RuntimeError = err.Error()
		client := a.client(d.Socket)
		facts.RuntimePID = client.Owner(ctx)
	default:
		facts.Status, facts.RuntimeVersion = statusOf(reply), reply.Version
		if sameFolder(facts.Status.Config, d.Config) {
			facts.Config = facts.Status.Config
		}
		if sameFolder(facts.Status.State, d.State) {
			facts.State = facts.Status.State
		}
	}
	return facts, nil
}

// sameFolder reports whether two ways of writing it lead to one folder.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// confirmed reports whether the system lists every lock, and at least one.
func confirmed(held []ipc.Hold) bool {
	for _, h := range held {
		if !h.Confirmed {
			return false
		}
	}
	return len(held) > 0
}

// lidAlone reports whether the lid is all that is held off: the settings may leave
// the machine to its idle sleep.
func lidAlone(held []ipc.Hold) bool {
	return !slices.ContainsFunc(held, func(h ipc.Hold) bool { return !isLidHold(h.What) })
}

func (a *app) showStatus(r statusReport) {
	now := a.Now()
	if !r.Running {
		a.say("%s", r.silence())
		a.showFindings(r.Findings)
		return
	}
	st := r.Runtime.Status
	a.say("%s", headline(st))
	if p := st.Suspend; p != nil {
		a.say("%s", pending(p, now))
	}
	if len(st.Sessions) > 0 {
		a.heading("sessions")
		var rows [][]string
		for _, s := range st.Sessions {
			holds := "-"
			if s.Holds {
				holds = "holds"
			}
			rows = append(rows, []string{s.Key.String(), s.State, holds, span(now.Sub(s.Activity)) + " ago", sessionNote(s, now)})
		}
		a.table("  ", rows)
	}
	if len(st.Held) > 0 {
		a.heading("held")
		var rows [][]string
		for _, h := range st.Held {
			state := "confirmed"
			if !h.Confirmed {
				state = "not held: " + h.Error
			} else if !h.Since.IsZero() {
				state += " since " + when(h.Since, now)
			}
			rows = append(rows, []string{h.What, state})
		}
		a.table("  ", rows)
	}
	a.heading("machine")
	a.table("  ", machineRows(st))
	if !st.ReachableUntil.IsZero() {
		a.say("stays reachable until %s", when(st.ReachableUntil, now))
	}
	if st.RemoteLogins != "" {
		a.say("logged in from afar: %s", st.RemoteLogins)
	}
	if !st.WakesAt.IsZero() {
		a.say("is to wake at %s, when a limit is over", when(st.WakesAt, now))
	}
	if !st.ExitsAt.IsZero() {
		a.say("the runtime leaves at %s if no session begins", when(st.ExitsAt, now))
	}
	a.showFindings(r.Findings)
}

// headline says in one line whether the machine stays awake, claiming only what
// was read back from the system.
func headline(st *ipc.Status) string {
	var holding int
	for _, s := range st.Sessions {
		if s.Holds {
			holding++
		}
	}
	switch {
	case st.Protected && confirmed(st.Held) && holding == 0 && st.Suspend == nil && !st.ReachableUntil.IsZero():
		return "awake: the work is over, and the machine stays reachable"
	case st.Protected && confirmed(st.Held) && holding == 0 && st.Suspend == nil && st.RemoteLogins != "":
		return "awake: the work is over, and somebody is logged in from afar"
	case st.Protected && confirmed(st.Held) && (holding == 0 || st.Suspend != nil): // for heat, battery or network, whoever works
		return "awake: a suspend is on its way"
	case st.Protected && confirmed(st.Held) && lidAlone(st.Held):
		return "not safely awake: " + count(holding, "session") + " at work, and only the lid is held off, since prevent-system-sleep is off"
	case st.Protected && confirmed(st.Held):
		return "awake: " + count(holding, "session") + " at work"
	case st.Protected && holding == 0:
		return "not safely awake: the system does not confirm every lock"
	case st.Protected:
		return "not safely awake: " + count(holding, "session") + " at work, but the system does not confirm every lock"
	case len(st.Sessions) == 0:
		return "free to sleep: no session"
	case holding > 0: // the findings tell what is in their way
		return "free to sleep, with " + count(holding, "session") + " at work"
	}
	return "free to sleep: " + count(len(st.Sessions), "session") + ", none at work"
}

// pending tells a suspend that is under way. Once the system is asked, Due is how
// long an answer is waited for, and no moment of the sleep.
func pending(p *ipc.Pending, now time.Time) string {
	if p.Stage == "called" {
		return fmt.Sprintf("%s was asked for (%s)", p.Mode, p.Reason)
	}
	return fmt.Sprintf("%s at %s (%s, now: %s)", p.Mode, when(p.Due, now), p.Reason, p.Stage)
}

// sessionNote is the rest that a person wants to know of a session.
func sessionNote(s ipc.Session, now time.Time) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	add(s.Reason)
	if s.SoftLock != "" {
		add("waiting since " + when(s.SoftLocked, now) + " (" + s.SoftLock + ")")
	}
	if s.Tools > 0 {
		add(count(s.Tools, "tool call") + " running")
	}
	if len(s.Tasks) > 0 {
		add(count(len(s.Tasks), "background task"))
	}
	if s.Todos > 0 {
		add(count(s.Todos, "to-do"))
	}
	if s.Prompt != "" {
		add(fmt.Sprintf("%q", s.Prompt))
	}
	add(s.Cwd)
	return strings.Join(parts, ", ")
}

func machineRows(st *ipc.Status) [][]string {
	displays := "unknown"
	if st.Displays >= 0 {
		displays = fmt.Sprint(st.Displays)
	}
	rows := [][]string{{"lid", st.Lid}, {"displays", displays}}
	if st.Battery != nil {
		power := ""
		if st.OnBattery != nil && *st.OnBattery {
			power = ", discharging"
		}
		if st.BatteryMinutes != nil {
			power += ", " + span(time.Duration(*st.BatteryMinutes)*time.Minute) + " left"
		}
		rows = append(rows, []string{"battery", fmt.Sprintf("%.0f %%%s", *st.Battery, power)})
	} else if st.OnBattery != nil {
		rows = append(rows, []string{"power", map[bool]string{true: "battery", false: "mains"}[*st.OnBattery]})
	}
	if st.Celsius != nil {
		rows = append(rows, []string{"temperature", fmt.Sprintf("%.0f °C", *st.Celsius)})
	}
	return rows
}

func (a *app) showFindings(findings []ipc.Finding) {
	for _, f := range findings {
		a.say("%s %s", a.paint(yellow, f.Code+":"), f.Text)
		if f.Remedy != "" {
			a.say("  %s", f.Remedy)
		}
	}
}
