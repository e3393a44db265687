package entry_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/install"
	claude "github.com/lidguard-go/lidguard/internal/provider/claude/setup"
)

// TestWakeEntry_isTheInstalledOne: the name in a config file is the one that is
// answered, and the client leaves it the time that it takes.
func TestWakeEntry_isTheInstalledOne(t *testing.T) {
	if !entry.Is(claude.WakeEntry) || !entry.Is(claude.Entry) {
		t.Errorf("%q or %q is no hook entry", claude.WakeEntry, claude.Entry)
	}
	text, err := claude.New("linux", func(string) string { return "" }, t.TempDir()).Wake().Snippet(install.Program{Path: "/opt/lidguard-hook"})
	if err != nil {
		t.Fatal(err)
	}
	_, wake, _ := strings.Cut(string(text), claude.WakeEntry)
	var timeout int
	if _, line, ok := strings.Cut(wake, `"timeout": `); !ok {
		t.Fatalf("no timeout in %s", text)
	} else if _, err := fmt.Sscan(strings.TrimRight(strings.SplitN(line, "\n", 2)[0], ","), &timeout); err != nil {
		t.Fatal(err)
	}
	if limit := int(entry.WakeLimit.Seconds()); timeout <= limit {
		t.Errorf("the client ends it after %d s, and it takes up to %d s", timeout, limit)
	}
}

// TestWakeEntry_neverBreaksAClient: whatever comes, it says nothing and succeeds.
func TestWakeEntry_neverBreaksAClient(t *testing.T) {
	home := t.TempDir()
	env := entry.Env{OS: "linux", Getenv: func(name string) string {
		return map[string]string{"LIDGUARD_HOME": home, "CLAUDE_CODE_ENTRYPOINT": "cli"}[name]
	}, Now: time.Now}
	for _, payload := range []string{"", "{", "[]", `{"hook_event_name":"PostToolUse"}`, `{"hook_event_name":"Stop","session_id":"s"}`,
		`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":"Edit","tool_input":{"file_path":"a.go"}}`} {
		var stdout, stderr bytes.Buffer
		if code := entry.Run([]string{claude.WakeEntry}, env, strings.NewReader(payload), &stdout, &stderr); code != 0 || stdout.Len()+stderr.Len() > 0 {
			t.Errorf("%q: code %d, %q, %q", payload, code, stdout.String(), stderr.String())
		}
	}
}
