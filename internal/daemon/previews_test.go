//go:build unix

package daemon_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/ipc"
)

// marker stands in every prompt of this test; a person who switched previews off
// must find it nowhere.
const marker = "zebra-crossing"

// run runs one command of the program and returns all it printed.
func (l *lab) run(args ...string) string {
	l.t.Helper()
	cmd := exec.Command(filepath.Join(bins, l.version, "lidguard"), args...)
	cmd.Env = l.environ()
	out, _ := cmd.CombinedOutput() // some answers are no, with exit code 1
	return string(out)
}

// everything is all that lidguard wrote to the disk and all that it tells.
func (l *lab) everything() map[string]string {
	l.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(l.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, l.home)] = string(data)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, command := range []string{"status", "why", "can-close", "away-report", "suspend-history", "doctor", "hook-events --provider claude"} {
		for _, form := range []string{command, command + " --json"} {
			all["lidguard "+form] = l.run(strings.Fields(form)...)
		}
	}
	return all
}

func TestPromptPreviews_offKeepsPromptsOutOfEverything(t *testing.T) {
	l := newLab(t)
	var mu sync.Mutex
	var bodies []string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(b))
	}))
	defer receiver.Close()
	posted := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return bodies
	}
	l.run("settings", "--prompt-previews", "off", "--pre-suspend-webhook-url", receiver.URL, "--post-session-end-webhook-url", receiver.URL,
		"--post-stop-suspend-delay-seconds", "0")
	prompt := func(id string) { l.hook("UserPromptSubmit", id, "make x please", "tell nobody of the "+marker) }

	prompt("a")
	first := l.status().PID
	l.hook("PreToolUse", "a")
	l.hook("Stop", "a")
	l.until("the end of the first session is posted", func() bool { return len(posted()) == 1 })
	prompt("b")
	l.until("the holds are taken", func() bool { return len(l.held(first)) == 2 })
	l.laptop(daemon.FakeControl{Lid: "closed", OnMains: true})
	l.until("the lid is closed", func() bool { return l.status().Away })
	l.hook("PermissionRequest", "b")
	l.hook("Stop", "b")
	l.until("the suspend is posted", func() bool { return len(posted()) == 2 })
	l.laptop(daemon.FakeControl{Lid: "open", OnMains: true, Wakes: 1})
	l.until("the lid is open again", func() bool { return !l.status().Away })

	// A payload that cannot be read, and one that the runtime does not take, leave
	// a complaint in the log.
	l.feed(`{"hook_event_name": "UserPromptSubmit", "prompt": "` + marker + `"`)
	l.feed(`{"hook_event_name": "UserPromptSubmit", "prompt": "` + marker + `"}`)
	l.feed(marker + ` is no JSON`)
	syscall.Kill(first, syscall.SIGSTOP)
	l.feed(l.payload("UserPromptSubmit", "c", "make x please", marker))
	syscall.Kill(first, syscall.SIGCONT)
	prompt("c")
	log, err := os.ReadFile(l.dirs.HookEvents("claude"))
	if err != nil || bytes.Count(log, []byte(`"error"`)) < 3 {
		t.Errorf("the log has too few complaints for this test: %v\n%s", err, log)
	}

	if len(l.status().Sessions) == 0 {
		t.Error("no session is left to be shown")
	}
	find := func() (found []string) {
		for where, text := range l.everything() {
			if strings.Contains(text, marker) {
				found = append(found, where)
			}
		}
		for _, b := range posted() {
			if strings.Contains(b, marker) {
				found = append(found, "webhook "+b)
			}
		}
		return found
	}
	if found := find(); found != nil {
		t.Errorf("the prompt stands in %q", found)
	}

	// With previews on the same search finds it, and what is remembered is
	// forgotten when they are switched off again.
	l.run("settings", "--prompt-previews", "on")
	prompt("c")
	if found := find(); len(found) < 4 {
		t.Errorf("with previews on the prompt is found only in %q: this search proves nothing", found)
	}
	l.run("settings", "--prompt-previews", "off")
	for _, command := range []string{"status", "status --json"} {
		if out := l.run(strings.Fields(command)...); strings.Contains(out, marker) {
			t.Errorf("%s still shows a prompt from before", command)
		}
	}
	for _, file := range []string{l.dirs.Sessions(), l.dirs.Inputs()} {
		if data, err := os.ReadFile(file); err != nil || bytes.Contains(data, []byte(marker)) {
			t.Errorf("%s still has a prompt from before (%v)", file, err)
		}
	}
	if _, err := l.client().Call(context.Background(), &ipc.Request{Op: ipc.OpStop}); err != nil {
		t.Error(err)
	}
}

// feed gives a payload to the hook program, whatever becomes of it.
func (l *lab) feed(payload string) {
	l.t.Helper()
	cmd := exec.Command(filepath.Join(bins, l.version, "lidguard-hook"), "claude-hook")
	cmd.Env, cmd.Stdin = l.environ(), strings.NewReader(payload)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		l.t.Errorf("the hook said %q, %v; want silence", out, err)
	}
}
