package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func over(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

func TestIn_endsWithAndWithoutSomebodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, cancel := In(context.Background(), time.Second)
		defer cancel()
		waited, cancel := In(context.Background(), time.Second)
		defer cancel()
		if asked.Err() != nil || waited.Err() != nil || over(waited) {
			t.Error("over before its end")
		}
		<-waited.Done()
		for name, ctx := range map[string]context.Context{"asked": asked, "waited": waited} {
			if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v at its end", name, err)
			}
			if !over(ctx) {
				t.Errorf("%s: Done is open after Err", name)
			}
		}
	})
}

func TestIn_startsNoTimerUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, cancel := In(context.Background(), time.Minute)
		defer cancel()
		inner, cancel := In(outer, time.Second)
		defer cancel()
		inner.Deadline()
		inner.Err()
		inner.Value(t)
		for _, c := range []context.Context{outer, inner} {
			if c.(*ending).timed != nil {
				t.Error("a timer runs though nobody waits")
			}
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, waitFirst := range []bool{true, false} {
			ctx, cancel := In(context.Background(), time.Second)
			if waitFirst && over(ctx) {
				t.Error("over at once")
			}
			cancel()
			cancel()
			if err := ctx.Err(); !errors.Is(err, context.Canceled) || !over(ctx) {
				t.Errorf("waited before %v: got %v, over %v", waitFirst, err, over(ctx))
			}
			time.Sleep(2 * time.Second)
			if err := ctx.Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("the reason changed to %v", err)
			}
		}
	})
}

func TestAt_obeysItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancelParent := context.WithTimeout(context.Background(), time.Second)
		sooner, cancel := In(parent, time.Minute)
		defer cancel()
		if end, ok := sooner.Deadline(); !ok || time.Until(end) != time.Second {
			t.Errorf("deadline %v, %v", end, ok)
		}
		child, cancel := context.WithCancel(sooner)
		defer cancel()
		cancelParent()
		<-child.Done()
		if err := sooner.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v after its parent's end", err)
		}
	})
}
