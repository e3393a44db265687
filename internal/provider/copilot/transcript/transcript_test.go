package transcript_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
	"github.com/lidguard-go/lidguard/internal/provider/copilot/transcript"
)

var key = event.SessionKey{Provider: event.Copilot, ID: "s1"}

func fresh() codectest.Detector { return transcript.New(key) }

func TestGolden(t *testing.T) { codectest.GoldenTranscripts(t, fresh) }

func FuzzLine(f *testing.F) { codectest.FuzzTranscript(f, key, fresh) }

const (
	prompt    = `{"type":"user.message","data":{"content":"do it"},"id":"1"}`
	toolDone  = `{"type":"tool.execution_complete","data":{"toolCallId":"c1"},"id":"1"}`
	turnEnd   = `{"type":"assistant.turn_end","data":{},"id":"1"}`
	abort     = `{"type":"abort","data":{"reason":"user_initiated"},"id":"1"}`
	hookEnd   = `{"type":"hook.end","data":{"hookType":"notification"},"id":"1"}`
	requested = `{"type":"permission.requested","data":{"requestId":"r1"},"id":"1"}`
	second    = `{"type":"permission.requested","data":{"requestId":"r2"},"id":"1"}`
	approved  = `{"type":"permission.completed","data":{"requestId":"r1","result":{"kind":"approved"}},"id":"1"}`
	approved2 = `{"type":"permission.completed","data":{"requestId":"r2","result":{"kind":"approved"}},"id":"1"}`
	cancelled = `{"type":"permission.completed","data":{"requestId":"r1","result":{"kind":"cancelled"}},"id":"1"}`
	denied    = `{"type":"permission.completed","data":{"requestId":"r1","result":{"kind":"denied-by-permission-request-hook","interrupt":true}},"id":"1"}`
	failed    = `{"type":"session.error","data":{"errorType":"query"},"id":"1"}`
	note      = `{"type":"system.notification","data":{"kind":{"type":"shell_completed","shellId":"bg1"}},"id":"1"}`
	agentNote = `{"type":"system.notification","data":{"kind":{"type":"agent_idle","agentId":"a1"}},"id":"1"}`
)

// sub makes a record a subagent's.
func sub(line string) string { return strings.Replace(line, `"id":"1"`, `"agentId":"a1","id":"1"`, 1) }

func TestLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"a turn", []string{prompt, toolDone, turnEnd}, "began active"},
		{"an abort that is not the last record", []string{prompt, toolDone, abort, turnEnd, toolDone}, "began active interrupted"},
		{"after the next prompt work counts again", []string{abort, toolDone, prompt, toolDone}, "interrupted began active"},
		{"a subagent's abort is its own", []string{prompt, sub(abort), toolDone}, "began active"},
		{"our own hook's records are no answer to the prompt", []string{requested, hookEnd, hookEnd}, "waiting"},
		{"the answer is", []string{requested, hookEnd, approved}, "waiting resumed"},
		{"of two prompts one is still open", []string{requested, second, approved, approved2}, "waiting waiting resumed"},
		{"Esc at a prompt", []string{requested, cancelled, turnEnd, abort}, "waiting interrupted"},
		{"a denial with interrupt ends the turn", []string{requested, denied, toolDone, turnEnd}, "waiting interrupted"},
		{"in a subagent it ends only that one", []string{sub(requested), sub(denied), toolDone}, "waiting resumed active"},
		{"a model error", []string{prompt, turnEnd, failed, toolDone}, "began failed"},
		{"a subagent's is not the turn's", []string{prompt, sub(failed)}, "began"},
		{"a shell that ended", []string{note}, "task-ended:bg1"},
		{"an agent that is idle", []string{agentNote}, "task-ended:a1"},
		{"a subagent's life", []string{sub(`{"type":"subagent.started","data":{},"id":"1"}`), sub(prompt), sub(`{"type":"subagent.completed","data":{},"id":"1"}`)}, "task-began:a1 active task-ended:a1"},
		{"an answered question", []string{`{"type":"human_response.recorded","data":{}}`}, "resumed"},
		{"the end", []string{`{"type":"session.shutdown","data":{"shutdownType":"routine"}}`}, "closed"},
		{"bookkeeping", []string{hookEnd, `{"type":"session.usage_record","data":{{{`, `{"type":"model.message","data":{}}`, `{"type":"assistant.message","data":{"content":"abort"}}`}, ""},
		{"half a line, no object, nothing", []string{`{"type":"abort","da`, `[]`, ``, `{"data":{}}`}, ""},
		{"a huge output", []string{`{"type":"tool.execution_complete","data":{"x":"` + strings.Repeat("x", 3<<20) + `"}}`}, "active"},
	} {
		d := transcript.New(key)
		var got []string
		for _, line := range c.lines {
			for _, s := range d.Line([]byte(line), 7) {
				w := string(s.Kind)
				if s.Task != nil {
					w += ":" + s.Task.ID
				}
				got = append(got, w)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLine_activityNamesItsReason(t *testing.T) {
	got := transcript.New(key).Line([]byte(toolDone), 7)
	if len(got) != 1 || got[0].Reason != "github_copilot_session_event_activity_detected" || got[0].Offset != 7 {
		t.Errorf("got %+v", got)
	}
}

func TestFind(t *testing.T) {
	files := fstest.MapFS{
		"s1/events.jsonl":     {Data: []byte("{}\n")},
		"s1/inuse.4242.lock":  {Data: []byte("4242")},
		"s1/inuse.4242.hold":  {},
		"s2/inuse.1.lock":     {},
		"s2/inuse.2.lock":     {},
		"s3/inuse.x.lock":     {},
		"s3/events.jsonl/odd": {},
	}
	for _, c := range []struct {
		id    event.SessionID
		file  string
		owner int
	}{{"s1", "s1/events.jsonl", 4242}, {"s2", "", 0}, {"s3", "", 0}, {"s4", "", 0}, {"..", "", 0}, {".", "", 0}, {"s1/x", "", 0}, {"", "", 0}} {
		file, err := transcript.Find(files, c.id)
		if file != c.file || (err == nil) != (c.file != "") {
			t.Errorf("Find(%q) = %q, %v; want %q", c.id, file, err, c.file)
		}
		owner, err := transcript.Owner(files, c.id)
		if owner != c.owner || (err == nil) != (c.owner != 0) {
			t.Errorf("Owner(%q) = %d, %v; want %d", c.id, owner, err, c.owner)
		}
		if strings.HasPrefix(string(c.id), "s") && len(c.id) == 2 && c.owner == 0 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Owner(%q): %v does not match fs.ErrNotExist", c.id, err)
		}
	}
}
