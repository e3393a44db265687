package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorded calls f with every payload that a real client was seen to send.
func recorded(t testing.TB, f func(p Provider, name, native string, payload []byte)) {
	t.Helper()
	for _, p := range Providers() {
		files, err := filepath.Glob(filepath.Join("..", "internal", "provider", string(p), "testdata", "fixtures", "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no payloads of %s: %v", p, err)
		}
		for _, file := range files {
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			f(p, name, nativeOf(p, name), payload)
		}
	}
}

// nativeOf is the event's name in the client's spelling by the file's name.
func nativeOf(p Provider, file string) string {
	switch p {
	case Claude, Codex:
		file, _, _ = strings.Cut(file, ".")
		file, _, _ = strings.Cut(file, "-")
	case Copilot:
		file, _, _ = strings.Cut(strings.TrimPrefix(file, "pascal-"), ".")
	case OpenCode:
		_, file, _ = strings.Cut(file, "-")
		for _, known := range []string{
			"permission.asked", "permission.replied", "question.asked", "question.rejected", "question.replied", "session.compacted",
			"session.created", "session.deleted", "session.diff", "session.error", "session.idle", "session.status", "session.updated",
			"chat.headers", "chat.message", "dispose", "experimental.session.compacting", "experimental.text.complete", "shell.env",
			"tool.execute.after", "tool.execute.before",
		} {
			if strings.HasPrefix(file, known) {
				return known
			}
		}
	}
	return file
}

func TestGuess_tellsEveryRecordedPayload(t *testing.T) {
	recorded(t, func(p Provider, name, _ string, payload []byte) {
		if got, ok := guess(payload); got != p {
			t.Errorf("%s/%s is taken for %q, %v", p, name, got, ok)
		}
	})
}

func TestGuess_keepsSilentWhereMarksAreMissingOrMixed(t *testing.T) {
	for _, c := range []struct{ name, payload string }{
		{"no object", `[]`},
		{"nothing", ``},
		{"what three clients could send", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}`},
		{"marks of two clients", `{"session_id":"s","hook_event_name":"PreToolUse","prompt_id":"p","turn_id":"t"}`},
		{"another client's answer", `{"permission":"allow"}`},
	} {
		if got, ok := guess([]byte(c.payload)); ok {
			t.Errorf("%s: taken for %s", c.name, got)
		}
	}
}

func TestGuess_readsACutPayloadAsFarAsItGoes(t *testing.T) {
	if got, ok := guess([]byte(`{"session_id":"s","hook_event_name":"PreToolUse","turn_id":"t","tool_input":{"comm`)); !ok || got != Codex {
		t.Errorf("got %q, %v", got, ok)
	}
}

func TestNames_haveAWordForEveryRecordedEvent(t *testing.T) {
	known := map[Name]bool{}
	for _, n := range Names() {
		if known[n] {
			t.Errorf("%s is listed twice", n)
		}
		known[n] = true
	}
	seen := map[Name]bool{}
	recorded(t, func(p Provider, name, native string, payload []byte) {
		ev, err := Decode(p, payload, native, nil)
		if err != nil {
			t.Errorf("%s/%s: %v", p, name, err)
		}
		if ev.Name != "" && !known[ev.Name] {
			t.Errorf("%s/%s is %q, which Names does not list", p, name, ev.Name)
		}
		if ev.Raw != nil && !json.Valid(ev.Raw) || ev.Provider != p || ev.Native != native {
			t.Errorf("%s/%s: Raw, Provider or Native (%q, want %q) is off", p, name, ev.Native, native)
		}
		seen[ev.Name] = true
	})
	for _, n := range Names() {
		if !seen[n] {
			t.Errorf("no client was seen to send %s", n)
		}
	}
}
