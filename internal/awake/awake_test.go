package awake_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/event"
)

// bench drives one State by hand; every effect is answered well unless a test
// answers otherwise.
type bench struct {
	t     *testing.T
	s     *awake.State
	now   event.Instant
	mute  map[awake.EffectKind]bool // effects that get no answer
	all   []awake.Effect
	fresh []awake.Effect // of the last feed and the answers it led to
}

func config() awake.Config {
	return awake.Config{PreventIdle: true, ChangeLid: true, SuspendMode: awake.Sleep, SuspendDelay: 10 * time.Second,
		PreSuspendWebhook: true, PostSessionEndWebhook: true, ExitDelay: 10 * time.Minute,
		EmergencyHibernation: true, EmergencyCelsius: 93, FloorPercent: 10, ProtectOnBattery: true}
}

func newBench(t *testing.T, c awake.Config) *bench {
	return &bench{t: t, s: awake.New(c), mute: map[awake.EffectKind]bool{},
		now: event.Instant{Awake: time.Hour, Boot: time.Hour, Wall: time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)}}
}

func (b *bench) feed(in awake.Input) []awake.Effect {
	b.fresh = nil
	b.one(in)
	return b.fresh
}

func (b *bench) one(in awake.Input) {
	effects := b.s.Apply(in, b.now)
	b.all = append(b.all, effects...)
	b.fresh = append(b.fresh, effects...)
	for _, e := range effects {
		if b.mute[e.Kind] {
			continue
		}
		answer := map[awake.EffectKind]awake.InputKind{
			awake.DoAcquire: awake.InTaken, awake.DoRelease: awake.InReleased, awake.DoRestore: awake.InRestored,
			awake.DoWebhook: awake.InWebhookDone, awake.DoSound: awake.InSoundDone, awake.DoCheck: awake.InChecked,
			awake.DoSuspend: awake.InSuspended,
		}[e.Kind]
		if answer != "" {
			b.one(awake.Input{Kind: answer, ID: e.ID})
		}
	}
}

func (b *bench) pass(d time.Duration) {
	end := b.now.Awake + d
	for {
		wait, ok := b.s.Next(b.now)
		if !ok || b.now.Awake+wait > end {
			break
		}
		b.now = b.now.Add(wait)
		b.one(awake.Input{Kind: awake.InTick})
	}
	b.now = b.now.Add(end - b.now.Awake)
	b.one(awake.Input{Kind: awake.InTick})
}

func (b *bench) work(n int) { b.feed(awake.Input{Kind: awake.InSessions, Live: n, Holding: n}) }

func (b *bench) end(ends ...awake.SessionEnd) {
	b.feed(awake.Input{Kind: awake.InSessions, Ends: ends})
}

func (b *bench) shut() {
	b.feed(awake.Input{Kind: awake.InLid, Lid: awake.LidClosed})
	b.feed(awake.Input{Kind: awake.InDisplays})
}

func (b *bench) count(kind awake.EffectKind) int {
	n := 0
	for _, e := range b.all {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (b *bench) webhooks(kind awake.WebhookKind) int {
	n := 0
	for _, e := range b.all {
		if e.Webhook != nil && e.Webhook.Kind == kind {
			n++
		}
	}
	return n
}

var normal = awake.SessionEnd{Key: event.SessionKey{Provider: event.Claude, ID: "a"}, Normal: true, Reason: "completed"}

// The history tells when the machine fell asleep, not when its suspend was planned:
// between the two lie the delay, a webhook that hangs, a sound and the call.
func TestApply_historyTellsTheSleepItself(t *testing.T) {
	b := newBench(t, config())
	b.mute[awake.DoWebhook], b.mute[awake.DoSuspend] = true, true
	b.work(1)
	b.shut()
	b.pass(time.Hour)
	b.end(normal)
	planned := b.now
	b.pass(20 * time.Second)
	if b.count(awake.DoSuspend) != 1 {
		t.Fatalf("asked for %d suspends", b.count(awake.DoSuspend))
	}
	b.feed(awake.Input{Kind: awake.InSleeping})
	asleep := b.now
	b.now.Boot += time.Hour
	b.now.Wall = b.now.Wall.Add(time.Hour)
	b.feed(awake.Input{Kind: awake.InWoke})
	for _, e := range b.all {
		if h := e.History; h != nil && (h.At != asleep || h.Woke.Wall.Sub(h.At.Wall) != time.Hour) {
			t.Errorf("slept from %s to %s after it was planned, want from %s for an hour", h.At.Wall.Sub(planned.Wall), h.Woke.Wall.Sub(planned.Wall), asleep.Wall.Sub(planned.Wall))
		}
	}
	if b.count(awake.DoHistory) != 1 {
		t.Errorf("%d history entries", b.count(awake.DoHistory))
	}
}

func TestApply_theWholePathInOrder(t *testing.T) {
	c := config()
	c.Sound, c.Strict = true, true
	b := newBench(t, c)
	b.shut()
	b.work(1)
	b.all = nil
	b.end(normal)
	b.pass(10 * time.Second)
	var got []string
	for _, e := range b.all {
		got = append(got, string(e.Kind)+string(e.Hold))
	}
	want := []string{"webhook", "sound", "check", "releasesleep", "releaseidle", "releasehandle-lid-switch", "suspend"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got)\n%s", diff)
	}
	b.feed(awake.Input{Kind: awake.InSleeping})
	b.feed(awake.Input{Kind: awake.InWoke})
	if b.count(awake.DoHistory) != 1 || b.webhooks(awake.PreSuspend) != 1 || b.webhooks(awake.PostSessionEnd) != 0 {
		t.Errorf("history %d, PreSuspend %d, PostSessionEnd %d", b.count(awake.DoHistory), b.webhooks(awake.PreSuspend), b.webhooks(awake.PostSessionEnd))
	}
}

// Every stage before the call can be cancelled, by every cause.
func TestApply_cancelAtEveryStage(t *testing.T) {
	stages := map[awake.Stage]awake.EffectKind{awake.StageDelay: "", awake.StageWebhook: awake.DoWebhook, awake.StageSound: awake.DoSound, awake.StageCheck: awake.DoCheck}
	causes := map[string]awake.Input{
		"new work":   {Kind: awake.InSessions, Live: 1, Holding: 1},
		"lid opens":  {Kind: awake.InLid, Lid: awake.LidOpen},
		"lid unsure": {Kind: awake.InLid},
		"a display":  {Kind: awake.InDisplays, Displays: 1},
		"unreadable": {Kind: awake.InDisplays, Displays: awake.UnknownDisplays},
	}
	for stage, stop := range stages {
		for cause, in := range causes {
			c := config()
			c.Sound = true
			b := newBench(t, c)
			b.shut()
			b.work(1)
			b.mute[stop] = true
			b.end(normal)
			if stage != awake.StageDelay {
				b.pass(10 * time.Second)
			}
			if p := b.s.Pending; p == nil || p.Stage != stage {
				t.Fatalf("%s: pending %+v", stage, p)
			}
			b.feed(in)
			b.pass(2 * time.Minute)
			if b.s.Pending != nil || b.count(awake.DoSuspend) != 0 {
				t.Errorf("%s in stage %s did not cancel", cause, stage)
			}
			if pre, post := b.webhooks(awake.PreSuspend), b.webhooks(awake.PostSessionEnd); pre+post != 1 {
				t.Errorf("%s in stage %s: %d PreSuspend and %d PostSessionEnd for one normal end", cause, stage, pre, post)
			}
		}
	}
}

// Settings are applied at once, also to a delay that runs.
func TestApply_delayChangesUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		delay  time.Duration // instead of 10 s, 4 s after the end
		before time.Duration // it has not been called for then
		after  time.Duration // and has been then
	}{
		"longer":  {time.Minute, 59 * time.Second, time.Minute},
		"shorter": {6 * time.Second, 5 * time.Second, 6 * time.Second},
		"over":    {0, 4 * time.Second, 4 * time.Second},
	} {
		b := newBench(t, config())
		b.shut()
		b.work(1)
		b.end(normal)
		b.pass(4 * time.Second)
		if b.count(awake.DoSuspend) != 0 {
			t.Fatalf("%s: suspended before the change", name)
		}
		changed := config()
		changed.SuspendDelay = c.delay
		b.feed(awake.Input{Kind: awake.InConfig, Config: &changed})
		b.pass(c.before - 4*time.Second)
		if c.before < c.after && b.count(awake.DoSuspend) != 0 {
			t.Errorf("%s: suspended before %s", name, c.after)
		}
		b.pass(c.after - c.before)
		if b.count(awake.DoSuspend) != 1 {
			t.Errorf("%s: %d suspends after %s, want 1", name, b.count(awake.DoSuspend), c.after)
		}
	}
}

func TestApply_silentPartnersDoNotHangIt(t *testing.T) {
	c := config()
	c.Sound = true
	b := newBench(t, c)
	b.shut()
	b.work(1)
	b.mute[awake.DoWebhook], b.mute[awake.DoSound] = true, true
	b.end(normal)
	b.pass(10*time.Second + awake.WebhookLimit + awake.SoundLimit)
	if b.count(awake.DoSuspend) != 1 {
		t.Error("a webhook and a player that never answer kept a shut machine awake")
	}
}

func TestApply_withoutAReadingThereIsNoSuspend(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.mute[awake.DoCheck] = true
	b.end(normal)
	b.pass(time.Minute)
	if b.count(awake.DoSuspend) != 0 || b.s.Protected() {
		t.Errorf("%d suspends, protected %v, though lid and displays could not be read", b.count(awake.DoSuspend), b.s.Protected())
	}
}

func TestApply_cancelPathsAreSilent(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.end(awake.SessionEnd{Key: normal.Key, Cancelled: true, Reason: "owner_exit"})
	b.pass(time.Minute)
	if b.count(awake.DoSuspend) != 1 || b.count(awake.DoWebhook) != 0 {
		t.Errorf("%d suspends and %d webhooks, want a silent suspend", b.count(awake.DoSuspend), b.count(awake.DoWebhook))
	}
}

func TestApply_scheduledSuspendStaysOverACancelPath(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.end(normal)
	b.feed(awake.Input{Kind: awake.InSessions, Ends: []awake.SessionEnd{{Cancelled: true}}})
	b.pass(time.Minute)
	if b.count(awake.DoSuspend) != 1 || b.webhooks(awake.PreSuspend) != 1 {
		t.Errorf("%d suspends, %d PreSuspend", b.count(awake.DoSuspend), b.webhooks(awake.PreSuspend))
	}
}

func TestApply_softLockSuspendsWithTheCount(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.feed(awake.Input{Kind: awake.InSessions, Live: 3, Holding: 1, Locked: 2})
	b.feed(awake.Input{Kind: awake.InSessions, Live: 3, Locked: 3, NewlyLocked: true})
	b.pass(10 * time.Second)
	for _, e := range b.all {
		if e.Webhook != nil && (e.Webhook.Reason != awake.SoftLocked || e.Webhook.Locked != 3 || e.Webhook.End != nil) {
			t.Errorf("webhook %+v", e.Webhook)
		}
	}
	if b.webhooks(awake.PreSuspend) != 1 {
		t.Errorf("%d PreSuspend", b.webhooks(awake.PreSuspend))
	}
}

func TestApply_unknownLidIsNeverAway(t *testing.T) {
	b := newBench(t, config())
	b.feed(awake.Input{Kind: awake.InDisplays})
	b.work(1)
	b.end(normal)
	b.pass(time.Hour)
	if b.count(awake.DoSuspend) != 0 || b.s.Away() {
		t.Error("an unknown lid counted as closed")
	}
}

func TestApply_displaysSettle(t *testing.T) {
	b := newBench(t, config())
	b.feed(awake.Input{Kind: awake.InLid, Lid: awake.LidClosed})
	b.feed(awake.Input{Kind: awake.InDisplays, Displays: 1})
	b.work(1)
	b.feed(awake.Input{Kind: awake.InDisplays})
	b.end(normal)
	b.pass(awake.DisplaySettle - time.Second)
	if b.s.Away() || b.count(awake.DoSuspend) != 0 || !b.s.Protected() {
		t.Errorf("away %v, %d suspends, protected %v before displays settled", b.s.Away(), b.count(awake.DoSuspend), b.s.Protected())
	}
	b.pass(2 * time.Second)
	if b.count(awake.DoSuspend) != 1 {
		t.Error("no suspend once displays had settled")
	}
}

func TestApply_logindsOwnSleepIsOurs(t *testing.T) {
	// Dropping the lid lock made logind sleep; our call was then refused.
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.mute[awake.DoSuspend] = true
	b.end(normal)
	b.pass(10 * time.Second)
	id := b.s.Pending.ID
	b.feed(awake.Input{Kind: awake.InRefused, ID: id, Who: "logind", Why: "operation in progress"})
	b.feed(awake.Input{Kind: awake.InSleeping})
	b.now.Boot += 8 * time.Hour
	b.feed(awake.Input{Kind: awake.InWoke})
	b.pass(time.Minute)
	slept := 0
	for _, e := range b.all {
		if e.History != nil && e.History.Result == "slept" {
			slept++
		}
	}
	if slept != 1 || b.count(awake.DoSuspend) != 1 {
		t.Errorf("%d sleeps written down, %d calls, want one each", slept, b.count(awake.DoSuspend))
	}
}

func TestApply_clocksShowASleepNobodyAnnounced(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.end(normal)
	b.pass(10 * time.Second)
	b.now.Boot += time.Hour
	b.feed(awake.Input{Kind: awake.InTick})
	b.feed(awake.Input{Kind: awake.InSleeping}) // read only now
	b.feed(awake.Input{Kind: awake.InWoke})
	if b.count(awake.DoHistory) != 1 || b.s.Pending != nil {
		t.Errorf("%d history entries, pending %+v", b.count(awake.DoHistory), b.s.Pending)
	}
}

func TestApply_threeTriesThenTheStateSaysWho(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.mute[awake.DoSuspend] = true
	b.end(normal)
	b.pass(10 * time.Second)
	for b.s.Pending != nil {
		b.feed(awake.Input{Kind: awake.InRefused, ID: b.s.Pending.ID, Who: "packagekit", Why: "upgrading"})
		b.pass(awake.SuspendRetry)
	}
	if r := b.s.Refused; b.count(awake.DoSuspend) != awake.SuspendTries || r == nil || r.Who != "packagekit" || r.Tries != awake.SuspendTries {
		t.Errorf("%d tries, %+v", b.count(awake.DoSuspend), r)
	}
}

// Work comes and goes while the last try is out: that end gets tries of its own.
func TestApply_workThatEndsUnderTheLastTryIsNotForgotten(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.mute[awake.DoSuspend] = true
	b.end(normal)
	b.pass(10 * time.Second)
	for b.s.Pending.Tries < awake.SuspendTries {
		b.feed(awake.Input{Kind: awake.InRefused, ID: b.s.Pending.ID, Why: "upgrading"})
		b.pass(awake.SuspendRetry)
	}
	b.work(1)
	b.end(normal)
	b.feed(awake.Input{Kind: awake.InRefused, ID: b.s.Pending.ID, Why: "upgrading"})
	for b.s.Pending != nil {
		b.pass(awake.SuspendRetry)
		b.feed(awake.Input{Kind: awake.InRefused, ID: b.s.Pending.ID, Why: "upgrading"})
	}
	if n, want := b.count(awake.DoSuspend), awake.SuspendTries+awake.SuspendTries-1; n != want {
		t.Errorf("suspend was asked for %d times, want %d", n, want)
	}
}

func TestApply_deniedHoldBacksOff(t *testing.T) {
	b := newBench(t, awake.Config{PreventIdle: true})
	b.mute[awake.DoAcquire] = true
	b.work(1)
	var waits []time.Duration
	for range 11 {
		id := b.s.Holds[0].Asking
		b.feed(awake.Input{Kind: awake.InDenied, ID: id, Who: "org.freedesktop.login1.inhibit-block-idle", Why: "no active session"})
		wait, _ := b.s.Next(b.now)
		waits = append(waits, wait)
		b.pass(wait)
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second,
		64 * time.Second, 128 * time.Second, 256 * time.Second, 300 * time.Second, 300 * time.Second}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("pauses (-want +got)\n%s", diff)
	}
	notes := 0
	for _, e := range b.all {
		if e.Code == "hold-denied" {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("the same refusal was told %d times", notes)
	}
	b.feed(awake.Input{Kind: awake.InDenied, ID: b.s.Holds[0].Asking, Why: "no active session"})
	before := b.count(awake.DoAcquire)
	b.feed(awake.Input{Kind: awake.InService})
	if b.count(awake.DoAcquire) != before+1 {
		t.Error("the service came back and the hold was not asked for at once")
	}
}

func TestApply_renewTakesBeforeItDrops(t *testing.T) {
	b := newBench(t, awake.Config{PreventIdle: true})
	b.work(1)
	old := b.s.Holds[0].Held
	b.mute[awake.DoAcquire] = true
	b.feed(awake.Input{Kind: awake.InRenew})
	if b.s.Holds[0].Held != old || b.count(awake.DoRelease) != 0 {
		t.Fatal("the old lock went before the new one was held")
	}
	fresh := b.s.Holds[0].Asking
	effects := b.feed(awake.Input{Kind: awake.InTaken, ID: fresh})
	if b.s.Holds[0].Held != fresh || len(effects) != 1 || effects[0].Kind != awake.DoRelease || effects[0].ID != old {
		t.Errorf("held %d, effects %+v", b.s.Holds[0].Held, effects)
	}
}

func TestApply_failedReleaseIsTriedUntilItWorks(t *testing.T) {
	b := newBench(t, awake.Config{PreventIdle: true, ExitDelay: -1})
	b.work(1)
	id := b.s.Holds[0].Held
	b.mute[awake.DoRelease] = true
	b.end()
	for range 3 {
		b.feed(awake.Input{Kind: awake.InFailed, ID: id, Why: "pmset: exit 1"})
		b.pass(10 * time.Second)
	}
	if n := b.count(awake.DoRelease); n < 3 {
		t.Errorf("%d tries to release", n)
	}
	b.feed(awake.Input{Kind: awake.InReleased, ID: id})
	if len(b.s.Dropping) != 0 {
		t.Errorf("still dropping %+v", b.s.Dropping)
	}
}

func TestApply_heatReadingsThatAreNone(t *testing.T) {
	for _, c := range []float64{math.NaN(), math.Inf(1), 1e6, -300} {
		b := newBench(t, config())
		b.shut()
		b.work(1)
		b.feed(awake.Input{Kind: awake.InHeat, Celsius: c})
		if b.count(awake.DoSuspend) != 0 || b.s.Celsius != nil {
			t.Errorf("%v counted as a temperature", c)
		}
	}
}

func TestApply_emergencyThresholdIsClamped(t *testing.T) {
	for _, c := range []struct {
		set, reads float64
		hibernates bool
	}{{20, 69, false}, {20, 70, true}, {500, 109, false}, {500, 110, true}, {93, 92.9, false}, {93, 93, true}} {
		cfg := config()
		cfg.EmergencyCelsius = c.set
		b := newBench(t, cfg)
		b.shut()
		b.work(1)
		b.feed(awake.Input{Kind: awake.InHeat, Celsius: c.reads})
		if got := b.count(awake.DoSuspend) == 1; got != c.hibernates {
			t.Errorf("threshold %v, reading %v: hibernates %v", c.set, c.reads, got)
		}
	}
}

func TestApply_leavesInTimeAndComesBack(t *testing.T) {
	b := newBench(t, config())
	b.work(1)
	b.end(normal)
	b.pass(10*time.Minute - time.Second)
	if b.count(awake.DoExit) != 0 {
		t.Fatal("left too early")
	}
	b.pass(time.Second)
	if b.count(awake.DoExit) != 1 || !b.s.Leaving() {
		t.Fatalf("%d exits after ten minutes", b.count(awake.DoExit))
	}
	b.work(1)
	if b.s.Leaving() {
		t.Error("work that came meanwhile does not call the runtime back")
	}
}

func TestApply_shutdownPutsEverythingBackFirst(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(1)
	b.all = nil
	b.feed(awake.Input{Kind: awake.InShutdown})
	if b.count(awake.DoRelease) != 2 || b.count(awake.DoExit) != 1 || b.all[len(b.all)-1].Kind != awake.DoExit {
		t.Errorf("effects %+v", b.all)
	}
	b.work(1)
	if b.s.Protected() || !b.s.Leaving() {
		t.Error("a shutdown can be called back")
	}
}

func TestState_survivesJSON(t *testing.T) {
	b := newBench(t, config())
	b.shut()
	b.work(2)
	b.mute[awake.DoWebhook] = true
	b.end(normal)
	b.pass(11 * time.Second)
	data, err := json.Marshal(b.s)
	if err != nil {
		t.Fatal(err)
	}
	var back awake.State
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	again, _ := json.Marshal(&back)
	if string(again) != string(data) {
		t.Errorf("the second writing differs:\n%s\n%s", data, again)
	}
}

// A PostSessionEnd whose delivery a crash left open is made again, with its ID.
func TestResume_repeatsOpenPostSessionEnd(t *testing.T) {
	b := newBench(t, config())
	b.work(1)
	b.mute[awake.DoWebhook] = true
	b.end(normal)
	b.s.Resume(false, b.now)
	b.all = nil
	b.feed(awake.Input{Kind: awake.InTick})
	if b.webhooks(awake.PostSessionEnd) != 1 {
		t.Fatalf("effects %+v", b.all)
	}
	b.pass(time.Minute)
	if b.webhooks(awake.PostSessionEnd) != 1 {
		t.Error("sent more than once more")
	}
}

// A hand-over does not forget what could not be put back yet, and does not put
// back what the old process holds.
func TestResume_putsBackWhatTheOldOneCouldNot(t *testing.T) {
	restores := func(b *bench) (n int) {
		for _, e := range b.all {
			if e.Kind == awake.DoRestore {
				n++
			}
		}
		return n
	}
	b := newBench(t, config())
	b.mute[awake.DoRestore] = true
	b.work(1)
	b.s.Resume(true, b.now)
	b.all, b.mute = nil, map[awake.EffectKind]bool{}
	b.pass(awake.AnswerLimit - time.Second)
	if n := restores(b); n != 0 {
		t.Errorf("%d restores while the old process may hold", n)
	}
	b.pass(time.Minute)
	if n := restores(b); n != 1 {
		t.Errorf("%d restores, want one", n)
	}
	b.s.Resume(true, b.now)
	b.all = nil
	if b.pass(time.Minute); restores(b) != 0 {
		t.Error("what is put back is put back again")
	}
}

// A runtime that dies during the last try leaves it in the history all the same.
func TestResume_writesTheLastTryDown(t *testing.T) {
	b := newBench(t, config())
	b.feed(awake.Input{Kind: awake.InLid, Lid: awake.LidClosed})
	b.feed(awake.Input{Kind: awake.InDisplays, Displays: 0})
	b.work(1)
	b.mute[awake.DoSuspend] = true
	b.end(normal)
	for range 1000 { // every try stays without an answer
		if p := b.s.Pending; p != nil && p.Stage == awake.StageCalled && p.Tries == awake.SuspendTries {
			break
		}
		b.pass(time.Second)
	}
	if b.s.Pending == nil {
		t.Fatalf("there was no last try: %+v", b.all)
	}
	b.s.Resume(false, b.now)
	b.all = nil
	b.feed(awake.Input{Kind: awake.InTick})
	var entries []awake.HistoryEntry
	for _, e := range b.all {
		if e.Kind == awake.DoHistory {
			entries = append(entries, *e.History)
		}
	}
	if len(entries) != 1 || entries[0].Result != "refused" || entries[0].Tries != awake.SuspendTries ||
		entries[0].Detail != "the runtime restarted during the last try" {
		t.Errorf("history %+v", entries)
	}
	if b.s.Pending != nil || b.s.Refused == nil {
		t.Errorf("pending %+v, refused %+v; want none and the refusal", b.s.Pending, b.s.Refused)
	}
}
