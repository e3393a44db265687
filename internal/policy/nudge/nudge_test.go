package nudge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/nudge"
)

// memory is a policy.Store.
type memory map[string][]byte

func (m memory) Update(_ context.Context, key string, change func([]byte) ([]byte, error)) error {
	v, err := change(m[key])
	if err == nil {
		m[key] = v
	}
	return err
}

func pattern(s string) policy.Pattern {
	p, err := policy.NewPattern(s)
	if err != nil {
		panic(err)
	}
	return p
}

func prompt(text string) *event.Event {
	return &event.Event{Provider: event.Codex, Name: event.UserPromptSubmit, Prompt: text, Cwd: "/src/api",
		Session: event.SessionKey{Provider: event.Codex, ID: "s"}}
}

var table = []nudge.Nudge{
	{ID: "late", Match: pattern("deploy"), Text: "Deploys end on Fridays at noon.", Priority: 50},
	{ID: "first", Match: pattern("(?i)deploy"), Exclude: pattern("dry"), Text: "Deploys need the VPN.", Priority: 10},
	{ID: "always", Match: pattern("migrate"), Text: "Migrations are in db/.", Always: true},
	{ID: "api", Target: nudge.Cwd, Match: pattern("/api$"), Text: "This service has no staging.", Priority: 60},
	{ID: "hello", Target: nudge.Start, Match: pattern("startup|resume"), Text: "The style guide is STYLE.md."},
}

func texts(v event.Verdict) []string {
	var ids []string
	for _, c := range v.Contexts {
		id, _, _ := strings.Cut(strings.TrimPrefix(c, "Note ["), "]")
		ids = append(ids, id)
	}
	return ids
}

func TestHandler(t *testing.T) {
	start := &event.Event{Name: event.SessionStart, Source: "resume", Session: prompt("").Session}
	sub := prompt("deploy")
	sub.AgentID = "a1"
	told := prompt("deploy has ended")
	told.Source = event.Notified
	dismissed := map[string]bool{}
	h := nudge.New(table, memory{}, func(id string) bool { return dismissed[id] })
	for _, c := range []struct {
		name string
		ev   *event.Event
		want []string
	}{
		{"the most urgent first, by what was typed and where", prompt("Please deploy"), []string{"first", "late", "api"}},
		{"once per session", prompt("Please deploy"), nil},
		{"but some always", prompt("migrate it"), []string{"always"}},
		{"again", prompt("migrate it"), []string{"always"}},
		{"at the start", start, []string{"hello"}},
		{"nothing fits", prompt("hello"), nil},
	} {
		if !h.Wants(c.ev) {
			t.Errorf("%s: it does not want the event", c.name)
		}
		v, err := h.Handle(t.Context(), c.ev)
		if err != nil || !cmp.Equal(texts(v), c.want) || v.Decision != event.None {
			t.Errorf("%s: got %q (%v), want %q", c.name, v.Contexts, err, c.want)
		}
	}
	if h.Wants(sub) || h.Wants(told) || h.Wants(&event.Event{Name: event.PreToolUse}) {
		t.Error("it wants events that nobody types")
	}
	dismissed["always"] = true
	if v, err := h.Handle(t.Context(), prompt("migrate")); err != nil || !v.IsZero() {
		t.Errorf("a dismissed nudge was given: %+v %v", v, err)
	}
	if got := nudge.Matching(table, prompt("dry deploy")); len(got) != 2 || got[0].ID != "late" {
		t.Errorf("an excluded nudge matches: %v", got)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		n    nudge.Nudge
		want string
	}{
		{"no id", nudge.Nudge{Text: "x"}, "one word"},
		{"an id of two words", nudge.Nudge{ID: "a b", Text: "x"}, "one word"},
		{"an id twice", nudge.Nudge{ID: "fine", Text: "x"}, "two with"},
		{"no text", nudge.Nudge{ID: "a", Text: " "}, "no text"},
		{"a book", nudge.Nudge{ID: "a", Text: strings.Repeat("x", nudge.MaxText+1)}, "at most"},
	} {
		row, problem := nudge.Check([]nudge.Nudge{{ID: "fine", Text: "x"}, c.n})
		if row != 1 || !strings.Contains(problem, c.want) {
			t.Errorf("%s: got %d %q, want %q", c.name, row, problem, c.want)
		}
	}
}

func TestParseJSON(t *testing.T) {
	row := `{"id":"a","target":"cwd","match":"x+","exclude":"y","priority":3,"text":"t"}`
	for _, text := range []string{"[" + row + "]", `{"nudges":[` + row + `]}`, " [" + row + "]\n"} {
		got, err := nudge.ParseJSON([]byte(text))
		if err != nil || len(got) != 1 || got[0].Target != nudge.Cwd || !got[0].Match.Match("xx") || got[0].Priority != 3 {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`[{"id":"a","text":"t","mach":"x"}]`, "unknown field"},
		{`[{"id":"a","text":"t","match":"("}]`, "no regular expression"},
		{`[{"id":"a","text":"t","target":"moon"}]`, "target"},
		{`[{"id":"a"}]`, "no text"},
		{``, "EOF"},
	} {
		if _, err := nudge.ParseJSON([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}

// TestHandler_neverNags: whatever is typed, a nudge that is not for always is given
// at most once in a session, and never more than MaxAtOnce at a time.
func TestHandler_neverNags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := nudge.New(table, memory{}, func(string) bool { return false })
		given := map[string]int{}
		for range rapid.IntRange(1, 20).Draw(t, "prompts") {
			words := rapid.SliceOf(rapid.SampledFrom([]string{"deploy", "Deploy", "dry", "migrate", "x"})).Draw(t, "words")
			v, err := h.Handle(context.Background(), prompt(strings.Join(words, " ")))
			if err != nil || len(v.Contexts) > nudge.MaxAtOnce {
				t.Fatalf("%d at once, %v", len(v.Contexts), err)
			}
			for _, id := range texts(v) {
				if given[id]++; given[id] > 1 && id != "always" {
					t.Fatalf("%q was given twice", id)
				}
			}
		}
	})
}
