// Package machinetest is the suite that every awake.Machine passes, the fake
// laptop first of all. It takes and drops real locks of the machine it is given
// but never suspends it unless Bench.MaySuspend says that this is safe.
package machinetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
)

// Bench is one machine on the bench, with the handles it offers. Nil handles
// skip the cases that need them, and the suite says so in the log.
type Bench struct {
	// Machine under test.
	Machine awake.Machine
	// Holds that this machine supports; every other must be ErrUnsupported.
	Holds []awake.Hold
	// Patience bounds how long a change may take to be told; 0 is 5 s.
	Patience time.Duration

	Deny           func(awake.Hold) // make the system refuse a hold
	SetLid         func(awake.Lid)
	SetDisplays    func(int)
	SetBattery     func(awake.Battery)
	RestartService func()
	// MaySuspend says that Suspend may really be called; Woke ends the sleep.
	MaySuspend bool
	Wake       func()
}

// Run runs the suite; open is called once per case and must register its own
// cleanup.
func Run(t *testing.T, open func(t *testing.T) Bench) {
	cases := []struct {
		name string
		run  func(*testing.T, Bench)
	}{
		{"a lock stands from Acquire to Release", acquireRelease},
		{"two locks of one hold are independent", independent},
		{"a hold this system lacks is unsupported", unsupported},
		{"an ended context takes no lock", endedContext},
		{"many at once leave nothing behind", concurrent},
		{"a refusal matches ErrDenied and says who", denied},
		{"readings are in range or unknown", readings},
		{"a mode that does not exist cannot be suspended to", badMode},
		{"restoring nothing twice is harmless", restoreTwice},
		{"Watch first tells what is, then what changes", watch},
		{"a restart of the service loses locks and is told", restart},
		{"a suspend is told as sleeping and woke", suspend},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := open(t)
			if b.Patience == 0 {
				b.Patience = 5 * time.Second
			}
			c.run(t, b)
		})
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func held(t *testing.T, b Bench) []awake.Hold {
	t.Helper()
	h, err := b.Machine.Held(within(t))
	if err != nil {
		t.Fatalf("Held: %v", err)
	}
	return h
}

func take(t *testing.T, b Bench, hold awake.Hold) awake.Lock {
	t.Helper()
	k, err := b.Machine.Acquire(within(t), hold, "suite")
	if err != nil {
		t.Fatalf("Acquire(%s): %v", hold, err)
	}
	t.Cleanup(func() { _ = k.Release() })
	return k
}

func acquireRelease(t *testing.T, b Bench) {
	for _, hold := range b.Holds {
		if slices.Contains(held(t, b), hold) {
			t.Fatalf("%s is held before Acquire", hold)
		}
		k := take(t, b, hold)
		if !slices.Contains(held(t, b), hold) {
			t.Errorf("%s is not confirmed while held; got %q", hold, held(t, b))
		}
		select {
		case <-k.Lost():
			t.Errorf("%s says lost while held", hold)
		default:
		}
		for range 2 {
			if err := k.Release(); err != nil {
				t.Errorf("Release(%s): %v", hold, err)
			}
		}
		if slices.Contains(held(t, b), hold) {
			t.Errorf("%s is still held after Release", hold)
		}
	}
}

func independent(t *testing.T, b Bench) {
	for _, hold := range b.Holds {
		first, second := take(t, b, hold), take(t, b, hold)
		if err := first.Release(); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(held(t, b), hold) {
			t.Errorf("dropping one lock of %s dropped the other", hold)
		}
		if err := second.Release(); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(held(t, b), hold) {
			t.Errorf("%s is held after both locks went", hold)
		}
	}
}

func unsupported(t *testing.T, b Bench) {
	for _, hold := range append(awake.Holds(), "no-such-hold") {
		if slices.Contains(b.Holds, hold) {
			continue
		}
		k, err := b.Machine.Acquire(within(t), hold, "suite")
		if !errors.Is(err, awake.ErrUnsupported) {
			t.Errorf("Acquire(%s) = %v, want ErrUnsupported", hold, err)
		}
		if k != nil {
			_ = k.Release()
		}
	}
}

func endedContext(t *testing.T, b Bench) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, hold := range b.Holds {
		if k, err := b.Machine.Acquire(ctx, hold, "suite"); err == nil {
			_ = k.Release()
			t.Errorf("Acquire(%s) worked with an ended context", hold)
		}
	}
	if h := held(t, b); len(h) > 0 {
		t.Errorf("%q stayed held", h)
	}
}

func concurrent(t *testing.T, b Bench) {
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() { // waited for below
			hold := b.Holds[i%len(b.Holds)]
			k, err := b.Machine.Acquire(within(t), hold, "suite")
			if err != nil {
				t.Errorf("Acquire(%s): %v", hold, err)
				return
			}
			if err := k.Release(); err != nil {
				t.Errorf("Release(%s): %v", hold, err)
			}
		})
	}
	wg.Wait()
	if h := held(t, b); len(h) > 0 {
		t.Errorf("%q stayed held", h)
	}
}

func denied(t *testing.T, b Bench) {
	if b.Deny == nil {
		t.Log("this machine offers no way to deny a hold")
		return
	}
	hold := b.Holds[0]
	b.Deny(hold)
	k, err := b.Machine.Acquire(within(t), hold, "suite")
	if k != nil {
		t.Errorf("a denied Acquire returned a lock")
	}
	var r *awake.Refusal
	if !errors.Is(err, awake.ErrDenied) || !errors.As(err, &r) || r.Who == "" {
		t.Errorf("Acquire(%s) = %v, want a Refusal that names who", hold, err)
	}
	if slices.Contains(held(t, b), hold) {
		t.Errorf("%s is held though denied", hold)
	}
}

func readings(t *testing.T, b Bench) {
	ctx := within(t)
	lid, _ := b.Machine.Lid(ctx)
	if lid != awake.LidUnknown && lid != awake.LidOpen && lid != awake.LidClosed {
		t.Errorf("Lid = %q", lid)
	}
	if n, _ := b.Machine.Displays(ctx); n < awake.UnknownDisplays {
		t.Errorf("Displays = %d", n)
	}
	if bat, _ := b.Machine.Battery(ctx); bat.Known && (bat.Percent < 0 || bat.Percent > 100) {
		t.Errorf("Battery = %+v", bat)
	}
	for _, mode := range []string{"low", "average", "high"} {
		c, err := b.Machine.Heat(ctx, mode)
		if err == nil && (math.IsNaN(c) || c < -60 || c > 150) {
			t.Errorf("Heat(%s) = %v", mode, c)
		}
	}
	if _, err := b.Machine.Heat(ctx, "no-such-mode"); err == nil {
		t.Error("Heat took a mode that does not exist")
	}
}

func badMode(t *testing.T, b Bench) {
	for _, mode := range []awake.Mode{"no-such-mode", awake.NoSuspend, ""} {
		if err := b.Machine.CanSuspend(within(t), mode); err == nil {
			t.Errorf("CanSuspend(%q) = nil", mode)
		}
	}
}

func restoreTwice(t *testing.T, b Bench) {
	for range 2 {
		if err := b.Machine.Restore(within(t)); err != nil {
			t.Errorf("Restore: %v", err)
		}
	}
}

// listen starts Watch and returns its facts; it ends with the test.
func listen(t *testing.T, b Bench) <-chan awake.Fact {
	facts := make(chan awake.Fact, 256)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { // ended by cancel, waited for in the cleanup
		done <- b.Machine.Watch(ctx, func(f awake.Fact) {
			select {
			case facts <- f:
			default: // nobody may block a watcher
			}
		})
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Watch = %v after its context ended, want nil", err)
			}
		case <-time.After(b.Patience):
			t.Error("Watch goes on after its context ended")
		}
	})
	return facts
}

// expect waits for a fact that ok accepts.
func expect(t *testing.T, b Bench, facts <-chan awake.Fact, what string, ok func(awake.Fact) bool) {
	t.Helper()
	deadline := time.After(b.Patience)
	for {
		select {
		case f := <-facts:
			if ok(f) {
				return
			}
		case <-deadline:
			t.Fatalf("never told: %s", what)
		}
	}
}

func watch(t *testing.T, b Bench) {
	facts := listen(t, b)
	first := map[awake.FactKind]bool{}
	expect(t, b, facts, "lid, displays and battery at first", func(f awake.Fact) bool {
		first[f.Kind] = true
		return first[awake.FactLid] && first[awake.FactDisplays] && first[awake.FactBattery]
	})
	if b.SetLid != nil {
		k := take(t, b, awake.HoldLid) // so that the lid may move without a sleep
		for _, lid := range []awake.Lid{awake.LidClosed, awake.LidOpen} {
			b.SetLid(lid)
			expect(t, b, facts, "lid "+lid.String(), func(f awake.Fact) bool { return f.Kind == awake.FactLid && f.Lid == lid })
			if got, err := b.Machine.Lid(within(t)); got != lid {
				t.Errorf("Lid = %s, %v after it was told %s", got, err, lid)
			}
		}
		if err := k.Release(); err != nil {
			t.Error(err)
		}
	}
	if b.SetDisplays != nil {
		for _, n := range []int{1, 0} {
			b.SetDisplays(n)
			expect(t, b, facts, "displays", func(f awake.Fact) bool { return f.Kind == awake.FactDisplays && f.Displays == n })
		}
	}
	if b.SetBattery != nil {
		want := awake.Battery{Known: true, OnBattery: true, Percent: 41}
		b.SetBattery(want)
		expect(t, b, facts, "battery", func(f awake.Fact) bool { return f.Kind == awake.FactBattery && f.Battery == want })
	}
}

func restart(t *testing.T, b Bench) {
	if b.RestartService == nil {
		t.Log("this machine offers no way to restart its service")
		return
	}
	facts := listen(t, b)
	expect(t, b, facts, "lid at first", func(f awake.Fact) bool { return f.Kind == awake.FactLid })
	k := take(t, b, b.Holds[0])
	b.RestartService()
	select {
	case <-k.Lost():
	case <-time.After(b.Patience):
		t.Fatal("a lost lock does not say so")
	}
	expect(t, b, facts, "service", func(f awake.Fact) bool { return f.Kind == awake.FactService })
	if err := k.Release(); err != nil {
		t.Errorf("Release of a lost lock: %v", err)
	}
	again := take(t, b, b.Holds[0])
	if !slices.Contains(held(t, b), b.Holds[0]) {
		t.Errorf("%s is not held after the service came back", b.Holds[0])
	}
	_ = again.Release()
}

func suspend(t *testing.T, b Bench) {
	if !b.MaySuspend {
		t.Log("this machine must not be suspended")
		return
	}
	facts := listen(t, b)
	expect(t, b, facts, "lid at first", func(f awake.Fact) bool { return f.Kind == awake.FactLid })
	done := make(chan error, 1)
	go func() { done <- b.Machine.Suspend(within(t), awake.Sleep) }() // ends with the sleep or its context
	expect(t, b, facts, "sleeping", func(f awake.Fact) bool { return f.Kind == awake.FactSleeping })
	if b.Wake != nil {
		b.Wake()
	}
	expect(t, b, facts, "woke", func(f awake.Fact) bool { return f.Kind == awake.FactWoke })
	if err := <-done; err != nil {
		t.Errorf("Suspend = %v", err)
	}
}
