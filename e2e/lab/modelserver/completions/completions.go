// Package completions is a scripted stand-in for the chat-completions API that
// Copilot CLI and OpenCode use with a provider of one's own. In comes the
// client's request, out goes the first turn that fits it, as a stream of chunks.
// It never judges a request beyond that.
package completions

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
)

// Script is what the model says: the turns in order, each once. A request that
// offers no tools, such as the one for a session's title, is answered aside and
// uses up no turn.
type Script struct {
	Turns []Turn `json:"turns,omitempty"`
	// After answers when no turn is left; default the text "done".
	After *Turn `json:"after,omitempty"`
}

// Turn is one answer of the model: text, calls, or both; or an error.
type Turn struct {
	// Match is a regular expression for the newest message of the person or of
	// a tool; a turn is kept for the first request that fits. Empty fits all.
	Match string `json:"match,omitempty"`

	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`

	Status  int    `json:"status,omitempty"` // an HTTP error
	Error   string `json:"error,omitempty"`  // its message
	DelayMS int    `json:"delay_ms,omitempty"`
	ChunkMS int    `json:"chunk_ms,omitempty"` // between words
	Repeat  int    `json:"repeat,omitempty"`   // how often the turn may be used; default once

	gate      *modelserver.Gate
	once      string
	meanwhile *Turn
}

// Call is one tool call.
type Call struct {
	Name string         `json:"name"`
	Args map[string]any `json:"args,omitempty"`
}

// Say is a turn of plain text; it ends the agent's turn.
func Say(text string) Turn { return Turn{Text: text} }

// Tool is one tool call, for [Use].
func Tool(name string, args map[string]any) Call { return Call{Name: name, Args: args} }

// Use is a turn that makes tool calls.
func Use(calls ...Call) Turn { return Turn{Calls: calls} }

// Bash is a turn that runs one command.
func Bash(command string) Turn {
	return Use(Tool("bash", map[string]any{"command": command, "description": "scripted"}))
}

// Fail is a turn that answers with an HTTP error, however often it is asked.
func Fail(status int, message string) Turn {
	return Turn{Status: status, Error: message, Repeat: 1 << 20}
}

// After returns the turn held back by a gate.
func (t Turn) After(gate *modelserver.Gate) Turn { t.gate = gate; return t }

// Once returns the turn kept until a request holds the text, such as the name of an
// MCP server, which the clients do not wait for. Requests before it are not listed
// and are answered by meanwhile, a call of a tool, so that there is another.
func (t Turn) Once(text string, meanwhile Turn) Turn {
	meanwhile.DelayMS = modelserver.GlanceMS
	t.once, t.meanwhile = text, &meanwhile
	return t
}

// On returns the turn kept for a request whose newest message fits.
func (t Turn) On(match string) Turn { t.Match = match; return t }

// Server plays a script; its journal has what came in.
type Server struct {
	modelserver.Journal
	URL string // with the /v1 that clients want in their base URL

	script Script
	vars   map[string]string

	mu   sync.Mutex
	used []int // of the script's turns
	last int   // number of the turn that was said last, 0 without
}

// Serve starts a server on the listener; it stops with the test. vars fill the
// placeholders ${NAME} of the script.
func Serve(t testing.TB, listener net.Listener, script Script, vars map[string]string) *Server {
	t.Helper()
	for _, turn := range script.Turns {
		if _, err := regexp.Compile(turn.Match); err != nil {
			t.Fatalf("a turn's match: %v", err)
		}
	}
	s := &Server{script: script, vars: vars, used: make([]int, len(script.Turns))}
	s.URL = modelserver.Serve(t, listener, s) + "/v1"
	return s
}

// request is what the server reads of a request; the rest is in the journal.
type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	Messages []message         `json:"messages"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// text is what a message says, whether as one text or in parts.
func (m message) text() string {
	var whole string
	if json.Unmarshal(m.Content, &whole) == nil {
		return whole
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var all []string
	for _, part := range parts {
		all = append(all, part.Text)
	}
	return strings.Join(all, "\n")
}

// talk is the conversation without the system's part, and its newest message of
// the person or of a tool.
func (r request) talk() (all, newest string) {
	var texts []string
	for _, m := range r.Messages {
		if m.Role == "system" || m.Role == "developer" {
			continue
		}
		text := m.text()
		texts = append(texts, text)
		if m.Role == "user" || m.Role == "tool" {
			newest = text
		}
	}
	return strings.Join(texts, "\n"), newest
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	path := strings.TrimRight(r.URL.Path, "/")
	if r.Method == http.MethodGet && strings.HasSuffix(path, "/models") {
		modelserver.JSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
			map[string]any{"id": Model, "object": "model", "owned_by": "lab"}}})
		return
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(path, "/chat/completions") {
		s.Note("%s %s is not served", r.Method, r.URL.Path)
		fail(w, http.StatusNotFound, "not served here")
		return
	}
	var asked request
	if err := json.Unmarshal(body, &asked); err != nil {
		s.Note("a request that does not parse: %v", err)
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if len(asked.Tools) == 0 {
		answer(w, r, asked, 0, Say("Lab session"))
		return
	}
	talk, newest := asked.talk()
	lane, turn := s.choose(body, newest)
	turn = s.fill(turn, talk)
	n := s.Add(modelserver.Request{Lane: lane, Turn: string(modelserver.Compact(turn)), Body: body, Text: talk})

	turn.gate.Wait(r.Context())
	modelserver.Pause(r.Context(), turn.DelayMS)
	if r.Context().Err() != nil {
		s.Note("the client gave up request %d", n)
		return
	}
	if turn.Status != 0 {
		fail(w, turn.Status, turn.Error)
		return
	}
	answer(w, r, asked, n, turn)
}

// Model is the name of the one model that is offered.
const Model = "lab-model"

func fail(w http.ResponseWriter, status int, message string) {
	modelserver.JSON(w, status, map[string]any{"error": map[string]string{"message": message, "type": "lab_error", "code": "lab_error"}})
}

// choose takes the first turn that is left and fits.
func (s *Server) choose(body []byte, newest string) (string, Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last > 0 && modelserver.Hurried(newest) {
		return fmt.Sprintf("%sturn %d", modelserver.Again, s.last), s.script.Turns[s.last-1]
	}
	for i, turn := range s.script.Turns {
		if s.used[i] >= max(turn.Repeat, 1) {
			continue
		}
		if turn.Match != "" && !regexp.MustCompile("(?s)"+turn.Match).MatchString(newest) {
			continue
		}
		if s.Early(body, turn.once) {
			return modelserver.Meanwhile, *turn.meanwhile
		}
		s.used[i]++
		s.last = i + 1
		return fmt.Sprintf("turn %d", i+1), turn
	}
	if s.script.After != nil {
		return "used up", *s.script.After
	}
	return "used up", Say("done")
}

// fill replaces the placeholders of a turn.
func (s *Server) fill(turn Turn, talk string) Turn {
	turn.Text = modelserver.Expand(turn.Text, talk, s.vars).(string)
	calls := make([]Call, len(turn.Calls))
	for i, call := range turn.Calls {
		calls[i] = call
		if call.Args != nil {
			calls[i].Args = modelserver.Expand(call.Args, talk, s.vars).(map[string]any)
		}
	}
	turn.Calls = calls
	return turn
}

var words = regexp.MustCompile(`\S+\s*|\s+`)

// answer says a turn, streamed if the client asked for that.
func answer(w http.ResponseWriter, r *http.Request, asked request, n int, turn Turn) {
	id := fmt.Sprintf("chatcmpl-lab-%03d", n)
	usage := map[string]int{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
	var calls []map[string]any
	for i, call := range turn.Calls {
		args := call.Args
		if args == nil {
			args = map[string]any{}
		}
		calls = append(calls, map[string]any{"id": fmt.Sprintf("call_lab_%03d_%d", n, i), "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": string(modelserver.Compact(args))}})
	}
	finish := "stop"
	if len(calls) > 0 {
		finish = "tool_calls"
	}
	if !asked.Stream {
		said := map[string]any{"role": "assistant", "content": turn.Text}
		if len(calls) > 0 {
			said["tool_calls"] = calls
		}
		modelserver.JSON(w, http.StatusOK, map[string]any{"id": id, "object": "chat.completion", "created": 0, "model": asked.Model, "usage": usage,
			"choices": []any{map[string]any{"index": 0, "message": said, "finish_reason": finish}}})
		return
	}
	events := modelserver.OpenEvents(w)
	chunk := func(delta map[string]any, finish any) {
		events.Data(modelserver.Compact(map[string]any{"id": id, "object": "chat.completion.chunk", "created": 0, "model": asked.Model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}))
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, word := range words.FindAllString(turn.Text, -1) {
		chunk(map[string]any{"content": word}, nil)
		if modelserver.Pause(r.Context(), turn.ChunkMS); r.Context().Err() != nil {
			return
		}
	}
	for i, call := range calls {
		call["index"] = i
		chunk(map[string]any{"tool_calls": []any{call}}, nil)
	}
	chunk(map[string]any{}, finish)
	events.Data(modelserver.Compact(map[string]any{"id": id, "object": "chat.completion.chunk", "created": 0, "model": asked.Model,
		"choices": []any{}, "usage": usage}))
	events.Data([]byte("[DONE]"))
}
