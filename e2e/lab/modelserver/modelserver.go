// Package modelserver is what the scripted model servers share: serving on a
// port that a machine opened, the journal of requests, gates that hold an
// answer back until the test says so, and placeholders. In come a client's
// requests, out go the turns of a script. There is no model and no network
// beyond 127.0.0.1.
//
// Package messages speaks Claude's Messages API, package responses the
// Responses API that Codex uses, package completions the chat completions that
// Copilot CLI and OpenCode use; a client with another protocol gets a package
// beside them.
package modelserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// Gate holds a scripted answer back until it is opened, so that a test can do
// things while the model "thinks". Use [NewGate].
type Gate struct {
	open chan struct{}
	once sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{open: make(chan struct{})} }

// Open lets the answer go; opening twice does nothing.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// Wait returns when the gate is open or ctx is done. A nil gate is open.
func (g *Gate) Wait(ctx context.Context) {
	if g == nil {
		return
	}
	select {
	case <-g.open:
	case <-ctx.Done():
	}
}

// Request is one request for a turn as it came in and what the script made of
// it.
type Request struct {
	Lane string          // where the turn came from
	Turn string          // the turn, as JSON
	Body json.RawMessage // the whole request
	Text string          // what the model would read: the texts of the conversation
}

// Journal lists the requests of a server. It is safe for use by many
// goroutines; the zero value is empty.
type Journal struct {
	mu       sync.Mutex
	requests []Request
	notes    []string
	glances  int
}

// Add appends a request and returns its number, from 1. One that came too early for
// the script's next turn is not listed; its number is one that no other has.
func (j *Journal) Add(r Request) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.Lane == Meanwhile {
		return glanced + j.glances
	}
	j.requests = append(j.requests, r)
	return len(j.requests)
}

// Meanwhile is the lane of a request that came before what the script's next turn
// is waiting for, as a client asks while an MCP server is still starting.
const Meanwhile = "meanwhile"

const (
	// GlanceMS is how long a model takes that looks whether something has come.
	GlanceMS = 200
	// glances bounds how often it looks; a minute or two go by.
	glances = 150
	// glanced is more requests than a script has turns.
	glanced = 1000
)

// Early tells whether a request lacks the text that the next turn waits for; it is
// to be answered with something harmless. Empty is in every request, and after so
// many the turn is said anyway, for the test to fail on.
func (j *Journal) Early(body []byte, once string) bool {
	if bytes.Contains(body, []byte(once)) {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.glances == glances {
		j.notes = append(j.notes, fmt.Sprintf("%d requests had no %q", glances, once))
		return false
	}
	j.glances++
	return true
}

// Note records something odd: a turn that met another conversation than it
// expected, a path that nobody serves.
func (j *Journal) Note(format string, values ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, fmt.Sprintf(format, values...))
}

// Notes lists what was noted, oldest first.
func (j *Journal) Notes() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.notes...)
}

// Requests lists the requests so far, oldest first.
func (j *Journal) Requests() []Request {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Request(nil), j.requests...)
}

// WaitRequests waits until n requests have come and returns the nth.
func (j *Journal) WaitRequests(t testing.TB, n int) Request {
	t.Helper()
	wait.Until(t, wait.Long, fmt.Sprintf("request number %d to the model", n), func() (bool, string) {
		return len(j.Requests()) >= n, fmt.Sprintf("%d requests, notes %q", len(j.Requests()), j.Notes())
	})
	return j.Requests()[n-1]
}

// Saw tells whether the pattern fits the text of any request: whether the
// model was told so.
func (j *Journal) Saw(pattern string) bool {
	re := regexp.MustCompile("(?s)" + pattern)
	for _, r := range j.Requests() {
		if re.MatchString(r.Text) {
			return true
		}
	}
	return false
}

// hurried is what a model reads of a call that was refused for want of time alone.
var hurried = regexp.MustCompile(`the time budget for \w+ the command is used up|could not judge this call \(it took longer than`)

// Hurried tells whether the newest message is of a call that was refused for want of
// time alone, as a machine that is busy with something else can bring about. A script
// then says its last turn once more, as a model would.
func Hurried(newest string) bool { return hurried.MatchString(newest) }

// Again begins the lane of a request that was answered by the last turn once more.
const Again = "again "

// Serve answers on the listener until the test ends.
func Serve(t testing.TB, listener net.Listener, handler http.Handler) (baseURL string) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() { // ends with Close in the cleanup, which waits for it
		defer close(done)
		server.Serve(listener)
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return "http://" + listener.Addr().String()
}

// Events writes server-sent events.
type Events struct{ w http.ResponseWriter }

// OpenEvents sends the head of an event stream.
func OpenEvents(w http.ResponseWriter) Events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	return Events{w}
}

// Send sends one event, whose data gets its name as "type". A client that has
// gone away is noticed by the request's context, not here.
func (e Events) Send(name string, data map[string]any) {
	data["type"] = name
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, Compact(data))
	http.NewResponseController(e.w).Flush()
}

// Data sends one event without a name, as it is.
func (e Events) Data(text []byte) {
	fmt.Fprintf(e.w, "data: %s\n\n", text)
	http.NewResponseController(e.w).Flush()
}

// Comment keeps the stream open without saying anything.
func (e Events) Comment(text string) {
	fmt.Fprintf(e.w, ": %s\n\n", text)
	http.NewResponseController(e.w).Flush()
}

// JSON answers with a whole document.
func JSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(Compact(body))
}

// Compact is value as JSON, without escapes beyond what JSON needs. It panics
// for values that JSON has no word for, which a script cannot hold.
func Compact(value any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimRight(buffer.Bytes(), "\n")
}

// Pause waits for the time given in milliseconds or until ctx is done.
func Pause(ctx context.Context, ms int) {
	if ms <= 0 {
		return
	}
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

var (
	fromText = regexp.MustCompile(`\{\{re:(.+?)\}\}`)
	fromVars = regexp.MustCompile(`\$\{([A-Z_][A-Z0-9_]*)\}`)
)

// Expand fills the placeholders in every string of a JSON-like value:
// {{re:PATTERN}} is the last match of PATTERN (its first group, if it has one)
// in text, "" without a match; ${NAME} is vars[NAME], kept as it is when vars
// has no such name. The value handed in is not changed.
func Expand(value any, text string, vars map[string]string) any {
	switch v := value.(type) {
	case string:
		v = fromText.ReplaceAllStringFunc(v, func(hole string) string {
			pattern := fromText.FindStringSubmatch(hole)[1]
			hits := regexp.MustCompile("(?s)"+pattern).FindAllStringSubmatch(text, -1)
			if len(hits) == 0 {
				return ""
			}
			last := hits[len(hits)-1]
			return last[min(1, len(last)-1)]
		})
		return fromVars.ReplaceAllStringFunc(v, func(hole string) string {
			if value, known := vars[strings.Trim(hole, "${}")]; known {
				return value
			}
			return hole
		})
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Expand(item, text, vars)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = Expand(item, text, vars)
		}
		return out
	default:
		return value
	}
}

// ReadScript reads a script from a JSON file. Keys that the script does not
// have end the test: a misspelt one would silently change the story.
func ReadScript[Script any](t testing.TB, path string) Script {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var script Script
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&script); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return script
}
