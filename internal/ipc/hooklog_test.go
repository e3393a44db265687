package ipc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// writers and each make the log turn over several times.
const (
	writers = 4
	each    = 1200
)

func entryOf(writer, n int) *ipc.HookEvent {
	return &ipc.HookEvent{Time: time.Unix(1700000000, int64(n)).UTC(), Provider: event.Claude, Event: "UserPromptSubmit",
		Session: event.SessionID(fmt.Sprint("writer-", writer)), Tool: strconv.Itoa(n), Prompt: strings.Repeat("p", 50), Error: strings.Repeat("e", 40+n%200)}
}

// TestHookLog_writersInProcessesNeverTearALine: hooks and the runtime are separate
// processes that append to one file and turn it over.
func TestHookLog_writersInProcessesNeverTearALine(t *testing.T) {
	if w := os.Getenv("TEST_HOOKLOG_WRITER"); w != "" {
		number, _ := strconv.Atoi(w)
		for n := range each {
			if err := ipc.AppendHookLog(os.Getenv("TEST_HOOKLOG_PATH"), entryOf(number, n)); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	path := filepath.Join(t.TempDir(), "deep", "claude.jsonl")
	var started []*exec.Cmd
	for w := 1; w < writers; w++ {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHookLog_writersInProcessesNeverTearALine$")
		cmd.Env = append(os.Environ(), "TEST_HOOKLOG_WRITER="+strconv.Itoa(w), "TEST_HOOKLOG_PATH="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, cmd)
	}
	for n := range each { // this process is the runtime
		if err := ipc.AppendHookLog(path, entryOf(0, n)); err != nil {
			t.Error(err)
		}
	}
	for _, cmd := range started {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	kept, last := 0, map[event.SessionID]int{}
	for _, file := range []string{path + ".1", path} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bound := ipc.MaxHookLog + writers*1024; len(data) > bound {
			t.Errorf("%s has %d bytes, more than %d", filepath.Base(file), len(data), bound)
		}
		if !bytes.HasSuffix(data, []byte("\n")) {
			t.Errorf("%s ends in half a line", filepath.Base(file))
		}
		for line := range bytes.Lines(data) {
			var e ipc.HookEvent
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("a torn line: %q: %v", line, err)
			}
			n, err := strconv.Atoi(e.Tool)
			if err != nil || len(e.Error) != 40+n%200 {
				t.Fatalf("a mixed line: %q", line)
			}
			if before, known := last[e.Session]; known && n <= before {
				t.Errorf("%s: line %d after line %d", e.Session, n, before)
			}
			last[e.Session] = n
			kept++
		}
	}
	// A whole older file is some 600 of these lines.
	if kept < 500 {
		t.Errorf("only %d lines are kept", kept)
	}
}

// TestHookLog_staysBounded: a log that is written for ever is two files.
func TestHookLog_staysBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "codex.jsonl")
	for n := range 6000 {
		if err := ipc.AppendHookLog(path, entryOf(0, n)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 3 {
		t.Fatalf("the folder has %v (%v), want two logs and their lock", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Size() > ipc.MaxHookLog {
			t.Errorf("%s has %d bytes (%v), bound is %d", e.Name(), info.Size(), err, ipc.MaxHookLog)
		}
	}
}

// A client that sends an id of megabytes does not push what was before it out of the
// log, nor past its bound.
func TestHookLog_longTextsAreCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claude.jsonl")
	long := strings.Repeat("ü", 3<<20)
	for _, h := range []*ipc.HookEvent{entryOf(0, 1),
		{Provider: event.Claude, Event: long, Session: event.SessionID(long), Tool: long, Prompt: long, Answer: long, Error: long}} {
		if err := ipc.AppendHookLog(path, h); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(lines) != 2 || len(data) > ipc.MaxHookLog {
		t.Fatalf("%d lines, %d bytes", len(lines), len(data))
	}
	var got ipc.HookEvent
	if err := json.Unmarshal(lines[1], &got); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{got.Event, string(got.Session), got.Tool, got.Prompt, got.Answer, got.Error} {
		if len(text) > 5<<10 || !strings.HasPrefix(text, "üü") || !strings.HasSuffix(text, "ü...") {
			t.Errorf("%d bytes: %.10s … %s", len(text), text, text[len(text)-10:])
		}
	}
}
