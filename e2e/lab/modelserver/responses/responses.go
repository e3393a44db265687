// Package responses is a scripted stand-in for the streaming subset of the
// Responses API that Codex uses. In comes the client's request, out goes the
// next turn of the route that fits it, as output items. It never judges a
// request beyond that.
package responses

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/modelserver"
)

// Script is what the model says. A request goes to the first route that fits,
// else to Turns. The hidden request by which the terminal client names a
// session is answered aside and uses up no turn.
type Script struct {
	Turns  []Turn  `json:"turns,omitempty"`
	Routes []Route `json:"routes,omitempty"`
	// After answers when a list is used up; default the text "done".
	After *Turn `json:"after,omitempty"`
}

// Route has the answers for requests whose input contains a text, such as
// those of a subagent or of compaction.
type Route struct {
	Contains string `json:"contains"`
	Turns    []Turn `json:"turns"`
}

// Turn is one answer of the model. One of the kinds from Text to All is set,
// or an error, or a hang.
type Turn struct {
	Text      string         `json:"text,omitempty"`
	Shell     string         `json:"shell,omitempty"` // a call of whichever shell tool the client offers
	With      map[string]any `json:"with,omitempty"`  // further arguments of the shell tool
	Patch     string         `json:"patch,omitempty"` // an apply_patch call
	Call      string         `json:"call,omitempty"`  // any function tool, MCP tools too
	Namespace string         `json:"namespace,omitempty"`
	Args      map[string]any `json:"args,omitempty"`
	Custom    string         `json:"custom,omitempty"` // any free-form tool
	Input     string         `json:"input,omitempty"`
	Ask       []Question     `json:"ask,omitempty"` // a request_user_input call
	All       []Turn         `json:"all,omitempty"` // several items in one answer

	Say     string `json:"say,omitempty"`     // a message before the call
	Status  int    `json:"status,omitempty"`  // an HTTP error
	Body    string `json:"body,omitempty"`    // its body
	HangMS  int    `json:"hang_ms,omitempty"` // open the stream, then stay silent
	DelayMS int    `json:"delay_ms,omitempty"`
	Tokens  int    `json:"tokens,omitempty"` // reported as used, to provoke compaction; default 120

	gate      *modelserver.Gate
	once      string
	meanwhile *Turn
}

// Question is one question of request_user_input.
type Question struct {
	ID       string   `json:"id"`
	Header   string   `json:"header"`
	Question string   `json:"question"`
	Options  []Option `json:"options"`
}

// Option is one answer that a question offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// Say is a turn of plain text; it ends the agent's turn.
func Say(text string) Turn { return Turn{Text: text} }

// Shell is a turn that runs one command.
func Shell(command string) Turn { return Turn{Shell: command} }

// Escalated is a turn that runs one command outside the sandbox, for which the
// client asks the person, with a reason.
func Escalated(command, reason string) Turn {
	return Turn{Shell: command, With: map[string]any{"sandbox_permissions": "require_escalated", "justification": reason}}
}

// Ask is a turn that asks the person one question with the given answers.
func Ask(id, question string, labels ...string) Turn {
	q := Question{ID: id, Header: id, Question: question}
	for _, label := range labels {
		q.Options = append(q.Options, Option{Label: label, Description: label})
	}
	return Turn{Ask: []Question{q}}
}

// Fail is a turn that answers with an HTTP error.
func Fail(status int, body string) Turn { return Turn{Status: status, Body: body} }

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
	URL string // with the /v1 that the client's base_url needs

	script Script
	vars   map[string]string

	mu   sync.Mutex
	used map[string]int // turns played, by route
}

// Serve starts a server on the listener; it stops with the test. vars fill the
// placeholders ${NAME} of the script.
func Serve(t testing.TB, listener net.Listener, script Script, vars map[string]string) *Server {
	s := &Server{script: script, vars: vars, used: map[string]int{}}
	s.URL = modelserver.Serve(t, listener, s) + "/v1"
	return s
}

// request is what the server reads of a request; the rest is in the journal.
type request struct {
	Input    json.RawMessage `json:"input"`
	Metadata json.RawMessage `json:"client_metadata"`
	Tools    []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"tools"`
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/responses") {
		s.Note("%s %s is not served", r.Method, r.URL.Path)
		modelserver.JSON(w, http.StatusNotFound, map[string]any{"error": map[string]string{"message": "not served here"}})
		return
	}
	var asked request
	if err := json.Unmarshal(body, &asked); err != nil {
		s.Note("a request that does not parse: %v", err)
		modelserver.JSON(w, http.StatusBadRequest, map[string]any{"error": map[string]string{"message": err.Error()}})
		return
	}
	if strings.Contains(string(asked.Metadata), "thread_title") {
		s.stream(w, r, 0, Say("Lab session"), asked)
		return
	}
	talk := readable(asked.Input)
	route, turn := s.choose(body, talk, newest(asked.Input))
	turn = s.fill(turn, talk)
	n := s.Add(modelserver.Request{Lane: route, Turn: string(modelserver.Compact(turn)), Body: body, Text: talk})

	turn.gate.Wait(r.Context())
	modelserver.Pause(r.Context(), turn.DelayMS)
	if r.Context().Err() != nil {
		s.Note("the client gave up request %d", n)
		return
	}
	if turn.Status != 0 {
		message := turn.Body
		if message == "" {
			message = "scripted"
		}
		modelserver.JSON(w, turn.Status, map[string]any{"error": map[string]string{"message": message}})
		return
	}
	s.stream(w, r, n, turn, asked)
}

// readable is the input without the escapes of JSON in JSON, so that patterns
// can be written as the texts read.
func readable(input json.RawMessage) string {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return string(input)
	}
	return strings.Join(texts(value), "\n")
}

func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, texts(v[name])...)
		}
		return all
	}
	return nil
}

// newest is the last item of the input, readable.
func newest(input json.RawMessage) string {
	var items []json.RawMessage
	if json.Unmarshal(input, &items) != nil || len(items) == 0 {
		return ""
	}
	return readable(items[len(items)-1])
}

// choose takes the next turn for a request.
func (s *Server) choose(body []byte, talk, newest string) (string, Turn) {
	name, turns := "turns", s.script.Turns
	for i, route := range s.script.Routes {
		if strings.Contains(talk, route.Contains) {
			name, turns = fmt.Sprintf("route%d", i), route.Turns
			break
		}
	}
	s.mu.Lock()
	next := s.used[name]
	again := next > 0 && next <= len(turns) && modelserver.Hurried(newest)
	early := !again && next < len(turns) && s.Early(body, turns[next].once)
	if !again && !early {
		s.used[name]++
	}
	s.mu.Unlock()
	switch {
	case again:
		return modelserver.Again + name, turns[next-1]
	case early:
		return modelserver.Meanwhile, *turns[next].meanwhile
	case next < len(turns):
		return name, turns[next]
	case s.script.After != nil:
		return name + " used up", *s.script.After
	default:
		return name + " used up", Say("done")
	}
}

// fill replaces the placeholders of a turn.
func (s *Server) fill(turn Turn, talk string) Turn {
	for _, text := range []*string{&turn.Text, &turn.Shell, &turn.Patch, &turn.Input, &turn.Say} {
		*text = modelserver.Expand(*text, talk, s.vars).(string)
	}
	for _, args := range []*map[string]any{&turn.With, &turn.Args} {
		if *args != nil {
			*args = modelserver.Expand(*args, talk, s.vars).(map[string]any)
		}
	}
	all := make([]Turn, len(turn.All))
	for i, part := range turn.All {
		all[i] = s.fill(part, talk)
	}
	turn.All = all
	return turn
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, n int, turn Turn, asked request) {
	events := modelserver.OpenEvents(w)
	id := fmt.Sprintf("resp_%03d", n)
	events.Send("response.created", map[string]any{"response": map[string]any{"id": id}})
	if turn.HangMS > 0 {
		for left := turn.HangMS; left > 0 && r.Context().Err() == nil; left -= 500 {
			modelserver.Pause(r.Context(), min(left, 500))
			events.Comment("waiting")
		}
		return
	}
	b := builder{n: n, asked: asked}
	for i, item := range b.items(turn) {
		events.Send("response.output_item.added", map[string]any{"output_index": i, "item": item})
		events.Send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	total := turn.Tokens
	if total == 0 {
		total = 120
	}
	events.Send("response.completed", map[string]any{"response": map[string]any{"id": id, "output": []any{}, "usage": map[string]any{
		"input_tokens": max(total-20, 0), "input_tokens_details": map[string]int{"cached_tokens": 0},
		"output_tokens": 20, "output_tokens_details": map[string]int{"reasoning_tokens": 0}, "total_tokens": total,
	}}})
}

// builder turns a turn into output items in the wire's words.
type builder struct {
	n, count int
	asked    request
}

func (b *builder) id(prefix string) string {
	b.count++
	return fmt.Sprintf("%s_%03d_%d", prefix, b.n, b.count)
}

func (b *builder) items(turn Turn) []map[string]any {
	var out []map[string]any
	if turn.Say != "" {
		out = append(out, b.message(turn.Say))
	}
	switch {
	case turn.Shell != "":
		out = append(out, b.shell(turn.Shell, turn.With))
	case turn.Patch != "":
		out = append(out, b.custom("apply_patch", turn.Patch))
	case turn.Call != "":
		out = append(out, b.function(turn.Call, turn.Namespace, turn.Args))
	case turn.Custom != "":
		out = append(out, b.custom(turn.Custom, turn.Input))
	case turn.Ask != nil:
		out = append(out, b.function("request_user_input", "", map[string]any{"questions": turn.Ask}))
	case len(turn.All) > 0:
		for _, part := range turn.All {
			out = append(out, b.items(part)...)
		}
	default:
		out = append(out, b.message(turn.Text))
	}
	return out
}

func (b *builder) message(text string) map[string]any {
	return map[string]any{"type": "message", "role": "assistant", "id": b.id("msg"),
		"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}
}

func (b *builder) function(name, namespace string, args map[string]any) map[string]any {
	if args == nil {
		args = map[string]any{}
	}
	item := map[string]any{"type": "function_call", "id": b.id("fc"), "call_id": b.id("call"),
		"name": name, "arguments": string(modelserver.Compact(args))}
	if namespace != "" {
		item["namespace"] = namespace
	}
	return item
}

func (b *builder) custom(name, input string) map[string]any {
	return map[string]any{"type": "custom_tool_call", "id": b.id("ctc"), "call_id": b.id("call"), "name": name, "input": input}
}

// shell calls whichever of the client's shell tools this model was offered.
func (b *builder) shell(command string, with map[string]any) map[string]any {
	offered := map[string]bool{}
	for _, tool := range b.asked.Tools {
		offered[tool.Name] = true
	}
	name, args := "exec_command", map[string]any{"cmd": command}
	switch {
	case offered["exec_command"]:
	case offered["shell_command"]:
		name, args = "shell_command", map[string]any{"command": command}
	case offered["shell"]:
		name, args = "shell", map[string]any{"command": []string{"bash", "-lc", command}}
	}
	maps.Copy(args, with)
	return b.function(name, "", args)
}
