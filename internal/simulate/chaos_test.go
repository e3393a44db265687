package simulate_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/session"
	"github.com/lidguard-go/lidguard/internal/simulate"
)

var (
	seed    = flag.Uint64("seed", 1, "seed of the chaos and day tests; 0 is a random one, which they log")
	steps   = flag.Int("steps", 1_000_000, "steps of the chaos test")
	episode = flag.Int64("episode", -1, "print this one episode of the seed instead")
)

// The invariants over random inputs with faults. A failure names seed and
// episode; -seed S -episode N prints it. With seeds that nobody chose:
//
//	go test ./internal/simulate -run 'Chaos_holds|Episode|Invariant' -count=1 -v -args -seed 0 -rapid.seed 0
func TestChaos_holdsTheInvariants(t *testing.T) {
	if *episode >= 0 {
		res := simulate.Episode(*seed, uint64(*episode), 1<<30, os.Stdout, simulate.Broken{})
		t.Fatalf("%+v", res)
	}
	n := *steps
	if raceEnabled {
		n = min(n, 20_000)
	}
	begin := time.Now()
	res := simulate.Chaos(*seed, n, nil, simulate.Broken{})
	t.Logf("seed %d: %d steps in %d episodes, %d effects, %d crashes, %d departures, %d sleeps, %s of virtual time, in %s",
		*seed, res.Steps, res.Episodes, res.Effects, res.Crashes, res.Exits, res.Sleeps, res.Virtual.Round(time.Hour), time.Since(begin).Round(time.Millisecond))
	for _, b := range res.Bad {
		t.Errorf("-seed %d -episode %d: %s", *seed, res.BadEpisode, b)
	}
	if len(res.Bad) > 0 {
		t.Logf("the shortest story of it:\n%s", simulate.ChaosStory(*seed, res, simulate.Broken{}))
	}
	if len(res.Bad) == 0 && (res.Steps < n || res.Crashes == 0 || res.Exits == 0 || res.Sleeps == 0) {
		t.Errorf("the run proves nothing: %+v", res)
	}
}

// A failing episode is told again as short as it can be.
func TestChaosStory_isShort(t *testing.T) {
	for _, b := range []simulate.Broken{{Awake: awake.DisplaysIgnored}, {Session: session.NoTimeout}, {Awake: awake.LeaksLate}} {
		res := simulate.Chaos(7, 400_000, nil, b)
		story := simulate.ChaosStory(7, res, b)
		t.Logf("%v\n%s", b, story)
		if n := strings.Count(story, "\n"); n > 40 || !strings.Contains(story, "VIOLATED") {
			t.Errorf("%v: the story has %d lines", b, n)
		}
	}
}

func TestRun_sameSeedSameBytes(t *testing.T) {
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := simulate.Run(42, 3000, w); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs of one seed differ")
	}
	if out := first.String(); !strings.HasSuffix(out, "all invariants held\n") || strings.Count(out, "\n") < 3000 {
		t.Errorf("%d lines, ending in %q", strings.Count(out, "\n"), out[max(0, len(out)-200):])
	}
	var other bytes.Buffer
	if err := simulate.Run(43, 3000, &other); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first.Bytes(), other.Bytes()) {
		t.Error("another seed gave the same run")
	}
}

// The whole run makes no use of map order or of the clock: printing must not
// change what happens.
func TestChaos_printingChangesNothing(t *testing.T) {
	silent := simulate.Chaos(5, 5000, nil, simulate.Broken{})
	loud := simulate.Chaos(5, 5000, io.Discard, simulate.Broken{})
	if silent.Steps != loud.Steps || silent.Effects != loud.Effects || silent.Virtual != loud.Virtual {
		t.Errorf("silent %+v, printing %+v", silent, loud)
	}
}

// The same invariants, with rapid choosing where to look: any seed, any episode,
// any length. A failure is repeated by the arguments it prints.
func TestEpisode_anySeed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed, n := rapid.Uint64().Draw(rt, "seed"), rapid.Uint64Range(0, 1000).Draw(rt, "episode")
		res := simulate.Episode(seed, n, rapid.IntRange(1, 600).Draw(rt, "steps"), nil, simulate.Broken{})
		if len(res.Bad) > 0 {
			rt.Fatalf("-seed %d -episode %d: %s", seed, n, res.Bad[0])
		}
	})
}
