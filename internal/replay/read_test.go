package replay_test

import (
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/census"
	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/replay"
)

// Each row is a measured line of docs/contracts.
func TestRead_asTheClientDoes(t *testing.T) {
	const (
		claudeDeny  = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
		claudeAllow = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`
	)
	for _, c := range []struct {
		name           string
		provider       event.Provider
		event          string
		code           int
		stdout, stderr string
		want           event.Decision
		does, fault    string
	}{
		{"Claude: silence", event.Claude, "PreToolUse", 0, "", "", event.None, "goes on as if", ""},
		{"Claude: deny", event.Claude, "PreToolUse", 0, claudeDeny, "", event.Deny, "refuses the call", ""},
		{"Claude: allow", event.Claude, "PreToolUse", 0, claudeAllow, "", event.Allow, "without asking", ""},
		{"Claude: JSON counts on every exit code", event.Claude, "PreToolUse", 1, claudeDeny, "", event.Deny, "refuses", "only 2 does"},
		{"Claude: exit 2 beats an allow", event.Claude, "PreToolUse", 2, claudeAllow, "no", event.Deny, "refuses", "together"},
		{"Claude: exit 2 without a word still blocks", event.Claude, "PreToolUse", 2, "", "", event.Deny, "refuses", "without a reason"},
		{"Claude: exit 1 blocks nothing", event.Claude, "PreToolUse", 1, "", "blocked!", event.None, "goes on", "only 2 does"},
		{"Claude: a flat decision is ignored", event.Claude, "PreToolUse", 0, `{"permissionDecision":"deny"}`, "", event.None, "goes on", "inside hookSpecificOutput"},
		{"Claude: no event named", event.Claude, "PreToolUse", 0, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "", event.None, "goes on", "does not name its event"},
		{"Claude: another event named", event.Claude, "PreToolUse", 0, strings.Replace(claudeDeny, "PreToolUse", "PostToolUse", 1), "", event.None, "goes on", "does not name its event"},
		{"Claude: block is no permission decision", event.Claude, "PreToolUse", 0, strings.Replace(claudeDeny, `"deny"`, `"block"`, 1), "", event.None, "goes on", `is no "block"`},
		{"Claude: the old form", event.Claude, "PreToolUse", 0, `{"decision":"block","reason":"no"}`, "", event.Deny, "refuses", ""},
		{"Claude: a banner before the JSON", event.Claude, "PreToolUse", 0, "hello\n" + claudeDeny, "", event.None, "goes on", "before or behind the JSON"},
		{"Claude: an array", event.Claude, "PreToolUse", 0, "[1]", "", event.None, "goes on", "no answer"},
		{"Claude: an unknown member beside", event.Claude, "PreToolUse", 0, strings.Replace(claudeDeny, `{"hook`, `{"x":1,"hook`, 1), "", event.Deny, "refuses", `no "x"`},
		{"Claude: a context", event.Claude, "SessionStart", 0, "the branch is main", "", event.None, "with a text for the model", ""},
		{"Claude: Stop blocked", event.Claude, "Stop", 0, `{"decision":"block","reason":"go on"}`, "", event.Deny, "keeps going", ""},
		{"Claude: continue:false wins", event.Claude, "Stop", 0, `{"continue":false,"decision":"block","reason":"go on"}`, "", event.None, "ends the turn", ""},
		{"Claude: a context continues a Stop", event.Claude, "Stop", 0, `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"x"}}`, "", event.Deny, "keeps going", ""},
		{"Claude: permission denied", event.Claude, "PermissionRequest", 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}`, "", event.Deny, "ends the turn", ""},
		{"Claude: exit 2 at a permission", event.Claude, "PermissionRequest", 2, "", "no", event.None, "goes on", "not honoured"},
		{"Claude: exit 2 at SessionStart", event.Claude, "SessionStart", 2, "", "no", event.None, "goes on", "blocks nothing"},
		{"Claude: after the call it is only told", event.Claude, "PostToolUse", 2, "", "no", event.Deny, "tells the model", ""},
		{"Claude: ask in a skill refuses", event.Claude, "PreSkillShellCommand", 0, `{"hookSpecificOutput":{"hookEventName":"PreSkillShellCommand","permissionDecision":"ask"}}`, "", event.Deny, "refuses", ""},
		{"Claude: a rewritten output of another shape", event.Claude, "PostToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"x"}}`, "", event.None, "goes on", "another shape"},

		{"Codex: deny", event.Codex, "PreToolUse", 0, claudeDeny, "", event.Deny, "refuses", ""},
		{"Codex: ask voids the answer", event.Codex, "PreToolUse", 0, strings.Replace(claudeDeny, `"deny"`, `"ask"`, 1), "", event.None, "goes on", "throws the whole answer away"},
		{"Codex: a bare allow voids it", event.Codex, "PreToolUse", 0, claudeAllow, "", event.None, "goes on", "allow without updatedInput"},
		{"Codex: one unknown key voids it", event.Codex, "PreToolUse", 0, strings.Replace(claudeDeny, `{"hook`, `{"suppressOutput":true,"hook`, 1), "", event.None, "goes on", "suppressOutput"},
		{"Codex: deny without a reason", event.Codex, "PreToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, "", event.None, "goes on", "deny without a reason"},
		{"Codex: exit 2", event.Codex, "PreToolUse", 2, "", "no", event.Deny, "refuses", ""},
		{"Codex: exit 2 without a reason", event.Codex, "PreToolUse", 2, "", " ", event.None, "goes on", "without a reason"},
		{"Codex: exit 1", event.Codex, "PreToolUse", 1, claudeDeny, "", event.None, "goes on", "failed hook"},
		{"Codex: interrupt voids a permission", event.Codex, "PermissionRequest", 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}`, "", event.None, "goes on", "interrupt"},
		{"Codex: interrupt false does not", event.Codex, "PermissionRequest", 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":false,"updatedInput":null}}}`, "", event.Deny, "refuses", ""},
		{"Codex: a block replaces the output", event.Codex, "PostToolUse", 0, `{"decision":"block","reason":"masked"}`, "", event.Deny, "replaces output", ""},
		{"Codex: text at Stop fails the hook", event.Codex, "Stop", 0, "done", "", event.None, "goes on", "fails the hook"},
		{"Codex: nested at Stop voids it", event.Codex, "Stop", 0, `{"decision":"block","reason":"x","hookSpecificOutput":{"hookEventName":"Stop"}}`, "", event.None, "goes on", "no place at Stop"},
		{"Codex: updatedToolOutput voids it", event.Codex, "PostToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"x"}}`, "", event.None, "goes on", "updatedToolOutput"},

		{"Copilot: deny", event.Copilot, "preToolUse", 0, `{"permissionDecision":"deny","permissionDecisionReason":"no"}`, "", event.Deny, "refuses", ""},
		{"Copilot: a failing hook refuses", event.Copilot, "preToolUse", 1, "", "boom", event.Deny, "refuses", "broken hook"},
		{"Copilot: a missing program refuses", event.Copilot, "permissionRequest", 127, "", "", event.Deny, "refuses", "broken hook"},
		{"Copilot: a failing hook elsewhere", event.Copilot, "agentStop", 1, "", "boom", event.None, "goes on", "exit code 1"},
		{"Copilot: Claude's form is ignored in camelCase", event.Copilot, "preToolUse", 0, claudeDeny, "", event.None, "goes on", "PascalCase"},
		{"Copilot: and honoured in PascalCase", event.Copilot, "PreToolUse", 0, claudeDeny, "", event.Deny, "refuses", ""},
		{"Copilot: text is never context", event.Copilot, "sessionStart", 0, "the branch is main", "", event.None, "goes on", "text is no answer"},
		{"Copilot: Stop blocked", event.Copilot, "agentStop", 0, `{"decision":"block","reason":"go on"}`, "", event.Deny, "keeps going", ""},

		{"OpenCode: refuse", event.OpenCode, "tool.execute.before", 0, `{"v":1,"do":"refuse","text":"no"}`, "", event.Deny, "", ""},
		{"OpenCode: no version", event.OpenCode, "tool.execute.before", 0, `{"do":"refuse","text":"no"}`, "", event.None, "goes on", "no v 1"},
		{"OpenCode: exit 2", event.OpenCode, "tool.execute.before", 2, "", "no", event.Deny, "", ""},
		{"OpenCode: reject", event.OpenCode, "permission.asked", 0, `{"v":1,"do":"reply","reply":"reject","message":"no"}`, "", event.Deny, "refuses", ""},
		{"OpenCode: once", event.OpenCode, "permission.asked", 0, `{"v":1,"do":"reply","reply":"once"}`, "", event.Allow, "without asking", ""},
		{"an event that does not exist", event.Claude, "PreTool", 0, claudeDeny, "", event.None, "goes on", `no event "PreTool"`},
	} {
		payload, err := replay.Fixture(c.provider, c.event, "/p")
		if err != nil && c.event != "PreTool" {
			t.Fatal(err)
		}
		r := replay.Read(replay.Case{Provider: c.provider, Event: c.event, Payload: payload},
			replay.Answer{Code: c.code, Stdout: []byte(c.stdout), Stderr: []byte(c.stderr)})
		faults := strings.Join(r.Faults, "; ")
		if r.Decision != c.want || !strings.Contains(r.Does, c.does) || !strings.Contains(faults, c.fault) || c.fault == "" && faults != "" {
			t.Errorf("%s: got %s, %q, faults %q; want %s, %q, %q", c.name, r.Decision, r.Does, faults, c.want, c.does, c.fault)
		}
	}
}

// A hook that only blocks by exit 2 with a reason is ported as it is: at the events
// that both have it means the same to Claude Code and Codex, but at a permission,
// where Claude Code takes none.
func TestRead_exit2IsOneWordForBoth(t *testing.T) {
	const reason = "not in this folder"
	for native, want := range map[string][2]event.Decision{
		"PreToolUse": {event.Deny, event.Deny}, "PostToolUse": {event.Deny, event.Deny}, "UserPromptSubmit": {event.Deny, event.Deny},
		"Stop": {event.Deny, event.Deny}, "SubagentStop": {event.Deny, event.Deny}, "PermissionRequest": {event.None, event.Deny},
		"SessionStart": {event.None, event.None},
	} {
		for i, p := range []event.Provider{event.Claude, event.Codex} {
			payload, err := replay.Fixture(p, native, "/p")
			if err != nil {
				t.Fatal(err)
			}
			r := replay.Read(replay.Case{Provider: p, Event: native, Payload: payload}, replay.Answer{Code: 2, Stderr: []byte(reason)})
			if r.Decision != want[i] || want[i] == event.Deny && r.Reason != reason {
				t.Errorf("%s %s: got %s, %q; want %s", p, native, r.Decision, r.Reason, want[i])
			}
		}
	}
}

func TestRead_timeouts(t *testing.T) {
	for _, c := range []struct {
		provider event.Provider
		event    string
		want     event.Decision
	}{
		{event.Claude, "PreToolUse", event.None}, {event.Claude, "PreModelSwitch", event.Deny}, {event.Codex, "PreToolUse", event.None},
		{event.Copilot, "preToolUse", event.None}, {event.OpenCode, "tool.execute.before", event.None},
	} {
		r := replay.Read(replay.Case{Provider: c.provider, Event: c.event}, replay.Answer{Code: -1, Late: true})
		if r.Decision != c.want || r.By != replay.ByTimeout {
			t.Errorf("%s %s: got %s by %s, want %s by timeout", c.provider, c.event, r.Decision, r.By, c.want)
		}
	}
}

// Every event whose payload is known has one here, and it is JSON.
func TestFixture_everyEvent(t *testing.T) {
	// Events of OpenCode's bus that lidguard's plugin does not hand on.
	for _, e := range census.All() {
		if e.Provider == event.OpenCode && e.Name == "" {
			continue
		}
		data, err := replay.Fixture(e.Provider, e.Native, `C:\x y`)
		if err != nil {
			if e.Provider != event.OpenCode || e.Mark == census.Measured && e.Native != "message.part.delta" {
				t.Errorf("%s %s: %v", e.Provider, e.Native, err)
			}
			continue
		}
		if strings.Contains(string(data), "/home/dev/project\"") {
			t.Errorf("%s %s: the folder was not put in: %s", e.Provider, e.Native, data)
		}
	}
	if _, err := replay.Fixture(event.Claude, "PreTool", "/"); err == nil {
		t.Error("an event that does not exist has a payload")
	}
}

// What the codecs write is what the readers read: no answer of ours has a fault.
func FuzzRead_neverPanics(f *testing.F) {
	f.Add("claude", "PreToolUse", 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}`, "x")
	f.Add("codex", "Stop", 2, `{"decision":"block"`, "")
	f.Add("copilot", "PreToolUse", 1, `{"type":"progress"}`, "x")
	f.Add("opencode", "session.idle", 0, `{"v":1,"do":"continue"}`, "x")
	f.Fuzz(func(t *testing.T, provider, native string, code int, stdout, stderr string) {
		c := replay.Case{Provider: event.Provider(provider), Event: native}
		r := replay.Read(c, replay.Answer{Code: code, Stdout: []byte(stdout), Stderr: []byte(stderr)})
		if r.Does == "" || r.By == "" {
			t.Fatalf("%s %s %d %q %q: a reading that says nothing: %+v", provider, native, code, stdout, stderr, r)
		}
		again := replay.Read(c, replay.Answer{Code: code, Stdout: []byte(stdout + "\n"), Stderr: []byte(stderr + "\n")})
		if again.Decision != r.Decision {
			t.Fatalf("a line end changes the decision from %s to %s", r.Decision, again.Decision)
		}
		if code == 2 && c.Provider == event.Claude && native == "PreToolUse" && r.Decision != event.Deny {
			t.Fatal("exit 2 did not block")
		}
	})
}
