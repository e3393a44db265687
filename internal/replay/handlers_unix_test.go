//go:build unix

package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
)

// handlerRatio is what fifty handlers may cost of what five cost, where as many of
// them want the event: the processor time of the whole hook, its reading of the book
// and the programs that it runs included.
const handlerRatio = 1.5

// Handlers that an event is not for cost next to nothing (docs/prove.md).
func TestSpawn_fiftyHandlersCostWhatFiveCost(t *testing.T) {
	for _, wanting := range []int{0, 5} {
		ratio, five := handlerCost(t, wanting, 60)
		t.Logf("%d want the event: five cost %v, fifty %.2f of that", wanting, five, ratio)
		if ratio > handlerRatio {
			t.Errorf("with %d that want the event fifty handlers cost %.2f of what five cost, want at most %.1f", wanting, ratio, handlerRatio)
		}
	}
}

// handlerCost is how much more of the processor a hook with fifty handlers takes
// than one with five, of which wanting run, and what that one takes. They are run in
// turns, so that what else the machine does is felt by both.
func handlerCost(t testing.TB, wanting, runs int) (ratio float64, five time.Duration) {
	t.Helper()
	hooks, cost := map[int]replay.Runner{}, map[int]time.Duration{}
	for _, n := range []int{5, 50} {
		var book strings.Builder
		for i := range n {
			tool := "Other.*"
			if i < wanting {
				tool = "Bash"
			}
			fmt.Fprintf(&book, "[[handler]]\nname = 'h%d'\ncommand = ['true']\nrole = 'helper'\ntools = ['%s']\n", i, tool)
		}
		stage, err := replay.OpenStage(replay.StageOptions{Rules: []byte(book.String()), Path: "/usr/bin:/bin"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stage.Close)
		hooks[n] = &replay.Spawn{Program: spawned(t), Stage: stage}
	}
	payload, err := replay.Make{Command: "ls", Session: "s"}.Payload(event.Claude, "PreToolUse", "/")
	if err != nil {
		t.Fatal(err)
	}
	for range runs {
		for n, hook := range hooks {
			before := cpu()
			o, err := replay.Play(t.Context(), hook, replay.Case{Provider: event.Claude, Event: "PreToolUse", Payload: payload})
			if err != nil || o.Code != 0 || len(o.Stdout)+len(o.Stderr) > 0 {
				t.Fatalf("%d handlers: %+v, %v", n, o.Answer, err)
			}
			cost[n] += cpu() - before
		}
	}
	return float64(cost[50]) / float64(cost[5]), cost[5] / time.Duration(runs)
}
