package entry_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// rehearsal is a chain with the gate on, in a home of the test's own.
func rehearsal(t testing.TB, home string, away *ipc.Away) *entry.Rehearsal {
	t.Helper()
	values := map[string]string{"HOME": home, "USERPROFILE": home, "LIDGUARD_HOME": filepath.Join(home, "lg")}
	config := filepath.Join(home, "lg", "config")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "rules.toml"), []byte("[gate]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := entry.Rehearse(entry.Env{OS: runtime.GOOS, Getenv: func(name string) string { return values[name] }, Now: time.Now}, away)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// judge is the answer of a machine that does nothing else: where time goes on only
// while all wait, no budget is spent.
func judge(t *testing.T, r *entry.Rehearsal, args []string, payload []byte) (out event.Output, err error) {
	synctest.Test(t, func(*testing.T) { out, err = r.Judge(args, payload) })
	return out, err
}

// run is [entry.Run] with all the time it needs, as in judge.
func run(t *testing.T, args []string, env entry.Env, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	synctest.Test(t, func(*testing.T) { code = entry.Run(args, env, stdin, stdout, stderr) })
	return code
}

const call = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"COMMAND"}}`

func TestRehearsal_answersAndLeavesNothingBehind(t *testing.T) {
	home := t.TempDir()
	r := rehearsal(t, home, nil)
	for _, c := range []struct{ name, payload, want string }{
		{"a refusal", strings.Replace(call, "COMMAND", "rm -rf /", 1), `"deny"`},
		{"a harmless call", strings.Replace(call, "COMMAND", "ls", 1), ""},
		{"half a payload", call[:40], "could not read"},
		{"nothing", "", "empty payload"},
		{"a prompt", `{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"go"}`, ""},
	} {
		for _, how := range []string{"judge", "run"} {
			var got string
			out, err := judge(t, r, []string{"claude-hook"}, []byte(c.payload))
			if how == "run" {
				synctest.Test(t, func(*testing.T) { out, err = r.Run([]string{"claude-hook"}, strings.NewReader(c.payload)) })
			}
			if err != nil {
				t.Fatal(err)
			}
			got = string(out.Stdout) + string(out.Stderr)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("%s, %s: got %q, want %q", c.name, how, got, c.want)
			}
		}
	}
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "rules.toml" {
			t.Errorf("it wrote %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := r.Judge([]string{"nobody-hook"}, nil); err == nil {
		t.Error("an entry that does not exist was answered")
	}
}

func TestRehearsal_answersForAnAbsentPerson(t *testing.T) {
	const ask = `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}`
	for _, c := range []struct {
		name string
		away *ipc.Away
		want string
	}{
		{"the lid is closed", &ipc.Away{Lid: "closed", Away: true}, `"behavior":"deny"`},
		{"somebody is there", &ipc.Away{Lid: "open", Displays: 1}, ""},
		{"nobody knows", nil, ""},
	} {
		out, err := judge(t, rehearsal(t, t.TempDir(), c.away), []string{"claude-hook"}, []byte(ask))
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" && len(out.Stdout) > 0 || !bytes.Contains(out.Stdout, []byte(c.want)) {
			t.Errorf("%s: got %s, want %q", c.name, out.Stdout, c.want)
		}
	}
}

func BenchmarkRehearsal(b *testing.B) {
	r := rehearsal(b, b.TempDir(), nil)
	payload := []byte(strings.Replace(call, "COMMAND", "git reset --hard && rm -rf build", 1))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := r.Judge([]string{"claude-hook"}, payload); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// A client whose payloads do not name their event has named it on the command line,
// which is all that is known of a payload that never comes.
func TestRehearsal_refusesWhatNeverComes(t *testing.T) {
	r := rehearsal(t, t.TempDir(), nil)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"copilot-hook", "--event", "preToolUse"}, `"permissionDecision":"deny"`},
		{[]string{"copilot-hook", "--event", "PreToolUse"}, `"permissionDecision":"deny"`},
		{[]string{"copilot-hook", "--event", "permissionRequest"}, `"behavior":"deny"`},
		{[]string{"copilot-hook", "--event", "agentStop"}, ""},
		{[]string{"opencode-hook", "--event", "tool.execute.before"}, "empty payload"},
		{[]string{"opencode-hook", "--event", "session.idle"}, ""},
		{[]string{"codex-hook"}, "empty payload"},
	} {
		out, err := judge(t, r, c.args, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(out.Stdout) + string(out.Stderr); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.args, got, c.want)
		}
	}
}
