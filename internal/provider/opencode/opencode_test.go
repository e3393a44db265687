package opencode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
)

var env = codectest.Env("OPENCODE_PID", "4242")

// native is the name the plugin passes for a fixture: bus events name themselves,
// hooks do not.
func native(file string) string {
	name, isHook := strings.CutPrefix(strings.TrimSuffix(file, ".json"), "hook-")
	if !isHook {
		return ""
	}
	for _, hook := range []string{"tool.execute.before", "tool.execute.after"} {
		if strings.HasPrefix(name, hook) {
			return hook
		}
	}
	return name
}

func TestGolden(t *testing.T) { codectest.Golden(t, opencode.Codec{}, env, native) }

func FuzzDecode(f *testing.F)     { codectest.Fuzz(f, opencode.Codec{}, "") }
func FuzzDecodeHook(f *testing.F) { codectest.Fuzz(f, opencode.Codec{}, "tool.execute.before") }

// TestFlows plays what a plugin saw in whole runs of the client, with the one
// thing the plugin adds: which session is whose child.
func TestFlows(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "fixtures", "events-*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no runs: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			log, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			roots, known := map[string]string{}, []string{}
			var b strings.Builder
			for i, line := range bytes.Split(bytes.TrimSpace(log), []byte("\n")) {
				native := jsontext.Text(line, "event") + jsontext.Text(line, "hook")
				id := jsontext.Text(jsontext.Member(line, "properties"), "sessionID") + jsontext.Text(jsontext.Member(line, "input"), "sessionID")
				if native == "session.created" {
					if parent := jsontext.Text(jsontext.Member(jsontext.Member(line, "properties"), "info"), "parentID"); parent != "" {
						roots[id] = parent
					} else {
						known = append(known, id)
					}
				}
				extra := ""
				if root := roots[id]; root != "" {
					extra = fmt.Sprintf(`,"root":%q`, root)
				}
				if native == "dispose" {
					ids, _ := json.Marshal(known)
					extra = fmt.Sprintf(`,"sessions":%s`, ids)
				}
				payload := append(bytes.TrimSuffix(bytes.TrimSpace(line), []byte("}")), extra+"}"...)
				ev, err := opencode.Decode(payload, env, native)
				if err != nil {
					t.Fatalf("line %d: %v", i+1, err)
				}
				for _, s := range opencode.Signals(&ev, event.Verdict{}) {
					fmt.Fprintf(&b, "line %d %s", i+1, codectest.Lines([]event.Signal{s}))
				}
			}
			codectest.Compare(t, filepath.Join("testdata", "golden", name+".txt"), []byte(b.String()))
		})
	}
}

func events() []event.Event {
	tool := func() *event.Tool {
		return &event.Tool{Name: "bash", Input: json.RawMessage(`{"command":"x"}`), Response: json.RawMessage(`{"title":"t","output":"o","metadata":{"exit":0}}`)}
	}
	var out []event.Event
	for _, e := range []struct {
		native string
		name   event.Name
	}{
		{"session.created", event.SessionStart}, {"session.created", event.SubagentStart}, {"session.deleted", event.SessionEnd},
		{"session.status", event.StatusChanged}, {"session.idle", event.Stop}, {"session.idle", event.SubagentStop},
		{"session.error", event.StopFailure}, {"session.error", event.Interrupt}, {"session.compacted", event.PostCompact},
		{"experimental.session.compacting", event.PreCompact}, {"message.part.delta", event.MessageDisplay},
		{"permission.asked", event.PermissionRequest}, {"permission.replied", event.PermissionReply},
		{"question.asked", event.QuestionAsked}, {"question.replied", event.QuestionReply},
		{"chat.message", event.UserPromptSubmit}, {"tool.execute.before", event.PreToolUse}, {"tool.execute.after", event.PostToolUse},
		{"dispose", event.Disposed}, {"from.the.future", ""},
	} {
		ev := event.Event{Provider: event.OpenCode, Name: e.name, Native: e.native}
		switch e.name {
		case event.PreToolUse, event.PostToolUse, event.PermissionRequest, event.QuestionAsked:
			ev.Tool = tool()
		}
		out = append(out, ev)
	}
	return out
}

// TestEncode_neverBreaksTheContract tries every event with every verdict and holds
// each answer against the package comment, with eyes of its own.
func TestEncode_neverBreaksTheContract(t *testing.T) {
	members := map[event.Name]string{
		event.UserPromptSubmit:  "v do text append",
		event.PreToolUse:        "v do text args abort",
		event.PostToolUse:       "v result append abort",
		event.PermissionRequest: "v do reply message",
		event.QuestionAsked:     "v do",
		event.Stop:              "v do text",
		event.SubagentStop:      "v do text",
		event.PreCompact:        "v append",
	}
	does := map[event.Name]string{
		event.UserPromptSubmit: "refuse", event.PreToolUse: "refuse", event.PermissionRequest: "reply",
		event.QuestionAsked: "reject", event.Stop: "continue", event.SubagentStop: "continue",
	}
	has := func(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
	codectest.Matrix(t, opencode.Codec{}, events(), func(ev *event.Event, n codectest.Named, out event.Output) string {
		if len(out.Stdout) == 0 {
			if n.Name == "deny" && (does[ev.Name] != "" || ev.Name == event.PostToolUse) {
				return "a denial got lost"
			}
			if n.Name == "ask" && ev.Name == event.PreToolUse {
				return "an ask lets the call run here"
			}
			return ""
		}
		var top map[string]any
		if err := json.Unmarshal(out.Stdout, &top); err != nil {
			return err.Error()
		}
		for key := range top {
			if !has(members[ev.Name], key) {
				return key + " means nothing to the plugin here"
			}
		}
		do, isText := top["do"].(string)
		switch {
		case top["v"] != 1.0:
			return "no version"
		case isText && do != does[ev.Name]:
			return "the plugin cannot do that here"
		case top["reply"] != nil && top["reply"] != "once" && top["reply"] != "reject":
			return "always would hold for the whole program"
		case top["reply"] == "reject" && (top["message"] == nil) != n.Verdict.Interrupt:
			return "a message decides whether the turn goes on"
		case (do == "refuse" || do == "continue") && (top["text"] == nil || top["text"] == ""):
			return "a text is missing"
		case top["args"] != nil && do == "refuse":
			return "a refused call has arguments"
		}
		return ""
	})
}

func decode(t *testing.T, native, payload string) event.Event {
	t.Helper()
	ev, err := opencode.Decode([]byte(payload), env, native)
	if err != nil {
		t.Fatalf("Decode(%s): %v", payload, err)
	}
	return ev
}

func TestDecode_namesWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ name, native, payload, want string }{
		{"empty", "", "", "ends at byte 0"},
		{"an array", "session.idle", "[]", "not a JSON object"},
		{"no event anywhere", "", `{"properties":{"sessionID":"s"}}`, "names no event"},
		{"no session", "", `{"type":"session.idle","properties":{}}`, `"session.idle" payload has no "sessionID"`},
		{"cut", "tool.execute.before", `{"input":{"tool":"bash","sessionID":"s"},"output":{"args":{"command":"rm`, "ends at byte"},
	} {
		ev, err := opencode.Decode([]byte(c.payload), env, c.native)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to say %q", c.name, err, c.want)
		}
		if out := opencode.Refuse(&ev, "unreadable"); (out.Code == 2) != (c.native == "tool.execute.before") {
			t.Errorf("%s: refused with %+v", c.name, out)
		}
	}
}

func TestDecode_keepsNoSecrets(t *testing.T) {
	for _, payload := range []string{
		`{"type":"chat.headers","input":{"sessionID":"s","provider":{"key":"sk-secret"}},"output":{"headers":{"authorization":"sk-secret"}}}`,
		`{"type":"chat.params","input":{"sessionID":"s","provider":{"key":"sk-secret"}},"output":{}}`,
		`{"type":"session.error","properties":{"sessionID":"s","error":{"name":"APIError","data":{"message":"sk-secret","responseBody":"sk-secret"}}}}`,
	} {
		ev := decode(t, "", payload)
		all := fmt.Sprintf("%+v %s", ev, ev.Raw)
		if ev.Raw != nil || strings.Contains(all, "sk-secret") {
			t.Errorf("%s was kept: %s", payload, all)
		}
		signals, _ := json.Marshal(opencode.Signals(&ev, event.Verdict{}))
		if strings.Contains(string(signals), "sk-secret") {
			t.Errorf("%s reached a signal: %s", payload, signals)
		}
	}
}

func TestSignals(t *testing.T) {
	deny := event.Verdict{Decision: event.Deny}
	lid := event.Verdict{Decision: event.Ask, Rule: "closed_lid_permission_request_ask"}
	asked := `{"type":"permission.asked","properties":{"id":"per_1","sessionID":"s","permission":"bash","metadata":{"command":"x"},"tool":{"callID":"c"}}}`
	for _, c := range []struct {
		name, native, payload string
		v                     event.Verdict
		want                  string
	}{
		{"busy begins, with or without a prompt", "", `{"type":"session.status","properties":{"sessionID":"s","status":{"type":"busy"}}}`, event.Verdict{}, "began "},
		{"a retry is work", "", `{"type":"session.status","properties":{"sessionID":"s","status":{"type":"retry"}}}`, event.Verdict{}, "active "},
		{"a subagent's busy is the root's activity", "", `{"type":"session.status","root":"s","properties":{"sessionID":"kid","status":{"type":"busy"}}}`, event.Verdict{}, "active "},
		{"an end that must not be continued", "", `{"type":"session.status","properties":{"sessionID":"s","status":{"type":"idle"}}}`, deny, "stopped "},
		{"the same of a subagent", "", `{"type":"session.status","root":"s","properties":{"sessionID":"kid","status":{"type":"idle"}}}`, deny, "task-ended:kid "},
		{"idle ends", "", `{"type":"session.idle","properties":{"sessionID":"s"}}`, event.Verdict{}, "stopped "},
		{"a subagent's idle ends only that one", "", `{"type":"session.idle","root":"s","properties":{"sessionID":"kid"}}`, event.Verdict{}, "task-ended:kid "},
		{"a continued Stop is work", "", `{"type":"session.idle","properties":{"sessionID":"s"}}`, deny, "active "},
		{"an abort", "", `{"type":"session.error","properties":{"sessionID":"s","error":{"name":"MessageAbortedError"}}}`, event.Verdict{}, "interrupted opencode_message_aborted"},
		{"a model error", "", `{"type":"session.error","properties":{"sessionID":"s","error":{"name":"APIError"}}}`, event.Verdict{}, "failed APIError"},
		{"a prompt that opened", "", asked, event.Verdict{}, "waiting opencode_permission_open"},
		{"left open on purpose", "", asked, lid, "waiting closed_lid_permission_request_ask"},
		{"refused with a message it goes on", "", asked, deny, "active "},
		{"refused without one the turn ends", "", asked, event.Verdict{Decision: event.Deny, Interrupt: true}, "interrupted opencode_permission_rejected"},
		{"answered", "", `{"type":"permission.replied","properties":{"sessionID":"s","reply":"once"}}`, event.Verdict{}, "resumed once"},
		{"a question", "", `{"type":"question.asked","properties":{"id":"que_1","sessionID":"s"}}`, event.Verdict{}, "waiting opencode_question_open"},
		{"a dismissed question", "", `{"type":"question.asked","properties":{"id":"que_1","sessionID":"s"}}`, deny, "active "},
		{"a refused prompt begins nothing", "chat.message", `{"input":{"sessionID":"s"},"output":{"parts":[]}}`, deny, ""},
		{"an ask before a call is a refusal", "tool.execute.before", `{"input":{"tool":"bash","sessionID":"s"}}`, event.Verdict{Decision: event.Ask}, "active "},
		{"the program leaves", "dispose", `{"input":null,"sessions":["s","s2"]}`, event.Verdict{}, "closed closed dispose"},
		{"it leaves and tells nothing", "dispose", `{}`, event.Verdict{}, ""},
		{"housekeeping", "", `{"type":"session.updated","properties":{"sessionID":"s"}}`, event.Verdict{}, ""},
		{"an event of no session", "", `{"type":"catalog.updated","properties":{}}`, event.Verdict{}, ""},
	} {
		ev := decode(t, c.native, c.payload)
		var kinds []string
		last := ""
		for _, s := range opencode.Signals(&ev, c.v) {
			kind := string(s.Kind)
			if s.Task != nil {
				kind += ":" + s.Task.ID
			}
			kinds, last = append(kinds, kind), s.Reason
		}
		got := strings.Join(kinds, " ")
		if got != "" {
			got += " " + last
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEncode_details(t *testing.T) {
	post := decode(t, "tool.execute.after", `{"input":{"tool":"bash","sessionID":"s","args":{}},"output":{"title":"t","output":"key=1","metadata":{"exit":0}}}`)
	for _, c := range []struct {
		name string
		v    event.Verdict
		want string
	}{
		{"a scrubbed result", event.Verdict{UpdatedOutput: json.RawMessage(`{"title":"t","output":"***","metadata":{"exit":0}}`)}, `{"v":1,"result":{"title":"t","output":"***","metadata":{"exit":0}}}`},
		{"with a reason behind it", event.Verdict{Decision: event.Deny, Reason: "a key", UpdatedOutput: json.RawMessage(`{"title":"t","output":"***","metadata":{"exit":0}}`)}, `{"v":1,"result":{"title":"t","output":"***","metadata":{"exit":0}},"append":"a key"}`},
		{"a denial replaces the output", event.Verdict{Decision: event.Deny, Reason: "withheld"}, `{"v":1,"result":{"output":"withheld"}}`},
		{"a context follows it", event.Verdict{Contexts: []string{"formatted"}}, `{"v":1,"append":"formatted"}`},
	} {
		out, err := opencode.Encode(&post, c.v)
		if err != nil || string(out.Stdout) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, out.Stdout, err, c.want)
		}
	}
	out, err := opencode.Encode(&post, event.Verdict{Reason: "a key", UpdatedOutput: json.RawMessage(`"***"`)})
	if err == nil || string(out.Stdout) != `{"v":1,"result":{"output":"The output was withheld: a key"}}` {
		t.Errorf("a rewrite of another shape: got %s, %v", out.Stdout, err)
	}
	pre := decode(t, "tool.execute.before", `{"input":{"tool":"bash","sessionID":"s"},"output":{"args":{"command":"x"}}}`)
	out, err = opencode.Encode(&pre, event.Verdict{UpdatedInput: json.RawMessage(`"y"`)})
	if err == nil || len(out.Stdout) > 0 || out.Code != 0 {
		t.Errorf("arguments that are no object: got %+v, %v", out, err)
	}
}
