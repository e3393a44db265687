package simulate_test

import (
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/simulate"
)

func TestDay_realDaysWithFaults(t *testing.T) {
	days := 100
	if raceEnabled {
		days = 10
	}
	res := simulate.Day(*seed, days, nil, true)
	t.Logf("seed %d: %d days, %d steps, %d crashes, %d sleeps; worked %s, held %s of it, awake for nothing %s, asleep under work %s",
		*seed, res.Days, res.Steps, res.Crashes, res.Sleeps, res.Working.Round(time.Minute), res.Held.Round(time.Minute),
		res.Idled.Round(time.Minute), res.Lost.Round(time.Minute))
	for _, b := range res.Bad {
		t.Errorf("-seed %d, day %d: %s", *seed, res.BadEpisode, b)
	}
}

// Without faults the promise is plain: while an agent works the machine is held,
// and it is not held for long without work.
func TestDay_quietDaysHoldExactlyWhileAgentsWork(t *testing.T) {
	days := 60
	if raceEnabled {
		days = 10
	}
	res := simulate.Day(3, days, nil, false)
	for _, b := range res.Bad {
		t.Errorf("day %d: %s", res.BadEpisode, b)
	}
	t.Logf("worked %s, held %s of it, awake for nothing %s, asleep under work %s over %d days",
		res.Working.Round(time.Minute), res.Held.Round(time.Minute), res.Idled.Round(time.Minute), res.Lost.Round(time.Minute), res.Days)
	if res.Working < 24*time.Hour {
		t.Fatalf("agents worked %s in %d days: the days prove nothing", res.Working, res.Days)
	}
	if held := float64(res.Held) / float64(res.Working); held < 0.99 {
		t.Errorf("held %.2f %% of the working time", 100*held)
	}
	if idle := float64(res.Idled) / float64(res.Working); idle > 0.10 {
		t.Errorf("held for nothing %.2f %% of the working time", 100*idle)
	}
}
