package codex

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// noReason stands in where a verdict gives no reason: a denial without one is
// thrown away by the client and the call runs.
const noReason = "lidguard refused this."

// cannotAsk follows the reason of an ask that had to become a denial.
const cannotAsk = "This needs a person's word, which cannot be asked for here; leave it to them."

// Encode says v in the client's words for ev: one JSON object with exit 0, or
// nothing where the client has no words (contract §4). What it does not have:
//   - ask at PreToolUse, which would let the call run, so it becomes a denial; at
//     PermissionRequest silence is the ask;
//   - a bare allow at PreToolUse, which is an error there and silence here;
//   - interrupt and rules to store at PermissionRequest, which would leave the
//     person's prompt open;
//   - a rewritten output: a block with the new text takes its place, which is
//     what the model sees (the client's screen and session file keep the old);
//   - contexts at Stop and at the end of a subagent: with a block they follow the
//     reason, without one they are dropped.
//
// Every object is checked against the closed shape of its event before it is
// returned. A mismatch is a fault of ours: the error says which, and the Output
// beside it refuses by exit 2 when v denies and is silent when it does not.
func Encode(ev *event.Event, v event.Verdict) (event.Output, error) {
	if v.IsZero() {
		return event.Output{}, nil
	}
	reason := jsontext.Clean(v.Reason)
	if strings.TrimSpace(reason) == "" {
		reason = noReason
	}
	var top, inner jsontext.Writer // inner becomes hookSpecificOutput
	denied := v.Decision == event.Deny
	contexts := func() {
		if text := joined(v.Contexts); text != "" {
			inner.String("additionalContext", text)
		}
	}
	stop := func(when bool) {
		if when {
			top.Bool("continue", false)
		}
	}

	switch ev.Name {
	case event.SessionStart:
		stop(v.StopTurn)
		contexts()
	case event.UserPromptSubmit:
		stop(v.StopTurn)
		if denied {
			top.String("decision", "block")
			top.String("reason", reason)
		}
		contexts()
	case event.SubagentStart:
		contexts()

	case event.PreToolUse:
		switch {
		case denied || v.Decision == event.Ask:
			if !denied {
				reason = strings.TrimSpace(jsontext.Clean(v.Reason) + " " + cannotAsk)
			}
			inner.String("permissionDecision", "deny")
			inner.String("permissionDecisionReason", reason)
		case v.UpdatedInput != nil:
			if err := rewriteFits(ev, v); err != nil {
				return fallback(ev, v, reason, err)
			}
			inner.String("permissionDecision", "allow")
			inner.Raw("updatedInput", v.UpdatedInput)
		}
		contexts()
	case event.PermissionRequest:
		// Built from behavior and message alone, and nothing beside it: this is
		// the answer that must not be thrown away when nobody is there.
		var decision jsontext.Writer
		switch v.Decision {
		case event.Allow:
			decision.String("behavior", "allow")
		case event.Deny:
			decision.String("behavior", "deny")
			decision.String("message", reason)
		default:
			return event.Output{}, nil
		}
		inner.Object("decision", &decision)
		v.SystemMessage = ""
	case event.PostToolUse:
		switch {
		case v.UpdatedOutput != nil:
			text, err := outputText(v.UpdatedOutput)
			if err != nil {
				return fallback(ev, v, reason, err)
			}
			if denied {
				text = reason + "\n\n" + text
			}
			top.String("decision", "block")
			top.String("reason", text)
		case denied:
			top.String("decision", "block")
			top.String("reason", reason)
		}
		contexts()

	case event.Stop, event.SubagentStop:
		switch {
		case v.StopTurn:
			stop(true)
		case denied:
			if text := joined(v.Contexts); text != "" {
				reason += "\n\n" + text
			}
			top.String("decision", "block")
			top.String("reason", reason)
		}
	case event.PreCompact:
		// There is no block here; this one also interrupts the turn.
		stop(denied || v.StopTurn)
	case event.PostCompact:
		stop(v.StopTurn)
	case event.Interrupt:
	default:
		return event.Output{}, nil
	}

	if v.SystemMessage != "" {
		top.Text("systemMessage", v.SystemMessage)
	}
	if !inner.Empty() {
		var specific jsontext.Writer
		specific.String("hookEventName", string(ev.Name))
		top.Raw("hookSpecificOutput", merged(&specific, &inner))
	}
	if top.Empty() {
		return event.Output{}, nil
	}
	body := top.Bytes()
	if err := check(ev.Name, body); err != nil {
		return fallback(ev, v, reason, err)
	}
	return event.Output{Stdout: body}, nil
}

// Refuse answers for a payload that could not be read: it blocks with reason
// where an exit code can block, and says nothing where it cannot. An event whose
// name is not known counts as one that can.
func Refuse(ev *event.Event, reason string) event.Output {
	if ev.Native != "" && !blocks(ev.Name) {
		return event.Output{}
	}
	reason = jsontext.Clean(reason)
	if strings.TrimSpace(reason) == "" {
		reason = noReason // exit 2 without a reason blocks nothing
	}
	return event.Output{Stderr: []byte(reason), Code: 2}
}

// blocks tells the events at which exit 2 with a reason refuses something. Stop
// is left out: there it would keep a turn going, without limit, for a fault of
// ours.
func blocks(name event.Name) bool {
	switch name {
	case event.PreToolUse, event.PermissionRequest, event.UserPromptSubmit:
		return true
	}
	return false
}

func fallback(ev *event.Event, v event.Verdict, reason string, err error) (event.Output, error) {
	err = fmt.Errorf("codex %s answer breaks the client's schema: %w", ev.Name, err)
	// At PostToolUse exit 2 replaces what the model sees, so it keeps a secret
	// that a broken rewrite would let through, denial or not.
	if v.Decision == event.Deny && blocks(ev.Name) || ev.Name == event.PostToolUse && v.UpdatedOutput != nil {
		return event.Output{Stderr: []byte(reason), Code: 2}, err
	}
	return event.Output{}, err
}

// rewriteFits reports whether a rewritten input is one the client can run: for
// its shell and patch tools {"command": text} and nothing else (contract §4).
func rewriteFits(ev *event.Event, v event.Verdict) error {
	shape := jsontext.Shape{{Key: "command", Kind: "string", Required: true}}
	if ev.Tool == nil {
		return fmt.Errorf("there is no tool input to rewrite")
	}
	if name := ev.Tool.Name; name != "Bash" && name != "apply_patch" {
		return nil
	}
	if err := shape.Check(v.UpdatedInput); err != nil {
		return fmt.Errorf("rewritten input of %q: %w", ev.Tool.Name, err)
	}
	return nil
}

// outputText turns a rewritten tool response into the text that takes its place:
// the text itself when it is a string, else the JSON.
func outputText(output []byte) (string, error) {
	if text, ok := jsontext.String(output); ok && jsontext.Valid(output) {
		text = jsontext.Clean(text)
		if strings.TrimSpace(text) == "" {
			text = "(no output)" // a block without a reason is thrown away
		}
		return text, nil
	}
	if !jsontext.Valid(output) {
		return "", fmt.Errorf("the rewritten tool output is no JSON")
	}
	return jsontext.Clean(string(bytes.TrimSpace(output))), nil
}

func joined(texts []string) string { return jsontext.Clean(strings.Join(texts, "\n\n")) }

// merged puts the members of b behind those of a.
func merged(a, b *jsontext.Writer) []byte {
	left, right := a.Bytes(), b.Bytes()
	out := append(left[:len(left)-1:len(left)-1], ',')
	return append(out, right[1:]...)
}
