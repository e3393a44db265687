package telemetry

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lidguard-go/lidguard/internal/event"
)

var at = time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("CET", 3600))

func whole() *event.Event {
	return &event.Event{Provider: event.Claude, Name: event.PreToolUse, Native: "PreToolUse", Session: event.SessionKey{Provider: event.Claude, ID: "s"},
		TurnID: "t", AgentID: "a", AgentType: "reviewer", Cwd: "/home/anna/secret-project", Model: "m", PermissionMode: "plan", Prompt: "my prompt",
		Source: "startup", Reason: "because", Trigger: "auto", Path: "/p", Notification: &event.Note{Type: "idle", Title: "title", Message: "msg"},
		LastMessage: "last words", Error: "it broke", Raw: json.RawMessage(`{"raw":1}`),
		Tool: &event.Tool{Name: "Bash", UseID: "u", Input: json.RawMessage(`{"command":"ls"}`), Response: json.RawMessage(`{"stdout":"x"}`), MCPServer: "srv"}}
}

func TestBuild_eachLevelHoldsWhatItSays(t *testing.T) {
	v := &event.Verdict{Decision: event.Deny, Reason: "no", Rule: "r", Policy: "p"}
	ids := Record{ID: "id", Time: at.UTC(), Event: "PreToolUse", Privacy: IDs, Provider: "claude", Session: "s", Turn: "t", Agent: "a", ToolUse: "u", Decision: "deny"}
	metadata := ids
	metadata.Privacy = Metadata
	metadata.Native, metadata.AgentType, metadata.Model, metadata.Mode = "PreToolUse", "reviewer", "m", "plan"
	metadata.Cwd, metadata.Path, metadata.Source, metadata.Reason, metadata.Trigger = "/home/anna/secret-project", "/p", "startup", "because", "auto"
	metadata.Note, metadata.Policy, metadata.Rule, metadata.Tool, metadata.MCPServer = "idle", "p", "r", "Bash", "srv"
	metadata.PromptBytes, metadata.InputBytes, metadata.OutputBytes, metadata.Failed = 9, 16, 14, true
	full := metadata
	full.Privacy = Full
	full.Prompt, full.Input, full.Output, full.Error, full.Message, full.Why = "my prompt", `{"command":"ls"}`, `{"stdout":"x"}`, "it broke", "last words", "no"
	for level, want := range map[Privacy]Record{IDs: ids, Metadata: metadata, Full: full} {
		got := Build(whole(), v, level, "id", at)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", level, diff)
		}
		if text := string(got.AppendJSON(nil)); !strings.Contains(text, `"time":"2026-01-02T03:04:05Z"`) {
			t.Errorf("%s: no UTC in %s", level, text)
		}
	}
}

// A record that was lowered is the one that would have been made.
func TestLower(t *testing.T) {
	v := &event.Verdict{Decision: event.Deny, Reason: "no", Rule: "r", Policy: "p"}
	levels := []Privacy{IDs, Metadata, Full}
	for from, made := range levels {
		for to, level := range levels {
			want := Build(whole(), v, levels[min(from, to)], "id", at)
			got := Build(whole(), v, made, "id", at)
			if did := got.Lower(level); did != (to < from) {
				t.Errorf("%s to %s: %v", made, level, did)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s to %s (-want +got):\n%s", made, level, diff)
			}
		}
	}
}

// A record's own JSON is that of encoding/json by its field tags.
func TestRecord_isItsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Record
		v := reflect.ValueOf(&r).Elem()
		for i := range v.NumField() {
			f := v.Field(i)
			switch f.Kind() {
			case reflect.String:
				f.SetString(strings.ToValidUTF8(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\"b\\c\n\x00\x7f", "\u2028<>&", "ü漢😀"})).Draw(t, "text"), "?"))
			case reflect.Int:
				f.SetInt(rapid.Int64Range(0, 1<<40).Draw(t, "n"))
			case reflect.Bool:
				f.SetBool(rapid.Bool().Draw(t, "b"))
			case reflect.Struct:
				f.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC()))
			}
		}
		want, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.AppendJSON(nil); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestMask_leavesNoSecretAndNothingBeyondTheLevel(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[x]") }
	ev := whole()
	ev.Cwd, ev.Prompt, ev.LastMessage = "/home/hunter2", "it is hunter2", "hunter2!"
	ev.Tool.Input, ev.Tool.Name, ev.Reason = json.RawMessage(`{"p":"hunter2"}`), "mcp__hunter2", "hunter2"
	for _, level := range []Privacy{IDs, Metadata, Full} {
		r := Build(ev, &event.Verdict{Decision: event.Ask, Reason: "hunter2"}, level, "id", at)
		r.Mask(mask)
		once := string(r.AppendJSON(nil))
		if strings.Contains(once, "hunter2") {
			t.Errorf("%s: %s", level, once)
		}
		if r.Mask(mask); string(r.AppendJSON(nil)) != once {
			t.Errorf("%s: masking again changed it", level)
		}
		// Whoever wrote the record: its level is what counts.
		r = Build(ev, &event.Verdict{Reason: "why"}, Full, "id", at)
		r.Privacy = level
		r.Mask(mask)
		if has := r.Prompt != ""; has != (level == Full) {
			t.Errorf("%s: prompt %q", level, r.Prompt)
		}
		if has := r.Cwd != ""; has != (level != IDs) {
			t.Errorf("%s: cwd %q", level, r.Cwd)
		}
	}
}

// A secret that the first cut tore apart is nowhere in what is kept.
func TestMask_keepsNothingNearACut(t *testing.T) {
	secret := "hunter2hunter2hunter2"
	ev := whole()
	ev.Prompt = strings.Repeat("ü", (MaxTaken-10)/2) + secret + strings.Repeat("y", 100)
	r := Build(ev, &event.Verdict{}, Full, "id", at)
	if !r.Cut || len(r.Prompt) > MaxTaken || !strings.Contains(r.Prompt, "hunter") {
		t.Fatalf("%d bytes taken, cut: %t", len(r.Prompt), r.Cut)
	}
	r.Mask(func(s string) string { return strings.ReplaceAll(s, secret, "") })
	if strings.Contains(r.Prompt, "hunter") || len(r.Prompt) > MaxText || len(r.Prompt) < MaxText/2 {
		t.Errorf("kept %d bytes", len(r.Prompt))
	}
}

func TestCheck(t *testing.T) {
	good := Config{URL: "https://sink.example/events?tenant=1", Headers: map[string]string{"Authorization": "file:~/.config/lidguard/token", "X-A": "env:LIDGUARD_A"},
		Events: []string{"Stop"}, Batch: 1, MaxEvents: 10, MaxBytes: 1 << 20}
	if key, problem := good.Check(); key != "" {
		t.Errorf("%s: %s", key, problem)
	}
	for name, c := range map[string]struct {
		change func(*Config)
		key    string
	}{
		"no sink":                 {func(c *Config) { c.URL = "" }, "url"},
		"no web address":          {func(c *Config) { c.URL = "ftp://x/" }, "url"},
		"no host":                 {func(c *Config) { c.URL = "http:///x" }, "url"},
		"a password in it":        {func(c *Config) { c.URL = "https://a:b@x/" }, "url"},
		"a fragment":              {func(c *Config) { c.URL = "https://x/#f" }, "url"},
		"an unknown event":        {func(c *Config) { c.Events = []string{"stop"} }, "events"},
		"a negative batch":        {func(c *Config) { c.Batch = -1 }, "batch"},
		"a tiny spool":            {func(c *Config) { c.MaxBytes = 10 }, "max_bytes"},
		"too many events":         {func(c *Config) { c.MaxEvents = 1 << 40 }, "max_events"},
		"a secret in a header":    {func(c *Config) { c.Headers = map[string]string{"Authorization": "Bearer abc"} }, "headers"},
		"an invisible variable":   {func(c *Config) { c.Headers = map[string]string{"A": "env:TOKEN"} }, "headers"},
		"a relative file":         {func(c *Config) { c.Headers = map[string]string{"A": "file:token"} }, "headers"},
		"a header of ours":        {func(c *Config) { c.Headers = map[string]string{"Content-type": "env:LIDGUARD_A"} }, "headers"},
		"a header that is none":   {func(c *Config) { c.Headers = map[string]string{"A B": "env:LIDGUARD_A"} }, "headers"},
		"a header without a name": {func(c *Config) { c.Headers = map[string]string{"": "env:LIDGUARD_A"} }, "headers"},
	} {
		bad := good
		c.change(&bad)
		if key, problem := bad.Check(); key != c.key || problem == "" || strings.Contains(problem, "abc") {
			t.Errorf("%s: at %q: %q", name, key, problem)
		}
	}
	for _, text := range []string{"CloudEvents", ""} {
		if new(Tier).UnmarshalText([]byte(text)) == nil || new(Privacy).UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
