package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Request is one question to a helper, but for its id; see docs/resident.md.
type Request struct {
	Provider event.Provider  `json:"provider"`
	Native   string          `json:"native"`
	Event    json.RawMessage `json:"event"`
	Deadline int64           `json:"deadline_ms"`
}

// line is the request as the protocol has it.
func (r *Request) line(id int64) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // compacts the payload, so that it is one line
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		ID int64 `json:"id"`
		*Request
	}{id, r})
	return b.Bytes(), err
}

// request puts an event into the protocol: the client's own payload, with what
// earlier handlers rewrote.
func request(ev *event.Event, left time.Duration) (*Request, error) {
	raw, err := rewritten(ev)
	if err != nil {
		return nil, err
	}
	return &Request{Provider: ev.Provider, Native: ev.Native, Event: raw, Deadline: max(left.Milliseconds(), 1)}, nil
}

// rewritten is the payload with the tool's input and response as earlier bands
// left them. Payloads that keep these elsewhere are left as they came.
func rewritten(ev *event.Event) (json.RawMessage, error) {
	if len(ev.Raw) == 0 {
		return ClaudePayload(ev)
	}
	if ev.Tool == nil {
		return ev.Raw, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(ev.Raw, &all); err != nil {
		return nil, fmt.Errorf("the payload is no JSON object: %w", err)
	}
	changed := false
	for key, now := range map[string]json.RawMessage{"tool_input": ev.Tool.Input, "tool_response": ev.Tool.Response} {
		if was, ok := all[key]; ok && len(now) > 0 && !same(was, now) {
			all[key], changed = now, true
		}
	}
	if !changed {
		return ev.Raw, nil
	}
	return json.Marshal(all)
}

func same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// said is a verdict as helpers write it.
type said struct {
	Decision      string          `json:"decision"`
	Reason        string          `json:"reason"`
	Rule          string          `json:"rule"`
	Contexts      []string        `json:"contexts"`
	UpdatedInput  json.RawMessage `json:"updated_input"`
	UpdatedOutput json.RawMessage `json:"updated_output"`
	SystemMessage string          `json:"system_message"`
	StopTurn      bool            `json:"stop_turn"`
	StopReason    string          `json:"stop_reason"`
	Interrupt     bool            `json:"interrupt"`
	Permissions   json.RawMessage `json:"permissions"`
	Action        string          `json:"action"`
	Content       json.RawMessage `json:"content"`
	SessionTitle  string          `json:"session_title"`
	WatchPaths    []string        `json:"watch_paths"`
}

// readVerdict reads a verdict. What drives a terminal is dropped: neither control
// characters nor terminal_sequence of a foreign program go any further.
func readVerdict(text []byte) (event.Verdict, error) {
	var s said
	if err := json.Unmarshal(text, &s); err != nil {
		return event.Verdict{}, fmt.Errorf("its verdict cannot be read: %w", err)
	}
	v := event.Verdict{Reason: printable(s.Reason), Rule: printable(s.Rule), UpdatedInput: value(s.UpdatedInput), UpdatedOutput: value(s.UpdatedOutput),
		SystemMessage: printable(s.SystemMessage), StopTurn: s.StopTurn, StopReason: printable(s.StopReason), Interrupt: s.Interrupt,
		Permissions: value(s.Permissions), ElicitAction: s.Action, ElicitContent: value(s.Content), SessionTitle: printable(s.SessionTitle), WatchPaths: s.WatchPaths}
	for _, c := range s.Contexts {
		if c = printable(c); strings.TrimSpace(c) != "" {
			v.Contexts = append(v.Contexts, c)
		}
	}
	var ok bool
	if v.Decision, ok = decision(s.Decision); !ok {
		return event.Verdict{}, fmt.Errorf("its decision is %q, which is none", printable(s.Decision))
	}
	return v, nil
}

func decision(word string) (event.Decision, bool) {
	switch word {
	case "", "none":
		return event.None, true
	case "allow":
		return event.Allow, true
	case "ask":
		return event.Ask, true
	case "deny":
		return event.Deny, true
	}
	return event.None, false
}

// value is a JSON value that says something.
func value(v json.RawMessage) json.RawMessage {
	if len(v) == 0 || string(v) == "null" {
		return nil
	}
	return v
}

// readLine reads the one line of a program that was run for one question.
func readLine(r policy.Result) (event.Verdict, error) {
	if r.Code != 0 {
		return event.Verdict{}, ended(r)
	}
	out := bytes.TrimSpace(r.Stdout)
	if first, _, more := bytes.Cut(out, []byte("\n")); more {
		out = bytes.TrimSpace(first)
	}
	return ReadAnswer(out, 1)
}

// ReadAnswer reads one line of an answer, whose id has to be the one given.
func ReadAnswer(line []byte, id int64) (event.Verdict, error) {
	var a struct {
		ID      json.RawMessage `json:"id"`
		Verdict json.RawMessage `json:"verdict"`
		Error   *string         `json:"error"`
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return event.Verdict{}, fmt.Errorf("its answer is no line of JSON: %w", err)
	}
	switch {
	case a.Error != nil:
		return event.Verdict{}, fmt.Errorf("it says: %s", short(*a.Error))
	case string(a.ID) != fmt.Sprint(id):
		return event.Verdict{}, fmt.Errorf("its answer is to %s and not to %d", short(string(a.ID)), id)
	case value(a.Verdict) == nil:
		return event.Verdict{}, errors.New("its answer has no verdict")
	}
	return readVerdict(a.Verdict)
}

// ended says how a program failed, with the end of what it told.
func ended(r policy.Result) error {
	told := strings.TrimSpace(printable(string(r.Stderr)))
	if told == "" {
		return fmt.Errorf("it ended with %s", r.Ended())
	}
	lines := strings.Split(told, "\n")
	return fmt.Errorf("it ended with %s: %s", r.Ended(), short(lines[len(lines)-1]))
}

// short keeps foreign text in an error on one short line.
func short(s string) string { return event.Preview(s) }

// printable takes out of foreign text what could drive a terminal or hide words
// from a reader.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200d':
			return r
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
