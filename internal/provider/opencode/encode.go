package opencode

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// noReason stands in where a verdict gives no reason: a rejection without a message
// would end the turn.
const noReason = "lidguard refused this."

// cannotAsk follows the reason of an ask that had to become a refusal.
const cannotAsk = "This needs a person's word, which cannot be asked for here; leave it to them."

// Encode says v as the line of JSON the plugin acts on (see the package comment), or
// as nothing where the client has no means. An ask before a tool call cannot open
// the client's prompt, so it refuses; an ask at a permission request is silence,
// since the prompt is there. An allow is "once": "always" would hold for the whole
// program (contract §1.5).
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
	var w jsontext.Writer
	denied := v.Decision == event.Deny
	refuse := func() {
		w.String("do", "refuse")
		w.String("text", reason)
	}
	add := func() {
		if text := jsontext.Clean(strings.Join(v.Contexts, "\n\n")); text != "" {
			w.String("append", text)
		}
	}
	abort := func() {
		if v.StopTurn {
			w.Bool("abort", true)
		}
	}

	switch ev.Name {
	case event.UserPromptSubmit:
		if denied {
			refuse()
			break
		}
		add()
	case event.PreToolUse:
		if denied || v.Decision == event.Ask {
			if !denied {
				reason = strings.TrimSpace(jsontext.Clean(v.Reason) + " " + cannotAsk)
			}
			refuse()
		} else if v.UpdatedInput != nil {
			w.Raw("args", v.UpdatedInput)
		}
		abort()
	case event.PostToolUse:
		switch {
		case v.UpdatedOutput != nil:
			if err := rewriteFits(ev, v); err != nil {
				return fallback(ev, v, reason, err)
			}
			w.Raw("result", v.UpdatedOutput)
			if denied {
				v.Contexts = append([]string{reason}, v.Contexts...)
			}
		case denied:
			var result jsontext.Writer
			result.String("output", reason)
			w.Object("result", &result)
		}
		add()
		abort()
	case event.PermissionRequest:
		switch v.Decision {
		case event.Allow:
			w.String("do", "reply")
			w.String("reply", "once")
		case event.Deny:
			w.String("do", "reply")
			w.String("reply", "reject")
			if !v.Interrupt {
				w.String("message", reason) // with it the model goes on
			}
		}
	case event.QuestionAsked:
		if denied {
			w.String("do", "reject")
		}
	case event.Stop, event.SubagentStop:
		if denied && !v.StopTurn {
			if text := strings.Join(v.Contexts, "\n\n"); text != "" {
				reason += "\n\n" + jsontext.Clean(text)
			}
			w.String("do", "continue")
			w.String("text", reason)
		}
	case event.PreCompact:
		add()
	default:
		return event.Output{}, nil
	}

	if w.Empty() {
		return event.Output{}, nil
	}
	var line jsontext.Writer
	line.Raw("v", []byte("1"))
	body := merged(&line, &w)
	if err := check(ev.Name, body); err != nil {
		return fallback(ev, v, reason, err)
	}
	return event.Output{Stdout: body}, nil
}

// Refuse answers for a payload that could not be read: it blocks a tool call with
// reason, and says nothing elsewhere. At a permission request the person's own
// prompt is open, which is the better answer.
func Refuse(ev *event.Event, reason string) event.Output {
	switch ev.Native {
	case "tool.execute.before":
		reason = jsontext.Clean(reason)
		if strings.TrimSpace(reason) == "" {
			reason = noReason
		}
		return event.Output{Stderr: []byte(reason), Code: 2}
	}
	return event.Output{}
}

func fallback(ev *event.Event, v event.Verdict, reason string, err error) (event.Output, error) {
	err = fmt.Errorf("opencode %s answer breaks the plugin's schema: %w", ev.Native, err)
	switch {
	case v.Decision == event.Deny && (ev.Name == event.PreToolUse || ev.Name == event.PermissionRequest):
		return event.Output{Stderr: []byte(reason), Code: 2}, err
	case ev.Name == event.PostToolUse && v.UpdatedOutput != nil:
		// A rewrite that does not fit must not let the original through.
		var result, line jsontext.Writer
		result.String("output", "The output was withheld: "+reason)
		line.Raw("v", []byte("1"))
		line.Object("result", &result)
		return event.Output{Stdout: line.Bytes()}, err
	}
	return event.Output{}, err
}

func rewriteFits(ev *event.Event, v event.Verdict) error {
	if ev.Tool == nil || ev.Tool.Response == nil {
		return fmt.Errorf("there is no tool output to rewrite")
	}
	if !jsontext.Valid(v.UpdatedOutput) {
		return fmt.Errorf("the rewritten tool output is no JSON")
	}
	if !jsontext.SameShape(ev.Tool.Response, v.UpdatedOutput) {
		return fmt.Errorf("the rewritten output of %q has another shape than its own", ev.Tool.Name)
	}
	return nil
}

// merged puts the members of b behind those of a.
func merged(a, b *jsontext.Writer) []byte {
	left, right := a.Bytes(), b.Bytes()
	out := append(left[:len(left)-1:len(left)-1], ',')
	return append(out, right[1:]...)
}

// The closed shapes of what this codec writes, per event; the plugin acts on these
// members and on nothing else.
var (
	version  = jsontext.Field{Key: "v", Kind: "number", Required: true}
	text     = jsontext.Field{Key: "text", Kind: "string"}
	appended = jsontext.Field{Key: "append", Kind: "string"}
	abort    = jsontext.Field{Key: "abort", Kind: "bool"}
	refusal  = jsontext.Field{Key: "do", Kind: "string", Enum: []string{"refuse"}}
	result   = jsontext.Field{Key: "result", Kind: "object", Members: jsontext.Shape{
		{Key: "title", Kind: "string"}, {Key: "output", Kind: "string"}, {Key: "metadata", Kind: "object"},
	}}
)

// check reports why the plugin would not act on body at this event.
func check(name event.Name, body []byte) error {
	var shape jsontext.Shape
	switch name {
	case event.UserPromptSubmit:
		shape = jsontext.Shape{version, refusal, text, appended}
	case event.PreToolUse:
		shape = jsontext.Shape{version, refusal, text, abort, {Key: "args", Kind: "object"}}
	case event.PostToolUse:
		shape = jsontext.Shape{version, result, appended, abort}
	case event.PermissionRequest:
		shape = jsontext.Shape{
			version, {Key: "do", Kind: "string", Enum: []string{"reply"}, Required: true},
			{Key: "reply", Kind: "string", Enum: []string{"once", "reject"}, Required: true},
			{Key: "message", Kind: "string"},
		}
	case event.QuestionAsked:
		shape = jsontext.Shape{version, {Key: "do", Kind: "string", Enum: []string{"reject"}, Required: true}}
	case event.Stop, event.SubagentStop:
		shape = jsontext.Shape{version, {Key: "do", Kind: "string", Enum: []string{"continue"}, Required: true}, text}
	case event.PreCompact:
		shape = jsontext.Shape{version, appended}
	}
	return shape.Check(body)
}
