package closedlid_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
	"github.com/lidguard-go/lidguard/internal/policy/closedlid"
)

var gone = closedlid.Away{Lid: "closed", Displays: 0, Away: true}

func there(a closedlid.Away) func() (closedlid.Away, error) {
	return func() (closedlid.Away, error) { return a, nil }
}

func ev(p event.Provider, name event.Name, tool string) *event.Event {
	e := &event.Event{Provider: p, Name: name, Native: string(name), Session: event.SessionKey{Provider: p, ID: "s"}}
	if tool != "" {
		e.Tool = &event.Tool{Name: tool, Input: json.RawMessage(`{"command":"make deploy"}`)}
	}
	if name == event.Elicitation {
		e.Elicitation = &event.Elicit{Server: "lab"}
	}
	return e
}

// TestHandler_everySetting is the whole table: event × setting, nobody there.
// A cell is decision, rule, and "!" where the turn is interrupted.
func TestHandler_everySetting(t *testing.T) {
	const (
		pre, req = event.PreToolUse, event.PermissionRequest
		question = "deny closed_lid_question_deny"
		plan     = "deny closed_lid_plan_deny"
		no       = "deny closed_lid_permission_request_deny"
		yes      = "allow closed_lid_permission_request_allow"
		open     = "ask closed_lid_permission_request_ask"
		elicit   = "deny closed_lid_elicitation_cancel"
	)
	settings := []closedlid.Config{
		{Decision: event.Deny},
		{Decision: event.Allow},
		{Decision: event.Ask},
		{Decision: event.Deny, Interrupt: true},
		{Decision: event.Deny, CopilotStrict: true},
		{}, // a zero decision is the default, deny
	}
	for _, c := range []struct {
		name string
		ev   *event.Event
		want [6]string
	}{
		{"claude: a permission request", ev(event.Claude, req, "Bash"), [6]string{no, yes, open, no + "!", no, no}},
		{"claude: an MCP tool's", ev(event.Claude, req, "mcp__lab__store"), [6]string{no, yes, open, no + "!", no, no}},
		{"claude: a question as permission request", ev(event.Claude, req, "AskUserQuestion"), [6]string{question, question, question, question + "!", question, question}},
		{"claude: a plan as permission request", ev(event.Claude, req, "ExitPlanMode"), [6]string{plan, plan, plan, plan + "!", plan, plan}},
		{"claude: a question before it is asked", ev(event.Claude, pre, "AskUserQuestion"), [6]string{question, question, question, question, question, question}},
		{"claude: a plan before it is shown", ev(event.Claude, pre, "ExitPlanMode"), [6]string{plan, plan, plan, plan, plan, plan}},
		{"claude: an MCP server's question", ev(event.Claude, event.Elicitation, ""), [6]string{elicit, elicit, elicit, elicit, elicit, elicit}},
		{"claude: any other call", ev(event.Claude, pre, "Bash"), [6]string{}},
		{"claude: the end of a question", ev(event.Claude, event.PostToolUse, "AskUserQuestion"), [6]string{}},
		{"claude: a Stop", ev(event.Claude, event.Stop, ""), [6]string{}},
		{"codex: a permission request", ev(event.Codex, req, "Bash"), [6]string{no, yes, open, no + "!", no, no}},
		{"codex: a question", ev(event.Codex, pre, "request_user_input"), [6]string{question, question, question, question, question, question}},
		{"codex: a request for permissions", ev(event.Codex, pre, "request_permissions"), [6]string{question, question, question, question, question, question}},
		{"copilot: a permission request is no prompt", ev(event.Copilot, req, "bash"), [6]string{"", yes, "", "", no + "!", ""}},
		{"copilot: a question", ev(event.Copilot, pre, "ask_user"), [6]string{question, question, question, question, question, question}},
		{"copilot: a plan", ev(event.Copilot, pre, "exit_plan_mode"), [6]string{plan, plan, plan, plan, plan, plan}},
		{"copilot: a read outside the folder may be allowed", ev(event.Copilot, pre, "view"), [6]string{}},
		{"opencode: a permission request", ev(event.OpenCode, req, "bash"), [6]string{no, yes, open, no + "!", no, no}},
		{"opencode: a question before it is asked", ev(event.OpenCode, pre, "question"), [6]string{question, question, question, question, question, question}},
		{"opencode: a question that is open", ev(event.OpenCode, event.QuestionAsked, ""), [6]string{question, question, question, question, question, question}},
	} {
		for i, cfg := range settings {
			h := closedlid.New(cfg, there(gone))
			v, said := policy.Run(t.Context(), c.ev, []policy.Handler{h})
			got := ""
			if v.Decision != event.None {
				got = v.Decision.String() + " " + v.Rule
			}
			if v.Interrupt {
				got += "!"
			}
			if got != c.want[i] {
				t.Errorf("%s, %+v: got %q, want %q", c.name, cfg, got, c.want[i])
			}
			if v.Decision == event.Deny && !strings.Contains(v.Reason, "lid is closed") {
				t.Errorf("%s: the model is not told why: %q", c.name, v.Reason)
			}
			if (c.ev.Name == event.Elicitation) != (v.ElicitAction == "cancel") {
				t.Errorf("%s: elicitation action %q", c.name, v.ElicitAction)
			}
			if len(said) == 0 && closedlid.Wants(c.ev) {
				t.Errorf("%s: was not asked", c.name)
			}
		}
	}
}

func TestHandler_saysNothingWhenSomebodyMayBeThere(t *testing.T) {
	for _, c := range []struct {
		name string
		away func() (closedlid.Away, error)
	}{
		{"the lid is open", there(closedlid.Away{Lid: "open"})},
		{"the lid is open, whatever the runtime concludes", there(closedlid.Away{Lid: "open", Away: true})},
		{"the lid is not known", there(closedlid.Away{Lid: "unknown", Away: true})},
		{"the lid is not told", there(closedlid.Away{Away: true})},
		{"a display is on", there(closedlid.Away{Lid: "closed", Displays: 1, Away: true})},
		{"the displays are not known", there(closedlid.Away{Lid: "closed", Displays: -1, Away: true})},
		{"the runtime does not call it away", there(closedlid.Away{Lid: "closed"})},
		{"there is no runtime", func() (closedlid.Away, error) { return gone, errors.New("connection refused") }},
		{"the runtime's client panics", func() (closedlid.Away, error) { panic("broken pipe") }},
	} {
		for _, decision := range []event.Decision{event.Deny, event.Allow, event.Ask} {
			h := closedlid.New(closedlid.Config{Decision: decision, Interrupt: true, CopilotStrict: true}, c.away)
			for _, e := range []*event.Event{
				ev(event.Claude, event.PermissionRequest, "Bash"), ev(event.Claude, event.PreToolUse, "AskUserQuestion"),
				ev(event.Claude, event.Elicitation, ""), ev(event.Copilot, event.PermissionRequest, "bash"),
				ev(event.OpenCode, event.QuestionAsked, ""),
			} {
				if v, _ := policy.Run(t.Context(), e, []policy.Handler{h}); !v.IsZero() {
					t.Errorf("%s, %v, %s %s: got %+v, want silence", c.name, decision, e.Provider, e.Name, v)
				}
			}
		}
	}
}

func TestHandler_asksTheRuntimeOnlyWhenItMatters(t *testing.T) {
	calls := 0
	h := closedlid.New(closedlid.Config{Decision: event.Deny}, func() (closedlid.Away, error) { calls++; return gone, nil })
	for _, e := range []*event.Event{
		ev(event.Claude, event.PreToolUse, "Bash"), ev(event.Claude, event.Stop, ""), ev(event.Copilot, event.PermissionRequest, "bash"),
	} {
		policy.Run(t.Context(), e, []policy.Handler{h})
	}
	if calls != 0 {
		t.Errorf("the runtime was asked %d times for nothing", calls)
	}
	policy.Run(t.Context(), ev(event.Claude, event.PermissionRequest, "Bash"), []policy.Handler{h})
	if calls != 1 {
		t.Errorf("the runtime was asked %d times, want once", calls)
	}
}

func TestHandler_leavesWhatARuleAllowed(t *testing.T) {
	approve := policy.Handler{Name: "approve", Band: policy.BandPolicy, Handle: nil}
	for _, c := range []struct {
		said event.Decision
		want event.Decision
	}{{event.Allow, event.Allow}, {event.None, event.Deny}} {
		approve.Handle = fixed(event.Verdict{Decision: c.said})
		h := closedlid.New(closedlid.Config{Decision: event.Deny}, there(gone))
		v, _ := policy.Run(t.Context(), ev(event.Claude, event.PermissionRequest, "Bash"), []policy.Handler{h, approve})
		if v.Decision != c.want {
			t.Errorf("a rule said %v: got %v, want %v", c.said, v.Decision, c.want)
		}
	}
}

func TestMessage_namesTheCallOnOneLine(t *testing.T) {
	e := ev(event.Claude, event.PermissionRequest, "Bash")
	for _, c := range []struct{ input, want string }{
		{`{"command":"make deploy"}`, "approve Bash (make deploy)."},
		{`{"command":"a\n\u001b[31mb` + strings.Repeat(" word", 40) + `"}`, "approve Bash (a [31mb word"},
		{`{"file_path":"/etc/hosts"}`, "approve Bash (/etc/hosts)."},
		{`{"command":7}`, "approve Bash."},
		{`{`, "approve Bash."},
		{``, "approve Bash."},
	} {
		e.Tool.Input = json.RawMessage(c.input)
		v, _ := policy.Run(t.Context(), e, []policy.Handler{closedlid.New(closedlid.Config{}, there(gone))})
		if !strings.Contains(v.Reason, c.want) || strings.ContainsAny(v.Reason, "\n\x1b") || len(v.Reason) > 400 {
			t.Errorf("%s: got %q, want it to say %q", c.input, v.Reason, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	ask := event.Verdict{Decision: event.Ask, Reason: "deletes a branch", Rule: "git-branch", Policy: "gate", UpdatedInput: json.RawMessage(`{}`)}
	bash := ev(event.Claude, event.PreToolUse, "Bash")
	for _, c := range []struct {
		name string
		cfg  closedlid.Config
		ev   *event.Event
		v    event.Verdict
		away func() (closedlid.Away, error)
		want event.Decision
	}{
		{"an ask with nobody there is a denial", closedlid.Config{}, bash, ask, there(gone), event.Deny},
		{"never an allow", closedlid.Config{Decision: event.Allow}, bash, ask, there(gone), event.Deny},
		{"left open where the person wants that", closedlid.Config{Decision: event.Ask}, bash, ask, there(gone), event.Ask},
		{"with somebody there it stays", closedlid.Config{}, bash, ask, there(closedlid.Away{Lid: "open"}), event.Ask},
		{"without a runtime it stays", closedlid.Config{}, bash, ask, func() (closedlid.Away, error) { return gone, errors.New("x") }, event.Ask},
		{"an allow stays", closedlid.Config{}, bash, event.Verdict{Decision: event.Allow}, nil, event.Allow},
		{"a Stop asks nobody", closedlid.Config{}, ev(event.Claude, event.Stop, ""), ask, nil, event.Ask},
	} {
		got := closedlid.Resolve(c.cfg, c.ev, c.v, c.away)
		if got.Decision != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got.Decision, c.want)
		}
		if got.Decision == event.Deny && (got.Rule != "git-branch" || got.UpdatedInput != nil ||
			!strings.HasPrefix(got.Reason, "deletes a branch") || !strings.Contains(got.Reason, "Nobody is at this computer")) {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}
