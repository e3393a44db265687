package until_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/until"
)

// memory is a policy.Store.
type memory map[string][]byte

func (m memory) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) error {
	v, err := change(m[key])
	switch {
	case err != nil:
	case v == nil:
		delete(m, key)
	default:
		m[key] = v
	}
	return err
}

// world is a machine on which commands end with code.
type world struct {
	memory
	code int
	late bool
	ran  int
	said []event.Item
}

func (w *world) World() until.World {
	return until.World{Store: w.memory,
		Run: func(_ context.Context, c policy.Command) (policy.Result, error) {
			w.ran++
			if c.Script == "missing" {
				return policy.Result{}, errors.New("no shell")
			}
			return policy.Result{Code: w.code, Late: w.late, Stdout: []byte("out\n"), Stderr: []byte("1 test failed\n")}, nil
		},
		History: func(*event.Event) (iter.Seq[event.Item], error) {
			if w.said == nil {
				return nil, errors.New("no log")
			}
			return slices.Values(w.said), nil
		}}
}

func newWorld() *world { return &world{memory: memory{}} }

var key = event.SessionKey{Provider: event.Claude, ID: "s"}

func stop(last string, active bool) *event.Event {
	return &event.Event{Provider: event.Claude, Name: event.Stop, Session: key, LastMessage: last, StopActive: active, Cwd: "/src/api"}
}

func prompt(text string) *event.Event {
	return &event.Event{Provider: event.Claude, Name: event.UserPromptSubmit, Session: key, Prompt: text}
}

// say runs the chain as a hook does.
func say(t interface{ Fatalf(string, ...any) }, goals []until.Goal, w *world, ev *event.Event) event.Verdict {
	v, said := policy.Run(context.Background(), ev, until.New(goals, w.World()))
	for _, s := range said {
		if s.Err != nil && s.Err.Error() != "no shell" {
			t.Fatalf("%v", s.Err)
		}
	}
	return v
}

func TestToken(t *testing.T) {
	goals := []until.Goal{{ID: "done", Token: "ALL DONE", Times: 2, Text: "Check the list again."}}
	for _, last := range []string{"ALL DONE", "It works.\n**ALL DONE**", "x\n  ALL DONE  \ny", "`ALL DONE`."} {
		if v := say(t, goals, newWorld(), stop(last, false)); !v.IsZero() {
			t.Errorf("%q: got %+v, want silence", last, v)
		}
	}
	for _, last := range []string{"I am not ALL DONE yet", "all done", "nothing"} {
		v := say(t, goals, newWorld(), stop(last, false))
		if v.Decision != event.Deny || v.Reason != "lidguard until [done] try 1 of 2: Check the list again.\nWhen it is done, say so with the line ALL DONE" {
			t.Errorf("%q: got %v %q", last, v.Decision, v.Reason)
		}
	}
}

func TestToken_fromTheLog(t *testing.T) {
	goals := []until.Goal{{ID: "done", Token: "DONE"}}
	w := newWorld()
	for _, c := range []struct {
		name string
		log  []event.Item
		want event.Decision
	}{
		{"no log: the agent may stop", nil, event.None},
		{"said", []event.Item{{Kind: event.ItemPrompt, Text: "x"}, {Kind: event.ItemSaid, Text: "DONE"}}, event.None},
		{"said before the last prompt", []event.Item{{Kind: event.ItemSaid, Text: "DONE"}, {Kind: event.ItemPrompt, Text: "more"}}, event.Deny},
		{"said by a subagent", []event.Item{{Kind: event.ItemPrompt, Text: "x"}, {Kind: event.ItemSaid, Text: "DONE", Agent: "a"}}, event.Deny},
	} {
		w.memory, w.said = memory{}, c.log
		if v := say(t, goals, w, stop("", false)); v.Decision != c.want {
			t.Errorf("%s: got %v", c.name, v.Decision)
		}
	}
}

func TestCommand(t *testing.T) {
	goals := []until.Goal{{ID: "tests", Command: "make test"}}
	for _, c := range []struct {
		name  string
		world world
		want  event.Decision
	}{
		{"proven", world{}, event.None},
		{"not proven", world{code: 2}, event.Deny},
		{"late proves nothing", world{code: -1, late: true}, event.None},
	} {
		c.world.memory = memory{}
		v := say(t, goals, &c.world, stop("", false))
		if v.Decision != c.want || v.Decision == event.Deny && !strings.Contains(v.Reason, "`make test` ends with exit code 2:\nout\n\n1 test failed") {
			t.Errorf("%s: got %v %q", c.name, v.Decision, v.Reason)
		}
	}
	if v := say(t, []until.Goal{{ID: "x", Command: "missing"}}, newWorld(), stop("", false)); !v.IsZero() {
		t.Errorf("a command that cannot be run keeps the agent going: %+v", v)
	}
}

func TestBounds(t *testing.T) {
	goals := []until.Goal{{ID: "tests", Command: "make test", Times: 2}}
	w := newWorld()
	w.code = 1
	if v := say(t, goals, w, stop("", true)); v.Decision != event.None || v.SystemMessage == "" {
		t.Errorf("a turn that somebody else continued was continued: %+v", v)
	}
	w.memory = memory{}
	for i, want := range []event.Decision{event.Deny, event.Deny, event.None, event.None} {
		v := say(t, goals, w, stop("", i > 0))
		if v.Decision != want {
			t.Errorf("stop %d: got %v, want %v", i, v.Decision, want)
		}
		if told := v.SystemMessage != ""; told != (i == 2) {
			t.Errorf("stop %d: the person was told %q; giving up is said once", i, v.SystemMessage)
		}
	}
	say(t, goals, w, prompt("lidguard until [tests] try 1 of 2: x"))
	if v := say(t, goals, w, stop("", true)); v.Decision != event.None {
		t.Error("its own text was taken for a person's")
	}
	told := prompt("<task-notification>")
	told.Source = event.Notified
	say(t, goals, w, told)
	if v := say(t, goals, w, stop("", false)); v.Decision != event.None {
		t.Error("what the client wrote was taken for a person's")
	}
	say(t, goals, w, prompt("please"))
	if v := say(t, goals, w, stop("", false)); v.Decision != event.Deny {
		t.Error("a new prompt does not count anew")
	}
}

func TestOnlyRealEnds(t *testing.T) {
	goals := []until.Goal{{ID: "tests", Command: "make test", Dir: "/src"}, {ID: "review", Command: "lint", Agents: []string{"reviewer"}}}
	elsewhere := stop("", false)
	elsewhere.Cwd = "/srcery"
	for _, c := range []struct {
		name string
		ev   *event.Event
		want string
	}{
		{"the session's own", stop("", false), "tests"},
		{"elsewhere", elsewhere, ""},
		{"a failure", &event.Event{Name: event.StopFailure, Session: key, Cwd: "/src"}, ""},
		{"an interruption", &event.Event{Name: event.Interrupt, Session: key, Cwd: "/src"}, ""},
		{"its subagent", &event.Event{Name: event.SubagentStop, Session: key, Cwd: "/src", AgentID: "1", AgentType: "reviewer"}, "review"},
		{"another subagent", &event.Event{Name: event.SubagentStop, Session: key, Cwd: "/src", AgentID: "1", AgentType: "explorer"}, ""},
		{"the client's own agent", &event.Event{Name: event.SubagentStop, Session: key, Cwd: "/src", AgentID: "1"}, ""},
		{"a pause for background work", &event.Event{Name: event.Stop, Session: key, Cwd: "/src", Tasks: []event.Task{{ID: "b", Type: event.TaskShell}}}, ""},
		{"idle teammates are no work", &event.Event{Name: event.Stop, Session: key, Cwd: "/src", Tasks: []event.Task{{ID: "b", Type: event.TaskTeammate, Idle: true}}}, "tests"},
	} {
		w := newWorld()
		w.code = 1
		if v := say(t, goals, w, c.ev); v.Rule != c.want || c.want == "" && w.ran > 0 {
			t.Errorf("%s: got rule %q after %d commands, want %q", c.name, v.Rule, w.ran, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		goal until.Goal
		key  string
		want string
	}{
		{until.Goal{Token: "x"}, "id", "name"},
		{until.Goal{ID: "fine", Token: "x"}, "id", "two"},
		{until.Goal{ID: "x"}, "", "token or a command"},
		{until.Goal{ID: "x", Token: "a\nb"}, "token", "one line"},
		{until.Goal{ID: "x", Token: "a", Times: 8}, "times", "1 to 7"},
		{until.Goal{ID: "x", Command: "a", Limit: policy.Duration(time.Minute)}, "limit", "at most"},
	} {
		row, key, problem := until.Check([]until.Goal{{ID: "fine", Token: "x"}, c.goal})
		if row != 1 || key != c.key || !strings.Contains(problem, c.want) {
			t.Errorf("%+v: got %d %q %q", c.goal, row, key, problem)
		}
	}
}

// TestNoLivelock: whatever a session does, whatever goals there are and whoever else
// continues its turns, one prompt is continued at most MaxTimes times by us, a goal
// at most its own times in a row, a session at most MaxPerSession times; and a proven
// goal never continues anything.
func TestNoLivelock(t *testing.T) {
	goals := []until.Goal{{ID: "a", Token: "DONE", Times: 3}, {ID: "b", Command: "x", Times: 7}, {ID: "c", Command: "y", Agents: []string{"r"}, Times: 2}}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		perPrompt, all := 0, 0
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			w.code = rapid.IntRange(0, 1).Draw(t, "code")
			ev := stop(rapid.SampledFrom([]string{"DONE", "no", ""}).Draw(t, "said"), rapid.Bool().Draw(t, "active"))
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				ev = prompt("go")
			case 1:
				ev = prompt("lidguard until [a] try")
			case 2:
				ev.Name = event.StopFailure
			case 3:
				ev.Name, ev.AgentID, ev.AgentType = event.SubagentStop, "1", rapid.SampledFrom([]string{"", "r", "q"}).Draw(t, "type")
			case 4:
				w.memory["claude:s"] = json.RawMessage(rapid.SampledFrom([]string{`{}`, `null`, `[`, `{"session":3}`}).Draw(t, "damage"))
				perPrompt = 0 // a count that is lost is the bound's end: the client's own remains
				if string(w.memory["claude:s"]) != "[" {
					all = 0
				}
			}
			v := say(t, goals, w, ev)
			if ev.Name == event.UserPromptSubmit && ev.Prompt == "go" {
				perPrompt = 0
			}
			if v.Decision != event.Deny {
				continue
			}
			if ev.Name != event.Stop && ev.Name != event.SubagentStop {
				t.Fatalf("%s was continued", ev.Name)
			}
			perPrompt, all = perPrompt+1, all+1
			if perPrompt > until.MaxTimes || all > until.MaxPerSession {
				t.Fatalf("%d continuations of one prompt, %d of the session", perPrompt, all)
			}
			if v.Rule == "b" && w.code == 0 || v.Rule == "a" && ev.LastMessage == "DONE" {
				t.Fatalf("%s was proven and continued", v.Rule)
			}
			if !strings.HasPrefix(v.Reason, fmt.Sprintf("lidguard until [%s] try ", v.Rule)) {
				t.Fatalf("the text has no mark: %q", v.Reason)
			}
		}
	})
}
