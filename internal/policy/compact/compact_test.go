package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/compact"
)

func same(s string) string { return s }

func call(id, tool, input string) event.Item {
	return event.Item{Kind: event.ItemCall, CallID: id, Tool: tool, Input: json.RawMessage(input)}
}

func result(id, text string, failed bool) event.Item {
	return event.Item{Kind: event.ItemResult, CallID: id, Text: text, Failed: failed}
}

func TestSummarize(t *testing.T) {
	history := []event.Item{
		{Kind: event.ItemPrompt, Text: "<environment>mine</environment>"},
		{Kind: event.ItemPrompt, Text: "Fix the\n parser, token=SECRET"},
		call("1", "Bash", `{"command":"go test ./..."}`), result("1", "FAIL x", true),
		call("2", "Edit", `{"file_path":"/p/a.go"}`), result("2", "ok", false),
		call("3", "edit", `{"filePath":"/p/b.go"}`), result("3", "no such text", true),
		{Kind: event.ItemCall, Agent: "sub", CallID: "9", Tool: "Bash", Input: json.RawMessage(`{"command":"rm x"}`)},
		call("4", "Edit", `{"file_path":"/p/a.go"}`), result("4", "ok", false),
		call("5", "apply_patch", `"*** Begin Patch\n*** Update File: c.go\n*** Move to: d.go\n*** End Patch"`), result("5", "ok", false),
		call("6", "TodoWrite", `{"todos":[{"content":"write docs","status":"pending"},{"content":"fix","status":"completed"}]}`),
		call("7", "exec_command", `{"cmd":"make"}`), result("7", "boom", true),
		call("8", "Bash", `{"command":"go test ./..."}`), result("8", "ok", false),
		result("nobody", "stray", true),
		{Kind: event.ItemSaid, Text: "Nearly done."},
	}
	mask := func(s string) string { return strings.ReplaceAll(s, "SECRET", "***") }
	want := compact.Summary{
		Goals:    []string{"Fix the parser, token=***"},
		Files:    []compact.File{{Path: "/p/b.go", Changes: 1}, {Path: "/p/a.go", Changes: 2}, {Path: "c.go", Changes: 1}, {Path: "d.go", Changes: 1}},
		Commands: []compact.Command{{Text: "make", Runs: 1, Failed: true}, {Text: "go test ./...", Runs: 2}},
		Failures: []compact.Failure{{Call: "edit /p/b.go", Text: "no such text"}, {Call: "make", Text: "boom"}},
		Open:     []string{"to do: write docs", "last said: Nearly done."},
	}
	got := compact.Summarize(slices.Values(history), mask)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := got.Text(4000, []string{"open"})
	for _, part := range []string{"Asked for:\n- Fix the parser", "Failed last:\n- edit /p/b.go: no such text", "- /p/a.go (2×)", "- make (failed)"} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q:\n%s", part, text)
		}
	}
	if strings.Contains(text, "Nearly") {
		t.Errorf("a part that is off is there:\n%s", text)
	}
	empty := compact.Summary{}
	if text := empty.Text(4000, nil); text != "" {
		t.Errorf("nothing happened, and the text is %q", text)
	}
}

// TestSummary_bounds: whatever happened, the summary and its text stay within their
// bounds, are clean UTF-8, and hold no secret that the mask takes out.
func TestSummary_bounds(t *testing.T) {
	item := rapid.Custom(func(t *rapid.T) event.Item {
		text := rapid.SampledFrom([]string{"", "x", "SECRET ü", strings.Repeat("SECRET long ", 400), "\xff\xfe", "a\x1b[0m\nb"}).Draw(t, "text")
		id := rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "id")
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return event.Item{Kind: event.ItemPrompt, Text: text}
		case 1:
			return event.Item{Kind: event.ItemSaid, Text: text}
		case 2:
			return result(id, text, rapid.Bool().Draw(t, "failed"))
		case 3:
			in, _ := json.Marshal(map[string]any{"command": text, "file_path": text})
			return call(id, "Bash", string(in))
		case 4:
			in, _ := json.Marshal(map[string]any{"file_path": text + rapid.StringN(0, 5, -1).Draw(t, "file"), "todos": nil})
			return call(id, "Write", string(in))
		}
		return call(id, "Odd", rapid.SampledFrom([]string{"", "null", "[1]", `{"command":[1]}`, `"*** Begin Patch"`, `{"todos":[{"content":"SECRET"}]}`}).Draw(t, "input"))
	})
	mask := func(s string) string { return strings.ReplaceAll(s, "SECRET", "***") }
	rapid.Check(t, func(t *rapid.T) {
		s := compact.Summarize(slices.Values(rapid.SliceOfN(item, 0, 80).Draw(t, "history")), mask)
		raw, err := json.Marshal(s)
		if err != nil || len(raw) > 64<<10 {
			t.Fatalf("%d bytes, %v", len(raw), err)
		}
		limit := rapid.IntRange(200, 9000).Draw(t, "limit")
		text := s.Text(limit, nil)
		if len(text) > limit || !utf8.ValidString(text) || strings.Contains(text+string(raw), "SECRET") {
			t.Fatalf("%d of %d bytes: %q", len(text), limit, text)
		}
	})
}

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

func TestHandlers_giveItBackOnce(t *testing.T) {
	history := func(*event.Event) (iter.Seq[event.Item], error) {
		return slices.Values([]event.Item{{Kind: event.ItemPrompt, Text: "Fix it."}}), nil
	}
	for _, c := range []struct {
		provider event.Provider
		after    *event.Event
	}{
		{event.Claude, &event.Event{Name: event.SessionStart, Source: "compact"}},
		{event.Codex, &event.Event{Name: event.SessionStart, Source: "compact"}},
		{event.Copilot, &event.Event{Name: event.UserPromptSubmit}},
	} {
		store := memory{}
		handlers := compact.New(compact.Config{}, store, history, same)
		key := event.SessionKey{Provider: c.provider, ID: "s"}
		say := func(ev *event.Event) (texts []string) {
			ev.Provider, ev.Session = c.provider, key
			for _, h := range handlers {
				if h.Wants(ev) {
					v, err := h.Handle(t.Context(), ev)
					if err != nil || v.Decision != event.None {
						t.Errorf("%s: %+v, %v", c.provider, v, err)
					}
					texts = append(texts, v.Contexts...)
				}
			}
			return texts
		}
		if texts := say(&event.Event{Name: event.SessionStart, Source: "startup"}); texts != nil {
			t.Errorf("%s: %q at the start", c.provider, texts)
		}
		say(&event.Event{Name: event.PreCompact})
		if texts := say(c.after); len(texts) != 1 || !strings.Contains(texts[0], "- Fix it.") {
			t.Errorf("%s: %q after the compaction", c.provider, texts)
		}
		if texts := say(c.after); texts != nil || len(store) != 0 {
			t.Errorf("%s: %q a second time, %d values left", c.provider, texts, len(store))
		}
	}
}

func TestHandlers_withoutALog(t *testing.T) {
	none := errors.New("no log")
	h := compact.New(compact.Config{}, memory{}, func(*event.Event) (iter.Seq[event.Item], error) { return nil, none }, same)[0]
	if _, err := h.Handle(t.Context(), &event.Event{Name: event.PreCompact}); !errors.Is(err, none) {
		t.Errorf("got %v", err)
	}
}

func TestConfig_check(t *testing.T) {
	for _, c := range []struct {
		cfg compact.Config
		key string
	}{{compact.Config{}, ""}, {compact.Config{Max: 9000, Off: []string{"open"}}, ""}, {compact.Config{Max: 10}, "max"}, {compact.Config{Max: 10000}, "max"}, {compact.Config{Off: []string{"opne"}}, "off"}} {
		if key, problem := c.cfg.Check(); key != c.key || (key == "") != (problem == "") {
			t.Errorf("%+v: got %q %q, want %q", c.cfg, key, problem, c.key)
		}
	}
}
