package session_test

import (
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
)

// A subagent was silent for longer than the timeout, so its session was given up.
// When it works again the root still waits for it: its stop is then the end.
func TestApply_anAbandonedSubagentThatComesBackStillEndsTheSession(t *testing.T) {
	b := newBench(t, config())
	k := key(event.Codex, "x1")
	b.signal(event.Began, k)
	b.signal(event.TaskBegan, k, agent("a1"))
	b.wantChanges("the root stops", b.signal(event.Stopped, k), "deferred")
	b.wantChanges("silence", b.pass(13*time.Minute), "abandoned", "locked session_timeout")
	b.wantChanges("it works again", b.signal(event.ToolBegan, k, agent("a1")), "unlocked session_timeout")
	b.want("it works again", 1, 1)
	b.signal(event.TaskEnded, k, agent("a1"))
	b.wantChanges("it stopped", b.pass(3*time.Second), "ended normal completed")
	b.want("it stopped", 0, 0)
}
