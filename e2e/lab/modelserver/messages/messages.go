// Package messages is a scripted stand-in for the Messages API as Claude Code
// uses it: streamed and plain answers, token counts, errors. In comes the
// client's request, out goes the next turn of the lane that fits it. It never
// judges a request beyond that.
package messages

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
)

// Script is what the model says. The first lane that fits a request plays its
// next turn; a request that offers no tools (a title, a summary) is a side
// request and uses up no turn of any lane.
type Script struct {
	// Lanes are tried in order.
	Lanes []Lane `json:"lanes,omitempty"`
	// Turns is short for a last lane that fits everything.
	Turns []Turn `json:"turns,omitempty"`
	// Side answers side requests; default the text "ok".
	Side *Turn `json:"side,omitempty"`
	// Default answers when a lane has run dry; default the text "All done.".
	Default *Turn `json:"default,omitempty"`
}

// Lane is one line of conversation, such as that of a subagent.
type Lane struct {
	Name string `json:"name,omitempty"`
	// Match is a regular expression for the first user message and the system
	// prompt; empty fits everything.
	Match string `json:"match,omitempty"`
	Turns []Turn `json:"turns"`
}

// Turn is one answer of the model.
type Turn struct {
	Text       string         `json:"text,omitempty"`
	Blocks     []Block        `json:"blocks,omitempty"` // instead of Text
	Error      *Error         `json:"error,omitempty"`  // instead of both
	DelayMS    int            `json:"delay_ms,omitempty"`
	ChunkMS    int            `json:"chunk_ms,omitempty"` // between pieces of text
	StopReason string         `json:"stop_reason,omitempty"`
	Usage      map[string]int `json:"usage,omitempty"`
	// Expect is a regular expression for the newest message; one that does not
	// fit is noted in the journal.
	Expect string `json:"expect,omitempty"`

	gate      *modelserver.Gate
	once      string
	meanwhile *Turn
}

// Block is a part of an answer: text, or a tool call.
type Block struct {
	Type  string         `json:"type"` // text or tool_use
	Text  string         `json:"text,omitempty"`
	ID    string         `json:"id,omitempty"`
	Name  string         `json:"name,omitempty"`
	Input map[string]any `json:"input,omitempty"`
}

// Error is an answer with a status other than 200.
type Error struct {
	Status  int               `json:"status"`
	Type    string            `json:"type"`
	Message string            `json:"message"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Say is a turn of plain text; it ends the agent's work.
func Say(text string) Turn { return Turn{Text: text} }

// Use is a turn of tool calls, all in one answer.
func Use(calls ...Block) Turn { return Turn{Blocks: calls} }

// Tool is a call of a tool.
func Tool(name string, input map[string]any) Block {
	return Block{Type: "tool_use", Name: name, Input: input}
}

// Bash is a turn that runs one command in the shell.
func Bash(command string) Turn {
	return Use(Tool("Bash", map[string]any{"command": command, "description": "run it"}))
}

// Fail is a turn that answers with an HTTP error.
func Fail(status int, kind, message string) Turn {
	return Turn{Error: &Error{Status: status, Type: kind, Message: message}}
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

// Server plays a script; its journal has what came in.
type Server struct {
	modelserver.Journal
	URL string

	script Script
	vars   map[string]string

	mu   sync.Mutex
	used map[string]int // turns played, by lane
}

// Serve starts a server on the listener; it stops with the test. vars fill the
// placeholders ${NAME} of the script.
func Serve(t testing.TB, listener net.Listener, script Script, vars map[string]string) *Server {
	s := &Server{script: script, vars: vars, used: map[string]int{}}
	s.URL = modelserver.Serve(t, listener, s)
	return s
}

// request is what the server reads of a request; the rest is in the journal.
type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Tools    []json.RawMessage `json:"tools"`
	System   content           `json:"system"`
	Messages []struct {
		Role    string  `json:"role"`
		Content content `json:"content"`
	} `json:"messages"`
}

// content is a string or a list of blocks; only its text is kept.
type content string

// UnmarshalJSON reads both forms, tool results and tool inputs included.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = content(text)
		return nil
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Content content         `json:"content"`
		Input   json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return err
	}
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "tool_result":
			parts = append(parts, string(b.Content))
		case "tool_use":
			parts = append(parts, string(b.Input))
		}
	}
	*c = content(strings.Join(parts, "\n"))
	return nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Request-Id", "req_lab")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	switch {
	case r.Method == http.MethodHead:
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages/count_tokens"):
		modelserver.JSON(w, http.StatusOK, map[string]int{"input_tokens": max(1, len(body)/4)})
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/v1/messages"):
		s.answer(w, r, body)
	default:
		s.Note("%s %s is not served", r.Method, r.URL.Path)
		fail(w, Error{Status: http.StatusNotFound, Type: "not_found_error", Message: "not served here"})
	}
}

func fail(w http.ResponseWriter, e Error) {
	for name, value := range e.Headers {
		w.Header().Set(name, value)
	}
	modelserver.JSON(w, e.Status, map[string]any{
		"type": "error", "error": map[string]string{"type": e.Type, "message": e.Message}})
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	var asked request
	if err := json.Unmarshal(body, &asked); err != nil {
		s.Note("a request that does not parse: %v", err)
		fail(w, Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: err.Error()})
		return
	}
	var texts []string
	for _, m := range asked.Messages {
		texts = append(texts, string(m.Content))
	}
	talk := strings.Join(texts, "\n")
	lane, turn := s.choose(asked, body, texts)
	turn = s.fill(turn, talk)
	n := s.Add(modelserver.Request{Lane: lane, Turn: string(modelserver.Compact(turn)), Body: body, Text: talk})

	turn.gate.Wait(r.Context())
	modelserver.Pause(r.Context(), turn.DelayMS)
	if r.Context().Err() != nil {
		return
	}
	if turn.Error != nil {
		fail(w, *turn.Error)
		return
	}
	blocks := blocksOf(turn, n)
	message := map[string]any{"id": fmt.Sprintf("msg_%06d", n), "type": "message", "role": "assistant",
		"model": asked.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage(turn)}
	if !asked.Stream {
		message["content"], message["stop_reason"] = blocks, stopReason(turn)
		modelserver.JSON(w, http.StatusOK, message)
		return
	}
	s.stream(w, r, turn, message, blocks)
}

// choose takes the next turn for a request.
func (s *Server) choose(asked request, body []byte, texts []string) (string, Turn) {
	if len(asked.Tools) == 0 {
		return "side", or(s.script.Side, Say("ok"))
	}
	opening := string(asked.System)
	for i, m := range asked.Messages {
		if m.Role == "user" {
			opening = texts[i] + "\n" + opening
			break
		}
	}
	lanes := s.script.Lanes
	if len(s.script.Turns) > 0 {
		lanes = append(lanes[:len(lanes):len(lanes)], Lane{Name: "turns", Turns: s.script.Turns})
	}
	for i, lane := range lanes {
		if lane.Match != "" && !regexp.MustCompile("(?s)"+lane.Match).MatchString(opening) {
			continue
		}
		name := lane.Name
		if name == "" {
			name = fmt.Sprintf("lane%d", i)
		}
		s.mu.Lock()
		next := s.used[name]
		again := next > 0 && next <= len(lane.Turns) && modelserver.Hurried(texts[len(texts)-1])
		early := !again && next < len(lane.Turns) && s.Early(body, lane.Turns[next].once)
		if !again && !early {
			s.used[name]++
		}
		s.mu.Unlock()
		if again {
			return modelserver.Again + name, lane.Turns[next-1]
		}
		if early {
			return modelserver.Meanwhile, *lane.Turns[next].meanwhile
		}
		if next >= len(lane.Turns) {
			return name + " run dry", or(s.script.Default, Say("All done."))
		}
		turn := lane.Turns[next]
		if newest := texts[len(texts)-1]; turn.Expect != "" && !regexp.MustCompile("(?s)"+turn.Expect).MatchString(newest) {
			s.Note("turn %d of lane %s expected %q, got %q", next, name, turn.Expect, newest)
		}
		return name, turn
	}
	return "no lane", or(s.script.Default, Say("All done."))
}

func or(turn *Turn, normal Turn) Turn {
	if turn != nil {
		return *turn
	}
	return normal
}

// fill replaces the placeholders of a turn.
func (s *Server) fill(turn Turn, talk string) Turn {
	turn.Text = modelserver.Expand(turn.Text, talk, s.vars).(string)
	blocks := make([]Block, len(turn.Blocks))
	for i, b := range turn.Blocks {
		b.Text = modelserver.Expand(b.Text, talk, s.vars).(string)
		if b.Input != nil {
			b.Input = modelserver.Expand(b.Input, talk, s.vars).(map[string]any)
		}
		blocks[i] = b
	}
	turn.Blocks = blocks
	return turn
}

// blocksOf is the content of an answer in the wire's words.
func blocksOf(turn Turn, n int) []map[string]any {
	if len(turn.Blocks) == 0 {
		return []map[string]any{{"type": "text", "text": turn.Text}}
	}
	var out []map[string]any
	for i, b := range turn.Blocks {
		if b.Type == "text" {
			out = append(out, map[string]any{"type": "text", "text": b.Text})
			continue
		}
		id, input := b.ID, b.Input
		if id == "" {
			id = fmt.Sprintf("toolu_%06d%02d", n, i)
		}
		if input == nil {
			input = map[string]any{}
		}
		out = append(out, map[string]any{"type": b.Type, "id": id, "name": b.Name, "input": input})
	}
	return out
}

func stopReason(turn Turn) string {
	if turn.StopReason != "" {
		return turn.StopReason
	}
	for _, b := range turn.Blocks {
		if b.Type == "tool_use" {
			return "tool_use"
		}
	}
	return "end_turn"
}

func usage(turn Turn) map[string]int {
	counts := map[string]int{"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	maps.Copy(counts, turn.Usage)
	return counts
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, turn Turn, message map[string]any, blocks []map[string]any) {
	events := modelserver.OpenEvents(w)
	events.Send("message_start", map[string]any{"message": message})
	for i, block := range blocks {
		if block["type"] == "text" {
			events.Send("content_block_start", map[string]any{"index": i, "content_block": map[string]any{"type": "text", "text": ""}})
			for _, piece := range pieces(block["text"].(string), turn.ChunkMS) {
				events.Send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": "text_delta", "text": piece}})
				modelserver.Pause(r.Context(), turn.ChunkMS)
			}
		} else {
			start := maps.Clone(block)
			start["input"] = map[string]any{}
			events.Send("content_block_start", map[string]any{"index": i, "content_block": start})
			events.Send("content_block_delta", map[string]any{"index": i,
				"delta": map[string]any{"type": "input_json_delta", "partial_json": string(modelserver.Compact(block["input"]))}})
		}
		events.Send("content_block_stop", map[string]any{"index": i})
	}
	if r.Context().Err() != nil {
		s.Note("the client closed the stream of %s", message["id"])
		return
	}
	events.Send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stopReason(turn), "stop_sequence": nil}, "usage": usage(turn)})
	events.Send("message_stop", map[string]any{})
}

// pieces cuts text that is to come slowly.
func pieces(text string, chunkMS int) []string {
	if chunkMS <= 0 {
		return []string{text}
	}
	var out []string
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(24, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}
