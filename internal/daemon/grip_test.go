package daemon

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/awake/fakelaptop"
)

func TestGrip_answersEveryEffectOfTheMachine(t *testing.T) {
	ctx := context.Background()
	laptop := fakelaptop.New(fakelaptop.Options{})
	g := NewGrip(laptop.Machine())
	do := func(e awake.Effect, want awake.InputKind) awake.Input {
		t.Helper()
		e.ID = max(e.ID, 1)
		in, err := g.Do(ctx, e, "test")
		if in.Kind != want || in.ID != e.ID {
			t.Errorf("%s #%d: got answer %q to %d, want %q", e.Kind, e.ID, in.Kind, in.ID, want)
		}
		if bad := want == awake.InDenied || want == awake.InFailed || want == awake.InRefused; bad != (err != nil) || bad != (in.Why != "") {
			t.Errorf("%s #%d: error %v, why %q", e.Kind, e.ID, err, in.Why)
		}
		return in
	}
	take := func(id uint64) awake.Effect { return awake.Effect{Kind: awake.DoAcquire, ID: id, Hold: awake.HoldIdle} }
	drop := func(id uint64) awake.Effect { return awake.Effect{Kind: awake.DoRelease, ID: id, Hold: awake.HoldIdle} }
	spoilt := errors.New("spoilt")

	do(take(1), awake.InTaken)
	laptop.Deny(awake.HoldIdle, "polkit", "not authorised")
	if in := do(take(2), awake.InDenied); in.Who != "polkit" {
		t.Errorf("denied by %q", in.Who)
	}
	laptop.Allow(awake.HoldIdle)
	laptop.Fail(fakelaptop.OpAcquire, spoilt)
	do(take(3), awake.InFailed)
	if got := g.Locks(); len(got) != 1 || got[0] != 1 || g.Lock(1) == nil || g.Lock(2) != nil {
		t.Errorf("holds %v", got)
	}
	laptop.Fail(fakelaptop.OpRelease, spoilt)
	do(drop(1), awake.InFailed)
	if laptop.Locks(awake.HoldIdle) != 1 || g.Lock(1) == nil {
		t.Error("a failed release forgot the lock")
	}
	do(drop(1), awake.InReleased)
	do(drop(1), awake.InReleased) // gone already, as after a crash
	laptop.Fail(fakelaptop.OpRestore, spoilt)
	do(awake.Effect{Kind: awake.DoRestore}, awake.InFailed)
	do(awake.Effect{Kind: awake.DoRestore}, awake.InRestored)
	laptop.Foreign("backup", awake.HoldSleep)
	if in := do(awake.Effect{Kind: awake.DoSuspend, Mode: awake.Sleep}, awake.InRefused); in.Who != "backup" {
		t.Errorf("refused by %q", in.Who)
	}
	laptop.Foreign("backup", "")
	do(awake.Effect{Kind: awake.DoSuspend, Mode: awake.Sleep}, awake.InSuspended)
	if in, err := g.Do(ctx, awake.Effect{Kind: awake.DoNote}, ""); in.Kind != "" || err != nil {
		t.Errorf("a note got the answer %+v, %v", in, err)
	}

	laptop.Fail(fakelaptop.OpLid, spoilt)
	facts, err := g.Check(ctx, 9)
	if len(facts) != 3 || facts[0].Lid != awake.LidUnknown || facts[2].Kind != awake.InChecked || facts[2].ID != 9 || err == nil {
		t.Errorf("an unreadable lid reads %+v, %v", facts, err)
	}
	laptop.SetHeat(0, spoilt)
	if in := g.Heat(ctx, "average"); !in.Unreadable {
		t.Errorf("an unreadable sensor reads %+v", in)
	}
	do(take(5), awake.InTaken)
	if err := g.Close(); err != nil || laptop.Locks(awake.HoldIdle) != 0 {
		t.Errorf("closing left %d locks, %v", laptop.Locks(awake.HoldIdle), err)
	}
}

// naming is a machine whose errors name the lock, as the real ones' do.
type naming struct{ awake.Machine }

func (naming) Acquire(_ context.Context, h awake.Hold, _ string) (awake.Lock, error) {
	return nil, fmt.Errorf("hold %s: no login1", h)
}

func TestGrip_reasonNamesNoLock(t *testing.T) {
	in, err := NewGrip(naming{}).Do(t.Context(), awake.Effect{Kind: awake.DoAcquire, ID: 1, Hold: awake.HoldLid}, "test")
	if err == nil || in.Why != "no login1" {
		t.Errorf("got %+v, %v", in, err)
	}
}
