package closedlid

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
)

func request(p event.Provider, tool, input string) *event.Event {
	return &event.Event{Provider: p, Name: event.PermissionRequest, Cwd: "/home/dev/api",
		Tool: &event.Tool{Name: tool, Input: json.RawMessage(input)}}
}

func TestPhone_isAskedWhereAPromptWaits(t *testing.T) {
	cfg := Config{Decision: event.Deny, Phone: true}
	shut := func() (Away, error) { return Away{Lid: "closed", Away: true}, nil }
	for name, c := range map[string]struct {
		ev   *event.Event
		rule string
	}{
		"claude":               {request(event.Claude, "Bash", `{}`), RulePhone},
		"codex":                {request(event.Codex, "shell", `{}`), RulePhone},
		"copilot's every call": {request(event.Copilot, "bash", `{}`), ""},
		"opencode's queue":     {request(event.OpenCode, "bash", `{}`), RuleDeny},
		"a question":           {request(event.Claude, "AskUserQuestion", `{}`), RuleAsking},
		"a plan":               {request(event.Claude, "ExitPlanMode", `{}`), RulePlan},
	} {
		v, err := New(cfg, shut).Handle(context.Background(), c.ev)
		if err != nil || v.Rule != c.rule || c.rule != "" && v.Decision != event.Deny {
			t.Errorf("%s: %+v, %v; want a denial by %q", name, v, err, c.rule)
		}
	}
	cfg.Interrupt = true
	if v, err := New(cfg, shut).Handle(context.Background(), request(event.Claude, "Bash", `{}`)); err != nil || !v.Interrupt {
		t.Errorf("%+v, %v; want the end of the turn with a denial", v, err)
	}
	// A gate's question comes before the call, where a client that loses patience
	// lets it run: that is no place to wait.
	v := Resolve(cfg, &event.Event{Provider: event.Claude, Name: event.PreToolUse, Tool: &event.Tool{Name: "Bash"}},
		event.Verdict{Decision: event.Ask, Rule: "git-reset"}, shut)
	if v.Decision != event.Deny {
		t.Errorf("a gate's question becomes %v", v.Decision)
	}
}

func TestAnswered(t *testing.T) {
	before := event.Verdict{Decision: event.Deny, Rule: RulePhone, Reason: "nobody"}
	ev := request(event.Claude, "Bash", `{"command":"make deploy"}`)
	if v := Answered(before, ev, "allow"); v.Decision != event.Allow || v.Rule != RulePhoneAllow {
		t.Errorf("allow: %+v", v)
	}
	if v := Answered(before, ev, "deny"); v.Decision != event.Deny || v.Rule != RulePhoneDeny || !strings.Contains(v.Reason, "refused Bash (make deploy)") {
		t.Errorf("deny: %+v", v)
	}
	if v := Answered(before, ev, "here"); !v.IsZero() {
		t.Errorf("here: %+v", v)
	}
	before.Interrupt = true // closed-lid-interrupt
	if v := Answered(before, ev, "deny"); !v.Interrupt {
		t.Errorf("deny: %+v, want the end of the turn", v)
	}
	for _, none := range []string{"none", "", "ALLOW", "allowed"} {
		if v := Answered(before, ev, none); v.Decision != event.Deny || v.Rule != RulePhone {
			t.Errorf("%q: %+v, want the denial from before", none, v)
		}
	}
}

func TestShown(t *testing.T) {
	long := strings.Repeat("x", maxShown)
	for name, c := range map[string]struct {
		input, want string
		whole       bool
	}{
		"the command first":                 {`{"description":"tidy up","timeout":5,"command":"rm -rf build"}`, "Bash\nrm -rf build\ntimeout: 5\ndescription: tidy up", true},
		"every member":                      {`{"file_path":"/etc/hosts","content":"a\nb","x":{"y":[1]},"z":null}`, "Bash\nz: null\ncontent: a\n  b\nx: {\"y\":[1]}\nfile_path: /etc/hosts", true},
		"nothing to say":                    {`{}`, "Bash", true},
		"what cannot be seen":               {`{"command":"ls \u202e\u0007\u200b"}`, `Bash` + "\n" + `ls \u{202e}\u{7}\u{200b}`, true},
		"what a font leaves blank":          {`{"command":"ls \u3164\u2800\u115f\ufe0f\u034f"}`, `Bash` + "\n" + `ls \u{3164}\u{2800}\u{115f}\u{fe0f}\u{34f}`, true},
		"pushed out of sight":               {`{"command":"ls\n\n \n\t\n` + strings.Repeat(" ", 40) + `;rm x\n\n"}`, "Bash\nls\n  (2 × empty line)\n  \\u{9}\n  (40 × space);rm x\n  (2 × empty line)", true},
		"a value that plays a member":       {`{"content":"a\nfile_path: /tmp/a","file_path":"/home/dev/.bashrc"}`, "Bash\nfile_path: /home/dev/.bashrc\ncontent: a\n  file_path: /tmp/a", true},
		"more lines than a glance":          {`{"command":"1\n2\n3\n4\n5\n6\n7\n8"}`, "Bash (long, read it to its end: 9 lines, 30 letters)\n1\n  2\n  3\n  4\n  5\n  6\n  7\n  8", true},
		"more letters than a glance":        {`{"command":"` + long[:400] + `"}`, "Bash (long, read it to its end: 2 lines, 401 letters)\n" + long[:400], true},
		"the file before what goes into it": {`{"content":"` + long + `","file_path":"/etc/hosts"}`, "Bash\nfile_path: /etc/hosts\ncontent: " + long[:maxShown-36] + " … (cut: it can only be denied from here)", false},
		"other alphabets can":               {`{"command":"grep наша 界"}`, "Bash\ngrep наша 界", true},
		"too long":                          {`{"command":"` + long + `; rm -rf /"}`, "Bash\n" + long[:maxShown-5] + " … (cut: it can only be denied from here)", false},
		"long in what comes behind it":      {`{"command":"ls","env":"` + long + `"}`, "Bash\nls\nenv: " + long[:maxShown-13] + " … (cut: it can only be denied from here)", false},
		"input that is none":                {`[1]`, "Bash", false},
		"an end in the middle of a letter":  {`{"command":"` + strings.Repeat("界", maxShown) + `"}`, "Bash\n" + strings.Repeat("界", (maxShown-5)/3) + " … (cut: it can only be denied from here)", false},
	} {
		got, whole := Shown(request(event.Claude, "Bash", c.input))
		if got != c.want || whole != c.whole {
			t.Errorf("%s: %q, whole %v\nwant %q, %v", name, got, whole, c.want, c.whole)
		}
	}
	if _, whole := Shown(&event.Event{}); whole {
		t.Error("a call without a tool is shown in full")
	}
}

func TestTitle(t *testing.T) {
	for cwd, want := range map[string]string{"/home/dev/api": "claude asks in api", `C:\work\api`: "claude asks in api", "": "claude asks", "/": "claude asks", "/x/a\u3164b": `claude asks in a\u{3164}b`} {
		if got := Title(&event.Event{Provider: event.Claude, Cwd: cwd}); got != want {
			t.Errorf("%q: %q, want %q", cwd, got, want)
		}
	}
}
