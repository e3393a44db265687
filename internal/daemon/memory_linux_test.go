package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// number is a number in a file of proc(5) that has a name before it on each line.
func number(t *testing.T, file, name string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(data), "\n"+name+":")
	if !ok {
		t.Fatalf("%s has no %s", file, name)
	}
	n, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// switches is how often the threads of pid gave up a processor to wait.
func switches(t *testing.T, pid int) int {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("threads of %d: %v, %v", pid, threads, err)
	}
	n := 0
	for _, thread := range threads {
		n += number(t, thread, "voluntary_ctxt_switches")
	}
	return n
}

// The promise is 20 MiB with 500 sessions, all at work, and no wake-up by itself.
// Without a session the program's own size, twice that, must have gone.
func TestRest_isSmallAndQuiet(t *testing.T) {
	l := newLab(t)
	l.hook("UserPromptSubmit", "s0")
	pid := l.status().PID
	remove := func() { // with the transcript of the first, which is looked at every few seconds
		t.Helper()
		if _, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpRemove, All: true}); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	for i := range 500 {
		key := event.SessionKey{Provider: event.Claude, ID: event.SessionID(fmt.Sprint("r", i))}
		_, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpSignal, Signals: []event.Signal{
			{Kind: event.Began, Session: key, Source: "test", Cwd: "/home/dev/project", Prompt: "the prompt of one session among many of them"},
			{Kind: event.ToolBegan, Session: key, Source: "test", Tool: "Bash", ToolUse: fmt.Sprint("toolu_", i)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	quiet := func() {
		t.Helper()
		since, last := time.Now(), switches(t, pid)
		l.until("nothing woke the runtime for three seconds", func() bool {
			if n := switches(t, pid); n != last {
				since, last = time.Now(), n
			}
			return time.Since(since) > 3*time.Second
		})
	}
	small := func(what string, most int) {
		t.Helper()
		var kib int
		status := fmt.Sprintf("/proc/%d/status", pid)
		l.until(what, func() bool { kib = number(t, status, "VmRSS"); return kib <= most })
		t.Logf("%s: %d KiB, %d of them of files", what, kib, number(t, status, "RssFile"))
	}
	quiet()
	small("500 sessions take 20 MiB at most", 20<<10)
	// The state of so many is saved when it suits, which may be after the runtime gave
	// back what it had; then it has to do so again.
	remove()
	small("none take 12 MiB at most", 12<<10)
	quiet()
	small("and still do at rest", 12<<10)
}
