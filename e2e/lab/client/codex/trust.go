//go:build linux

package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/lidguard-go/lidguard/e2e/lab/machine"
)

// handler is one hook of a hooks file, with the fields that the client's hash
// covers; others do not change it.
type handler struct {
	Type         string  `json:"type"`
	Command      string  `json:"command"`
	Timeout      *int    `json:"timeout"`
	Async        bool    `json:"async"`
	Status       *string `json:"statusMessage"`
	ContextLimit *int    `json:"additionalContextLimit"`
}

type hooksFile struct {
	Hooks map[string][]struct {
		Matcher *string   `json:"matcher"`
		Hooks   []handler `json:"hooks"`
	} `json:"hooks"`
}

// Trust does what a person does in the client's hook review: it notes in
// config.toml that every command hook of the file is trusted as it is now.
func Trust(t testing.TB, m machine.Machine, hooks string) {
	t.Helper()
	text, err := os.ReadFile(hooks)
	if err != nil {
		t.Fatal(err)
	}
	var file hooksFile
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("%s: %v", hooks, err)
	}
	for _, event := range slices.Sorted(maps.Keys(file.Hooks)) {
		for i, group := range file.Hooks[event] {
			for j, h := range group.Hooks {
				if h.Type != "command" {
					continue
				}
				key := fmt.Sprintf("%s:%s:%d:%d", hooks, snake(event), i, j)
				appendConfig(t, m, fmt.Sprintf("[hooks.state.%q]", key), fmt.Sprintf("trusted_hash = %q", trustedHash(event, group.Matcher, h)))
			}
		}
	}
}

// capped tells the events whose hooks get one second by default and three at
// most.
func capped(event string) bool { return event == "SessionEnd" || event == "Interrupt" }

// dropsMatcher tells the events that have nothing to match.
func dropsMatcher(event string) bool {
	return event == "UserPromptSubmit" || event == "Stop" || event == "Interrupt"
}

// trustedHash is the digest under which the client remembers a trusted command
// hook: SHA-256 of compact JSON with sorted keys, holding the effective
// timeout. It was recomputed and equal to the client's in 28 cases with
// 0.171.0; the client's own review, and the tests of e2e show when it changes.
func trustedHash(event string, matcher *string, h handler) string {
	timeout := 600
	if capped(event) {
		timeout = 1
	}
	if h.Timeout != nil {
		timeout = max(*h.Timeout, 1)
	}
	if capped(event) {
		timeout = min(timeout, 3)
	}
	// Maps, since encoding/json sorts their keys.
	normal := map[string]any{"type": "command", "command": h.Command, "timeout": timeout, "async": h.Async}
	if h.Status != nil {
		normal["statusMessage"] = *h.Status
	}
	if h.ContextLimit != nil {
		normal["additionalContextLimit"] = *h.ContextLimit
	}
	identity := map[string]any{"event_name": snake(event), "hooks": []any{normal}}
	if matcher != nil && !dropsMatcher(event) {
		identity["matcher"] = *matcher
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(identity); err != nil {
		panic(err) // strings, numbers and booleans only
	}
	// encoding/json escapes U+2028 and U+2029 whatever it is told.
	plain := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimRight(text.String(), "\n"))
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(plain)))
}

// snake turns PreToolUse into pre_tool_use.
func snake(event string) string {
	var out strings.Builder
	for i, r := range event {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
