package messages

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
)

func serve(t *testing.T, script Script) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return Serve(t, listener, script, map[string]string{"PROJECT": "/p"})
}

// ask sends one request; the system prompt decides the lane.
func ask(t *testing.T, s *Server, stream bool, system, prompt string, tools ...string) (int, string) {
	t.Helper()
	body := map[string]any{"model": "lab", "stream": stream, "system": system,
		"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": prompt}}}}}
	var offered []any
	for _, name := range tools {
		offered = append(offered, map[string]any{"name": name})
	}
	body["tools"] = offered
	reply, err := http.Post(s.URL+"/v1/messages?beta=true", "application/json", strings.NewReader(string(modelserver.Compact(body))))
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
	s := serve(t, Script{Turns: []Turn{Say("first"), Say("second")}})
	const hurried = "lidguard's gate could not judge this call (it took longer than 80ms), so it is refused."
	for _, c := range []struct{ prompt, want string }{{hurried, "first"}, {hurried, "first"}, {"go", "second"}, {hurried, "second"}, {"go", "All done."}} {
		if _, text := ask(t, s, false, "", c.prompt, "Bash"); !strings.Contains(text, c.want) {
			t.Errorf("%q is answered by %s, want %q", c.prompt, text, c.want)
		}
	}
	if got := s.Requests()[1].Lane; got != "again turns" {
		t.Errorf("the lane is %q", got)
	}
}

func TestServer_aTurnWaitsForWhatComesLate(t *testing.T) {
	s := serve(t, Script{Turns: []Turn{Say("first").Once("mcp__late", Bash("true")), Say("second")}})
	for _, c := range []struct{ prompt, want string }{{"go", "true"}, {"go", "true"}, {"mcp__late is here", "first"}, {"go", "second"}, {"go", "All done."}} {
		if _, text := ask(t, s, false, "", c.prompt, "Bash"); !strings.Contains(text, c.want) {
			t.Errorf("%q is answered by %s, want %q", c.prompt, text, c.want)
		}
	}
	if got := s.Requests(); len(got) != 3 || !strings.Contains(got[0].Text, "is here") {
		t.Errorf("listed: %+v, want no request that came too early", got)
	}
}

func TestServer_lanes(t *testing.T) {
	s := serve(t, Script{
		Lanes: []Lane{{Name: "sub", Match: "SUBTASK", Turns: []Turn{Say("from the subagent")}}},
		Turns: []Turn{Say("first"), Say("second"), Fail(529, "overloaded_error", "busy")},
		Side:  &Turn{Text: "a title"},
	})
	for _, c := range []struct {
		system, prompt string
		tools          []string
		status         int
		want           string
	}{
		{"", "SUBTASK please", []string{"Bash"}, 200, "from the subagent"},
		{"", "hello", []string{"Bash"}, 200, "first"},
		{"", "hello", nil, 200, "a title"},
		{"SUBTASK", "hello", []string{"Bash"}, 200, "All done."},
		{"", "hello", []string{"Bash"}, 200, "second"},
		{"", "hello", []string{"Bash"}, 529, "overloaded_error"},
	} {
		status, text := ask(t, s, false, c.system, c.prompt, c.tools...)
		if status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%q, %q: %d %s, want %d and %q", c.system, c.prompt, status, text, c.status, c.want)
		}
	}
	if got := len(s.Requests()); got != 6 {
		t.Errorf("%d requests in the journal, want 6", got)
	}
	if !s.Saw("SUBTASK.please") || s.Saw("nothing of the kind") {
		t.Error("Saw is wrong about what the model was told")
	}
}

func TestServer_streams(t *testing.T) {
	s := serve(t, Script{Turns: []Turn{
		{Blocks: []Block{{Type: "text", Text: "see"}, Tool("Write", map[string]any{"file_path": "${PROJECT}/<a>"})}},
		{Text: strings.Repeat("ü", 50), ChunkMS: 1, Expect: "absent"},
	}})
	_, text := ask(t, s, true, "", "hello", "Write")
	var names []string
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "event: "); ok {
			names = append(names, name)
		}
	}
	want := "message_start content_block_start content_block_delta content_block_stop content_block_start content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("events\n got %s\nwant %s", got, want)
	}
	if !strings.Contains(text, `"partial_json":"{\"file_path\":\"/p/<a>\"}"`) || !strings.Contains(text, `"stop_reason":"tool_use"`) {
		t.Errorf("the tool call is not in\n%s", text)
	}
	_, text = ask(t, s, true, "", "hello", "Write")
	if got := strings.Count(text, "text_delta"); got != 3 {
		t.Errorf("50 characters came in %d pieces, want 3", got)
	}
	if notes := s.Notes(); len(notes) != 1 || !strings.Contains(notes[0], `expected "absent"`) {
		t.Errorf("notes: %q, want the miss", notes)
	}
}

func TestServer_holdsBackAtAGate(t *testing.T) {
	gate := modelserver.NewGate()
	s := serve(t, Script{Turns: []Turn{Say("late").After(gate)}})
	answered := make(chan string)
	go func() {
		_, text := ask(t, s, false, "", "hello", "Bash")
		answered <- text
	}()
	s.WaitRequests(t, 1)
	select {
	case text := <-answered:
		t.Errorf("answered before the gate was opened: %s", text)
	default:
	}
	gate.Open()
	if text := <-answered; !strings.Contains(text, "late") {
		t.Error(text)
	}
}

func TestServer_otherRoutes(t *testing.T) {
	s := serve(t, Script{})
	reply, err := http.Post(s.URL+"/v1/messages/count_tokens", "application/json", strings.NewReader(`{"messages": []}`))
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var count map[string]int
	if err := json.NewDecoder(reply.Body).Decode(&count); err != nil || count["input_tokens"] < 1 {
		t.Errorf("count_tokens: %v, %v", count, err)
	}
	reply, err = http.Get(s.URL + "/api/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	if reply.StatusCode != 404 || len(s.Notes()) != 1 {
		t.Errorf("an unknown route: %d, notes %q", reply.StatusCode, s.Notes())
	}
}

func TestReadScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.json")
	text := `{"lanes": [{"name": "main", "turns": [
		{"blocks": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}], "delay_ms": 5}, {"text": "Finished."}]}]}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	script := modelserver.ReadScript[Script](t, path)
	if turns := script.Lanes[0].Turns; len(turns) != 2 || turns[0].Blocks[0].Name != "Bash" || turns[0].DelayMS != 5 {
		t.Errorf("got %+v", script)
	}
}
