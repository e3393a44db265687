package simulate

import "testing"

// Days of long runs that once went wrong, one by one.
func TestDay_found(t *testing.T) {
	for _, c := range []struct {
		seed, day uint64
		why       string
	}{
		// A suspend hangs, new work comes and asks for the person: releasing the
		// lid lock is the sleep, in the moment in which the work ends.
		{1, 8646, "a sleep at the very end of the work counted as one under it"},
	} {
		d := playDay(c.seed, c.day, nil, true, Broken{}, nil)
		if len(d.Bad) > 0 {
			t.Errorf("seed %d, day %d (%s): %q", c.seed, c.day, c.why, d.Bad)
		}
	}
}
