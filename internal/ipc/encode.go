package ipc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/lidguard-go/lidguard/internal/event"
)

// A hook process encodes one request and decodes one reply in its whole life, so
// what encoding/json costs at first use (it compiles every type it can reach)
// would be paid each time. The two hot messages are therefore written and read
// by hand. TestRequestJSON_agreesWithEncodingJSON holds the encoder to the field
// tags of the types.

// AppendRequest appends r as JSON to dst, without a newline.
func AppendRequest(dst []byte, r *Request) []byte {
	dst = append(dst, `{"v":`...)
	dst = strconv.AppendInt(dst, int64(r.Protocol), 10)
	dst = append(dst, `,"version":`...)
	dst = appendString(dst, r.Version)
	dst = append(dst, `,"op":`...)
	dst = appendString(dst, string(r.Op))
	dst = appendSignals(dst, "signals", r.Signals)
	dst = appendSignals(dst, "here", r.Here)
	if r.Ask {
		dst = append(dst, `,"ask":true`...)
	}
	if r.Session != nil {
		dst = append(dst, `,"session":`...)
		dst = appendKey(dst, *r.Session)
	}
	if r.All {
		dst = append(dst, `,"all":true`...)
	}
	if !r.At.IsZero() {
		dst = append(dst, `,"at":`...)
		dst = appendTime(dst, r.At)
	}
	if h := r.Hook; h != nil {
		dst = append(dst, `,"hook":`...)
		dst = AppendHookEvent(dst, h)
	}
	if len(r.Telemetry) > 0 {
		dst = append(dst, `,"telemetry":`...)
		dst = appendRaw(dst, r.Telemetry)
	}
	if d := r.Dispatch; d != nil {
		dst = append(dst, `,"dispatch":{"helper":`...)
		dst = appendString(dst, d.Helper)
		dst = appendField(dst, "cwd", d.Cwd)
		dst = append(dst, `,"provider":`...)
		dst = appendString(dst, string(d.Provider))
		dst = append(dst, `,"native":`...)
		dst = appendString(dst, d.Native)
		dst = append(dst, `,"event":`...)
		dst = appendRaw(dst, d.Event)
		dst = append(dst, `,"deadline_ms":`...)
		dst = strconv.AppendInt(dst, d.DeadlineMS, 10)
		dst = append(dst, '}')
	}
	if p := r.Phone; p != nil {
		dst = append(dst, `,"phone":{"session":`...)
		dst = appendKey(dst, p.Session)
		dst = appendField(dst, "id", p.ID)
		dst = appendField(dst, "tool", p.Tool)
		dst = appendField(dst, "title", p.Title)
		dst = appendField(dst, "text", p.Text)
		if p.Whole {
			dst = append(dst, `,"whole":true`...)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// AppendHookEvent appends h as JSON to dst, without a newline.
func AppendHookEvent(dst []byte, h *HookEvent) []byte {
	dst = append(dst, `{"time":`...)
	dst = appendTime(dst, h.Time)
	dst = append(dst, `,"provider":`...)
	dst = appendString(dst, string(h.Provider))
	dst = append(dst, `,"event":`...)
	dst = appendString(dst, h.Event)
	dst = appendField(dst, "session", string(h.Session))
	dst = appendField(dst, "tool", h.Tool)
	dst = appendField(dst, "prompt", h.Prompt)
	dst = appendField(dst, "answer", h.Answer)
	dst = appendField(dst, "error", h.Error)
	return append(dst, '}')
}

func appendSignals(dst []byte, name string, signals []event.Signal) []byte {
	if len(signals) == 0 {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":[`...)
	for i := range signals {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendSignal(dst, &signals[i])
	}
	return append(dst, ']')
}

func appendSignal(dst []byte, s *event.Signal) []byte {
	dst = append(dst, `{"kind":`...)
	dst = appendString(dst, string(s.Kind))
	dst = append(dst, `,"session":`...)
	dst = appendKey(dst, s.Session)
	dst = append(dst, `,"source":`...)
	dst = appendString(dst, s.Source)
	if s.Offset != 0 {
		dst = append(dst, `,"offset":`...)
		dst = strconv.AppendInt(dst, s.Offset, 10)
	}
	dst = appendField(dst, "reason", s.Reason)
	dst = appendField(dst, "agent_id", s.AgentID)
	dst = appendField(dst, "tool_use", s.ToolUse)
	dst = appendField(dst, "tool", s.Tool)
	if s.Task != nil {
		dst = append(dst, `,"task":`...)
		dst = appendTask(dst, s.Task)
	}
	if s.Tasks != nil {
		dst = append(dst, `,"tasks":[`...)
		for i := range s.Tasks {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendTask(dst, &s.Tasks[i])
		}
		dst = append(dst, ']')
	}
	dst = appendField(dst, "cwd", s.Cwd)
	dst = appendField(dst, "transcript", s.Transcript)
	dst = appendField(dst, "prompt", s.Prompt)
	dst = appendField(dst, "last_message", s.LastMessage)
	if p := s.Process; p != nil {
		dst = append(dst, `,"process":{"pid":`...)
		dst = strconv.AppendInt(dst, int64(p.PID), 10)
		dst = append(dst, `,"start":`...)
		dst = strconv.AppendUint(dst, p.Start, 10)
		if p.Shared {
			dst = append(dst, `,"shared":true`...)
		}
		dst = append(dst, '}')
	}
	if s.Continues {
		dst = append(dst, `,"continues":true`...)
	}
	if !s.Resets.IsZero() {
		dst = append(dst, `,"resets":`...)
		dst = appendTime(dst, s.Resets)
	}
	return append(dst, '}')
}

func appendTask(dst []byte, t *event.Task) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, t.ID)
	dst = append(dst, `,"type":`...)
	dst = appendString(dst, string(t.Type))
	dst = appendField(dst, "description", t.Description)
	if t.Idle {
		dst = append(dst, `,"idle":true`...)
	}
	return append(dst, '}')
}

func appendKey(dst []byte, k event.SessionKey) []byte {
	dst = append(dst, `{"provider":`...)
	dst = appendString(dst, string(k.Provider))
	dst = append(dst, `,"session_id":`...)
	dst = appendString(dst, string(k.ID))
	dst = appendField(dst, "provider_name", k.Name)
	return append(dst, '}')
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}

func appendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return appendString(dst, value)
}

// appendRaw appends a JSON value on one line, null for what is none.
func appendRaw(dst []byte, v json.RawMessage) []byte {
	b := bytes.NewBuffer(dst)
	if err := json.Compact(b, v); err != nil || len(v) == 0 {
		return append(dst, `null`...)
	}
	return b.Bytes()
}

const hex = "0123456789abcdef"

// appendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD,
// as in encoding/json; < > & are left alone, since no browser reads this.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			i += size
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

// hotReply is the part of Reply that a hook reads. Decoding into Reply itself
// would make encoding/json compile Status and all that hangs below it.
type hotReply struct {
	Protocol int    `json:"v"`
	Version  string `json:"version"`
	OK       bool   `json:"ok"`
	Error    string `json:"error"`
	Away     *Away  `json:"away"`
	Owner    bool   `json:"owner"`

	Dispatched *Dispatched `json:"dispatched"`
	Phone      *PhoneReply `json:"phone"`
}

// decodeReply reads a reply to a request with op.
func decodeReply(line []byte, op Op) (*Reply, error) {
	if op != OpSignal && op != OpAway && op != OpHookEvent && op != OpDispatch && op != OpPhone {
		r := new(Reply)
		return r, json.Unmarshal(line, r)
	}
	// The runtime's own spelling of the commonest reply needs no decoder.
	if r, ok := plainOK(line); ok {
		return r, nil
	}
	var h hotReply
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, err
	}
	return &Reply{Protocol: h.Protocol, Version: h.Version, OK: h.OK, Error: h.Error, Away: h.Away, Owner: h.Owner, Dispatched: h.Dispatched, Phone: h.Phone}, nil
}

// AppendReply appends r as JSON to dst, without a newline. It is what the
// runtime sends, so that plainOK can recognise the commonest reply.
func AppendReply(dst []byte, r *Reply) ([]byte, error) {
	if r.OK && r.Error == "" && r.Away == nil && r.Status == nil && r.Why == nil && r.State == nil && r.Removed == 0 && !r.Owner && r.Dispatched == nil && r.Phone == nil {
		dst = append(dst, `{"v":`...)
		dst = strconv.AppendInt(dst, int64(r.Protocol), 10)
		dst = append(dst, `,"version":`...)
		dst = appendString(dst, r.Version)
		return append(dst, plainTail...), nil
	}
	b, err := json.Marshal(r)
	return append(dst, b...), err
}

const plainTail = `,"ok":true}`

// plainOK reads `{"v":N,"version":"…","ok":true}` with a version that needs no
// unescaping, exactly as AppendReply writes it.
func plainOK(line []byte) (*Reply, bool) {
	s := string(line)
	rest, ok := cut(s, `{"v":`)
	if !ok {
		return nil, false
	}
	n := 0
	for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	v, err := strconv.Atoi(rest[:n])
	if err != nil || n > 1 && rest[0] == '0' {
		return nil, false
	}
	rest, ok = cut(rest[n:], `,"version":"`)
	if !ok {
		return nil, false
	}
	end := len(rest) - len(plainTail) - 1
	if end < 0 || rest[end:] != `"`+plainTail {
		return nil, false
	}
	version := rest[:end]
	for i := range len(version) {
		if c := version[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return nil, false
		}
	}
	return &Reply{Protocol: v, Version: version, OK: true}, true
}

func cut(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || s[:len(prefix)] != prefix {
		return s, false
	}
	return s[len(prefix):], true
}
