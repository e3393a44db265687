package lid

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		s := NewSwitch(Present)
		begin := time.Now()
		if r := s.Read(ctx); r.State != Unknown || r.Why == "" || time.Since(begin) != switchPatience {
			t.Errorf("before a word: %+v after %s", r, time.Since(begin))
		}
		begin = time.Now()
		if r := s.Read(ctx); r.State != Unknown || time.Since(begin) != 0 {
			t.Errorf("a second reading without a word: %+v after %s", r, time.Since(begin))
		}
		s = NewSwitch(Present)
		go func() { // ends by itself
			time.Sleep(switchPatience / 2)
			s.Tell(Unknown)
			s.Tell(Closed)
		}()
		if r := s.Read(ctx); r != (Reading{State: Closed, Presence: Present, Source: "windows"}) {
			t.Errorf("the first word is not waited for: %+v", r)
		}
		begin = time.Now()
		for _, state := range []State{Open, Closed, Open} {
			s.Tell(state)
			s.Tell(Unknown) // a word that says nothing
			if r := s.Read(ctx); r.State != state {
				t.Errorf("got %+v, want %s", r, state)
			}
		}
		if time.Since(begin) != 0 {
			t.Error("a reading waits though the lid is known")
		}
	})
}

func TestSwitch_noLidIsNeverShut(t *testing.T) {
	s := NewSwitch(Absent)
	s.Tell(Closed)
	if r := s.Read(t.Context()); r.State != Unknown || r.Presence != Absent {
		t.Errorf("got %+v", r)
	}
}
