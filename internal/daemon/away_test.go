package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/notify"
	"github.com/lidguard-go/lidguard/internal/session"
)

// absent is a runtime whose lid moves, and the record that it keeps.
type absent struct {
	t    *testing.T
	core *Core
	rec  *absence
	now  event.Instant
}

func newAbsent(t *testing.T) *absent {
	a := &absent{t: t, now: event.Instant{Awake: time.Hour, Boot: time.Hour, Wall: time.Date(2026, 6, 1, 22, 0, 0, 0, time.UTC)}}
	a.core = NewCore(CoreConfig{Session: session.Config{Timeout: 12 * time.Minute},
		Awake: awake.Config{PreventIdle: true, ChangeLid: true, SuspendMode: awake.Sleep, ProtectOnBattery: true,
			EmergencyHibernation: true, EmergencyCelsius: 93, FloorPercent: 10}}, "boot")
	a.rec = a.record(filepath.Join(t.TempDir(), "away-report.json"))
	return a
}

func (a *absent) record(file string) *absence {
	return &absence{file: file, warn: func(err error) { a.t.Error(err) }}
}

// feed is one input, a minute after the last.
func (a *absent) feed(in Input) {
	a.now = a.now.Add(time.Minute)
	a.rec.step(a.core, a.core.Apply(in, a.now))
}

func (a *absent) machine(in awake.Input) { a.feed(MachineInput(in)) }

func (a *absent) lid(l awake.Lid) { a.machine(awake.Input{Kind: awake.InLid, Lid: l}) }

func (a *absent) signal(kind event.SignalKind, id, reason string) {
	a.feed(SignalInput(event.Signal{Kind: kind, Session: event.SessionKey{Provider: event.Claude, ID: event.SessionID(id)}, Reason: reason, Source: "test"}))
}

func (a *absent) answered(name, tool, answer string) {
	a.rec.answered(&ipc.HookEvent{Time: a.now.Wall, Provider: event.Claude, Session: "s", Event: name, Tool: tool, Answer: answer})
}

// read is the record on the disk.
func (a *absent) read() []notify.Absence {
	a.t.Helper()
	all, err := notify.Absences(a.rec.file)
	if err != nil {
		a.t.Fatal(err)
	}
	return all
}

// An answer from the phone is told by its hook a moment later, when the lid may be
// open; what is answered at the machine is nobody's absence.
func TestAbsence_phoneAnswerBeforeTheLidOpened(t *testing.T) {
	a := newAbsent(t)
	a.lid(awake.LidClosed)
	a.lid(awake.LidOpen)
	opened := a.now
	a.now = opened.Add(time.Second)
	a.answered("PermissionRequest", "Bash", "allow"+ipc.ByPhone)
	a.answered("PermissionRequest", "Bash", "deny")
	a.now = opened.Add(time.Minute)
	a.answered("PermissionRequest", "Bash", "deny"+ipc.ByPhone)
	if all := a.read(); len(all) != 1 || len(all[0].Answered) != 1 || all[0].Answered[0].Answer != "allow by phone" {
		t.Errorf("record %+v, want the one answer from the phone", all)
	}
}

func TestAbsence_recordsWhatHappensUnderAClosedLid(t *testing.T) {
	a := newAbsent(t)
	a.machine(awake.Input{Kind: awake.InDisplays, Displays: 0})
	a.machine(awake.Input{Kind: awake.InBattery, Battery: awake.Battery{Known: true, OnBattery: true, Percent: 80}})
	a.signal(event.Began, "a", "")
	a.signal(event.Began, "b", "")
	a.answered("PermissionRequest", "Bash", "deny")
	if all := a.read(); len(all) != 0 {
		t.Fatalf("with the lid open something was recorded: %+v", all)
	}
	a.lid(awake.LidClosed)
	closed := a.now.Wall
	a.machine(awake.Input{Kind: awake.InHeat, Celsius: 61})
	a.machine(awake.Input{Kind: awake.InHeat, Celsius: 88})
	a.machine(awake.Input{Kind: awake.InHeat, Celsius: 70})
	a.answered("PermissionRequest", "Bash", "deny")
	a.answered("PreToolUse", "Bash", "deny")  // a rule's refusal
	a.answered("PreToolUse", "Read", "allow") // nothing to hear of
	a.answered("Stop", "", "deny")
	a.answered("PermissionRequest", "Bash", "") // left open
	a.signal(event.Waiting, "a", "permission_prompt")
	a.machine(awake.Input{Kind: awake.InBattery, Battery: awake.Battery{Known: true, OnBattery: true, Percent: 41}})
	a.signal(event.Interrupted, "b", "")
	a.lid(awake.LidOpen)

	all := a.read()
	if len(all) != 1 {
		t.Fatalf("%d absences, want one: %+v", len(all), all)
	}
	x := all[0]
	if !x.Closed.Equal(closed) || !x.Opened.Equal(a.now.Wall) || x.Told {
		t.Errorf("closed %v, opened %v, told %v; want %v, %v and not told", x.Closed, x.Opened, x.Told, closed, a.now.Wall)
	}
	if len(x.Answered) != 1 || x.Answered[0].Session != "claude:s" || x.Answered[0].Tool != "Bash" || x.Answered[0].Answer != "deny" {
		t.Errorf("prompts answered: %+v", x.Answered)
	}
	if len(x.Blocked) != 1 || x.Blocked[0].Tool != "Bash" {
		t.Errorf("calls blocked: %+v", x.Blocked)
	}
	if len(x.Waiting) != 1 || x.Waiting[0].Session != "claude:a" || x.Waiting[0].Reason != "permission_prompt" {
		t.Errorf("sessions waiting: %+v", x.Waiting)
	}
	if len(x.Ended) != 1 || x.Ended[0].Session != "claude:b" {
		t.Errorf("sessions ended: %+v", x.Ended)
	}
	if x.Lowest == nil || x.Highest == nil || *x.Lowest != 61 || *x.Highest != 88 {
		t.Errorf("temperatures %v to %v, want 61 to 88", x.Lowest, x.Highest)
	}
	if x.BatteryFrom == nil || x.BatteryTo == nil || *x.BatteryFrom != 80 || *x.BatteryTo != 41 {
		t.Errorf("battery %v to %v, want 80 to 41", x.BatteryFrom, x.BatteryTo)
	}

	// What comes after the lid opened is nobody's absence.
	a.signal(event.Began, "c", "")
	a.signal(event.Interrupted, "c", "")
	a.answered("PermissionRequest", "Bash", "deny")
	if diff := cmp.Diff(all, a.read()); diff != "" {
		t.Errorf("the record changed with the lid open: %s", diff)
	}
}

func TestAbsence_recordsHeatFloorAndSuspends(t *testing.T) {
	a := newAbsent(t)
	a.machine(awake.Input{Kind: awake.InDisplays, Displays: 0})
	a.signal(event.Began, "a", "")
	a.lid(awake.LidClosed)
	a.machine(awake.Input{Kind: awake.InHeat, Celsius: 96})
	a.machine(awake.Input{Kind: awake.InSleeping})
	a.machine(awake.Input{Kind: awake.InWoke})
	a.machine(awake.Input{Kind: awake.InBattery, Battery: awake.Battery{Known: true, OnBattery: true, Percent: 7}})
	a.lid(awake.LidOpen)
	x := a.read()[0]
	if len(x.Suspends) != 1 || x.Suspends[0].Reason != "EmergencyHibernation" || x.Suspends[0].Result != "slept" {
		t.Errorf("suspends: %+v", x.Suspends)
	}
	codes := map[string]bool{}
	for _, n := range x.Notes {
		codes[n.Code] = n.Text != ""
	}
	if !codes["heat"] || !codes["battery-floor"] {
		t.Errorf("notes: %+v", x.Notes)
	}
}

// Opening the lid wakes the machine, so that the lid is heard of before the end of
// the sleep.
func TestAbsence_theSleepThatTheLidEnds(t *testing.T) {
	a := newAbsent(t)
	a.machine(awake.Input{Kind: awake.InDisplays, Displays: 0})
	a.signal(event.Began, "a", "")
	a.lid(awake.LidClosed)
	a.signal(event.Interrupted, "a", "")
	// The rest is one moment.
	soon := func(in awake.Input) { a.rec.step(a.core, a.core.Apply(MachineInput(in), a.now)) }
	soon(awake.Input{Kind: awake.InChecked, ID: a.core.Awake().Pending.ID})
	if p := a.core.Awake().Pending; p == nil || p.Stage != awake.StageCalled {
		t.Fatalf("no suspend was asked for: %+v", p)
	}
	soon(awake.Input{Kind: awake.InSleeping})
	soon(awake.Input{Kind: awake.InLid, Lid: awake.LidOpen})
	soon(awake.Input{Kind: awake.InWoke})
	all := a.read()
	if len(all) != 1 || all[0].Opened.IsZero() || len(all[0].Suspends) != 1 || all[0].Suspends[0].Result != "slept" {
		t.Fatalf("recorded: %+v", all)
	}
}

// A lid that cannot be read for a moment neither ends nor begins an absence.
func TestAbsence_unknownLidChangesNothing(t *testing.T) {
	a := newAbsent(t)
	a.lid(awake.LidUnknown)
	a.signal(event.Began, "a", "")
	a.signal(event.Interrupted, "a", "")
	a.lid(awake.LidClosed)
	a.lid(awake.LidUnknown)
	a.signal(event.Began, "b", "")
	a.signal(event.Interrupted, "b", "")
	a.lid(awake.LidClosed)
	a.lid(awake.LidOpen)
	if all := a.read(); len(all) != 1 || len(all[0].Ended) != 1 || all[0].Ended[0].Session != "claude:b" {
		t.Errorf("recorded: %+v", all)
	}
}

// The runtime leaves, or dies, while the lid is closed: the next one goes on with
// the same absence.
func TestAbsence_outlivesTheRuntime(t *testing.T) {
	a := newAbsent(t)
	a.lid(awake.LidClosed)
	a.signal(event.Began, "a", "")
	a.signal(event.Interrupted, "a", "")
	next := newAbsent(t)
	next.rec, next.now = next.record(a.rec.file), a.now
	next.lid(awake.LidClosed)
	next.signal(event.Began, "b", "")
	next.signal(event.Interrupted, "b", "")
	next.lid(awake.LidOpen)
	all := next.read()
	if len(all) != 1 || len(all[0].Ended) != 2 || !all[0].Opened.Equal(next.now.Wall) {
		t.Fatalf("recorded: %+v", all)
	}
	// The one after begins a record of its own.
	next.lid(awake.LidClosed)
	next.signal(event.Began, "c", "")
	next.signal(event.Interrupted, "c", "")
	if all := next.read(); len(all) != 2 || len(all[1].Ended) != 1 || !all[1].Opened.IsZero() {
		t.Errorf("recorded: %+v", all)
	}
}

func TestAbsence_isBounded(t *testing.T) {
	a := newAbsent(t)
	a.lid(awake.LidClosed)
	for i := range notify.MaxAway + 7 {
		a.answered("PermissionRequest", fmt.Sprint("Tool", i), "deny")
	}
	a.lid(awake.LidOpen)
	if x := a.read()[0]; len(x.Answered) != notify.MaxAway || x.Left != 7 {
		t.Errorf("%d kept and %d left out, want %d and 7", len(x.Answered), x.Left, notify.MaxAway)
	}
	for range 10 {
		a.lid(awake.LidClosed)
		a.answered("PermissionRequest", "Bash", "deny")
		a.lid(awake.LidOpen)
	}
	if n := len(a.read()); n > 5 {
		t.Errorf("%d absences are kept", n)
	}
}

// A record that cannot be written is told in the log and stops nothing; a torn one
// is begun anew.
func TestAbsence_survivesABrokenFile(t *testing.T) {
	a := newAbsent(t)
	if err := os.WriteFile(a.rec.file, []byte(`[{"closed":`), 0o600); err != nil {
		t.Fatal(err)
	}
	a.lid(awake.LidClosed)
	a.answered("PermissionRequest", "Bash", "deny")
	a.lid(awake.LidOpen)
	if all := a.read(); len(all) != 1 || len(all[0].Answered) != 1 {
		t.Errorf("after a torn file: %+v", all)
	}

	warned := 0
	a.rec.file, a.rec.warn = filepath.Join(a.rec.file, "below-a-file"), func(error) { warned++ }
	a.lid(awake.LidClosed)
	a.answered("PermissionRequest", "Bash", "deny")
	a.lid(awake.LidOpen)
	if warned == 0 {
		t.Error("a record that cannot be written is not told")
	}
}
