//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/record"
)

func TestRecorder(t *testing.T) {
	dir := t.TempDir()
	rules, err := json.Marshal([]record.Answer{
		{Event: "PreToolUse", Tool: "Bash", Times: 1, Exit: 2, Stderr: "once"},
		{Event: "PreToolUse", Contains: "rm", Exit: 2, Stderr: "always"},
		{Event: "Stop", Tag: "own", Stdout: "{}"},
		{Event: "PostToolUse", After: filepath.Join(dir, "answers.json"), Stdout: "late"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "answers.json"), rules, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, payload, tag, stdout, stderr string
		code                               int
	}{
		{"a rule that fits decides", `{"hook_event_name":"PreToolUse","tool_name":"Bash"}`, "", "", "once", 2},
		{"a used up rule is passed over", `{"hook_event_name":"PreToolUse","tool_name":"Bash"}`, "", "", "", 0},
		{"the payload's text counts", `{"hook_event_name":"PreToolUse","tool_name":"Bash","x":"rm"}`, "", "", "always", 2},
		{"a foreign tag does not fit", `{"hook_event_name":"Stop"}`, "", "", "", 0},
		{"an answer comes when its file is there", `{"hook_event_name":"PostToolUse"}`, "", "late", "", 0},
		{"the own tag does", `{"hook_event_name":"Stop"}`, "own", "{}", "", 0},
	} {
		var stdout, stderr strings.Builder
		args := []string{dir}
		if c.tag != "" {
			args = append(args, c.tag)
		}
		code, err := run(args, strings.NewReader(c.payload), &stdout, &stderr)
		if err != nil || code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%s: exit %d, %q, %q, %v", c.name, code, stdout.String(), stderr.String(), err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "hooks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(text), "\n"); got != 6 {
		t.Errorf("%d lines, want 6", got)
	}
	var stdout strings.Builder
	if _, err := run([]string{dir, "own", "Stop"}, strings.NewReader(`{"toolName":"bash"}`), &stdout, os.Stderr); err != nil || stdout.String() != "{}" {
		t.Errorf("an event named by the arguments: answered %q, %v", stdout.String(), err)
	}
	if _, err := run([]string{dir}, strings.NewReader("no json"), os.Stdout, os.Stderr); err == nil {
		t.Error("a payload that is no JSON was accepted")
	}
}
