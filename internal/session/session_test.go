package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/session"
)

// bench drives one State by hand. Time only moves by pass.
type bench struct {
	t   *testing.T
	st  *session.State
	now event.Instant
	out []session.Change // of the last input
}

func config() session.Config {
	return session.Config{Timeout: 12 * time.Minute, MaxTool: 240 * time.Minute, MaxBackground: 120 * time.Minute}
}

func newBench(t *testing.T, c session.Config) *bench {
	return &bench{t: t, st: session.New(c), now: event.Instant{Awake: time.Hour, Boot: time.Hour, Wall: time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)}}
}

func (b *bench) apply(in session.Input) []session.Change {
	b.out = b.st.Apply(in, b.now)
	return b.out
}

// pass lets d go by; every deadline on the way ticks at its time.
func (b *bench) pass(d time.Duration) (changes []session.Change) {
	end := b.now.Awake + d
	for {
		next, ok := b.st.Next()
		if !ok || next > end {
			break
		}
		b.now = b.now.Add(max(next-b.now.Awake, 0))
		changes = append(changes, b.apply(session.Input{Kind: session.InTick})...)
	}
	b.now = b.now.Add(end - b.now.Awake)
	return append(changes, b.apply(session.Input{Kind: session.InTick})...)
}

func (b *bench) signal(kind event.SignalKind, key event.SessionKey, with ...func(*event.Signal)) []session.Change {
	sig := event.Signal{Kind: kind, Session: key, Source: "hook " + string(kind)}
	for _, w := range with {
		w(&sig)
	}
	return b.apply(session.Input{Kind: session.InSignal, Signal: &sig})
}

func (b *bench) busy(keys ...event.SessionKey) {
	b.apply(session.Input{Kind: session.InBusy, Keys: keys})
}

func (b *bench) want(what string, live, holding int) {
	b.t.Helper()
	if got := b.st.Summary(); got.Live != live || got.Holding != holding {
		b.t.Errorf("%s: live %d holding %d, want %d and %d", what, got.Live, got.Holding, live, holding)
	}
}

func (b *bench) wantChanges(what string, got []session.Change, want ...string) {
	b.t.Helper()
	var have []string
	for _, c := range got {
		s := string(c.Kind)
		if c.End != "" {
			s += " " + string(c.End)
		}
		if c.Reason != "" && c.Kind != session.Began {
			s += " " + c.Reason
		}
		have = append(have, s)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		b.t.Errorf("%s: changes (-want +got)\n%s", what, diff)
	}
}

func key(p event.Provider, id string) event.SessionKey {
	return event.SessionKey{Provider: p, ID: event.SessionID(id)}
}

var (
	claude = key(event.Claude, "c1")
	codex  = key(event.Codex, "x1")
)

func tasks(ts ...event.Task) func(*event.Signal) {
	if ts == nil {
		ts = []event.Task{}
	}
	return func(s *event.Signal) { s.Tasks = ts }
}
func task(t event.Task) func(*event.Signal) { return func(s *event.Signal) { s.Task = &t } }
func agent(id string) func(*event.Signal)   { return func(s *event.Signal) { s.AgentID = id } }
func tool(id, name string) func(*event.Signal) {
	return func(s *event.Signal) { s.ToolUse, s.Tool = id, name }
}
func reason(r string) func(*event.Signal)         { return func(s *event.Signal) { s.Reason = r } }
func process(p event.Process) func(*event.Signal) { return func(s *event.Signal) { s.Process = &p } }
func continues(s *event.Signal)                   { s.Continues = true }
func transcript(offset int64) func(*event.Signal) {
	return func(s *event.Signal) { s.Source, s.Offset = "transcript record", offset }
}

var (
	shell    = event.Task{ID: "b1", Type: event.TaskShell, Description: "make all"}
	monitor  = event.Task{ID: "b2", Type: event.TaskMonitor, Description: "tail the log"}
	subagent = event.Task{ID: "a1", Type: event.TaskSubagent}
)

// Which signals make a session of an unknown key.
func TestApply_onlyWorkStartsASession(t *testing.T) {
	for _, c := range []struct {
		kind   event.SignalKind
		with   []func(*event.Signal)
		starts bool
	}{
		{kind: event.Began, starts: true},
		{kind: event.ToolBegan, with: []func(*event.Signal){tool("u", "Bash")}, starts: true},
		{kind: event.Opened},
		{kind: event.Active},
		{kind: event.ToolEnded, with: []func(*event.Signal){tool("u", "Bash")}},
		{kind: event.Waiting},
		{kind: event.Resumed},
		{kind: event.TaskBegan, with: []func(*event.Signal){task(shell)}},
		{kind: event.TaskEnded, with: []func(*event.Signal){task(shell)}},
		{kind: event.Stopped, with: []func(*event.Signal){tasks(shell)}},
		{kind: event.Interrupted},
		{kind: event.Failed},
		{kind: event.Closed},
		{kind: event.Closed, with: []func(*event.Signal){continues}},
		{kind: event.Removed},
		{kind: event.Began, with: []func(*event.Signal){agent("a1")}},
		{kind: event.ToolBegan, with: []func(*event.Signal){agent("a1"), tool("u", "Bash")}},
	} {
		for _, k := range []event.SessionKey{claude, codex} {
			b := newBench(t, config())
			b.signal(c.kind, k, c.with...)
			want := 0
			if c.starts {
				want = 1
			}
			b.want(fmt.Sprintf("%s %s", c.kind, k), want, want)
		}
	}
}

func TestApply_stopSettlesThenEndsOnce(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.wantChanges("stop", b.signal(event.Stopped, claude, tasks()))
	b.want("settling", 1, 1)
	b.pass(session.Settle - time.Millisecond)
	b.want("still settling", 1, 1)
	b.wantChanges("settled", b.pass(time.Millisecond), "ended normal completed")
	b.want("ended", 0, 0)
	b.wantChanges("a later stop", append(b.signal(event.Stopped, claude, tasks()), b.pass(time.Minute)...))
}

func TestApply_workWithinTheSettleGoesOn(t *testing.T) {
	for _, kind := range []event.SignalKind{event.Began, event.ToolBegan, event.Active} {
		b := newBench(t, config())
		b.signal(event.Began, codex)
		b.signal(event.Stopped, codex)
		b.pass(time.Second)
		b.signal(kind, codex, tool("u", "Bash"))
		b.wantChanges(string(kind)+" after a Stop", b.pass(time.Minute))
		b.want(string(kind), 1, 1)
	}
}

func TestApply_workAfterTheEndRestarts(t *testing.T) {
	for _, kind := range []event.SignalKind{event.Began, event.ToolBegan, event.Active} {
		b := newBench(t, config())
		b.signal(event.Began, claude)
		b.signal(event.Stopped, claude)
		b.pass(time.Minute)
		b.wantChanges(string(kind), b.signal(kind, claude, tool("u", "Bash")), "began")
		b.want(string(kind), 1, 1)
	}
}

// The tailer reads the answer after the Stop hook told of its end.
func TestApply_lateTranscriptRecordsRestartNothing(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.Stopped, claude)
	b.pass(100 * time.Millisecond)
	b.signal(event.Active, claude, transcript(900))
	b.pass(time.Minute)
	b.want("a record that lags behind the hook", 0, 0)

	b.signal(event.Began, claude)
	b.signal(event.Interrupted, claude, transcript(1000))
	b.signal(event.Active, claude, transcript(800))
	b.want("a record from before the marker", 0, 0)
	b.signal(event.Active, claude, transcript(1200))
	b.want("a record from after the marker", 1, 1)
}

// A log that is written in batches tells of a short turn when it is over.
func TestApply_lateRecordOfAPromptRestartsNothing(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude, func(s *event.Signal) { s.Source = "hook userPromptSubmitted" })
	b.pass(100 * time.Millisecond)
	b.signal(event.Stopped, claude)
	b.pass(400 * time.Millisecond)
	b.signal(event.Began, claude, transcript(100))
	b.pass(session.Settle)
	b.want("the record of the turn that is over", 0, 0)
	b.signal(event.Began, claude, transcript(200))
	b.want("a turn that no hook tells of", 1, 1)
}

func TestApply_updateWithoutProcessKeepsTheWatchedOne(t *testing.T) {
	b := newBench(t, config())
	p := event.Process{PID: 7, Start: 70}
	b.signal(event.Began, claude, process(p))
	b.signal(event.Began, claude)
	b.wantChanges("exit", b.apply(session.Input{Kind: session.InExited, Process: &p}), "ended cancelled owner_exit")
	b.want("exit", 0, 0)
}

func TestApply_reusedPidIsAnotherProcess(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude, process(event.Process{PID: 7, Start: 70}))
	b.apply(session.Input{Kind: session.InExited, Process: &event.Process{PID: 7, Start: 71}})
	b.want("another start time", 1, 1)
}

func TestApply_sharedDaemonProvesNothing(t *testing.T) {
	b := newBench(t, config())
	p := event.Process{PID: 7, Start: 70, Shared: true}
	b.signal(event.Began, codex, process(p))
	b.apply(session.Input{Kind: session.InExited, Process: &p})
	b.want("daemon gone", 1, 1)
	b.signal(event.Opened, key(event.Codex, "x2"), process(p))
	b.want("another session of the daemon takes nothing over", 1, 1)
	if x := b.st.Get(codex); x.Phase != session.Working {
		t.Errorf("the first session is %s", x.Phase)
	}
}

func TestApply_softLockIsNoActivity(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	began := b.now
	b.pass(time.Minute)
	b.wantChanges("dialog", b.signal(event.Waiting, claude, reason("permission_prompt")), "locked permission_prompt")
	b.want("dialog", 1, 0)
	if got := b.st.Get(claude).Activity; got != began {
		t.Errorf("activity moved to %v", got)
	}
	b.wantChanges("told again", b.signal(event.Waiting, claude, reason("idle_prompt")))
	b.wantChanges("answered", b.signal(event.Resumed, claude), "unlocked permission_prompt")
	b.want("answered", 1, 1)
}

func TestApply_graceHoldsUntilItsEnd(t *testing.T) {
	c := config()
	c.Grace = 3 * time.Minute
	b := newBench(t, c)
	b.signal(event.Began, claude)
	b.signal(event.Waiting, claude, reason("permission_prompt"))
	b.want("within the grace", 1, 1)
	b.wantChanges("after it", b.pass(3*time.Minute), "grace-over permission_prompt")
	b.want("after it", 1, 0)
}

func TestApply_parallelToolIsNoAnswer(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.ToolBegan, claude, tool("u1", "Read"))
	b.signal(event.ToolBegan, claude, tool("u2", "Bash"))
	b.signal(event.Waiting, claude, reason("permission_prompt"), func(s *event.Signal) { s.Tool = "Bash" })
	b.signal(event.ToolEnded, claude, tool("u1", "Read"))
	b.want("the other call ended", 1, 0)
	b.signal(event.ToolEnded, claude, tool("u2", "Bash"))
	b.want("the asked call ended", 1, 1)
}

// An agent locks its own session by a tool, and the client reports the end of that call.
func TestApply_endOfTheLockingCallIsNoAnswer(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.ToolBegan, claude, tool("u1", "mcp__lidguard__set_session_soft_lock"))
	b.signal(event.Waiting, claude, reason("mcp_soft_lock"))
	b.signal(event.ToolEnded, claude, tool("u1", "mcp__lidguard__set_session_soft_lock"))
	b.want("the locking call ended", 1, 0)
	b.signal(event.ToolBegan, claude, tool("u2", "Read"))
	b.want("the agent works on", 1, 1)
}

func TestApply_recordOfTheAskingCallIsNoAnswer(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.Waiting, claude)
	b.pass(300 * time.Millisecond)
	b.signal(event.Active, claude, transcript(100))
	b.want("the record that lags", 1, 0)
	b.pass(time.Minute)
	b.signal(event.Active, claude, transcript(200))
	b.want("a record a minute later", 1, 1)
}

// A subagent goes on while the root's dialog is open: the machine stays up for
// the subagent and no longer.
func TestApply_dialogComesBackAfterTheSubagent(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.TaskBegan, claude, task(subagent))
	b.signal(event.Waiting, claude, reason("permission_prompt"))
	b.want("dialog", 1, 0)
	b.signal(event.ToolBegan, claude, agent("a1"), tool("u5", "Bash"))
	b.want("subagent works", 1, 1)
	b.wantChanges("subagent done", b.signal(event.TaskEnded, claude, task(subagent)), "locked permission_prompt")
	b.want("subagent done", 1, 0)
}

func TestApply_timeoutLocksAndComesBack(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.wantChanges("12 minutes", b.pass(12*time.Minute), "locked session_timeout")
	b.want("12 minutes", 1, 0)
	b.wantChanges("it comes back", b.signal(event.Active, claude), "unlocked session_timeout")
	b.want("it comes back", 1, 1)
}

func TestApply_timeoutOffNeverLocks(t *testing.T) {
	b := newBench(t, session.Config{})
	b.signal(event.Began, claude)
	b.wantChanges("a week", b.pass(7*24*time.Hour))
	b.want("a week", 1, 1)
}

func TestApply_abandonedPendingIsToldFirst(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.Stopped, claude, tasks(shell))
	if x := b.st.Get(claude); !x.Pending {
		t.Fatal("not pending")
	}
	b.wantChanges("no life", b.pass(12*time.Minute), "abandoned", "locked session_timeout")
	x := b.st.Get(claude)
	if x.Pending || !x.Abandoned {
		t.Errorf("pending %v, abandoned %v", x.Pending, x.Abandoned)
	}
	b.signal(event.Active, claude)
	if x.Abandoned || !x.Holds() {
		t.Error("activity did not clear the mistaken mark")
	}
}

func TestApply_clientsListWinsOverTheLedger(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.TaskBegan, claude, task(shell))
	b.wantChanges("the list is empty", append(b.signal(event.Stopped, claude, tasks()), b.pass(session.Settle)...), "ended normal completed")
}

// Without the client's list the ledger decides, and completion clears the
// matching item only.
func TestApply_ledgerWithoutTheClientsList(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.TaskBegan, claude, task(shell))
	b.signal(event.TaskBegan, claude, task(subagent))
	b.wantChanges("stop", b.signal(event.Stopped, claude), "deferred")
	b.signal(event.TaskEnded, claude, task(event.Task{ID: "never-seen"}))
	b.signal(event.TaskEnded, claude, task(shell))
	if got := b.st.Get(claude).Tasks; len(got) != 1 || got[0].ID != "a1" {
		t.Errorf("left in flight: %+v", got)
	}
	b.wantChanges("second stop", b.signal(event.Stopped, claude), "deferred")
	b.signal(event.TaskEnded, claude, task(subagent))
	b.want("Claude says Stop again after a completion", 1, 1)
	b.wantChanges("last stop", append(b.signal(event.Stopped, claude), b.pass(session.Settle)...), "ended normal completed")
}

func TestApply_notificationRefreshesNothing(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.Stopped, claude, tasks(shell, monitor))
	b.pass(6 * time.Minute)
	b.signal(event.TaskEnded, claude, task(shell))
	b.wantChanges("twelve minutes after the Stop", b.pass(6*time.Minute), "abandoned", "locked session_timeout")
}

func TestApply_todosAreShownAndHoldNothing(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.TaskBegan, claude, task(event.Task{ID: "1", Type: event.TaskTodo}))
	b.signal(event.TaskBegan, claude, task(event.Task{ID: "2", Type: event.TaskTodo}))
	b.signal(event.TaskEnded, claude, task(event.Task{ID: "1", Type: event.TaskTodo}))
	if got := b.st.Get(claude).Todos; !slices.Equal(got, []string{"2"}) {
		t.Errorf("todos %q", got)
	}
	b.wantChanges("stop", append(b.signal(event.Stopped, claude), b.pass(session.Settle)...), "ended normal completed")
}

func TestApply_monitorIsBoundedAndNamed(t *testing.T) {
	for _, weak := range []event.Task{monitor, {ID: "t1", Type: event.TaskTeammate, Idle: true, Description: "reviewer"}, {ID: "c1", Type: event.TaskCron, Description: "every hour"}} {
		b := newBench(t, config())
		b.signal(event.Began, claude)
		var last []session.Change
		for range 30 { // its lines start turns that end in a Stop
			b.signal(event.Active, claude)
			last = append(b.signal(event.Stopped, claude, tasks(weak)), b.pass(5*time.Minute)...)
			if b.st.Summary().Holding == 0 {
				break
			}
		}
		b.want(string(weak.Type), 1, 0)
		if held := b.now.Awake - time.Hour; held > 121*time.Minute {
			t.Errorf("%s held for %s", weak.Type, held)
		}
		told := slices.ContainsFunc(last, func(c session.Change) bool {
			return c.Kind == session.Noticed && strings.Contains(c.Text, weak.Description)
		})
		if !told {
			t.Errorf("no notice names %q: %+v", weak.Description, last)
		}
		b.signal(event.Began, claude)
		b.want("a new prompt starts the time again", 1, 1)
	}
}

// After a Stop nothing is released before it settled, also where a monitor's time
// is over: a goal turn may follow. A Stop without a turn before it gives no time.
func TestApply_aStopBesideASpentMonitorSettles(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	for range 12 {
		b.signal(event.Stopped, claude, tasks(monitor))
		b.pass(10 * time.Minute)
	}
	b.want("two hours of a monitor", 1, 0)
	b.wantChanges("a goal turn", b.signal(event.Active, claude), "unlocked max_background_time")
	b.wantChanges("it stops", append(b.signal(event.Stopped, claude, tasks(monitor)), b.pass(time.Second)...), "deferred")
	b.want("it stops", 1, 1)
	b.wantChanges("the next one begins", b.signal(event.ToolBegan, claude, tool("u", "Bash")))
	b.wantChanges("and stops", append(b.signal(event.Stopped, claude, tasks(monitor)), b.pass(session.Settle)...),
		"deferred", "locked max_background_time")
	b.wantChanges("a Stop alone", b.signal(event.Stopped, claude, tasks(monitor)), "deferred")
	b.want("a Stop alone", 1, 0)
	b.pass(time.Minute)
	b.signal(event.Waiting, claude, reason("permission_prompt"))
	b.signal(event.Resumed, claude)
	b.signal(event.Waiting, claude, reason("permission_prompt"))
	b.wantChanges("a Stop after a dialog that nobody answered", b.signal(event.Stopped, claude, tasks(monitor)), "deferred", "unlocked permission_prompt")
	b.wantChanges("and settled", b.pass(session.Settle), "locked max_background_time")
}

func TestApply_busyTeammateIsNotWeak(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	for range 40 {
		b.signal(event.Stopped, claude, tasks(event.Task{ID: "t1", Type: event.TaskTeammate}))
		b.pass(5 * time.Minute)
	}
	b.want("200 minutes of a working teammate", 1, 1)
}

func TestApply_lastCodexSubagentIsTheEnd(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, codex)
	b.signal(event.TaskBegan, codex, task(subagent))
	b.signal(event.TaskBegan, codex, task(event.Task{ID: "a2", Type: event.TaskSubagent}))
	b.wantChanges("root stops", b.signal(event.Stopped, codex), "deferred")
	b.signal(event.TaskEnded, codex, agent("a1"))
	b.want("one left", 1, 1)
	b.wantChanges("the last", append(b.signal(event.TaskEnded, codex, agent("a2")), b.pass(session.Settle)...), "ended normal completed")
}

func TestApply_codexPromptOfASubagentIsNoTurn(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, codex)
	b.signal(event.TaskBegan, codex, task(subagent))
	b.signal(event.Stopped, codex)
	b.signal(event.Began, codex, agent("a1"))
	if x := b.st.Get(codex); !x.Pending {
		t.Error("a subagent's prompt started a turn of the root")
	}
	b.wantChanges("end", append(b.signal(event.TaskEnded, codex, agent("a1")), b.pass(session.Settle)...), "ended normal completed")
}

// Interrupt, later SubagentStop (contract Codex §5).
func TestApply_codexInterruptWaitsForSubagents(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, codex)
	b.signal(event.TaskBegan, codex, task(subagent))
	b.wantChanges("interrupt", b.signal(event.Interrupted, codex), "deferred")
	b.want("subagent goes on", 1, 1)
	b.wantChanges("its stop", b.signal(event.TaskEnded, codex, agent("a1")), "ended interrupted interrupted")
}

func TestApply_interruptEndsAtOnceAndNotNormally(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.ToolBegan, claude, tool("u", "Bash"))
	b.wantChanges("interrupt", b.signal(event.Interrupted, claude, reason("turn_aborted")), "ended interrupted turn_aborted")
	b.want("interrupt", 0, 0)
}

func TestApply_apiErrorEndsOnlyTheMainAgent(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.Failed, claude, agent("a9"))
	b.want("a side agent failed", 1, 1)
	b.wantChanges("the main agent failed", append(b.signal(event.Failed, claude, reason("rate_limit")), b.pass(session.Settle)...), "ended normal rate_limit")
}

// Internal agents run after a Stop and have no start (contract Claude §2).
func TestApply_internalAgentsKeepNothingAlive(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.signal(event.Stopped, claude, tasks())
	b.signal(event.TaskEnded, claude, agent("a77"), tasks())
	b.signal(event.Active, claude, agent("a77"))
	b.wantChanges("settled", b.pass(session.Settle), "ended normal completed")
}

func TestApply_workIsCarriedToTheNextID(t *testing.T) {
	p := event.Process{PID: 7, Start: 70}
	next := key(event.Claude, "c2")
	t.Run("closed, then opened", func(t *testing.T) {
		b := newBench(t, config())
		b.signal(event.Began, claude, process(p))
		b.signal(event.TaskBegan, claude, task(shell))
		b.wantChanges("closed", b.signal(event.Closed, claude, continues, reason("clear")))
		b.want("between the two", 1, 1)
		b.wantChanges("opened", b.signal(event.Opened, next, process(p)), "carried")
		b.want("opened", 1, 1)
		if x := b.st.Get(next); len(x.Tasks) != 1 || x.Phase != session.Working {
			t.Errorf("carried over: %+v", x)
		}
		b.wantChanges("nothing stays behind", b.pass(time.Minute))
		if b.st.Get(claude) != nil {
			t.Error("the old id is still known")
		}
	})
	t.Run("opened, then closed", func(t *testing.T) {
		b := newBench(t, config())
		k, n := key(event.Copilot, "c1"), key(event.Copilot, "c2")
		b.signal(event.Began, k, process(p))
		b.signal(event.Opened, n, process(p))
		b.wantChanges("closed", b.signal(event.Closed, k, continues), "carried")
		b.want("closed", 1, 1)
	})
	t.Run("no successor", func(t *testing.T) {
		b := newBench(t, config())
		b.signal(event.Began, claude, process(p))
		b.signal(event.Closed, claude, continues, reason("clear"))
		b.wantChanges("later", b.pass(session.CarryOver), "ended normal clear")
	})
	t.Run("another process", func(t *testing.T) {
		b := newBench(t, config())
		b.signal(event.Began, claude, process(p))
		b.signal(event.Closed, claude, continues, reason("clear"))
		b.signal(event.Opened, next, process(event.Process{PID: 7, Start: 71}))
		b.wantChanges("later", b.pass(session.CarryOver), "ended normal clear")
		b.want("later", 0, 0)
	})
	t.Run("a successor at work of its own is not charged for its predecessor's monitor", func(t *testing.T) {
		b := newBench(t, config())
		k, n := key(event.Copilot, "c1"), key(event.Copilot, "c2")
		b.signal(event.Began, k, process(p))
		b.signal(event.Stopped, k, tasks(monitor))
		for range 11 { // its lines show that it lives
			b.pass(10 * time.Minute)
			b.signal(event.Stopped, k, tasks(monitor))
		}
		b.pass(9 * time.Minute)
		b.signal(event.Began, n, process(p)) // heard before the end of the old one
		b.wantChanges("closed", b.signal(event.Closed, k, continues), "carried")
		b.pass(5 * time.Minute)
		b.wantChanges("the new turn stops", b.signal(event.Stopped, n, tasks(monitor)), "deferred")
		b.want("the new turn stops", 1, 1)
	})
	t.Run("a predecessor does not give a monitor more time", func(t *testing.T) {
		b := newBench(t, config())
		k, n := key(event.Copilot, "c1"), key(event.Copilot, "c2")
		b.signal(event.Began, k, process(p))
		b.signal(event.Began, n, process(p))
		b.signal(event.Stopped, n, tasks(monitor))
		for range 11 {
			b.pass(10 * time.Minute)
			b.signal(event.Stopped, n, tasks(monitor))
		}
		b.signal(event.ToolBegan, k) // at work again after its timeout
		b.signal(event.Active, n)
		b.wantChanges("closed", b.signal(event.Closed, k, continues), "carried")
		b.pass(10 * time.Minute)
		b.wantChanges("two hours of a monitor", append(b.signal(event.Stopped, n, tasks(monitor)), b.pass(session.Settle)...),
			"deferred", "locked max_background_time", "noticed max_background_time")
	})
	t.Run("a turn that runs is no Stop that waits, whatever it takes over", func(t *testing.T) {
		b := newBench(t, config())
		b.signal(event.Began, next)
		b.signal(event.Stopped, next, tasks(monitor))
		b.pass(10 * time.Minute)
		for range 11 {
			b.signal(event.Stopped, next, tasks(monitor))
			b.pass(10 * time.Minute)
		}
		b.want("after two hours of a monitor", 1, 0)
		b.signal(event.Began, claude, process(p))
		b.signal(event.Stopped, claude, tasks(monitor))
		b.signal(event.Active, next, process(p))
		b.wantChanges("opened late", b.signal(event.Opened, next, process(p)), "carried")
		b.wantChanges("the turn runs", b.pass(11*time.Minute))
		b.want("the turn runs", 1, 1)
	})
	t.Run("a turn that is taken over runs on under a Stop that waits", func(t *testing.T) {
		b := newBench(t, config())
		b.signal(event.Began, next)
		for range 11 {
			b.signal(event.Stopped, next, tasks(monitor))
			b.pass(10 * time.Minute)
		}
		b.signal(event.Began, claude, process(p))
		b.signal(event.Closed, claude, continues)
		b.wantChanges("opened", b.signal(event.Opened, next, process(p)), "carried")
		b.wantChanges("the monitor's time is over and the turn runs", b.pass(11*time.Minute))
		b.want("the turn runs", 1, 1)
	})
	t.Run("work that was given up ends under the new id as it would have", func(t *testing.T) {
		b := newBench(t, config())
		n := key(event.Codex, "x2")
		b.signal(event.Began, codex, process(p))
		b.signal(event.TaskBegan, codex, agent("a1"))
		b.signal(event.Stopped, codex)
		b.wantChanges("silence", b.pass(13*time.Minute), "abandoned", "locked session_timeout")
		b.signal(event.Closed, codex, continues)
		b.wantChanges("opened", b.signal(event.Opened, n, process(p)), "carried")
		b.signal(event.TaskEnded, n, agent("a1"))
		b.wantChanges("the last subagent stopped", b.pass(session.Settle), "ended normal completed")
	})
	t.Run("MCP servers of different names are strangers", func(t *testing.T) {
		b := newBench(t, config())
		k, n := event.SessionKey{Provider: event.MCP, ID: "a", Name: "one"}, event.SessionKey{Provider: event.MCP, ID: "a", Name: "two"}
		b.signal(event.Began, k, process(p))
		b.signal(event.Began, n, process(p))
		b.wantChanges("closed", b.signal(event.Closed, k, continues))
		b.wantChanges("later", b.pass(session.CarryOver), "ended normal closed")
		b.want("the other works on", 1, 1)
	})
	t.Run("an idle session leaves nothing", func(t *testing.T) {
		b := newBench(t, config())
		b.signal(event.Opened, claude, process(p))
		b.signal(event.Closed, claude, continues, reason("clear"))
		b.signal(event.Opened, next, process(p))
		b.want("opened", 0, 0)
	})
}

func TestApply_cancelPaths(t *testing.T) {
	for name, act := range map[string]func(*bench) []session.Change{
		"removed by hand": func(b *bench) []session.Change { return b.signal(event.Removed, claude) },
		"all removed":     func(b *bench) []session.Change { return b.apply(session.Input{Kind: session.InRemoveAll}) },
		"orphan": func(b *bench) []session.Change {
			return b.apply(session.Input{Kind: session.InOrphans, Keys: []event.SessionKey{claude, codex}})
		},
	} {
		b := newBench(t, config())
		b.signal(event.Began, claude)
		got := act(b)
		if len(got) != 1 || got[0].End != session.Cancelled {
			t.Errorf("%s: %+v", name, got)
		}
		b.want(name, 0, 0)
		b.signal(event.ToolBegan, claude, tool("u", "Bash"))
		b.want(name+", then a straggler", 0, 0)
		b.signal(event.Began, claude)
		b.want(name+", then a new prompt", 1, 1)
	}
}

func TestApply_settingsApplyToRunningSessions(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.pass(5 * time.Minute)
	c := config()
	c.Timeout = time.Minute
	b.wantChanges("a shorter timeout", b.apply(session.Input{Kind: session.InConfig, Config: &c}), "locked session_timeout")
}

func TestApply_mcpNamesKeepSessionsApart(t *testing.T) {
	b := newBench(t, config())
	one := event.SessionKey{Provider: event.MCP, ID: "a", Name: "one"}
	two := event.SessionKey{Provider: event.MCP, ID: "a", Name: "two"}
	b.signal(event.Began, one)
	b.signal(event.Began, two)
	b.want("one id, two names", 2, 2)
	b.signal(event.Removed, one)
	b.want("one removed", 1, 1)
}

// A machine that slept eight hours was not idle for eight hours.
func TestApply_sleepIsNoInactivity(t *testing.T) {
	b := newBench(t, config())
	b.signal(event.Began, claude)
	b.now.Boot += 8 * time.Hour
	b.now.Wall = b.now.Wall.Add(8 * time.Hour)
	b.wantChanges("after the wake", b.pass(11*time.Minute))
	b.want("after the wake", 1, 1)
}

func TestState_survivesJSON(t *testing.T) {
	b := newBench(t, config())
	p := event.Process{PID: 7, Start: 70}
	b.signal(event.Began, claude, process(p), func(s *event.Signal) { s.Cwd, s.Transcript, s.Prompt = "/src", "/t.jsonl", "fix it" })
	b.signal(event.ToolBegan, claude, tool("u1", "Bash"))
	b.signal(event.Began, codex)
	b.signal(event.Waiting, codex, reason("permission_prompt"))
	b.signal(event.Began, key(event.Copilot, "p1"))
	b.signal(event.Stopped, key(event.Copilot, "p1"), tasks(monitor))
	data, err := json.Marshal(b.st.Save())
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) (*session.State, error) {
		var saved session.Saved
		if err := json.Unmarshal([]byte(text), &saved); err != nil {
			return nil, err
		}
		return saved.State()
	}
	back, err := read(string(data))
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back.Save())
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != string(again) {
		t.Errorf("the second writing differs:\n%s\n%s", data, again)
	}
	if got, want := back.Summary(), b.st.Summary(); got != want {
		t.Errorf("summary %+v, want %+v", got, want)
	}
	gotNext, _ := back.Next()
	if want, _ := b.st.Next(); gotNext != want {
		t.Errorf("next deadline %s, want %s", gotNext, want)
	}
	b.st = back
	b.wantChanges("the process is still watched", b.apply(session.Input{Kind: session.InExited, Process: &p}), "ended cancelled owner_exit")

	for _, bad := range []string{`{"schema":2}`, `{"schema":1,"sessions":[null]}`, `[]`} {
		if _, err := read(bad); err == nil {
			t.Errorf("took %s", bad)
		}
	}
}

func TestEvidence_isBoundedAndSaysWhy(t *testing.T) {
	b := newBench(t, config())
	for i := range 200 {
		b.signal(event.Began, claude)
		b.signal(event.ToolBegan, claude, tool(fmt.Sprint(i), "Bash"))
		b.busy(claude)
		b.busy(claude)
	}
	b.signal(event.Interrupted, claude, transcript(4711), reason("turn_aborted"))
	ev := b.st.Get(claude).Evidence
	if len(ev) != session.MaxEvidence {
		t.Fatalf("%d entries, want %d", len(ev), session.MaxEvidence)
	}
	last, before := ev[len(ev)-1], ev[len(ev)-2]
	if last.What != "ended interrupted: turn_aborted" || last.Offset != 4711 || last.Holds {
		t.Errorf("last entry %+v", last)
	}
	if before.What != "busy" || before.Times != 2 || !before.Holds {
		t.Errorf("entry before %+v, want the two signs of life as one", before)
	}
}

// Ten times the sessions may cost ten times as much in all, not a hundred.
func TestApply_manySessionsAreCheap(t *testing.T) {
	each := func(n int) time.Duration {
		b := newBench(t, config())
		begin := cpu()
		for i := range n {
			k := key(event.Codex, fmt.Sprint(i))
			b.signal(event.Began, k)
			b.signal(event.ToolBegan, k, tool("u", "Bash"))
		}
		b.want("all at work", n, n)
		b.pass(time.Hour)
		b.want("all timed out", n, 0)
		for i := range n {
			b.signal(event.Removed, key(event.Codex, fmt.Sprint(i)))
		}
		b.want("all gone", 0, 0)
		return (cpu() - begin) / time.Duration(n)
	}
	few, many := each(500), each(5000)
	for range 4 {
		few = min(few, each(500))
	}
	t.Logf("of 500 sessions each takes %s, of 5000 %s", few, many)
	if many > 4*few+20*time.Microsecond {
		t.Error("that grows with their number")
	}
}

func BenchmarkApply500Sessions(b *testing.B) {
	st := session.New(config())
	now := event.Instant{Awake: time.Hour, Boot: time.Hour}
	keys := make([]event.SessionKey, 500)
	for i := range keys {
		keys[i] = key(event.Claude, fmt.Sprint(i))
	}
	for i := 0; b.Loop(); i++ {
		now = now.Add(time.Millisecond)
		st.Apply(session.Input{Kind: session.InSignal, Signal: &event.Signal{Kind: event.Began, Session: keys[i%500], Source: "hook"}}, now)
	}
}
