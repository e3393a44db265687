package entry_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/event"
)

// A setup that is killed while it proves hooks leaves hooks behind that find no
// runtime: none of them may start a real one.
func TestRun_startsNoRuntimeForACanary(t *testing.T) {
	for id, want := range map[string]bool{"1234": true, event.CanaryPrefix + "1234": false} {
		dir, _ := home(t)
		if err := os.WriteFile(filepath.Join(dir, "lidguard"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
		env, started := world(t, dir, func() (net.Conn, error) { return nil, errors.New("refused") })
		payload := `{"session_id":"` + id + `","hook_event_name":"UserPromptSubmit","prompt":"hi"}`
		var stdout, stderr bytes.Buffer
		if code := entry.Run([]string{"claude-hook"}, env, strings.NewReader(payload), &stdout, &stderr); code != 0 || len(*started) > 0 != want {
			t.Errorf("%s: exit code %d, started %v", id, code, *started)
		}
	}
}

// A runtime speaks to webhooks, sinks and the phone's service, behind a proxy too, and
// keeps nothing else of the client's.
func TestPickEnviron(t *testing.T) {
	keep := []string{"HOME=/h", "HTTPS_PROXY=http://me:pw@proxy.example:3128", "http_proxy=http://proxy.example:3128", "no_proxy=.example", "NO_PROXY=10.0.0.0/8",
		"LIDGUARD_HOME=/l", "XDG_RUNTIME_DIR=/run/user/1"}
	drop := []string{"ANTHROPIC_API_KEY=secret", "ALL_PROXY=socks5://proxy.example", "PROXY=x", "MY_HTTPS_PROXY=x", "PATHOLOGICAL=1"}
	if got := entry.PickEnviron(slices.Concat(keep, drop)); !slices.Equal(got, keep) {
		t.Errorf("kept %q, want %q", got, keep)
	}
}
