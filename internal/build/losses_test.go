package build

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/copilot/setup"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
)

var update = flag.Bool("update", false, "rewrite docs/losses.md")

// packsSay is what the packs say beyond Answers: what no client can be told there,
// and that is therefore lost everywhere.
func packsSay(name event.Name) []Field {
	switch name {
	case event.PreSkillShellCommand, event.UserPromptSubmit, event.PostToolUse:
		return []Field{Ask}
	case event.PostToolUseFailure:
		return []Field{Deny, Ask, Output}
	}
	return nil
}

// TestLosses_areExactlyWhatTheCodecsDoNotCarry encodes every verdict that a pack or a
// handler may give, by the real codecs.
func TestLosses_areExactlyWhatTheCodecsDoNotCarry(t *testing.T) {
	for _, p := range census.Providers() {
		for _, name := range Tells(p) {
			for _, f := range append(Answers(name), packsSay(name)...) {
				instead, listed := lost(p, name, f)
				if carried := carries(t, p, name, f); carried == listed {
					t.Errorf("%s %s %s: carried %v, and listed as lost %v (%s)", p, name, f, carried, listed, instead)
				}
			}
		}
	}
}

// TestLosses_haveNoIdleRow: every row is one of the cases that the test above looks
// at, and none is there twice.
func TestLosses_haveNoIdleRow(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range Losses() {
		if strings.TrimSpace(l.Instead) == "" || len(l.Events) == 0 {
			t.Errorf("%s %s says nothing", l.Provider, l.Field)
		}
		tells := Tells(l.Provider)
		for _, name := range l.Events {
			key := fmt.Sprint(l.Provider, name, l.Field)
			if seen[key] {
				t.Errorf("%s is there twice", key)
			}
			seen[key] = true
			if !slices.Contains(tells, name) || !slices.Contains(append(Answers(name), packsSay(name)...), l.Field) {
				t.Errorf("%s is never asked about", key)
			}
		}
	}
}

// TestLosses_asksThatAreRefused: what the table calls a refusal is one.
func TestLosses_asksThatAreRefused(t *testing.T) {
	n := 0
	for _, l := range Losses() {
		if l.Field != Ask {
			continue
		}
		for _, name := range l.Events {
			with, _ := probe(l.Provider, Ask)
			out, err := encoders[l.Provider].Encode(probedEvent(l.Provider, name), with)
			if err != nil {
				t.Fatal(err)
			}
			said := strings.Contains(string(out.Stdout), reasonWord)
			if says := strings.Contains(l.Instead, "refused"); says != said {
				t.Errorf("%s ask at %s: refused %v, and the table says %q", l.Provider, name, said, l.Instead)
			}
			n++
		}
	}
	if n == 0 {
		t.Error("no ask is lost anywhere")
	}
}

// TestAnswers_areWhatSomeCodecCarries holds Answers against all codecs.
func TestAnswers_areWhatSomeCodecCarries(t *testing.T) {
	some := map[event.Name][]Field{}
	for _, p := range census.Providers() {
		for _, name := range Tells(p) {
			if _, ok := some[name]; !ok {
				some[name] = nil
			}
			for _, f := range Fields() {
				if carries(t, p, name, f) && !slices.Contains(some[name], f) {
					some[name] = append(some[name], f)
				}
			}
		}
	}
	for name, want := range some {
		got := Answers(name)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// proofs are those of the limits that no words of a contract prove.
func proofs(t *testing.T) map[string]func(event.Provider) bool {
	decoded := func(native, payload string) event.Event {
		ev, err := opencode.Decode([]byte(payload), func(string) string { return "" }, native)
		if err != nil {
			t.Fatal(err)
		}
		return ev
	}
	return map[string]func(event.Provider) bool{
		"no-last-answer": func(event.Provider) bool {
			ev := decoded("session.idle", `{"id":"e","type":"session.idle","properties":{"sessionID":"s"}}`)
			return ev.Name == event.Stop && ev.LastMessage == "" && ev.TranscriptPath == ""
		},
		"no-log": func(event.Provider) bool {
			ev := decoded("experimental.session.compacting", `{"input":{"sessionID":"s"},"output":{}}`)
			return ev.Name == event.PreCompact && ev.TranscriptPath == ""
		},
		"failures-untold": func(p event.Provider) bool { return !slices.Contains(Tells(p), event.PostToolUseFailure) },
		"compact-late": func(p event.Provider) bool {
			e, ok := census.Find(p, "sessionStart")
			return ok && !strings.Contains(fmt.Sprint(e.Matcher.Values, e.Input), "compact") && !slices.ContainsFunc(setup.Hooks(), func(h setup.Hook) bool { return h.Event == "postCompact" })
		},
		// Claude Code has such a place, by the same page; see the test.
		"no-environment": func(p event.Provider) bool { return !strings.Contains(contract(t, p), "CLAUDE_ENV_FILE") },
	}
}

func contract(t *testing.T, p event.Provider) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "contracts", string(p)+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}

// TestLimits_areProven: by the words of the measured contract, or by the codec.
func TestLimits_areProven(t *testing.T) {
	if !strings.Contains(contract(t, event.Claude), "CLAUDE_ENV_FILE") {
		t.Error("the proof of no-environment would find nothing")
	}
	by := proofs(t)
	for _, l := range Limits() {
		proof, ok := by[l.ID]
		switch {
		case ok == (l.Words != ""):
			t.Errorf("%s (%s) has no proof, or two", l.ID, l.Provider)
		case ok && !proof(l.Provider):
			t.Errorf("%s (%s) is not so", l.ID, l.Provider)
		case !ok && !strings.Contains(contract(t, l.Provider), l.Words):
			t.Errorf("%s (%s): its contract does not say %q", l.ID, l.Provider, l.Words)
		}
	}
}

// TestDocs_lossesPage holds docs/losses.md against the tables; -update writes it.
func TestDocs_lossesPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "losses.md")
	want := Page()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/losses.md is not up to date (go test ./internal/build -update): %s", diff)
	}
}
