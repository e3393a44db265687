package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// says is a handler that always answers v.
func says(name string, band int, v event.Verdict) policy.Handler {
	return policy.Handler{Name: name, Band: band, Role: policy.Gate,
		Handle: func(context.Context, *event.Event) (event.Verdict, error) { return v, nil }}
}

func deny(reason string) event.Verdict { return event.Verdict{Decision: event.Deny, Reason: reason} }

func TestRun_merge(t *testing.T) {
	allow, ask := event.Verdict{Decision: event.Allow, Reason: "fine"}, event.Verdict{Decision: event.Ask, Reason: "sure?"}
	text := func(s string) event.Verdict { return event.Verdict{Contexts: []string{s}} }
	stand := says("stand-in", 190, deny("nobody here"))
	stand.IfUndecided = true
	for _, c := range []struct {
		name     string
		handlers []policy.Handler
		decision event.Decision
		reason   string
		policy   string
		contexts []string
		asked    string
	}{
		{name: "nobody says anything"},
		{name: "deny beats ask and allow, whatever the order given",
			handlers: []policy.Handler{says("c", 120, deny("no")), says("a", 100, allow), says("b", 110, ask)},
			decision: event.Deny, reason: "no", policy: "c", asked: "a b c"},
		{name: "ask beats allow", handlers: []policy.Handler{says("a", 100, ask), says("b", 110, allow)},
			decision: event.Ask, reason: "sure?", policy: "a", asked: "a b"},
		{name: "the first to reach a decision gives its reason",
			handlers: []policy.Handler{says("a", 100, ask), says("b", 110, event.Verdict{Decision: event.Ask, Reason: "later"})},
			decision: event.Ask, reason: "sure?", policy: "a", asked: "a b"},
		{name: "a denial ends the chain",
			handlers: []policy.Handler{says("a", 0, deny("no")), says("b", 100, allow), says("c", 300, text("x"))},
			decision: event.Deny, reason: "no", policy: "a", asked: "a"},
		{name: "but an observer still sees the event",
			handlers: []policy.Handler{says("a", 0, deny("no")), says("log", 900, event.Verdict{})},
			decision: event.Deny, reason: "no", policy: "a", asked: "a log"},
		{name: "contexts are all kept, in order",
			handlers: []policy.Handler{says("b", 310, text("two")), says("a", 300, text("one"))},
			contexts: []string{"one", "two"}, asked: "a b"},
		{name: "in one band the order given counts",
			handlers: []policy.Handler{says("x", 100, text("1")), says("a", 100, text("2"))},
			contexts: []string{"1", "2"}, asked: "x a"},
		{name: "who stands in for a person is not asked where a rule allowed",
			handlers: []policy.Handler{says("approve", 100, allow), stand},
			decision: event.Allow, reason: "fine", policy: "approve", asked: "approve"},
		{name: "is asked where a rule wants a person",
			handlers: []policy.Handler{says("gate", 0, ask), stand},
			decision: event.Deny, reason: "nobody here", policy: "stand-in", asked: "gate stand-in"},
		{name: "and where nobody said anything", handlers: []policy.Handler{stand},
			decision: event.Deny, reason: "nobody here", policy: "stand-in", asked: "stand-in"},
	} {
		v, said := policy.Run(t.Context(), &event.Event{Name: event.PreToolUse}, c.handlers)
		var asked []string
		for _, s := range said {
			asked = append(asked, s.Handler)
		}
		if v.Decision != c.decision || v.Reason != c.reason || v.Policy != c.policy ||
			!cmp.Equal(v.Contexts, c.contexts) || strings.Join(asked, " ") != c.asked {
			t.Errorf("%s: got %v %q by %q with contexts %q after asking %q", c.name, v.Decision, v.Reason, v.Policy, v.Contexts, asked)
		}
	}
}

func TestRun_rewrites(t *testing.T) {
	var seen []string
	rewriter := func(name string, band int, to string) policy.Handler {
		return policy.Handler{Name: name, Band: band, Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
			seen = append(seen, string(ev.Tool.Input))
			return event.Verdict{UpdatedInput: json.RawMessage(to)}, nil
		}}
	}
	ev := &event.Event{Name: event.PreToolUse, Tool: &event.Tool{Name: "Bash", Input: json.RawMessage(`"raw"`)}}
	v, _ := policy.Run(t.Context(), ev, []policy.Handler{rewriter("b", 210, `"second"`), rewriter("a", 200, `"first"`)})
	if string(v.UpdatedInput) != `"first"` {
		t.Errorf("the rewrite is %s, want the first one's", v.UpdatedInput)
	}
	if want := []string{`"raw"`, `"first"`}; !cmp.Equal(seen, want) {
		t.Errorf("the handlers saw %q, want %q", seen, want)
	}
	if string(ev.Tool.Input) != `"raw"` {
		t.Errorf("the caller's event was changed to %s", ev.Tool.Input)
	}
	v, _ = policy.Run(t.Context(), ev, []policy.Handler{rewriter("a", 200, `"first"`), says("late", 300, deny("no"))})
	if v.UpdatedInput != nil {
		t.Errorf("a refused call has the input %s", v.UpdatedInput)
	}
	post := &event.Event{Name: event.PostToolUse, Tool: &event.Tool{Response: json.RawMessage(`"secret"`)}}
	var after string
	v, _ = policy.Run(t.Context(), post, []policy.Handler{
		says("redact", 200, event.Verdict{UpdatedOutput: json.RawMessage(`"***"`)}),
		{Name: "log", Band: 900, Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
			after = string(ev.Tool.Response)
			return event.Verdict{}, nil
		}},
	})
	if string(v.UpdatedOutput) != `"***"` || after != `"***"` {
		t.Errorf("the output is %s and the observer saw %s", v.UpdatedOutput, after)
	}
}

func TestRun_failures(t *testing.T) {
	fails := func(context.Context, *event.Event) (event.Verdict, error) {
		return event.Verdict{Decision: event.Allow, Contexts: []string{"half an answer"}}, errors.New("out of ideas")
	}
	panics := func(context.Context, *event.Event) (event.Verdict, error) { panic("at the disco") }
	late := func(ctx context.Context, _ *event.Event) (event.Verdict, error) {
		<-ctx.Done()
		return event.Verdict{Decision: event.Allow}, nil
	}
	for _, c := range []struct {
		name   string
		role   policy.Role
		handle func(context.Context, *event.Event) (event.Verdict, error)
		want   event.Decision
		says   string
	}{
		{"a gate that fails denies", policy.Gate, fails, event.Deny, "out of ideas"},
		{"a gate that panics denies", policy.Gate, panics, event.Deny, "at the disco"},
		{"a gate that is late denies, whatever it says then", policy.Gate, late, event.Deny, "canceled"},
		{"an observer that fails changes nothing", policy.Observer, fails, event.None, ""},
		{"an observer that panics changes nothing", policy.Observer, panics, event.None, ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if strings.Contains(c.name, "late") {
			cancel()
		}
		v, said := policy.Run(ctx, &event.Event{}, []policy.Handler{{Name: "h", Role: c.role, Handle: c.handle}})
		cancel()
		if v.Decision != c.want || !strings.Contains(v.Reason, c.says) || len(v.Contexts) > 0 {
			t.Errorf("%s: got %v %q with contexts %q", c.name, v.Decision, v.Reason, v.Contexts)
		}
		if len(said) != 1 || said[0].Err == nil {
			t.Errorf("%s: the failure was not recorded: %+v", c.name, said)
		}
	}
}

func TestRun_doesNotAskWhoDoesNotCare(t *testing.T) {
	h := says("picky", 0, deny("no"))
	h.Wants = func(ev *event.Event) bool { return ev.Name == event.PreToolUse }
	if v, said := policy.Run(t.Context(), &event.Event{Name: event.Stop}, []policy.Handler{h}); !v.IsZero() || len(said) > 0 {
		t.Errorf("got %+v after asking %+v", v, said)
	}
	if v, _ := policy.Run(t.Context(), &event.Event{Name: event.PreToolUse}, []policy.Handler{h}); v.Decision != event.Deny {
		t.Errorf("got %+v, want a denial", v)
	}
}

func TestRun_keepsTheCallersSlice(t *testing.T) {
	handlers := []policy.Handler{says("b", 900, event.Verdict{}), says("a", 0, event.Verdict{})}
	policy.Run(t.Context(), &event.Event{}, handlers)
	if handlers[0].Name != "b" {
		t.Error("the handlers were sorted in place")
	}
}

func TestRun_mergesTheSmallThings(t *testing.T) {
	v, _ := policy.Run(t.Context(), &event.Event{}, []policy.Handler{
		says("a", 100, event.Verdict{SystemMessage: "one", StopTurn: true, StopReason: "first", WatchPaths: []string{"/a"}}),
		says("b", 110, event.Verdict{SystemMessage: "two", StopTurn: true, StopReason: "second", WatchPaths: []string{"/b"},
			SessionTitle: "t", TerminalSequence: "s", Decision: event.Deny, Interrupt: true, Rule: "r", ElicitAction: "cancel"}),
	})
	want := event.Verdict{Decision: event.Deny, Interrupt: true, Rule: "r", Policy: "b", ElicitAction: "cancel",
		SystemMessage: "one", StopTurn: true, StopReason: "first", SessionTitle: "t", TerminalSequence: "s", WatchPaths: []string{"/a", "/b"}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// D6, claude-code 83353, 15897, 16117: of several rewrites a client takes the one
// that ends last, so an answer that only repeats the input undid another's.
func TestRun_D6_aRewriteThatChangesNothingIsNone(t *testing.T) {
	repeats := func(name string, band int, text string) policy.Handler {
		return says(name, band, event.Verdict{UpdatedInput: json.RawMessage(text), UpdatedOutput: json.RawMessage(text)})
	}
	for _, c := range []struct {
		name     string
		handlers []policy.Handler
		want     string
	}{
		{"only repeats", []policy.Handler{repeats("a", 200, `{"command": "ls"}`)}, ""},
		{"repeats in other words", []policy.Handler{repeats("a", 200, "{\n \"command\":\"ls\" }")}, ""},
		{"one repeats, the next rewrites", []policy.Handler{repeats("a", 200, `{"command":"ls"}`), repeats("b", 210, `{"command":"ls -l"}`)}, `{"command":"ls -l"}`},
		{"one rewrites, the next repeats that", []policy.Handler{repeats("a", 200, `{"command":"ls -l"}`), repeats("b", 210, `{"command":"ls -l"}`)}, `{"command":"ls -l"}`},
	} {
		ev := &event.Event{Name: event.PostToolUse, Tool: &event.Tool{Input: json.RawMessage(`{"command":"ls"}`), Response: json.RawMessage(`{"command":"ls"}`)}}
		v, _ := policy.Run(t.Context(), ev, c.handlers)
		if string(v.UpdatedInput) != c.want || string(v.UpdatedOutput) != c.want {
			t.Errorf("%s: got input %s and output %s, want %s", c.name, v.UpdatedInput, v.UpdatedOutput, c.want)
		}
	}
}

// TestRun_judgesWhatWouldRun: a rewrite behind a gate does not get past it.
func TestRun_judgesWhatWouldRun(t *testing.T) {
	asked := 0
	gate := policy.Handler{Name: "gate", Band: policy.BandSafety, Role: policy.Gate,
		Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
			asked++
			if strings.Contains(string(ev.Tool.Input), "rm") {
				return deny("no"), nil
			}
			return event.Verdict{}, nil
		}}
	rewriter := func(to string) policy.Handler {
		return says("rewriter", policy.BandRewrite, event.Verdict{UpdatedInput: json.RawMessage(to)})
	}
	ev := &event.Event{Name: event.PreToolUse, Tool: &event.Tool{Name: "Bash", Input: json.RawMessage(`"ls"`)}}
	if v, _ := policy.Run(t.Context(), ev, []policy.Handler{rewriter(`"rm"`), gate}); v.Decision != event.Deny || v.UpdatedInput != nil || asked != 2 {
		t.Errorf("got %+v after %d questions", v, asked)
	}
	asked = 0
	if v, _ := policy.Run(t.Context(), ev, []policy.Handler{rewriter(`"ls -l"`), gate}); v.Decision != event.None || string(v.UpdatedInput) != `"ls -l"` || asked != 2 {
		t.Errorf("got %+v after %d questions", v, asked)
	}
	asked = 0
	if policy.Run(t.Context(), ev, []policy.Handler{gate}); asked != 1 {
		t.Errorf("without a rewrite the gate was asked %d times", asked)
	}
}
