package daemon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// coreRun feeds a Core by hand and keeps the records.
type coreRun struct {
	core    *daemon.Core
	now     event.Instant
	records []daemon.Record
}

func coreConfig() daemon.CoreConfig {
	return daemon.CoreConfig{
		Session: session.Config{Timeout: 12 * time.Minute, MaxTool: 240 * time.Minute, MaxBackground: 120 * time.Minute},
		Awake: awake.Config{PreventIdle: true, ChangeLid: true, SuspendMode: awake.Sleep, SuspendDelay: 10 * time.Second,
			PreSuspendWebhook: true, PostSessionEndWebhook: true, ExitDelay: 10 * time.Minute, ProtectOnBattery: true},
	}
}

func newCoreRun() *coreRun {
	return &coreRun{core: daemon.NewCore(coreConfig(), "boot-a"),
		now: event.Instant{Awake: time.Hour, Boot: 2 * time.Hour, Wall: time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)}}
}

func (r *coreRun) feed(in daemon.Input) daemon.Step {
	step := r.core.Apply(in, r.now)
	r.records = append(r.records, daemon.Record{At: r.now, Input: in, Effects: step.Effects})
	return step
}

func (r *coreRun) kinds(step daemon.Step) (kinds []string) {
	for _, e := range step.Effects {
		kinds = append(kinds, strings.TrimSpace(string(e.Kind)+" "+string(e.Hold)))
	}
	return kinds
}

func coreSignal(kind event.SignalKind, id string) daemon.Input {
	return daemon.SignalInput(event.Signal{Kind: kind, Source: "hook " + string(kind),
		Session: event.SessionKey{Provider: event.Claude, ID: event.SessionID(id)}})
}

func TestCore_firstStepRestoresAndTakes(t *testing.T) {
	r := newCoreRun()
	want := []string{"restore", "acquire idle", "acquire handle-lid-switch"}
	if diff := cmp.Diff(want, r.kinds(r.feed(coreSignal(event.Began, "a")))); diff != "" {
		t.Errorf("effects (-want +got)\n%s", diff)
	}
}

func TestCore_workBeatsADeadlineOfTheSameMoment(t *testing.T) {
	r := newCoreRun()
	r.feed(daemon.MachineInput(awake.Input{Kind: awake.InLid, Lid: awake.LidClosed}))
	r.feed(daemon.MachineInput(awake.Input{Kind: awake.InDisplays, Displays: 0}))
	r.feed(coreSignal(event.Began, "a"))
	r.feed(coreSignal(event.Interrupted, "a"))
	if r.core.Awake().Pending == nil {
		t.Fatal("no suspend is pending")
	}
	r.now = r.now.Add(10 * time.Second)
	step := r.feed(coreSignal(event.Began, "a"))
	for _, e := range step.Effects {
		if e.Kind == awake.DoWebhook && e.Webhook.Kind == awake.PreSuspend || e.Kind == awake.DoSuspend {
			t.Errorf("got %s though a session began in that very step", e.Kind)
		}
	}
}

func TestCore_nextIsTheNearestDeadline(t *testing.T) {
	r := newCoreRun()
	if _, ok := r.core.Next(r.now); ok {
		t.Error("a core that heard nothing has a deadline")
	}
	r.feed(coreSignal(event.Began, "a"))
	if wait, ok := r.core.Next(r.now); !ok || wait != awake.AnswerLimit {
		t.Errorf("Next = %s, %v, want the unanswered effects' %s", wait, ok, awake.AnswerLimit)
	}
	for id := uint64(1); id <= 3; id++ {
		kind := awake.InTaken
		if id == r.core.Awake().RestoreID {
			kind = awake.InRestored
		}
		r.feed(daemon.MachineInput(awake.Input{Kind: kind, ID: id}))
	}
	r.now = r.now.Add(time.Minute)
	if wait, ok := r.core.Next(r.now); !ok || wait != 11*time.Minute {
		t.Errorf("Next = %s, %v, want the session timeout in 11m", wait, ok)
	}
}

func TestCore_clocksThatGoBackStandStill(t *testing.T) {
	r := newCoreRun()
	r.feed(coreSignal(event.Began, "a"))
	r.now.Awake, r.now.Boot = 0, 0
	r.now.Wall = r.now.Wall.Add(-24 * time.Hour)
	r.feed(daemon.Input{})
	if s := r.core.Sessions().Summary(); s.Holding != 1 {
		t.Errorf("%+v after the clocks went back", s)
	}
}

func TestRestoreCore_goesOnAfterAReboot(t *testing.T) {
	r := newCoreRun()
	r.feed(coreSignal(event.Began, "a"))
	r.now = r.now.Add(5 * time.Minute)
	r.feed(daemon.Input{})
	snap, err := r.core.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	// Ten minutes later, another boot, clocks near zero.
	now := event.Instant{Awake: 20 * time.Second, Boot: 20 * time.Second, Wall: r.now.Wall.Add(10 * time.Minute)}
	core, err := daemon.RestoreCore(snap, "boot-b", daemon.AfterCrash, now)
	if err != nil {
		t.Fatal(err)
	}
	step := core.Apply(daemon.Input{}, now)
	if len(step.Effects) == 0 || step.Effects[0].Kind != awake.DoRestore {
		t.Errorf("effects %+v, want lasting values put back first", step.Effects)
	}
	if s := core.Sessions().Summary(); s.Holding != 1 {
		t.Errorf("%+v: the time without power counted as idleness", s)
	}
	now = now.Add(7 * time.Minute)
	core.Apply(daemon.Input{}, now)
	if s := core.Sessions().Summary(); s.Holding != 0 {
		t.Errorf("%+v: 12 minutes of inactivity over two boots are a timeout", s)
	}
}

// A runtime that died before its first step leaves a snapshot without a time.
func TestRestoreCore_withoutAFirstStepIsNotCenturiesOld(t *testing.T) {
	cfg := daemon.CoreConfig{Awake: awake.Config{ExitDelay: 10 * time.Minute}}
	snap, err := daemon.NewCore(cfg, "boot1").Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	now := event.Instant{Awake: time.Hour, Boot: time.Hour, Wall: time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)}
	c, err := daemon.RestoreCore(snap, "boot2", daemon.AfterCrash, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Apply(daemon.Input{}, now.Add(time.Second)).Effects {
		if e.Kind == awake.DoExit {
			t.Error("leaves at once")
		}
	}
	if boot := c.Now().Boot; boot > 2*time.Hour {
		t.Errorf("the boot clock reads %s", boot)
	}
}

func TestRestoreCore_handoverRestoresNothing(t *testing.T) {
	r := newCoreRun()
	r.feed(coreSignal(event.Began, "a"))
	snap, err := r.core.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	core, err := daemon.RestoreCore(snap, "boot-a", daemon.AfterHandover, r.now)
	if err != nil {
		t.Fatal(err)
	}
	r.core = core
	want := []string{"acquire idle", "acquire handle-lid-switch"}
	if diff := cmp.Diff(want, r.kinds(core.Apply(daemon.Input{}, r.now))); diff != "" {
		t.Errorf("effects (-want +got)\n%s", diff)
	}
}

func TestRestoreCore_refusesForeignSnapshots(t *testing.T) {
	for _, bad := range []string{``, `null`, `{}`, `{"schema":99}`, `{"schema":1}`, `{"schema":1,"sessions":{"schema":1},"awake":{"schema":9}}`} {
		if _, err := daemon.RestoreCore([]byte(bad), "b", daemon.AfterCrash, event.Instant{}); err == nil {
			t.Errorf("took %q", bad)
		}
	}
}

func TestReplay_decidesTheSameAndNoticesADifference(t *testing.T) {
	r := newCoreRun()
	for i := range 40 {
		r.feed(coreSignal(event.Began, fmt.Sprint(i%3)))
		r.now = r.now.Add(time.Duration(i) * time.Second)
		r.feed(coreSignal(event.Stopped, fmt.Sprint(i%3)))
		r.feed(daemon.MachineInput(awake.Input{Kind: awake.InTaken, ID: uint64(i)}))
	}
	var log bytes.Buffer
	enc := json.NewEncoder(&log)
	for _, rec := range r.records {
		if err := enc.Encode(rec); err != nil {
			t.Fatal(err)
		}
	}
	log.WriteString(`{"at":{"awake_ns":1`) // a crash in the middle of a line
	records, err := daemon.ReadRecords(&log)
	if err != nil || len(records) != len(r.records) {
		t.Fatalf("read %d records of %d: %v", len(records), len(r.records), err)
	}
	core, _, wrong, err := daemon.Replay(nil, coreConfig(), records)
	if err != nil || len(wrong) > 0 {
		t.Fatalf("replay: %v, mismatches %+v", err, wrong)
	}
	if got, want := core.Sessions().Summary(), r.core.Sessions().Summary(); got != want {
		t.Errorf("replay ends with %+v, want %+v", got, want)
	}
	records[0].Effects = nil
	if _, _, wrong, _ := daemon.Replay(nil, coreConfig(), records); len(wrong) != 1 || wrong[0].Index != 0 {
		t.Errorf("a tampered record gives %d mismatches", len(wrong))
	}
	for _, log := range []string{"no json\n", `{"time":"2026-11-30T18:57:01Z","level":"INFO","msg":"started"}` + "\n"} {
		if _, err := daemon.ReadRecords(strings.NewReader(log)); err == nil {
			t.Errorf("took %q, which is no log of inputs", log)
		}
	}
}

func TestWhy_tellsThePast(t *testing.T) {
	r := newCoreRun()
	r.feed(coreSignal(event.Began, "a"))
	held := r.now.Wall
	r.now = r.now.Add(time.Minute)
	r.feed(coreSignal(event.Interrupted, "a"))
	r.now = r.now.Add(time.Minute)
	r.feed(daemon.Input{})

	then, now := r.core.Why(held), r.core.Why(time.Time{})
	if !then.Protected || len(then.Sessions) != 1 || !then.Sessions[0].Holds {
		t.Errorf("then: %+v", then)
	}
	if now.Protected || now.Sessions[0].Holds {
		t.Errorf("now: %+v", now)
	}
	last := now.Sessions[0].Evidence[len(now.Sessions[0].Evidence)-1]
	if last.Source != "hook interrupted" || !strings.Contains(last.What, "interrupted") {
		t.Errorf("last evidence %+v", last)
	}
}

// What the system refused is never told as kept awake, and what is not recorded not
// as free to sleep.
func TestWhy_claimsOnlyWhatWasHeld(t *testing.T) {
	r := newCoreRun()
	before := r.now.Wall.Add(-time.Hour)
	if w := r.core.Why(before); !w.Since.IsZero() {
		t.Errorf("nothing is recorded, and it begins %s", w.Since)
	}
	began := r.now.Wall
	var ids []uint64
	for _, e := range r.feed(coreSignal(event.Began, "a")).Effects {
		if e.Kind == awake.DoAcquire {
			ids = append(ids, e.ID)
		}
	}
	r.now = r.now.Add(time.Millisecond)
	r.feed(daemon.MachineInput(awake.Input{Kind: awake.InTaken, ID: ids[0]}))
	r.feed(daemon.MachineInput(awake.Input{Kind: awake.InDenied, ID: ids[1], Who: "polkit", Why: "no"}))
	if w := r.core.Why(time.Time{}); !w.Protected || len(w.Bare) != 1 || w.Bare[0] != awake.HoldLid || !w.Since.Equal(began.Round(0)) {
		t.Errorf("with a lock denied: %+v", w)
	}
	denied := r.now.Wall
	if w := r.core.Why(before); w.Protected || !w.Since.After(w.At) {
		t.Errorf("before the record: %+v", w)
	}

	r.now = r.now.Add(time.Minute) // it is asked for again, and granted
	for _, e := range r.feed(daemon.Input{}).Effects {
		if e.Kind == awake.DoAcquire {
			r.feed(daemon.MachineInput(awake.Input{Kind: awake.InTaken, ID: e.ID}))
		}
	}
	now := r.core.Why(time.Time{})
	if last := now.Decisions[len(now.Decisions)-1]; len(now.Bare) != 0 || last.What != "held" || last.Text != string(awake.HoldLid) {
		t.Errorf("after it was granted: %+v", now)
	}
	if w := r.core.Why(denied); len(w.Bare) != 1 {
		t.Errorf("then: %+v", w)
	}

	// The file that is left tells the same without a runtime.
	snap, err := r.core.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sessions.json")
	for _, live := range []bool{true, false} {
		if err := os.WriteFile(file, fmt.Appendf(nil, `{"live":%t,"boot":"b","core":%s}`, live, snap), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := daemon.Remembered(file, denied)
		if err != nil || len(w.Bare) != 1 || !w.At.Equal(denied) {
			t.Errorf("remembered %+v, %v", w, err)
		}
		later := r.now.Wall.Add(time.Hour)
		if w, err = daemon.Remembered(file, later); err != nil || w.At.Equal(later) == live {
			t.Errorf("live %v: an hour after its last word %+v, %v", live, w, err)
		}
	}
	if _, err := daemon.Remembered(file+".none", denied); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file %v", err)
	}
}

func TestStatus_showsSessionsHoldsAndPending(t *testing.T) {
	r := newCoreRun()
	r.feed(daemon.MachineInput(awake.Input{Kind: awake.InLid, Lid: awake.LidClosed}))
	r.feed(daemon.MachineInput(awake.Input{Kind: awake.InDisplays}))
	r.feed(daemon.MachineInput(awake.Input{Kind: awake.InBattery, Battery: awake.Battery{Known: true, OnBattery: true, Percent: 55}}))
	step := r.feed(coreSignal(event.Began, "a"))
	for _, e := range step.Effects {
		if e.Kind == awake.DoAcquire {
			r.feed(daemon.MachineInput(awake.Input{Kind: awake.InTaken, ID: e.ID}))
		}
	}
	st := r.core.Status()
	if !st.Protected || len(st.Held) != 2 || st.Held[0].Error != "" || !st.Away || st.Lid != "closed" || *st.Battery != 55 {
		t.Errorf("status %+v", st)
	}
	if s := st.Sessions[0]; s.State != "working" || !s.Holds || !s.TimesOut.Equal(r.now.Wall.Add(12*time.Minute)) {
		t.Errorf("session %+v", s)
	}
	r.feed(coreSignal(event.Interrupted, "a"))
	if p := r.core.Status().Suspend; p == nil || p.Stage != "delay" || !p.Due.Equal(r.now.Wall.Add(10*time.Second)) {
		t.Errorf("pending %+v", p)
	}
}

// What led to now is told whatever the wall clock says; of a moment, what it had then.
func TestWhy_afterTheClockWentBack(t *testing.T) {
	r := newCoreRun()
	r.feed(coreSignal(event.Began, "a"))
	r.now = r.now.Add(time.Second)
	r.now.Wall = r.now.Wall.Add(-3 * time.Hour)
	r.feed(coreSignal(event.Active, "a"))
	if w := r.core.Why(time.Time{}); len(w.Sessions) != 1 || !w.Sessions[0].Holds || len(w.Decisions) == 0 || !w.At.Equal(r.now.Wall) {
		t.Errorf("now: %+v", w)
	}
	if w := r.core.Why(r.now.Wall.Add(-time.Minute)); len(w.Sessions) != 0 || len(w.Decisions) != 0 {
		t.Errorf("before: %+v", w)
	}
}

// Settings that take no lock keep nothing awake, and nobody refused anything.
func TestStatus_settingsThatHoldNothing(t *testing.T) {
	r := newCoreRun()
	r.feed(coreSignal(event.Began, "a"))
	for name, c := range map[string]struct {
		change func(*awake.Config)
		holds  bool
	}{
		"nothing": {func(*awake.Config) {}, false},
		"idle":    {func(c *awake.Config) { c.PreventIdle = true }, true},
		"display": {func(c *awake.Config) { c.PreventDisplay = true }, true},
		"lid":     {func(c *awake.Config) { c.ChangeLid = true }, true},
	} {
		changed := coreConfig()
		changed.Awake.PreventIdle, changed.Awake.ChangeLid = false, false
		c.change(&changed.Awake)
		r.feed(daemon.ConfigInput(changed))
		st := r.core.Status()
		if told := len(st.Findings) == 1 && st.Findings[0].Code == "protection-blocked"; st.Protected != c.holds || told == c.holds {
			t.Errorf("%s: protected %v, findings %+v", name, st.Protected, st.Findings)
		}
		if w := r.core.Why(time.Time{}); w.Protected != c.holds {
			t.Errorf("%s: why says protected %v", name, w.Protected)
		}
	}
}

func TestStatus_tellsOfATimeWithoutALock(t *testing.T) {
	r := newCoreRun()
	taken := func(step daemon.Step) (id uint64) {
		for _, e := range step.Effects {
			if e.Kind == awake.DoAcquire {
				r.feed(daemon.MachineInput(awake.Input{Kind: awake.InTaken, ID: e.ID}))
				id = e.ID
			}
		}
		return id
	}
	id := taken(r.feed(coreSignal(event.Began, "a")))
	if st := r.core.Status(); len(st.Findings) > 0 {
		t.Errorf("findings before: %+v", st.Findings)
	}
	lost := r.feed(daemon.MachineInput(awake.Input{Kind: awake.InLost, ID: id}))
	r.now = r.now.Add(80 * time.Millisecond)
	taken(lost)
	st := r.core.Status()
	if len(st.Findings) != 1 || st.Findings[0].Code != "hold-gap" || !strings.Contains(st.Findings[0].Text, "80ms") || st.Findings[0].Remedy == "" {
		t.Errorf("findings after a gap: %+v", st.Findings)
	}
	r.now = r.now.Add(time.Hour)
	r.feed(coreSignal(event.Active, "a"))
	if st := r.core.Status(); len(st.Findings) > 0 {
		t.Errorf("findings an hour later: %+v", st.Findings)
	}
}

func TestWatches_neverSharedOnes(t *testing.T) {
	r := newCoreRun()
	own, shared := event.Process{PID: 1, Start: 2}, event.Process{PID: 3, Start: 4, Shared: true}
	for id, p := range map[string]event.Process{"a": own, "b": own, "c": shared} {
		in := coreSignal(event.ToolBegan, id)
		in.Session.Signal.Process, in.Session.Signal.ToolUse, in.Session.Signal.Transcript = &p, "u", "/t/"+id
		r.feed(in)
	}
	w := r.core.Watches()
	if !reflect.DeepEqual(w.Processes, []event.Process{own}) || len(w.Transcripts) != 3 || len(w.Busy) != 2 {
		t.Errorf("%+v", w)
	}
}

// Core as a state machine under rapid: whatever comes, a snapshot taken at any
// moment continues exactly like the original, deadlines never pile up, and the
// sums are those of the sessions.
func TestCore_properties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newCoreRun()
		kinds := rapid.SampledFrom([]event.SignalKind{event.Opened, event.Began, event.Active, event.ToolBegan, event.ToolEnded,
			event.Waiting, event.Resumed, event.TaskBegan, event.TaskEnded, event.Stopped, event.Interrupted, event.Failed, event.Closed, event.Removed})
		tasks := rapid.SampledFrom([]event.Task{{ID: "1", Type: event.TaskShell}, {ID: "2", Type: event.TaskMonitor}, {ID: "3", Type: event.TaskTodo}, {ID: "4", Type: event.TaskSubagent}})
		suspends := 0
		check := func(step daemon.Step) {
			a := r.core.Awake()
			sum, want := r.core.Sessions().Summary(), session.Summary{}
			for _, x := range r.core.Sessions().All() {
				if x.Live() {
					want.Live++
					if x.Lock != nil {
						want.Locked++
					}
					if x.Lock == nil || x.Lock.HoldsUntil > r.core.Now().Awake {
						want.Holding++
					}
				}
			}
			if sum != want {
				rt.Fatalf("summary %+v, counted %+v", sum, want)
			}
			for _, e := range step.Effects {
				if e.Kind == awake.DoSuspend {
					suspends++
					if sum.Holding > 0 || !a.Away() {
						rt.Fatalf("suspends with %d holding, lid %s, %d displays", sum.Holding, a.Lid, a.Displays)
					}
				}
			}
			if wait, ok := r.core.Next(r.now); ok && wait <= 0 {
				rt.Fatalf("after a step, a deadline is already over: %s", wait)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"signal": func(rt *rapid.T) {
				in := coreSignal(kinds.Draw(rt, "kind"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id"))
				sig := in.Session.Signal
				sig.ToolUse = rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(rt, "tool")
				if rapid.Bool().Draw(rt, "has task") {
					k := tasks.Draw(rt, "task")
					sig.Task, sig.Tasks = &k, []event.Task{k}
				}
				sig.Continues = rapid.Bool().Draw(rt, "continues")
				check(r.feed(in))
			},
			"machine": func(rt *rapid.T) {
				in := awake.Input{Kind: rapid.SampledFrom([]awake.InputKind{awake.InLid, awake.InDisplays, awake.InTaken, awake.InDenied,
					awake.InFailed, awake.InReleased, awake.InLost, awake.InRestored, awake.InSuspended, awake.InRefused, awake.InWebhookDone,
					awake.InSoundDone, awake.InChecked, awake.InService, awake.InSleeping, awake.InWoke, awake.InRenew}).Draw(rt, "kind"),
					ID:       uint64(rapid.IntRange(0, 40).Draw(rt, "id")),
					Lid:      rapid.SampledFrom([]awake.Lid{awake.LidUnknown, awake.LidOpen, awake.LidClosed, awake.LidClosed}).Draw(rt, "lid"),
					Displays: rapid.IntRange(-1, 1).Draw(rt, "displays")}
				check(r.feed(daemon.MachineInput(in)))
			},
			"time": func(rt *rapid.T) {
				d := time.Duration(rapid.Int64Range(0, int64(20*time.Minute)).Draw(rt, "passes"))
				if wait, ok := r.core.Next(r.now); ok && rapid.Bool().Draw(rt, "to the deadline") {
					d = wait
				}
				r.now = r.now.Add(d)
				if rapid.IntRange(0, 9).Draw(rt, "sleeps") == 0 {
					r.now.Boot += time.Hour
				}
				check(r.feed(daemon.Input{}))
			},
			"snapshot": func(rt *rapid.T) {
				snap, err := r.core.Snapshot()
				if err != nil {
					rt.Fatal(err)
				}
				twin, err := daemon.RestoreCore(snap, "", daemon.Exactly, event.Instant{})
				if err != nil {
					rt.Fatal(err)
				}
				in := coreSignal(kinds.Draw(rt, "kind"), "a")
				want := r.feed(in)
				check(want)
				got := twin.Apply(in, r.now)
				if diff := cmp.Diff(asJSON(rt, want), asJSON(rt, got)); diff != "" {
					rt.Fatalf("a core read from its snapshot decides otherwise (-original +read)\n%s", diff)
				}
			},
		})
	})
}

func asJSON(t *rapid.T, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func BenchmarkCoreApply(b *testing.B) {
	r := newCoreRun()
	for i := 0; b.Loop(); i++ {
		r.now = r.now.Add(time.Millisecond)
		r.core.Apply(coreSignal(event.Began, fmt.Sprint(i%500)), r.now)
	}
}
