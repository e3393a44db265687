package resident_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/platform/child"
	"github.com/lidguard-go/lidguard/internal/resident"
)

// The tests of this file run the two ends of docs/resident.md together: a program
// whose main is hook.Serve, started, asked and bounded as the runtime does it.

// process is a child as the pool sees it.
type process struct{ *child.Helper }

func (p process) Stdin() io.WriteCloser { return p.Helper.Stdin }
func (p process) Stdout() io.ReadCloser { return p.Helper.Stdout }

// sdk is a pool with one helper, testdata/helper.
type sdk struct {
	*resident.Pool
	spec   resident.Spec
	starts atomic.Int64

	mu  sync.Mutex // guards log
	log []string
}

func serveSDK(t *testing.T, memory uint64) *sdk {
	t.Helper()
	program := filepath.Join(t.TempDir(), "helper")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "./testdata/helper")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the helper: %v\n%s", err, out)
	}
	s := &sdk{spec: resident.Spec{Name: "helper", Path: program, Dir: filepath.Dir(program)}}
	s.Pool = &resident.Pool{
		Start: func(spec resident.Spec) (resident.Process, error) {
			s.starts.Add(1)
			// GOMEMLIMIT and its like are the author's; what bounds is the system.
			h, err := child.Serve(child.Spec{Path: spec.Path, Args: spec.Args, Dir: spec.Dir, Env: os.Environ()}, memory)
			if err != nil {
				return nil, err
			}
			return process{h}, nil
		},
		Log: func(text string, args ...any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, text+" "+fmt.Sprint(args...))
		},
	}
	t.Cleanup(s.Close)
	return s
}

// said is a verdict as far as these tests look.
type said struct {
	Decision, Reason, Rule string
	Contexts               []string
}

const patience = time.Minute // on a machine with much else to do

func (s *sdk) ask(provider, command string, limit time.Duration) (said, error) {
	text, _ := json.Marshal(command) // a string
	native, payload := "PreToolUse", fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%s}}`, text)
	switch provider {
	case "copilot":
		native, payload = "preToolUse", fmt.Sprintf(`{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":{"command":%s}}`, text)
	case "opencode":
		native, payload = "tool.execute.before", fmt.Sprintf(`{"directory":"/p","input":{"tool":"bash","sessionID":"s","callID":"c"},"output":{"args":{"command":%s}}}`, text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	data, err := s.Ask(ctx, s.spec, resident.Question{Provider: provider, Native: native, Event: json.RawMessage(payload)})
	if err != nil {
		return said{}, err
	}
	var v said
	return v, json.Unmarshal(data, &v)
}

func TestServe_manyEventsOfEveryClient(t *testing.T) {
	s := serveSDK(t, resident.MaxMemory)
	const each = 500
	var all sync.WaitGroup
	for i, provider := range []string{"claude", "codex", "copilot", "opencode"} {
		all.Go(func() {
			for n := range each {
				command, want := fmt.Sprintf("ls %d", n), said{}
				switch n % 5 {
				case 0:
					command = fmt.Sprintf("deny %d of %d, \"quoted\"\nand a line", n, i)
					want = said{Decision: "deny", Reason: "as asked: " + strings.TrimPrefix(command, "deny "), Rule: "asked"}
				case 1:
					command, want = "panic now", said{Decision: "deny", Rule: "hook-failed"}
				}
				got, err := s.ask(provider, command, patience)
				if err != nil || got.Decision != want.Decision || got.Rule != want.Rule || want.Reason != "" && got.Reason != want.Reason {
					t.Errorf("%s, %q: got %+v, %v; want %+v", provider, command, got, err, want)
					return
				}
			}
		})
	}
	all.Wait()
	if n := s.starts.Load(); n != 1 {
		t.Errorf("%d starts for %d questions", n, 4*each)
	}
}

func TestServe_aDeadHelperRestsAndComesBack(t *testing.T) {
	s := serveSDK(t, resident.MaxMemory)
	// It rests at least 0.2 s, 0.4 s and 0.8 s between its lives.
	type life struct{ before, after time.Time } // it began and ended between the two
	var lives []life
	for len(lives) < 4 {
		starts, before := s.starts.Load(), time.Now()
		_, err := s.ask("claude", "exit", patience)
		switch {
		case s.starts.Load() > starts:
			lives = append(lives, life{before, time.Now()})
			if err == nil || !strings.Contains(err.Error(), "has ended") {
				t.Fatalf("a helper that leaves: %v", err)
			}
		case !errors.Is(err, resident.ErrRefused):
			t.Fatalf("while it rests: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	for i, want := range []time.Duration{200, 400, 800} {
		if got := lives[i+1].after.Sub(lives[i].before); got < want*time.Millisecond {
			t.Errorf("after %d deaths it rested less than %v", i+1, got)
		}
	}
	// Once it answers, all is forgiven.
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		got, err := s.ask("claude", "deny it", patience)
		if err == nil && got.Decision == "deny" {
			break
		}
		if !errors.Is(err, resident.ErrRefused) || time.Now().After(end) {
			t.Fatalf("after its rest: %+v, %v", got, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if told := strings.Join(s.log, "\n"); !strings.Contains(told, "leaving in a hurry") {
		t.Errorf("its last words are lost: %s", told)
	}
}

func TestServe_bodiesAreToldToStopAtTheDeadline(t *testing.T) {
	s := serveSDK(t, resident.MaxMemory)
	if _, err := s.ask("claude", "ls", patience); err != nil {
		t.Fatal(err)
	}
	for n := range 2 * resident.MaxLate {
		// Whoever asked has gone, or got the gate's own refusal just in time.
		if got, err := s.ask("codex", "wait", 100*time.Millisecond); err == nil && (got.Decision != "deny" || got.Rule != "hook-failed") {
			t.Errorf("a body that waits: %+v", got)
		}
		want := fmt.Sprint(n + 1)
		for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			got, err := s.ask("claude", "cancelled", patience)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Contexts) == 1 && got.Contexts[0] == want {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%v bodies were told to stop, want %s", got.Contexts, want)
			}
		}
	}
	if n := s.starts.Load(); n != 1 {
		t.Errorf("it was started %d times, though it answers what can be answered", n)
	}
}
