package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/check"
)

// bench is a store, a command whose output is known, and workers that run when they
// are let.
type bench struct {
	values  map[string][]byte
	output  string // "" ends with 0
	waiting []check.Place
	slow    bool // workers do not run while the end of a turn waits
	awaited bool // another process is in Wait
	late    bool // the command does not end
	ran     int
}

func newBench() *bench { return &bench{values: map[string][]byte{}} }

func (b *bench) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) error {
	v, err := change(b.values[key])
	switch {
	case err != nil:
	case v == nil:
		delete(b.values, key)
	default:
		b.values[key] = v
	}
	return err
}

var checks = []check.Check{{ID: "tests", Match: []string{"*.go"}, Command: "go test"}}

func (b *bench) work(t interface{ Fatalf(string, ...any) }) {
	for len(b.waiting) > 0 {
		p := b.waiting[0]
		b.waiting = b.waiting[1:]
		if err := check.Work(context.Background(), checks[0], p, b, func(context.Context, policy.Command) (policy.Result, error) {
			b.ran++
			r := policy.Result{Stdout: []byte(b.output), Late: b.late}
			if b.output != "" {
				r.Code = 1
			}
			return r, nil
		}); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

func (b *bench) world(t interface{ Fatalf(string, ...any) }) check.World {
	return check.World{Store: b,
		Start: func(p check.Place) error { b.waiting = append(b.waiting, p); return nil },
		Sleep: func(context.Context, time.Duration) error {
			if !b.slow {
				b.work(t)
			}
			return nil
		},
		Awaited: func(event.SessionKey) bool { return b.awaited }}
}

func (b *bench) say(t interface{ Fatalf(string, ...any) }, ev *event.Event) event.Verdict {
	v, said := policy.Run(context.Background(), ev, check.New(checks, b.world(t)))
	for _, s := range said {
		if s.Err != nil {
			t.Fatalf("%v", s.Err)
		}
	}
	return v
}

func of(name event.Name, id event.SessionID) *event.Event {
	return &event.Event{Name: name, Cwd: "/p", Session: event.SessionKey{Provider: event.Codex, ID: id}}
}

func edit(file string) *event.Event {
	ev := of(event.PostToolUse, "s")
	in, _ := json.Marshal(map[string]string{"file_path": file})
	ev.Tool = &event.Tool{Name: "Edit", Input: in}
	return ev
}

func TestStory(t *testing.T) {
	b := newBench()
	for _, step := range []struct {
		name   string
		output string
		ev     *event.Event
		denies string
		tells  string
	}{
		{"a change of no concern", "a.go:1: boom", edit("a.md"), "", ""},
		{"and the end", "a.go:1: boom", of(event.Stop, "s"), "", ""},
		{"a change", "a.go:1: boom", edit("a.go"), "", ""},
		{"the end waits, and the turn goes on", "a.go:1: boom", of(event.Stop, "s"), "lidguard check: new since your changes:\ntests: a.go:1: boom", ""},
		{"once", "a.go:1: boom", of(event.Stop, "s"), "", ""},
		{"a change that leaves it", "a.go:7: boom", edit("a.go"), "", ""},
		{"is told nothing new", "a.go:7: boom", of(event.Stop, "s"), "", ""},
		{"one more", "a.go:7: boom\nb.go:1: bang", edit("b.go"), "", ""},
		{"of which the new one is told", "a.go:7: boom\nb.go:1: bang", of(event.Stop, "s"), "tests: b.go:1: bang", ""},
		{"all is well", "", edit("b.go"), "", ""},
		{"and silent", "", of(event.Stop, "s"), "", ""},
		{"broken again", "a.go:1: boom", edit("a.go"), "", ""},
		{"is new again", "a.go:1: boom", of(event.Stop, "s"), "tests: a.go:1: boom", ""},
	} {
		b.output = step.output
		v := b.say(t, step.ev)
		if (v.Decision == event.Deny) != (step.denies != "") || !strings.Contains(v.Reason, step.denies) || !strings.Contains(strings.Join(v.Contexts, ""), step.tells) {
			t.Errorf("%s: got %v %q %q", step.name, v.Decision, v.Reason, v.Contexts)
		}
	}
}

// A run that did not end found nothing out, and what was known is not news after it.
func TestWork_aLateRunKeepsWhatWasKnown(t *testing.T) {
	b := newBench()
	for _, step := range []struct {
		name   string
		late   bool
		output string
		denies string
	}{
		{"late with nothing known", true, "", "did not end within"},
		{"found", false, "a.go:1: boom", "tests: a.go:1: boom"},
		{"late", true, "a.go:1: boom", "did not end within"},
		{"late again is no news", true, "a.go:1: boom", ""},
		{"nor is what was there before", false, "a.go:1: boom", ""},
		{"one more is", false, "a.go:1: boom\nb.go:1: bang", "tests: b.go:1: bang"},
	} {
		b.output, b.late = step.output, step.late
		b.say(t, edit("a.go"))
		v := b.say(t, of(event.Stop, "s"))
		if (v.Decision == event.Deny) != (step.denies != "") || !strings.Contains(v.Reason, step.denies) || strings.Count(v.Reason, "tests: ") > 1 {
			t.Errorf("%s: got %v %q", step.name, v.Decision, v.Reason)
		}
		b.say(t, of(event.UserPromptSubmit, "s")) // so that the prompt's bound is not reached
	}
}

func TestSlowCheck_isToldLater(t *testing.T) {
	b := newBench()
	b.output, b.slow = "a.go:1: boom", true
	b.say(t, edit("a.go"))
	if v := b.say(t, of(event.Stop, "s")); !v.IsZero() {
		t.Errorf("nothing is known yet: %+v", v)
	}
	b.work(t)
	if v := b.say(t, of(event.SessionStart, "s")); !v.IsZero() {
		t.Errorf("told at the start of a session: %+v", v)
	}
	if v := b.say(t, of(event.UserPromptSubmit, "s2")); !v.IsZero() {
		t.Errorf("told to a session that changed nothing: %+v", v)
	}
	v := b.say(t, of(event.UserPromptSubmit, "s"))
	if v.Decision != event.None || len(v.Contexts) != 1 || !strings.Contains(v.Contexts[0], "a.go:1: boom") {
		t.Errorf("got %+v", v)
	}
	if v := b.say(t, of(event.UserPromptSubmit, "s")); !v.IsZero() {
		t.Errorf("told twice: %+v", v)
	}
}

// wake is what the process beside a call does: it notes the change, like the call's own
// hook, and waits. late ends its patience before the check has ended.
func (b *bench) wake(t interface{ Fatalf(string, ...any) }, ev *event.Event, late bool) string {
	w := b.world(t)
	w.Sleep = func(context.Context, time.Duration) error {
		if late {
			return context.DeadlineExceeded
		}
		b.work(t)
		return nil
	}
	err := check.Changes(context.Background(), checks, w, ev)
	text := ""
	if err == nil {
		text, err = check.Wait(context.Background(), checks, w, ev)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return text
}

func TestWait(t *testing.T) {
	b := newBench()
	b.output = "a.go:1: boom"
	change := edit("a.go")
	change.Tool.UseID = "call-1"
	if v := b.say(t, change); !v.IsZero() {
		t.Errorf("the call's own hook: %+v", v)
	}
	b.awaited = true
	if v := b.say(t, of(event.Stop, "s")); !v.IsZero() || b.ran != 0 {
		t.Errorf("the end of the turn waits as well: %+v, %d runs", v, b.ran)
	}
	if got := b.wake(t, change, true); got != "" || b.ran != 0 {
		t.Errorf("out of patience: %q, %d runs", got, b.ran)
	}
	if got, want := b.wake(t, change, false), "lidguard check: new since your changes:\ntests: a.go:1: boom"; got != want || b.ran != 1 {
		t.Errorf("got %q after %d runs, want %q after one for both hooks of the call", got, b.ran, want)
	}
	b.awaited = false
	for _, ev := range []*event.Event{of(event.Stop, "s"), of(event.UserPromptSubmit, "s"), change} {
		if v := b.say(t, ev); !v.IsZero() {
			t.Errorf("told again at %s: %+v", ev.Name, v)
		}
	}
	if got := b.wake(t, change, false); got != "" || b.ran != 1 {
		t.Errorf("woken again: %q, %d runs", got, b.ran)
	}
	other := edit("a.go")
	other.Tool.UseID, other.Session.ID = "call-1", "s2"
	b.output += "\nb.go:1: bang"
	if got := b.wake(t, other, false); !strings.HasSuffix(got, ":\ntests: b.go:1: bang") {
		t.Errorf("another session's call of the same id: %q", got)
	}
}

func TestWork_afterAWorkerThatDied(t *testing.T) {
	b := newBench()
	b.say(t, edit("a.go"))
	ctx, cancel := context.WithCancel(t.Context())
	err := check.Work(ctx, checks[0], b.waiting[0], b, func(context.Context, policy.Command) (policy.Result, error) {
		cancel() // it is killed in the middle
		return policy.Result{Code: -1, Late: true}, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	b.output = "a.go:1: boom"
	if v := b.say(t, of(event.Stop, "s")); v.Decision != event.Deny {
		t.Errorf("its work is lost: %+v", v)
	}
}

func TestFindings(t *testing.T) {
	pattern, err := policy.NewPattern("^LINT")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		check  check.Check
		result policy.Result
		want   []string
	}{
		{"nothing is wrong", check.Check{ID: "x"}, policy.Result{Stdout: []byte("a.go:1: fine")}, nil},
		{"places and words of alarm", check.Check{ID: "x"}, policy.Result{Code: 1, Stdout: []byte("ok a\n./a.go:3:1: bad\n--- FAIL: TestX (0.1s)\nsee http://x:80\n"), Stderr: []byte("error[E1]: no\nnote: that\n")},
			[]string{"x: ./a.go:3:1: bad", "x: --- FAIL: TestX (0.1s)", "x: error[E1]: no"}},
		{"a person's pattern", check.Check{ID: "x", Finding: pattern}, policy.Result{Code: 1, Stdout: []byte("a.go:1: x\nLINT y")}, []string{"x: LINT y"}},
		{"a failure without a line", check.Check{ID: "x", Command: "make"}, policy.Result{Code: 2, Stdout: []byte("hm\n")}, []string{"x: `make` ends with exit code 2: hm"}},
	} {
		if got := c.check.Findings(c.result); !cmp.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	for _, pair := range [][2]string{{"a.go:1:2: boom", "a.go:17:9: boom"}, {"--- FAIL: T (0.10s)", "--- FAIL: T (12.3s)"}} {
		if check.Same(pair[0]) != check.Same(pair[1]) {
			t.Errorf("%q and %q are two findings", pair[0], pair[1])
		}
	}
	if check.Same("a.go:1: boom") == check.Same("a.go:1: bang") || check.Same("a.go:1: x") == check.Same("b.go:1: x") {
		t.Error("two findings are one")
	}
}

func TestFaulty(t *testing.T) {
	for _, c := range []struct {
		check check.Check
		key   string
	}{
		{check.Check{Command: "x"}, "id"}, {check.Check{ID: "fine", Command: "x"}, "id"}, {check.Check{ID: "a"}, "command"},
		{check.Check{ID: "a", Command: "x", Match: []string{"["}}, "match"},
		{check.Check{ID: "a", Command: "x", Limit: policy.Duration(time.Hour)}, "limit"},
		{check.Check{ID: "a", Command: "x", Wait: policy.Duration(time.Minute)}, "wait"},
	} {
		if row, key, problem := check.Faulty([]check.Check{{ID: "fine", Command: "x"}, c.check}); row != 1 || key != c.key || problem == "" {
			t.Errorf("%+v: got %d %q %q", c.check, row, key, problem)
		}
	}
}

// TestNoLivelock: whatever changes, whatever the command finds and whenever it ends,
// whether somebody waits to wake the agent or not, a prompt is continued at most
// MaxTimes times, a finding that stays is told once, and nothing is told at a
// session's start.
func TestNoLivelock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench()
		times, calls := 0, 0
		toldAt := map[string]int{} // how many runs there had been when a finding was told, from 1
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			var ev *event.Event
			b.awaited = false
			kind := rapid.IntRange(0, 7).Draw(t, "event")
			switch kind {
			case 0:
				ev = of(event.UserPromptSubmit, "s")
				if rapid.Bool().Draw(t, "a person") {
					times = 0
				} else {
					ev.Source = event.Notified
				}
			case 1:
				ev = of(event.SessionStart, "s")
			case 2, 3, 4:
				ev = edit("a.go")
				calls++
				ev.Tool.UseID = fmt.Sprint("call-", calls)
				b.slow = rapid.Bool().Draw(t, "slow")
				var lines []string
				for _, l := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(t, "findings") {
					lines = append(lines, fmt.Sprintf("%c.go:%d: boom", 'a'+rune(l), l))
				}
				b.output = strings.Join(lines, "\n")
			case 5:
				b.work(t)
				continue
			default:
				ev = of(event.Stop, "s")
				b.awaited = kind == 6
			}
			ran := b.ran
			v := b.say(t, ev)
			if ev.Name == event.SessionStart && !v.IsZero() {
				t.Fatalf("told at the start: %+v", v)
			}
			if b.awaited && (!v.IsZero() || b.ran > ran) {
				t.Fatalf("the end of a turn waited beside another process: %+v", v)
			}
			woken := ""
			if kind == 4 {
				woken = b.wake(t, ev, rapid.Bool().Draw(t, "late"))
			}
			if v.Decision == event.Deny || woken != "" {
				if times++; times > check.MaxTimes || ev.Name != event.Stop && woken == "" {
					t.Fatalf("%s was continued, %d times", ev.Name, times)
				}
			}
			if b.ran > ran+2 {
				t.Fatalf("one event ran the command %d times", b.ran-ran)
			}
			for _, line := range strings.Split(v.Reason+"\n"+strings.Join(v.Contexts, "\n")+"\n"+woken, "\n") {
				if strings.HasPrefix(line, "tests: ") {
					if toldAt[line] == b.ran+1 {
						t.Fatalf("%q was told again without a run", line)
					}
					toldAt[line] = b.ran + 1
				}
			}
		}
	})
}
