package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/settings"
)

func hookLogDirs(t *testing.T, w *world) paths.Dirs {
	t.Helper()
	d, err := paths.Resolve("linux", func(name string) string { return w.env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// someHookEvents are hook calls of two agents, as the log has them.
func someHookEvents(t *testing.T, w *world) {
	t.Helper()
	at := now.Add(-time.Hour).UTC()
	for i, e := range []ipc.HookEvent{
		{Provider: event.Claude, Event: "SessionStart", Session: "c1"},
		{Provider: event.Claude, Event: "UserPromptSubmit", Session: "c1", Prompt: "fix the \x1b[31mparser"},
		{Provider: event.Codex, Event: "PreToolUse", Session: "x1", Tool: "Bash"},
		{Provider: event.Claude, Event: "PermissionRequest", Session: "c1", Tool: "Bash", Answer: "deny"},
		{Provider: event.Claude, Event: "?", Error: "empty payload"},
	} {
		e.Time = at.Add(time.Duration(i) * time.Second)
		if i == 0 {
			e.Time = at.Add(-48 * time.Hour) // another day
		}
		if err := ipc.AppendHookLog(hookLogDirs(t, w).HookEvents(string(e.Provider)), &e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHookEvents_shapes(t *testing.T) {
	w := newWorld(t)
	someHookEvents(t, w)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"hook_events_all", []string{"hook-events", "--provider", "all"}},
		{"hook_events_count", []string{"hook-events", "--provider", "claude", "--count", "2"}},
		{"hook_events_json", []string{"hook-events", "--provider", "all", "--json"}},
	} {
		code, stdout, stderr := w.run(c.args...)
		if code != 0 || stderr != "" {
			t.Errorf("%v: exit %d, stderr %q", c.args, code, stderr)
		}
		golden(t, c.name, stdout)
	}
}

// Times are the person's own; the log's are UTC.
func TestHookEvents_localTime(t *testing.T) {
	w := newWorld(t)
	someHookEvents(t, w)
	var out bytes.Buffer
	a := newApp(Options{Env: func(name string) string { return w.env[name] }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		Now: func() time.Time { return now.In(time.FixedZone("here", 5*3600+1800)) }, GOOS: "linux"})
	if err := a.hookEvents(context.Background(), []string{"codex"}, hookEventsOptions{count: 1}, nil); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "19:36:09  codex") {
		t.Errorf("at half past five hours east of UTC 14:06:09 is shown as %q", got)
	}
}

func TestHookEvents_promptsOfBeforeAreHidden(t *testing.T) {
	w := newWorld(t)
	someHookEvents(t, w)
	if _, out, _ := w.run("hook-events", "--provider", "claude"); !strings.Contains(out, "parser") {
		t.Fatalf("no preview in %q: this test proves nothing", out)
	}
	if _, err := settings.Update(hookLogDirs(t, w).Settings(), []settings.Change{{Key: "prompt-previews", Value: "off"}}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"hook-events", "--provider", "claude"}, {"hook-events", "--provider", "claude", "--json"}} {
		if _, out, _ := w.run(args...); strings.Contains(out, "parser") || !strings.Contains(out, "UserPromptSubmit") {
			t.Errorf("%v with previews off shows %q", args, out)
		}
	}
}

// shared is an output that one goroutine writes and another reads.
type shared struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// TestHookEvents_followsOverRotation: every call is shown once and in order while
// the log is turned over several times.
func TestHookEvents_followsOverRotation(t *testing.T) {
	w := newWorld(t)
	out := new(shared)
	a := newApp(Options{Env: func(name string) string { return w.env[name] }, Stdin: strings.NewReader(""), Stdout: out, Stderr: out,
		Now: func() time.Time { return now }, GOOS: "linux"})
	a.json = true
	log := hookLogDirs(t, w).HookEvents("claude")
	n := 0
	write := func(count int) {
		for range count {
			n++
			err := ipc.AppendHookLog(log, &ipc.HookEvent{Time: now.Add(time.Duration(n) * time.Millisecond).UTC(), Provider: event.Claude,
				Event: "PreToolUse", Session: "c1", Tool: strconv.Itoa(n), Error: strings.Repeat("e", 150)})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	write(30)
	ctx, cancel := context.WithCancel(context.Background())
	tick, done := make(chan time.Time), make(chan error)
	go func() { done <- a.hookEvents(ctx, []string{"claude"}, hookEventsOptions{count: 5, follow: true}, tick) }()
	for range 40 { // some 300 bytes a line: the log turns over every 900
		tick <- now // it has read what was there
		write(100)
	}
	// Half a line is somebody's who still writes.
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"time":"2026`)
	tick <- now
	tick <- now
	fmt.Fprintln(f, `-01-01T00:00:00Z","provider":"claude","event":"Late","tool":"`+strconv.Itoa(n+1)+`"}`)
	f.Close()
	tick <- now
	tick <- now // the one before is done
	cancel()
	if err := <-done; err != nil {
		t.Errorf("leaving: %v", err)
	}
	want := 26 // the last five of thirty come first
	for line := range strings.Lines(out.String()) {
		var e ipc.HookEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Tool != strconv.Itoa(want) {
			t.Fatalf("call %s is shown where %d should be", e.Tool, want)
		}
		want++
	}
	if want != n+2 {
		t.Errorf("the last call shown is %d, want %d", want-1, n+1)
	}
}
