package copilot

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// These stand in where a verdict gives no reason.
const (
	noReason  = "lidguard refused this."
	askReason = "lidguard leaves this to you."
)

// Encode says v in the client's words for ev: one flat JSON object with exit 0,
// nested only at PascalCase PreToolUse, or nothing where the client has no words
// (contract §2, §3). What is left out on purpose:
//   - an ask at permissionRequest, since silence is the client's normal flow;
//   - contexts of a notification, which would start a turn of their own;
//   - contexts at PascalCase PreToolUse, whose place was not measured;
//   - continue:false and system messages, which the client does not read.
//
// Every object is checked against the closed shape of its event before it is
// returned. A mismatch is a fault of ours: the error says which, and the Output
// beside it refuses when v denies and is silent when it does not.
func Encode(ev *event.Event, v event.Verdict) (event.Output, error) {
	if v.IsZero() {
		return event.Output{}, nil
	}
	reason := jsontext.Clean(v.Reason)
	if strings.TrimSpace(reason) == "" {
		reason = noReason
		if v.Decision == event.Ask {
			reason = askReason
		}
	}
	var w jsontext.Writer
	denied := v.Decision == event.Deny
	block := func() {
		if denied {
			w.String("decision", "block")
			w.String("reason", reason)
		}
	}
	contexts := func(texts []string) {
		if text := jsontext.Clean(strings.Join(texts, "\n\n")); text != "" {
			w.String("additionalContext", text)
		}
	}

	switch ev.Name {
	case event.SessionStart, event.SubagentStart:
		contexts(v.Contexts)
	case event.UserPromptSubmit:
		block()
		contexts(v.Contexts)
	case event.PreToolUse:
		if v.Decision != event.None {
			w.String("permissionDecision", v.Decision.String())
			if v.Reason != "" || v.Decision != event.Allow {
				w.String("permissionDecisionReason", reason)
			}
		}
		rewritten := v.UpdatedInput
		if denied {
			rewritten = nil
		}
		if pascal(ev.Native) {
			if rewritten != nil {
				w.Raw("updatedInput", rewritten)
			}
			if !w.Empty() {
				inner := w
				w = jsontext.Writer{}
				var specific jsontext.Writer
				specific.String("hookEventName", "PreToolUse")
				w.Raw("hookSpecificOutput", merged(&specific, &inner))
			}
			break
		}
		if rewritten != nil {
			w.Raw("modifiedArgs", rewritten)
		}
		contexts(v.Contexts)
	case event.PermissionRequest:
		switch v.Decision {
		case event.Allow:
			w.String("behavior", "allow")
		case event.Deny:
			w.String("behavior", "deny")
			w.String("message", reason)
			if v.Interrupt {
				w.Bool("interrupt", true)
			}
		}
	case event.PostToolUse:
		// A block replaces the whole result by a refusal, so a rewrite beside it
		// would only be a second opinion.
		block()
		if v.UpdatedOutput != nil && !denied {
			result, err := modifiedResult(ev, v.UpdatedOutput)
			if err != nil {
				return fallback(ev, v, reason, err)
			}
			w.Raw("modifiedResult", result)
		}
		contexts(v.Contexts)
	case event.PostToolUseFailure:
		texts := v.Contexts
		if denied {
			texts = append([]string{reason}, texts...)
		}
		contexts(texts)
	case event.Stop, event.SubagentStop:
		if denied && len(v.Contexts) > 0 {
			reason += "\n\n" + jsontext.Clean(strings.Join(v.Contexts, "\n\n"))
		}
		block()
	default:
		return event.Output{}, nil
	}

	if w.Empty() {
		return event.Output{}, nil
	}
	body := w.Bytes()
	if err := check(ev, body); err != nil {
		return fallback(ev, v, reason, err)
	}
	return event.Output{Stdout: body}, nil
}

// Refuse answers for a payload that could not be read: it denies with reason where
// a call can be denied, and says nothing elsewhere. It never uses an exit code
// that is not needed, since this client takes any failure for a denial and shows
// stderr to nobody who could use it.
func Refuse(ev *event.Event, reason string) event.Output {
	name := ev.Name
	if name == "" {
		name = canonical(ev.Native)
	}
	if name != event.PreToolUse && name != event.PermissionRequest {
		return event.Output{}
	}
	refused := event.Event{Provider: event.Copilot, Name: name, Native: ev.Native}
	out, err := Encode(&refused, event.Verdict{Decision: event.Deny, Reason: reason})
	if err != nil {
		return event.Output{Stderr: []byte(noReason), Code: 2}
	}
	return out
}

func fallback(ev *event.Event, v event.Verdict, reason string, err error) (event.Output, error) {
	err = fmt.Errorf("copilot %s answer breaks the client's schema: %w", ev.Native, err)
	switch {
	case v.Decision == event.Deny && (ev.Name == event.PreToolUse || ev.Name == event.PermissionRequest):
		return event.Output{Stderr: []byte(reason), Code: 2}, err
	case ev.Name == event.PostToolUse && v.UpdatedOutput != nil:
		// A rewrite that does not fit must not let the original through.
		var w jsontext.Writer
		w.String("decision", "block")
		w.String("reason", "The output was withheld: "+reason)
		return event.Output{Stdout: w.Bytes()}, err
	}
	return event.Output{}, err
}

// modifiedResult turns a rewritten tool result into the client's form, which is
// camelCase whatever the payload was.
func modifiedResult(ev *event.Event, output []byte) ([]byte, error) {
	if ev.Tool == nil || ev.Tool.Response == nil {
		return nil, fmt.Errorf("there is no tool result to rewrite")
	}
	if !jsontext.Valid(output) {
		return nil, fmt.Errorf("the rewritten tool result is no JSON")
	}
	if !jsontext.SameShape(ev.Tool.Response, output) {
		return nil, fmt.Errorf("the rewritten result of %q has another shape than its own", ev.Tool.Name)
	}
	if !pascal(ev.Native) {
		return output, nil
	}
	var w jsontext.Writer
	_ = jsontext.Object(output, func(key, value []byte) bool {
		switch string(key) {
		case "result_type":
			w.Raw("resultType", value)
		case "text_result_for_llm":
			w.Raw("textResultForLlm", value)
		default:
			w.Raw(string(key), value)
		}
		return true
	})
	return w.Bytes(), nil
}

// merged puts the members of b behind those of a.
func merged(a, b *jsontext.Writer) []byte {
	left, right := a.Bytes(), b.Bytes()
	out := append(left[:len(left)-1:len(left)-1], ',')
	return append(out, right[1:]...)
}
