//go:build !race

package simulate_test

// What takes hundreds of thousands of steps to tell is told without the race
// detector alone, which makes each step ten times dearer and finds nothing here:
// one goroutine does it all. ./test runs this package both ways.

import (
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/simulate"
)

// Every rule, broken on purpose, must be noticed: else the invariants could not
// fail at all.
func TestChaos_noticesEveryBrokenRule(t *testing.T) {
	var all []simulate.Broken
	for _, r := range session.Rules() {
		all = append(all, simulate.Broken{Session: r})
	}
	for _, r := range awake.Rules() {
		all = append(all, simulate.Broken{Awake: r})
	}
	for _, b := range all {
		t.Run(string(b.Session)+string(b.Awake), func(t *testing.T) {
			res := simulate.Chaos(7, 400_000, nil, b)
			if len(res.Bad) == 0 {
				t.Fatalf("not noticed in %d steps", res.Steps)
			}
			t.Logf("after %d steps: %s", res.Steps, res.Bad[0])
		})
	}
}

// A day that fails is told again as short as it can be.
func TestDayStory_isShort(t *testing.T) {
	broken := simulate.Broken{Awake: awake.DisplaysIgnored}
	res := simulate.DayBroken(7, 100, nil, true, broken)
	if len(res.Bad) == 0 {
		t.Fatal("a broken rule was not noticed in 100 days")
	}
	story := simulate.DayStory(7, res, true, broken)
	t.Log("\n" + story)
	if n := strings.Count(story, "\n"); n > 250 || !strings.Contains(story, "VIOLATED") {
		t.Errorf("%d lines", n)
	}
}
