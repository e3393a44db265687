package hooktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/hook"
)

// Effect is what the agent does after it has heard the hook.
type Effect string

// The effects.
const (
	GoesOn   Effect = "goes on"                     // as if there were no hook, but for contexts and rewrites
	Runs     Effect = "runs without asking"         // the call or the switch was allowed
	Asks     Effect = "asks the person"             // where a person is there
	Refused  Effect = "refused"                     // the call, prompt, change … does not happen
	Objected Effect = "objection beside the result" // the model reads it beside what the call gave
	Replaced Effect = "result replaced"             // the model does not see what the call gave
	WorksOn  Effect = "works on"                    // the turn does not end
	TurnEnds Effect = "turn ends"
	Answered Effect = "question answered"
)

// The reader below is on purpose another one than the codecs: it knows what each
// client does with an answer, from docs/contracts, and takes nothing on trust
// that the codecs wrote. A member the client does not know is an error, since
// Codex throws the whole answer away for it.

// seen is an answer as its client understands it.
type seen struct {
	effect  Effect
	told    string // what the model reads, or the person where the model is not asked
	verdict hook.Verdict
}

// specific is hookSpecificOutput of Claude Code and Codex.
type specific struct {
	HookEventName            string
	PermissionDecision       string
	PermissionDecisionReason string
	UpdatedInput             json.RawMessage
	AdditionalContext        string
	Decision                 *struct {
		Behavior, Message  string
		Interrupt          bool
		UpdatedInput       json.RawMessage
		UpdatedPermissions json.RawMessage
	}
	UpdatedToolOutput    json.RawMessage
	UpdatedMCPToolOutput json.RawMessage
	Action               string
	Content              json.RawMessage
	SessionTitle         string
	WatchPaths           []string
}

// answer is every member that some client reads; strict says which of them this
// client knows.
type answer struct {
	HookSpecificOutput *specific
	Decision, Reason   string
	Continue           *bool
	StopReason         string
	SystemMessage      string
	TerminalSequence   string

	// Copilot's own words.
	PermissionDecision, PermissionDecisionReason string
	ModifiedArgs, ModifiedResult                 json.RawMessage
	AdditionalContext                            string
	Behavior, Message                            string
	Interrupt                                    bool

	// lidguard's plugin for OpenCode.
	V                       int
	Do, Text, Reply, Append string
	Args, Result            json.RawMessage
	Abort                   bool
}

// knows lists the top-level members a client reads.
var knows = map[hook.Provider]string{
	hook.Claude:   "hookSpecificOutput decision reason continue stopReason systemMessage terminalSequence",
	hook.Codex:    "hookSpecificOutput decision reason continue stopReason systemMessage",
	hook.Copilot:  "hookSpecificOutput decision reason permissionDecision permissionDecisionReason modifiedArgs modifiedResult additionalContext behavior message interrupt",
	hook.OpenCode: "v do text reply message append args result abort",
}

// understand reads an answer as the client of p does. The error says what the
// client would reject.
func understand(p Payload, name hook.Name, code int, stdout, stderr string) (seen, error) {
	if code != 0 {
		if stdout != "" {
			return seen{}, fmt.Errorf("exit %d and JSON together", code)
		}
		return byExit(p.Provider, name, code, stderr)
	}
	if stdout == "" {
		return seen{effect: GoesOn}, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stdout), &members); err != nil {
		return seen{}, fmt.Errorf("standard output is no JSON object: %w", err)
	}
	for member := range members {
		if !slices.Contains(strings.Fields(knows[p.Provider]), member) {
			return seen{}, fmt.Errorf("%s does not know the member %q", p.Provider, member)
		}
	}
	var a answer
	dec := json.NewDecoder(bytes.NewReader([]byte(stdout)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return seen{}, fmt.Errorf("an answer the client does not know: %w", err)
	}
	switch p.Provider {
	case hook.Copilot:
		return a.copilot(name)
	case hook.OpenCode:
		return a.openCode(name)
	}
	return a.nested(p.Provider, name)
}

// byExit is what an exit code does by itself: contracts/claude §2 and §3,
// contracts/codex §4, contracts/copilot §3, the plugin's own words.
func byExit(p hook.Provider, name hook.Name, code int, stderr string) (seen, error) {
	refused := seen{effect: Refused, told: stderr, verdict: hook.Deny(stderr)}
	on := func(e Effect) (seen, error) {
		return seen{effect: e, told: stderr, verdict: hook.Deny(stderr)}, nil
	}
	call := name == hook.PreToolUse || name == hook.PermissionRequest
	switch {
	case p == hook.Copilot && call:
		refused.told = fmt.Sprintf("hook exited with code %d", code) // stderr is not the reason
		return refused, nil
	case code != 2:
		return seen{effect: GoesOn}, nil
	case p == hook.Codex:
		if strings.TrimSpace(stderr) == "" {
			return seen{effect: GoesOn}, nil
		}
		switch name {
		case hook.PreToolUse, hook.PermissionRequest, hook.UserPromptSubmit:
			return refused, nil
		case hook.PostToolUse:
			return on(Replaced)
		case hook.Stop, hook.SubagentStop:
			return on(WorksOn)
		}
	case p == hook.OpenCode && (call || name == hook.UserPromptSubmit):
		return refused, nil
	case p == hook.Claude:
		switch name {
		case hook.PreToolUse, hook.PreSkillShellCommand, hook.UserPromptSubmit, hook.UserPromptExpansion, hook.PreModelSwitch,
			hook.ConfigChange, hook.Elicitation, hook.ElicitationResult, hook.PreCompact, hook.TaskCreated, hook.TaskCompleted, hook.WorktreeCreate:
			return refused, nil
		case hook.PostToolUse, hook.PostToolUseFailure:
			return on(Objected)
		case hook.Stop, hook.SubagentStop, hook.TeammateIdle:
			return on(WorksOn)
		case hook.PostToolBatch:
			return on(TurnEnds)
		}
	}
	return seen{effect: GoesOn}, nil
}

// nested reads the dialect of Claude Code and Codex.
func (a *answer) nested(p hook.Provider, name hook.Name) (seen, error) {
	s := seen{effect: GoesOn, told: a.Reason}
	v := &s.verdict
	v.SystemMessage, v.TerminalSequence = a.SystemMessage, a.TerminalSequence
	if h := a.HookSpecificOutput; h != nil {
		if h.HookEventName != string(name) {
			return s, fmt.Errorf("hookEventName is %q at %s", h.HookEventName, name)
		}
		if h.AdditionalContext != "" {
			v.Contexts = []string{h.AdditionalContext}
		}
		v.UpdatedInput, v.SessionTitle, v.WatchPaths = h.UpdatedInput, h.SessionTitle, h.WatchPaths
		v.UpdatedOutput = h.UpdatedToolOutput
		if h.UpdatedMCPToolOutput != nil {
			v.UpdatedOutput = h.UpdatedMCPToolOutput
		}
		switch h.PermissionDecision {
		case "":
		case "deny":
			s.effect, s.told = Refused, h.PermissionDecisionReason
		case "ask":
			s.effect, s.told = Asks, h.PermissionDecisionReason
		case "allow":
			s.effect = Runs
		default:
			return s, fmt.Errorf("permissionDecision %q", h.PermissionDecision)
		}
		v.Decision, v.Reason = hook.Decision(h.PermissionDecision), h.PermissionDecisionReason
		if d := h.Decision; d != nil {
			s.effect, s.told = map[string]Effect{"allow": Runs, "deny": Refused}[d.Behavior], d.Message
			if s.effect == "" {
				return s, fmt.Errorf("behavior %q", d.Behavior)
			}
			v.Decision, v.Reason, v.Interrupt, v.UpdatedInput, v.Permissions = hook.Decision(d.Behavior), d.Message, d.Interrupt, d.UpdatedInput, d.UpdatedPermissions
		}
		if h.Action != "" {
			v.Action, v.Content = h.Action, h.Content
			s.effect = map[string]Effect{"accept": Answered, "decline": Refused, "cancel": Refused}[h.Action]
		}
	}
	if a.Decision != "" {
		if a.Decision != "block" {
			return s, fmt.Errorf("decision %q", a.Decision)
		}
		v.Decision, v.Reason = hook.Denied, a.Reason
		switch name {
		case hook.PostToolUse:
			s.effect = Objected
			if p == hook.Codex { // the reason takes the result's place
				s.effect = Replaced
			}
		case hook.Stop, hook.SubagentStop:
			s.effect = WorksOn
		case hook.PostToolBatch:
			s.effect = TurnEnds
		default:
			s.effect = Refused
		}
	}
	if v.UpdatedOutput != nil {
		s.effect = Replaced
	}
	if a.Continue != nil && !*a.Continue {
		v.StopTurn, v.StopReason = true, a.StopReason
		s.effect = TurnEnds
	}
	if p == hook.Codex {
		return s, a.codexRules(name)
	}
	return s, nil
}

// codexRules is contracts/codex §4, "Rejected with failed".
func (a *answer) codexRules(name hook.Name) error {
	h := a.HookSpecificOutput
	if h == nil {
		h = &specific{}
	} else if name == hook.Stop || name == hook.SubagentStop {
		return fmt.Errorf("hookSpecificOutput at %s", name)
	}
	switch {
	case h.PermissionDecision == "ask", h.PermissionDecision == "allow" && h.UpdatedInput == nil,
		h.PermissionDecision == "deny" && strings.TrimSpace(h.PermissionDecisionReason) == "",
		h.UpdatedInput != nil && h.PermissionDecision != "allow":
		return fmt.Errorf("permissionDecision %q does not stand like this", h.PermissionDecision)
	case h.Decision != nil && (h.Decision.Interrupt || h.Decision.UpdatedInput != nil || h.Decision.UpdatedPermissions != nil):
		return fmt.Errorf("more than behavior and message at PermissionRequest")
	case h.UpdatedToolOutput != nil, h.UpdatedMCPToolOutput != nil, h.SessionTitle != "", h.WatchPaths != nil, h.Action != "":
		return fmt.Errorf("a member of Claude Code's dialect")
	case a.Decision == "block" && strings.TrimSpace(a.Reason) == "", a.Decision == "" && a.Reason != "":
		return fmt.Errorf("a block without a reason, or a reason without a block")
	case a.Continue != nil && (name == hook.PreToolUse || name == hook.PermissionRequest):
		return fmt.Errorf("continue at %s", name)
	}
	return nil
}

func (a *answer) copilot(name hook.Name) (seen, error) {
	s := seen{effect: GoesOn}
	v := &s.verdict
	decision, reason := a.PermissionDecision, a.PermissionDecisionReason
	v.UpdatedInput, v.UpdatedOutput = a.ModifiedArgs, a.ModifiedResult
	if h := a.HookSpecificOutput; h != nil {
		if name != hook.PreToolUse || h.HookEventName != "PreToolUse" {
			return s, fmt.Errorf("hookSpecificOutput counts at PreToolUse alone")
		}
		decision, reason, v.UpdatedInput = h.PermissionDecision, h.PermissionDecisionReason, h.UpdatedInput
	}
	if a.AdditionalContext != "" {
		v.Contexts = []string{a.AdditionalContext}
	}
	if a.Behavior != "" {
		decision, reason, v.Interrupt = a.Behavior, a.Message, a.Interrupt
	}
	if decision != "" {
		s.effect = map[string]Effect{"deny": Refused, "ask": Asks, "allow": Runs}[decision]
		if s.effect == "" {
			return s, fmt.Errorf("decision %q", decision)
		}
	}
	v.Decision, v.Reason = hook.Decision(decision), reason
	if v.UpdatedOutput != nil {
		s.effect = Replaced
	}
	if a.Decision != "" {
		if a.Decision != "block" {
			return s, fmt.Errorf("decision %q", a.Decision)
		}
		v.Decision, v.Reason = hook.Denied, a.Reason
		switch name {
		case hook.PostToolUse:
			s.effect = Replaced
		case hook.Stop, hook.SubagentStop:
			s.effect = WorksOn
		default:
			s.effect = Refused
		}
	}
	s.told = v.Reason
	return s, nil
}

func (a *answer) openCode(name hook.Name) (seen, error) {
	if a.V != 1 {
		return seen{}, fmt.Errorf("v is %d", a.V)
	}
	s := seen{effect: GoesOn}
	v := &s.verdict
	v.UpdatedInput, v.UpdatedOutput, v.StopTurn = a.Args, a.Result, a.Abort
	if a.Append != "" {
		v.Contexts = []string{a.Append}
	}
	deny := func(e Effect, text string) {
		s.effect, s.told, v.Decision, v.Reason = e, text, hook.Denied, text
	}
	switch a.Do {
	case "":
		if a.Result != nil {
			s.effect = Replaced
		}
	case "refuse":
		deny(Refused, a.Text)
	case "continue":
		deny(WorksOn, a.Text)
	case "reject":
		deny(Refused, "")
	case "reply":
		switch a.Reply {
		case "once", "always":
			s.effect, v.Decision = Runs, hook.Allowed
		case "reject":
			deny(Refused, a.Message)
			v.Interrupt = a.Message == ""
		default:
			return s, fmt.Errorf("reply %q", a.Reply)
		}
	default:
		return s, fmt.Errorf("do %q", a.Do)
	}
	if a.Abort {
		s.effect = TurnEnds
	}
	return s, nil
}
