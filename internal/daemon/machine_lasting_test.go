package daemon

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/platform/lasting"
)

// lidBench is a system whose lid setting outlives every process, with the ways in
// which it may misbehave.
type lidBench struct {
	machine awake.Machine
	store   *lasting.Store
	keeper  *testKeeper

	ignore func(bool)   // writes from now on are taken and change nothing
	delay  func(n int)  // they show only after n more reads
	undo   func()       // somebody else sets the value back
	look   func() error // one read, which brings late writes nearer
	ours   func() bool  // the value is as lidguard sets it
	theirs func() bool  // it is the user's own
}

// lidSetting are the rules for such a setting. With same, the user has the value
// that lidguard wants.
func lidSetting(t *testing.T, open func(t *testing.T, same bool) lidBench) {
	ctx := context.Background()
	run := func(name string, test func(t *testing.T, b lidBench, hold func() (awake.Lock, error))) {
		t.Run(name, func(t *testing.T) {
			b := open(t, false)
			test(t, b, func() (awake.Lock, error) { return b.machine.Acquire(ctx, awake.HoldLid, "test") })
		})
	}
	restored := func(t *testing.T, b lidBench) {
		t.Helper()
		until(t, "the value is the user's again and nothing is pending", func() bool {
			err := b.look()
			pending, err2 := b.store.Pending()
			return err == nil && err2 == nil && len(pending) == 0 && b.theirs()
		})
	}
	run("a write that is ignored is a refusal, never a claim, and works later", func(t *testing.T, b lidBench, hold func() (awake.Lock, error)) {
		b.ignore(true)
		if l, err := hold(); !errors.Is(err, awake.ErrDenied) || l != nil {
			t.Errorf("Acquire = %v, %v", l, err)
		}
		if held, err := b.machine.Held(ctx); err != nil || len(held) != 0 {
			t.Errorf("Held = %q, %v", held, err)
		}
		b.ignore(false)
		if _, err := hold(); err != nil || !b.ours() {
			t.Errorf("later: %v, the value is lidguard's: %v", err, b.ours())
		}
	})
	run("a write that shows late is waited for", func(t *testing.T, b lidBench, hold func() (awake.Lock, error)) {
		b.store.Patience = 10 * time.Second
		b.delay(3)
		if _, err := hold(); err != nil {
			t.Errorf("Acquire = %v", err)
		}
	})
	run("a write that shows far too late is undone by itself", func(t *testing.T, b lidBench, hold func() (awake.Lock, error)) {
		b.store.Patience = time.Millisecond
		b.delay(4)
		if _, err := hold(); !errors.Is(err, awake.ErrDenied) {
			t.Fatalf("Acquire = %v", err)
		}
		restored(t, b)
		for range 20 { // and stays so when the last late write has come
			if err := b.look(); err != nil {
				t.Fatal(err)
			}
		}
		if !b.theirs() {
			t.Error("the late write stays")
		}
	})
	run("without a keeper nothing is changed", func(t *testing.T, b lidBench, hold func() (awake.Lock, error)) {
		b.keeper.err = errors.New("no program")
		if _, err := hold(); !errors.Is(err, b.keeper.err) || !b.theirs() {
			t.Errorf("Acquire = %v, the value is the user's: %v", err, b.theirs())
		}
	})
	run("a value undone from outside is told as lost, and can be taken again", func(t *testing.T, b lidBench, hold func() (awake.Lock, error)) {
		watching(t, b.machine)
		lock, err := hold()
		if err != nil {
			t.Fatal(err)
		}
		b.undo()
		select {
		case <-lock.Lost():
		case <-time.After(time.Minute):
			t.Fatal("never told")
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
		if b.keeper.ensured.Load() < 2 {
			t.Error("the keeper was never looked after")
		}
		if lock, err = hold(); err != nil || !b.ours() {
			t.Fatalf("again: %v, the value is lidguard's: %v", err, b.ours())
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
		restored(t, b)
	})
	run("a release that fails says that it is still held", func(t *testing.T, b lidBench, hold func() (awake.Lock, error)) {
		lock, err := hold()
		if err != nil {
			t.Fatal(err)
		}
		b.ignore(true)
		if err := lock.Release(); err == nil {
			t.Error("Release = nil though the value stands")
		}
		if held, err := b.machine.Held(ctx); err != nil || !slices.Equal(held, []awake.Hold{awake.HoldLid}) {
			t.Errorf("Held = %q, %v", held, err)
		}
		b.ignore(false)
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
		restored(t, b)
	})
	t.Run("what the user had stays theirs", func(t *testing.T) {
		b := open(t, true)
		lock, err := b.machine.Acquire(ctx, awake.HoldLid, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil || !b.theirs() {
			t.Errorf("Release = %v, the value is the user's: %v", err, b.theirs())
		}
	})
}
