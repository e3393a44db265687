package responses

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
)

func ask(t *testing.T, s *Server, input string, tools ...string) (int, string) {
	t.Helper()
	body := map[string]any{"input": []any{map[string]any{"type": "message", "content": input}}}
	var offered []any
	for _, name := range tools {
		offered = append(offered, map[string]any{"type": "function", "name": name})
	}
	body["tools"] = offered
	reply, err := http.Post(s.URL+"/responses", "application/json", strings.NewReader(string(modelserver.Compact(body))))
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

func TestServer_aCallRefusedForWantOfTimeIsMadeAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(t, listener, Script{Turns: []Turn{Say("first"), Say("second")}}, nil)
	const hurried = "lidguard's gate could not judge this call (it took longer than 80ms), so it is refused."
	for _, c := range []struct{ input, want string }{{hurried, "first"}, {hurried, "first"}, {"go", "second"}, {hurried, "second"}, {"go", "done"}} {
		if _, text := ask(t, s, c.input); !strings.Contains(text, c.want) {
			t.Errorf("%q is answered by %s, want %q", c.input, text, c.want)
		}
	}
	if got := s.Requests()[1].Lane; got != "again turns" {
		t.Errorf("the lane is %q", got)
	}
}

func TestServer_aTurnWaitsForWhatComesLate(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(t, listener, Script{Turns: []Turn{Say("first").Once("mcp__late", Shell("true")), Say("second")}}, nil)
	for _, c := range []struct{ input, want string }{{"go", "true"}, {"go", "true"}, {"mcp__late is here", "first"}, {"go", "second"}, {"go", "done"}} {
		if _, text := ask(t, s, c.input, "shell"); !strings.Contains(text, c.want) {
			t.Errorf("%q is answered by %s, want %q", c.input, text, c.want)
		}
	}
	if got := s.Requests(); len(got) != 3 || !strings.Contains(got[0].Text, "is here") {
		t.Errorf("listed: %+v, want no request that came too early", got)
	}
}

func TestServer_turns(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(t, listener, Script{
		Routes: []Route{{Contains: "SUBTASK", Turns: []Turn{Say("sub answer")}}},
		Turns: []Turn{
			{Say: "Looking.", Shell: "ls ${PROJECT}"},
			Escalated("touch x", "must"),
			{Patch: "*** Begin Patch"},
			Ask("colour", "Which?", "Red", "Blue"),
			{All: []Turn{{Call: "echo", Namespace: "mcp__lab", Args: map[string]any{"id": "{{re:agent (\\w+)}}"}}, Shell("two")}},
			Fail(500, "broken"),
			{HangMS: 1},
			{Text: "big", Tokens: 1000},
		},
	}, map[string]string{"PROJECT": "/p"})
	for _, c := range []struct {
		name, input string
		tools       []string
		status      int
		want        []string
	}{
		{"a route is taken by text", "the SUBTASK", nil, 200, []string{"sub answer", "response.completed"}},
		{"a message may come before a call", "go", []string{"exec_command"}, 200, []string{"Looking.", `"name":"exec_command"`, `{\"cmd\":\"ls /p\"}`}},
		{"the shell tool offered is used", "go", []string{"shell_command"}, 200, []string{`"name":"shell_command"`, "require_escalated", `\"command\":\"touch x\"`}},
		{"a patch is free text", "go", nil, 200, []string{`"custom_tool_call"`, `"input":"*** Begin Patch"`}},
		{"a question", "go", nil, 200, []string{"request_user_input", `\"label\":\"Blue\"`}},
		{"several items, with ids from the talk", "agent one and agent two", []string{"shell"}, 200,
			[]string{`"namespace":"mcp__lab"`, `{\"id\":\"two\"}`, `[\"bash\",\"-lc\",\"two\"]`, `"output_index":1`}},
		{"an error", "go", nil, 500, []string{"broken"}},
		{"a hanging stream says nothing", "go", nil, 200, []string{"response.created", ": waiting"}},
		{"tokens", "go", nil, 200, []string{`"total_tokens":1000`}},
		{"a used up list", "go", nil, 200, []string{`"text":"done"`}},
	} {
		status, text := ask(t, s, c.input, c.tools...)
		for _, want := range c.want {
			if status != c.status || !strings.Contains(text, want) {
				t.Errorf("%s: %d, want %d and %s in\n%s", c.name, status, c.status, want, text)
			}
		}
	}
	if got := s.Requests()[1]; got.Lane != "turns" || got.Text != "go\nmessage" {
		t.Errorf("the journal has %+v", got)
	}
}
