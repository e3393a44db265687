//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/lidguard-go/lidguard/e2e/lab/client/claude"
	"github.com/lidguard-go/lidguard/e2e/lab/lidguard"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/modelserver/messages"
	"github.com/lidguard-go/lidguard/e2e/lab/secrets"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// A sink that is down at first hears of a whole session of the real Claude Code: in
// order, in UTC, with its ids, and without the secret that the agent read.
func TestTelemetry_aSinkHearsOfClaude(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies bytes.Buffer
	var heard []event.Event
	requests := 0
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		requests++
		if err != nil || requests == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var batch []event.Event
		if err := json.Unmarshal(body, &batch); err != nil || r.Header.Get("X-Token") != "open sesame" {
			t.Errorf("the sink got %v, token %q", err, r.Header.Get("X-Token"))
		}
		bodies.Write(body)
		heard = append(heard, batch...)
	}))
	defer sink.Close()

	m := machine.Bench(t)
	lidguard.Install(t, m, "claude")
	machine.Write(t, m, filepath.Join(m.Home(), "token"), "open sesame\n")
	machine.Write(t, m, filepath.Join(m.Home(), ".config", "lidguard", "rules.toml"),
		fmt.Sprintf("[telemetry]\nurl = %q\nprivacy = \"full\"\nheaders = { X-Token = \"file:~/token\" }\n", sink.URL))
	project := machine.Project(t, m, "project", true)
	secret := secrets.Roll(7, 1)[0]
	machine.Write(t, m, filepath.Join(project, "s.txt"), secret.Text+"\nkept\n")
	c := claude.Run(t, m, claude.Options{NoRecorder: true, Project: project, Allow: []string{"Bash"}, Script: messages.Script{Turns: []messages.Turn{
		messages.Bash("cat ${PROJECT}/s.txt"), messages.Say("All is well.")}}})
	if code := c.Wait(); code != 0 {
		t.Errorf("exit %d", code)
	}

	var types []string
	want := []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"}
	wait.Until(t, wait.Long, "the sink to hear of all", func() (bool, string) {
		mu.Lock()
		defer mu.Unlock()
		types = nil
		for _, e := range heard {
			if name := e.Type()[len("lidguard.hook."):]; slices.Contains(want, name) {
				types = append(types, name)
			}
		}
		return len(types) >= len(want), fmt.Sprintf("%q after %d requests", types, requests)
	})
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(types, want) {
		t.Errorf("the sink heard of %q, want %q", types, want)
	}
	last := ""
	for _, e := range heard {
		number, _ := e.Extensions()["sequence"].(string)
		if err := e.Validate(); err != nil || e.Source() != "/lidguard/claude" || e.Subject() != heard[0].Subject() || number <= last || e.Time().Location() != time.UTC {
			t.Errorf("after %s: %v (%v)", last, e, err)
		}
		last = number
	}
	for _, part := range secret.Parts {
		if bytes.Contains(bodies.Bytes(), []byte(part)) {
			t.Errorf("the sink was told the %s", secret.Kind)
		}
	}
	for _, text := range []string{"kept", "[redacted:", "All is well."} {
		if !bytes.Contains(bodies.Bytes(), []byte(text)) {
			t.Errorf("the sink was not told %q", text)
		}
	}
	if requests < 2 {
		t.Errorf("%d requests", requests)
	}
}
