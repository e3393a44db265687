//go:build unix

package daemon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/daemon"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/notify"
)

// phone doubles the push service and the phone that listens to it.
type phone struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	asked   []map[string]any
	answers []string
	changed chan struct{}
}

const phoneTopic = "/lidguard-0123456789abcdef"

func newPhone(t *testing.T) *phone {
	p := &phone{t: t, changed: make(chan struct{})}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *phone) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	switch r.Method + r.URL.Path {
	case "POST/":
		var m map[string]any
		if err := json.Unmarshal(body, &m); err != nil {
			p.t.Error(err)
		}
		p.asked = append(p.asked, m)
	case "POST" + phoneTopic + notify.AnswerTopic:
		p.answers = append(p.answers, string(body))
		close(p.changed)
		p.changed = make(chan struct{})
	case "GET" + phoneTopic + notify.AnswerTopic + "/json":
		for told := 0; r.Context().Err() == nil; {
			for ; told < len(p.answers); told++ {
				fmt.Fprintf(w, "{\"event\":\"message\",\"message\":%q}\n", p.answers[told])
			}
			w.(http.Flusher).Flush()
			changed := p.changed
			p.mu.Unlock()
			select {
			case <-changed:
			case <-r.Context().Done():
			}
			p.mu.Lock()
		}
	}
}

// question waits for the n-th question, counted from 1.
func (p *phone) question(n int) map[string]any {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		if len(p.asked) >= n {
			defer p.mu.Unlock()
			return p.asked[n-1]
		}
		p.mu.Unlock()
	}
	p.t.Fatalf("the phone was not asked %d times", n)
	return nil
}

// press presses a button of the question.
func (p *phone) press(m map[string]any, label string) {
	p.t.Helper()
	for _, a := range m["actions"].([]any) {
		if a := a.(map[string]any); a["label"] == label {
			resp, err := http.Post(a["url"].(string), "text/plain", strings.NewReader(a["body"].(string)))
			if err != nil {
				p.t.Fatal(err)
			}
			resp.Body.Close()
			return
		}
	}
	p.t.Fatalf("no button %q in %v", label, m)
}

// away is a lab whose lid is closed over a session at work, with a phone.
func away(t *testing.T, wait int) (*lab, *phone) {
	p, l := newPhone(t), newLab(t)
	if err := os.MkdirAll(filepath.Dir(l.dirs.Settings()), 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"closed-lid-permission-request-decision":"phone","phone-url":%q,"phone-wait-seconds":%d}`, p.URL+phoneTopic, wait)
	if err := os.WriteFile(l.dirs.Settings(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l.laptop(daemon.FakeControl{Lid: "open"})
	l.hook("UserPromptSubmit", "a")
	l.laptop(daemon.FakeControl{Lid: "closed"})
	l.until("nobody is there", func() bool { return l.status().Away })
	return l, p
}

// prompt runs the hook of a permission prompt and passes on what it says.
func (l *lab) prompt(id string, change ...string) <-chan string {
	out := make(chan string, 1)
	go func() { // ends with the hook
		said, err := l.tryHook("PermissionRequest", id, change...)
		if err != nil {
			said += " error: " + err.Error()
		}
		out <- said
	}()
	return out
}

func TestPhone_answersForThePerson(t *testing.T) {
	l, p := away(t, 60)
	allowed := l.prompt("a")
	m := p.question(1)
	if got := fmt.Sprint(m["title"], "|", m["message"]); got != "claude asks in project|Bash\ntouch /home/dev/project/x0\ndescription: make x0" {
		t.Errorf("the phone shows %q", got)
	}
	if held := l.status(); !held.Protected {
		t.Error("the machine is not kept awake while the phone is asked")
	}
	p.press(m, "Allow")
	if out := <-allowed; !strings.Contains(out, `"behavior":"allow"`) {
		t.Errorf("said %q", out)
	}

	denied := l.prompt("a")
	m = p.question(2)
	p.press(p.question(1), "Allow") // the old link, once more
	p.press(m, "Deny")
	p.press(m, "Allow")
	if out := <-denied; !strings.Contains(out, `"behavior":"deny"`) || !strings.Contains(out, "asked on their phone and refused") {
		t.Errorf("said %q", out)
	}
	// Both are told to whoever comes back.
	var report []notify.Absence
	l.until("both answers are in the report", func() bool {
		report, _ = notify.Absences(l.dirs.AwayReport())
		return len(report) == 1 && len(report[0].Answered) == 2
	})
	if got := []string{report[0].Answered[0].Answer, report[0].Answered[1].Answer}; !slices.Equal(got, []string{"allow by phone", "deny by phone"}) {
		t.Errorf("the report has %q", got)
	}
	log, _ := os.ReadFile(l.dirs.Log())
	for _, secret := range []string{phoneTopic, strings.Fields(fmt.Sprint(m["actions"].([]any)[0].(map[string]any)["body"]))[1]} {
		if strings.Contains(string(log), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// Two sessions ask at once: each has its own answer.
func TestPhone_anotherSessionsAnswerIsNone(t *testing.T) {
	l, p := away(t, 60)
	l.hook("UserPromptSubmit", "b")
	first := l.prompt("a")
	one := p.question(1)
	second := l.prompt("b")
	two := p.question(2)
	p.press(two, "Allow")
	if out := <-second; !strings.Contains(out, `"behavior":"allow"`) {
		t.Errorf("the second says %q", out)
	}
	select {
	case out := <-first:
		t.Fatalf("the first took the other's answer: %q", out)
	case <-time.After(time.Second):
	}
	p.press(one, "Deny")
	if out := <-first; !strings.Contains(out, `"behavior":"deny"`) {
		t.Errorf("the first says %q", out)
	}
}

func TestPhone_noAnswerInTimeIsADenial(t *testing.T) {
	t.Parallel() // it waits for seconds
	l, p := away(t, 10)
	began := time.Now()
	out := <-l.prompt("a")
	if !strings.Contains(out, `"behavior":"deny"`) || !strings.Contains(out, "no answer came in time") {
		t.Errorf("said %q", out)
	}
	if took := time.Since(began); took < 9*time.Second || took > 50*time.Second {
		t.Errorf("after %s, want the ten seconds of the setting and not the sixty of others", took)
	}
	late := p.question(1)
	p.press(late, "Allow") // to nobody
	next := l.prompt("a")
	p.press(p.question(2), "Deny")
	if out := <-next; !strings.Contains(out, `"behavior":"deny"`) {
		t.Errorf("the late answer counted for the next question: %q", out)
	}
}

// What happens at the machine wins: the client's own prompt is the answer.
func TestPhone_theMachineWins(t *testing.T) {
	t.Run("the lid opens", func(t *testing.T) {
		l, p := away(t, 60)
		out := l.prompt("a")
		m := p.question(1)
		l.laptop(daemon.FakeControl{Lid: "open"})
		if said := <-out; said != "" {
			t.Errorf("said %q, want silence", said)
		}
		p.press(m, "Allow")
		l.until("the prompt waits for the person", func() bool { return l.status().Sessions[0].SoftLock != "" })
	})
	t.Run("the call was answered there", func(t *testing.T) {
		l, p := away(t, 60)
		l.hook("PreToolUse", "a")
		out := l.prompt("a")
		p.question(1)
		l.hook("PostToolUse", "a") // somebody said yes in a terminal from afar, and it ran
		if said := <-out; said != "" {
			t.Errorf("said %q, want silence", said)
		}
	})
	t.Run("another, parallel call is no answer", func(t *testing.T) {
		l, p := away(t, 60)
		l.hook("PreToolUse", "a")
		out := l.prompt("a")
		m := p.question(1)
		l.hook("PostToolUse", "a", "toolu_", "toolu_other_")
		select {
		case said := <-out:
			t.Fatalf("said %q", said)
		case <-time.After(time.Second):
		}
		p.press(m, "Allow")
		if said := <-out; !strings.Contains(said, `"behavior":"allow"`) {
			t.Errorf("said %q", said)
		}
	})
	t.Run("one of two calls of the tool is no answer", func(t *testing.T) {
		l, p := away(t, 60)
		l.hook("PreToolUse", "a")
		l.hook("PreToolUse", "a", "toolu_", "toolu_other_")
		out := l.prompt("a")
		m := p.question(1)
		l.hook("PostToolUse", "a", "toolu_", "toolu_other_")
		select {
		case said := <-out:
			t.Fatalf("said %q", said)
		case <-time.After(time.Second):
		}
		p.press(m, "Allow")
		if said := <-out; !strings.Contains(said, `"behavior":"allow"`) {
			t.Errorf("said %q", said)
		}
	})
	// A prompt of a session that is not at work, or that this runtime has never
	// heard of: what other sessions do is no sign that somebody answered it.
	t.Run("another session goes on", func(t *testing.T) {
		l, p := away(t, 60)
		l.hook("UserPromptSubmit", "rests")
		l.hook("Stop", "rests")
		for n, id := range []string{"rests", "unknown"} {
			out := l.prompt(id)
			m := p.question(n + 1)
			l.hook("PreToolUse", "a")
			select {
			case said := <-out:
				t.Fatalf("%s: said %q", id, said)
			case <-time.After(time.Second):
			}
			p.press(m, "Deny")
			if said := <-out; !strings.Contains(said, `"behavior":"deny"`) {
				t.Errorf("%s: said %q", id, said)
			}
		}
	})
	t.Run("the turn is over", func(t *testing.T) {
		l, p := away(t, 60)
		out := l.prompt("a")
		p.question(1)
		l.hook("Stop", "a")
		if said := <-out; said != "" {
			t.Errorf("said %q, want silence", said)
		}
	})
}

// Without a way to ask, the answer is the denial it always was, at once.
func TestPhone_thatCannotBeAsked(t *testing.T) {
	t.Parallel() // it waits for seconds
	l, p := away(t, 60)
	p.CloseClientConnections()
	p.Close()
	began := time.Now()
	out := <-l.prompt("a")
	if !strings.Contains(out, `"behavior":"deny"`) {
		t.Errorf("said %q", out)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	l.laptop(daemon.FakeControl{Lid: "open"})
	if out := l.hook("PermissionRequest", "a"); out != "" {
		t.Errorf("with somebody there it says %q", out)
	}
}

// A hook that its client ended takes its question along; a runtime that is killed is
// a denial; and what is too long to be shown has no button to allow it.
func TestPhone_endsOfTheHookAndTheRuntime(t *testing.T) {
	t.Parallel() // it waits for seconds
	l, p := away(t, 60)
	cmd := exec.Command(filepath.Join(bins, l.version, "lidguard-hook"), "claude-hook")
	cmd.Env, cmd.Stdin = l.environ(), strings.NewReader(l.payload("PermissionRequest", "a"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.question(1)
	cmd.Process.Kill()
	cmd.Wait()
	l.until("the question is taken back", func() bool {
		log, _ := os.ReadFile(l.dirs.Log())
		return strings.Contains(string(log), "phone question decided")
	})

	out := l.prompt("a", "touch /home", "touch "+strings.Repeat("x", 2000)+" /home")
	m := p.question(2)
	if len(m["actions"].([]any)) != 1 || !strings.Contains(fmt.Sprint(m["message"]), "can only be denied") {
		t.Errorf("a call that does not fit is shown as %v", m)
	}
	for _, pid := range l.runtimes() {
		proc, _ := os.FindProcess(pid)
		proc.Kill()
	}
	if said := <-out; !strings.Contains(said, `"behavior":"deny"`) {
		t.Errorf("said %q, want a denial", said)
	}
	if _, err := l.client().Call(t.Context(), &ipc.Request{Op: ipc.OpPhone}); err == nil {
		t.Error("a question without a question is answered")
	}
}
