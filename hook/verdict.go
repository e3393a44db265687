package hook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Decision is what a hook wants to happen.
type Decision string

// The decisions, weakest first; where verdicts are put together the strongest
// wins.
const (
	Undecided Decision = ""      // the client's own flow goes on
	Allowed   Decision = "allow" // no objection; lifts no rule of the client
	Asked     Decision = "ask"   // a person has to decide
	Denied    Decision = "deny"  // it does not happen
)

// Verdict is what a hook answers. The zero value says nothing, and so do fields
// that a client has no words for at that event: hooktest's Outcome.Lost names
// them. Its JSON form is the one of resident mode (docs/resident.md).
//
// Make verdicts with None, Deny, Ask, Allow, AddContext, RewriteInput,
// RewriteOutput, Continue, EndTurn and Answer, and put them together with With.
type Verdict struct {
	Decision Decision `json:"decision,omitempty"`
	// Reason is read by the model (deny, continue) or by the person (ask).
	Reason string `json:"reason,omitempty"`
	// Rule names the rule that decided. It is added to the reason as "[rule]",
	// unless the reason has it already.
	Rule string `json:"rule,omitempty"`

	// Contexts are texts for the model, in order. Clients cut or hide what is
	// longer than some 10,000 characters.
	Contexts []string `json:"contexts,omitempty"`
	// UpdatedInput replaces the tool's arguments as a whole.
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"`
	// UpdatedOutput replaces the tool's result, in the tool's own shape.
	UpdatedOutput json.RawMessage `json:"updated_output,omitempty"`
	// SystemMessage is shown to the person where the client can.
	SystemMessage string `json:"system_message,omitempty"`
	// StopTurn ends the turn where the client can, StopReason says why.
	StopTurn   bool   `json:"stop_turn,omitempty"`
	StopReason string `json:"stop_reason,omitempty"`

	// Interrupt ends the turn with a denied permission. Mind that then no Stop
	// follows (docs/contracts).
	Interrupt bool `json:"interrupt,omitempty"`
	// Permissions are rules to store with an allowed permission; Claude Code.
	Permissions json.RawMessage `json:"permissions,omitempty"`
	// Action and Content answer an MCP server's question: accept, decline or
	// cancel.
	Action  string          `json:"action,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
	// SessionTitle names the session, WatchPaths are watched from now on,
	// TerminalSequence is written to the terminal with a notification; Claude
	// Code.
	SessionTitle     string   `json:"session_title,omitempty"`
	WatchPaths       []string `json:"watch_paths,omitempty"`
	TerminalSequence string   `json:"terminal_sequence,omitempty"`

	goOn bool  // made by Continue
	err  error // a rewrite that could not be said in JSON
}

// None says nothing: the client goes on as if there were no hook.
func None() Verdict { return Verdict{} }

// Deny refuses. reason is a prompt: say what was refused and what to do instead.
// At Stop and SubagentStop a refusal keeps the agent working, however often;
// Continue is the one that ends by itself.
func Deny(reason string) Verdict { return Verdict{Decision: Denied, Reason: reason} }

// Ask hands the decision to the person. Where a client cannot ask from a hook
// (Codex, OpenCode before a call) the call is refused with the reason.
func Ask(reason string) Verdict { return Verdict{Decision: Asked, Reason: reason} }

// Allow has no objection. Before a call it spares the person a prompt on some
// clients (docs/contracts); a client's own deny rules hold all the same.
func Allow() Verdict { return Verdict{Decision: Allowed} }

// AddContext gives the model texts to read, as facts beside the event.
func AddContext(texts ...string) Verdict { return Verdict{Contexts: texts} }

// RewriteInput replaces the arguments of the call. input is anything that
// json.Marshal takes, or JSON as json.RawMessage, an empty one meaning no rewrite.
// A value that cannot be said in JSON counts as a failure of the body.
func RewriteInput(input any) Verdict {
	raw, err := jsonOf(input)
	return Verdict{UpdatedInput: raw, err: err}
}

// RewriteOutput replaces what the call gave, like RewriteInput. It must have the
// shape of the original: use Result.MapStrings. On Codex the new text takes the
// place of the result for the model, while screen and session file keep the old.
func RewriteOutput(output any) Verdict {
	raw, err := jsonOf(output)
	return Verdict{UpdatedOutput: raw, err: err}
}

func jsonOf(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		if len(raw) == 0 {
			return nil, nil
		}
		if !json.Valid(raw) {
			return nil, fmt.Errorf("a rewrite that is no JSON: %.80q", raw)
		}
		return raw, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("a rewrite that is no JSON: %w", err)
	}
	return raw, nil
}

// Continue keeps the agent working at Stop or SubagentStop; reason says on what.
// It yields once the turn was kept going (Stopped.Again), so that it never
// loops; a body with a bound of its own uses Deny. Elsewhere it says nothing.
func Continue(reason string) Verdict { return Verdict{Decision: Denied, Reason: reason, goOn: true} }

// EndTurn ends the turn where the client can, with a reason for the person.
func EndTurn(reason string) Verdict { return Verdict{StopTurn: true, StopReason: reason} }

// Answer accepts an MCP server's question with content, an object as its schema
// wants it.
func Answer(content any) Verdict {
	raw, err := jsonOf(content)
	return Verdict{Action: "accept", Content: raw, err: err}
}

// ByRule returns v with the name of the rule that decided.
func (v Verdict) ByRule(rule string) Verdict {
	v.Rule = rule
	return v
}

// With puts verdicts together: the strongest decision wins with its reason, the
// first of equals; contexts are all kept, in order; of everything else the first
// to say it wins.
func (v Verdict) With(others ...Verdict) Verdict {
	v.Contexts = append([]string(nil), v.Contexts...)
	for _, o := range others {
		if strength(o.Decision) > strength(v.Decision) {
			v.Decision, v.Reason, v.Rule, v.goOn = o.Decision, o.Reason, o.Rule, o.goOn
			v.Interrupt, v.Permissions = o.Interrupt, o.Permissions
		}
		v.Contexts = append(v.Contexts, o.Contexts...)
		v.UpdatedInput = firstRaw(v.UpdatedInput, o.UpdatedInput)
		v.UpdatedOutput = firstRaw(v.UpdatedOutput, o.UpdatedOutput)
		if v.SystemMessage == "" {
			v.SystemMessage = o.SystemMessage
		}
		if !v.StopTurn {
			v.StopTurn, v.StopReason = o.StopTurn, o.StopReason
		}
		if v.Action == "" {
			v.Action, v.Content = o.Action, o.Content
		}
		if v.SessionTitle == "" {
			v.SessionTitle = o.SessionTitle
		}
		v.WatchPaths = append(v.WatchPaths[:len(v.WatchPaths):len(v.WatchPaths)], o.WatchPaths...)
		if v.TerminalSequence == "" {
			v.TerminalSequence = o.TerminalSequence
		}
		if v.err == nil {
			v.err = o.err
		}
	}
	return v
}

func firstRaw(a, b json.RawMessage) json.RawMessage {
	if a != nil {
		return a
	}
	return b
}

func strength(d Decision) event.Decision {
	switch d {
	case Denied:
		return event.Deny
	case Asked:
		return event.Ask
	case Allowed:
		return event.Allow
	}
	return event.None
}

// check says why a verdict cannot be carried out at all.
func (v Verdict) check() error {
	if v.err != nil {
		return v.err
	}
	switch v.Decision {
	case Undecided, Allowed, Asked, Denied:
	default:
		return fmt.Errorf("there is no decision %q", v.Decision)
	}
	for _, raw := range []json.RawMessage{v.UpdatedInput, v.UpdatedOutput, v.Permissions, v.Content} {
		if raw != nil && !json.Valid(raw) {
			return fmt.Errorf("a part of the verdict is no JSON: %.80q", raw)
		}
	}
	return nil
}

// settled is v as it stands for this event: what a continuation means is decided
// here, since only the event tells whether one is due.
func (v Verdict) settled(ev *event.Event) Verdict {
	if v.goOn {
		stop := ev.Name == event.Stop || ev.Name == event.SubagentStop
		if !stop || ev.StopActive {
			v.Decision, v.Reason, v.Rule = Undecided, "", ""
		}
		v.goOn = false
	}
	return v
}

// internal is v in the codecs' words.
func (v Verdict) internal() event.Verdict {
	reason := v.Reason
	if v.Rule != "" && v.Decision != Undecided && !strings.Contains(reason, "["+v.Rule+"]") {
		reason = strings.TrimSpace(reason + " [" + v.Rule + "]")
	}
	return event.Verdict{
		Decision: strength(v.Decision), Reason: reason, Rule: v.Rule, Interrupt: v.Interrupt,
		Contexts: v.Contexts, UpdatedInput: v.UpdatedInput, UpdatedOutput: v.UpdatedOutput, Permissions: v.Permissions,
		SystemMessage: v.SystemMessage, StopTurn: v.StopTurn, StopReason: v.StopReason,
		ElicitAction: v.Action, ElicitContent: v.Content,
		SessionTitle: v.SessionTitle, WatchPaths: v.WatchPaths, TerminalSequence: v.TerminalSequence,
	}
}
