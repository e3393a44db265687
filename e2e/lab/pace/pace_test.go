//go:build linux

package pace

import (
	"testing"
	"time"
)

func TestSince_countsWhatWasWaitedFor(t *testing.T) {
	zero := time.Unix(0, 0)
	at := func(seconds int) time.Time { return zero.Add(time.Duration(seconds) * time.Second) }
	looks := []look{
		{at(1), 90 * time.Millisecond, 2 * time.Millisecond}, // before
		{at(3), 10 * time.Millisecond, 2 * time.Millisecond},
		{at(4), 2 * time.Millisecond, 2 * time.Millisecond},
	}
	for begin, want := range map[int]float64{2: 3, 3: 1, 4: 1, 0: 17} {
		if got := since(looks, at(begin)); got != want {
			t.Errorf("since second %d: got %g, want %g", begin, got, want)
		}
	}
	if got := since(nil, zero); got != 1 {
		t.Errorf("without a look: got %g, want 1", got)
	}
}

func TestLookFrom_worksAndCountsFromWhenItWasDue(t *testing.T) {
	l := lookFrom(time.Now().Add(-time.Second))
	if l.worked < work || l.took < time.Second+work {
		t.Errorf("got %+v, want %v of work and a second more", l, work)
	}
}
