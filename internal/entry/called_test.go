package entry_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// Copilot runs the hooks of a project's .claude/settings.json. It gets its own
// words then, and the call counts as its own; where both are named and no process
// tells more, it is Claude Code's. The golden file has both answers to each payload.
func TestRun_claudeHookCalledByCopilot(t *testing.T) {
	payloads := map[string][]byte{
		"nothing at all": nil, "half a call": []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_in`), "half of something": []byte(`{"cwd":"/`),
	}
	names := []string{"nothing at all", "half a call", "half of something"}
	files, err := filepath.Glob("../provider/copilot/testdata/fixtures/pascal-*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d recorded payloads, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "pascal-"), ".json")
		// Something to say at most events.
		data = bytes.ReplaceAll(data, []byte("echo hi"), []byte("git push"))
		names, payloads[name] = append(names, name), data
	}
	var b strings.Builder
	for _, name := range names {
		for _, who := range []string{"Copilot", "Claude Code below Copilot"} {
			dir, _ := home(t)
			env, _ := world(t, dir, func() (net.Conn, error) { return nil, errors.New("refused") })
			vars := map[string]string{"HOME": dir, "USERPROFILE": dir, "LIDGUARD_HOME": filepath.Join(dir, "lg"), "COPILOT_CLI": "1"}
			if who != "Copilot" {
				vars["CLAUDECODE"] = "1"
			}
			env.Start = func(string, []string, []string, string) (int, error) { return 0, errors.New("no runtime here") }
			env.Getenv = func(name string) string { return vars[name] }
			config := filepath.Join(dir, "lg", "config")
			if err := os.MkdirAll(config, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(config, "rules.toml"), []byte(copilotBook), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := run(t, []string{"claude-hook"}, env, bytes.NewReader(payloads[name]), &stdout, &stderr)
			fmt.Fprintf(&b, "== %s, from %s\nexit %d\n%s%s\n", name, who, code, stdout.String(), stderr.String())
			dirs, err := paths.Resolve(env.OS, env.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			err = entry.ReadAudit(dirs, func(e *entry.AuditEntry) bool {
				fmt.Fprintf(&b, "noted: %s, %s\n", e.Provider, e.Decision)
				return true
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	against(t, "called.golden", b.String())
}

const copilotBook = `
[[rule]]
id = "no-push"
command = "git push"
decision = "deny"
reason = "Pushing is for people."

[[nudge]]
id = "tests"
target = "prompt"
match = "."
text = "Run the tests."
`
