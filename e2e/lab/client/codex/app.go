//go:build linux

package codex

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// App is an interactive session: the client's app-server, spoken to over
// JSON-RPC as the terminal client does. What the client asks the person stays
// open until the test answers it.
type App struct {
	*Session

	stdin  io.WriteCloser
	thread string
	turn   string

	mu      sync.Mutex
	number  int
	replies map[int]message
	seen    []message // notifications and requests, in order
	answers int       // of requests, by the test
}

// message is a JSON-RPC message of either direction.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// Open starts an interactive session and its thread; no prompt is sent yet.
func Open(t testing.TB, m machine.Machine, o Options) *App {
	t.Helper()
	s, spec := prepare(t, m, o, "app-server")
	a := &App{Session: s, replies: map[int]message{}}
	cmd := machine.Prepare(m, spec)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	stderr, err := os.CreateTemp(machine.Mkdir(t, m, filepath.Join(m.Folder(), "out")), "app-server-")
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	a.stdin = stdin
	cmd.Stdout, cmd.Stderr = write, stderr
	read := make(chan struct{})
	t.Cleanup(func() { stdout.Close(); <-read }) // after the client has been ended
	s.Process = machine.Adopt(t, m, cmd)
	s.Stderr = stderr.Name()
	go func() { // ends when the client's output does, or with the cleanup
		defer close(read)
		a.read(stdout)
	}()

	a.call("initialize", map[string]any{
		"clientInfo":   map[string]string{"name": "lab", "title": "lab", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true}})
	a.send(message{Method: "initialized"})
	approval, sandbox := o.Approval, o.Sandbox
	if approval == "" {
		approval = "on-request"
	}
	if sandbox == "" {
		sandbox = WorkspaceWrite
	}
	var started struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	a.decode(a.call("thread/start", map[string]any{"cwd": s.Project, "approvalPolicy": approval, "sandbox": sandbox}), &started)
	a.thread = started.Thread.ID
	return a
}

func (a *App) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		a.mu.Lock()
		if m.Method != "" {
			a.seen = append(a.seen, m)
		} else {
			var id int
			if json.Unmarshal(m.ID, &id) == nil {
				a.replies[id] = m
			}
		}
		a.mu.Unlock()
	}
}

func (a *App) send(m message) {
	a.t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.stdin.Write(append(text, '\n')); err != nil {
		a.t.Fatalf("speaking to the client: %v", err)
	}
}

// call sends a request and waits for its result.
func (a *App) call(method string, params any) json.RawMessage {
	a.t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		a.t.Fatal(err)
	}
	a.mu.Lock()
	a.number++
	id := a.number
	a.mu.Unlock()
	a.send(message{ID: json.RawMessage(fmt.Sprint(id)), Method: method, Params: text})
	var reply message
	wait.Until(a.t, wait.Long, "the client's answer to "+method, func() (bool, string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		var there bool
		reply, there = a.replies[id]
		return there, fmt.Sprintf("running: %v", a.Running())
	})
	if reply.Error != nil {
		a.t.Fatalf("%s: %s", method, reply.Error)
	}
	return reply.Result
}

func (a *App) decode(text json.RawMessage, into any) {
	a.t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		a.t.Fatalf("%s: %v", text, err)
	}
}

// Seen lists the parameters of the notifications or requests of a method.
func (a *App) Seen(method string) []json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []json.RawMessage
	for _, m := range a.seen {
		if m.Method == method {
			all = append(all, m.Params)
		}
	}
	return all
}

// Say sends a prompt and returns when the client has taken it.
func (a *App) Say(text string) { a.t.Helper(); a.start(text, nil) }

// Plan sends a prompt in plan mode, where the model may ask questions.
func (a *App) Plan(text string) {
	a.t.Helper()
	a.start(text, map[string]any{"mode": "plan", "settings": map[string]any{
		"model": Model, "reasoning_effort": nil, "developer_instructions": nil}})
}

func (a *App) start(text string, mode map[string]any) {
	a.t.Helper()
	params := map[string]any{"threadId": a.thread, "input": []any{map[string]string{"type": "text", "text": text}}}
	if mode != nil {
		params["collaborationMode"] = mode
	}
	var started struct {
		Turn struct {
			ID string `json:"id"`
		} `json:"turn"`
	}
	a.decode(a.call("turn/start", params), &started)
	a.turn = started.Turn.ID
}

// Interrupt does what Esc does while a turn runs.
func (a *App) Interrupt() {
	a.t.Helper()
	a.call("turn/interrupt", map[string]string{"threadId": a.thread, "turnId": a.turn})
}

// Compact asks for compaction, which counts as a turn.
func (a *App) Compact() {
	a.t.Helper()
	a.call("thread/compact/start", map[string]string{"threadId": a.thread})
}

// WaitTurns waits until n turns are over and returns the status of the nth:
// completed, interrupted or failed.
func (a *App) WaitTurns(n int) string {
	a.t.Helper()
	wait.Until(a.t, wait.Long, fmt.Sprintf("the end of turn %d", n), func() (bool, string) {
		return len(a.Seen("turn/completed")) >= n, strings.Join(a.methods(), " ")
	})
	var over struct {
		Turn struct {
			Status string `json:"status"`
		} `json:"turn"`
	}
	a.decode(a.Seen("turn/completed")[n-1], &over)
	return over.Turn.Status
}

func (a *App) methods() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var names []string
	for _, m := range a.seen {
		names = append(names, m.Method)
	}
	return slices.Compact(names)
}

// HookRuns lists the client's own verdicts on hooks of an event, by its wire
// name such as preToolUse: completed, failed, blocked or stopped.
func (a *App) HookRuns(event string) []string {
	a.t.Helper()
	var all []string
	for _, params := range a.Seen("hook/completed") {
		var run struct {
			Run struct {
				EventName string `json:"eventName"`
				Status    string `json:"status"`
			} `json:"run"`
		}
		a.decode(params, &run)
		if run.Run.EventName == event {
			all = append(all, run.Run.Status)
		}
	}
	return all
}

// Prompt is something that the client asks the person.
type Prompt struct {
	Method string // item/commandExecution/requestApproval, item/tool/requestUserInput, …
	Params json.RawMessage

	app *App
	id  json.RawMessage
}

// WaitPrompt waits until the client asks the person and returns the oldest
// question that has not been answered.
func (a *App) WaitPrompt() *Prompt {
	a.t.Helper()
	var prompt *Prompt
	wait.Until(a.t, wait.Long, "the client to ask the person", func() (bool, string) {
		all := a.Prompts()
		if len(all) > a.answers {
			prompt = all[a.answers]
		}
		return prompt != nil, strings.Join(a.methods(), " ")
	})
	return prompt
}

// Prompts lists everything the client has asked the person so far.
func (a *App) Prompts() []*Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []*Prompt
	for _, m := range a.seen {
		if m.ID != nil {
			all = append(all, &Prompt{Method: m.Method, Params: m.Params, app: a, id: m.ID})
		}
	}
	return all
}

// Accept allows what is asked.
func (p *Prompt) Accept() { p.app.t.Helper(); p.decide("accept") }

// Decline refuses it; the model is told and goes on.
func (p *Prompt) Decline() { p.app.t.Helper(); p.decide("decline") }

func (p *Prompt) decide(word string) {
	p.app.t.Helper()
	name := "decision"
	if p.Method == "mcpServer/elicitation/request" {
		name = "action"
	}
	p.answer(map[string]any{name: word})
}

// Choose answers the question with the id by a text.
func (p *Prompt) Choose(id, text string) {
	p.app.t.Helper()
	p.answer(map[string]any{"answers": map[string]any{id: map[string]any{"answers": []string{text}}}})
}

func (p *Prompt) answer(result any) {
	p.app.t.Helper()
	text, err := json.Marshal(result)
	if err != nil {
		p.app.t.Fatal(err)
	}
	p.app.answers++
	p.app.send(message{ID: p.id, Result: text})
}

// Exit closes the session in order and returns the client's exit code.
func (a *App) Exit() int {
	a.t.Helper()
	a.stdin.Close()
	return a.Wait()
}
