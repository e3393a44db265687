package gate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy/gate"
)

func bash(command string) *event.Event {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return &event.Event{Name: event.PreToolUse, Tool: &event.Tool{Name: "Bash", Input: input}}
}

// stuck is a world that is asked and does not answer before the test ends, with an
// alarm that goes at once.
func stuck(t *testing.T) gate.World {
	w := project()
	over, end := make(chan struct{}), make(chan struct{})
	close(over)
	t.Cleanup(func() { close(end) })
	w.Env = func(string) (string, bool) { <-end; return "", false }
	w.Alarm = func() <-chan struct{} { return over }
	return w
}

// TestAlarm_ends: what is under way between two looks at the budget is not waited for.
func TestAlarm_ends(t *testing.T) {
	ev := bash("echo $USER " + strings.Repeat("a", 100_000))
	got := gate.Judge(gate.Config{}, ev, stuck(t))
	if got.Decision != event.Deny || got.Rule() != "command-over-limit" || got.Reason == "" {
		t.Errorf("got %+v", got)
	}
	if touched, whole := gate.Touches(ev, stuck(t)); whole {
		t.Errorf("touches %v and no more", touched)
	}
}

// TestAlarm_notForSmallInputs: it costs a goroutine.
func TestAlarm_notForSmallInputs(t *testing.T) {
	w := project()
	w.Alarm = func() <-chan struct{} { t.Error("asked for an alarm"); return nil }
	if got := gate.Judge(gate.Config{}, bash("git status"), w); got.Decision != event.None {
		t.Errorf("got %+v", got)
	}
}

// TestAlarm_changesNothing where it does not go.
func TestAlarm_changesNothing(t *testing.T) {
	for _, command := range []string{"cat <<'E'\n" + strings.Repeat("prose\n", 5000) + "E\n", strings.Repeat("a;", 5000) + "rm -rf /"} {
		w := project()
		want := gate.Judge(gate.Config{}, bash(command), w)
		asked := 0
		w.Alarm = func() <-chan struct{} { asked++; return nil }
		got := gate.Judge(gate.Config{}, bash(command), w)
		if got.Decision != want.Decision || got.Reason != want.Reason || asked != 1 {
			t.Errorf("%.20q: got %v after %d questions, want %v", command, got, asked, want)
		}
	}
}

// TestAlarm_passesAPanicOn, which is for the chain to answer.
func TestAlarm_passesAPanicOn(t *testing.T) {
	w := project()
	w.Alarm = func() <-chan struct{} { return nil }
	w.Kind = func(string) gate.FileKind { panic("disk on fire") }
	defer func() {
		if r := recover(); r != "disk on fire" {
			t.Errorf("got %v", r)
		}
	}()
	gate.Judge(gate.Config{}, bash("rm -r src "+strings.Repeat("#", 50_000)), w)
	t.Error("no panic")
}

// TestJudge_longLists: an input of many parts is refused before it is taken apart, and
// one that is only large is judged.
func TestJudge_longLists(t *testing.T) {
	r := strings.Repeat
	for _, c := range []struct {
		name, tool, input string
		want              event.Decision
		rule              string
	}{
		{"a large file", "Write", `{"file_path":"a.txt","content":"` + r(`a\n`, 100_000) + `"}`, event.None, ""},
		{"a large file elsewhere", "Write", `{"content":"` + r(`a\n`, 100_000) + `","file_path":"/etc/hosts"}`, event.Deny, "write-system"},
		{"large edits elsewhere", "MultiEdit", `{"edits":[{"old_string":"` + r(`a\n`, 100_000) + `","file_path":"src/a.go"},{"filePath":"/etc/hosts"}]}`, event.Deny, "write-system"},
		{"many members", "Write", `{` + r(`"a":1,`, 20_000) + `"file_path":"a.txt"}`, event.Deny, "input-unreadable"},
		{"many members for a shell", "Bash", `{` + r(`"a":1,`, 20_000) + `"command":"ls"}`, event.Deny, "input-unreadable"},
		{"many edits", "MultiEdit", `{"edits":[` + r(`{},`, 30_000) + `{}]}`, event.Deny, "input-unreadable"},
		{"an edit of many members", "MultiEdit", `{"edits":[{` + r(`"a":1,`, 20_000) + `"file_path":"/etc/hosts"}]}`, event.Deny, "input-unreadable"},
		{"many paths", "Read", `{"paths":[` + r(`"a",`, 300_000) + `"b"]}`, event.Deny, "input-unreadable"},
		{"many words", "Bash", `{"command":[` + r(`"a",`, 300_000) + `"b"]}`, event.Deny, "input-unreadable"},
		{"many members for a server", "mcp__x__read", `{` + r(`"a":1,`, 20_000) + `"path":"a"}`, event.Deny, "input-unreadable"},
		{"many paths for a server", "mcp__x__read", `{"paths":[` + r(`"a",`, 300_000) + `"b"]}`, event.Deny, "input-unreadable"},
		{"many words for a server", "mcp__x__run_command", `{"command":[` + r(`"a",`, 300_000) + `"b"]}`, event.Deny, "input-unreadable"},
		{"a large text for a server", "mcp__x__write_file", `{"content":"` + r(`a\n`, 100_000) + `","path":"/etc/hosts"}`, event.Deny, "write-system"},
		{"no object for a server", "mcp__x__read", `[` + r(`"a",`, 30_000) + `"b"]`, event.None, ""},
	} {
		ev := &event.Event{Name: event.PreToolUse, Tool: &event.Tool{Name: c.tool, Input: []byte(c.input)}}
		if got := gate.Judge(gate.Config{}, ev, project()); got.Decision != c.want || got.Rule() != c.rule {
			t.Errorf("%s: got %s by %q: %.200s", c.name, word(got.Decision), got.Rule(), got.Reason)
		}
	}
}
