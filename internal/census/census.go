// Package census is what is known of every event of every client, as data: when
// it fires, what a matcher on it is compared with and by which law, what the
// payload holds, which outputs the client honours, what blocks, how long a hook
// may take and which kinds of handlers run. In come a provider's and an event's
// name, out go rows. It reads nothing and decides nothing; codecs, `hooks lint`
// and `hooks events` are held against it by tests.
//
// The facts are those of docs/contracts. Each row says whether it was measured on
// the real client or only read in its documentation and typings.
package census

import (
	"slices"
	"strings"
	"sync"

	"github.com/lidguard-go/lidguard/internal/event"
)

// Mark says how a fact is known.
type Mark string

// The marks.
const (
	Measured Mark = "measured" // seen on the client that Version names
	Read     Mark = "read"     // in documentation, typings or source, and not triggered
)

// Kind is a kind of handler.
type Kind string

// The kinds. Plugin is a function inside the client, OpenCode's only one.
const (
	Command Kind = "command"
	HTTP    Kind = "http"
	MCPTool Kind = "mcp_tool"
	Prompt  Kind = "prompt"
	Agent   Kind = "agent"
	Plugin  Kind = "plugin"
)

// Effect is what the strongest answer to an event does.
type Effect string

// The effects.
const (
	Nothing    Effect = "nothing"          // the event is told, and no answer changes it
	Stops      Effect = "stops it"         // what was about to happen does not happen
	GoesOn     Effect = "keeps going"      // the turn that was about to end goes on
	TellsModel Effect = "tells the model"  // what happened stands; the model reads the reason beside it
	Replaces   Effect = "replaces output"  // what happened stands; the model reads the reason instead of its output
	EndsTurn   Effect = "ends the turn"    // nothing is undone, but the model is not asked again
	Rolls      Effect = "rolls it back"    // it happened and is undone
	NotTaken   Effect = "is not taken in"  // the change stays outside the session
	Unreliable Effect = "kills the prompt" // it works as an accident: an exception that the client does not catch
)

// Event is one row of the census.
type Event struct {
	Provider event.Provider `json:"provider"`
	Native   string         `json:"event"`                 // as a config file spells it
	Pascal   string         `json:"pascal_case,omitempty"` // Copilot's other spelling, which has another payload
	Name     event.Name     `json:"name,omitempty"`        // lidguard's word; empty where it has none
	Version  string         `json:"client_version"`        // what the facts were measured on
	Since    string         `json:"since,omitempty"`       // first version known to send it; empty: not known
	Mark     Mark           `json:"mark"`
	When     string         `json:"when"`
	Matcher  Matcher        `json:"matcher"`
	Input    []Field        `json:"input"`   // beside Common
	Outputs  []Output       `json:"outputs"` // beside exit codes
	Exit2    string         `json:"exit_2,omitempty"`
	Blocks   Blocking       `json:"blocks"`
	Timeout  Timeout        `json:"timeout"`
	Kinds    []Kind         `json:"handlers"`
	Notes    []string       `json:"notes,omitempty"`
}

// Matcher says what a matcher of an event is compared with.
type Matcher struct {
	Field  string   `json:"field,omitempty"`  // of the payload; empty: none
	Law    Law      `json:"law"`              // how it is compared
	Values []string `json:"values,omitempty"` // all values there are; empty: any
}

// Field is a member of a payload.
type Field struct {
	Name     string `json:"name"`
	Type     string `json:"type"`               // of JSON, joined by | where there are several
	Optional bool   `json:"optional,omitempty"` // not in every payload of the event
	Note     string `json:"note,omitempty"`
}

// Output is a way to answer.
type Output struct {
	Key  string `json:"key"` // path in the JSON on stdout, or "stdout" for plain text
	Does string `json:"does"`
	Mark Mark   `json:"mark"`
}

// Blocking says what the strongest answer does and how it is given.
type Blocking struct {
	Effect Effect   `json:"effect"`
	Exit2  bool     `json:"exit_2"`         // exit code 2, with a reason on stderr
	Keys   []string `json:"keys,omitempty"` // outputs that do it
	Mark   Mark     `json:"mark,omitempty"`
}

// Timeout is how long the client waits, in seconds.
type Timeout struct {
	Default float64 `json:"default_s"`       // of a command; 0: the client sets none
	Max     float64 `json:"max_s,omitempty"` // what a longer one is cut to; 0: no limit known
	Note    string  `json:"note,omitempty"`
}

// Client is what is the same for all events of a client.
type Client struct {
	Provider event.Provider `json:"provider"`
	Title    string         `json:"title"`
	Version  string         `json:"client_version"`
	Contract string         `json:"contract"` // the page with the evidence
	Common   []Field        `json:"common_input"`
	Handlers []Handler      `json:"handlers"`
	Notes    []string       `json:"notes"`
}

// Handler is a kind of handler and what a client makes of it.
type Handler struct {
	Kind    Kind    `json:"kind"`
	Default float64 `json:"default_s,omitempty"` // its timeout where the event has none of its own
	Does    string  `json:"does"`
	Mark    Mark    `json:"mark"`
}

// Providers are the clients of the census, in the order they are shown.
func Providers() []event.Provider {
	return []event.Provider{event.Claude, event.Codex, event.Copilot, event.OpenCode}
}

// book is what is known of one client.
type book struct {
	client Client
	events []Event
}

// books are made once, when somebody asks: who has thousands of names looks up each.
var books = sync.OnceValue(func() map[event.Provider]book {
	all := map[event.Provider]book{
		event.Claude:   {claudeClient(), claudeEvents()},
		event.Codex:    {codexClient(), codexEvents()},
		event.Copilot:  {copilotClient(), copilotEvents()},
		event.OpenCode: {openCodeClient(), openCodeEvents()},
	}
	for p, b := range all {
		b.complete(p)
	}
	return all
})

// complete fills in what a row leaves out because it is the usual.
func (b book) complete(p event.Provider) {
	rows := b.events
	for i := range rows {
		rows[i].Provider, rows[i].Version = p, b.client.Version
		if rows[i].Mark == "" {
			rows[i].Mark = Measured
		}
		if rows[i].Blocks.Effect == "" {
			rows[i].Blocks.Effect = Nothing
		} else if rows[i].Blocks.Mark == "" && rows[i].Blocks.Effect != Nothing {
			rows[i].Blocks.Mark = rows[i].Mark
		}
		for j := range rows[i].Outputs {
			if rows[i].Outputs[j].Mark == "" {
				rows[i].Outputs[j].Mark = rows[i].Mark
			}
		}
	}
}

// Of returns the client's own row; ok is false for a provider without hooks. What is
// in it is shared, and must not be changed.
func Of(p event.Provider) (c Client, ok bool) {
	b, ok := books()[p]
	return b.client, ok
}

// Events returns the rows of a client in the order of its contract. They are shared,
// and must not be changed.
func Events(p event.Provider) []Event { return slices.Clip(books()[p].events) }

// All returns the rows of all clients.
func All() []Event {
	var out []Event
	for _, p := range Providers() {
		out = append(out, Events(p)...)
	}
	return out
}

// Find returns the row of an event as the client spells it, in either spelling
// where there are two.
func Find(p event.Provider, native string) (Event, bool) {
	for _, e := range Events(p) {
		if e.Native == native || e.Pascal != "" && e.Pascal == native {
			return e, true
		}
	}
	return Event{}, false
}

// Runs reports whether handlers of this kind run on the event.
func (e Event) Runs(k Kind) bool { return slices.Contains(e.Kinds, k) }

// Asks reports whether a tool call is at stake: the event comes before one, and
// its answer may stop it.
func (e Event) Asks() bool {
	switch e.Name {
	case event.PreToolUse, event.PermissionRequest, event.PreSkillShellCommand:
		return e.Blocks.Effect == Stops
	}
	return false
}

// Payload returns all members of an event's payload: the client's common ones and
// the event's own, which win.
func (e Event) Payload() []Field {
	c, _ := Of(e.Provider)
	var out []Field
	for _, f := range c.Common {
		if !slices.ContainsFunc(e.Input, func(own Field) bool { return own.Name == f.Name }) {
			out = append(out, f)
		}
	}
	return append(out, e.Input...)
}

// fields reads a list of members: "name type", "name? type" where it is optional,
// with a note in brackets behind it, separated by semicolons.
func fields(list string) []Field {
	var out []Field
	for part := range strings.SplitSeq(list, ";") {
		part, note, noted := strings.Cut(strings.TrimSpace(part), " (")
		name, kind, ok := strings.Cut(part, " ")
		if !ok {
			continue
		}
		f := Field{Name: name, Type: strings.TrimSpace(kind)}
		if noted {
			f.Note = strings.TrimSuffix(note, ")")
		}
		f.Name, f.Optional = strings.CutSuffix(f.Name, "?")
		out = append(out, f)
	}
	return out
}

// top is an output at the top of the answer, inner one in hookSpecificOutput.
func top(key, does string) Output   { return Output{Key: key, Does: does} }
func inner(key, does string) Output { return Output{Key: "hookSpecificOutput." + key, Does: does} }

// read marks an output as one that was only read of.
func read(o Output) Output {
	o.Mark = Read
	return o
}

// seconds is a plain timeout.
func seconds(s float64) Timeout { return Timeout{Default: s} }
