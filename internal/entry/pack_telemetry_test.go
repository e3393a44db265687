package entry_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/paths"
)

// What is sent of an event says how the whole chain answered it: the record is made
// when every policy has spoken, and one that cannot be kept changes no answer.
func TestTelemetry_comesAfterThePolicies(t *testing.T) {
	for _, kept := range []bool{true, false} {
		dir, _ := home(t)
		env, _ := world(t, dir, func() (net.Conn, error) { return nil, errors.New("refused") })
		env.Start = func(string, []string, []string, string) (int, error) { return 0, errors.New("no runtime here") }
		vars := map[string]string{"HOME": dir, "USERPROFILE": dir, "LIDGUARD_HOME": filepath.Join(dir, "lg")}
		env.Getenv = func(name string) string { return vars[name] }
		dirs, err := paths.Resolve(env.OS, env.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(dirs.Rules()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dirs.Rules(), []byte("[gate]\n[telemetry]\nurl = \"http://127.0.0.1:9/\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if !kept { // a file is where the folder would be
			if err := os.MkdirAll(filepath.Dir(dirs.Telemetry()), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dirs.Telemetry(), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for command, want := range map[string]string{"rm -rf /": `"decision":"deny"`, "ls": ""} {
			var stdout, stderr bytes.Buffer
			payload := strings.Replace(call, "COMMAND", command, 1)
			if code := run(t, []string{"claude-hook"}, env, strings.NewReader(payload), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
				t.Errorf("%q: exit code %d, %s", command, code, stderr.String())
			}
			if denied := strings.Contains(stdout.String(), `"deny"`); denied != (want != "") {
				t.Errorf("%q, records kept %t: the answer is %s", command, kept, stdout.String())
			}
			if !kept {
				continue
			}
			inbox := filepath.Join(dirs.Telemetry(), "inbox.jsonl")
			got, err := os.ReadFile(inbox)
			if err != nil || bytes.Count(got, []byte("\n")) != 1 || strings.Contains(string(got), `"decision"`) != (want != "") || !strings.Contains(string(got), want) {
				t.Errorf("%q: kept %s, %v; want %s", command, got, err, want)
			}
			if err := os.Remove(inbox); err != nil {
				t.Fatal(err)
			}
		}
	}
}
