// Package wait polls. In comes a question about the outside world, out goes
// its answer or the end of the test. It never waits blindly: nothing here
// sleeps for a fixed time and hopes.
package wait

import (
	"testing"
	"time"
)

// Long is the patience for things that take some seconds on an idle machine and a
// minute on one that does ten other things. It only costs time when a test is about
// to fail.
const Long = 2 * time.Minute

const pause = 20 * time.Millisecond

// Until asks until done is true. When it is not within the given time the test
// ends, with what was waited for and the last state.
func Until(t testing.TB, within time.Duration, what string, ask func() (done bool, state string)) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		done, state := ask()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s; last seen: %s", within, what, state)
		}
		time.Sleep(pause)
	}
}

// Never asks for the whole time given and ends the test as soon as broken is
// true: the one way to show that something does not happen.
func Never(t testing.TB, during time.Duration, what string, ask func() (broken bool, state string)) {
	t.Helper()
	for deadline := time.Now().Add(during); time.Now().Before(deadline); time.Sleep(pause) {
		if broken, state := ask(); broken {
			t.Fatalf("%s, within %v: %s", what, during, state)
		}
	}
}
