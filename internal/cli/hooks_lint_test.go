package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHooksLint_shape: what scripts read of a report.
func TestHooksLint_shape(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.home, "hooks.json")
	if err := os.WriteFile(path, []byte("{\"hooks\": {\n  \"PreToolUse\": [{\"matcher\": \"bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := w.run("hooks", "lint", "hooks.json", "--provider", "claude", "--json")
	if code != ExitFailed || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	golden(t, "hooks-lint.json", strings.ReplaceAll(stdout, w.home, "/home/dev"))
}

// TestHooksEvents_shape: what scripts read of the census.
func TestHooksEvents_shape(t *testing.T) {
	w := newWorld(t)
	code, stdout, stderr := w.run("hooks", "events", "--provider", "codex", "--event", "PreToolUse", "--json")
	if code != ExitDone || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	golden(t, "hooks-events.json", stdout)
}
