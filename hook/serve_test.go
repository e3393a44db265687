package hook_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/lidguard-go/lidguard/hook"
)

// line is one answer of a resident hook.
type line struct {
	ID      json.RawMessage
	Verdict *hook.Verdict
	Error   string
}

// serve hands a resident hook its whole input and returns its answers by id.
func serve(t *testing.T, body hook.Body, requests string, opts ...hook.Option) (byID map[string]line, order []string) {
	t.Helper()
	var out bytes.Buffer
	opts = append([]hook.Option{hook.Deadline(20 * time.Second)}, opts...)
	if err := hook.ServeOn(t.Context(), strings.NewReader(requests), &out, body, opts...); err != nil {
		t.Fatal(err)
	}
	byID = map[string]line{}
	for text := range strings.Lines(out.String()) {
		var l line
		dec := json.NewDecoder(strings.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil || !strings.HasSuffix(text, "}\n") {
			t.Fatalf("answer %q: %v", text, err)
		}
		if (l.Verdict == nil) == (l.Error == "") {
			t.Errorf("answer %q has not either a verdict or an error", text)
		}
		id := string(l.ID)
		if _, twice := byID[id]; twice && id != "null" {
			t.Errorf("%s is answered twice", id)
		}
		byID[id] = l
		order = append(order, id)
	}
	return byID, order
}

func request(id int, provider, native, payload, more string) string {
	return fmt.Sprintf(`{"id":%d,"provider":%q,"native":%q,"event":%s%s}`+"\n", id, provider, native, payload, more)
}

func noPush(_ context.Context, ev hook.Event) hook.Verdict {
	if cmd, ok := ev.Bash(); ok && strings.Contains(cmd.Text, "git push") {
		return hook.Deny("no pushing").ByRule("no-push")
	}
	return hook.None()
}

func TestServe_answersEveryClientsEvents(t *testing.T) {
	got, order := serve(t, noPush,
		request(1, "claude", "PreToolUse", claudeCall, "")+
			request(2, "codex", "PreToolUse", codexCall, `,"deadline_ms":60000,"unknown":[1]`)+
			request(3, "copilot", "preToolUse", copilotCall, "")+
			request(4, "opencode", "tool.execute.before", openCodeCall, "")+
			request(5, "claude", "Stop", `{"session_id":"s","hook_event_name":"Stop"}`, "")+
			`{"id":"a text","event":`+claudeCall+"}") // no provider, no line end
	if len(order) != 6 {
		t.Fatalf("%d answers: %v", len(order), order)
	}
	for _, id := range []string{"1", "2", "3", "4", `"a text"`} {
		if v := got[id].Verdict; v == nil || v.Decision != hook.Denied || v.Reason != "no pushing" || v.Rule != "no-push" {
			t.Errorf("%s: %+v", id, got[id])
		}
	}
	if v := got["5"].Verdict; v == nil || v.Decision != hook.Undecided {
		t.Errorf("5: %+v", got["5"])
	}
}

func TestServe_goesOnAfterABadLine(t *testing.T) {
	got, order := serve(t, noPush,
		"hello\n"+
			"\n"+ // nothing is nothing
			`{"id":1}`+"\n"+
			`{"id":5,"provider":"opencode","native":"chat.headers","event":null}`+"\n"+
			`{"event":{}}`+"\n"+
			`{"id":2,"provider":"cursor","event":{}}`+"\n"+
			`{"id":3,"provider":"claude","event":`+strings.Repeat(" ", hook.MaxPayload)+"{}}\n"+
			request(4, "claude", "PreToolUse", claudeCall, ""))
	if len(order) != 7 {
		t.Fatalf("%d answers: %v", len(order), order)
	}
	for _, id := range []string{"1", "2", "5", "null"} {
		if got[id].Error == "" {
			t.Errorf("%s has no error: %+v", id, got[id])
		}
	}
	if v := got["4"].Verdict; v == nil || v.Decision != hook.Denied {
		t.Errorf("the good request: %+v", got["4"])
	}
}

func TestServe_failsAsItsRoleSays(t *testing.T) {
	boom := func(context.Context, hook.Event) hook.Verdict { panic("boom") }
	requests := request(1, "claude", "PreToolUse", claudeCall, "") +
		request(2, "claude", "PreToolUse", `{"hook_event_name":"PreToolUse"}`, "") +
		request(3, "claude", "", `[]`, "") +
		request(4, "claude", "Stop", `{"session_id":"s","hook_event_name":"Stop"}`, "")
	for role, want := range map[hook.Role]string{hook.Gate: "deny deny deny ", hook.Helper: "   ", hook.Observer: "   "} {
		got, _ := serve(t, boom, requests, role)
		said := ""
		for _, id := range []string{"1", "2", "3", "4"} {
			if got[id].Verdict == nil {
				t.Fatalf("%s: %s: %+v", role, id, got[id])
			}
			said += string(got[id].Verdict.Decision)
			if id != "4" {
				said += " "
			}
			if got[id].Verdict.Decision == hook.Denied && !strings.Contains(got[id].Verdict.Reason, "could not judge") {
				t.Errorf("%s: reason %q", id, got[id].Verdict.Reason)
			}
		}
		if said != want {
			t.Errorf("%s: got %q, want %q", role, said, want)
		}
	}
	if got, _ := serve(t, noPush, request(1, "claude", "", claudeCall, ""), hook.Observer); got["1"].Verdict.Decision != hook.Undecided {
		t.Errorf("an observer said %+v", got["1"].Verdict)
	}
}

func TestServe_continuesOnlyWhereItIsDue(t *testing.T) {
	body := func(context.Context, hook.Event) hook.Verdict { return hook.Continue("go on") }
	got, _ := serve(t, body, request(1, "claude", "", `{"session_id":"s","hook_event_name":"Stop"}`, "")+
		request(2, "claude", "", `{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true}`, "")+
		request(3, "claude", "", claudeCall, ""))
	for id, want := range map[string]hook.Decision{"1": hook.Denied, "2": hook.Undecided, "3": hook.Undecided} {
		if got[id].Verdict.Decision != want {
			t.Errorf("%s: %+v, want %q", id, got[id].Verdict, want)
		}
	}
}

// conversation is a resident hook that one talks to line by line.
type conversation struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Scanner
	ended  chan error
	cancel context.CancelFunc
}

func converse(t *testing.T, body hook.Body, opts ...hook.Option) *conversation {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &conversation{t, inW, bufio.NewScanner(outR), make(chan error, 1), cancel}
	go func() { c.ended <- hook.ServeOn(ctx, inR, outW, body, opts...) }()
	t.Cleanup(func() { inW.Close(); cancel() })
	return c
}

func (c *conversation) ask(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *conversation) answer() line {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("no answer: %v", c.out.Err())
	}
	var l line
	if err := json.Unmarshal(c.out.Bytes(), &l); err != nil {
		c.t.Fatal(err)
	}
	return l
}

func TestServe_cancelsABodyAtTheRequestsDeadline(t *testing.T) {
	cancelled := make(chan struct{})
	c := converse(t, func(ctx context.Context, ev hook.Event) hook.Verdict {
		if ev.Name == hook.Stop {
			return hook.None()
		}
		<-ctx.Done()
		close(cancelled)
		return hook.None()
	}, hook.Helper)
	c.ask(request(1, "claude", "", claudeCall, `,"deadline_ms":5`))
	if got := c.answer(); got.Verdict == nil || string(got.ID) != "1" {
		t.Errorf("got %+v", got)
	}
	<-cancelled
	c.ask(request(2, "claude", "", `{"session_id":"s","hook_event_name":"Stop"}`, ""))
	if got := c.answer(); string(got.ID) != "2" {
		t.Errorf("got %+v", got)
	}
	c.in.Close()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

func TestServe_aSlowBodyHoldsUpNobody(t *testing.T) {
	release := make(chan struct{})
	c := converse(t, func(_ context.Context, ev hook.Event) hook.Verdict {
		if ev.Name == hook.PreToolUse {
			<-release
			return hook.Deny("late")
		}
		return hook.None()
	}, hook.Deadline(time.Minute))
	c.ask(request(1, "claude", "", claudeCall, ""))
	c.ask(request(2, "claude", "", `{"session_id":"s","hook_event_name":"Stop"}`, ""))
	if got := c.answer(); string(got.ID) != "2" {
		t.Errorf("first came %s", got.ID)
	}
	close(release)
	if got := c.answer(); string(got.ID) != "1" || got.Verdict.Reason != "late" {
		t.Errorf("then came %+v", got)
	}
}

func TestServe_runsNoMoreThanMaxBodies(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	var mu sync.Mutex
	running, most := 0, 0
	c := converse(t, func(context.Context, hook.Event) hook.Verdict {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		<-stuck // whatever its context says
		return hook.None()
	})
	go func() { // answers come while requests go out
		for i := range 2 * hook.MaxBodies {
			if _, err := io.WriteString(c.in, request(i, "claude", "", claudeCall, `,"deadline_ms":20`)); err != nil {
				return
			}
		}
	}()
	for range 2 * hook.MaxBodies {
		if got := c.answer(); got.Verdict == nil || got.Verdict.Decision != hook.Denied {
			t.Errorf("got %+v, want a refusal", got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if most > hook.MaxBodies {
		t.Errorf("%d bodies ran at once", most)
	}
}

type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("nobody listens") }

func TestServe_endsWithItsStreamsOrItsContext(t *testing.T) {
	if err := hook.ServeOn(t.Context(), strings.NewReader(request(1, "claude", "", claudeCall, "")), deaf{}, noPush); err == nil || !strings.Contains(err.Error(), "nobody listens") {
		t.Errorf("deaf: %v", err)
	}
	if err := hook.ServeOn(t.Context(), iotest.ErrReader(errors.New("broken")), io.Discard, noPush); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("broken: %v", err)
	}
	c := converse(t, noPush)
	c.cancel()
	if err := <-c.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRun_servesWithResident(t *testing.T) {
	got := run(noPush, request(7, "claude", "", claudeCall, ""), []string{"--resident"})
	if got.code != 0 || !strings.HasPrefix(got.stdout, `{"id":7,"verdict":{"decision":"deny"`) {
		t.Errorf("got %+v", got)
	}
}

func FuzzServe(f *testing.F) {
	f.Add(request(1, "claude", "PreToolUse", claudeCall, ""))
	f.Add("{\"id\":1,\n\r\n{}\x00")
	f.Add(`{"id":1e999,"provider":"codex","event":{},"deadline_ms":-1}`)
	f.Fuzz(func(t *testing.T, requests string) {
		var out bytes.Buffer
		if err := hook.ServeOn(t.Context(), strings.NewReader(requests), &out, noPush); err != nil {
			t.Fatal(err)
		}
		asked := 0
		for text := range strings.Lines(requests) {
			if strings.TrimRight(text, "\r\n") != "" {
				asked++
			}
		}
		answers := 0
		for text := range strings.Lines(out.String()) {
			answers++
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil || (l.Verdict == nil) == (l.Error == "") {
				t.Fatalf("%q was answered by %q: %v", requests, text, err)
			}
		}
		if answers != asked {
			t.Fatalf("%d answers to the %d requests in %q", answers, asked, requests)
		}
	})
}
