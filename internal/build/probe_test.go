package build

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
	"github.com/lidguard-go/lidguard/internal/provider/claude"
	"github.com/lidguard-go/lidguard/internal/provider/codex"
	"github.com/lidguard-go/lidguard/internal/provider/copilot"
	"github.com/lidguard-go/lidguard/internal/provider/opencode"
)

type encoder interface {
	Encode(*event.Event, event.Verdict) (event.Output, error)
}

var encoders = map[event.Provider]encoder{
	event.Claude: claude.Codec{}, event.Codex: codex.Codec{}, event.Copilot: copilot.Codec{}, event.OpenCode: opencode.Codec{},
}

// The words by which a probe is found again in an answer.
const reasonWord, newWord = "because-of-the-probe", "new-by-the-probe"

// probe is a verdict that says one thing, and the same without it.
func probe(p event.Provider, f Field) (with, without event.Verdict) {
	refused := event.Verdict{Decision: event.Deny, Reason: reasonWord}
	switch f {
	case Deny:
		return refused, event.Verdict{}
	case Ask:
		return event.Verdict{Decision: event.Ask, Reason: reasonWord}, event.Verdict{}
	case Allow:
		return event.Verdict{Decision: event.Allow, Reason: reasonWord}, event.Verdict{}
	case Context:
		return event.Verdict{Contexts: []string{newWord}}, event.Verdict{}
	case Input:
		return event.Verdict{UpdatedInput: json.RawMessage(`{"command":"` + newWord + `"}`)}, event.Verdict{}
	case Output:
		return event.Verdict{UpdatedOutput: json.RawMessage(strings.ReplaceAll(string(response(p)), "old", newWord))}, event.Verdict{}
	case Store:
		with, without = event.Verdict{Decision: event.Allow}, event.Verdict{Decision: event.Allow}
		with.Permissions = json.RawMessage(`[{"type":"addRules","rules":[{"toolName":"` + newWord + `"}]}]`)
		return with, without
	case Interrupt:
		with, without = refused, refused
		with.Interrupt = true
		return with, without
	case Message:
		return event.Verdict{SystemMessage: newWord}, event.Verdict{}
	case EndTurn:
		return event.Verdict{StopTurn: true, StopReason: newWord}, event.Verdict{}
	case Elicit:
		return event.Verdict{ElicitAction: "cancel"}, event.Verdict{}
	case Title:
		return event.Verdict{SessionTitle: newWord}, event.Verdict{}
	case Watch:
		return event.Verdict{WatchPaths: []string{"/" + newWord}}, event.Verdict{}
	case Terminal:
		return event.Verdict{TerminalSequence: newWord}, event.Verdict{}
	}
	panic("no probe for " + f)
}

func response(p event.Provider) json.RawMessage {
	switch p {
	case event.Codex:
		return json.RawMessage(`"old"`)
	case event.Copilot:
		return json.RawMessage(`{"resultType":"success","textResultForLlm":"old"}`)
	case event.OpenCode:
		return json.RawMessage(`{"title":"t","output":"old"}`)
	}
	return json.RawMessage(`{"stdout":"old","stderr":"","interrupted":false,"isImage":false}`)
}

func probedEvent(p event.Provider, name event.Name) *event.Event {
	ev := &event.Event{Provider: p, Name: name, Native: nativeOf(p, name)}
	switch name {
	case event.PreToolUse, event.PermissionRequest, event.PreMCPToolCall, event.PreSkillShellCommand:
		ev.Tool = &event.Tool{Name: "Bash", Input: json.RawMessage(`{"command":"old"}`)}
	case event.PostToolUse, event.PostToolUseFailure:
		ev.Tool = &event.Tool{Name: "Bash", Input: json.RawMessage(`{"command":"old"}`), Response: response(p)}
	}
	return ev
}

// carries reports whether the client's real codec has words for f at an event: its
// answer holds what was said, and as what it was said.
func carries(t *testing.T, p event.Provider, name event.Name, f Field) bool {
	t.Helper()
	with, without := probe(p, f)
	said, err := encoders[p].Encode(probedEvent(p, name), with)
	if err != nil {
		return false
	}
	silent, err := encoders[p].Encode(probedEvent(p, name), without)
	if err != nil {
		t.Fatalf("%s %s without %s: %v", p, name, f, err)
	}
	text := string(said.Stdout) + string(said.Stderr)
	if text == string(silent.Stdout)+string(silent.Stderr) && said.Code == silent.Code {
		return f == Ask && name == event.PermissionRequest // silence leaves the person's prompt open
	}
	words := values(said.Stdout)
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return slices.Contains(words, w) })
	}
	switch f {
	case Deny:
		refusal := said.Code == 2 || has("deny", "block", "refuse", "reject", "continue", "decline") || p == event.OpenCode && name == event.PostToolUse
		return refusal && (strings.Contains(text, reasonWord) || name == event.Elicitation || name == event.ElicitationResult || name == event.QuestionAsked)
	case Ask:
		return has("ask")
	case Allow:
		return has("allow", "once")
	case Interrupt, EndTurn, Elicit:
		return true
	}
	return strings.Contains(text, newWord)
}

// values are all texts in a JSON value.
func values(data []byte) []string {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return nil
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out
}
