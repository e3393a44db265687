package opencode

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Decode reads one payload of the plugin. native is the event's or hook's name;
// where it is "" the payload's type is used. It is kind like every codec here:
// unknown members stay in Raw, unknown events come back with Name empty, a member
// of an unexpected kind counts as not sent. Only text that is no JSON object, or one
// without an event or (but for dispose) a session, is an error, beside the Event
// understood so far.
//
// A subagent is a session of its own to the client; here Session is the root's, as
// far as the plugin or the client's parentID tells, and AgentID the subagent's.
//
// The Event keeps slices of payload; the caller must not change it afterwards. Raw
// is nil for events that may hold keys or a provider's answers. env is asked for
// OPENCODE_PID.
func Decode(payload []byte, env func(string) string, native string) (event.Event, error) {
	ev := event.Event{Provider: event.OpenCode, Native: native}
	ev.Session.Provider = event.OpenCode
	p := parser{ev: &ev}
	err := jsontext.Object(payload, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			if ev.Native == "" {
				ev.Native, _ = jsontext.String(value)
			}
		case "properties":
			p.properties = value
		case "input":
			p.input = value
		case "output":
			p.output = value
		case "root":
			p.root, _ = jsontext.String(value)
		case "directory":
			ev.Cwd, _ = jsontext.String(value)
		case "pid":
			if n, ok := jsontext.Int(value); ok && n > 0 && n < 1<<31 {
				ev.ClientPID = int(n)
			}
		case "continued":
			n, ok := jsontext.Int(value)
			ev.StopActive = ok && n > 0
		}
		return true
	})
	if pid, atoi := strconv.Atoi(env("OPENCODE_PID")); atoi == nil && pid > 0 {
		ev.ClientPID = pid
	}
	p.read()
	if !secret(ev.Native) {
		ev.Raw = payload
	}
	switch {
	case err != nil:
		return ev, fmt.Errorf("opencode plugin payload: %w", err)
	case ev.Native == "":
		return ev, fmt.Errorf("opencode plugin payload has no %q text, and the command line names no event", "type")
	case ev.Session.ID == "" && ev.Name != event.Disposed && ev.Name != "":
		return ev, fmt.Errorf("opencode %q payload has no %q text", ev.Native, "sessionID")
	}
	return ev, nil
}

// secret tells the events of which nothing may be kept: keys, and the provider's
// response with its body (contract §1.17).
func secret(native string) bool {
	return native == "chat.headers" || native == "chat.params" || native == "session.error"
}

type parser struct {
	ev                        *event.Event
	properties, input, output []byte
	root, parent              string
}

func (p *parser) read() {
	ev := p.ev
	switch ev.Native {
	case "chat.headers", "chat.params":
		p.input, p.output = nil, nil
	}
	id := jsontext.Text(p.properties, "sessionID")
	if id == "" {
		id = jsontext.Text(p.input, "sessionID")
	}
	info := jsontext.Member(p.properties, "info")

	switch ev.Native {
	case "session.created":
		p.parent = jsontext.Text(info, "parentID")
		ev.Name = event.SessionStart
		if p.parent != "" || p.root != "" && p.root != id {
			ev.Name = event.SubagentStart
			ev.AgentType = jsontext.Text(info, "agent")
		}
		ev.Source = "startup"
		p.directory(info)
	case "session.deleted":
		p.parent = jsontext.Text(info, "parentID")
		ev.Name, ev.Reason = event.SessionEnd, "deleted"
		p.directory(info)
	case "session.status":
		ev.Name = event.StatusChanged
		status := jsontext.Member(p.properties, "status")
		ev.Reason = jsontext.Text(status, "type")
	case "session.idle":
		ev.Name = event.Stop
		if p.root != "" && p.root != id {
			ev.Name = event.SubagentStop
		}
	case "session.error":
		// The name alone: the rest is the provider's answer.
		ev.Error = jsontext.Text(jsontext.Member(p.properties, "error"), "name")
		ev.Name = event.StopFailure
		if ev.Error == "MessageAbortedError" {
			ev.Name = event.Interrupt
		}
	case "session.compacted":
		ev.Name = event.PostCompact
	case "experimental.session.compacting":
		ev.Name = event.PreCompact
	case "message.part.delta":
		ev.Name = event.MessageDisplay

	case "permission.asked":
		ev.Name = event.PermissionRequest
		ev.Tool = &event.Tool{
			Name:  jsontext.Text(p.properties, "permission"),
			Input: jsontext.Member(p.properties, "metadata"),
			UseID: jsontext.Text(jsontext.Member(p.properties, "tool"), "callID"),
			// What "always" would cover, the client's suggestion.
			Suggestions: jsontext.Member(p.properties, "always"),
		}
	case "permission.replied":
		ev.Name, ev.Reason = event.PermissionReply, jsontext.Text(p.properties, "reply")
	case "question.asked":
		ev.Name = event.QuestionAsked
		ev.Tool = &event.Tool{
			Name: "question", UseID: jsontext.Text(jsontext.Member(p.properties, "tool"), "callID"),
			Input: jsontext.Member(p.properties, "questions"),
		}
	case "question.replied":
		ev.Name, ev.Reason = event.QuestionReply, "replied"
	case "question.rejected":
		ev.Name, ev.Reason = event.QuestionReply, "rejected"

	case "chat.message":
		ev.Name, ev.Prompt = event.UserPromptSubmit, prompt(p.output)
	case "tool.execute.before":
		ev.Name = event.PreToolUse
		p.tool(jsontext.Member(p.output, "args"), nil)
	case "tool.execute.after":
		ev.Name = event.PostToolUse
		p.tool(jsontext.Member(p.input, "args"), p.output)
	case "dispose":
		ev.Name = event.Disposed
	}
	p.identify(id)
}

// identify sets the session and, in a subagent, the agent.
func (p *parser) identify(id string) {
	root := p.root
	if root == "" {
		root = p.parent
	}
	p.ev.Session.ID = event.SessionID(id)
	if root != "" && root != id && id != "" {
		p.ev.Session.ID, p.ev.AgentID = event.SessionID(root), id
	}
}

func (p *parser) directory(info []byte) {
	if p.ev.Cwd == "" {
		p.ev.Cwd = jsontext.Text(info, "directory")
	}
}

func (p *parser) tool(args, response []byte) {
	p.ev.Tool = &event.Tool{
		Name:  jsontext.Text(p.input, "tool"),
		UseID: jsontext.Text(p.input, "callID"),
		Input: args, Response: response,
	}
}

// prompt joins the text parts of a message.
func prompt(output []byte) string {
	var texts []string
	_ = jsontext.Array(jsontext.Member(output, "parts"), func(part []byte) bool {
		if jsontext.Text(part, "type") == "text" {
			texts = append(texts, jsontext.Text(part, "text"))
		}
		return true
	})
	return strings.Join(texts, "\n")
}
