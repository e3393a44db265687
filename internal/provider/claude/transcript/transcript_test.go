package transcript_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude/transcript"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
)

var key = event.SessionKey{Provider: event.Claude, ID: "s1"}

func fresh() codectest.Detector { return transcript.New(key) }

func TestGolden(t *testing.T) { codectest.GoldenTranscripts(t, fresh) }

func FuzzLine(f *testing.F) { codectest.FuzzTranscript(f, key, fresh) }

func TestLine(t *testing.T) {
	user := func(content, more string) string {
		return `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":` + content + `}` + more + `}`
	}
	marker := `[{"type":"text","text":"[Request interrupted by user]"}]`
	for _, c := range []struct{ name, line, want string }{
		{"Esc while the model wrote", user(marker, `,"interruptedMessageId":"msg_1"`), "interrupted"},
		{"Esc while a tool ran", user(`[{"type":"text","text":"[Request interrupted by user for tool use]"}]`, ""), "interrupted"},
		{"a person who quotes the marker", user(`"[Request interrupted by user]"`, `,"promptSource":"typed"`), "began"},
		{"a marker among other items is a quotation", user(`[{"type":"text","text":"look"},{"type":"text","text":"[Request interrupted by user]"}]`, ""), ""},
		{"a tool that prints the marker", user(`[{"type":"tool_result","content":"[Request interrupted by user]"}]`, ""), "active"},
		{"a rejected call answers its dialog", user(`[{"type":"tool_result","content":"no","is_error":true}]`, `,"toolDenialKind":"user-rejected"`), "resumed"},
		{"a subagent's interruption is its own", strings.Replace(user(marker, ""), `"isSidechain":false`, `"isSidechain":true`, 1), ""},
		{"a local command begins nothing", user(`"<command-name>/model</command-name>"`, ""), ""},
		{"a completed notification", user(`"<task-notification><task-id>b1</task-id><status>completed</status></task-notification>"`, `,"turnOrigin":"task_notification"`), "task-ended b1"},
		{"a monitor's line", user(`"<task-notification><task-id>b1</task-id><event>x</event></task-notification>"`, `,"turnOrigin":"task_notification"`), ""},
		{"a hook that woke the model", user(`"<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>"`, `,"turnOrigin":"task_notification"`), "began"},
		{"a queued notification is no completion", `{"type":"queue-operation","operation":"enqueue","content":"<task-notification><task-id>b1</task-id><status>completed</status></task-notification>"}`, ""},
		{"delivered in mid-turn it is", `{"attachment":{"type":"queued_command","prompt":"<task-notification><task-id>b1</task-id><status>completed</status></task-notification>"},"type":"attachment"}`, "task-ended b1"},
		{"a hook ends the turn after a tool", `{"attachment":{"type":"hook_stopped_continuation","hookEvent":"PostToolUse"},"type":"attachment"}`, "interrupted"},
		{"a hook ends the turn at its Stop: the summary says so", `{"attachment":{"type":"hook_stopped_continuation","hookEvent":"Stop"},"type":"attachment"}`, ""},
		{"the turn is really over", `{"type":"system","subtype":"turn_duration","durationMs":1}`, "stopped"},
		{"Stop hooks had no objection", `{"type":"system","subtype":"stop_hook_summary","hookErrors":[],"hookAdditionalContext":[],"preventedContinuation":false}`, "stopped"},
		{"a Stop hook blocked", `{"type":"system","subtype":"stop_hook_summary","hookErrors":["go on"],"hookAdditionalContext":[],"preventedContinuation":false}`, ""},
		{"a Stop hook added context, which continues", `{"type":"system","subtype":"stop_hook_summary","hookErrors":[],"hookAdditionalContext":["x"],"preventedContinuation":false}`, ""},
		{"an API error", `{"type":"assistant","message":{"content":[]},"error":"rate_limit","isApiErrorMessage":true}`, "failed"},
		{"the model's answer", `{"type":"assistant","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, ""},
		{"a blocked prompt", `{"type":"system","subtype":"informational","promptSubmitEnding":{"ending":{"kind":"blocked_by_hook"}}}`, "interrupted"},
		{"bookkeeping, broken behind its type", `{"type":"api-request","body":{{{`, ""},
		{"half a line", `{"type":"user","message":{"content":"x`, ""},
		{"nothing", "", ""},
	} {
		got := ""
		for _, s := range transcript.New(key).Line([]byte(c.line), 42) {
			got = string(s.Kind)
			if s.Task != nil {
				got += " " + s.Task.ID
			}
			if s.Offset != 42 || s.Session != key {
				t.Errorf("%s: the signal is about %v at %d", c.name, s.Session, s.Offset)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLine_boundsWhatItReads(t *testing.T) {
	line := `{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + strings.Repeat("x", 3<<20) + `"}]}}`
	got := transcript.New(key).Line([]byte(line), 0)
	if len(got) != 1 || got[0].Kind != event.Active {
		t.Errorf("a tool output of 3 MiB gave %+v, want one active", got)
	}
	allocs := testing.AllocsPerRun(10, func() {
		transcript.New(key).Line([]byte(`{"type":"api-request","x":"y"}`), 0)
	})
	if allocs > 4 {
		t.Errorf("a line of bookkeeping costs %v allocations", allocs)
	}
}

func TestFind(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("{}\n")}
	files := fstest.MapFS{
		"-home-dev-a/s1.jsonl":     file,
		"-home-dev-b/s2.jsonl":     file,
		"-home-dev-c/s2.jsonl":     file,
		"-home-dev-c/s3.jsonl/x":   file,
		"s4.jsonl":                 file,
		"-home-dev-a/s5.jsonl.bak": file,
	}
	for _, c := range []struct{ id, want, fault string }{
		{"s1", "-home-dev-a/s1.jsonl", ""},
		{"s2", "", "and in"},
		{"s3", "", "does not exist"},
		{"s4", "", "does not exist"},
		{"s5", "", "does not exist"},
		{"../s1", "", "names no transcript"},
		{"", "", "names no transcript"},
	} {
		got, err := transcript.Find(files, event.SessionID(c.id))
		if got != c.want || !strings.Contains(fmt.Sprint(err), c.fault) || (err == nil) != (c.fault == "") {
			t.Errorf("Find(%q) = %q, %v; want %q, %q", c.id, got, err, c.want, c.fault)
		}
		if c.fault == "does not exist" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Find(%q): %v does not match fs.ErrNotExist", c.id, err)
		}
	}
}
