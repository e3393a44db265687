package census_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/codectest"
	"github.com/lidguard-go/lidguard/internal/provider/codex"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
)

var codecs = map[event.Provider]codectest.Codec{
	event.Claude: claude.Codec{}, event.Codex: codex.Codec{}, event.Copilot: copilot.Codec{}, event.OpenCode: opencode.Codec{},
}

func TestEvents_areCountedAndWhole(t *testing.T) {
	want := map[event.Provider]int{event.Claude: 34, event.Codex: 14, event.Copilot: 15}
	for _, p := range census.Providers() {
		rows := census.Events(p)
		if n := want[p]; n != 0 && len(rows) != n {
			t.Errorf("%s has %d events, want %d", p, len(rows), n)
		}
		client, ok := census.Of(p)
		if !ok || client.Title == "" || client.Version == "" || len(client.Notes) == 0 {
			t.Errorf("%s has no row of its own", p)
		}
		contract, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(client.Contract)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, e := range rows {
			if seen[e.Native] {
				t.Errorf("%s %s is there twice", p, e.Native)
			}
			seen[e.Native] = true
			if e.Provider != p || e.When == "" || e.Mark == "" || e.Matcher.Law == "" || len(e.Kinds) == 0 || e.Blocks.Effect == "" {
				t.Errorf("%s %s lacks something: %+v", p, e.Native, e)
			}
			if (e.Blocks.Effect == census.Nothing) != (!e.Blocks.Exit2 && len(e.Blocks.Keys) == 0) {
				t.Errorf("%s %s: the effect %q is not what its channels say", p, e.Native, e.Blocks.Effect)
			}
			for _, key := range e.Blocks.Keys {
				if !slices.ContainsFunc(e.Outputs, func(o census.Output) bool { return o.Key == key }) {
					t.Errorf("%s %s blocks by %q, which is none of its outputs", p, e.Native, key)
				}
			}
			if p != event.OpenCode && (e.Timeout.Default == 0 || e.Timeout.Max != 0 && e.Timeout.Max < e.Timeout.Default) {
				t.Errorf("%s %s has no sensible timeout: %+v", p, e.Native, e.Timeout)
			}
			if named := e.Native; !strings.Contains(string(contract), strings.TrimSuffix(strings.TrimSuffix(named, ".system.transform"), ".messages.transform")) &&
				named != "event" {
				t.Errorf("%s is not in %s", named, client.Contract)
			}
			if found, ok := census.Find(p, e.Native); !ok || found.Native != e.Native {
				t.Errorf("Find(%s, %s) does not find it", p, e.Native)
			}
		}
	}
	if _, ok := census.Find(event.Copilot, "Stop"); !ok {
		t.Error("Copilot's PascalCase names are not found")
	}
	if _, ok := census.Of(event.MCP); ok || census.Events(event.MCP) != nil {
		t.Error("a provider without hooks has rows")
	}
}

// TestMatcherFields_areInThePayload: what a matcher is compared with is a member
// of the event's payload.
func TestMatcherFields_areInThePayload(t *testing.T) {
	for _, e := range census.All() {
		if f := e.Matcher.Field; f != "" && !slices.ContainsFunc(e.Payload(), func(m census.Field) bool { return m.Name == f }) {
			t.Errorf("%s %s is matched by %q, which its payload does not have", e.Provider, e.Native, f)
		}
		if (e.Matcher.Field == "") != slices.Contains([]census.Law{census.Ignored, census.InPlugin, census.Untested}, e.Matcher.Law) && e.Native != "PreSkillShellCommand" {
			t.Errorf("%s %s: field %q and law %q do not go together", e.Provider, e.Native, e.Matcher.Field, e.Matcher.Law)
		}
	}
}

// TestClients_handlersAndTheirTime: which kinds of handlers a client has, and how
// long each may take where the event says nothing else.
func TestClients_handlersAndTheirTime(t *testing.T) {
	want := map[event.Provider]map[census.Kind]float64{
		event.Claude:   {census.Command: 600, census.HTTP: 600, census.MCPTool: 600, census.Prompt: 30, census.Agent: 60},
		event.Codex:    {census.Command: 600, census.MCPTool: 600, census.Prompt: 0, census.Agent: 0, census.HTTP: 0},
		event.Copilot:  {census.Command: 30, census.HTTP: 30, census.Prompt: 30},
		event.OpenCode: {census.Plugin: 0},
	}
	for _, p := range census.Providers() {
		client, _ := census.Of(p)
		got := map[census.Kind]float64{}
		for _, h := range client.Handlers {
			got[h.Kind] = h.Default
			runs := slices.ContainsFunc(census.Events(p), func(e census.Event) bool { return e.Runs(h.Kind) })
			if runs != (h.Default != 0 || h.Kind == census.Plugin) {
				t.Errorf("%s: %s handlers run on some event: %v, with a time of %v s", p, h.Kind, runs, h.Default)
			}
		}
		if !maps.Equal(got, want[p]) {
			t.Errorf("%s has the handlers %v, want %v", p, got, want[p])
		}
		for _, e := range census.Events(p) {
			for _, k := range e.Kinds {
				if _, has := got[k]; !has {
					t.Errorf("%s %s runs %s handlers, which the client does not have", p, e.Native, k)
				}
			}
			if p != event.OpenCode && !e.Runs(census.Command) {
				t.Errorf("%s %s runs no command", p, e.Native)
			}
		}
	}
	for name, seconds := range map[string]float64{"UserPromptSubmit": 30, "PreModelSwitch": 30, "PostModelSwitch": 30, "MessageDisplay": 10, "SessionEnd": 1.5, "PreToolUse": 600} {
		if e, _ := census.Find(event.Claude, name); e.Timeout.Default != seconds {
			t.Errorf("%s has %v s, want %v", name, e.Timeout.Default, seconds)
		}
	}
	if e, _ := census.Find(event.Codex, "Interrupt"); e.Timeout.Default != 1 || e.Timeout.Max != 3 {
		t.Errorf("Codex's Interrupt has %+v", e.Timeout)
	}
}

type fixture struct {
	name    string
	native  string
	payload map[string]json.RawMessage
	raw     []byte
}

// fixtures are the payloads that the codecs are tested with, by client.
func fixtures(t *testing.T, p event.Provider) []fixture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "provider", string(p), "testdata", "fixtures", "*.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%s has %d fixtures: %v", p, len(files), err)
	}
	var out []fixture
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(file), ".json"), raw: raw}
		if err := json.Unmarshal(raw, &f.payload); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch p {
		case event.Copilot:
			f.native, _, _ = strings.Cut(strings.TrimPrefix(f.name, "pascal-"), ".")
		case event.OpenCode:
			if hook, ok := strings.CutPrefix(f.name, "hook-"); ok {
				for _, e := range census.Events(p) {
					if strings.HasPrefix(hook+".", e.Native+".") && len(e.Native) > len(f.native) {
						f.native = e.Native
					}
				}
				break
			}
			_ = json.Unmarshal(f.payload["type"], &f.native)
		default:
			_ = json.Unmarshal(f.payload["hook_event_name"], &f.native)
		}
		out = append(out, f)
	}
	return out
}

func kindOf(raw json.RawMessage) string {
	switch s := strings.TrimSpace(string(raw)); s[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

// pascalNames are the members that PascalCase payloads call otherwise than by
// writing the camelCase name in snake case.
var pascalNames = map[string]string{"toolArgs": "tool_input", "response": "last_assistant_message"}

func snake(s string) string {
	if s, ok := pascalNames[s]; ok {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// TestFixtures_areInTheCensus: each payload the clients sent is of an event of the
// census, has only members that are listed for it, of a listed type, and all that
// are not optional.
func TestFixtures_areInTheCensus(t *testing.T) {
	for _, p := range census.Providers() {
		for _, f := range fixtures(t, p) {
			e, ok := census.Find(p, f.native)
			if !ok {
				t.Errorf("%s %s: no event %q in the census", p, f.name, f.native)
				continue
			}
			members := map[string]json.RawMessage{}
			switch {
			case p != event.OpenCode:
				members = f.payload
			case strings.HasPrefix(f.name, "hook-"):
				for _, side := range []string{"input", "output"} {
					var m map[string]json.RawMessage
					_ = json.Unmarshal(f.payload[side], &m)
					for k, v := range m {
						members[side+"."+k] = v
					}
				}
			default:
				if err := json.Unmarshal(f.payload["properties"], &members); err != nil {
					t.Errorf("%s: %v", f.name, err)
				}
			}
			pascal := strings.HasPrefix(f.name, "pascal-")
			listed := e.Payload()
			known := map[string]string{}
			for _, m := range listed {
				known[m.Name] = m.Type
				if pascal {
					known[snake(m.Name)] = m.Type
				}
			}
			if pascal { // written out in the client's note
				known["hook_event_name"], known["timestamp"] = "string", "string|number"
			}
			for name, value := range members {
				types, ok := known[name]
				if !ok {
					t.Errorf("%s %s has %q, which the census does not list", p, f.name, name)
				} else if kind := kindOf(value); types != "any" && !slices.Contains(strings.Split(types, "|"), kind) {
					t.Errorf("%s %s: %q is %s, the census says %s", p, f.name, name, kind, types)
				}
			}
			for _, m := range listed {
				if _, has := members[m.Name]; !has && !m.Optional && !pascal && !strings.Contains(f.name, "documented") {
					t.Errorf("%s %s has no %q, which is not optional in the census", p, f.name, m.Name)
				}
			}
		}
	}
}

// decode makes an event of the kind that e is about.
func decode(t *testing.T, p event.Provider, e census.Event, all []fixture) (*event.Event, bool) {
	t.Helper()
	for _, f := range all {
		if f.native == e.Native && !strings.HasPrefix(f.name, "pascal-") {
			ev, err := codecs[p].Decode(f.raw, func(string) string { return "" }, f.native)
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			return &ev, true
		}
	}
	return nil, false
}

// TestNames_areTheCodecs: the codec of a client gives an event the name that the
// census gives it, and the census knows every event that a codec knows.
func TestNames_areTheCodecs(t *testing.T) {
	for _, p := range census.Providers() {
		for _, e := range census.Events(p) {
			for _, native := range []string{e.Native, e.Pascal} {
				if native == "" {
					continue
				}
				payload, _ := json.Marshal(map[string]any{"hook_event_name": native, "session_id": "s", "sessionId": "s",
					"type": native, "properties": map[string]any{"sessionID": "s"}, "input": map[string]any{"sessionID": "s"}})
				ev, err := codecs[p].Decode(payload, func(string) string { return "" }, native)
				if err != nil || ev.Name != e.Name {
					t.Errorf("%s %s: the codec calls it %q, the census %q (%v)", p, native, ev.Name, e.Name, err)
				}
			}
		}
	}
}

// TestBlocks_theCodecCan: an event that the census says can be blocked is blocked
// by a verdict through the client's codec, in one of the ways the census names; and
// where it says that nothing blocks, no verdict of ours says otherwise.
func TestBlocks_theCodecCan(t *testing.T) {
	refusals := []event.Verdict{
		{Decision: event.Deny, Reason: "no"},
		{Decision: event.Deny, Reason: "no", ElicitAction: "cancel"},
		{StopTurn: true, StopReason: "enough"},
	}
	for _, p := range census.Providers() {
		all := fixtures(t, p)
		for _, e := range census.Events(p) {
			ev, ok := decode(t, p, e, all)
			if !ok {
				if p != event.OpenCode {
					t.Errorf("%s %s has no fixture", p, e.Native)
				}
				continue
			}
			blocked := false
			for _, v := range refusals {
				out, err := codecs[p].Encode(ev, v)
				if err != nil {
					t.Fatalf("%s %s: %v", p, e.Native, err)
				}
				blocked = blocked || blocks(p, e, out)
				if e.Blocks.Effect == census.Nothing && out.Code == 2 {
					t.Errorf("%s %s: the codec exits 2 where the census says that it does nothing", p, e.Native)
				}
			}
			if !blocked && e.Blocks.Effect != census.Nothing && e.Blocks.Mark == census.Measured {
				t.Errorf("%s %s: %q, says the census, and no verdict does it", p, e.Native, e.Blocks.Effect)
			}
		}
	}
}

// blocks reports whether an answer is one of those that the census says do it.
func blocks(p event.Provider, e census.Event, out event.Output) bool {
	if out.Code == 2 && len(out.Stderr) > 0 && e.Blocks.Exit2 {
		return true
	}
	keys := written(out.Stdout)
	if p == event.OpenCode { // the plugin turns these words into calls
		for _, key := range []string{"do", "result"} {
			if _, ok := keys[key]; ok && len(e.Blocks.Keys) > 0 {
				return true
			}
		}
	}
	for _, key := range e.Blocks.Keys {
		if value, ok := keys[key]; ok && value != `"allow"` && value != "true" {
			return true
		}
	}
	return false
}

// written are the members of an answer, hookSpecificOutput's and its decision's by
// their paths.
func written(stdout []byte) map[string]string {
	out := map[string]string{}
	var walk func(prefix string, raw json.RawMessage)
	walk = func(prefix string, raw json.RawMessage) {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil {
			return
		}
		for k, v := range m {
			switch {
			case k == "hookSpecificOutput", prefix == "hookSpecificOutput." && k == "decision" && kindOf(v) == "object":
				walk(prefix+k+".", v)
			default:
				out[prefix+k] = string(v)
			}
		}
	}
	walk("", stdout)
	return out
}

// TestOutputs_listWhatTheCodecsWrite: no codec of ours writes a member that the
// census does not list for the event.
func TestOutputs_listWhatTheCodecsWrite(t *testing.T) {
	for _, p := range []event.Provider{event.Claude, event.Codex, event.Copilot} {
		for _, f := range fixtures(t, p) {
			e, ok := census.Find(p, f.native)
			if !ok {
				continue // said elsewhere
			}
			ev, err := codecs[p].Decode(f.raw, func(string) string { return "" }, f.native)
			if err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			for _, n := range codectest.Verdicts(&ev) {
				out, err := codecs[p].Encode(&ev, n.Verdict)
				if err != nil {
					t.Fatalf("%s %s: %v", f.name, n.Name, err)
				}
				for key := range written(out.Stdout) {
					if key == "hookSpecificOutput.hookEventName" || key == "stopReason" {
						continue
					}
					if !slices.ContainsFunc(e.Outputs, func(o census.Output) bool { return o.Key == key }) {
						t.Errorf("%s %s: the codec answers with %q, which the census does not list", p, f.name, key)
					}
				}
			}
		}
	}
}
