package ipc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fill sets every field of v to something drawn, so that a field added to a
// message and forgotten in encode.go fails the law below.
func fill(t *rapid.T, v reflect.Value, label string) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		if text := rapid.SampledFrom([]string{"", `{"a":[1,"\n"]}`, "null", "1e400", `"\u2028"`}).Draw(t, label); text != "" {
			v.SetBytes([]byte(text))
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\"b\\c\n\t\x00\x1f", "\u2028<>&", "ü漢😀"})).Draw(t, label))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, label))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, label))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, label))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, label+" set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), label)
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(t, label+" length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i), label)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if rapid.Bool().Draw(t, label+" set") {
				v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 4e9).Draw(t, label), rapid.Int64Range(0, 999999999).Draw(t, label)).UTC()))
			}
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), v.Type().Field(i).Name)
		}
	default:
		t.Fatalf("no generator for %s", v.Type())
	}
}

// Law: what AppendRequest writes means to encoding/json what encoding/json would
// have written.
func TestRequestJSON_agreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Request
		fill(t, reflect.ValueOf(&r).Elem(), "request")
		got := AppendRequest(nil, &r)
		if !json.Valid(got) || bytes.IndexByte(got, '\n') >= 0 {
			t.Fatalf("AppendRequest = %q, want one line of JSON", got)
		}
		std, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var a, b Request
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(std, &b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Fatalf("encoding/json and AppendRequest differ (-json +ours):\n%s", diff)
		}
	})
}

func TestAppendRequest_anEventIsOneLine(t *testing.T) {
	for event, want := range map[string]string{"{\n \"a\": \"<\"\n}": `{"a":"<"}`, "{": "null", "": "null"} {
		got := AppendRequest(nil, &Request{Op: OpDispatch, Dispatch: &Dispatch{Helper: "h", Event: json.RawMessage(event)}})
		if !json.Valid(got) || !bytes.Contains(got, []byte(`"event":`+want+`,`)) {
			t.Errorf("%q: got %s", event, got)
		}
	}
}

func TestReplyJSON_hotFieldsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var hot hotReply
		fill(t, reflect.ValueOf(&hot).Elem(), "reply")
		want := Reply{Protocol: hot.Protocol, Version: strings.ToValidUTF8(hot.Version, "\ufffd"), OK: hot.OK, Error: hot.Error, Away: hot.Away, Owner: hot.Owner, Dispatched: hot.Dispatched}
		line, err := AppendReply(nil, &want)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []Op{OpSignal, OpStatus} {
			got, err := decodeReply(line, op)
			if err != nil {
				t.Fatalf("decodeReply(%q, %s): %v", line, op, err)
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Fatalf("decodeReply(%q, %s) (-want +got):\n%s", line, op, diff)
			}
		}
	})
}

func FuzzPlainOK(f *testing.F) {
	f.Add([]byte(`{"v":1,"version":"v1.2.3","ok":true}`))
	f.Add([]byte(`{"v":1,"version":"a\"b","ok":true}`))
	f.Add([]byte(`{"v":01,"version":"","ok":true}`))
	f.Add([]byte(`{"v":1,"version":"x","ok":false,"version":"","ok":true}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := plainOK(line)
		if !ok {
			return
		}
		var want Reply
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("plainOK accepts %q, encoding/json says %v", line, err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Fatalf("plainOK(%q) (-json +ours):\n%s", line, diff)
		}
	})
}

func TestReader(t *testing.T) {
	big := strings.Repeat("x", MaxMessage)
	for _, c := range []struct {
		name, in string
		want     []string
		err      error
	}{
		{"two messages", "a\nbb\n", []string{"a", "bb"}, io.EOF},
		{"an empty line is an empty message", "\n", []string{""}, io.EOF},
		{"half a message is none", "a\nb", []string{"a"}, io.ErrUnexpectedEOF},
		{"the largest message passes", big + "\n", []string{big}, io.EOF},
		{"one byte more does not", big + "x\n", nil, ErrTooLarge},
		{"endless input without a newline is bounded", strings.Repeat("x", 3*MaxMessage), nil, ErrTooLarge},
		{"longer than the first buffer", strings.Repeat("y", firstRead+1) + "\nz\n", []string{strings.Repeat("y", firstRead+1), "z"}, io.EOF},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.HalfReader(strings.NewReader(c.in))} {
			in, got := NewReader(r), []string(nil)
			var err error
			for {
				var line []byte
				if line, err = in.Next(); err != nil {
					break
				}
				got = append(got, string(line))
			}
			if !reflect.DeepEqual(got, c.want) || !errors.Is(err, c.err) {
				t.Errorf("%s: got %d messages and %v, want %d and %v", c.name, len(got), err, len(c.want), c.err)
			}
		}
	}
}

func TestWriteMessage(t *testing.T) {
	var b bytes.Buffer
	if err := WriteMessage(&b, make([]byte, MaxMessage+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v, want ErrTooLarge", err)
	}
	if err := WriteMessage(&b, []byte("a\nb")); err == nil {
		t.Error("a newline inside a message was accepted")
	}
	if b.Len() != 0 {
		t.Errorf("refused messages left %q on the wire", b.String())
	}
}

// answer runs one runtime-like peer that replies with line to one request, or
// stays silent when line is empty.
func answer(t *testing.T, line string) *Client {
	t.Helper()
	return &Client{Version: "v1.0.0", CallTimeout: 50 * time.Millisecond, Dial: func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() { // ends when the client closes its side
			defer theirs.Close()
			in := NewReader(theirs)
			if _, err := in.Next(); err != nil {
				return
			}
			if line != "" {
				io.WriteString(theirs, line)
			}
			if line == "" || line[len(line)-1] == '\n' {
				in.Next() // else hang up in the middle
			}
		}()
		return ours, nil
	}}
}

func TestCall(t *testing.T) {
	var protocol *ProtocolError
	var refused *RefusedError
	for _, c := range []struct {
		name, line string
		check      func(*Reply, error) bool
	}{
		{"a plain yes", `{"v":1,"version":"v1","ok":true}` + "\n", func(r *Reply, err error) bool { return err == nil && r.OK }},
		{"away is told", `{"v":1,"version":"v1","ok":true,"away":{"lid":"closed","displays":0,"away":true}}` + "\n",
			func(r *Reply, err error) bool { return err == nil && r.Away.Away && r.Away.Lid == "closed" }},
		{"another protocol is named", `{"v":7,"version":"v9","ok":false,"error":"protocol"}` + "\n",
			func(_ *Reply, err error) bool { return errors.As(err, &protocol) && protocol.Theirs == 7 }},
		{"a refusal keeps its words", `{"v":1,"version":"v1","ok":false,"error":"no such session"}` + "\n",
			func(_ *Reply, err error) bool { return errors.As(err, &refused) && refused.Text == "no such session" }},
		{"garbage is an error", "garbage\n", func(_ *Reply, err error) bool { return err != nil }},
		{"half a reply is a hang-up", `{"v":1`, func(_ *Reply, err error) bool { return errors.Is(err, ErrHungUp) }},
		{"silence ends at the deadline", "", func(_ *Reply, err error) bool {
			var timeout net.Error
			return errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, ErrHungUp)
		}},
	} {
		if r, err := answer(t, c.line).Call(t.Context(), &Request{Op: OpSignal}); !c.check(r, err) {
			t.Errorf("%s: got %+v, %v", c.name, r, err)
		}
	}
	dead := &Client{Dial: func(context.Context) (net.Conn, error) { return nil, errors.New("connection refused") }}
	if _, err := dead.Call(t.Context(), &Request{Op: OpAway}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody listens: %v, want ErrNotRunning", err)
	}
}

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"v1.2.0", "v1.1.9", true}, {"v1.1.9", "v1.2.0", false}, {"v1.0.0", "v1.0.0", false},
		{"devel", "v1.0.0", false}, {"v1.0.0", "devel", false},
		{"v0.0.0-20260102000000-abcdefabcdef", "v0.0.0-20260101000000-abcdefabcdef", true},
	} {
		if got := Newer(c.a, c.b); got != c.want {
			t.Errorf("Newer(%q, %q) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, forbidden := range []struct{ path, reason string }{
		{"net/http", "costs 0.6 ms of start-up in every hook"},
		{"crypto/tls", "the socket is local; TLS tables are paid at start"},
		{"regexp", "nothing here matches patterns"},
		{"github.com/spf13/cobra", "hooks have no command line framework"},
		{"github.com/godbus/dbus/v5", "only the runtime talks to the bus"},
	} {
		for _, dep := range strings.Fields(string(out)) {
			if dep == forbidden.path {
				t.Errorf("ipc links %s: %s", forbidden.path, forbidden.reason)
			}
		}
	}
}
