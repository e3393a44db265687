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
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/paths"
)

// An agent in a shell of another has the variables of both: the nearer one above the
// hook has called it. The processes are those of a made-up table.
func TestRun_theNearerAgentHasCalled(t *testing.T) {
	const claude, copilot, shell = "/opt/claude", "/opt/copilot", "/bin/sh"
	for _, c := range []struct {
		name  string
		above []string // the hook, nearest first
		want  event.Provider
	}{
		{"Copilot in a shell of Claude Code", []string{shell, copilot, shell, claude, shell}, event.Copilot},
		{"Copilot by npm in a shell of Claude Code", []string{shell, copilot, "/usr/bin/node /usr/bin/copilot", "/usr/bin/zsh", claude}, event.Copilot},
		{"Claude Code in a shell of Copilot", []string{shell, claude, shell, copilot, shell}, event.Claude},
		{"Claude Code in Copilot in Claude Code", []string{claude, shell, copilot, shell, claude}, event.Claude},
		{"an editor on a file of that name between", []string{shell, "/usr/bin/vi copilot", claude, copilot}, event.Claude},
		{"no agent to be seen", []string{shell, "/usr/bin/tmux"}, event.Claude},
	} {
		dir, _ := home(t)
		env, _ := world(t, dir, func() (net.Conn, error) { return nil, errors.New("refused") })
		root := filepath.Join(dir, "root")
		env.PID = 100
		for i, line := range append([]string{"/opt/lidguard-hook"}, c.above...) {
			argv := strings.Fields(line)
			at := filepath.Join(root, "proc", fmt.Sprint(100-i))
			stat := fmt.Sprintf("%d (%s) S %d 1 1 0 -1 4194560 9 9 0 0 0 0 0 0 20 0 1 0 %d 1 1 1\n", 100-i, filepath.Base(argv[0]), 99-i, 1000-i)
			err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "stat"), []byte(stat), 0o600),
				os.WriteFile(filepath.Join(at, "cmdline"), []byte(strings.Join(argv, "\x00")+"\x00"), 0o600), os.Symlink(argv[0], filepath.Join(at, "exe")))
			if err != nil {
				t.Fatal(err)
			}
		}
		vars := map[string]string{"HOME": dir, "LIDGUARD_HOME": filepath.Join(dir, "lg"), "LIDGUARD_ROOT": root, "COPILOT_CLI": "1", "CLAUDECODE": "1", "CLAUDE_PID": "98"}
		env.Getenv = func(name string) string { return vars[name] }
		if err := os.MkdirAll(filepath.Join(dir, "lg", "config"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "lg", "config", "rules.toml"), []byte(copilotBook), 0o600); err != nil {
			t.Fatal(err)
		}
		payload := `{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/x","tool_name":"Bash","tool_input":{"command":"git push"}}`
		var stdout, stderr bytes.Buffer
		code := run(t, []string{"claude-hook"}, env, strings.NewReader(payload), &stdout, &stderr)
		if code != 0 || !strings.Contains(stdout.String(), "Pushing is for people.") {
			t.Errorf("%s: answered %d %s%s", c.name, code, stdout.String(), stderr.String())
		}
		dirs, err := paths.Resolve(env.OS, env.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		var noted []event.Provider
		err = entry.ReadAudit(dirs, func(e *entry.AuditEntry) bool {
			noted = append(noted, e.Provider)
			return true
		})
		if err != nil || len(noted) != 1 || noted[0] != c.want {
			t.Errorf("%s: the call is noted as one of %q, want %s (%v)", c.name, noted, c.want, err)
		}
	}
}
