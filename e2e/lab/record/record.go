//go:build linux

// Package record is a hook body that only watches. In comes what a client
// sends to a hook, out goes one line in a log and, if the test wishes, an
// answer to the client. It judges nothing. The program is e2e/lab/recorder;
// this package has its file formats and the test's side of them.
package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lidguard-go/lidguard/e2e/lab/build"
	"github.com/lidguard-go/lidguard/e2e/lab/machine"
	"github.com/lidguard-go/lidguard/e2e/lab/wait"
)

// TopVariable names the process at which the recorder stops looking for
// ancestors; nothing above the test is read.
const TopVariable = "LIDGUARD_LAB_TOP"

// Row is one hook call as the recorder saw it.
type Row struct {
	At       time.Time         `json:"at"`
	Tag      string            `json:"tag,omitempty"`
	Event    string            `json:"event"` // hook_event_name of the payload
	Dir      string            `json:"dir"`
	Names    []string          `json:"names"` // of the environment variables; their values are not kept
	Client   map[string]string `json:"client,omitempty"`
	Ancestry []Ancestor        `json:"ancestry,omitempty"` // nearest first
	Raw      string            `json:"raw"`                // the payload, byte for byte

	// Input is the payload read as JSON.
	Input map[string]any `json:"-"`
}

// Ancestor is a process above the hook, as the machine it runs on counts.
type Ancestor struct {
	PID     int      `json:"pid"`
	Name    string   `json:"name"`
	Args    []string `json:"args"`
	Session int      `json:"session"`
	TTY     int      `json:"tty"`
}

// String is one field of the payload as text, "" without it; a dot leads into
// objects: "tool_input.command".
func (r Row) String(field string) string {
	var value any = r.Input
	for name := range strings.SplitSeq(field, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[name]
	}
	if value == nil {
		return ""
	}
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// Answer is a rule for what the recorder says to the client. The first rule
// that fits a call and is not used up decides; no rule means exit 0 and empty
// output.
type Answer struct {
	Event    string `json:"event"`
	Tool     string `json:"tool,omitempty"`     // tool_name; empty fits all
	Contains string `json:"contains,omitempty"` // text in the payload
	Tag      string `json:"tag,omitempty"`
	Times    int    `json:"times,omitempty"` // how often it may be used; 0 is without limit

	After  string `json:"after,omitempty"` // a file that has to be there before the answer comes
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Exit   int    `json:"exit,omitempty"`
}

// Log is where one client's recorder writes.
type Log struct {
	dir     string
	program string
}

// Open prepares a log on a machine, with rules for the recorder's answers.
func Open(t testing.TB, m machine.Machine, answers []Answer) *Log {
	t.Helper()
	dir, err := os.MkdirTemp(machine.Mkdir(t, m, filepath.Join(m.Folder(), "hooks")), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil { // the person's hooks write here
		t.Fatal(err)
	}
	text, err := json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	machine.Write(t, m, filepath.Join(dir, "answers.json"), string(text))
	return &Log{dir: dir, program: build.Program(t, "lab", "./e2e/lab/recorder")}
}

// Command is the hook's command line.
func (l *Log) Command(tag string) string {
	return strings.TrimSpace(l.program + " " + l.dir + " " + tag)
}

// Args is the hook's command as a program and its arguments, for a client whose
// payload does not name the event.
func (l *Log) Args(tag, event string) (program string, args []string) {
	return l.program, []string{l.dir, tag, event}
}

// File is where the rows are, one JSON object a line, for a recorder of another
// kind that appends to it; it has to have "at", "event" and "raw".
func (l *Log) File() string { return filepath.Join(l.dir, "hooks.jsonl") }

// Rows lists the calls so far, oldest first.
func (l *Log) Rows(t testing.TB) []Row {
	t.Helper()
	text, err := os.ReadFile(l.File())
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // what follows is being written
	var rows []Row
	for line := range bytes.Lines(text) {
		var row Row
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("the recorder's log: %v", err)
		}
		if err := json.Unmarshal([]byte(row.Raw), &row.Input); err != nil {
			t.Fatalf("the payload %q: %v", row.Raw, err)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.At.Compare(b.At) })
	return rows
}

// Events lists the names of the calls so far.
func (l *Log) Events(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, row := range l.Rows(t) {
		names = append(names, row.Event)
	}
	return names
}

// Of lists the calls of one event whose payload has the given fields, such as
// "tool_name=Bash".
func (l *Log) Of(t testing.TB, event string, fields ...string) []Row {
	t.Helper()
	var found []Row
	for _, row := range l.Rows(t) {
		if row.Event != event {
			continue
		}
		fits := true
		for _, field := range fields {
			name, want, _ := strings.Cut(field, "=")
			fits = fits && row.String(name) == want
		}
		if fits {
			found = append(found, row)
		}
	}
	return found
}

// Wait waits until there are n calls of an event, as in [Log.Of], and returns
// the nth.
func (l *Log) Wait(t testing.TB, n int, event string, fields ...string) Row {
	t.Helper()
	wait.Until(t, wait.Long, fmt.Sprintf("hook call %d of %s %v", n, event, fields), func() (bool, string) {
		return len(l.Of(t, event, fields...)) >= n, strings.Join(l.Events(t), " ")
	})
	return l.Of(t, event, fields...)[n-1]
}
