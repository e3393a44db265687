// Package codectest holds the laws and golden files that every provider codec is
// tested with. In come a codec and a folder of payloads real clients sent, out
// go one golden text per payload: the event read, what it means for the session,
// and the answer for each kind of verdict. Only tests import it.
package codectest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lidguard-go/lidguard/internal/event"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Codec is what each provider package offers under this name.
type Codec interface {
	Provider() event.Provider
	Decode(payload []byte, env func(string) string, native string) (event.Event, error)
	Encode(*event.Event, event.Verdict) (event.Output, error)
	Signals(*event.Event, event.Verdict) []event.Signal
	Refuse(*event.Event, string) event.Output
}

// Named is a verdict with the name it has in golden files.
type Named struct {
	Name    string
	Verdict event.Verdict
}

// Verdicts are the answers each payload is tried with. Rewrites fit the tool the
// event is about, as a policy's would.
func Verdicts(ev *event.Event) []Named {
	input, output := json.RawMessage(`{"command":"echo masked"}`), json.RawMessage(`"masked"`)
	if ev.Tool != nil && ev.Tool.Response != nil {
		output = masked(ev.Tool.Response)
	}
	return []Named{
		{"none", event.Verdict{}},
		{"deny", event.Verdict{Decision: event.Deny, Reason: "rule x: not this.\nDo that\x1b[1m instead."}},
		{"deny without a reason", event.Verdict{Decision: event.Deny}},
		{"deny and interrupt", event.Verdict{Decision: event.Deny, Reason: "nobody is here", Interrupt: true}},
		{"ask", event.Verdict{Decision: event.Ask, Reason: "is this meant?"}},
		{"ask for a reason of its own", event.Verdict{Decision: event.Ask, Rule: "closed_lid_permission_request_ask"}},
		{"allow", event.Verdict{Decision: event.Allow}},
		{"context", event.Verdict{Contexts: []string{"branch main", "two files changed"}}},
		{"rewrite", event.Verdict{Decision: event.Allow, UpdatedInput: input, UpdatedOutput: output}},
		{"stop the turn", event.Verdict{StopTurn: true, StopReason: "enough"}},
		{"cancel", event.Verdict{Decision: event.Deny, Reason: "nobody is here", ElicitAction: "cancel"}},
		{"everything", event.Verdict{
			Decision: event.Deny, Reason: "no", Contexts: []string{"c"}, UpdatedInput: input, UpdatedOutput: output,
			Permissions: json.RawMessage(`[]`), SystemMessage: "seen\x07", StopTurn: true, StopReason: "enough",
			ElicitAction: "accept", ElicitContent: json.RawMessage(`{"a":"b"}`), SessionTitle: "a\ntitle",
			WatchPaths: []string{"/w"}, TerminalSequence: "\x1b]9;done\x07", Interrupt: true, Rule: "r", Policy: "p",
		}},
	}
}

// masked replaces each text of a JSON value by one of the same kind.
func masked(raw json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return "masked"
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		}
		return v
	}
	out, _ := json.Marshal(walk(v))
	return out
}

// Env is an environment with nothing but the given pairs, name then value.
func Env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// Golden runs every *.json payload of testdata/fixtures through the codec and
// compares with testdata/golden/<name>.txtar. native gives the event name the
// command line would carry for a file, "" where the payload names it.
func Golden(t *testing.T, codec Codec, env func(string) string, native func(file string) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "fixtures", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			payload, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ev, err := codec.Decode(payload, env, native(filepath.Base(file)))
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			Compare(t, filepath.Join("testdata", "golden", name+".txtar"), render(t, codec, &ev))
		})
	}
}

func render(t *testing.T, codec Codec, ev *event.Event) []byte {
	var b bytes.Buffer
	b.WriteString("-- event --\n" + Summary(ev))
	plain := Lines(codec.Signals(ev, event.Verdict{}))
	for _, n := range Verdicts(ev) {
		out, err := codec.Encode(ev, n.Verdict)
		if err != nil {
			t.Errorf("%s: Encode: %v", n.Name, err)
		}
		CheckOutput(t, n.Name, out)
		signals := Lines(codec.Signals(ev, n.Verdict))
		fmt.Fprintf(&b, "-- %s --\n", n.Name)
		if len(out.Stdout) > 0 {
			fmt.Fprintf(&b, "stdout %s\n", out.Stdout)
		}
		if len(out.Stderr) > 0 {
			fmt.Fprintf(&b, "stderr %q\n", out.Stderr)
		}
		if out.Code != 0 {
			fmt.Fprintf(&b, "exit %d\n", out.Code)
		}
		if n.Name == "none" || signals != plain {
			b.WriteString(signals)
		}
	}
	return b.Bytes()
}

// CheckOutput holds what is true of every answer to every client: JSON alone with
// exit 0, stderr alone with exit 2, and no control characters for a reader.
func CheckOutput(t testing.TB, name string, out event.Output) {
	t.Helper()
	switch {
	case out.Code != 0 && out.Code != 2:
		t.Errorf("%s: exit %d", name, out.Code)
	case out.Code == 2 && (len(out.Stdout) > 0 || len(out.Stderr) == 0):
		t.Errorf("%s: exit 2 with stdout %q and stderr %q", name, out.Stdout, out.Stderr)
	case out.Code == 0 && len(out.Stderr) > 0:
		t.Errorf("%s: exit 0 with stderr %q", name, out.Stderr)
	case len(out.Stdout) > 0 && (!json.Valid(out.Stdout) || out.Stdout[0] != '{' || bytes.ContainsRune(out.Stdout, '\n')):
		t.Errorf("%s: stdout is no one-line JSON object: %s", name, out.Stdout)
	}
	for _, text := range [][]byte{out.Stdout, out.Stderr} {
		if !utf8.Valid(text) || bytes.ContainsAny(text, "\x00\x07\x1b\r") {
			t.Errorf("%s: %q has control characters or is no UTF-8", name, text)
		}
	}
}

// Matrix tries every verdict on every named event and hands each answer to judge,
// which says what is wrong with it or "".
func Matrix(t *testing.T, codec Codec, evs []event.Event, judge func(*event.Event, Named, event.Output) string) {
	t.Helper()
	for i := range evs {
		ev := &evs[i]
		for _, n := range Verdicts(ev) {
			out, err := codec.Encode(ev, n.Verdict)
			if err != nil {
				t.Errorf("%s, %s: Encode: %v", ev.Native, n.Name, err)
			}
			CheckOutput(t, ev.Native+", "+n.Name, out)
			if fault := judge(ev, n, out); fault != "" {
				t.Errorf("%s, %s: %s: stdout %s, exit %d", ev.Native, n.Name, fault, out.Stdout, out.Code)
			}
		}
	}
}

// Fuzz feeds anything to Decode: it never panics, an error never hides a whole
// event, and whatever came out can be answered without breaking a law.
func Fuzz(f *testing.F, codec Codec, native string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "fixtures", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload, "reason", `{"command":"x"}`)
		f.Add(payload[:len(payload)/2], "a\x1b[31m\u202e", `"text"`)
	}
	f.Fuzz(func(t *testing.T, payload []byte, reason, raw string) {
		ev, err := codec.Decode(payload, Env("CLAUDE_PID", reason), native)
		// Events of no session are all unknown ones, but for a client's own end.
		if err == nil && (ev.Native == "" || ev.Session.ID == "" && ev.Name != "" && ev.Name != event.Disposed) {
			t.Fatalf("Decode(%q) found no session or no event and said nothing", payload)
		}
		if err == nil && !json.Valid(bytes.TrimPrefix(payload, []byte("\ufeff"))) && bytes.Count(payload, []byte("["))+bytes.Count(payload, []byte("{")) < 500 {
			t.Fatalf("Decode(%q) accepted broken JSON", payload)
		}
		CheckOutput(t, "Refuse", codec.Refuse(&ev, "refused: "+reason))
		verdicts := append(Verdicts(&ev),
			Named{"fuzzed", event.Verdict{Decision: event.Deny, Reason: reason, Contexts: []string{reason},
				UpdatedInput: json.RawMessage(raw), UpdatedOutput: json.RawMessage(raw), SystemMessage: reason}},
			Named{"fuzzed allow", event.Verdict{Decision: event.Allow, UpdatedInput: json.RawMessage(raw),
				Permissions: json.RawMessage(raw), ElicitAction: reason, ElicitContent: json.RawMessage(raw)}})
		for _, n := range verdicts {
			// Only rewrites made of rubbish may be refused; never written.
			out, _ := codec.Encode(&ev, n.Verdict)
			CheckOutput(t, n.Name, out)
			for _, s := range codec.Signals(&ev, n.Verdict) {
				if s.Kind == "" || s.Session != ev.Session && s.Session.ID == "" {
					t.Fatalf("signal %+v for %q", s, payload)
				}
			}
		}
	})
}

// Summary renders the fields of ev that are set, one a line. Raw is left out.
func Summary(ev *event.Event) string {
	short := *ev
	short.Raw = nil
	text, err := json.Marshal(short)
	if err != nil {
		return fmt.Sprintf("unprintable: %v\n", err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return fmt.Sprintf("unreadable: %v\n", err)
	}
	var b strings.Builder
	for _, key := range []string{
		"Provider", "Name", "Native", "Session", "TurnID", "AgentID", "AgentType", "Cwd", "TranscriptPath",
		"AgentTranscript", "PermissionMode", "Model", "ClientPID", "Tool", "Prompt", "Source", "Reason", "Trigger",
		"Notification", "StopActive", "LastMessage", "Error", "Tasks", "Crons", "Elicitation", "Path",
	} {
		if v := string(fields[key]); v != `""` && v != "null" && v != "0" && v != "false" && v != "" {
			fmt.Fprintf(&b, "%s %s\n", key, v)
		}
		delete(fields, key)
	}
	delete(fields, "Raw")
	for key := range fields {
		fmt.Fprintf(&b, "field %s is not rendered\n", key)
	}
	return b.String()
}

// Lines renders signals one a line, without what all of a session share.
func Lines(signals []event.Signal) string {
	var b strings.Builder
	for _, s := range signals {
		kind := s.Kind
		id := s.Session.ID
		s.Kind, s.Session, s.Cwd, s.Transcript = "", event.SessionKey{}, "", ""
		text, _ := json.Marshal(s)
		rest := strings.Replace(string(text), `"kind":"","session":{"provider":"","session_id":""},`, "", 1)
		fmt.Fprintf(&b, "signal %s %s %s\n", kind, id, rest)
	}
	return b.String()
}

// Compare compares with a golden file, or writes it under -update.
func Compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

// Detector is what each transcript package's New returns.
type Detector interface {
	Line(line []byte, offset int64) []event.Signal
}

// GoldenTranscripts feeds every transcript of ../testdata/fixtures line by line
// to a fresh detector and compares the signals with testdata/golden.
func GoldenTranscripts(t *testing.T, fresh func() Detector) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			d, offset := fresh(), int64(0)
			for i, line := range bytes.SplitAfter(text, []byte("\n")) {
				for _, s := range d.Line(bytes.TrimRight(line, "\n"), offset) {
					fmt.Fprintf(&b, "line %d %s", i+1, Lines([]event.Signal{s}))
				}
				offset += int64(len(line))
			}
			Compare(t, filepath.Join("testdata", "golden", name+".txt"), []byte(b.String()))
		})
	}
}

// FuzzTranscript feeds anything to a detector: no panic, and each signal names
// the session and the offset it was given.
func FuzzTranscript(f *testing.F, key event.SessionKey, fresh func() Detector) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("..", "testdata", "fixtures", "*.jsonl"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, offset := fresh(), int64(0)
		for _, line := range bytes.SplitAfter(text, []byte("\n")) {
			for _, s := range d.Line(line, offset) {
				if s.Session != key || s.Offset != offset || s.Kind == "" || !strings.HasPrefix(s.Source, "transcript ") {
					t.Fatalf("line %q at %d gave %+v", line, offset, s)
				}
			}
			offset += int64(len(line))
		}
	})
}
