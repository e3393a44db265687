// Package closedlid answers for the person who closed the lid. In come events at
// which a client would wait for somebody, out go answers, but only while the
// runtime says that the lid is closed and no display could show the question. It
// asks nothing else of anyone, and where it does not know it says nothing, so
// that the client's own prompt stays.
package closedlid

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/policy"
)

// Away is the runtime's answer to "is anybody there?".
type Away struct {
	Lid      string // open, closed, unknown
	Displays int    // suspend-blocking displays; -1 unknown
	Away     bool   // the runtime's own conclusion
}

// nobody reports whether it is known that nobody can see a prompt. All three
// have to agree: a runtime that is wrong about one must not answer for a person
// who sits in front of an external display.
func (a Away) nobody() bool { return a.Away && a.Lid == "closed" && a.Displays == 0 }

// Config is what the person set.
type Config struct {
	// Decision answers permission requests: Deny, Allow, or Ask, which leaves
	// the prompt open and the session soft-locked. None counts as Deny.
	Decision event.Decision
	// Phone has a permission request of Claude Code or Codex put to the person's
	// phone; Decision does not count for those. The denial given here stands where
	// no answer comes; see Answered.
	Phone bool
	// Interrupt ends the turn with a denial where the client can do that. The
	// message is then lost on the model and no Stop follows (contracts
	// Claude §3, Copilot §1.4); without it the model can wind up.
	Interrupt bool
	// CopilotStrict denies every permission request of the Copilot CLI, which
	// asks before its own rules and so for calls the person had allowed too
	// (contract Copilot §1.1). Without it a denial there is silence.
	CopilotStrict bool
}

// Rules, as they show in logs and in Verdict.Rule. RuleAsk is also the reason of
// the soft lock.
const (
	RuleDeny   = "closed_lid_permission_request_deny"
	RuleAllow  = "closed_lid_permission_request_allow"
	RuleAsk    = "closed_lid_permission_request_ask"
	RuleElicit = "closed_lid_elicitation_cancel"
	RuleAsking = "closed_lid_question_deny"
	RulePlan   = "closed_lid_plan_deny"
	RuleGate   = "closed_lid_ask_deny"

	// RulePhone marks a denial that the phone may still turn; the next two are the
	// person's own answers from there.
	RulePhone      = "closed_lid_permission_request_phone"
	RulePhoneAllow = "closed_lid_phone_allow"
	RulePhoneDeny  = "closed_lid_phone_deny"
)

// Name is the policy's name in chains and logs.
const Name = "closed-lid"

// Band is behind every other policy of the policy band: an approval of theirs
// means that nobody would have been asked.
const Band = policy.BandPolicy + 90

// New returns the handler. away is called at most once per event and only for
// one that would wait for a person; an error from it counts as "not known".
func New(cfg Config, away func() (Away, error)) policy.Handler {
	return policy.Handler{
		Name: Name, Band: Band, IfUndecided: true,
		// An observer: when it fails, the client's own prompt is the answer.
		Role:  policy.Observer,
		Wants: Wants,
		Handle: func(_ context.Context, ev *event.Event) (event.Verdict, error) {
			v := answer(cfg, ev)
			if v.IsZero() {
				return v, nil
			}
			a, err := away()
			if err != nil {
				return event.Verdict{}, fmt.Errorf("asking whether somebody is there: %w", err)
			}
			if !a.nobody() {
				return event.Verdict{}, nil
			}
			return v, nil
		},
	}
}

// Wants reports whether ev is one at which a client would wait for a person.
func Wants(ev *event.Event) bool {
	switch ev.Name {
	case event.PermissionRequest, event.Elicitation, event.QuestionAsked:
		return true
	case event.PreToolUse:
		return ev.Tool != nil && (asks(ev.Tool.Name) || plans(ev.Tool.Name))
	}
	return false
}

// Resolve is for the end of a chain: an Ask before a tool call, given by a gate,
// would wait for a person like any other prompt. When nobody is there it becomes
// a denial, never an allow: the gate wanted a person to look. With the decision
// set to Ask, and for every other verdict, v comes back unchanged and away is not
// called.
func Resolve(cfg Config, ev *event.Event, v event.Verdict, away func() (Away, error)) event.Verdict {
	if v.Decision != event.Ask || ev.Name != event.PreToolUse || cfg.Decision == event.Ask && !cfg.Phone {
		return v
	}
	if a, err := away(); err != nil || !a.nobody() {
		return v
	}
	v.Decision, v.Policy = event.Deny, Name
	if v.Rule == "" {
		v.Rule = RuleGate
	}
	v.Reason = strings.TrimSpace(v.Reason+"\n"+nobody("could be asked about "+call(ev))) + " " + goOn
	v.UpdatedInput = nil
	return v
}

const goOn = "Do not reach the same goal another way: go on with what needs no approval, or finish and say what is left to do."

// nobody begins every message: the fact, then what could not happen because of it.
func nobody(what string) string {
	return "Nobody is at this computer (its lid is closed), so nobody " + what + "."
}

// answer is what is said to ev when nobody is there.
func answer(cfg Config, ev *event.Event) event.Verdict {
	tool := ""
	if ev.Tool != nil {
		tool = ev.Tool.Name
	}
	interrupt := cfg.Interrupt && ev.Name == event.PermissionRequest
	switch {
	case ev.Name == event.Elicitation:
		return event.Verdict{
			Decision: event.Deny, Rule: RuleElicit, ElicitAction: "cancel",
			Reason: nobody("could answer the question of the MCP server " + quoteShort(server(ev))),
		}
	case ev.Name == event.QuestionAsked, asks(tool) && wait(ev):
		// Whatever the setting: an allow would leave the question open.
		return event.Verdict{
			Decision: event.Deny, Rule: RuleAsking, Interrupt: interrupt,
			Reason: nobody("could answer a question") +
				" Do not ask again: decide what is safe to decide and note it, and leave the rest for later.",
		}
	case plans(tool) && wait(ev):
		return event.Verdict{
			Decision: event.Deny, Rule: RulePlan, Interrupt: interrupt,
			Reason: nobody("could approve the plan") +
				" Stay in plan mode: write the plan down in your answer and finish; do not ask again.",
		}
	case ev.Name == event.PermissionRequest:
		return permission(cfg, ev)
	}
	return event.Verdict{}
}

func wait(ev *event.Event) bool {
	return ev.Name == event.PreToolUse || ev.Name == event.PermissionRequest
}

func permission(cfg Config, ev *event.Event) event.Verdict {
	if cfg.Phone && (ev.Provider == event.Claude || ev.Provider == event.Codex) {
		// Copilot asks for every call, also those its rules allow: no person wants
		// to hear of all of them. OpenCode's plugin tells one thing after the other,
		// and waits half a minute for each.
		return event.Verdict{Decision: event.Deny, Rule: RulePhone, Interrupt: cfg.Interrupt, Reason: nobody("could approve "+call(ev)) +
			" Their phone was asked, and no answer came in time. " + goOn}
	}
	switch {
	case cfg.Decision == event.Allow:
		return event.Verdict{Decision: event.Allow, Rule: RuleAllow}
	case cfg.Decision == event.Ask && ev.Provider == event.Copilot:
		// The request is no prompt yet. If one opens, a notification tells.
		return event.Verdict{}
	case cfg.Decision == event.Ask:
		return event.Verdict{Decision: event.Ask, Rule: RuleAsk}
	case ev.Provider == event.Copilot && !cfg.CopilotStrict:
		return event.Verdict{}
	}
	return event.Verdict{
		Decision: event.Deny, Rule: RuleDeny,
		Interrupt: cfg.Interrupt || ev.Provider == event.Copilot && cfg.CopilotStrict,
		Reason:    nobody("could approve "+call(ev)) + " " + goOn,
	}
}

// asks tells the tools that are a question to the person, by every client's name.
func asks(tool string) bool {
	switch tool {
	case "AskUserQuestion", // Claude Code; Copilot's PascalCase payloads
		"request_user_input", "request_permissions", // Codex
		"ask_user", // Copilot
		"question": // OpenCode
		return true
	}
	return false
}

// plans tells the tools that ask the person to approve a plan.
func plans(tool string) bool { return tool == "ExitPlanMode" || tool == "exit_plan_mode" }

func server(ev *event.Event) string {
	if ev.Elicitation != nil {
		return ev.Elicitation.Server
	}
	return ""
}

// call names a tool call for a reader: the tool and the start of what it would
// do, on one line.
func call(ev *event.Event) string {
	if ev.Tool == nil {
		return "the call"
	}
	var input struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
		Path     string `json:"path"`
		Outside  string `json:"filepath"` // OpenCode's external_directory
		URL      string `json:"url"`
	}
	// Fields of other kinds are another tool's business.
	_ = json.Unmarshal(ev.Tool.Input, &input)
	for _, what := range []string{input.Command, input.FilePath, input.Path, input.Outside, input.URL} {
		if what = event.Preview(what); what != "" {
			return fmt.Sprintf("%s (%s)", event.Preview(ev.Tool.Name), what)
		}
	}
	return event.Preview(ev.Tool.Name)
}

func quoteShort(text string) string { return fmt.Sprintf("%q", event.Preview(text)) }
