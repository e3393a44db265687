package simulate_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/simulate"
)

var days = flag.Int("days", 10_000, "machine-days of the day test; some 5 ms of a processor each")

func TestMain(m *testing.M) {
	// Days leave little but garbage: collected at the usual pace it cost a fifth of
	// the time, and that on the processor of the other day.
	debug.SetGCPercent(800)
	// An unchanged tree gets an unchanged verdict: rapid, too, draws from one seed
	// unless the command line says 0.
	if f := flag.Lookup("rapid.seed"); f.Value.String() == "0" {
		f.Value.Set("1")
	}
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	os.Exit(m.Run())
}

// daysWithin is how many days a run may take.
func daysWithin(n int) int {
	if raceEnabled {
		return min(n, 20)
	}
	return n
}

// live runs days and tells of them; a day that goes wrong is told again as short
// as it can be.
func live(t *testing.T, seed uint64, n int, faults bool) simulate.Days {
	t.Helper()
	begin := time.Now()
	res := simulate.Day(seed, n, nil, faults)
	t.Logf("seed %d: %d days, %d steps, %d effects, %d crashes, %d departures, %d sleeps, in %s", seed, res.Days, res.Steps, res.Effects,
		res.Crashes, res.Exits, res.Sleeps, time.Since(begin).Round(time.Millisecond))
	t.Logf("worked %s, held %s of it; without a lock: %s; awake for nothing %s", res.Working.Round(time.Minute), res.Held.Round(time.Minute),
		res.Bare, res.Idled.Round(time.Minute))
	t.Logf("asleep under work %s in %v sleeps: %s", res.Asleep.Total().Round(time.Minute), res.Under, res.Asleep)
	for _, b := range res.Bad {
		t.Errorf("-seed %d, day %d: %s", seed, res.BadEpisode, b)
	}
	if len(res.Bad) > 0 {
		t.Fatalf("the shortest story of it:\n%s", simulate.DayStory(seed, res, faults, simulate.Broken{}))
	}
	if res.Days != n || res.Sleeps < n || res.Exits < n || res.Working < time.Duration(n)*time.Hour {
		t.Errorf("the days prove nothing: %+v", res)
	}
	return res
}

// Days with every fault at once. Whatever is not kept awake has a cause that is
// checked against the laptop; without one the day fails.
func TestDay_realDaysWithFaults(t *testing.T) {
	res := live(t, *seed, daysWithin(*days), true)
	if res.Crashes < res.Days/2 {
		t.Errorf("%d crashes in %d days", res.Crashes, res.Days)
	}
	var sum time.Duration
	for _, c := range simulate.Causes() {
		sum += res.Bare[c]
		if raceEnabled {
			continue // too few days for the rare ones
		}
		if seen := res.Under[c] > 0 || res.Bare[c] > 0; seen != (c != simulate.Unexplained) {
			t.Errorf("cause %q: %d sleeps, %s without a lock", c, res.Under[c], res.Bare[c])
		}
	}
	if res.Held+sum != res.Working {
		t.Errorf("held %s and %s without a lock do not make up the %s worked", res.Held, sum, res.Working)
	}
}

// Without faults the promise is plain: while an agent works the machine is held
// unless battery or heat forbid it with nobody there, and it is not held for long
// without work. Only those two and the person put it to sleep under work.
func TestDay_quietDaysHoldExactlyWhileAgentsWork(t *testing.T) {
	res := live(t, 3, daysWithin(300), false)
	for _, c := range simulate.Causes() {
		allowed := slices.Contains([]simulate.Cause{simulate.ByBattery, simulate.ByHeat, simulate.ByPerson}, c)
		if res.Under[c] > 0 && !allowed {
			t.Errorf("slept %d times under work by %q on days without faults", res.Under[c], c)
		}
		if res.Bare[c] > 0 && !allowed && c != simulate.ByAsking {
			t.Errorf("no lock for %s by %q on days without faults", res.Bare[c], c)
		}
	}
	if held := float64(res.Held) / float64(res.Working); held < 0.999 {
		t.Errorf("held %.3f %% of the working time", 100*held)
	}
	if idle := float64(res.Idled) / float64(res.Working); idle > 0.10 {
		t.Errorf("held for nothing %.2f %% of the working time", 100*idle)
	}
}

func TestDay_sameSeedSameBytes(t *testing.T) {
	var first, second bytes.Buffer
	a, b := simulate.Day(42, 2, &first, true), simulate.Day(42, 2, &second, true)
	if !bytes.Equal(first.Bytes(), second.Bytes()) || first.Len() < 10_000 {
		t.Errorf("two runs of one seed differ (%d and %d bytes)", first.Len(), second.Len())
	}
	silent := simulate.Day(42, 2, nil, true)
	if silent.Steps != a.Steps || silent.Held != b.Held {
		t.Errorf("printing changed what happened: %d and %d steps", a.Steps, silent.Steps)
	}
}
