package completions

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
)

func post(t *testing.T, s *Server, path string, body map[string]any) (int, string) {
	t.Helper()
	reply, err := http.Post(s.URL+path, "application/json", strings.NewReader(string(modelserver.Compact(body))))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

func serve(t *testing.T, script Script) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return Serve(t, listener, script, map[string]string{"PROJECT": "/p"})
}

// asks is a request whose newest message is the text.
func asks(text any) map[string]any {
	return map[string]any{"model": "m", "stream": true, "tools": []any{map[string]any{"type": "function"}}, "messages": []any{
		map[string]any{"role": "system", "content": "SUBTASK is no word for the model"},
		map[string]any{"role": "user", "content": text},
		map[string]any{"role": "assistant", "content": "agent a1 started"}}}
}

func TestServer_aCallRefusedForWantOfTimeIsMadeAgain(t *testing.T) {
	s := serve(t, Script{Turns: []Turn{Say("first"), Say("second")}})
	const hurried = "lidguard's gate could not judge this call (it took longer than 80ms), so it is refused."
	for _, c := range []struct{ text, want string }{{hurried, "first"}, {hurried, "first"}, {"go", "second"}, {hurried, "second"}, {"go", "done"}} {
		if _, text := post(t, s, "/chat/completions", asks(c.text)); !strings.Contains(text, c.want) {
			t.Errorf("%q is answered by %s, want %q", c.text, text, c.want)
		}
	}
	if got := s.Requests()[1].Lane; got != "again turn 1" {
		t.Errorf("the lane is %q", got)
	}
}

func TestServer_aTurnWaitsForWhatComesLate(t *testing.T) {
	s := serve(t, Script{Turns: []Turn{Say("first").Once("mcp__late", Bash("true")), Say("second")}})
	for _, c := range []struct{ text, want string }{{"go", "true"}, {"go", "true"}, {"mcp__late is here", "first"}, {"go", "second"}, {"go", "done"}} {
		if _, text := post(t, s, "/chat/completions", asks(c.text)); !strings.Contains(text, c.want) {
			t.Errorf("%q is answered by %s, want %q", c.text, text, c.want)
		}
	}
	if got := s.Requests(); len(got) != 3 || !strings.Contains(got[0].Text, "is here") {
		t.Errorf("listed: %+v, want no request that came too early", got)
	}
}

func TestServer_turns(t *testing.T) {
	s := serve(t, Script{Turns: []Turn{
		Say("for the subagent").On("SUBTASK"),
		{Text: "two words", Calls: []Call{Tool("bash", map[string]any{"command": "ls ${PROJECT} {{re:agent (\\w+)}}"}), Tool("view", nil)}},
		{Status: 500, Error: "broken", Repeat: 2},
	}})
	parts := []any{map[string]any{"type": "text", "text": "the SUBTASK"}}
	for _, c := range []struct {
		name   string
		ask    map[string]any
		status int
		want   []string
	}{
		{"a turn for another request is passed over", asks("go"), 200, []string{`"content":"two "`, `"content":"words"`, `"name":"bash"`, `{\"command\":\"ls /p a1\"}`, `"index":1`, `"finish_reason":"tool_calls"`, "data: [DONE]"}},
		{"it is kept for the one that fits", asks(parts), 200, []string{"subagent", `"finish_reason":"stop"`}},
		{"an error", asks("go"), 500, []string{"broken"}},
		{"may come again", asks("go"), 500, []string{"broken"}},
		{"what is used up says done", asks("go"), 200, []string{`"content":"done"`}},
		{"no tools, no turn", map[string]any{"messages": []any{}}, 200, []string{"Lab session", `"object":"chat.completion"`}},
		{"no text", map[string]any{"messages": "x"}, 400, []string{"cannot unmarshal"}},
	} {
		status, text := post(t, s, "/chat/completions", c.ask)
		if status != c.status {
			t.Errorf("%s: status %d, want %d", c.name, status, c.status)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
	}
	if got := len(s.Requests()); got != 5 {
		t.Errorf("%d requests in the journal, want those five that used up turns", got)
	}
	if s.Saw("no word for the model") || !s.Saw("the SUBTASK") {
		t.Error("the journal's text is not what persons and tools said")
	}
	if status, _ := post(t, s, "/responses", nil); status != 404 || len(s.Notes()) != 2 {
		t.Errorf("another path: status %d, notes %q", status, s.Notes())
	}
}

func TestServer_aGateHoldsTheAnswerBack(t *testing.T) {
	gate := modelserver.NewGate()
	s := serve(t, Script{Turns: []Turn{Say("late").After(gate)}})
	answered := make(chan string)
	go func() { // ends with the answer
		_, text := post(t, s, "/chat/completions", asks("go"))
		answered <- text
	}()
	s.WaitRequests(t, 1)
	select {
	case text := <-answered:
		t.Errorf("answered before the gate was open: %s", text)
	default:
	}
	gate.Open()
	if text := <-answered; !strings.Contains(text, "late") {
		t.Errorf("answered %s", text)
	}
}
