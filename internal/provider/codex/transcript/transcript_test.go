package transcript_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
	"github.com/lidguard-go/lidguard/internal/provider/codex/transcript"
)

var key = event.SessionKey{Provider: event.Codex, ID: "s1"}

func fresh() codectest.Detector { return transcript.New(key) }

func TestGolden(t *testing.T) { codectest.GoldenTranscripts(t, fresh) }

func FuzzLine(f *testing.F) { codectest.FuzzTranscript(f, key, fresh) }

const (
	started = `{"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}`
	done    = `{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":"All done."}}`
	aborted = `{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`
	asked   = `{"type":"response_item","payload":{"type":"function_call","name":"request_user_input","arguments":"{}","call_id":"c1"}}`
	call    = `{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c1"}}`
	output  = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"x"}}`
	other   = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"x"}}`
	left    = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 42\nOutput:\n"}}`
	looked  = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"Chunk ID: a\nProcess running with session ID 42\nOutput:\n"}}`
	printed = `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Process exited with code 0\nOutput:\nProcess running with session ID 42\n"}}`
	ended   = `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"c1","exit_code":0}}}`
	message = `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"m"}}}`
	typed   = `{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"m"}}}`
	tokens  = `{"type":"token_usage_record","payload":{"type":"task_started"}}`
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a turn", []string{started, call, output, message, done}, "began active stopped"},
		{"a failed turn", []string{started, `{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"m","codex_error_info":"internal_server_error"}}}`}, "began failed"},
		{"records after an abort are no work", []string{started, aborted, ended, typed, output}, "began interrupted task-ended:c1"},
		{"a goal turn begins by itself", []string{done, started}, "stopped began"},
		{"a question waits until its answer", []string{started, asked, tokens, other, output, done}, "began waiting active resumed stopped"},
		{"an abort clears the question", []string{asked, aborted, output}, "waiting interrupted"},
		{"a call is not activity: its hooks are", []string{started, call, message}, "began"},
		{"text typed in mid-turn is", []string{started, typed}, "began active"},
		{"a command left running ends after the turn", []string{started, left, done, ended}, "began task-began:c1 stopped task-ended:c1"},
		{"looking at it is no second one", []string{left, looked, ended}, "task-began:c1 active task-ended:c1"},
		{"a command may print anything", []string{printed, ended}, "active"},
		{"bookkeeping", []string{tokens, `{"type":"session_meta","payload":{}}`, `{"type":"compacted","payload":{"type":"task_complete"}}`}, ""},
		{"payload before type", []string{`{"payload":{"type":"turn_aborted"},"type":"event_msg"}`}, "interrupted"},
		{"a goal's text has no call", []string{started, `{"type":"response_item","payload":{"type":"function_call_output","name":"goal_objective","output":"x"}}`}, "began"},
		{"half a line", []string{`{"type":"event_msg","payload":{"type":"turn_abor`}, ""},
		{"a payload of another kind", []string{`{"type":"event_msg","payload":[]}`, `{"type":"event_msg"}`, `7`, ``}, ""},
		{"a huge output", []string{started, strings.Replace(output, `"x"`, `"`+strings.Repeat("x", 3<<20)+`"`, 1)}, "began active"},
	} {
		d := transcript.New(key)
		var got []string
		for _, line := range c.lines {
			for _, s := range d.Line([]byte(line), 7) {
				word := string(s.Kind)
				if s.Task != nil {
					word += ":" + s.Task.ID
				}
				got = append(got, word)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLine_questionNamesItsReason(t *testing.T) {
	got := transcript.New(key).Line([]byte(asked), 7)
	if len(got) != 1 || got[0].Reason != "codex_transcript_request_user_input_pending" || got[0].ToolUse != "c1" || got[0].Offset != 7 {
		t.Errorf("got %+v", got)
	}
}

func TestFind(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("{}\n")}
	files := fstest.MapFS{
		"2026/01/15/rollout-2026-01-15T10-00-00-s1.jsonl": file,
		"2026/01/15/rollout-2026-01-15T10-00-00-s2.jsonl": file,
		"2026/01/16/rollout-2026-01-16T10-00-00-s2.jsonl": file,
		"2026/01/16/notes-s3.jsonl":                       file,
		"2026/rollout-x-s4.jsonl":                         file,
		"2026/01/16/rollout-x-s5.jsonl.zst":               file,
	}
	for _, c := range []struct{ id, want, fault string }{
		{"s1", "2026/01/15/rollout-2026-01-15T10-00-00-s1.jsonl", ""},
		{"s2", "", "has the files"},
		{"s3", "", "does not exist"}, {"s4", "", "does not exist"}, {"s5", "", "does not exist"},
		{"../s1", "", "names no session file"}, {"", "", "names no session file"},
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
