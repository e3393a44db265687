package hooktest

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lidguard-go/lidguard/hook"
	"github.com/lidguard-go/lidguard/internal/provider/jsontext"
)

// Payload is what a client would write to a hook's standard input, and how it
// would call the hook. Its methods return changed copies.
type Payload struct {
	Name     string // for test names: "claude PreToolUse.Edit"
	Provider hook.Provider
	Native   string // the event in the client's spelling, as --event carries it
	body     []byte
	err      error // what makes the payload impossible; reported by who uses it
}

// Bytes returns the payload's text.
func (p Payload) Bytes() []byte { return append([]byte(nil), p.body...) }

// Raw returns p with another text: malformed, cut, or your own recording.
func (p Payload) Raw(text string) Payload {
	p.body = []byte(text)
	return p
}

// With returns p with one member set, made if it is not there. Dots lead into
// objects: "tool_input.command". value is anything that json.Marshal takes.
func (p Payload) With(path string, value any) Payload {
	raw, err := json.Marshal(value)
	if err != nil {
		return p.wrong(fmt.Errorf("%s: %w", path, err))
	}
	return p.set(path, raw)
}

// Without returns p without one member.
func (p Payload) Without(path string) Payload { return p.set(path, nil) }

func (p Payload) set(path string, value []byte) Payload {
	body, err := set(p.body, strings.Split(path, "."), value)
	if err != nil {
		return p.wrong(fmt.Errorf("%s: %w", path, err))
	}
	p.body = body
	return p
}

func (p Payload) wrong(err error) Payload {
	if p.err == nil {
		p.err = err
	}
	return p
}

// Again returns the end of a turn as it is told when a Stop hook already kept
// the turn going.
func (p Payload) Again() Payload {
	switch p.Provider {
	case hook.OpenCode:
		return p.With("continued", 1)
	}
	return p.With("stop_hook_active", true)
}

// Event reads the payload as hook.Main would, for tests of a part of a body.
func (p Payload) Event(t testing.TB) hook.Event {
	t.Helper()
	p.check(t)
	ev, err := hook.Decode(p.Provider, p.body, p.Native, nil)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return ev
}

func (p Payload) check(t testing.TB) {
	t.Helper()
	if p.err != nil {
		t.Fatalf("%s: %v", p.Name, p.err)
	}
}

// set puts value at path, or takes away what is there when value is nil.
func set(object []byte, path []string, value []byte) ([]byte, error) {
	var w jsontext.Writer
	found := false
	var inner error
	err := jsontext.Object(object, func(key, old []byte) bool {
		if string(key) != path[0] {
			w.Raw(string(key), old)
			return true
		}
		if found {
			return true
		}
		found = true
		switch {
		case len(path) > 1:
			var changed []byte
			if changed, inner = set(old, path[1:], value); inner == nil {
				w.Raw(path[0], changed)
			}
		case value != nil:
			w.Raw(path[0], value)
		}
		return true
	})
	if err == nil {
		err = inner
	}
	if err != nil {
		return nil, err
	}
	if !found && value != nil {
		for i := len(path) - 1; i > 0; i-- {
			var outer jsontext.Writer
			outer.Raw(path[i], value)
			value = outer.Bytes()
		}
		w.Raw(path[0], value)
	}
	return w.Bytes(), nil
}

// Client makes payloads of one client.
type Client struct {
	provider hook.Provider
	pascal   bool
}

// The clients. Copilot has two spellings, chosen by how its configuration names
// the event: camelCase with answers of its own, PascalCase with some of Claude
// Code's.
var (
	Claude        = Client{provider: hook.Claude}
	Codex         = Client{provider: hook.Codex}
	Copilot       = Client{provider: hook.Copilot}
	CopilotPascal = Client{provider: hook.Copilot, pascal: true}
	OpenCode      = Client{provider: hook.OpenCode}
)

// Clients lists them all.
func Clients() []Client { return []Client{Claude, Codex, Copilot, CopilotPascal, OpenCode} }

// String is the client's name.
func (c Client) String() string {
	if c.pascal {
		return string(c.provider) + " (PascalCase)"
	}
	return string(c.provider)
}

// Recorded is a payload as the client was seen to send it, by its name: the
// event, or event and variant as in "PreToolUse.Edit" (All lists them).
func (c Client) Recorded(name string) Payload {
	if c.pascal {
		name = "pascal-" + name
	}
	for _, p := range recordings()[c.provider] {
		if p.Name == string(c.provider)+" "+name {
			return p
		}
	}
	return Payload{Name: c.String() + " " + name, Provider: c.provider, err: fmt.Errorf("no payload %q of %s was recorded", name, c.provider)}
}

// All lists the recorded payloads of the client, every event and variant.
func (c Client) All() []Payload {
	var all []Payload
	for _, p := range recordings()[c.provider] {
		if strings.HasPrefix(p.Name, string(c.provider)+" pascal-") == c.pascal {
			all = append(all, p)
		}
	}
	return all
}

// PreToolUse is the moment before a call. input is the arguments: anything that
// json.Marshal takes; a string stands for {"command": string}.
func (c Client) PreToolUse(tool string, input any) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("hook-tool.execute.before").With("input.tool", tool).arguments("output.args", input)
	case c.provider == hook.Copilot && !c.pascal:
		return c.of("preToolUse").With("toolName", tool).arguments("toolArgs", input)
	}
	return c.of("PreToolUse").With("tool_name", tool).arguments("tool_input", input)
}

// PermissionRequest is the moment when a permission is decided.
func (c Client) PermissionRequest(tool string, input any) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("event-permission.asked").With("properties.permission", tool).arguments("properties.metadata", input)
	case c.provider == hook.Copilot: // camelCase in both spellings: contracts/copilot §2
		return c.of(map[bool]string{false: "permissionRequest", true: "PermissionRequest"}[c.pascal]).With("toolName", tool).arguments("toolInput", input)
	}
	return c.of("PermissionRequest").With("tool_name", tool).arguments("tool_input", input)
}

// PostToolUse is the moment after a call. response is what the call gave, in the
// tool's own shape; a string stands for the output of the client's shell tool.
func (c Client) PostToolUse(tool string, input, response any) Payload {
	text, isText := response.(string)
	switch {
	case c.provider == hook.OpenCode:
		if isText {
			response = map[string]any{"title": tool, "output": text, "metadata": map[string]any{}}
		}
		return c.of("hook-tool.execute.after").With("input.tool", tool).arguments("input.args", input).With("output", response)
	case c.provider == hook.Copilot && !c.pascal:
		if isText {
			response = map[string]any{"resultType": "success", "textResultForLlm": text}
		}
		return c.of("postToolUse").With("toolName", tool).arguments("toolArgs", input).With("toolResult", response)
	case c.provider == hook.Copilot:
		if isText {
			response = map[string]any{"result_type": "success", "text_result_for_llm": text}
		}
		return c.of("PostToolUse").With("tool_name", tool).arguments("tool_input", input).With("tool_result", response)
	case c.provider == hook.Claude && isText:
		response = map[string]any{"stdout": text, "stderr": "", "interrupted": false, "isImage": false}
	}
	return c.of("PostToolUse").With("tool_name", tool).arguments("tool_input", input).With("tool_response", response)
}

// PostToolUseFailure is the moment after a call that failed; Claude Code and
// Copilot.
func (c Client) PostToolUseFailure(tool string, input any, text string) Payload {
	if c.provider == hook.Copilot && !c.pascal {
		return c.of("postToolUseFailure.view").With("toolName", tool).arguments("toolArgs", input).With("error", text)
	}
	name := "PostToolUseFailure"
	if c.pascal {
		name += ".Read"
	}
	return c.of(name).With("tool_name", tool).arguments("tool_input", input).With("error", text)
}

// UserPromptSubmit is a prompt about to be sent.
func (c Client) UserPromptSubmit(prompt string) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("hook-chat.message").With("output.parts", []any{map[string]any{"type": "text", "text": prompt}})
	case c.provider == hook.Copilot && !c.pascal:
		return c.of("userPromptSubmitted").With("prompt", prompt)
	}
	return c.of("UserPromptSubmit").With("prompt", prompt)
}

// SessionStart is the begin of a session: startup, resume, clear, compact, fork.
func (c Client) SessionStart(source string) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("event-session.created") // knows one source only
	case c.provider == hook.Copilot && !c.pascal:
		return c.of("sessionStart").With("source", source)
	}
	return c.of("SessionStart").With("source", source)
}

// SessionEnd is the end of a session.
func (c Client) SessionEnd(reason string) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("event-session.deleted")
	case c.provider == hook.Copilot && !c.pascal:
		return c.of("sessionEnd").With("reason", reason)
	}
	return c.of("SessionEnd").With("reason", reason)
}

// Stop is the end of the agent's turn, with its last words where the client
// sends them. Payload.Again makes it the end of a turn that was kept going.
func (c Client) Stop(last string) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("event-session.idle")
	case c.provider == hook.Copilot && !c.pascal:
		return c.of("agentStop")
	case c.provider == hook.Copilot:
		return c.of("Stop")
	}
	return c.of("Stop").With("last_assistant_message", last)
}

// SubagentStop is the end of a subagent's turn.
func (c Client) SubagentStop(last string) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("event-session.idle").With("root", "ses_00000000000000000000000099")
	case c.provider == hook.Copilot && !c.pascal:
		return c.of("subagentStop").With("response", last)
	case c.provider == hook.Copilot:
		return c.of("SubagentStop").With("response", last)
	}
	return c.of("SubagentStop").With("last_assistant_message", last)
}

// Notification is the client wanting the person's attention; Claude Code and
// Copilot.
func (c Client) Notification(kind, message string) Payload {
	name := "Notification"
	if c.provider == hook.Copilot {
		name = map[bool]string{false: "notification.permission_prompt", true: "Notification.permission_prompt"}[c.pascal]
	}
	return c.of(name).With("notification_type", kind).With("message", message)
}

// PreCompact is the moment before the context is compacted: manual or auto.
func (c Client) PreCompact(trigger string) Payload {
	switch {
	case c.provider == hook.OpenCode:
		return c.of("hook-experimental.session.compacting")
	case c.provider == hook.Copilot && !c.pascal:
		return c.of("preCompact").With("trigger", trigger)
	}
	return c.of("PreCompact").With("trigger", trigger)
}

// of is Recorded for the makers above: where nothing was recorded the client has
// no such event.
func (c Client) of(name string) Payload {
	p := c.Recorded(name)
	if p.err != nil {
		p.err = fmt.Errorf("%s has no such event (%s)", c, name)
		p.body = []byte("{}")
	}
	return p
}

// arguments sets a tool's input.
func (p Payload) arguments(path string, input any) Payload {
	if text, ok := input.(string); ok {
		input = map[string]string{"command": text}
	}
	return p.With(path, input)
}

//go:embed fixtures/*.jsonl
var fixtures embed.FS

// recording is a line of a fixtures file.
type recording struct {
	Name    string          `json:"name"`
	Native  string          `json:"native"`
	Payload json.RawMessage `json:"payload"`
}

// recordings are the payloads that real clients were seen to send.
var recordings = sync.OnceValue(func() map[hook.Provider][]Payload {
	all := map[hook.Provider][]Payload{}
	for _, provider := range hook.Providers() {
		text, err := fixtures.ReadFile("fixtures/" + string(provider) + ".jsonl")
		if err != nil {
			panic(err) // it is embedded
		}
		for line := range strings.Lines(string(text)) {
			var r recording
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				panic(err) // a test of this package reads every line
			}
			all[provider] = append(all[provider], Payload{Name: string(provider) + " " + r.Name, Provider: provider, Native: r.Native, body: r.Payload})
		}
	}
	return all
})
