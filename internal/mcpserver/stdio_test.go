package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/ipc"
	"github.com/lidguard-go/lidguard/internal/mcpserver"
)

const greeting = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// keepOpen is an output that the server may close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

type answer struct {
	ID    any `json:"id"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// A line that is no message gets an error, and the next one is served.
func TestServe_lineThatIsNoMessage(t *testing.T) {
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- mcpserver.Serve(t.Context(), mcpserver.New((&runtime{}).config()), fromClient, toClient)
	}()
	answers := bufio.NewScanner(fromServer)
	answers.Buffer(nil, 1<<20)
	say := func(text string) {
		if _, err := io.WriteString(toServer, text); err != nil {
			t.Error(err)
		}
	}
	next := func() (a answer) {
		t.Helper()
		if !answers.Scan() {
			t.Fatalf("the server is gone: %v", answers.Err())
		}
		if err := json.Unmarshal(answers.Bytes(), &a); err != nil {
			t.Fatalf("%v in %s", err, answers.Text())
		}
		return a
	}
	go say(greeting)
	if a := next(); a.ID != "hello" || a.Error != nil {
		t.Fatalf("greeting: %+v", a)
	}
	for _, c := range []struct {
		name, line string
		code       int
		id         any
	}{
		{"no JSON", "not json", -32700, nil},
		{"binary", "\x00\xff\x01", -32700, nil},
		{"a message and more", `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, -32700, nil},
		{"a header of another framing", "Content-Length: 10\r", -32700, nil},
		{"too deep", strings.Repeat("[", 200000), -32700, nil},
		{"too long", `"` + strings.Repeat("a", 9<<20) + `"`, -32700, nil},
		{"null", "null", -32600, nil},
		{"a number", "3", -32600, nil},
		{"an empty object", "{}", -32600, nil},
		{"no version", `{"id":7,"method":"ping"}`, -32600, 7.0},
		{"another version", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, -32600, "x"},
		{"an id that is none", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, -32600, nil},
		{"an empty batch", "[]", -32600, nil},
	} {
		go say("\n" + c.line + "\n" + `{"jsonrpc":"2.0","id":99,"method":"ping"}` + "\r\n")
		if a := next(); a.Error == nil || a.Error.Code != c.code || a.Error.Message == "" || a.ID != c.id {
			t.Errorf("%s: %s, want code %d for %v", c.name, answers.Text(), c.code, c.id)
		}
		if a := next(); a.ID != 99.0 || a.Error != nil {
			t.Errorf("%s: then %s", c.name, answers.Text())
		}
	}
	go say(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"1.0","id":2},{"jsonrpc":"2.0","id":3,"method":"ping"}]` + "\n")
	got := map[any]int{}
	for range 3 {
		got[next().ID]++
	}
	if got[1.0] != 1 || got[2.0] != 1 || got[3.0] != 1 {
		t.Errorf("answers to a batch by id: %v", got)
	}
	toServer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What a client asks for right before it leaves is done and answered.
func TestServe_lastCallsAreCarriedOut(t *testing.T) {
	r := &runtime{sessions: []ipc.Session{{Key: event.SessionKey{Provider: event.Codex, ID: "s1"}}}}
	c := r.config()
	c.Call = func(ctx context.Context, req *ipc.Request) (*ipc.Reply, error) {
		time.Sleep(20 * time.Millisecond)
		return r.call(ctx, req)
	}
	in := greeting +
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_session_soft_lock","arguments":{"session_id":"s1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"update_settings","arguments":{"suspend-mode":"none"}}}` // no end of line
	var out bytes.Buffer
	if err := mcpserver.Serve(t.Context(), mcpserver.New(c), io.NopCloser(strings.NewReader(in)), keepOpen{&out}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{`"id":"hello"`, `"id":1`, `"id":2`} {
		if !strings.Contains(out.String(), id) {
			t.Errorf("no answer to %s in\n%s", id, out.String())
		}
	}
	if len(r.signals) != 1 || r.signals[0].Kind != event.Waiting || r.settings["suspend-mode"] != "none" {
		t.Errorf("carried out: %+v, %v", r.signals, r.settings)
	}
}
